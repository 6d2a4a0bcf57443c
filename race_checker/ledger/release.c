/*
 * release.c - what a launch had done when it let the next grid begin.
 *
 * A release fence before griddepcontrol.launch_dependents synchronises with the start of the grid
 * that depends (PTX ISA 9.3). That grid begins when every CTA has run the instruction, or ended; a
 * second one of a CTA does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "release.h"

#include "alloc.h"

#include <string.h>

static bool is_trigger(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_GRIDS &&
           sync->mode == GROUT_SYNC_MODE_POSTS;
}

static bool releases_at(const grout_module *module, grout_op_id id) {
    const grout_op *op = grout_module_get_op(module, id);
    return grout_op_get_choice(module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELEASE;
}

/* Whether the kernel has a trigger that releases. */
static bool has_release(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (is_trigger(op) && releases_at(module, id) &&
            grout_module_get_block(module, op->parent)->kernel == kernel) {
            return true;
        }
    }
    return false;
}

/* ---- life ------------------------------------------------------------------------------------ */

bool grout_releases__init(grout_releases *releases, const grout_allocator *allocator,
                          const grout_launch_info *info) {
    *releases = (grout_releases){.allocator = allocator, .shape = info->shape};
    if (!has_release(info->module, info->kernel)) {
        return true;
    }
    releases->cta_count = (uint32_t)info->cta_count;
    releases->triggers = grout__new(allocator, releases->cta_count, sizeof *releases->triggers);
    return releases->triggers != NULL;
}

static void free_trigger(grout_trigger *trigger) {
    for (size_t i = 0; i < trigger->parts.count; i++) {
        grout__free(trigger->parts.items[i].known);
    }
    grout__free(trigger->parts.items);
    grout__free(trigger->stamps.items);
}

static uint32_t count_clusters(const grout_releases *releases) {
    return releases->cta_count / releases->shape.cta_count;
}

void grout_releases__deinit(grout_releases *releases) {
    for (uint32_t i = 0; releases->triggers != NULL && i < releases->cta_count; i++) {
        free_trigger(&releases->triggers[i]);
    }
    for (uint32_t i = 0; releases->known != NULL && i < count_clusters(releases); i++) {
        grout__free(releases->known[i]);
    }
    grout__free(releases->triggers);
    grout__free(releases->known);
    grout__free(releases->nothing);
    *releases = (grout_releases){0};
}

/* ---- triggers -------------------------------------------------------------------------------- */

static uint32_t get_actor(const grout_releases *releases, const grout_origin *origin) {
    return grout_clock_actor(
        &releases->shape, origin->cta % releases->shape.cta_count,
        grout_clock_local_actor(&releases->shape, origin->thread, origin->warp));
}

/* Whether it comes after one that has run: then nothing happens. */
static bool is_late(const grout_releases *releases, const grout_trigger *trigger,
                    const grout_clocks *clocks, uint32_t actor) {
    for (size_t i = 0; i < trigger->stamps.count; i++) {
        const grout_trigger_stamp *stamp = &trigger->stamps.items[i];
        if (stamp->actor == actor ||
            clocks->known[grout_clock_epoch(&releases->shape, stamp->actor)] > stamp->epoch) {
            return true;
        }
    }
    return false;
}

static bool add_stamp(const grout_releases *releases, grout_trigger *trigger,
                      const grout_clocks *clocks, uint32_t actor) {
    if (!GROUT_ARRAY_RESERVE(&trigger->stamps, releases->allocator, 1)) {
        return false;
    }
    trigger->stamps.items[trigger->stamps.count++] = (grout_trigger_stamp){
        .actor = actor, .epoch = clocks->known[grout_clock_epoch(&releases->shape, actor)]};
    return true;
}

static bool add_part(const grout_releases *releases, grout_trigger *trigger,
                     const grout_clocks *clocks, uint32_t cluster) {
    const uint32_t size = grout_clock_size(&releases->shape);
    const uint32_t *known = grout_clocks_find_known(clocks, cluster);
    const uint32_t *published = grout_clocks_find_gmem(clocks, cluster);
    if (!GROUT_ARRAY_RESERVE(&trigger->parts, releases->allocator, 1)) {
        return false;
    }
    uint32_t *copy = grout__new(releases->allocator, 2 * (size_t)size, sizeof *copy);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, known, size * sizeof *copy);
    memcpy(copy + size, published, size * sizeof *copy);
    trigger->parts.items[trigger->parts.count++] = (grout_release_part){cluster, copy};
    return true;
}

