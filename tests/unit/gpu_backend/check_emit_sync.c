/*
 * check_emit_sync.c - what is emitted for the operations that order and move within a CTA: the
 * words of the text, and what is refused. tests/differential/ has them at work,
 * check_emit_compile.c compiles those. SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_backend/emit/emit.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

/* What the text of a kernel must, or must not, hold. */
typedef struct text_case {
    const char *name, *text, *holds, *lacks;
} text_case;

#define HEAD                                                                                 \
    "kernel @k(%a: in gmem f32[64, 64], %y: inout gmem f32[64, 64], %n: inout gmem i32[8], " \
    "%h: inout gmem f16[64, 64]) "
#define TWO HEAD "threads(t = 2) {\n"
#define ONE HEAD "threads(t = 1) {\n"
/* A kernel whose first thread does this, so that something stands after it and no lane is alone.
 */
#define END "  block_barrier\n  store %y, (load %a)\n}\n"

static const text_case text_cases[] = {
    /* named barriers */
    {"a named barrier counts lanes", TWO "  named_barrier_sync 3, 2\n" END,
     "grout_named_sync(3, 2 * 128);", NULL},
    {"or is told them", TWO "  named_barrier_sync 3, 256 lanes\n" END, "grout_named_sync(3, 256);",
     NULL},
    {"its id may be known only when it runs",
     TWO "  %n0 = load %n[0]\n  named_barrier_sync %n0, %n0 lanes\n" END,
     "grout_named_sync(n0, n0);", NULL},
    {"a warp comes for itself",
     TWO "  warp_map(%w) {\n    named_barrier_sync %w, 32 lanes\n  }\n" END,
     "grout_named_sync(w, 32);", "bar.warp"},
    {"an arrive is one of every lane",
     TWO "  if (eq (axis_index t), 0) {\n    named_barrier_arrive 0, 2\n  } else {\n"
         "    named_barrier_sync 0, 2\n  }\n" END,
     "grout_named_arrive(0, 2 * 128);\n", NULL},
    {"the block meets", TWO END, "grout_block_barrier();", NULL},
    {"a sync settles what is pending",
     TWO "  scratch %s : smem f32[64]\n  store %s, (broadcast 1.0 : f32[64])\n"
         "  named_barrier_sync 0, 2\n  store %y[0], (load %s)\n}\n",
     "grout_named_sync", "grout_thread_barrier"},
    /* semaphores */
    {"a signal covers what all lanes did",
     ONE "  scratch %s : semaphore[2]\n  store %y, (load %a)\n  semaphore_signal %s[1], 3\n" END,
     "grout_thread_barrier(thread); // one lane signals for all", NULL},
    {"it releases to the system by itself",
     ONE "  scratch %s : semaphore[2]\n  semaphore_signal %s[1], 3\n" END,
     "grout_semaphore_signal<GROUT_RELEASE, GROUT_SYS>(s + (1), (grout_u32)(3));", NULL},
    {"the order as written, and a scope that holds all CTAs",
     ONE
     "  scratch %s : semaphore[1]\n  semaphore_signal %s[0], 1 order(relaxed) scope(cluster)\n" END,
     "<GROUT_RELAXED, GROUT_GPU>(s, ", NULL},
    {"a wait is one lane's, and all hear of it",
     ONE "  scratch %s : semaphore[1]\n  semaphore_wait %s[0], 1 scope(gpu)\n" END,
     "        grout_semaphore_wait<GROUT_ACQUIRE, GROUT_GPU>(s, (grout_u32)(1), dog, {0, "
     "(grout_u32)(0), 3});\n    }\n    grout_thread_barrier(thread); // all lanes know",
     NULL},
    {"without decrement it looks",
     ONE "  scratch %s : semaphore[1] global\n  semaphore_wait %s[0], 1 no_decrement\n" END,
     "grout_semaphore_look<", "grout_semaphore_wait<"},
    {"what is read is the same in all lanes",
     ONE "  scratch %s : semaphore[1]\n  %r = semaphore_read %s[0]\n  store %n[0], %r\n" END,
     "grout_store_smem(exchange, grout_semaphore_read(s));", NULL},
    /* atomics */
    {"f32 goes four at a time", ONE "  atomic_add %y, (load %a)\n}\n",
     "const grout_vector<grout_f32, 4> chunk", NULL},
    {"16 bit go eight at a time", ONE "  atomic_add %h, (cast (load %a) : f16)\n}\n",
     "grout_atomic_add_gmem<GROUT_GPU>(h + flat, chunk);", NULL},
    {"integers go one at a time", ONE "  atomic_max %n, (broadcast 2 : i32[8])\n}\n",
     "grout_atomic_max_gmem<GROUT_GPU>(n + flat, t0);", "chunk"},
    {"what four lanes hold is added by one",
     ONE "  %r = reduce_sum (layout_cast (load %a) wgmma) dim(1)\n  atomic_add %y[0], %r\n}\n",
     "if (lane % 4 == 0) {", NULL},
    {"SMEM is the CTA's by itself", ONE "  scratch %s : smem i32[4]\n  atomic_or %s[1], 2\n" END,
     "grout_atomic_or_smem<GROUT_CTA>(s + 4u, 2);", NULL},
    {"a fetch happens once and is known to all",
     ONE "  %o = atomic_fetch_add %n[1], 2 order(acq_rel) scope(sys)\n  store %n[2], %o\n" END,
     "grout_store_smem(exchange, grout_atomic_fetch_add_gmem<GROUT_ACQ_REL, GROUT_SYS>(n + 1ll, "
     "2));",
     NULL},
    {"of an ordered fetch all lanes' past is released",
     ONE "  store %y, (load %a)\n  %o = atomic_exchange %n[1], 2 order(release)\n  store %n[2], "
         "%o\n" END,
     "// one lane releases for all", NULL},
    /* cp.async */
    {"cp.async takes 16 bytes",
     ONE "  scratch %s : smem f32[64, 64]\n  async_copy %a, %s\n"
         "  async_copy_wait 0\n" END,
     "grout_async_copy<16>(", NULL},
    {"or 8, as the box allows",
     ONE "  scratch %s : smem f32[8, 6]\n  async_copy %a[ds(0, 8), ds(2, 6)], %s\n"
         "  async_copy_wait 0\n" END,
     "grout_async_copy<8>(", "grout_async_copy<16>("},
    {"a start that is a value is a multiple of 4 bytes",
     ONE "  scratch %s : smem f16[64, 32]\n  %i = load %n[0]\n  async_copy %h[:, ds(%i, 32)], %s\n"
         "  async_copy_wait 0\n" END,
     "grout_async_copy<4>(", NULL},
    {"it may be known to be a multiple of more",
     ONE "  scratch %s : smem f16[64, 32]\n  %i = mul (load %n[0]), 4\n"
         "  async_copy %h[:, ds(%i, 32)], %s\n  async_copy_wait 0\n" END,
     "grout_async_copy<8>(", NULL},
    {"a wait is each lane's, then they meet",
     ONE "  async_copy_commit_group\n  async_copy_wait 2\n" END,
     "grout_async_copy_wait<2>();\n    grout_thread_barrier(thread);", NULL},
    {"a barrier of its arrivals counts lanes",
     TWO
     "  scratch %b : barrier[1] arrivals(2)\n  async_copy_arrive %b[0]\n  barrier_wait %b[0]\n" END,
     "grout_mbarrier_init(smem + 0 + 8 * part, 256); // %b", NULL},
    {"and other arrivals weigh as much",
     TWO "  scratch %b : barrier[1] arrivals(3)\n  if (eq (axis_index t), 0) {\n"
         "    async_copy_arrive %b[0]\n  } else {\n    barrier_arrive %b[0] count(2)\n  }\n"
         "  barrier_wait %b[0]\n" END,
     "grout_mbarrier_arrive(b, 256);", "grout_mbarrier_arrive_warp"},
    {"of a peer's barrier, for the cluster",
     HEAD "cluster(c = 2) {\n  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 2\n"
          "  mbarrier_arrive %b.cluster(0)[0]\n  async_copy_arrive %b[0]\n"
          "  mbarrier_wait %b[0], 0\n" END,
     "grout_async_copy_arrive<GROUT_RELEASE, GROUT_CLUSTER>(b);", NULL},
    {"relaxed, the bare instruction",
     ONE "  scratch %b : barrier[1]\n  async_copy_arrive %b[0] order(relaxed)\n"
         "  barrier_wait %b[0]\n" END,
     "grout_async_copy_arrive<GROUT_RELAXED, GROUT_CTA>(b);", NULL},
    /* mbarriers */
    {"no mbarrier is made before its init",
     ONE "  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 2\n" END,
     "grout_mbarrier_init(b, 2);\n        grout_fence_mbarrier_init();\n    }\n"
     "    grout_block_barrier(); // the mbarriers are made",
     "b_phases"},
    {"an init elsewhere is for the thread",
     ONE "  scratch %b : mbarrier[2]\n  for %i in 0..2 {\n    mbarrier_init %b[%i], 1\n  }\n" END,
     "// all lanes may use it", "the mbarriers are made"},
    {"an expect arrives with its bytes",
     ONE "  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 1\n  mbarrier_expect %b[0], 512\n" END,
     "grout_mbarrier_arrive_expect(b, 512);", NULL},
    {"parities are taken modulo 2",
     ONE "  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 1\n  mbarrier_wait %b[0], 1\n" END,
     "grout_mbarrier_wait(b, (grout_u32)(1) & 1u, dog, {0, (grout_u32)(0), 4});", NULL},
    {"a test is a vote",
     ONE "  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 1\n  %d = mbarrier_test %b[0], 1\n"
         "  store %n[0], (cast %d : i32)\n" END,
     "const bool d = grout_thread_all(thread, grout_mbarrier_test(b, (grout_u32)(1) & 1u));", NULL},
    {"a barrier's test moves its phase only if true",
     ONE "  scratch %b : barrier[3]\n  barrier_arrive %b[1]\n  %d = barrier_test %b[1]\n"
         "  store %n[0], (cast %d : i32)\n" END,
     "b_phases_0 ^= (d ? 1u : 0u) << x", NULL},
    {"order and scope of a wait",
     ONE "  scratch %b : barrier[1]\n  barrier_arrive %b[0] order(relaxed)\n"
         "  barrier_wait %b[0] scope(cluster)\n" END,
     "grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(b, b_phases_0, dog, {0, 0, 4});", NULL},
    {"a relaxed arrival says so",
     ONE
     "  scratch %b : barrier[1]\n  barrier_arrive %b[0] order(relaxed)\n  barrier_wait %b[0]\n" END,
     "<GROUT_RELAXED, GROUT_CTA>(b", NULL},
    /* warp_map */
    {"a warp meets its own lanes only",
     ONE "  scratch %b : barrier[1] arrivals(4)\n  warp_map(%w) {\n    barrier_arrive %b[0]\n"
         "    barrier_wait %b[0]\n    store %n[%w], 1\n  }\n" END,
     "if (grout_elect()) {\n            grout_mbarrier_arrive(b);", "grout_mbarrier_arrive_warp"},
    {"it says which one hangs",
     ONE "  scratch %b : barrier[1] arrivals(4)\n  warp_map(%w) {\n    barrier_arrive %b[0]\n"
         "    barrier_wait %b[0]\n    store %n[%w], 1\n  }\n" END,
     "dog, {0, 0, 5, warp % 4 + 1});", NULL},
    {"the thread waits for the groups of all its warps",
     ONE "  scratch %s : smem f32[4, 64]\n  warp_map(%w) {\n    copy_smem_to_gmem %s[%w], %y[%w]\n"
         "  }\n  wait_smem_to_gmem 0\n" END,
     "    if (grout_elect()) {\n        grout_bulk_wait<0>();\n    }\n    grout_thread_barrier",
     NULL},
    {"without such copies one lane waits",
     ONE "  scratch %s : smem f32[4, 64]\n  copy_smem_to_gmem %s[0], %y[0]\n"
         "  wait_smem_to_gmem 0\n" END,
     "    if (warp == 0 && grout_elect()) {\n        grout_bulk_wait<0>();", NULL},
    {"what a warp's lane fetched its lanes get by a shuffle",
     ONE
     "  warp_map(%w) {\n    %o = atomic_fetch_add %n[0], 1\n    store %n[1 + %w], %o\n  }\n" END,
     "o = __shfl_sync(0xffffffffu, o, 0);", "grout_store_smem"},
    {"in one place it is C++'s", TWO "  for %i in 0..4 {\n    block_barrier\n  }\n" END,
     "        grout_block_barrier();", "grout_block_barrier_apart"},
    {"out of branches it is PTX's",
     TWO
     "  if (eq (axis_index t), 0) {\n    block_barrier\n  } else {\n    block_barrier\n  }\n" END,
     "        grout_block_barrier_apart();", NULL},
    /* warp_specialize */
    {"outside, every thread meets",
     TWO "  block_barrier\n  warp_specialize {\n    store %n[0], 1\n  } partition {\n"
         "    store %n[1], 2\n  }\n}\n",
     "    } else if (thread == 1) {\n        // block_barrier\n        "
     "grout_block_barrier_apart();\n        grout_partition_barrier(2);",
     NULL},
    {"each thread has its part",
     TWO "  warp_specialize {\n    store %n[0], 1\n  } partition {\n    store %n[1], 2\n  }\n}\n",
     "    } else if (thread == 1) {\n        grout_partition_barrier(2); // the partitions begin",
     NULL},
    {"pure values are made again",
     TWO "  %x = add (axis_index t), 5\n  warp_specialize {\n    store %n[0], %x\n  } partition {\n"
         "    store %n[1], %x\n  }\n}\n",
     "= 0; // thread 0 runs what stands outside", "grout_store_smem"},
    {"what was loaded goes through SMEM",
     TWO "  %x = load %n[3]\n  warp_specialize {\n    store %n[0], %x\n  } partition {\n"
         "    store %n[1], (add %x, 1)\n  }\n}\n",
     "const grout_i32 x = grout_load_smem<grout_i32>(smem + 0);", NULL},
    {"a partition of one lane's work is one lane's",
     TWO
     "  scratch %s : smem f32[64, 64]\n  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 1\n"
     "  warp_specialize {\n    mbarrier_wait %b[0], 0\n    store %y, (load %s)\n  } partition {\n"
     "    mbarrier_expect %b[0], 16384\n    copy_gmem_to_smem %a, %s, %b[0]\n  }\n}\n",
     "            if (warp % 4 == 0 && grout_elect()) {\n                // mbarrier_expect", NULL},
};

