/* verify_scope.c - collective scopes and block barriers: what all threads of a CTA meet at.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

typedef struct scope_objects {
    bool has_shared;    /* the threads of the CTA share it: anything but an accumulator */
    const char *in_cta; /* of the CTA's memory, in words; or NULL */
    bool has_cluster;   /* a cluster barrier */
} scope_objects;

static scope_objects find_objects(const grout_module *module, const grout_op *op) {
    const grout_block *body = grout_module_get_block(module, op->first_block);
    scope_objects found = {false, NULL, false};
    for (uint32_t k = 0; k < body->arg_count; k++) {
        grout_object_id id = grout_module_get_value(module, body->first_arg + k)->object;
        const grout_object *object = grout_module_get_object(module, id);
        found.has_shared = found.has_shared || !grout_space_is_of_thread(object->space);
        if (grout_space_is_of_cta(object->space) && found.in_cta == NULL) {
            found.in_cta =
                grout_space_needs_tensor_order(object->space) ? "TMEM objects" : "SMEM objects";
        }
        found.has_cluster = found.has_cluster || object->cluster_group_count > 0;
    }
    return found;
}

static void report_missing_collective(grout_verifying *verifying, const grout_op *op,
                                      uint32_t threads, scope_objects objects) {
    if (objects.has_cluster) {
        grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                                "this scope makes a cluster barrier, which the other CTAs of the "
                                "cluster arrive on: they have to enter it with this one");
        grout_diags_help(verifying->diags, "write 'collective' after the objects, or make the "
                                           "barrier by scratch");
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                            "this scope makes %s in a CTA of %" PRIu32
                            " threads, and each of them would use the same bytes",
                            objects.in_cta != NULL ? objects.in_cta : "semaphores", threads);
    grout_diags_help(verifying->diags, "write 'collective' after the objects: all threads "
                                       "enter together and share them");
}

static void check_divergence(grout_verifying *verifying, const grout_op *op, uint32_t threads) {
    const grout_op *around = grout_verify__find_divergence(verifying, op, GROUT_DIFFERS_BY_THREAD);
    if (around == NULL) {
        return;
    }
    const char *text = grout_op_get_info((grout_opcode)around->opcode)->text;
    grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                            "not every thread reaches this collective scope: its entry waits "
                            "for all %" PRIu32 " threads of the CTA",
                            threads);
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, around->loc),
                     "this '%s' depends on the index of a thread", text);
    grout_diags_help(verifying->diags, "move the scope around the '%s'", text);
}

static void check_scope(grout_verifying *verifying, const grout_op *op, uint32_t threads) {
    bool is_collective =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
    scope_objects objects = find_objects(verifying->module, op);
    if (is_collective) {
        if (threads > 1) {
            check_divergence(verifying, op, threads);
        }
    } else if (objects.has_cluster || (objects.has_shared && threads > 1)) {
        report_missing_collective(verifying, op, threads, objects);
    }
}

/* ---- with warp_specialize: each op is run by one thread ---------------------------------------
 */

/* The body of the warp_specialize that op stands in, counted from 0; UINT32_MAX outside. */
static uint32_t find_partition(const grout_module *module, const grout_op *op) {
    grout_block_id block = 0;
    const grout_op *around = grout_op_find_around(module, op, GROUT_REGION_PARTITIONS, &block);
    return around == NULL ? UINT32_MAX : block - around->first_block;
}

static void check_lone_scope(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    bool is_inside = find_partition(module, op) != UINT32_MAX;
    if (grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE) != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                                "a collective scope waits for all threads of the CTA, and in a "
                                "kernel with warp_specialize one of them runs this");
        grout_diags_help(verifying->diags, "make the objects by scratch");
    } else if (is_inside && find_objects(module, op).has_shared) {
        grout_verifying__report(
            verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
            "this scope makes objects in SMEM, TMEM or GMEM inside a partition, "
            "and the partitions run side by side: they would share the bytes");
        grout_diags_help(verifying->diags, "make the objects by scratch: only accumulators belong "
                                           "to one partition");
    } else if (find_objects(module, op).has_cluster) {
        report_missing_collective(verifying, op, 1, find_objects(module, op));
        return;
    } else {
        return;
    }
    grout_diags_note(verifying->diags, grout_module_get_place(module, verifying->specialize->loc),
                     "the warp_specialize");
}

/* The partitions that have a block_barrier: bit i for body i. */
static uint32_t find_meeting(const grout_module *module, grout_kernel_id kernel) {
    uint32_t found = 0;
    grout_op_id id = grout_kernel__get_first_op(module, kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        uint32_t partition = grout_verify__is_meeting(op) ? find_partition(module, op) : UINT32_MAX;
        found |= partition < GROUT_THREADS_MAX ? 1u << partition : 0;
    }
    return found;
}

/* A block_barrier inside a body that other threads of the CTA can never come to. Outside the bodies
 * every thread runs it. */
static void check_lone_barrier(grout_verifying *verifying, const grout_op *op, uint32_t meeting,
                               uint32_t threads) {
    const grout_module *module = verifying->module;
    uint32_t absent = 0;
    while (absent < threads && absent < GROUT_THREADS_MAX && (meeting >> absent & 1u) != 0) {
        absent++;
    }
    if (absent >= threads || absent >= GROUT_THREADS_MAX ||
        find_partition(module, op) == UINT32_MAX) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                            "block_barrier waits for all %" PRIu32
                            " threads of the CTA, and thread %" PRIu32 " never comes to one",
                            threads, absent);
    grout_diags_note(verifying->diags, grout_module_get_place(module, verifying->specialize->loc),
                     "inside a warp_specialize each thread runs its own body alone");
    grout_diags_help(verifying->diags,
                     "let those that meet use named_barrier_sync ID, THREADS, or an mbarrier");
}

void grout_verify__scopes(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    uint32_t threads = grout_kernel_get_thread_count(module, verifying->kernel);
    bool is_specialised = verifying->specialize != NULL && threads > 1;
    uint32_t meeting = is_specialised ? find_meeting(module, verifying->kernel) : 0;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        bool is_scope = grout_op_get_region_kind(op) == GROUT_REGION_SCOPE;
        if (is_scope && is_specialised) {
            check_lone_scope(verifying, op);
        } else if (is_scope) {
            grout_verify__spread(verifying);
            check_scope(verifying, op, threads);
        } else if (grout_verify__is_meeting(op) && is_specialised) {
            check_lone_barrier(verifying, op, meeting, threads);
        }
    }
}
