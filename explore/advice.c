/* advice.c - tries a launch without parts of its synchronisation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/advice.h"

#include "array.h"
#include "arrays.h"
#include "invariant.h"
#include "rivals.h"

#include <string.h>

typedef struct advisor {
    const grout_launch *launch;
    const grout_advice_options *options;
    grout_advice_list *out;
    grout_diags *diags;
    grout_saved_arrays inputs, results;
    bool *skipped; /* by op: whether the current run leaves it out */
    bool *relaxed; /* by op: whether it orders nothing in the current run */
    bool *was_run; /* by op, in the launch itself */
    grout_observer notes;
    bool *matters, *is_read; /* rivals.h; matters NULL: no atomic does */
    uint64_t open_pairs;     /* of atomics, in the launch itself */
    size_t capacity;
    bool was_cut; /* a run was interrupted: there are no more */
} advisor;

/* ---- runs ----------------------------------------------------------------------------------- */

static bool note_op(void *self, const grout_event *event) {
    advisor *it = self;
    it->was_run[event->origin.op] = true;
    return true;
}

/* A run is as good as the launch: clean, warnings included, and for every schedule. */
static bool is_clean(const grout_checker *checker, grout_run_status status) {
    grout_check_summary summary = grout_checker_get_summary(checker, status != GROUT_RUN_DONE);
    return status == GROUT_RUN_DONE && summary.verdict == GROUT_VERDICT_CLEAN &&
           summary.warning_count == 0 && summary.is_well_synchronised;
}

/* Runs without what is skipped. In the launch itself what it runs is noted, and which atomics
 * nothing orders; a run in which others are open as well is not as good. False: it could not be
 * run. */
static bool run(advisor *it, bool is_launch_itself, bool *is_clean_out) {
    grout_launch launch = *it->launch;
    grout_rivals rivals;
    const grout_checker_options options = {.strict_fences =
                                               it->options != NULL && it->options->strict_fences,
                                           .allocator = it->launch->allocator};
    grout_checker *checker = grout_checker_new(&options, it->diags);
    if (checker == NULL) {
        return false;
    }
    launch.skipped = it->skipped;
    launch.relaxed = it->relaxed;
    launch.track_undefined = true;
    launch.print = NULL;
    launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    if (is_launch_itself) {
        launch.observers[launch.observer_count++] = &it->notes;
    }
    grout_rivals__init(&rivals, it->launch->allocator, it->matters, it->is_read);
    if (it->matters != NULL) {
        launch.observers[launch.observer_count++] = &rivals.observer;
    }
    grout_saved_arrays__restore(&it->inputs, it->launch);
    grout_machine *machine = grout_machine_new(&launch, it->diags);
    grout_run_status status =
        machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(machine, 0, it->diags);
    it->open_pairs = is_launch_itself ? rivals.sum : it->open_pairs;
    *is_clean_out = status != GROUT_RUN_FAILED && is_clean(checker, status) &&
                    rivals.sum == it->open_pairs && !rivals.is_cut;
    it->was_cut = it->was_cut || status == GROUT_RUN_INTERRUPTED;
    it->out->runs++;
    grout_rivals__deinit(&rivals);
    grout_machine_free(machine);
    grout_checker_free(checker);
    return status != GROUT_RUN_FAILED;
}

