/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - synchronisation that a launch does not need.
 *
 * A commit, wait or barrier is redundant in a launch if without it every conflict is still ordered.
 * This is not a guess: the launch runs again without it under the checker. That run has to give the
 * same outputs and to be clean and well synchronised, which is a proof for all schedules; and what
 * it leaves to chance has to be the same: where the order of two atomics may show in what leaves
 * the kernel, the operation that orders them is needed. Which operations can go together is found
 * in the same way, in the order of the text. An order is redundant if the same holds when the
 * operation orders nothing, as with order(relaxed): it still counts and still waits.
 */
#ifndef GROUT_ADVICE_H
#define GROUT_ADVICE_H

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operations that are redundant as a whole: one, or all arrivals and waits of a barrier. */
typedef struct grout_advice {
    grout_diag_code code; /* REDUNDANT_COMMIT, REDUNDANT_WAIT, REDUNDANT_BARRIER, REDUNDANT_ORDER */
    grout_op_id *ops;     /* in the order of the text */
    uint32_t op_count;
    bool is_in_set; /* it can go together with all others that say so */
} grout_advice;

typedef struct grout_advice_list {
    grout_advice *items;
    uint32_t count;
    uint32_t set_size; /* items of the set */
    uint64_t runs;
    bool
        is_possible; /* the launch itself was clean and well synchronised: else nothing was tried */
    bool is_complete; /* all candidates were tried */
} grout_advice_list;

typedef struct grout_advice_options {
    bool strict_fences; /* of each checker, as in grout_checker_options */
    /* By op: its order is tried; a run for each. grout_gpu_find_wide_orders says which orders cost
     * something on the GPU. NULL: none. */
    const bool *orders;
    /* Asked before each run; false ends the search. May be NULL. */
    bool (*goes_on)(void *payload);
    void *payload;
} grout_advice_options;

/*
 * Looks for redundant synchronisation of a launch. launch: as for grout_machine_new, without
 * observers and skipped; its arrays are restored before each run and hold the launch's own result
 * afterwards. False: reasons in diags. Deinit even then.
 */
bool grout_advise(const grout_launch *launch, const grout_advice_options *options,
                  grout_advice_list *out, grout_diags *diags);
void grout_advice_list_deinit(grout_advice_list *list);

#ifdef __cplusplus
}
#endif
#endif
