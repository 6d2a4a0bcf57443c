/* hangs.c - why a launch failed: the waits that the watchdog ended, as notes with their places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hangs.h"

#include "invariant.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>

#define HANG_NOTES_MAX 8

/* The wait that a record of the watchdog is about. */
typedef struct wait_search {
    const grout_gpu_hang_report *r;
    const grout_gpu_hang *hang;
    grout_loc_id found;
} wait_search;

/* The object that a record's number names: a barrier or a semaphore array; 0 if it names none. */
static grout_object_id get_hang_object(const grout_gpu_hang_report *r, const grout_gpu_hang *hang) {
    if (hang->code == GROUT_GPU_HANG_SEMAPHORE) {
        return hang->barrier < r->plan->workspace_count ? r->plan->workspaces[hang->barrier].object
                                                        : 0;
    }
    return hang->barrier < r->plan->barrier_count ? r->plan->barriers[hang->barrier].object : 0;
}

static bool find_wait(void *payload, grout_op_id id, const grout_op *op) {
    wait_search *search = payload;
    const grout_gpu_hang_report *r = search->r;
    const grout_object_id object = get_hang_object(r, search->hang);
    grout_view view;
    (void)id;
    if (op->operand_count > 0 && op->block_count == 0 && object != 0 &&
        grout_module_get_place(r->module, op->loc).line == search->hang->line &&
        grout_module_get_view(r->module, grout_module_get_operand(r->module, op, 0), &view) &&
        view.object == object) {
        search->found = op->loc;
        return false;
    }
    return true;
}

static grout_place find_wait_place(const grout_gpu_hang_report *r, const grout_gpu_hang *hang) {
    wait_search search = {.r = r, .hang = hang, .found = r->kernel->loc};
    grout_gpu__walk(r->module, r->kernel->body, find_wait, &search);
    return grout_module_get_place(r->module, search.found);
}

static bool is_same_wait(const grout_gpu_hang *a, const grout_gpu_hang *b) {
    return a->thread == b->thread && a->actor == b->actor && a->code == b->code &&
           a->barrier == b->barrier && a->slot == b->slot && a->parity == b->parity &&
           a->line == b->line;
}

/* "CTA 5 (rank 1 of cluster 2), thread 0, warp 3" */
static void add_waiter(const grout_gpu_hang_report *r, const grout_gpu_hang *hang,
                       grout_text *out) {
    const uint32_t size = r->plan->cluster_size;
    grout_text_add(out, "CTA %" PRIu32, hang->cta[0]);
    if (size > 1) {
        grout_text_add(out, " (rank %" PRIu32 " of cluster %" PRIu32 ")", hang->cta[0] % size,
                       hang->cta[0] / size);
    }
    grout_text_add(out, ", thread %" PRIu32, hang->thread);
    if (hang->actor > 0) {
        grout_text_add(out, ", warp %" PRIu32, hang->actor - 1);
    }
}

/* One note for all CTAs whose thread waits for the same, in the order of the records. */
static void note_hang(const grout_gpu_hang_report *r, uint32_t index) {
    GROUT_ASSERT(index < r->outcome->hang_count);
    const grout_gpu_hang *hang = &r->outcome->hangs[index];
    const grout_object_id object = get_hang_object(r, hang);
    uint32_t others = 0;
    char more[64] = "";
    char what[64];
    grout_text waiter = {0}, slot = {0};
    for (uint32_t k = index + 1; k < r->outcome->hang_count; k++) {
        others += is_same_wait(&r->outcome->hangs[k], hang) ? 1 : 0;
    }
    if (others > 0) {
        (void)snprintf(more, sizeof more, ", and so do %" PRIu32 " CTAs more", others);
    }
    (void)snprintf(what, sizeof what,
                   hang->code == GROUT_GPU_HANG_SEMAPHORE ? "%" PRIu32 " units"
                                                          : "a phase of parity %" PRIu32,
                   hang->parity);
    add_waiter(r, hang, &waiter);
    if (hang->code != GROUT_GPU_HANG_SEMAPHORE && hang->barrier == r->plan->barrier_count &&
        r->plan->tensor_columns > 0) { /* the kernel's end */
        grout_diags_note(r->diags, find_wait_place(r, hang),
                         "%s waits at its end for the tensor core since %.1f s%s",
                         waiter.data == NULL ? "a thread" : waiter.data,
                         (double)hang->waited_ns * 1e-9, more);
        grout_text_free(&waiter);
        return;
    }
    if (object != 0) {
        grout_type_print_element(grout_object_get_type(r->module, object), hang->slot, &slot);
    } else {
        grout_text_add(&slot, "[%" PRIu32 "]", hang->slot);
    }
    grout_diags_note(r->diags, find_wait_place(r, hang), "%s waits for %s of %%%s%s since %.1f s%s",
                     waiter.data == NULL ? "a thread" : waiter.data, what,
                     object == 0 ? "?" : grout_gpu__get_object_name(r->module, object),
                     slot.data == NULL ? "" : slot.data, (double)hang->waited_ns * 1e-9, more);
    grout_text_free(&slot);
    grout_text_free(&waiter);
}

