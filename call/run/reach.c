/* reach.c - what the runs of a kernel came to: an observer beside the checker.
 *
 * It counts what is the same under every schedule of a well-synchronised kernel: which operations
 * ran, the phases that a barrier element completed, whether a loop went round, and whether an async
 * operation wrote SMEM that one had written before. For each CTA that runs, it keeps where the
 * threads are in their loops, and the bytes that were written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reach.h"

#include "array.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE 4 /* bytes; no async operation writes fewer */

/* Where an actor was last inside a loop. */
typedef struct grout_reach_turn {
    bool is_set;
    int32_t loops[GROUT_ORIGIN_LOOPS]; /* indices of the loops around and its own */
} turn;

/* SMEM of an object that async operations have written, a bit for each granule. */
typedef struct grout_reach_bytes {
    uint64_t *words;
    size_t count;
} written;

/* ---- CTAs ----------------------------------------------------------------------------------- */

static void free_cta(const grout_reach *reach, grout_reach_cta *cta) {
    for (uint32_t i = 0; cta->objects != NULL && i < reach->objects.count; i++) {
        free(cta->objects[i].words);
    }
    free(cta->objects);
    free(cta->turns);
    *cta = (grout_reach_cta){0};
}

static void free_ctas(grout_reach *reach) {
    for (size_t i = 0; i < reach->ctas.count; i++) {
        free_cta(reach, &reach->ctas.items[i]);
    }
    reach->ctas.count = 0;
}

static bool init_cta(const grout_reach *reach, grout_reach_cta *cta) {
    size_t turns = (size_t)reach->actor_count * reach->loop_count;
    cta->turns = calloc(turns + 1, sizeof *cta->turns);
    cta->objects = calloc(reach->objects.count + 1, sizeof *cta->objects);
    if (cta->turns == NULL || cta->objects == NULL) {
        free_cta(reach, cta);
        return false;
    }
    return true;
}

/* NULL without memory. */
static grout_reach_cta *find_cta(grout_reach *reach, uint32_t index) {
    size_t count = reach->ctas.count;
    if (index >= count && !GROUT_ARRAY_RESERVE(&reach->ctas, NULL, index + 1 - count)) {
        return NULL;
    }
    while (reach->ctas.count <= index) {
        reach->ctas.items[reach->ctas.count++] = (grout_reach_cta){0};
    }
    grout_reach_cta *cta = &reach->ctas.items[index];
    return cta->turns != NULL || init_cta(reach, cta) ? cta : NULL;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* Numbers the loops of a block, and notes for each op the innermost one around it. */
static void find_loops(grout_reach *reach, grout_block_id block, grout_op_id around) {
    const grout_module *module = reach->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_reach_op *at = grout_reach__get_op(reach, id);
        bool is_loop = op->block_count > 0 && grout_op_get_region_kind(op) == GROUT_REGION_LOOP;
        at->loop = around;
        if (is_loop) {
            at->number = reach->loop_count++;
            at->depth = around == 0 ? 0 : grout_reach__get_op(reach, around)->depth + 1;
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            find_loops(reach, op->first_block + i, is_loop ? id : around);
        }
    }
}

/* A second turn shows in the index: all loops around it are where they were, and it is not. */
static bool note_turn(grout_reach *reach, grout_op_id loop, const grout_origin *origin) {
    grout_reach_op *at = grout_reach__get_op(reach, loop);
    uint32_t actor = (origin->thread * 5u) + origin->warp;
    if (at->has_turned || at->depth >= GROUT_ORIGIN_LOOPS || actor >= reach->actor_count) {
        return true;
    }
    grout_reach_cta *cta = find_cta(reach, origin->cta);
    if (cta == NULL) {
        return false;
    }
    turn *last = &cta->turns[(size_t)actor * reach->loop_count + at->number];
    size_t around = at->depth * sizeof last->loops[0];
    if (last->is_set && memcmp(last->loops, origin->loops, around) == 0 &&
        last->loops[at->depth] != origin->loops[at->depth]) {
        at->has_turned = true;
    }
    last->is_set = true;
    memcpy(last->loops, origin->loops, sizeof last->loops);
    return true;
}

/* ---- buffers -------------------------------------------------------------------------------- */

static bool make_room(written *bits, int64_t granules) {
    size_t count = ((size_t)granules + 63) / 64;
    if (count <= bits->count) {
        return true;
    }
    uint64_t *words = realloc(bits->words, count * sizeof *words);
    if (words == NULL) {
        return false;
    }
    memset(words + bits->count, 0, (count - bits->count) * sizeof *words);
    *bits = (written){words, count};
    return true;
}

