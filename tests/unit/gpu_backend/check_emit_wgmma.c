/*
 * check_emit_wgmma.c - NVRTC takes every form of wgmma that is emitted, keeps it in flight and
 * spills nothing; what it loses otherwise is reported. Skipped without NVRTC.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_nvrtc.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include <stdlib.h>

/* All kernels of a text in one binary, and what is said of them. */
typedef struct compiled {
    grout_diags *diags;
    grout_module *module;
    grout_text source;
    grout_binary binary;
} compiled;

/* Fails because of diagnostics that should not be there. */
static void show(const compiled *c, const char *name) {
    const char *kernels = strstr(c->source.data, "#endif\n\nGROUT_DEVICE void grout_w");
    fail_with_diags(name, c->diags, kernels == NULL ? "" : kernels);
}

static compiled compile_text(const char *name, const char *text) {
    const grout_emit_options options = {.watchdog = true};
    compiled c = {.diags = grout_diags_new()};
    c.module = bind_text(name, text, c.diags);
    const char *first =
        grout_module_get_string(c.module, grout_module_get_kernel(c.module, 1)->name);
    bool is_emitted = true;
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(c.module); id++) {
        is_emitted = is_emitted && grout_emit_cuda(c.module, id, &options, &c.source, c.diags);
    }
    if (!is_emitted) {
        fail_to_compile(name, NULL, c.diags);
    }
    if (!grout_compile_cuda(c.source.data, first, GROUT_BINARY_CUBIN, &nvrtc_options, &c.binary,
                            c.diags)) {
        fail_to_compile(name, c.source.data, c.diags);
    }
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(c.module); id++) {
        ck_assert(grout_binary_report_losses(&c.binary, c.module, id, c.diags));
    }
    return c;
}

static void free_compiled(compiled *c) {
    grout_binary_free(&c->binary);
    grout_text_free(&c->source);
    grout_module_free(c->module);
    grout_diags_free(c->diags);
}

/* ---- every form ---- */

typedef struct form_types {
    const char *operands[2], *sum;
    int bytes; /* of an operand's element */
} form_types;

static const form_types types[] = {
    {{"bf16", "bf16"}, "f32", 2},     {{"f16", "f16"}, "f32", 2},
    {{"f16", "f16"}, "f16", 2},       {{"f32", "f32"}, "f32", 4},
    {{"f8e4m3", "f8e4m3"}, "f32", 1}, {{"f8e4m3", "f8e5m2"}, "f16", 1},
    {{"f8e5m2", "f8e4m3"}, "f32", 1}, {{"f8e5m2", "f8e5m2"}, "f16", 1},
    {{"i8", "i8"}, "i32", 1},         {{"i8", "u8"}, "i32", 1},
    {{"u8", "i8"}, "i32", 1},         {{"u8", "u8"}, "i32", 1}};
enum { FORM_TYPES = sizeof types / sizeof types[0] };
static const int swizzles[] = {128, 64, 32, 0};
static const int widths[] = {8, 16, 40, 64, 136, 192, 256};
/* The operand use_acc: none, known to the run only, constant. */
static const char *const uses[] = {"", ", (gt %i, 0)", ", false"};

/* "bf16[64, 64] tile(8, 32) swizzle(64)": rows of row_bytes cut to the width of the swizzle. */
static void add_object(grout_text *text, const char *name, const form_types *type, int rows,
                       int columns, int swizzle) {
    const char *operand = type->operands[name[0] == 'a' ? 0 : 1];
    grout_text_add(text, "  scratch %%%s : smem %s[%d, %d] tile(8, %d)", name, operand, rows,
                   columns, (swizzle == 0 ? 16 : swizzle) / type->bytes);
    if (swizzle != 0) {
        grout_text_add(text, " swizzle(%d)", swizzle);
    }
    grout_text_add(text, "\n");
}

typedef struct form {
    const form_types *type;
    int columns, swizzle;
    bool a_turned, b_turned, in_registers;
} form;

/* A kernel that keeps one wgmma in flight over a loop, with a of 128 rows if those registers fit.
 */
