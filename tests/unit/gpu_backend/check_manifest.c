/* check_manifest.c - the launch manifest against its text; the host launcher names the same things.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

static const char kernel[] = "kernel @main(%a: in gmem bf16[64, 128], %scale: f32, %y: out gmem "
                             "bf16[64, 128], %n: inout gmem i32[1])\n"
                             "    grid(x = 2, y = 3) threads(wg = 2)\n"
                             "{\n"
                             "  scratch %s : smem bf16[2, 32, 64] swizzle(128)\n"
                             "  scratch %full : barrier[2] arrivals(3)\n"
                             "  copy_gmem_to_smem %a[ds(0, 32), ds(0, 64)], %s[0], %full[0]\n"
                             "  copy_gmem_to_smem %a[ds(32, 32), ds(64, 64)], %s[1], %full[1]\n"
                             "  copy_smem_to_gmem %s[0, ds(0, 16)], %y[ds(0, 16), ds(0, 64)]\n"
                             "  copy_smem_to_gmem %s[0], %y[ds(0, 32), ds(0, 64)]\n"
                             "  store %n[0], 3\n"
                             "}\n";

static const char expected[] =
    "{\n"
    "  \"schema\": \"grout-launch/1\",\n"
    "  \"kernel\": \"main\",\n"
    "  \"symbol\": \"main_kernel\",\n"
    "  \"file\": \"manifest.grout\",\n"
    "  \"arch\": \"sm_90a\",\n"
    "  \"grid\": [6, 1, 1],\n"
    "  \"block\": [256, 1, 1],\n"
    "  \"cluster\": [1, 1, 1],\n"
    "  \"dynamic_smem_bytes\": 8208,\n"
    "  \"arrays\": [\n"
    "    {\"name\": \"a\", \"direction\": \"in\", \"dtype\": \"bf16\", \"shape\": [64, 128], "
    "\"bytes\": 16384},\n"
    "    {\"name\": \"y\", \"direction\": \"out\", \"dtype\": \"bf16\", \"shape\": [64, 128], "
    "\"bytes\": 16384, \"fill\": \"0x7f81\"},\n"
    "    {\"name\": \"n\", \"direction\": \"inout\", \"dtype\": \"i32\", \"shape\": [1], "
    "\"bytes\": 4}\n"
    "  ],\n"
    "  \"parameters\": [\n"
    "    {\"kind\": \"scalar\", \"name\": \"scale\", \"dtype\": \"f32\", \"bytes\": 4},\n"
    "    {\"kind\": \"array\", \"array\": \"n\"},\n"
    "    {\"kind\": \"tensor_map\", \"map\": 0, \"bytes\": 128},\n"
    "    {\"kind\": \"tensor_map\", \"map\": 1, \"bytes\": 128},\n"
    "    {\"kind\": \"tensor_map\", \"map\": 2, \"bytes\": 128},\n"
    "    {\"kind\": \"watchdog\", \"bytes\": 32}\n"
    "  ],\n"
    "  \"tensor_maps\": [\n"
    "    {\"name\": \"a_map\", \"array\": \"a\", \"dtype\": \"bf16\", \"rank\": 2, \"dims\": [128, "
    "64],\n"
    "     \"strides_bytes\": [256], \"box\": [64, 32], \"element_strides\": [1, 1], "
    "\"interleave_bytes\": 0, \"swizzle_bytes\": 128, \"l2_promotion_bytes\": 128, \"oob_fill\": "
    "\"zeros\"},\n"
    "    {\"name\": \"y_map\", \"array\": \"y\", \"dtype\": \"bf16\", \"rank\": 2, \"dims\": [128, "
    "64],\n"
    "     \"strides_bytes\": [256], \"box\": [64, 16], \"element_strides\": [1, 1], "
    "\"interleave_bytes\": 0, \"swizzle_bytes\": 128, \"l2_promotion_bytes\": 128, \"oob_fill\": "
    "\"zeros\"},\n"
    "    {\"name\": \"y_map_2\", \"array\": \"y\", \"dtype\": \"bf16\", \"rank\": 2, \"dims\": "
    "[128, "
    "64],\n"
    "     \"strides_bytes\": [256], \"box\": [64, 32], \"element_strides\": [1, 1], "
    "\"interleave_bytes\": 0, \"swizzle_bytes\": 128, \"l2_promotion_bytes\": 128, \"oob_fill\": "
    "\"zeros\"}\n"
    "  ],\n"
    "  \"workspaces\": [],\n"
    "  \"barriers\": [\n"
    "    {\"name\": \"full\", \"count\": 2, \"arrivals\": 3, \"smem_offset\": 8192, \"line\": 5}\n"
    "  ]\n"
    "}\n";

TEST(manifest_is_as_written) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text("manifest.grout", kernel, diags);
    ck_assert(grout_emit_manifest(module, 1, &text, diags));
    ck_assert_str_eq(text.data, expected);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(kernel_without_anything) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text("empty.grout", "kernel @nothing() {\n}\n", diags);
    ck_assert(grout_emit_manifest(module, 1, &text, diags));
    ck_assert_ptr_nonnull(strstr(text.data, "\"dynamic_smem_bytes\": 0,\n  \"arrays\": [],\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "\"tensor_maps\": [],\n  \"workspaces\": [],\n"
                                            "  \"barriers\": []\n}\n"));
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* Clusters, semaphores of each CTA and of the launch, scratch in GMEM that TMA reaches. */
static const char cluster_kernel[] =
    "kernel @k(%y: out gmem f32[6, 64]) grid(g = 3) cluster(c = 2) threads(t = 1)\n"
    "    attr cluster_exit = sync\n"
    "{\n"
    "  scratch %own : semaphore[3]\n"
    "  scratch %all : semaphore[2] global\n"
    "  scratch %p : gmem f32[6, 64]\n"
    "  scratch %s : smem f32[64]\n"
    "  store %s, (broadcast 1.0 : f32[64])\n"
    "  commit_smem\n"
    "  copy_smem_to_gmem %s, %p[(axis_index g)]\n"
    "  wait_smem_to_gmem 0\n"
    "  store %y[(axis_index g)], (load %p[(axis_index g)])\n"
    "}\n";

