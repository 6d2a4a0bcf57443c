/* check_chain.c - elementwise chains strip by strip against the same ops one by one: random kernels
 * must give the same bytes, steps, events and states; and what ends a chain.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

/* ---- random kernels -----------------------------------------------------------------------------
 */

enum { VALUES_MAX = 80, TEXT_MAX = 16384, OPS = 40 };

typedef struct generator {
    uint32_t state;
    grout_text text;
    const char *shape; /* of every array */
    uint32_t rank;
    grout_dtype dtypes[VALUES_MAX]; /* of %v0, %v1, ... */
    uint32_t count;
} generator;

static uint32_t draw(generator *g, uint32_t below) {
    g->state = g->state * 1664525u + 1013904223u;
    return (g->state >> 8) % below;
}

static const grout_dtype all_dtypes[] = {
    GROUT_DTYPE_I32, GROUT_DTYPE_U32, GROUT_DTYPE_F16, GROUT_DTYPE_BF16, GROUT_DTYPE_F32,
    GROUT_DTYPE_I8,  GROUT_DTYPE_U16, GROUT_DTYPE_I64, GROUT_DTYPE_F64,  GROUT_DTYPE_BOOL};
enum { DTYPES = sizeof all_dtypes / sizeof *all_dtypes };

static const char *name_of(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->text;
}

/* A new value's name and its '='. */
static void begin_value(generator *g, grout_dtype dtype) {
    grout_text_add(&g->text, "  %%v%u = ", g->count);
    g->dtypes[g->count++] = dtype;
}

/* An array of a type, among the latest more often. */
static void add_array(generator *g, grout_dtype dtype) {
    for (uint32_t tries = 0;; tries++) {
        uint32_t reach = tries < 8 && g->count > 8 ? 8 : g->count;
        uint32_t index = g->count - 1 - draw(g, reach);
        if (g->dtypes[index] == dtype) {
            grout_text_add(&g->text, "%%v%u", index);
            return;
        }
    }
}

/* Beside an array: another one, a parameter or a literal. */
static void add_operand(generator *g, grout_dtype dtype) {
    static const char *const ints[] = {"0", "1", "7", "31"};
    static const char *const floats[] = {"0.0", "1.0", "-2.5", "0.375"};
    uint32_t kind = draw(g, 4);
    if (kind == 0) {
        grout_text_add(&g->text, "%%p_%s", name_of(dtype));
    } else if (kind == 1 && dtype != GROUT_DTYPE_BOOL) {
        bool is_float = grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
        grout_text_add(&g->text, "%s", (is_float ? floats : ints)[draw(g, 4)]);
    } else {
        add_array(g, dtype);
    }
}

static void add_arithmetic(generator *g, grout_opcode opcode, grout_dtype dtype) {
    const grout_op_info *info = grout_op_get_info(opcode);
    uint32_t count = (uint32_t)strlen(info->operands), whole = draw(g, count);
    begin_value(g, info->rule == GROUT_RULE_COMPARE ? GROUT_DTYPE_BOOL : dtype);
    g->count--; /* not its own operand */
    grout_text_add(&g->text, "%s ", info->text);
    for (uint32_t i = 0; i < count; i++) {
        grout_text_add(&g->text, "%s", i > 0 ? ", " : "");
        if (i == whole) {
            add_array(g, dtype);
        } else {
            add_operand(g, dtype);
        }
    }
    g->count++;
    grout_text_add(&g->text, "\n");
}

static void add_select(generator *g, grout_dtype dtype) {
    begin_value(g, dtype);
    g->count--;
    grout_text_add(&g->text, "select ");
    add_array(g, GROUT_DTYPE_BOOL);
    grout_text_add(&g->text, ", ");
    add_operand(g, dtype);
    grout_text_add(&g->text, ", ");
    add_array(g, dtype);
    g->count++;
    grout_text_add(&g->text, "\n");
}

