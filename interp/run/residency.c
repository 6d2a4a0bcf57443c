/*
 * residency.c - how many CTAs a GPU has room for at once.
 *
 * By NVIDIA's occupancy rules an SM takes as many CTAs as its SMEM, threads, registers and CTA
 * slots allow. Clusters of 4 and more leave some SMs unused, because the CTAs of one cluster lie in
 * one GPC and GPCs differ in size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"
#include "run.h"

#define SM_SMEM      (228 << 10) /* bytes; 1 KiB of it for each CTA is the system's */
#define CTA_SMEM     (1 << 10)
#define SM_LANES     2048
#define SM_REGISTERS 65536
#define SM_CTAS      32
#define THREAD_WARPS 4     /* registers are given to an SM's four parts alike */
#define RESIDENT_MAX 65536 /* whatever is asked for: 2,048 SMs would have room for this many */

static int64_t get_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t count_ctas_per_sm(const grout_plan *plan) {
    int64_t groups = (plan->warp_count + THREAD_WARPS - 1) / THREAD_WARPS;
    int64_t lanes = groups * THREAD_WARPS * GROUT_WARP_LANES;
    int64_t count = get_least(SM_CTAS, SM_LANES / ((int64_t)plan->warp_count * GROUT_WARP_LANES));
    count = get_least(count, SM_SMEM / (plan->smem_bytes + CTA_SMEM));
    count = get_least(count, SM_REGISTERS / (lanes * plan->entry_registers));
    return count < 1 ? 1 : count;
}

/* SMs of an H100 SXM or H200 (132) that clusters of a size can fill. */
static int64_t count_sms(uint32_t cluster_size, uint32_t sm_count) {
    int64_t usable = cluster_size <= 2 ? 132 : cluster_size <= 8 ? 120 : 112;
    int64_t sms = sm_count == 0 ? GROUT_SMS_DEFAULT : sm_count;
    return sms * usable / 132;
}

/* A launch that hands its clusters out begins with a part of them, so that there are some to hand
 * out. On a GPU with room for all of them nobody would get one. */
static int64_t get_beginners(const grout_plan *plan) {
    const int64_t clusters = plan->cta_count / plan->shape.cta_count;
    const int64_t some = get_least(2, clusters - 1);
    return clusters / 4 > some ? clusters / 4 : some;
}

int64_t grout_residency__get_clusters(const grout_plan *plan, const grout_launch *launch) {
    int64_t ctas = launch->resident;
    if (ctas == 0) {
        ctas = count_ctas_per_sm(plan) * count_sms(plan->shape.cta_count, launch->sm_count);
    }
    int64_t clusters = ctas / plan->shape.cta_count;
    if (plan->hands_out && launch->resident == 0 && launch->sm_count == 0) {
        clusters = get_least(clusters, get_beginners(plan));
    }
    clusters = get_least(clusters, RESIDENT_MAX / plan->shape.cta_count);
    return clusters < 1 ? 1 : clusters;
}