static void add_kernel(grout_text *text, const form *f) {
    const form_types *type = f->type;
    const int k = 128 / type->bytes;
    const int rows = f->columns > 128 || f->in_registers ? 64 : 128;
    static int number;
    grout_text_add(text, "kernel @k%d(%%c: out gmem %s[%d, %d]) {\n", number++, type->sum, rows,
                   f->columns);
    add_object(text, "as", type, f->a_turned ? k : rows, f->a_turned ? rows : k, f->swizzle);
    add_object(text, "bs", type, f->b_turned ? k : f->columns, f->b_turned ? f->columns : k,
               f->swizzle);
    grout_text_add(text, "  scratch %%acc : acc %s[%d, %d]\n  for %%i in 0..4 {\n", type->sum, rows,
                   f->columns);
    for (int turn = 0; turn < (f->in_registers ? 2 : 1); turn++) { /* two take turns */
        const char *a = f->a_turned ? "%as.transpose(1, 0)" : "%as";
        if (f->in_registers) {
            grout_text_add(text, "    %%a%d = load %s\n", turn, a);
        }
        grout_text_add(text, "    wgmma %%acc, %s", f->in_registers ? "" : a);
        if (f->in_registers) {
            grout_text_add(text, "%%a%d", turn);
        }
        grout_text_add(text, ", %%bs%s%s\n", f->b_turned ? "" : ".transpose(1, 0)",
                       uses[number % 3]);
    }
    /* The second is covered in its block, too. */
    grout_text_add(text, "%s  }\n  store %%c, (load %%acc)\n}\n",
                   f->in_registers ? "    wgmma_wait 0\n" : "");
}

/* ---- a cover of pairs ----
 *
 * A form is compiled if two of its five values have not been together before, or with
 * GROUT_TEST_WHOLE in the environment.
 */

enum { VALUES = 5, VALUE_MAX = 256 / 8 + 1 };
static bool is_seen[VALUES][VALUES][VALUE_MAX][VALUE_MAX];

static bool has_new_pair(const form *f) {
    const int values[VALUES] = {(int)(f->type - types), f->swizzle / 32, f->columns / 8,
                                f->a_turned + 2 * f->b_turned, f->in_registers};
    bool is_new = false;
    for (int i = 0; i < VALUES; i++) {
        for (int k = i + 1; k < VALUES; k++) {
            bool *seen = &is_seen[i][k][values[i]][values[k]];
            is_new = is_new || !*seen;
            *seen = true;
        }
    }
    return is_new;
}

static void add_form(grout_text *text, const form *f) {
    if (has_new_pair(f) || getenv("GROUT_TEST_WHOLE") != NULL) {
        add_kernel(text, f);
    }
}

static void add_kernels(grout_text *text, const form_types *type, int swizzle, int columns) {
    const bool is_half = type->bytes == 2; /* which may be turned */
    const bool is_integer = strcmp(type->sum, "i32") == 0;
    const bool divides = columns % ((swizzle == 0 ? 16 : swizzle) / type->bytes) == 0;
    for (int turned = 0; turned < 4; turned++) {
        form f = {.type = type,
                  .columns = columns,
                  .swizzle = swizzle,
                  .a_turned = turned % 2 != 0,
                  .b_turned = turned / 2 != 0};
        if ((turned != 0 && !is_half) || (f.b_turned && !divides) ||
            (is_integer && columns > 32 && columns % 16 != 0)) {
            continue;
        }
        add_form(text, &f);
        f.in_registers = type->bytes != 4 && !f.a_turned;
        if (f.in_registers) {
            add_form(text, &f);
        }
    }
}

TEST_EACH(every_form_stays_in_flight, 4 * FORM_TYPES) {
    const form_types *type = &types[_i / 4];
    const int swizzle = swizzles[_i % 4];
    grout_text text = {0};
    const bool is_byte = type->bytes == 1; /* of those a part */
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k += is_byte ? 3 : 1) {
        add_kernels(&text, type, swizzle, widths[k]);
    }
    if (text.size > 0) {
        compiled c = compile_text("forms", text.data);
        if (grout_diags_count(c.diags) > 0) {
            show(&c, "forms");
        }
        free_compiled(&c);
    }
    grout_text_free(&text);
}