/* cast, broadcast, layout_cast, iota; sometimes something that ends the chain. */
static void add_other(generator *g, grout_dtype dtype) {
    static const char *const layouts[] = {"wgmma", "wg_strided"};
    grout_dtype from = all_dtypes[draw(g, DTYPES)];
    uint32_t kind = draw(g, 6);
    if (kind == 0 && dtype != GROUT_DTYPE_BOOL) {
        begin_value(g, dtype);
        grout_text_add(&g->text, "iota dim(%u) : %s%s\n", draw(g, g->rank), name_of(dtype),
                       g->shape);
    } else if (kind == 1) {
        begin_value(g, dtype);
        grout_text_add(&g->text, "broadcast %%p_%s : %s%s\n", name_of(dtype), name_of(dtype),
                       g->shape);
    } else if (kind == 2 && dtype != GROUT_DTYPE_BOOL) {
        uint32_t source = draw(g, g->rank);
        grout_text_add(&g->text, "  %%r%u = reduce_max ", g->count);
        add_array(g, dtype);
        grout_text_add(&g->text, " dim(%u)\n", 1 - source % 2);
        grout_text_add(&g->text, "  %%q%u = neg %%r%u\n", g->count, g->count);
        begin_value(g, dtype);
        grout_text_add(&g->text, "broadcast %%q%u dim(%u) : %s%s\n", g->count - 1, source % 2,
                       name_of(dtype), g->shape);
    } else if (kind == 3) {
        begin_value(g, dtype);
        g->count--;
        grout_text_add(&g->text, "layout_cast ");
        add_array(g, dtype);
        g->count++;
        grout_text_add(&g->text, " %s\n", layouts[draw(g, 2)]);
    } else {
        begin_value(g, dtype);
        g->count--;
        grout_text_add(&g->text, "cast ");
        add_array(g, from);
        g->count++;
        grout_text_add(&g->text, " : %s\n", name_of(dtype));
    }
}

static void add_op(generator *g) {
    grout_opcode opcode = (grout_opcode)(1 + draw(g, GROUT_OP_COUNT - 1));
    const grout_op_info *info = grout_op_get_info(opcode);
    grout_dtype dtype = all_dtypes[draw(g, DTYPES)];
    bool is_arithmetic = info->form == GROUT_FORM_UNARY || info->form == GROUT_FORM_BINARY ||
                         info->form == GROUT_FORM_TERNARY || info->form == GROUT_FORM_COMPARE ||
                         info->form == GROUT_FORM_TEST || info->form == GROUT_FORM_MATH ||
                         info->form == GROUT_FORM_MATH_BINARY;
    if (is_arithmetic && grout_type_rule_takes((grout_type_rule)info->types, dtype)) {
        add_arithmetic(g, opcode, dtype);
    } else if (opcode == GROUT_OP_SELECT) {
        add_select(g, dtype);
    } else if (draw(g, 8) == 0) {
        add_other(g, dtype);
    }
}

static const struct shape_case {
    const char *dims;
    uint32_t rank;
} shape_cases[] = {
    {"[1, 2]", 2}, {"[3, 7]", 2}, {"[64, 32]", 2}, {"[33, 65]", 2}, {"[20, 300]", 2}};

