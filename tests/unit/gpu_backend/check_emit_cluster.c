/*
 * check_emit_cluster.c - what is emitted for clusters: the words of the text, and that NVRTC takes
 * the kernels of tests/differential/clusters.grout at every size of a cluster.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_backend/emit/emit.h"
#include "gpu_nvrtc.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

/* What the text of a kernel must, or must not, hold. */
typedef struct text_case {
    const char *name, *text, *holds, *lacks;
} text_case;

#define HEAD    "kernel @k(%a: in gmem f32[64, 64], %y: inout gmem f32[64, 64]) grid(g = 2) "
#define CLUSTER HEAD "cluster(x = 2, y = 4) threads(t = 2) "
#define ALONE   HEAD "cluster(x = 2, y = 4) threads(t = 1) "

static const text_case text_cases[] = {
    {"a cluster meets at the start",
     CLUSTER "{\n  scratch %b : barrier[1]\n  barrier_arrive %b[0]\n}\n",
     "    grout_cluster_start();\n", "grout_block_barrier"},
    {"a lone CTA does not",
     HEAD "threads(t = 1) {\n  scratch %b : barrier[1]\n  barrier_arrive %b[0]\n}\n",
     "    grout_block_barrier();\n", "grout_cluster_start();"},
    {"it meets at the end if it says so", CLUSTER "attr cluster_exit = sync {\n}\n",
     "    grout_cluster_exit();\n}", NULL},
    {"and not otherwise", CLUSTER "{\n}\n", "rank", "grout_cluster_exit"},
    {"the grid counts clusters",
     CLUSTER "{\n  store %y[(axis_index g), (axis_index y)], (cast (axis_index x) : f32)\n}\n",
     "(grout_i32)(blockIdx.x / 8u)", NULL},
    {"the axes of a cluster come from the rank",
     CLUSTER "{\n  store %y[(axis_index x), (axis_index y)], 1.0\n}\n", "(grout_i32)(rank / 4u)",
     NULL},
    {"the last one is the fastest",
     CLUSTER "{\n  store %y[(axis_index x), (axis_index y)], 1.0\n}\n", "(grout_i32)(rank % 4u)",
     NULL},
    {"a peer is named by its place",
     CLUSTER "{\n  scratch %s : smem f32[64]\n  %x = axis_index x\n"
             "  store %y[0], (load %s.cluster(%x, 3))\n}\n",
     "grout_peer_address(s, x * 4 + 3)", NULL},
    {"a constant place is a constant rank",
     CLUSTER "{\n  scratch %s : smem f32[64]\n  store %s.cluster(1, 2)[5], 1.0\n}\n",
     "grout_peer_address(s, 6)", "grout_store_smem"},
    {"a peer's bytes are stored in its window",
     CLUSTER "{\n  scratch %s : smem f32[64]\n  store %s.cluster(1, 2)[5], 1.0\n}\n",
     "grout_store_peer(", NULL},
    {"a collective copy loads a part",
     CLUSTER "{\n  scratch %s : smem f32[64, 64]\n  scratch %b : barrier[1]\n"
             "  copy_gmem_to_smem %a, %s, %b[0] collective_axes(x)\n  barrier_wait %b[0]\n}\n",
     "(grout_i32)(rank / 4u) * 32;", NULL},
    {"it sends the part to all of them",
     CLUSTER "{\n  scratch %s : smem f32[64, 64]\n  scratch %b : barrier[1]\n"
             "  copy_gmem_to_smem %a, %s, %b[0] collective_axes(x)\n  barrier_wait %b[0]\n}\n",
     ", b, 0x11u << (rank % 4u), 0, x", "grout_tma_load("},
    {"and every CTA expects the whole box",
     CLUSTER "{\n  scratch %s : smem f32[64, 64]\n  scratch %b : barrier[1]\n"
             "  store %y[0, 0], 1.0\n"
             "  copy_gmem_to_smem %a, %s, %b[0] collective_axes(x, y)\n  barrier_wait %b[0]\n}\n",
     "grout_mbarrier_arrive_expect<GROUT_RELEASE, GROUT_CLUSTER>(b, 16384);", NULL},
    {"over all axes the mask is constant",
     CLUSTER "{\n  scratch %s : smem f32[64, 64]\n  scratch %b : barrier[1]\n"
             "  copy_gmem_to_smem %a, %s, %b[0] collective_axes(x, y)\n  barrier_wait %b[0]\n}\n",
     ", b, 0xffu, 0, x", NULL},
    {"a multicast arms nothing",
     ALONE "{\n  scratch %s : smem f32[64, 64]\n  scratch %b : mbarrier[1]\n"
           "  mbarrier_init %b[0], 1\n"
           "  copy_gmem_to_smem %a, %s, %b[0] multicast(y)\n}\n",
     ", b, 0xfu << (rank / 4u * 4u), 0, 0);", "arrive_expect<"},
    {"a cluster barrier counts peers",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster(x, y)\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n}\n",
     "grout_mbarrier_init(smem + 0 + 8 * part, 10); // %b", NULL},
    {"an arrival on it goes to all of them",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster(x, y)\n"
             "  store %y[0, 0], 1.0\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n  commit_smem\n}\n",
     "grout_arrive_peers<GROUT_RELEASE>(b, 0x11u << (rank % 4u) | 0xfu << (rank / 4u * 4u));",
     NULL},
    {"grouped axes are one",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster((x, y))\n"
             "  store %y[0, 0], 1.0\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n  commit_smem\n}\n",
     "grout_arrive_peers<GROUT_RELEASE>(b, 0xffu);", NULL},
    {"a wait on it acquires from the cluster",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster((x, y))\n"
             "  store %y[0, 0], 1.0\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n}\n",
     "grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(b", NULL},
    {"an arrival that tells nothing is for the CTA alone",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster((x, y))\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n  commit_smem\n}\n",
     "grout_arrive_peers<GROUT_RELEASE, GROUT_CTA>(b, 0xffu);", "GROUT_CLUSTER"},
    {"and so is a wait for it",
     CLUSTER "{\n  scratch %b : barrier[1] arrivals(2) cluster((x, y))\n  barrier_arrive %b[0]\n"
             "  barrier_wait %b[0]\n}\n",
     "grout_barrier_wait(b", "GROUT_CLUSTER"},
    {"an arrival on the barrier of one peer is by one lane there",
     CLUSTER "{\n  scratch %b : barrier[2] arrivals(3)\n  store %y[0, 0], 1.0\n"
             "  barrier_arrive %b[1].cluster(0, 1) count(2)\n  barrier_wait %b[1]\n}\n",
     "grout_peer_arrive(grout_peer_address(b + 8, 1), 2);", NULL},
    {"the wait for it is of the cluster, though the barrier is one CTA's",
     CLUSTER "{\n  scratch %b : barrier[1]\n  store %y[0, 0], 1.0\n"
             "  barrier_arrive %b[0].cluster(0, 1)\n  barrier_wait %b[0]\n}\n",
     "grout_barrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(b", NULL},
    {"so is one for what a CTA brings to the barriers of others",
     ALONE "{\n  scratch %b : mbarrier[1]\n  mbarrier_init %b[0], 1\n"
           "  store %y[0, 0], 1.0\n  mbarrier_arrive %b[0] from_cta(0)\n"
           "  mbarrier_wait %b[0], 0\n}\n",
     "grout_mbarrier_wait<GROUT_ACQUIRE, GROUT_CLUSTER>(b", NULL},
    {"what it cannot have to tell is for the CTA alone",
     CLUSTER "{\n  scratch %b : barrier[1]\n  barrier_arrive %b[0].cluster(0, 1)\n"
             "  barrier_wait %b[0]\n}\n",
     "grout_peer_arrive<GROUT_RELEASE, GROUT_CTA>(grout_peer_address(b, 1));", "GROUT_CLUSTER"},
    {"nothing to tell, relaxed",
     CLUSTER "{\n  scratch %b : barrier[1]\n  barrier_arrive %b[0].cluster(0, 1) order(relaxed)\n"
             "  barrier_wait %b[0]\n}\n",
     "grout_peer_arrive<GROUT_RELAXED>(grout_peer_address(b, 1));", NULL},
    {"an async store arms the peer's barrier",
     CLUSTER "{\n  scratch %s : smem f32[64]\n  scratch %b : barrier[1]\n"
             "  async_store_smem (load %a[0]), %s.cluster(0, 1), %b[0]\n}\n",
     "grout_peer_expect(x", NULL},
    {"and not an mbarrier",
     ALONE "{\n  scratch %s : smem f32[64]\n  scratch %b : mbarrier[1]\n"
           "  mbarrier_init %b[0], 1\n"
           "  async_store_smem (load %a[0]), %s.cluster(0, 1), %b[0]\n}\n",
     "grout_store_async(x", "grout_peer_expect(x"},
    {"a reduction by TMA",
     HEAD "threads(t = 1) {\n  scratch %s : smem f32[64, 64]\n"
          "  copy_smem_to_gmem %s, %y reduce(add)\n}\n",
     "grout_tma_add(y_map, s, 0, 0);", NULL},
    {"a fence for GMEM", HEAD "threads(t = 1) {\n  commit_gmem\n}\n", "grout_fence_async_gmem();",
     NULL},
    {"a fence for all CTAs", CLUSTER "{\n  commit_smem cluster\n}\n", "grout_fence_async_peers();",
     NULL},
    {"the hardware barrier", CLUSTER "{\n  cluster_arrive order(relaxed)\n  cluster_wait\n}\n",
     "grout_cluster_arrive_relaxed();", NULL},
    {"scratch in GMEM is a parameter",
     HEAD "threads(t = 1) {\n  scratch %p : gmem f32[64, 64]\n  store %p, (load %a)\n}\n",
     "    grout_f32 *p_space_0,\n", NULL},
    {"semaphores of each CTA",
     HEAD "threads(t = 1) {\n  scratch %p : semaphore[3]\n  semaphore_signal %p[1], 2\n}\n",
     "grout_u64 *const p = p_space_0 + (grout_u64)blockIdx.x * 3;", NULL},
    {"semaphores of the launch",
     HEAD "threads(t = 1) {\n  scratch %p : semaphore[3] global\n  semaphore_signal %p[1], 2\n}\n",
     "grout_u64 *const p = p_space_0; //", NULL},
};