/* CTAs of the kernel that the GPU runs at a time; 0 if that is not known. */
static int64_t count_resident(const grout_gpu_hang_report *r) {
    if (r->outcome->step_count == 0) {
        return 0;
    }
    const grout_gpu_kernel_info *info = &r->outcome->steps[0].info;
    return r->plan->cluster_size > 1 ? (int64_t)info->clusters_per_device * r->plan->cluster_size
                                     : (int64_t)info->ctas_per_sm * r->outcome->device.sm_count;
}

/* A wait for a CTA that cannot start before this one ends. */
static void note_residency(const grout_gpu_hang_report *r) {
    const int64_t resident = count_resident(r);
    if (r->plan->waits_for_clusters == 0 || resident == 0 || resident >= r->plan->grid_size) {
        return;
    }
    const grout_op *op = grout_module_get_op(r->module, r->plan->waits_for_clusters);
    grout_diags_note(r->diags, grout_module_get_place(r->module, op->loc),
                     "this waits for other CTAs, of which the launch has %" PRId64
                     ", and the GPU runs %" PRId64
                     " at a time: the others start only when one of those has ended",
                     r->plan->grid_size, resident);
    grout_diags_help(r->diags,
                     "launch at most %" PRId64
                     " CTAs and give each several tiles, or wait only for CTAs of lower number",
                     resident);
}

static void report_hangs(const grout_gpu_hang_report *r) {
    uint32_t noted = 0;
    for (uint32_t k = 0; k < r->outcome->hang_count && noted < HANG_NOTES_MAX; k++) {
        bool is_new = true;
        for (uint32_t i = 0; i < k && is_new; i++) {
            is_new = !is_same_wait(&r->outcome->hangs[i], &r->outcome->hangs[k]);
        }
        if (is_new) {
            note_hang(r, k);
            noted++;
        }
    }
    grout_diags_help(r->diags, "'grout check' runs the kernel on the CPU and says which arrival is "
                               "missing, and why");
}

/* ---- debug_check --------------------------------------------------------------------------------
 */

/* The operation that a record is about; NULL: none of the module. */
static const grout_op *find_check(const grout_gpu_hang_report *r, const grout_gpu_hang *hang) {
    const bool is_check =
        hang->code == GROUT_GPU_HANG_CHECK && hang->barrier < grout_module_get_op_count(r->module);
    const grout_op *op = is_check ? grout_module_get_op(r->module, hang->barrier) : NULL;
    return op != NULL && grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_CHECK
               ? op
               : NULL;
}

/* "CTA 5, thread 0, element [3, 1]: x is 7" */
static void note_check(const grout_gpu_hang_report *r, const grout_gpu_hang *hang,
                       const grout_op *op) {
    const grout_type type =
        grout_module_get_operand_type(r->module, grout_module_get_operand(r->module, op, 0));
    grout_text text = {0};
    add_waiter(r, hang, &text);
    if (type.kind == GROUT_TYPE_ARRAY) {
        grout_text_add(&text, ", element ");
        grout_type_print_element(&type, hang->slot, &text);
    }
    grout_text_add(&text, ": ");
    grout_op_print_message(r->module, op, hang->values, hang->parity, "?", &text);
    grout_diags_note(r->diags, grout_module_get_place(r->module, op->loc), "%s",
                     text.data == NULL ? "a check failed" : text.data);
    grout_text_free(&text);
}

/* The first records, in the order of CTAs and threads. */
static void report_checks(const grout_gpu_hang_report *r, const grout_gpu_error *error) {
    uint32_t noted = 0;
    for (uint32_t k = 0; k < r->outcome->hang_count && noted < HANG_NOTES_MAX; k++) {
        const grout_op *op = find_check(r, &r->outcome->hangs[k]);
        if (op != NULL && noted == 0) {
            grout_gpu__report(r->diags, error, grout_module_get_place(r->module, op->loc));
        }
        if (op != NULL) {
            note_check(r, &r->outcome->hangs[k], op);
            noted++;
        }
    }
    if (noted == 0) {
        grout_gpu__report(r->diags, error, grout_module_get_place(r->module, r->kernel->loc));
    }
}

/* ---- all ----------------------------------------------------------------------------------------
 */

void grout_gpu__report_failure(const grout_gpu_hang_report *r, const grout_gpu_error *error) {
    const bool is_hang = error->code == GROUT_DIAG_GPU_HANG;
    if (error->code == GROUT_DIAG_DEBUG_CHECK_FAILED) {
        report_checks(r, error);
        return;
    }
    const bool has_hangs = is_hang && r->outcome->hang_count > 0;
    const grout_place place = has_hangs ? find_wait_place(r, &r->outcome->hangs[0])
                                        : grout_module_get_place(r->module, r->kernel->loc);
    grout_gpu__report(r->diags, error, place);
    if (is_hang) {
        note_residency(r);
    }
    if (has_hangs) {
        report_hangs(r);
    }
}