/* Inputs of two types, some elements of %s without a value if 'has_holes'. */
static const char *generate(generator *g, uint32_t seed, bool has_holes) {
    const struct shape_case *shape = &shape_cases[seed % 5];
    *g = (generator){.state = seed * 7919u + 1, .shape = shape->dims, .rank = shape->rank};
    grout_text_add(&g->text,
                   "kernel @k(%%x: in gmem f32%s, %%z: in gmem i32%s, %%p_i32: i32, %%p_u32: u32, "
                   "%%p_f16: f16, %%p_bf16: bf16, %%p_f32: f32, %%p_bool: bool, %%y: out gmem "
                   "f32%s, %%w: out gmem u32%s) {\n",
                   shape->dims, shape->dims, shape->dims, shape->dims);
    grout_text_add(&g->text, "  %%p_i8 = cast %%p_i32 : i8\n  %%p_u16 = cast %%p_u32 : u16\n"
                             "  %%p_i64 = cast %%p_f32 : i64\n  %%p_f64 = cast %%p_f32 : f64\n");
    grout_text_add(&g->text, "  scratch %%s : smem f32%s\n  store %%s%s, (load %%x%s)\n",
                   shape->dims, has_holes ? "[0]" : "", has_holes ? "[0]" : "");
    begin_value(g, GROUT_DTYPE_F32);
    grout_text_add(&g->text, "load %%s\n");
    begin_value(g, GROUT_DTYPE_I32);
    grout_text_add(&g->text, "load %%z\n");
    static const grout_dtype others[] = {GROUT_DTYPE_U32, GROUT_DTYPE_F16, GROUT_DTYPE_BF16,
                                         GROUT_DTYPE_I8,  GROUT_DTYPE_U16, GROUT_DTYPE_I64,
                                         GROUT_DTYPE_F64};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        begin_value(g, others[i]);
        grout_text_add(&g->text, "cast %%v%u : %s\n", i % 2, name_of(others[i]));
    }
    begin_value(g, GROUT_DTYPE_BOOL);
    grout_text_add(&g->text, "gt %%v1, 0\n");
    while (g->count < OPS) {
        add_op(g);
    }
    grout_text_add(&g->text, "  store %%y, (cast %%v%u : f32)\n", OPS - 1);
    begin_value(g, GROUT_DTYPE_U32);
    grout_text_add(&g->text, "cast %%v%u : u32\n", OPS - 2);
    for (uint32_t i = 0; i < 3; i++) {
        begin_value(g, GROUT_DTYPE_U32);
        g->count--;
        grout_text_add(&g->text, "xor %%v%u, (cast (cast ", g->count - 1);
        add_array(g, all_dtypes[draw(g, DTYPES - 1)]);
        g->count++;
        grout_text_add(&g->text, " : i32) : u32)\n");
    }
    grout_text_add(&g->text, "  store %%w, %%v%u\n}\n", g->count - 1);
    ck_assert(!g->text.failed);
    return g->text.data;
}

/* Inputs of all kinds: any bits, or small numbers. */
static void fill_inputs(run *r, uint32_t seed) {
    for (uint32_t i = 0; i < 2 && seed % 2 == 0; i++) {
        uint32_t *words = r->arguments[i].data, state = seed + i;
        for (size_t k = 0; k < r->arguments[i].size / 4; k++) {
            state = state * 1664525u + 1013904223u;
            words[k] = state ^ state >> 13;
        }
    }
    *(uint8_t *)r->arguments[7].data = seed % 3 == 0;
}

/* Floats that are NaN may differ in what else they say. */
static bool is_same(grout_dtype dtype, uint32_t a, uint32_t b) {
    bool are_nan = (a & 0x7fffffffu) > 0x7f800000u && (b & 0x7fffffffu) > 0x7f800000u;
    return a == b || (dtype == GROUT_DTYPE_F32 && are_nan);
}

static void compare(const run *a, const run *b) {
    for (uint32_t i = 8; i < 10; i++) {
        const uint32_t *x = a->arguments[i].data, *y = b->arguments[i].data;
        for (size_t k = 0; k < a->arguments[i].size / 4; k++) {
            if (!is_same(i == 8 ? GROUT_DTYPE_F32 : GROUT_DTYPE_U32, x[k], y[k])) {
                ck_abort_msg("array %u element %zu: %x, not %x\n%s", i, k, y[k], x[k], a->text);
            }
        }
    }
    ck_assert_msg(a->event_hash == b->event_hash, "%s", a->text);
    ck_assert_mem_eq(a->faults, b->faults, sizeof a->faults);
    ck_assert_uint_eq(grout_machine_get_stats(a->machine).steps,
                      grout_machine_get_stats(b->machine).steps);
}

static run *start(const char *text, uint32_t seed, bool is_unfused, bool is_unobserved) {
    run *r = run_new(text, 0);
    r->is_unfused = is_unfused;
    r->is_unobserved = is_unobserved;
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    fill_inputs(r, seed);
    return r;
}

enum { SEEDS = 150 };