TEST_EACH(text_says, COUNT_OF(text_cases)) {
    const text_case *c = &text_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text(c->name, c->text, diags);
    const bool is_emitted = grout_emit__kernel_text(module, 1, NULL, &text, diags);
    ck_assert_msg(is_emitted && text.data != NULL, "%s: nothing is emitted", c->name);
    check_text(c->name, text.data, c->holds, c->lacks);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* ---- with NVRTC ---- */

static const struct {
    int x, y;
} sizes[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}, {8, 1}, {4, 4}, {16, 1}};

TEST_EACH(every_size_compiles, has_nvrtc() ? COUNT_OF(sizes) : 0) {
    static const char *const names[] = {"X", "Y"};
    const int64_t values[] = {sizes[_i].x, sizes[_i].y};
    grout_define defines[2];
    for (uint32_t k = 0; k < 2; k++) {
        defines[k] = (grout_define){.name = names[k], .integer = values[k], .origin = "-D"};
    }
    grout_diags *diags = grout_diags_new();
    grout_text source = read_file(GROUT_TEST_SOURCE_DIR "/tests/differential/clusters.grout");
    grout_module *symbolic = grout_parse("clusters.grout", source.data, source.size, diags);
    ck_assert_ptr_nonnull(symbolic);
    grout_module *module = grout_module_bind(symbolic, defines, 2, diags);
    ck_assert_ptr_nonnull(module);
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(module); id++) {
        const grout_emit_options options = {.watchdog = true};
        const char *kernel =
            grout_module_get_string(module, grout_module_get_kernel(module, id)->name);
        grout_text text = {0};
        grout_binary binary = {0};
        if (!grout_emit_cuda(module, id, &options, &text, diags)) {
            fail_to_compile(kernel, NULL, diags);
        }
        if (!grout_compile_cuda(text.data, kernel, GROUT_BINARY_CUBIN, &nvrtc_options, &binary,
                                diags)) {
            fail_to_compile(kernel, text.data, diags);
        }
        ck_assert_int_gt(binary.registers, 0);
        grout_binary_free(&binary);
        grout_text_free(&text);
    }
    grout_module_free(module);
    grout_module_free(symbolic);
    grout_text_free(&source);
    grout_diags_free(diags);
}