TEST_EACH(text_says, COUNT_OF(text_cases)) {
    const text_case *c = &text_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text(c->name, c->text, diags);
    ck_assert_msg(grout_emit__kernel_text(module, 1, NULL, &text, diags), "%s: %s", c->name,
                  grout_diags_count(diags) == 0 ? "" : grout_diags_get(diags, 0)->message);
    check_text(c->name, text.data, c->holds, c->lacks);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* Kernels that are right and that this backend cannot run. */
static const struct {
    const char *name, *text, *message;
} refusals[] = {
    {"a meeting of all in a loop that thread 0 runs alone",
     TWO "  for %i in 0..4 {\n    block_barrier\n  }\n  warp_specialize {\n    store %n[0], 1\n"
         "  } partition {\n    store %n[1], 2\n  }\n}\n",
     "every thread of the CTA has to come to block_barrier"},
    {"a barrier that would count too far",
     ONE "  scratch %b : barrier[1] arrivals(9000)\n  async_copy_arrive %b[0]\n"
         "  barrier_arrive %b[0] count(8999)\n  barrier_wait %b[0]\n" END,
     "cp.async arrives once for each of 128 lanes"},
    {"an mbarrier that would",
     ONE "  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 9000\n  async_copy_arrive %b[0]\n" END,
     "which makes this 1152000 arrivals"},
};

TEST_EACH(refuses, COUNT_OF(refusals)) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text(refusals[_i].name, refusals[_i].text, diags);
    ck_assert_msg(!grout_emit__kernel_text(module, 1, NULL, &text, diags), "%s: emitted",
                  refusals[_i].name);
    bool is_said = false;
    for (uint32_t k = 0; k < grout_diags_count(diags); k++) {
        const grout_diag *diag = grout_diags_get(diags, k);
        is_said = is_said || (diag->code == GROUT_DIAG_GPU_UNSUPPORTED &&
                              strstr(diag->message, refusals[_i].message) != NULL);
    }
    ck_assert_msg(is_said, "%s: no '%s'", refusals[_i].name, refusals[_i].message);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}
