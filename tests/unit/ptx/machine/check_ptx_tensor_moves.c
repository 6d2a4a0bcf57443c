/* check_ptx_tensor_moves.c - tcgen05.ld and tcgen05.st in every shape, packed and not, and
 * tcgen05.shift, on the machine: where each element goes, by the figures of PTX ISA 9.1, 'Data
 * Movement Shape', and the sections of the instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 128, COLUMNS = 64, WARP = 32, REGISTERS_MAX = 16, HALF = 16, SPLIT = 24 };

/* %r0: thread, %r1: address in tensor memory, %r9: that of the warp's lanes, %rd1: where the thread
 * stores. Cell (row, column) of tensor memory holds 64 * row + column at first. */
#define BEGINNING                                                                               \
    ".version 9.0\n.target sm_100a\n.address_size 64\n"                                         \
    ".visible .entry k(.param .u64 out)\n{\n"                                                   \
    ".reg .pred %%p<8>; .reg .b32 %%r<16>; .reg .b32 %%v<64>; .reg .b32 %%w<64>;"               \
    " .reg .b64 %%rd<4>; .shared .align 16 .b8 s[16];\n"                                        \
    "mov.u32 %%r0, %%tid.x; mov.u32 %%r3, s; shr.u32 %%r2, %%r0, 5; ld.param.u64 %%rd0, [out];" \
    " mad.wide.u32 %%rd1, %%r0, 256, %%rd0;\n"                                                  \
    "setp.eq.u32 %%p0, %%r0, 0; @%%p0 mbarrier.init.shared::cta.b64 [%%r3], 1;"                 \
    " setp.ne.u32 %%p2, %%r2, 0; @%%p2 bra N;\n"                                                \
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r3+8], 64;\nN: bar.sync 0;"     \
    " ld.shared.u32 %%r1, [%%r3+8]; shl.b32 %%r5, %%r2, 21; add.u32 %%r9, %%r1, %%r5;"          \
    " shl.b32 %%r6, %%r0, 6;\n"
#define END                                                                              \
    "bar.sync 0; @%%p2 bra E; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r1, 64;\n" \
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nE: ret;\n}\n"

/* "{%v0, %v1, ..}" */
static void add_vector(grout_text *text, char letter, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        grout_text_add(text, "%s%%%c%u", i == 0 ? "{" : ", ", letter, first + i);
    }
    grout_text_add(text, "}");
}

/* All columns of the thread's row, from %v or into it. */
static void add_rows(grout_text *text, bool is_store) {
    for (uint32_t first = 0; first < COLUMNS; first += WARP) {
        grout_text_add(text,
                       is_store ? "tcgen05.st.sync.aligned.32x32b.x32.b32 [%%r9+%u], "
                                : "tcgen05.ld.sync.aligned.32x32b.x32.b32 ",
                       first);
        add_vector(text, 'v', first, WARP);
        grout_text_add(text, is_store ? ";\n" : ", [%%r9+%u];\n", first);
    }
    grout_text_add(text, "tcgen05.wait::%s.sync.aligned;\n", is_store ? "st" : "ld");
}

static void add_beginning(grout_text *text) {
    grout_text_add(text, BEGINNING);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        grout_text_add(text, "add.u32 %%v%u, %%r6, %u;\n", i, i);
    }
    add_rows(text, true);
}

/* Stores of what a thread has in %v or %w. */
static void add_end(grout_text *text, char letter, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        grout_text_add(text, "st.global.u32 [%%rd1+%u], %%%c%u;\n", 4 * i, letter, i);
    }
    grout_text_add(text, END);
}

/* Runs the text in every timing; the results of each are the same. */
static void run(grout_text *text, grout_ptx_timing timing, uint32_t results[THREADS][COLUMNS]) {
    grout_diags *diags = grout_diags_new();
    const size_t size = sizeof(uint32_t) * THREADS * COLUMNS;
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text->data, text->size, diags);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    uint64_t address = 0;
    size_t undefined = 0;
    memset(results, 0, size);
    address = grout_ptx_memory_add(memory, results, size);
    const grout_ptx_launch launch = {.module = module,
                                     .memory = memory,
                                     .block = {THREADS, 1, 1},
                                     .parameters = &address,
                                     .parameter_bytes = sizeof address,
                                     .seed = 3,
                                     .timing = timing,
                                     .max_steps = 100000};
    const bool is_done = module != NULL && grout_ptx_launch_run(&launch, NULL, diags);
    if (!is_done) {
        grout_text said = {0};
        grout_diags_render(diags, &(grout_render_options){.color = false}, &said);
        ck_abort_msg("%s", said.data);
    }
    ck_assert(grout_ptx_memory_read(memory, address, results, size, &undefined));
    ck_assert_uint_eq(undefined, 0);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* ---- shapes ---- */