TEST_EACH(strips_give_the_same, SEEDS) {
    generator g;
    const char *text = generate(&g, (uint32_t)_i, _i % 7 == 3);
    run *plain = start(text, (uint32_t)_i, true, false);
    run *fused = start(text, (uint32_t)_i, false, false);
    ck_assert_int_eq(grout_machine_run(plain->machine, 0, plain->diags), GROUT_RUN_DONE);
    ck_assert_int_eq(grout_machine_run(fused->machine, 0, fused->diags), GROUT_RUN_DONE);
    compare(plain, fused);
    if (_i % 7 != 3) {
        run *unobserved = start(text, (uint32_t)_i, false, true);
        ck_assert_int_eq(grout_machine_run(unobserved->machine, 0, unobserved->diags),
                         GROUT_RUN_DONE);
        for (uint32_t i = 8; i < 10; i++) {
            ck_assert_mem_eq(unobserved->arguments[i].data, fused->arguments[i].data,
                             fused->arguments[i].size);
        }
        run_delete(unobserved);
    }
    run_delete(plain);
    run_delete(fused);
    grout_text_free(&g.text);
}

/* A run that stops inside chains, goes on, and is set back ends in the same state. */
TEST_EACH(runs_stop_inside_a_chain, 21) {
    generator g;
    const char *text = generate(&g, (uint32_t)_i, _i % 7 == 3);
    run *whole = start(text, (uint32_t)_i, false, false);
    ck_assert_int_eq(grout_machine_run(whole->machine, 0, whole->diags), GROUT_RUN_DONE);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    run *paused = start(text, (uint32_t)_i, false, false);
    for (uint64_t at = 0; at + 1 < steps; at++) {
        ck_assert_int_eq(grout_machine_run(paused->machine, 1, paused->diags), GROUT_RUN_PAUSED);
        ck_assert_uint_eq(grout_machine_get_stats(paused->machine).steps, at + 1);
        if ((at + (uint64_t)_i) % 3 != 0) { /* other steps with other kernels */
            continue;
        }
        run *once = start(text, (uint32_t)_i, false, false);
        ck_assert_int_eq(grout_machine_run(once->machine, at + 1, once->diags), GROUT_RUN_PAUSED);
        ck_assert(grout_machine_hash(once->machine) == grout_machine_hash(paused->machine));
        if ((at + (uint64_t)_i) % 6 == 0) {
            grout_snapshot *snapshot = grout_machine_snapshot(once->machine, once->diags);
            for (uint32_t round = 0; round < 2; round++) {
                ck_assert_int_eq(grout_machine_run(once->machine, 0, once->diags), GROUT_RUN_DONE);
                compare(whole, once);
                ck_assert(grout_machine_hash(once->machine) == grout_machine_hash(whole->machine));
                ck_assert(grout_machine_restore(once->machine, snapshot, once->diags));
            }
            grout_snapshot_free(snapshot);
        }
        run_delete(once);
    }
    ck_assert_int_eq(grout_machine_run(paused->machine, 0, paused->diags), GROUT_RUN_DONE);
    compare(whole, paused);
    ck_assert(grout_machine_hash(paused->machine) == grout_machine_hash(whole->machine));
    run_delete(paused);
    run_delete(whole);
    grout_text_free(&g.text);
}

/* The step limit names the same op, in a chain too. */
TEST(step_limit_inside_a_chain) {
    const char *text = "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) {\n %v = load %x\n"
                       " %a = add %v, 1.0\n %b = mul %a, %a\n %c = sub %b, %v\n store %y, %c }";
    for (uint64_t limit = 1; limit < 6; limit++) {
        grout_op_id ops[2];
        for (uint32_t k = 0; k < 2; k++) {
            run *r = run_new(text, 0);
            r->is_unfused = k == 0;
            r->max_steps = limit;
            bool is_done = run_to_end(r) == GROUT_RUN_DONE;
            ck_assert(is_done == (limit >= 5));
            ops[k] = is_done ? 0 : r->events[r->event_count - 1].origin.op;
            ck_assert_uint_eq(grout_machine_get_stats(r->machine).steps, limit);
            run_delete(r);
        }
        ck_assert_uint_eq(ops[0], ops[1]);
    }
}
