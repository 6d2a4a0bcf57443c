/*
 * ledger.c - the accesses of a launch, by bytes of its arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger.h"

#include "alloc.h"
#include "reader_index.h"
#include "rules.h"

#include <string.h>

/* ---- recording --------------------------------------------------------------------------------
 */

uint8_t grout_access__get_atomicity(const grout_access *access) {
    GROUT_ASSERT(!access->is_atomic || access->atomic_scope >= GROUT_CHOICE_SCOPE_CTA);
    return access->is_atomic
               ? grout_entry__make_atomicity(
                     (uint32_t)access->atomic_scope - GROUT_CHOICE_SCOPE_CTA, access->atomic_width)
               : 0;
}

static bool is_alike(const grout_entry *a, const grout_entry *b) {
    return a->origin.op == b->origin.op && a->origin.operand == b->origin.operand &&
           a->flags == b->flags && a->atomicity == b->atomicity && a->cluster == b->cluster &&
           a->component == b->component;
}

static bool comes_before(const grout_origin *a, const grout_origin *b) {
    return a->cta != b->cta ? a->cta < b->cta : a->thread < b->thread;
}

/* One entry for each op: the one of the first actor, whatever the schedule. */
static bool visit(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect) {
    const grout_entry *entry = payload;
    const grout_op_id op = entry->origin.op;
    (void)rect;
    for (grout_entry *it = grout_reader_index__find_newest(shadow, region, op); it != NULL;
         it = grout_reader_index__find_older(shadow, region, it)) {
        if (is_alike(it, entry)) {
            const uint32_t newest = it->number < entry->number ? entry->number : it->number;
            if (comes_before(&entry->origin, &it->origin)) {
                *it = *entry;
            }
            it->number = newest; /* before which all of them come */
            return true;
        }
    }
    return grout_shadow__add_reader(shadow, region, entry);
}

static bool record(grout_ledger *ledger, const grout_event *event) {
    const grout_access *access = event->u.access;
    uint32_t plane = ledger->planes[access->object];
    if (plane == 0) {
        return true;
    }
    grout_entry entry = {.origin = event->origin, .number = 1};
    entry.flags = grout_entry__make_flags(access->stamp.agent, access->is_write, access->is_atomic);
    entry.atomicity = grout_access__get_atomicity(access);
    if (ledger->releases.triggers != NULL) { /* each actor's alone: some may be released */
        entry.cluster = access->stamp.cluster;
        entry.component = access->stamp.component;
        entry.number = access->stamp.number;
    }
    const grout_visitor visitor = {visit, &entry};
    return grout_shadow__access(&ledger->shadow, plane - 1, 0, access, &visitor);
}