/* A shape with a number of registers: rows of a warp's lanes (32, or 16 from a half on). */
typedef struct shape {
    const char *words; /* after .aligned. */
    uint32_t registers;
    bool has_halves; /* the address may be that of the upper 16 lanes */
    bool is_split;
} shape;

static const shape shapes[] = {
    {"32x32b.x1", 1, false, false}, {"32x32b.x8", 8, false, false},  {"16x64b.x1", 1, true, false},
    {"16x64b.x8", 8, true, false},  {"16x128b.x1", 2, true, false},  {"16x128b.x4", 8, true, false},
    {"16x256b.x1", 4, true, false}, {"16x256b.x4", 16, true, false}, {"16x32bx2.x1", 1, true, true},
    {"16x32bx2.x8", 8, true, true},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0] };

typedef struct cell {
    uint32_t row, column;
} cell;

/* Where register r of a lane lies: a row counted from the address, and a column, in elements: two
 * of them in a column of 32 bits if it is packed. By the figures of the shapes. */
static cell find_cell(const shape *it, uint32_t lane, uint32_t r, bool is_packed) {
    const uint32_t quad = lane / 4, place = lane % 4;
    const uint32_t factor = is_packed ? 2 : 1;
    if (it->is_split) { /* 16 rows twice: for the second half of the lanes SPLIT columns further */
        return (cell){lane % HALF, r * factor + (lane < HALF ? 0 : SPLIT)};
    }
    if (strncmp(it->words, "32x32b", 6) == 0) {
        return (cell){lane, r * factor};
    }
    if (strncmp(it->words, "16x64b", 6) == 0) { /* rows 0 to 7: even lanes */
        return (cell){quad + place % 2 * 8, (2 * r + place / 2) * factor};
    }
    if (strncmp(it->words, "16x128b", 7) == 0) { /* r0: rows 0 to 7, r1: rows 8 to 15 */
        return (cell){quad + r % 2 * 8, (r / 2 * 4 + place) * factor};
    }
    return (cell){quad + r / 2 % 2 * 8, (r / 4 * 8 + place * 2 + r % 2) * factor};
}

/* "16x64b.x8.pack::16b.b32", the address, and what is split. */
static void add_move(grout_text *text, const shape *it, bool is_store, bool is_packed,
                     uint32_t half) {
    char split[16] = "";
    if (it->is_split) {
        (void)snprintf(split, sizeof split, ", %d", SPLIT);
    }
    grout_text_add(text, "add.u32 %%r10, %%r9, %u;\ntcgen05.%s.sync.aligned.%s%s.b32 ",
                   half * HALF << 16, is_store ? "st" : "ld", it->words,
                   !is_packed ? ""
                   : is_store ? ".unpack::16b"
                              : ".pack::16b");
    if (is_store) {
        grout_text_add(text, "[%%r10]%s, ", split);
    }
    add_vector(text, 'w', 0, it->registers);
    if (!is_store) {
        grout_text_add(text, ", [%%r10]%s", split);
    }
    grout_text_add(text, ";\ntcgen05.wait::%s.sync.aligned;\n", is_store ? "st" : "ld");
}

/* The row of tensor memory of a cell of a warp. */
static uint32_t get_row(const cell *at, uint32_t warp, uint32_t half) {
    return warp * WARP + half * HALF + at->row;
}

static uint32_t get_first(uint32_t row, uint32_t column) {
    return 64 * row + column;
}

/* _i: a shape, packed or not, of the lower or the upper half of the lanes. */
TEST_EACH(loads, 4 * SHAPE_COUNT) {
    const shape *it = &shapes[_i / 4];
    const bool is_packed = _i % 2 != 0;
    const uint32_t half = (uint32_t)_i / 2 % 2;
    static uint32_t results[THREADS][COLUMNS];
    grout_text text = {0};
    if (half != 0 && !it->has_halves) {
        return;
    }
    add_beginning(&text);
    add_move(&text, it, false, is_packed, half);
    add_end(&text, 'w', it->registers);
    run(&text, (grout_ptx_timing)(_i / 4 % 3), results);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        for (uint32_t r = 0; r < it->registers; r++) {
            const cell at = find_cell(it, thread % WARP, r, is_packed);
            const uint32_t row = get_row(&at, thread / WARP, half);
            const uint32_t low = get_first(row, at.column), high = get_first(row, at.column + 1);
            ck_assert_msg(results[thread][r] == (is_packed ? low | high << 16 : low),
                          "%s, packed %d: register %u of thread %u is 0x%x", it->words, is_packed,
                          r, thread, results[thread][r]);
        }
    }
    grout_text_free(&text);
}