/* Marks bytes, a word of granules at a time. Returns whether any was marked before. */
static bool mark(written *bits, int64_t first, int64_t last) {
    const uint64_t from = (uint64_t)first / GRANULE, to = (uint64_t)last / GRANULE;
    bool was_written = false;
    for (uint64_t i = from / 64; i <= to / 64; i++) {
        uint64_t mask = UINT64_MAX << (i == from / 64 ? from % 64 : 0);
        mask &= UINT64_MAX >> (i == to / 64 ? 63 - to % 64 : 0);
        was_written |= (bits->words[i] & mask) != 0;
        bits->words[i] |= mask;
    }
    return was_written;
}

/* The object as an operation or the kernel makes it: a recast of one is an object of its own, which
 * binding puts after all others of the module. */
static grout_object_id get_made(const grout_reach *reach, grout_object_id id) {
    const grout_module *module = reach->module;
    return grout_module_get_value(module, grout_module_get_object(module, id)->value)->object;
}

static bool note_write(grout_reach *reach, const grout_access *access) {
    const grout_object_id object = get_made(reach, access->object);
    const uint32_t number = object - reach->objects.first;
    GROUT_ASSERT(number < reach->objects.count);
    grout_reach_use *use = grout_reach__get_use(reach, object);
    if (!access->is_write || access->stamp.agent == GROUT_AGENT_ACTOR ||
        access->space != GROUT_SPACE_SMEM || *use == GROUT_REACH_REUSED) {
        return true;
    }
    grout_reach_cta *cta = find_cta(reach, access->owner);
    bool was_written = false;
    bool was_used = cta != NULL && cta->objects[number].words != NULL;
    for (uint32_t i = 0; cta != NULL && i < access->run_count && !was_written; i++) {
        const grout_run *run = &access->runs[i];
        written *bits = &cta->objects[number];
        int64_t end = run->base + (run->count - 1) * run->stride + run->length;
        if (!make_room(bits, end / GRANULE + 1) || bits->words == NULL) {
            return false;
        }
        for (int64_t k = 0; k < run->count; k++) {
            int64_t first = run->base + k * run->stride;
            was_written |= mark(bits, first, first + run->length - 1);
        }
    }
    grout_reach_use now = was_written ? GROUT_REACH_REUSED
                          : was_used  ? GROUT_REACH_SPREAD
                                      : GROUT_REACH_ONCE;
    *use = now > *use ? now : *use;
    return cta != NULL;
}

/* What is made anew has not been written. */
static void forget(const grout_reach *reach, const grout_event *event) {
    uint32_t index = event->origin.cta;
    grout_reach_cta *cta = index < reach->ctas.count ? &reach->ctas.items[index] : NULL;
    bool is_known = cta != NULL && cta->objects != NULL;
    for (uint32_t i = 0; is_known && i < event->u.scope.object_count; i++) {
        written *bits = &cta->objects[event->u.scope.objects[i] - reach->objects.first];
        free(bits->words);
        *bits = (written){0};
    }
}

/* ---- the runs ------------------------------------------------------------------------------- */

/* A launch is new: what is known of CTAs was of another one. */
static bool begin(void *self, const grout_launch_info *info) {
    grout_reach *reach = self;
    free_ctas(reach);
    reach->actor_count = 5 * info->shape.thread_count; /* a thread and its four warps */
    return true;
}

static bool observe(void *self, const grout_event *event) {
    grout_reach *reach = self;
    bool is_good = true;
    grout_op_id op = event->origin.op;
    /* There is one event of a block barrier, which all threads reach, and it has no clocks. */
    bool is_meeting = event->kind == GROUT_EVENT_BLOCK_BARRIER &&
                      grout_module_get_op(reach->module, op)->block_count == 0;
    if ((event->clocks != NULL || is_meeting) && grout_reach__has(&reach->range, op)) {
        grout_reach__get_op(reach, op)->has_run = true;
        for (grout_op_id loop = grout_reach__get_op(reach, op)->loop; loop != 0 && is_good;
             loop = grout_reach__get_op(reach, loop)->loop) {
            is_good = note_turn(reach, loop, &event->origin);
        }
    }
    if (event->kind == GROUT_EVENT_PHASE) {
        const grout_barrier_fact *barrier = event->u.phase.barrier;
        uint32_t phases = barrier->phase_base + event->u.phase.phase + 1;
        uint32_t *most = grout_reach__get_phases(reach, barrier->object);
        *most = phases > *most ? phases : *most;
    } else if (event->kind == GROUT_EVENT_ACCESS) {
        is_good = note_write(reach, event->u.access) && is_good;
    } else if (event->kind == GROUT_EVENT_SCOPE_BEGIN) {
        forget(reach, event);
    } else if (event->kind == GROUT_EVENT_CTA_END && event->origin.cta < reach->ctas.count) {
        free_cta(reach, &reach->ctas.items[event->origin.cta]);
    }
    return is_good;
}