static bool observe(void *self, const grout_event *event) {
    grout_ledger *ledger = self;
    if (event->kind == GROUT_EVENT_GRID_WAIT) {
        ledger->has_waited = true;
        return true;
    }
    if (event->kind == GROUT_EVENT_GRID_TRIGGER) {
        return grout_releases__add(&ledger->releases, ledger->module, event);
    }
    return record(ledger, event);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void forget(grout_ledger *ledger) {
    grout_shadow__deinit(&ledger->shadow);
    memset(&ledger->shadow, 0, sizeof ledger->shadow);
    grout_releases__deinit(&ledger->releases);
    grout__free(ledger->planes);
    ledger->planes = NULL;
    ledger->has_waited = false;
}

static bool begin(void *self, const grout_launch_info *info) {
    grout_ledger *ledger = self;
    const grout_kernel *kernel = grout_module_get_kernel(info->module, info->kernel);
    forget(ledger);
    ledger->module = info->module;
    ledger->kernel = info->kernel;
    ledger->planes = grout__new(ledger->allocator, grout_module_get_object_count(info->module),
                                sizeof *ledger->planes);
    if (ledger->planes == NULL ||
        !grout_releases__init(&ledger->releases, ledger->allocator, info) ||
        !grout_shadow__init(&ledger->shadow, ledger->allocator, kernel->param_count)) {
        return false;
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(info->module, kernel, i);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        const grout_layout *layout = grout_object_get_layout(info->module, param->object);
        const grout_type *type = grout_object_get_type(info->module, param->object);
        uint64_t size = (uint64_t)layout->bytes;
        uint64_t pitch =
            type->rank < 2 ? size : (uint64_t)type->dims[type->rank - 1] * layout->element_bytes;
        ledger->planes[param->object] = i + 1;
        grout_shadow__set_plane(&ledger->shadow, i, size, pitch > 0 ? pitch : 1);
    }
    return true;
}

grout_ledger *grout_ledger_new(const grout_allocator *allocator, grout_diags *diags) {
    grout_ledger *ledger = grout__new(allocator, 1, sizeof *ledger);
    if (ledger == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    ledger->allocator = allocator;
    ledger->observer = (grout_observer){.self = ledger,
                                        .interest = UINT64_C(1) << GROUT_EVENT_ACCESS |
                                                    UINT64_C(1) << GROUT_EVENT_GRID_WAIT |
                                                    UINT64_C(1) << GROUT_EVENT_GRID_TRIGGER,
                                        .begin = begin,
                                        .event = observe};
    return ledger;
}

void grout_ledger_free(grout_ledger *ledger) {
    if (ledger != NULL) {
        forget(ledger);
        grout__free(ledger);
    }
}

const grout_observer *grout_ledger_get_observer(grout_ledger *ledger) {
    return &ledger->observer;
}

/* ---- asking -----------------------------------------------------------------------------------
 */

bool grout_ledger__walk(grout_ledger *ledger, uint32_t param, const grout_run *run,
                        const grout_visitor *visitor) {
    bool ok = true;
    bool is_dense = run->stride == run->length || run->count == 1;
    if (is_dense) {
        return grout_shadow__walk(&ledger->shadow, param, run->base, run->count * run->length,
                                  visitor);
    }
    for (int64_t i = 0; ok && i < run->count; i++) {
        ok = grout_shadow__walk(&ledger->shadow, param, run->base + i * run->stride, run->length,
                                visitor);
    }
    return ok;
}

/* ---- what is released ------------------------------------------------------------------------
 */

bool grout_ledger_hands_on(const grout_ledger *ledger) {
    return grout_releases__hand_on(&ledger->releases);
}

bool grout_ledger__is_released(const grout_ledger *ledger, const grout_entry *entry) {
    const uint32_t *known = grout_releases__find(&ledger->releases, entry->cluster);
    return known != NULL && known[entry->component] >= entry->number;
}

static uint8_t get_most(uint8_t a, uint8_t b) {
    return a > b ? a : b;
}

/* For the launch after the next: from what the next one may go by. The end of a grid is visible
 * through every proxy to those that wait for it alone. */
static void pass_on(grout_earlier_launch *earlier, const grout_ledger *next) {
    const uint8_t at_start = earlier->at_start, by_wait = earlier->by_wait;
    const uint8_t over = by_wait == GROUT_EARLIER_VISIBLE ? GROUT_EARLIER_ALL : by_wait;
    const bool hands_on = grout_releases__hand_on(&next->releases);
    const bool hands_on_wait = grout_releases__hand_on_wait(&next->releases);
    earlier->at_start = get_most(hands_on ? at_start : GROUT_EARLIER_NOTHING,
                                 hands_on_wait ? over : GROUT_EARLIER_NOTHING);
    earlier->by_wait = get_most(at_start, next->has_waited ? by_wait : GROUT_EARLIER_NOTHING);
}

void grout_ledger_order(grout_earlier_launch *earlier, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            pass_on(&earlier[k], earlier[i].ledger);
        }
        earlier[i].at_start = GROUT_EARLIER_RELEASED;
        earlier[i].by_wait = GROUT_EARLIER_VISIBLE;
    }
}

typedef struct keeping {
    const grout_earlier_launch *earlier;
    const uint8_t *old;
    uint8_t *bytes;
    uint32_t plane;
} keeping;

static bool is_seen(const grout_earlier_launch *earlier, const grout_entry *entry) {
    return (entry->flags & GROUT_ENTRY_WRITE) == 0 ||
           (earlier->at_start == GROUT_EARLIER_RELEASED &&
            grout_ledger__is_released(earlier->ledger, entry));
}

static bool keep(void *payload, grout_shadow *shadow, grout_region *region,
                 const grout_rect *rect) {
    const keeping *it = payload;
    const grout_entry *entries = grout_shadow__get_readers(shadow, region);
    const grout_run run = grout_shadow__get_run(shadow, it->plane, rect);
    bool are_seen = true;
    for (uint32_t i = 0; i < region->reader_count && are_seen; i++) {
        are_seen = is_seen(it->earlier, &entries[i]);
    }
    for (int64_t i = 0; !are_seen && i < run.count; i++) {
        const int64_t at = run.base + i * run.stride;
        memcpy(it->bytes + at, it->old + at, (size_t)run.length);
    }
    return true;
}

bool grout_ledger_keep_unseen(const grout_earlier_launch *earlier, uint32_t param, const void *old,
                              void *bytes) {
    grout_ledger *ledger = earlier->ledger;
    keeping it = {.earlier = earlier, .old = old, .bytes = bytes, .plane = param};
    const grout_visitor visitor = {keep, &it};
    return earlier->at_start >= GROUT_EARLIER_ALL ||
           (grout_releases__settle(&ledger->releases) &&
            grout_shadow__walk(&ledger->shadow, param, 0,
                               (int64_t)ledger->shadow.planes[param].size, &visitor));
}