/* What register r of a thread holds: another number in each half. */
static uint32_t get_given(uint32_t thread, uint32_t r) {
    return (0x8000 + thread * REGISTERS_MAX + r) | (0x9000 + thread * REGISTERS_MAX + r) << 16;
}

TEST_EACH(stores, 4 * SHAPE_COUNT) {
    const shape *it = &shapes[_i / 4];
    const bool is_packed = _i % 2 != 0;
    const uint32_t half = (uint32_t)_i / 2 % 2;
    static uint32_t results[THREADS][COLUMNS], expected[THREADS][COLUMNS];
    grout_text text = {0};
    if (half != 0 && !it->has_halves) {
        return;
    }
    add_beginning(&text);
    for (uint32_t r = 0; r < it->registers; r++) {
        grout_text_add(&text, "mad.lo.u32 %%w%u, %%r0, %u, 0x%x;\n", r,
                       REGISTERS_MAX | REGISTERS_MAX << 16, get_given(0, r));
    }
    add_move(&text, it, true, is_packed, half);
    add_rows(&text, false);
    add_end(&text, 'v', COLUMNS);
    run(&text, (grout_ptx_timing)(_i / 4 % 3), results);
    for (uint32_t i = 0; i < THREADS * COLUMNS; i++) {
        expected[i / COLUMNS][i % COLUMNS] = get_first(i / COLUMNS, i % COLUMNS);
    }
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        for (uint32_t r = 0; r < it->registers; r++) {
            const cell at = find_cell(it, thread % WARP, r, is_packed);
            uint32_t *cells = &expected[get_row(&at, thread / WARP, half)][at.column];
            const uint32_t given = get_given(thread, r);
            cells[0] = is_packed ? given & 0xffff : given;
            cells[1] = is_packed ? given >> 16 : cells[1];
        }
    }
    /* The ISA says the low halves of what is unpacked. */
    for (uint32_t i = 0; i < THREADS * COLUMNS; i++) {
        const uint32_t got = results[i / COLUMNS][i % COLUMNS];
        const uint32_t mask = is_packed ? 0xffff : UINT32_MAX;
        ck_assert_msg(((got ^ expected[i / COLUMNS][i % COLUMNS]) & mask) == 0,
                      "%s, packed %d: row %u, column %u is 0x%x, not 0x%x", it->words, is_packed,
                      i / COLUMNS, i % COLUMNS, got, expected[i / COLUMNS][i % COLUMNS]);
    }
    grout_text_free(&text);
}

/* ---- shift ---- */

/* 31 of the 32 lanes from the address on get 8 columns of the lane after them; nothing else moves.
 */
TEST_EACH(shifts, 4) {
    static uint32_t results[THREADS][COLUMNS];
    const uint32_t quarter = (uint32_t)_i;
    grout_text text = {0};
    add_beginning(&text);
    grout_text_add(&text,
                   "tcgen05.fence::before_thread_sync; bar.sync 0;"
                   " tcgen05.fence::after_thread_sync;\n"
                   "@%%p0 tcgen05.shift.cta_group::1.down [%%r1+%u];\n"
                   "@%%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
                   " [%%r3];\n"
                   "W: mbarrier.try_wait.parity.shared::cta.b64 %%p3, [%%r3], 0; @!%%p3 bra W;"
                   " tcgen05.fence::after_thread_sync;\n",
                   (quarter * WARP << 16) + 16);
    add_rows(&text, false);
    add_end(&text, 'v', COLUMNS);
    run(&text, (grout_ptx_timing)(_i % 3), results);
    for (uint32_t row = 0; row < THREADS; row++) {
        for (uint32_t column = 0; column < COLUMNS; column++) {
            const bool is_moved =
                row / WARP == quarter && row % WARP < WARP - 1 && column >= 16 && column < 16 + 8;
            ck_assert_uint_eq(results[row][column], get_first(row + is_moved, column));
        }
    }
    grout_text_free(&text);
}