static bool try_without(advisor *it, bool *is_redundant_out) {
    if (!run(it, false, is_redundant_out)) {
        return false;
    }
    *is_redundant_out =
        *is_redundant_out && grout_saved_arrays__are_equal(&it->results, it->launch);
    return true;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static grout_sync_redundant get_redundant(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync == NULL ? GROUT_SYNC_REDUNDANT_NO : (grout_sync_redundant)sync->redundant;
}

/* The code that an operation gets if it is redundant by itself; NONE: it is not tried. */
static grout_diag_code get_code(const grout_op *op) {
    switch (get_redundant(op)) {
    case GROUT_SYNC_REDUNDANT_COMMIT:
        return GROUT_DIAG_REDUNDANT_COMMIT;
    case GROUT_SYNC_REDUNDANT_WAIT:
        return GROUT_DIAG_REDUNDANT_WAIT;
    case GROUT_SYNC_REDUNDANT_BARRIER:
        return GROUT_DIAG_REDUNDANT_BARRIER;
    case GROUT_SYNC_REDUNDANT_PAIR: /* with all that belongs to its barrier: add_barrier */
    case GROUT_SYNC_REDUNDANT_NO:
        break;
    }
    return GROUT_DIAG_NONE;
}

static bool add_op(const advisor *it, grout_advice *item, grout_op_id op) {
    grout_op_id *ops =
        grout__resize(it->launch->allocator, item->ops, (item->op_count + 1) * sizeof *ops);
    if (ops == NULL) {
        return false;
    }
    item->ops = ops;
    ops[item->op_count++] = op;
    return true;
}

static grout_advice *add_item(advisor *it, grout_diag_code code) {
    it->out->items = grout_array__grow(it->launch->allocator, it->out->items, it->out->count, 1,
                                       &it->capacity, sizeof *it->out->items);
    if (it->out->count == it->capacity) {
        return NULL;
    }
    it->out->items[it->out->count] = (grout_advice){.code = code};
    return &it->out->items[it->out->count++];
}

static bool add_single(advisor *it, grout_op_id op, grout_diag_code code) {
    grout_advice *item = add_item(it, code);
    return item != NULL && add_op(it, item, op);
}

/* The barrier object that an operation arrives on, brings bytes to or waits on; 0: none. */
static grout_object_id find_barrier(const grout_module *module, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_view view;
        if (effects[i].space == GROUT_EFFECT_SPACE_BARRIER &&
            grout_module_get_view(module, grout_module_get_operand(module, op, effects[i].operand),
                                  &view)) {
            return view.object;
        }
    }
    return 0;
}

static void drop_item(advisor *it, const grout_advice *item) {
    if (item != NULL) {
        grout__free(item->ops);
        it->out->count--;
    }
}

/* All arrivals and waits of a barrier that brings no bytes: it only orders. */
static bool add_barrier(advisor *it, grout_object_id object) {
    const grout_module *module = it->launch->module;
    grout_advice *item = NULL;
    bool was_run = false;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (find_barrier(module, op) != object) {
            continue;
        }
        if (get_redundant(op) != GROUT_SYNC_REDUNDANT_PAIR) {
            drop_item(it, item);
            return true; /* bytes, tests or parities: it is more than an order */
        }
        if (item == NULL) {
            item = add_item(it, GROUT_DIAG_REDUNDANT_BARRIER);
        }
        if (item == NULL || !add_op(it, item, id)) {
            return false;
        }
        was_run = was_run || it->was_run[id];
    }
    if (!was_run) { /* of another kernel, say */
        drop_item(it, item);
    }
    return true;
}

/* Only operations that the launch ran are candidates: nothing is known of others. */
static bool add_candidates(advisor *it) {
    const grout_module *module = it->launch->module;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        grout_diag_code code = get_code(grout_module_get_op(module, id));
        if (code != GROUT_DIAG_NONE && it->was_run[id] && !add_single(it, id, code)) {
            return false;
        }
    }
    for (grout_object_id id = 1; id < grout_module_get_object_count(module); id++) {
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind == GROUT_OBJECT_BARRIER && !object->is_explicit && !add_barrier(it, id)) {
            return false;
        }
    }
    return true;
}

/* After the others: an operation that can go has no order. */
static bool add_orders(advisor *it) {
    const bool *orders = it->options == NULL ? NULL : it->options->orders;
    for (grout_op_id id = 1; orders != NULL && id < grout_module_get_op_count(it->launch->module);
         id++) {
        if (orders[id] && it->was_run[id] && !add_single(it, id, GROUT_DIAG_REDUNDANT_ORDER)) {
            return false;
        }
    }
    return true;
}

/* ---- the search ----------------------------------------------------------------------------- */

static bool goes_on(const advisor *it) {
    return !it->was_cut && (it->options == NULL || it->options->goes_on == NULL ||
                            it->options->goes_on(it->options->payload));
}

/* Has the next runs leave an item out, or with it again. */
static void leave_out(advisor *it, const grout_advice *item, bool is_left_out) {
    bool *ops = item->code == GROUT_DIAG_REDUNDANT_ORDER ? it->relaxed : it->skipped;
    for (uint32_t i = 0; i < item->op_count; i++) {
        ops[item->ops[i]] = is_left_out;
    }
}