static void check_parts(const char *text, const char *const *parts, size_t count) {
    for (size_t k = 0; k < count; k++) {
        ck_assert_msg(strstr(text, parts[k]) != NULL, "no '%s' in\n%s", parts[k], text);
    }
}

TEST(clusters_and_workspaces) {
    static const char *const manifest_parts[] = {
        "\"grid\": [6, 1, 1],\n",
        "\"cluster\": [2, 1, 1],\n",
        "{\"kind\": \"workspace\", \"workspace\": 2}",
        "{\"name\": \"p_map\", \"workspace\": 2, \"dtype\": \"f32\"",
        "{\"name\": \"own\", \"kind\": \"semaphores\", \"dtype\": \"u64\", \"shape\": [3], "
        "\"instances\": 6, \"bytes\": 144, \"fill\": \"0x0000000000000000\", \"line\": 4}",
        "{\"name\": \"all\", \"kind\": \"semaphores\", \"dtype\": \"u64\", \"shape\": [2], "
        "\"instances\": 1, \"bytes\": 16, ",
        "{\"name\": \"p\", \"kind\": \"scratch\", \"dtype\": \"f32\", \"shape\": [6, 64], "
        "\"instances\": 1, \"bytes\": 1536, \"fill\": \"0x7f800001\", \"line\": 6}"};
    static const char *const host_parts[] = {
        "CUdeviceptr space_0 = make_workspace(144, 0x0, 8); // %own",
        "CUdeviceptr space_2 = make_workspace(1536, 0x7f800001, 4); // %p",
        "encode(p_map, space_2)",
        "&space_1;",
        "attribute.value.clusterDim.x = 2;",
        "config.gridDimX = 6; // CTAs: 3 clusters",
        "cuLaunchKernelEx(&config, kernel, parameters, nullptr)"};
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text("clusters.grout", cluster_kernel, diags);
    ck_assert(grout_emit_manifest(module, 1, &text, diags));
    check_parts(text.data, manifest_parts, sizeof manifest_parts / sizeof manifest_parts[0]);
    grout_text_free(&text);
    ck_assert(grout_emit_host(module, 1, &text, diags));
    check_parts(text.data, host_parts, sizeof host_parts / sizeof host_parts[0]);
    ck_assert_ptr_null(strstr(text.data, "NON_PORTABLE"));
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* What the kernel says of its arrays: a pattern, all bytes, or the generator alone. */
TEST(contents_are_stated) {
    static const char source[] =
        "kernel @k(%f: inout gmem i32[2] init(zeros), %h: in gmem f16[2] init([1, -2]), %n: i32 "
        "init(3), %big: in gmem f32[16385] init(randn(1)), %y: out gmem i32[4]) {\n"
        "  scratch %p : gmem i16[4] init(arange)\n"
        "  scratch %q : gmem i32[4] init(-1)\n"
        "  store %y, (add (load %q), %n)\n"
        "  debug_print \"{} {} {}\", (load %f), (load %h), (cast (load %p) : i32)\n"
        "}\n";
    static const char *const parts[] = {
        "\"bytes\": 8, \"fill\": \"0x00000000\", \"init\": \"zeros\"}",
        "\"bytes\": 4, \"contents\": \"003c00c0\", \"init\": \"[1, -2]\"}",
        "\"dtype\": \"i32\", \"bytes\": 4, \"init\": \"3\"}",
        "\"shape\": [16385], \"bytes\": 65540, \"init\": \"randn:1\"}",
        "\"bytes\": 8, \"contents\": \"0000010002000300\", \"init\": \"arange\", \"line\": 2}",
        "\"bytes\": 16, \"fill\": \"0xffffffff\", \"init\": \"-1\", \"line\": 3}"};
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text("init.grout", source, diags);
    ck_assert(grout_emit_manifest(module, 1, &text, diags));
    check_parts(text.data, parts, sizeof parts / sizeof parts[0]);
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(sixteen_ctas_are_allowed_for) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module =
        bind_text("clusters.grout",
                  "kernel @k() grid(g = 2) cluster(x = 4, y = 4) threads(t = 1) {\n}\n", diags);
    ck_assert(grout_emit_host(module, 1, &text, diags));
    ck_assert_ptr_nonnull(strstr(text.data, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)"));
    ck_assert_ptr_nonnull(strstr(text.data, "clusterDim.x = 16;"));
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(launcher_names_the_same_things) {
    static const char *const parts[] = {"cuModuleGetFunction(&kernel, module, \"main_kernel\")",
                                        "const unsigned smem_bytes = 8208;",
                                        "cuLaunchKernel(kernel, 6, 1, 1, 256, 1, 1, smem_bytes",
                                        "encode(y_map_2, arrays[1].address)",
                                        "{\"y\", false, true, 16384, 0x7f81, 2, nullptr, 0}",
                                        "CU_TENSOR_MAP_SWIZZLE_128B"};
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = bind_text("manifest.grout", kernel, diags);
    ck_assert(grout_emit_host(module, 1, &text, diags));
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        ck_assert_msg(strstr(text.data, parts[k]) != NULL, "no '%s' in\n%s", parts[k], text.data);
    }
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}
