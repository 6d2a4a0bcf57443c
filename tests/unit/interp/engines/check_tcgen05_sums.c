/* check_tcgen05_sums.c - sums that are added up where tensor memory has them are those that are
 * worked on elsewhere, as a launch that looks for NaN and infinity does: bit for bit, whatever the
 * type, shape and order of the operands. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

typedef struct product {
    const char *type, *sum;
    int rows, cols, depth;
    int size; /* bytes of an element */
    bool is_a_turned, is_b_turned;
    bool is_stored; /* it adds to what a store has left */
    bool has_tmem_a;
} product;

static const product products[] = {
    {"bf16", "f32", 128, 64, 64, 2, false, false, false, false},
    {"bf16", "f32", 128, 96, 64, 2, false, true, true, false},
    {"bf16", "f32", 64, 64, 32, 2, true, false, false, false},
    {"f16", "f32", 128, 16, 64, 2, true, true, true, false},
    {"f16", "f32", 128, 24, 64, 2, false, true, false, false}, /* elsewhere anyway */
    {"f16", "f32", 128, 64, 64, 2, false, false, false, true},
    {"f32", "f32", 128, 32, 32, 4, false, true, true, false},
    {"f8e4m3", "f32", 128, 64, 64, 1, false, false, false, false},
    {"f8e5m2", "f32", 64, 32, 64, 1, true, true, false, false},
    {"i8", "i32", 128, 64, 64, 1, false, false, true, false},
    {"i8", "i32", 128, 64, 64, 1, true, true, false, false},
    {"u8", "i32", 64, 32, 64, 1, false, true, false, false},
};

/* A box of SMEM of rows of this many elements: as wide as one row of the swizzle, or of parts of
 * 128 bytes. */
static int get_width(int columns, int size) {
    const int most = 128 / size;
    return columns * size <= 128 ? columns : columns % most == 0 ? most : 32 / size;
}

static void declare(const product *p, char *text, size_t room, const char *name, const int *shape) {
    const int width = get_width(shape[1], p->size);
    snprintf(text, room, " scratch %%%ss : smem %s[%d, %d] tile(8, %d) swizzle(%d)\n", name,
             p->type, shape[0], shape[1], width, width * p->size);
}

/* Two products, the second added to the first, in the right columns of the second slot. */
static void write_kernel(const product *p, char *text, size_t room) {
    const int a[2] = {p->is_a_turned ? p->depth : p->rows, p->is_a_turned ? p->rows : p->depth};
    const int b[2] = {p->is_b_turned ? p->cols : p->depth, p->is_b_turned ? p->depth : p->cols};
    char scratch[2][160], tmem_a[240] = "", store[160] = "";
    declare(p, scratch[0], sizeof scratch[0], "a", a);
    declare(p, scratch[1], sizeof scratch[1], "b", b);
    if (p->has_tmem_a) {
        snprintf(tmem_a, sizeof tmem_a,
                 " scratch %%p : tmem %s[%d, %d] packed\n async_store_tmem %%p, (load %%a)\n"
                 " commit_tmem\n",
                 p->type, p->rows, p->depth);
    }
    if (p->is_stored) {
        snprintf(store, sizeof store, " async_store_tmem %%t[1], (load %%c)\n commit_tmem\n");
    }
    const char *left = p->has_tmem_a ? "%p" : p->is_a_turned ? "%as.transpose(1, 0)" : "%as";
    const char *right = p->is_b_turned ? "%bs.transpose(1, 0)" : "%bs";
    snprintf(
        text, room,
        "kernel @k(%%a: in gmem %s[%d, %d], %%b: in gmem %s[%d, %d], %%c: in gmem %s[%d, %d],\n"
        "  %%y: out gmem %s[%d, %d]) attr arch = \"sm_100a\" {\n"
        "%s%s scratch %%done : barrier orders_tensor_core\n scratch %%t : tmem %s[2, %d, %d]\n"
        " store %%as, (load %%a)\n store %%bs, (load %%b)\n commit_smem\n%s%s"
        " tcgen05_mma %%t[1, :, ds(%d, %d)], %s, %s, %s\n"
        " tcgen05_mma %%t[1, :, ds(%d, %d)], %s, %s, true\n"
        " tcgen05_commit_arrive %%done\n barrier_wait %%done\n"
        " store %%y, (async_load_tmem %%t[1, :, ds(%d, %d)])\n wait_load_tmem\n}\n",
        p->type, a[0], a[1], p->type, b[0], b[1], p->sum, p->rows, 2 * p->cols, p->sum, p->rows,
        p->is_stored ? 2 * p->cols : p->cols, scratch[0], scratch[1], p->sum, p->rows, 2 * p->cols,
        tmem_a, store, p->cols, p->cols, left, right, p->is_stored ? "true" : "false", p->cols,
        p->cols, left, right, p->is_stored ? 0 : p->cols, p->is_stored ? 2 * p->cols : p->cols);
}

/* Any bits; of a float of 16 or 32 bits mostly such that sums do not overflow, with a NaN here and
 * there, and infinities. */
static void fill(const run *r, uint32_t index, int size, bool is_float) {
    uint8_t *bytes = r->arguments[index].data;
    uint64_t state = index + 1;
    for (size_t i = 0; i < r->arguments[index].size / (size_t)size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t bits = (uint32_t)(state >> 32);
        const bool is_special = i % 997 == 13;
        if (is_float && size == 4 && !is_special) {
            bits = (bits & 0x80ffffffu) | 0x3f000000u;
        } else if (is_float && size == 2 && !is_special) {
            bits &= 0xbfffu;
        } else if (is_float && is_special) {
            bits = size == 4 ? 0x7fc01234u : i % 2 == 0 ? 0x7f81u : 0x7c00u;
        }
        memcpy(bytes + i * (size_t)size, &bits, (size_t)size);
    }
}

static run *run_product(const product *p, const char *text, int variant, bool looks) {
    run *r = run_new(text, variant);
    r->tracks_non_finite = looks;
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    fill(r, 0, p->size, p->type[0] == 'f' || p->type[0] == 'b');
    fill(r, 1, p->size, p->type[0] == 'f' || p->type[0] == 'b');
    fill(r, 2, 4, p->sum[0] == 'f');
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    return r;
}

TEST_EACH(sums_are_the_same_where_they_are, COUNT_OF(products)) {
    const product *p = &products[_i];
    static char text[4096];
    write_kernel(p, text, sizeof text);
    for (int variant = 0; variant < 2; variant++) { /* eager, lazy */
        run *there = run_product(p, text, variant, false);
        run *elsewhere = run_product(p, text, variant, true);
        const uint32_t *got = there->arguments[3].data, *wanted = elsewhere->arguments[3].data;
        uint32_t differences = 0, others = 0;
        for (size_t i = 0; i < there->arguments[3].size / 4; i++) {
            differences += got[i] != wanted[i];
            others += got[i] != got[0];
        }
        ck_assert_uint_eq(differences, 0);
        ck_assert_uint_gt(others, 0);
        run_delete(there);
        run_delete(elsewhere);
    }
}