/* ---- the shipped kernel ---- */

static const char matmul[] = GROUT_TEST_SOURCE_DIR "/kernels/matmul_hopper_ws.grout";

TEST(the_warp_specialised_matmul_loses_nothing) {
    grout_text text = read_file(matmul);
    compiled c = compile_text(matmul, text.data);
    grout_resources facts;
    if (grout_diags_count(c.diags) > 0) {
        show(&c, matmul);
    }
    ck_assert(grout_binary_get_resources(&c.binary, c.module, 1, &facts, c.diags));
    ck_assert_int_eq(facts.registers, 168);
    ck_assert_int_eq(facts.spill_bytes, 0);
    ck_assert_int_eq(facts.cuda_threads, 384);
    ck_assert_int_eq(facts.ctas_per_sm, 1);
    ck_assert_int_gt(facts.dynamic_smem_bytes, (int64_t)4 * 49152);
    ck_assert_str_eq(facts.bound, "SMEM");
    free_compiled(&c);
    grout_text_free(&text);
}

/* Under conditions, in loops of unknown length, beside another accumulator. */
TEST(control_flow_loses_nothing) {
    static const char path[] = GROUT_TEST_SOURCE_DIR "/tests/differential/wgmma.grout";
    grout_text text = read_file(path);
    compiled c = compile_text(path, text.data);
    if (grout_diags_count(c.diags) > 0) {
        show(&c, path);
    }
    free_compiled(&c);
    grout_text_free(&text);
}

/* ---- losses ---- */

typedef struct loss {
    const char *text, *says;
} loss;

static const loss losses[] = {
    {"kernel @k(%a: in gmem bf16[8, 64, 64], %c: out gmem f32[64, 64]) {\n"
     "  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"
     "  scratch %acc : acc f32[64, 64]\n  for %i in 0..8 {\n    if (ne %i, 3) {\n"
     "      wgmma %acc, (load %a[%i]), %bs\n    }\n  }\n  store %c, (load %acc)\n}\n",
     "takes the same registers"},
    {"kernel @k(%c: out gmem f32[64, 64]) {\n  scratch %as : smem bf16[64, 64] tile(8, 64) "
     "swizzle(128)\n  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"
     "  scratch %acc : acc f32[64, 64]\n  wgmma_async %acc, %as, %bs\n"
     "  wgmma_async %acc[:, ds(0, 32)], %as, %bs.transpose(1, 0)[:, ds(0, 32)]\n"
     "  store %c, (load %acc)\n}\n",
     "one uses registers of another"},
    {"kernel @k(%c: out gmem f32[64, 256]) {\n  scratch %as : smem bf16[64, 64] "
     "tile(8, 64) swizzle(128)\n  scratch %bs : smem bf16[64, 256] tile(8, 64) swizzle(128)\n"
     "  scratch %acc : acc f32[64, 256]\n  for %i in 0..4 {\n    wgmma %acc, %as, %bs\n"
     "    %v = acc_load %acc\n    store %c, %v\n  }\n}\n",
     "an accumulator is read"},
    {"kernel @k(%x: in gmem f32[128, 256], %y: out gmem f32[128, 256]) threads(t = 8) {\n"
     "  %a = load %x\n  store %y, %a\n  %b = load %x\n  store %y, (add %a, (mul %b, %a))\n}\n",
     "are stored to memory"},
    {"kernel @k(%a: in gmem bf16[1024, 200], %b: out gmem bf16[1024, 128]) {\n"
     "  scratch %s : smem bf16[64, 128] tile(8, 64) swizzle(128)\n  scratch %full : barrier[1]\n"
     "  for %i in 0..16 {\n"
     "    copy_gmem_to_smem %a[ds(%i * 64, 64), ds(0, 128)], %s, %full[0]\n"
     "    barrier_wait %full[0]\n    store %b[ds(%i * 64, 64)], (load %s)\n  }\n}\n",
     "16 boxes of 1024 bytes each time: dimension 1 of '%a' has 200 elements, no whole number of "
     "tiles of 64"},
    {"kernel @k(%a: in gmem bf16[1024, 256], %b: out gmem bf16[1024, 128]) {\n"
     "  scratch %s : smem bf16[64, 128] tile(8, 64) swizzle(128)\n  scratch %full : barrier[1]\n"
     "  for %i in 0..16 {\n"
     "    copy_gmem_to_smem %a[ds(%i * 64, 64), ds(%i * 8, 128)], %s, %full[0]\n"
     "    barrier_wait %full[0]\n    store %b[ds(%i * 64, 64)], (load %s)\n  }\n}\n",
     "in dimension 1 of '%a' it may start inside a tile of 64 elements"},
    {"kernel @k(%x: in gmem f32[2, 64], %y: out gmem f32[2, 64]) cluster(pair = 2) {\n"
     "  scratch %s : smem f32[64]\n  scratch %b : barrier[1] cluster(pair)\n"
     "  %me = axis_index pair\n  for %i in 0..4 {\n    store %s.cluster(1 - %me), (load %x[%me])\n"
     "    barrier_arrive %b[0]\n    barrier_wait %b[0]\n    store %y[%me], (load %s)\n"
     "    cluster_barrier\n  }\n}\n",
     "releases for the cluster in a loop"},
};

