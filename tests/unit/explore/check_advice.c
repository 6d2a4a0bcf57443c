/* check_advice.c - advice: what a launch does not need is found, what it needs is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/advice.h"
#include "grout-internal/gpu.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

typedef struct row {
    const char *name, *text;
    uint32_t commits, waits, barriers, orders, set;
    bool is_possible;
} row;

#define HEAD "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) "

/* Two CTAs that tell each other something. */
#define PAIR                                                                             \
    "kernel @k(%x: in gmem f32[2, 32], %y: out gmem f32[2, 32]) cluster(pair = 2) {\n"   \
    "  scratch %s : smem f32[32]\n  scratch %b : mbarrier[1]\n  %me = axis_index pair\n" \
    "  mbarrier_init %b[0], 1\n  cluster_barrier\n"

static const row rows[] = {
    {"a needed commit",
     HEAD "{\n  scratch %s : smem f32[64]\n  store %s, (load %x)\n  commit_smem\n"
          "  copy_smem_to_gmem %s, %y\n  wait_smem_to_gmem 0\n}\n",
     /* the writes are complete at the kernel's end: reads are waited for, but by nothing weaker */
     0, 0, 0, 0, 0, true},
    {"a commit too many",
     HEAD "{\n  scratch %s : smem f32[64]\n  store %s, (load %x)\n  commit_smem\n  commit_smem\n"
          "  copy_smem_to_gmem %s, %y\n  wait_smem_to_gmem 0\n}\n",
     2, 0, 0, 0, 1, true},
    {"a barrier for nothing",
     HEAD "threads(wg = 2) {\n  scratch %b : barrier[1] arrivals(2)\n  %t = axis_index wg\n"
          "  barrier_arrive %b[0]\n  barrier_wait %b[0]\n"
          "  store %y[ds(%t * 32, 32)], (load %x[ds(%t * 32, 32)])\n}\n",
     0, 0, 1, 0, 1, true},
    {"a barrier that orders",
     HEAD "threads(wg = 2) {\n  scratch %s : smem f32[64]\n  scratch %b : barrier[1]\n"
          "  if (eq (axis_index wg), 0) {\n    store %s, (load %x)\n    barrier_arrive %b[0]\n"
          "  } else {\n    barrier_wait %b[0]\n    store %y, (load %s)\n  }\n}\n",
     0, 0, 0, 0, 0, true},
    {"two of which one is needed",
     HEAD "threads(wg = 2) {\n  scratch %s : smem f32[64]\n  if (eq (axis_index wg), 0) {\n"
          "    store %s, (load %x)\n  }\n  block_barrier\n  block_barrier\n"
          "  if (eq (axis_index wg), 1) {\n    store %y, (load %s)\n  }\n}\n",
     0, 0, 2, 0, 1, true},
    {"a wait that another covers",
     HEAD "{\n  scratch %s : smem f32[64]\n  store %s, (load %x)\n  commit_smem\n"
          "  copy_smem_to_gmem %s, %y\n  wait_smem_to_gmem 0 read_only\n  wait_smem_to_gmem 0\n}\n",
     0, 2, 0, 0, 1, true},
    {"nothing is said of what is wrong",
     HEAD "{\n  scratch %s : smem f32[64]\n  store %s, (load %x)\n  copy_smem_to_gmem %s, %y\n"
          "  wait_smem_to_gmem 0\n}\n",
     0, 0, 0, 0, 0, false},
    {"an order of the cluster for nothing",
     PAIR "  store %y[%me], (load %x[%me])\n  mbarrier_arrive %b.cluster(1 - %me)[0]\n"
          "  mbarrier_wait %b[0], 0\n}\n",
     0, 1, 1, 1, 3, true},
    {"an order of the cluster that a peer needs",
     PAIR "  store %s.cluster(1 - %me), (load %x[%me])\n"
          "  mbarrier_arrive %b.cluster(1 - %me)[0]\n  mbarrier_wait %b[0], 0\n"
          "  store %y[1 - %me], (load %s)\n}\n",
     0, 0, 1, 0, 1, true},
    {"an order that is relaxed already",
     PAIR "  store %y[%me], (load %x[%me])\n"
          "  mbarrier_arrive %b.cluster(1 - %me)[0] order(relaxed)\n"
          "  mbarrier_wait %b[0], 0 order(relaxed)\n}\n",
     0, 1, 1, 0, 2, true},
};

static uint32_t count(const grout_advice_list *list, grout_diag_code code) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        found += list->items[i].code == code;
    }
    return found;
}

TEST_EACH(test_advice, COUNT_OF(rows)) {
    const row *r = &rows[_i];
    bound_text text = bind_text(r->text, NULL, 0);
    ck_assert_msg(text.bound != NULL && grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags),
                  "%s: %s", r->name, get_said(text.diags));
    float x[64], y[64];
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i;
    }
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    grout_launch launch = {
        .module = text.bound, .kernel = 1, .arguments = arguments, .argument_count = 2};
    grout_advice_list list;
    bool orders[64] = {false};
    ck_assert_uint_le(grout_module_get_op_count(text.bound), 64);
    ck_assert_msg(grout_gpu_find_wide_orders(text.bound, 1, orders, text.diags), "%s",
                  get_said(text.diags));
    const grout_advice_options options = {.orders = orders};
    ck_assert_msg(grout_advise(&launch, &options, &list, text.diags), "%s", get_said(text.diags));
    ck_assert_msg(list.is_possible == r->is_possible, "%s: possible", r->name);
    ck_assert_msg(
        count(&list, GROUT_DIAG_REDUNDANT_COMMIT) == r->commits &&
            count(&list, GROUT_DIAG_REDUNDANT_WAIT) == r->waits &&
            count(&list, GROUT_DIAG_REDUNDANT_BARRIER) == r->barriers &&
            count(&list, GROUT_DIAG_REDUNDANT_ORDER) == r->orders,
        "%s: %u commits, %u waits, %u barriers, %u orders", r->name,
        count(&list, GROUT_DIAG_REDUNDANT_COMMIT), count(&list, GROUT_DIAG_REDUNDANT_WAIT),
        count(&list, GROUT_DIAG_REDUNDANT_BARRIER), count(&list, GROUT_DIAG_REDUNDANT_ORDER));
    ck_assert_msg(list.set_size == r->set, "%s: a set of %u", r->name, list.set_size);
    if (r->is_possible) {
        ck_assert_mem_eq(x, y, sizeof x);
    }
    grout_advice_list_deinit(&list);
    free_text(&text);
}