/* The order of an operation that can go as a whole needs no word. */
static bool is_said(const advisor *it, uint32_t kept, const grout_advice *item) {
    for (uint32_t i = 0; i < kept && item->code == GROUT_DIAG_REDUNDANT_ORDER; i++) {
        const grout_advice *other = &it->out->items[i];
        for (uint32_t k = 0; k < other->op_count; k++) {
            if (other->code != GROUT_DIAG_REDUNDANT_ORDER && other->ops[k] == item->ops[0]) {
                return true;
            }
        }
    }
    return false;
}

/* Tries the candidates one by one; keeps those without which the launch stays as it is. */
static bool keep_redundant(advisor *it) {
    uint32_t kept = 0, at = 0;
    bool is_good = true;
    for (; at < it->out->count && is_good && goes_on(it); at++) {
        grout_advice *item = &it->out->items[at];
        bool is_redundant = false;
        if (!is_said(it, kept, item)) {
            leave_out(it, item, true);
            is_good = try_without(it, &is_redundant);
            leave_out(it, item, false);
        }
        if (is_redundant) {
            it->out->items[kept++] = *item;
        } else {
            grout__free(item->ops);
        }
    }
    it->out->is_complete = at == it->out->count && !it->was_cut;
    for (; at < it->out->count; at++) {
        grout__free(it->out->items[at].ops);
    }
    it->out->count = kept;
    return is_good;
}

/* Finds a set that can go together: adds each one if the launch stays as it is without all of it.
 */
static bool find_set(advisor *it) {
    bool is_good = true;
    for (uint32_t i = 0; i < it->out->count && is_good && goes_on(it); i++) {
        grout_advice *item = &it->out->items[i];
        leave_out(it, item, true);
        is_good = try_without(it, &item->is_in_set);
        it->out->set_size += item->is_in_set ? 1u : 0u;
        if (!item->is_in_set) {
            leave_out(it, item, false);
        }
    }
    return is_good;
}

/* What of the atomics is to be noted. False without memory. */
static bool find_rivals(advisor *it) {
    const grout_launch *launch = it->launch;
    bool any = false;
    it->is_read = grout_rivals__find_reads(launch->allocator, launch->module);
    it->matters =
        grout_rivals__find_objects(launch->allocator, launch->module, launch->kernel, &any);
    if (it->is_read == NULL || it->matters == NULL) {
        return false;
    }
    if (!any) {
        grout__free(it->matters);
        it->matters = NULL;
    }
    return true;
}

static bool advise(advisor *it) {
    if (!find_rivals(it) || !grout_saved_arrays__take(&it->inputs, it->launch, false) ||
        !run(it, true, &it->out->is_possible)) {
        return false;
    }
    if (!it->out->is_possible) {
        return true;
    }
    if (!grout_saved_arrays__take(&it->results, it->launch, true) || !add_candidates(it) ||
        !add_orders(it)) {
        return false;
    }
    bool is_good = keep_redundant(it) && find_set(it);
    grout_saved_arrays__restore(&it->results, it->launch);
    return is_good;
}

bool grout_advise(const grout_launch *launch, const grout_advice_options *options,
                  grout_advice_list *out, grout_diags *diags) {
    size_t ops = grout_module_get_op_count(launch->module);
    advisor it = {.launch = launch, .options = options, .out = out, .diags = diags};
    *out = (grout_advice_list){0};
    it.skipped = grout__new(launch->allocator, ops, sizeof *it.skipped);
    it.relaxed = grout__new(launch->allocator, ops, sizeof *it.relaxed);
    it.was_run = grout__new(launch->allocator, ops, sizeof *it.was_run);
    it.notes = (grout_observer){.self = &it, .interest = UINT64_MAX, .event = note_op};
    bool is_good = it.skipped != NULL && it.relaxed != NULL && it.was_run != NULL && advise(&it);
    grout__free(it.skipped);
    grout__free(it.relaxed);
    grout__free(it.was_run);
    grout__free(it.matters);
    grout__free(it.is_read);
    grout_saved_arrays__deinit(&it.inputs);
    grout_saved_arrays__deinit(&it.results);
    return is_good || grout_diags_add_oom(diags);
}

void grout_advice_list_deinit(grout_advice_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        grout__free(list->items[i].ops);
    }
    grout__free(list->items);
    *list = (grout_advice_list){0};
}