/* The first one of the CTA, in this run. */
static bool begin_trigger(const grout_releases *releases, grout_trigger *trigger,
                          const grout_clocks *clocks) {
    bool is_good = add_part(releases, trigger, clocks, clocks->cluster);
    for (uint32_t i = 0; is_good && i < clocks->foreign_count; i++) {
        is_good = add_part(releases, trigger, clocks, clocks->foreign[i].cluster);
    }
    return is_good;
}

static void lower(uint32_t *counters, const uint32_t *others, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = others == NULL ? 0 : others[i];
        counters[i] = counters[i] < other ? counters[i] : other;
    }
}

/* What was released before, and by this one too. */
static void meet(const grout_releases *releases, const grout_trigger *trigger,
                 const grout_clocks *clocks) {
    const uint32_t size = grout_clock_size(&releases->shape);
    for (size_t i = 0; i < trigger->parts.count; i++) {
        const grout_release_part *part = &trigger->parts.items[i];
        lower(part->known, grout_clocks_find_known(clocks, part->cluster), size);
        lower(part->known + size, grout_clocks_find_gmem(clocks, part->cluster), size);
    }
}

bool grout_releases__add(grout_releases *releases, const grout_module *module,
                         const grout_event *event) {
    const grout_clocks *clocks = event->clocks;
    if (releases->triggers == NULL || clocks == NULL) {
        return true;
    }
    const uint32_t actor = get_actor(releases, &event->origin);
    const bool is_release = releases_at(module, event->origin.op);
    const bool knows_grid = grout_clocks_know_grid(clocks, &releases->shape);
    grout_trigger *trigger = &releases->triggers[event->origin.cta];
    const bool is_first = trigger->stamps.count == 0;
    if (is_late(releases, trigger, clocks, actor)) {
        return true;
    }
    trigger->is_release = is_release && (is_first || trigger->is_release);
    trigger->knows_grid = knows_grid && (is_first || trigger->knows_grid);
    if (!add_stamp(releases, trigger, clocks, actor)) {
        return false;
    }
    if (is_first) {
        return !is_release || begin_trigger(releases, trigger, clocks);
    }
    meet(releases, trigger, clocks);
    return true;
}

/* ---- what the next grid knows ---------------------------------------------------------------- */

static bool join_part(grout_releases *releases, const grout_release_part *part) {
    const uint32_t count = 2 * grout_clock_size(&releases->shape);
    uint32_t **known = &releases->known[part->cluster];
    if (*known == NULL) {
        *known = grout__new(releases->allocator, count, sizeof **known);
    }
    for (uint32_t i = 0; *known != NULL && i < count; i++) {
        (*known)[i] = (*known)[i] > part->known[i] ? (*known)[i] : part->known[i];
    }
    return *known != NULL;
}

static bool make_constants(grout_releases *releases) {
    const uint32_t size = grout_clock_size(&releases->shape);
    releases->nothing = grout__new(releases->allocator, 2 * (size_t)size, sizeof(uint32_t));
    if (releases->nothing == NULL) {
        return false;
    }
    releases->all = releases->nothing + size;
    memset(releases->all, 0xff, size * sizeof *releases->all);
    return true;
}

static bool join_all(grout_releases *releases) {
    releases->known =
        grout__new(releases->allocator, count_clusters(releases), sizeof *releases->known);
    bool is_good = releases->known != NULL;
    for (uint32_t i = 0; i < releases->cta_count; i++) {
        const grout_trigger *trigger = &releases->triggers[i];
        for (size_t k = 0; is_good && trigger->is_release && k < trigger->parts.count; k++) {
            is_good = join_part(releases, &trigger->parts.items[k]);
        }
    }
    return is_good;
}

bool grout_releases__settle(grout_releases *releases) {
    return (releases->nothing != NULL || make_constants(releases)) &&
           (releases->triggers == NULL || releases->known != NULL || join_all(releases));
}

const uint32_t *grout_releases__find(const grout_releases *releases, uint32_t cluster) {
    return releases->known == NULL ? NULL : releases->known[cluster];
}

bool grout_releases__hand_on(const grout_releases *releases) {
    for (uint32_t i = 0; i < releases->cta_count; i++) {
        if (releases->triggers[i].is_release) {
            return true;
        }
    }
    return false;
}

bool grout_releases__hand_on_wait(const grout_releases *releases) {
    for (uint32_t i = 0; i < releases->cta_count; i++) {
        if (releases->triggers[i].is_release && releases->triggers[i].knows_grid) {
            return true;
        }
    }
    return false;
}
