/*
 * exec_tcgen05.c - tcgen05_mma, its commits, and tensor memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "exec.h"
#include "mbarrier.h"
#include "tcgen05.h"

grout_outcome grout_exec_tcgen05_mma(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    if (grout_tcgen05__check_leader(cta, thread, inst)) {
        grout_tcgen05__issue(cta, thread, inst);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_tcgen05_mma_scaled(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    return grout_exec_tcgen05_mma(cta, thread, inst);
}

grout_outcome grout_exec_tcgen05_mma_sp(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    return grout_exec_tcgen05_mma(cta, thread, inst);
}

grout_outcome grout_exec_tcgen05_mma_sp_scaled(const grout_cta *cta, uint32_t thread,
                                               const grout_inst *inst) {
    return grout_exec_tcgen05_mma(cta, thread, inst);
}

grout_outcome grout_exec_async_copy_smem_to_tmem(const grout_cta *cta, uint32_t thread,
                                                 const grout_inst *inst) {
    if (grout_tcgen05__check_leader(cta, thread, inst)) {
        grout_tcgen05__copy(cta, thread, inst);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_copy_scales_to_tmem(const grout_cta *cta, uint32_t thread,
                                                   const grout_inst *inst) {
    return grout_exec_async_copy_smem_to_tmem(cta, thread, inst);
}

grout_outcome grout_exec_async_copy_sparse_metadata_to_tmem(const grout_cta *cta, uint32_t thread,
                                                            const grout_inst *inst) {
    return grout_exec_async_copy_smem_to_tmem(cta, thread, inst);
}

/* CTAs on whose barriers a commit arrives: the one it names, or all along some axes. */
static uint32_t get_targets(const grout_cta *cta, const grout_inst *inst, uint32_t rank) {
    const grout_machine *machine = cta->machine;
    return inst->u.arrive.axes == 0
               ? 1u << rank
               : grout_kernel_get_cluster_mask(machine->launch.module, machine->launch.kernel,
                                               inst->u.arrive.axes, cta->rank);
}

grout_outcome grout_exec_tcgen05_commit_arrive(const grout_cta *cta, uint32_t thread,
                                               const grout_inst *inst) {
    uint32_t element, rank;
    if (!grout_barrier__find_peer_element(cta, thread, inst, 0, &element, &rank)) {
        return GROUT_OUTCOME_NEXT;
    }
    const uint32_t ranks = grout_barrier__get_owners(cta, element, get_targets(cta, inst, rank));
    if (grout_mbarrier__awaits_init(cta, thread, element, ranks)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    if (grout_tcgen05__check_leader(cta, thread, inst)) {
        grout_tcgen05__commit(cta, thread, inst, element, ranks);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_load_tmem(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    grout_tmem__load(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* Neither wait blocks here: the engine does at once what is waited for. */
grout_outcome grout_exec_wait_load_tmem(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_tmem__wait_loads(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_async_store_tmem(const grout_cta *cta, uint32_t thread,
                                          const grout_inst *inst) {
    grout_tmem__store(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_commit_tmem(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_tmem__wait_stores(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}
