/* specials.c - where a CTA and a lane are, and what special registers say in them. PTX ISA 9.1,
 * chapter 10. SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

static void set_index(uint32_t number, const uint32_t size[3], uint32_t index_out[3]) {
    index_out[0] = number % size[0];
    index_out[1] = number / size[0] % size[1];
    index_out[2] = number / size[0] / size[1];
}

/* CTAs are numbered cluster by cluster, so that those of one lie side by side. */
void grout_ptx__find_cta(const ptx_machine *machine, uint32_t number, uint32_t cluster_out[3],
                         uint32_t index_out[3]) {
    uint32_t clusters[3], inner[3];
    for (uint32_t i = 0; i < 3; i++) {
        clusters[i] = machine->grid[i] / machine->cluster[i];
    }
    set_index(number / machine->cluster_size, clusters, cluster_out);
    set_index(number % machine->cluster_size, machine->cluster, inner);
    for (uint32_t i = 0; i < 3; i++) {
        index_out[i] = cluster_out[i] * machine->cluster[i] + inner[i];
    }
}

void grout_ptx__get_index(const ptx_machine *machine, uint32_t number, uint32_t index_out[3]) {
    uint32_t cluster[3];
    grout_ptx__find_cta(machine, number, cluster, index_out);
}

/* ---- special registers ---- */

static uint64_t get_common(const ptx_cta *cta, uint32_t special) {
    const ptx_machine *machine = cta->machine;
    switch (special) {
    case PTX_SPECIAL_NTID_X:
    case PTX_SPECIAL_NTID_Y:
    case PTX_SPECIAL_NTID_Z:
        return machine->block[special - PTX_SPECIAL_NTID_X];
    case PTX_SPECIAL_CTAID_X:
    case PTX_SPECIAL_CTAID_Y:
    case PTX_SPECIAL_CTAID_Z:
        return cta->index[special - PTX_SPECIAL_CTAID_X];
    case PTX_SPECIAL_NCTAID_X:
    case PTX_SPECIAL_NCTAID_Y:
    case PTX_SPECIAL_NCTAID_Z:
        return machine->grid[special - PTX_SPECIAL_NCTAID_X];
    case PTX_SPECIAL_CLUSTERID_X:
    case PTX_SPECIAL_CLUSTERID_Y:
    case PTX_SPECIAL_CLUSTERID_Z:
        return cta->cluster_index[special - PTX_SPECIAL_CLUSTERID_X];
    case PTX_SPECIAL_NCLUSTERID_X:
    case PTX_SPECIAL_NCLUSTERID_Y:
    case PTX_SPECIAL_NCLUSTERID_Z:
        return machine->grid[special - PTX_SPECIAL_NCLUSTERID_X] /
               machine->cluster[special - PTX_SPECIAL_NCLUSTERID_X];
    case PTX_SPECIAL_CLUSTER_CTAID_X:
    case PTX_SPECIAL_CLUSTER_CTAID_Y:
    case PTX_SPECIAL_CLUSTER_CTAID_Z:
        return cta->index[special - PTX_SPECIAL_CLUSTER_CTAID_X] %
               machine->cluster[special - PTX_SPECIAL_CLUSTER_CTAID_X];
    case PTX_SPECIAL_CLUSTER_NCTAID_X:
    case PTX_SPECIAL_CLUSTER_NCTAID_Y:
    case PTX_SPECIAL_CLUSTER_NCTAID_Z:
        return machine->cluster[special - PTX_SPECIAL_CLUSTER_NCTAID_X];
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return cta->rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return machine->cluster_size;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return machine->cluster_size > 1 ? UINT32_MAX : 0;
    case PTX_SPECIAL_NWARPID:
        return machine->warp_count;
    case PTX_SPECIAL_SMID:
        return cta->number % 132;
    case PTX_SPECIAL_NSMID:
        return 132;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
        return machine->shared_bytes;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return machine->launch->dynamic_shared_bytes;
    default:
        return 0;
    }
}

static uint64_t get_of_lane(const ptx_warp *warp, uint32_t special, uint32_t lane) {
    const ptx_machine *machine = warp->cta->machine;
    uint32_t tid[3], bit = 1u << lane;
    set_index(warp->index * PTX_LANES + lane, machine->block, tid);
    switch (special) {
    case PTX_SPECIAL_TID_X:
    case PTX_SPECIAL_TID_Y:
    case PTX_SPECIAL_TID_Z:
        return tid[special - PTX_SPECIAL_TID_X];
    case PTX_SPECIAL_LANEID:
        return lane;
    case PTX_SPECIAL_WARPID:
        return warp->index;
    case PTX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PTX_SPECIAL_LANEMASK_LT:
        return bit - 1;
    case PTX_SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case PTX_SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return get_common(warp->cta, special);
    }
}

void grout_ptx__set_specials(ptx_warp *warp) {
    const ptx_code *code = warp->cta->machine->code;
    for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++) {
        const ptx_plane *plane = &code->specials[i];
        uint8_t *at = warp->registers + plane->offset * (size_t)PTX_PLANE_BYTES;
        warp->defined[plane->id] = UINT32_MAX;
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            uint64_t value = get_of_lane(warp, i, lane);
            if (plane->bits == 64) {
                memcpy(at + lane * sizeof value, &value, sizeof value);
            } else {
                uint32_t word = (uint32_t)value;
                memcpy(at + (plane->bits == 1 ? 0 : lane * sizeof word), &word, sizeof word);
            }
        }
    }
}