/* ---- parts of a run: one for each OS thread ------------------------------------------------- */

static bool init(grout_reach *reach, const grout_module *module, grout_kernel_id kernel);

static void free_part(const grout_observer *part) {
    grout_reach *reach = part->self;
    grout_reach__deinit(reach);
    free(reach);
}

static const grout_observer *new_part(void *self) {
    const grout_reach *reach = self;
    grout_reach *part = calloc(1, sizeof *part);
    if (part != NULL && !init(part, reach->module, reach->kernel)) {
        free_part(&part->observer);
        return NULL;
    }
    return part == NULL ? NULL : &part->observer;
}

static bool join_part(void *self, const grout_observer *part) {
    grout_reach__join(self, part->self);
    return true;
}

/* ---- a reach -------------------------------------------------------------------------------- */

static void widen(grout_reach_range *range, uint32_t id) {
    const uint32_t end = range->count == 0 ? id + 1 : range->first + range->count;
    range->first = range->count == 0 || id < range->first ? id : range->first;
    range->count = (id < end ? end : id + 1) - range->first;
}

/* The ids that a kernel has in its module: they follow each other, in the order of the text. */
static void find_ids(grout_reach *reach, grout_block_id block) {
    const grout_module *module = reach->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_value_id first;
        const uint32_t count = grout_op_get_made_objects(module, op, &first);
        widen(&reach->range, id);
        for (uint32_t i = 0; i < count; i++) {
            widen(&reach->objects, grout_module_get_value(module, first + i)->object);
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            find_ids(reach, op->first_block + i);
        }
    }
}

static bool init(grout_reach *reach, const grout_module *module, grout_kernel_id kernel) {
    const grout_kernel *info = grout_module_get_kernel(module, kernel);
    *reach = (grout_reach){.module = module, .kernel = kernel};
    find_ids(reach, info->body);
    for (uint32_t i = 0; i < info->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, info, i);
        if (param->object != 0) {
            widen(&reach->objects, param->object);
        }
    }
    reach->ops = calloc(reach->range.count + 1, sizeof *reach->ops);
    reach->phases = calloc(reach->objects.count + 1, sizeof *reach->phases);
    reach->uses = calloc(reach->objects.count + 1, sizeof *reach->uses);
    reach->observer = (grout_observer){
        .self = reach,
        .interest =
            ((UINT64_C(1) << GROUT_EVENT_KIND_COUNT) - 1) & ~(UINT64_C(1) << GROUT_EVENT_COMPLETE),
        .begin = begin,
        .event = observe,
        .new_part = new_part,
        .join_part = join_part,
        .free_part = free_part,
    };
    if (reach->ops == NULL || reach->phases == NULL || reach->uses == NULL) {
        return false;
    }
    find_loops(reach, info->body, 0);
    return true;
}

bool grout_reach__init(grout_reach *reach, const grout_load *load, grout_kernel_id kernel) {
    return init(reach, load->bound, kernel);
}

void grout_reach__deinit(grout_reach *reach) {
    free_ctas(reach);
    free(reach->ops);
    free(reach->phases);
    free(reach->uses);
    grout__free(reach->ctas.items);
    grout__free(reach->lines.items);
    grout__free(reach->barriers.items);
    grout__free(reach->buffers.items);
    grout__free(reach->loops.items);
    *reach = (grout_reach){0};
}

void grout_reach__join(grout_reach *reach, const grout_reach *other) {
    GROUT_ASSERT(reach->range.count == other->range.count);
    GROUT_ASSERT(reach->objects.count == other->objects.count);
    for (uint32_t i = 0; i < reach->range.count; i++) {
        reach->ops[i].has_run |= other->ops[i].has_run;
        reach->ops[i].has_turned |= other->ops[i].has_turned;
    }
    for (uint32_t i = 0; i < reach->objects.count; i++) {
        bool is_more = other->phases[i] > reach->phases[i];
        reach->phases[i] = is_more ? other->phases[i] : reach->phases[i];
        reach->uses[i] = other->uses[i] > reach->uses[i] ? other->uses[i] : reach->uses[i];
    }
}
