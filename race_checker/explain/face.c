/*
 * face.c - the words of the face that a kernel is written in: what it calls a fence and a barrier.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

/* Whether the launch has barriers of this face: mbarriers, or those of the Pallas style. */
static bool has_barriers(const grout_wording *wording, bool is_explicit) {
    const grout_checker *checker = wording->checker;
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        if (grout_module_get_object(wording->module, checker->info.element_objects[i])
                ->is_explicit == is_explicit) {
            return true;
        }
    }
    return false;
}

/* Looks at all ops of the kernel. By name: the two fences are one but for that, so no column tells
 * which is which. */
static void find_face(const grout_wording *wording, grout_face *face) {
    bool has_fence = false, has_commit = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module) && !has_fence; i++) {
        const grout_op *op = grout_module_get_op(wording->module, i);
        const bool is_fence = op->opcode == GROUT_OP_FENCE_ASYNC_SHARED; /* by name: see above */
        const bool is_commit = op->opcode == GROUT_OP_COMMIT_SMEM;
        if ((is_fence || is_commit) &&
            grout_op__is_in_kernel(wording->module, i, wording->checker->info.kernel)) {
            has_fence = is_fence;
            has_commit = has_commit || is_commit;
        }
    }
    face->is_explicit = has_barriers(wording, true) && !has_barriers(wording, false);
    face->takes_fence = has_fence || (face->is_explicit && !has_commit);
    face->is_known = true;
}

static const grout_face *get_face(const grout_wording *wording) {
    grout_face *face = &wording->shared->face;
    if (!face->is_known) {
        find_face(wording, face);
    }
    return face;
}

bool grout_wording__is_explicit(const grout_wording *wording) {
    return get_face(wording)->is_explicit;
}

bool grout_wording__takes_fence(const grout_wording *wording) {
    return get_face(wording)->takes_fence;
}

const char *grout_wording__get_smem_commit(const grout_wording *wording) {
    return grout_wording__takes_fence(wording)
               ? grout_op_get_info(GROUT_OP_FENCE_ASYNC_SHARED)->text
               : grout_op_get_info(GROUT_OP_COMMIT_SMEM)->text;
}

const char *grout_wording__get_barrier(const grout_wording *wording) {
    return grout_phrase__get(grout_wording__is_explicit(wording) ? GROUT_PHRASE_AN_MBARRIER
                                                                 : GROUT_PHRASE_A_BARRIER);
}