/* Arrays of whole tiles, barriers that carry nothing to a peer, and turns with registers of their
 * own for one wgmma in flight and for two. */
static const char *const lossless[] = {
    "kernel @k(%a: in gmem i8[8, 64, 64], %n: i32, %c: out gmem f32[64, 64]) {\n"
    "  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"
    "  scratch %acc : acc f32[64, 64]\n  for %i in 0..%n {\n"
    "    wgmma %acc, (cast (load %a[%i]) : bf16), %bs\n  }\n  store %c, (load %acc)\n}\n",
    "kernel @k(%a: in gmem f8e4m3[8, 64, 64], %n: i32, %c: out gmem f32[64, 64]) {\n"
    "  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"
    "  scratch %acc : acc f32[64, 64]\n  for %i in 0..%n {\n"
    "    wgmma_async %acc, (cast (load %a[%i]) : bf16), %bs\n    wgmma_wait 2\n  }\n"
    "  store %c, (load %acc)\n}\n",
    "kernel @k(%a: in gmem bf16[1024, 256], %b: out gmem bf16[1024, 128]) {\n"
    "  scratch %s : smem bf16[64, 128] tile(8, 64) swizzle(128)\n  scratch %full : barrier[1]\n"
    "  for %i in 0..16 {\n"
    "    copy_gmem_to_smem %a[ds(%i * 64, 64), ds(0, 128)], %s, %full[0]\n"
    "    barrier_wait %full[0]\n    store %b[ds(%i * 64, 64)], (load %s)\n  }\n}\n",
    "kernel @k(%x: in gmem f32[2, 64]) cluster(pair = 2) {\n"
    "  scratch %s : smem f32[64]\n  scratch %b : barrier[1] cluster(pair)\n"
    "  %me = axis_index pair\n  for %i in 0..4 {\n    store %s, (load %x[%me])\n"
    "    barrier_arrive %b[0]\n    barrier_wait %b[0]\n  }\n}\n"};

TEST_EACH(nothing_is_lost, COUNT_OF(lossless)) {
    compiled c = compile_text("no loss", lossless[_i]);
    if (grout_diags_count(c.diags) != 0) {
        show(&c, "no loss of speed");
    }
    free_compiled(&c);
}

TEST_EACH(losses_are_reported, COUNT_OF(losses)) {
    compiled c = compile_text("loss", losses[_i].text);
    bool is_said = false;
    for (uint32_t k = 0; k < grout_diags_count(c.diags); k++) {
        const grout_diag *diag = grout_diags_get(c.diags, k);
        ck_assert_int_eq(diag->code, GROUT_DIAG_GPU_LOSS);
        ck_assert_int_eq(diag->severity, GROUT_SEVERITY_WARNING);
        is_said = is_said || strstr(diag->message, losses[_i].says) != NULL;
    }
    if (!is_said) {
        show(&c, losses[_i].says);
    }
    free_compiled(&c);
}

int main(void) {
    if (!has_nvrtc()) {
        printf("skipped: no usable NVRTC on this machine\n");
        return 77;
    }
    return run_tests();
}
