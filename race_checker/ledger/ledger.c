/*
 * ledger.c - the accesses of a launch, by bytes of its arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger.h"

#include "alloc.h"
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
           a->flags == b->flags && a->atomicity == b->atomicity;
}

static bool comes_before(const grout_origin *a, const grout_origin *b) {
    return a->cta != b->cta ? a->cta < b->cta : a->thread < b->thread;
}

/* One entry for each op: the one of the first actor, whatever the schedule. */
static bool visit(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect) {
    const grout_entry *entry = payload;
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    (void)rect;
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (is_alike(&readers[i], entry)) {
            if (comes_before(&entry->origin, &readers[i].origin)) {
                readers[i] = *entry;
            }
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
    grout_entry entry = {.origin = event->origin};
    entry.flags = grout_entry__make_flags(access->stamp.agent, access->is_write, access->is_atomic);
    entry.atomicity = grout_access__get_atomicity(access);
    const grout_visitor visitor = {visit, &entry};
    return grout_shadow__access(&ledger->shadow, plane - 1, 0, access, &visitor);
}

static bool observe(void *self, const grout_event *event) {
    grout_ledger *ledger = self;
    if (event->kind == GROUT_EVENT_GRID_WAIT) {
        ledger->has_waited = true;
        return true;
    }
    return record(ledger, event);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void forget(grout_ledger *ledger) {
    grout_shadow__deinit(&ledger->shadow);
    memset(&ledger->shadow, 0, sizeof ledger->shadow);
    grout__free(ledger->planes);
    ledger->planes = NULL;
    ledger->has_waited = false;
}

static bool begin(void *self, const grout_launch_info *info) {
    grout_ledger *ledger = self;
    const grout_kernel *kernel = grout_module_get_kernel(info->module, info->kernel);
    forget(ledger);
    ledger->module = info->module;
    ledger->planes = grout__new(ledger->allocator, grout_module_get_object_count(info->module),
                                sizeof *ledger->planes);
    if (ledger->planes == NULL ||
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
                                                    UINT64_C(1) << GROUT_EVENT_GRID_WAIT,
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

bool grout_ledger_has_waited(const grout_ledger *ledger) {
    return ledger->has_waited;
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
