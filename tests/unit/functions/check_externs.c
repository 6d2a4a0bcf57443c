/* check_externs.c - C functions that kernels call: what they are given, when they are not called,
 * what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/function.h"
#include "grout-internal/race.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include <stdatomic.h>

/* ---- a launch ------------------------------------------------------------------------------- */

typedef struct subject {
    bound_text text;
    grout_externs *externs;
    grout_checker *checker; /* NULL: it runs without */
    grout_run_status status;
} subject;

/* Runs the text's first kernel; the launch gives no machine if status is FAILED. */
static subject run(const char *text, const grout_extern_function *functions, size_t count,
                   const grout_argument *arguments, size_t argument_count, bool is_checked) {
    subject it = {.text = bind_text(text, NULL, 0), .status = GROUT_RUN_FAILED};
    ck_assert_msg(it.text.bound != NULL &&
                      grout_verify(it.text.bound, GROUT_ARCH_SM_90A, it.text.diags),
                  "%s", get_said(it.text.diags));
    it.externs = grout_externs_new(it.text.bound, functions, count, NULL, it.text.diags);
    ck_assert_ptr_nonnull(it.externs);
    grout_launch launch = {.module = it.text.bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = argument_count,
                           .track_undefined = is_checked};
    launch.externs = grout_externs_get(it.externs, &launch.extern_count);
    if (is_checked) {
        it.checker = grout_checker_new(&(grout_checker_options){0}, it.text.diags);
        launch.observers[launch.observer_count++] = grout_checker_get_observer(it.checker);
    }
    grout_machine *machine = grout_machine_new(&launch, it.text.diags);
    if (machine != NULL) {
        it.status = grout_machine_run(machine, 0, it.text.diags);
    }
    grout_machine_free(machine);
    return it;
}

static void end(subject *it) {
    grout_checker_free(it->checker);
    grout_externs_free(it->externs);
    free_text(&it->text);
}

/* ---- types ---------------------------------------------------------------------------------- */

/* Each of them gives back its argument, through a register of another width. */
#define IDENTITY(name, type)       \
    static type name(type value) { \
        return value;              \
    }
IDENTITY(same_i8, int8_t)
IDENTITY(same_u8, uint8_t)
IDENTITY(same_i16, int16_t)
IDENTITY(same_u16, uint16_t)
IDENTITY(same_i32, int32_t)
IDENTITY(same_u32, uint32_t)
IDENTITY(same_i64, int64_t)
IDENTITY(same_u64, uint64_t)
IDENTITY(same_f32, float)
IDENTITY(same_f64, double)

static bool same_bool(bool value) {
    return value;
}

typedef struct type_case {
    const char *dtype;
    grout_any_function *function;
    size_t bytes;
    uint8_t low[8], high[8]; /* elements at both ends of the type */
} type_case;

#define ENDS_OF_UNSIGNED                       \
    {0}, {                                     \
        255, 255, 255, 255, 255, 255, 255, 255 \
    }
static const type_case type_cases[] = {
    {"i8", (grout_any_function *)same_i8, 1, {0x80}, {0x7f}},
    {"u8", (grout_any_function *)same_u8, 1, ENDS_OF_UNSIGNED},
    {"i16", (grout_any_function *)same_i16, 2, {0, 0x80}, {0xff, 0x7f}},
    {"u16", (grout_any_function *)same_u16, 2, ENDS_OF_UNSIGNED},
    {"i32", (grout_any_function *)same_i32, 4, {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0x7f}},
    {"u32", (grout_any_function *)same_u32, 4, ENDS_OF_UNSIGNED},
    {"i64", (grout_any_function *)same_i64, 8, {0, 0, 0, 0, 0, 0, 0, 0x80}, {1}},
    {"u64", (grout_any_function *)same_u64, 8, ENDS_OF_UNSIGNED},
    {"f32", (grout_any_function *)same_f32, 4, {0, 0, 0x80, 0xff}, {1}},
    {"f64", (grout_any_function *)same_f64, 8, {0, 0, 0, 0, 0, 0, 0xf0, 0xff}, {1}},
    {"f16", (grout_any_function *)same_u16, 2, {0, 0xfc}, {0xff, 0x7b}},
    {"bf16", (grout_any_function *)same_u16, 2, {0x80, 0xff}, {1}},
    {"f8e4m3", (grout_any_function *)same_u8, 1, {0xfe}, {1}},
    {"f8e5m2", (grout_any_function *)same_u8, 1, {0xfc}, {1}},
    {"bool", (grout_any_function *)same_bool, 1, {0}, {1}},
};

TEST_EACH(every_type_goes_through, COUNT_OF(type_cases)) {
    const type_case *c = &type_cases[_i];
    char text[256];
    uint8_t from[16], to[16] = {0};
    memcpy(from, c->low, c->bytes);
    memcpy(from + c->bytes, c->high, c->bytes);
    snprintf(text, sizeof text,
             "kernel @k(%%x: in gmem %s[2], %%y: out gmem %s[2]) grid(x = 1)\n{\n"
             "  store %%y, (extern_elementwise \"same\", (load %%x) : %s)\n}\n",
             c->dtype, c->dtype, c->dtype);
    const grout_extern_function function = {"same", c->function};
    const grout_argument arguments[] = {{from, 2 * c->bytes}, {to, 2 * c->bytes}};
    subject it = run(text, &function, 1, arguments, 2, false);
    ck_assert_int_eq(it.status, GROUT_RUN_DONE);
    ck_assert_mem_eq(from, to, 2 * c->bytes);
    end(&it);
}

/* ---- undefined elements --------------------------------------------------------------------- */

static int calls;

static float count_calls(float x, float y) {
    calls++;
    return x + y;
}

static const char half_written[] =
    "kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) grid(x = 1)\n"
    "{\n"
    "  scratch %s : smem f32[4]\n"
    "  store %s[ds(0, 2)], (load %x[ds(0, 2)])\n"
    "  %v = extern_elementwise \"count_calls\", (load %s), 1.0 : f32\n"
    "  store %y, %v\n"
    "}\n";

/* Two of four elements were never written: the function sees the others, and the checker says that
 * the result is undefined. */
TEST(undefined_elements_are_not_given) {
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    const grout_extern_function function = {"count_calls", (grout_any_function *)count_calls};
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    calls = 0;
    subject it = run(half_written, &function, 1, arguments, 2, true);
    ck_assert_int_eq(it.status, GROUT_RUN_DONE);
    ck_assert_int_eq(calls, 2);
    ck_assert_float_eq(y[1], 3);
    ck_assert_uint_gt(grout_checker_get_count(it.checker), 0);
    ck_assert_int_ne(grout_checker_get_summary(it.checker, false).verdict, GROUT_VERDICT_CLEAN);
    end(&it);
}

/* ---- what stops a run ----------------------------------------------------------------------- */

enum { CTAS = 8, CALLS_LEFT = 5 };

static const char adds_in_ctas[] =
    "kernel @k(%x: in gmem f32[4], %y: out gmem f32[8, 4]) grid(c = 8)\n"
    "{\n"
    "  %c = axis_index c\n"
    "  store %y[%c, ds(0, 4)], (extern_elementwise \"stops\", (load %x) : f32)\n"
    "}\n";

typedef struct stopping {
    atomic_int calls;
    grout_externs *externs; /* NULL: the function itself says stop */
} stopping;

static bool stop_after_some(void *payload, const void *const *arguments, void *result_out) {
    stopping *it = payload;
    memcpy(result_out, arguments[0], sizeof(float));
    return atomic_fetch_add(&it->calls, 1) < CALLS_LEFT;
}

static stopping of_c_functions;

static float stop_them_all(float x) {
    if (atomic_fetch_add(&of_c_functions.calls, 1) == CALLS_LEFT) {
        grout_externs_stop(of_c_functions.externs);
    }
    return x;
}

static grout_run_status run_stopping(const bound_text *text, const grout_extern *item,
                                     uint32_t workers) {
    float x[4] = {1, 2, 3, 4}, y[CTAS * 4] = {0};
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    grout_launch launch = {.module = text->bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 2,
                           .workers = workers,
                           .externs = item,
                           .extern_count = 1};
    grout_machine *machine = grout_machine_new(&launch, text->diags);
    ck_assert_msg(machine != NULL, "%s", get_said(text->diags));
    const grout_run_status status = grout_machine_run(machine, 0, text->diags);
    ck_assert_int_eq(grout_machine_run(machine, 0, text->diags), status); /* it is over */
    grout_machine_free(machine);
    return status;
}

/* By its result, and by grout_externs_stop. Each further worker may be in a call meanwhile. */
TEST_EACH(a_function_stops_the_run, 2) {
    static const uint32_t workers[] = {1, 4};
    bound_text text = bind_text(adds_in_ctas, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    stopping own = {.externs = NULL};
    const grout_extern item = {.name = "stops", .call = stop_after_some, .payload = &own};
    ck_assert_int_eq(run_stopping(&text, &item, workers[_i]), GROUT_RUN_INTERRUPTED);
    ck_assert_int_ge(atomic_load(&own.calls), CALLS_LEFT + 1);
    ck_assert_int_le(atomic_load(&own.calls), CALLS_LEFT + (int)workers[_i]);

    const grout_extern_function function = {"stops", (grout_any_function *)stop_them_all};
    of_c_functions.externs = grout_externs_new(text.bound, &function, 1, NULL, text.diags);
    ck_assert_ptr_nonnull(of_c_functions.externs);
    atomic_store(&of_c_functions.calls, 0);
    uint32_t count = 0;
    const grout_extern *items = grout_externs_get(of_c_functions.externs, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(run_stopping(&text, items, workers[_i]), GROUT_RUN_INTERRUPTED);
    const int calls_made = atomic_load(&of_c_functions.calls);
    ck_assert_int_ge(calls_made, CALLS_LEFT + 1);
    ck_assert_int_le(calls_made, CALLS_LEFT + (int)workers[_i]);
    ck_assert_int_eq(run_stopping(&text, items, workers[_i]), GROUT_RUN_INTERRUPTED); /* for good */
    ck_assert_int_eq(atomic_load(&of_c_functions.calls), calls_made);
    ck_assert_uint_eq(grout_diags_count(text.diags), 0);
    grout_externs_free(of_c_functions.externs);
    free_text(&text);
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* Others are given, and none of this name. */
TEST_EACH(a_missing_function_is_said, 2) {
    float x[4] = {1, 2, 3, 4}, y[4] = {5, 5, 5, 5};
    const grout_extern_function function = {"other", (grout_any_function *)count_calls};
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    subject it = run(half_written, &function, _i == 0 ? 1 : 0, arguments, 2, false);
    ck_assert_int_eq(it.status, GROUT_RUN_FAILED);
    ck_assert_int_eq(get_code(it.text.diags), GROUT_DIAG_EXTERN_MISSING);
    ck_assert_uint_eq(grout_diags_count(it.text.diags), 1);
    ck_assert_float_eq(y[0], 5);
    end(&it);
}

/* What an inline_ptx computes on the CPU, the launch does not have. */
TEST(ptx_without_a_function_is_not_run) {
    static const char kernel[] =
        "kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) grid(x = 1)\n"
        "{\n"
        "  store %y, (inline_ptx \"f\", \"mov.b32 $0, $1;\", (load %x) : f32)\n"
        "}\n";
    float x[4] = {1, 2, 3, 4}, y[4] = {5, 5, 5, 5};
    const grout_extern_function function = {"other", (grout_any_function *)count_calls};
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    subject it = run(kernel, &function, 1, arguments, 2, false);
    ck_assert_int_eq(it.status, GROUT_RUN_FAILED);
    ck_assert_int_eq(get_code(it.text.diags), GROUT_DIAG_PTX_FUNCTION_MISSING);
    ck_assert_float_eq(y[0], 5);
    end(&it);
}

static const struct {
    const char *body;
    grout_diag_code code; /* NONE: it is verified */
} verified[] = {
    {"%r = extern_elementwise \"_f1\", %x : f32", GROUT_DIAG_NONE},
    {"%r = extern_elementwise \"1f\", %x : f32", GROUT_DIAG_BAD_EXTERN},
    {"%r = extern_elementwise \"\", %x : f32", GROUT_DIAG_BAD_EXTERN},
    {"%r = extern_elementwise \"f-g\", %x : f32", GROUT_DIAG_BAD_EXTERN},
    {"%r = extern_elementwise \"k\", %x : f32", GROUT_DIAG_BAD_EXTERN}, /* the kernel */
    {"%r = extern_elementwise \"f\", (extern_elementwise \"f\", %x : f32) : f32", GROUT_DIAG_NONE},
    {"%r = extern_elementwise \"f\", (extern_elementwise \"f\", %x : i32) : f32",
     GROUT_DIAG_BAD_EXTERN},
    {"%r = extern_elementwise \"f\", (extern_elementwise \"f\", %x, %x : f32) : f32",
     GROUT_DIAG_BAD_EXTERN},
    {"%r = extern_elementwise \"f\", 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 : f32",
     GROUT_DIAG_NONE},
    {"%r = extern_elementwise \"f\", 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 : f32",
     GROUT_DIAG_BAD_EXTERN},
};

TEST_EACH(names_and_signatures_are_checked, COUNT_OF(verified)) {
    grout_text text = {0};
    grout_text_add(&text,
                   "kernel @k(%%x: f32, %%y: out gmem f32[1]) grid(x = 1)\n{\n  %s\n"
                   "  store %%y[0], %%r\n}\n",
                   verified[_i].body);
    bound_text it = bind_text(text.data, NULL, 0);
    ck_assert_msg(it.bound != NULL, "%s", get_said(it.diags));
    const bool is_good = grout_verify(it.bound, GROUT_ARCH_SM_90A, it.diags);
    ck_assert_msg(is_good == (verified[_i].code == GROUT_DIAG_NONE), "%s", get_said(it.diags));
    ck_assert_int_eq(get_code(it.diags), verified[_i].code);
    free_text(&it);
    grout_text_free(&text);
}

/* As many functions as a file may call, and one more. */
TEST_EACH(there_is_a_limit_of_functions, 2) {
    grout_text text = {0};
    grout_text_add(&text,
                   "kernel @k(%%y: out gmem f32[1]) grid(x = 1)\n{\n  %%v0 = add 0.0, 1.0\n");
    for (int i = 0; i < GROUT_EXTERNS_MAX + _i; i++) {
        grout_text_add(&text, "  %%v%d = extern_elementwise \"f%d\", %%v%d : f32\n", i + 1, i, i);
    }
    grout_text_add(&text, "  store %%y[0], %%v%d\n}\n", GROUT_EXTERNS_MAX + _i);
    bound_text it = bind_text(text.data, NULL, 0);
    grout_op_id ops[GROUT_EXTERNS_MAX];
    ck_assert_msg(it.bound != NULL, "%s", get_said(it.diags));
    ck_assert_int_eq(grout_verify(it.bound, GROUT_ARCH_SM_90A, it.diags), _i == 0);
    ck_assert_int_eq(get_code(it.diags), _i == 0 ? GROUT_DIAG_NONE : GROUT_DIAG_BAD_EXTERN);
    ck_assert_uint_eq(grout_module_find_externs(it.bound, ops), GROUT_EXTERNS_MAX);
    free_text(&it);
    grout_text_free(&text);
}

/* The longest text of an inline_ptx, and one more: spaces in front count. */
TEST_EACH(inline_ptx_has_a_limit, 2) {
    static const char mov[] = "mov.b32 $0, $1;";
    const int spaces = GROUT_PTX_MAX - (int)strlen(mov) + _i;
    grout_text text = {0};
    grout_text_add(&text,
                   "kernel @k(%%x: f32, %%y: out gmem f32[1]) grid(x = 1)\n{\n"
                   "  store %%y[0], (inline_ptx \"f\", \"%*s%s\", %%x : f32)\n}\n",
                   spaces, "", mov);
    bound_text it = bind_text(text.data, NULL, 0);
    ck_assert_msg(it.bound != NULL, "%s", get_said(it.diags));
    ck_assert_int_eq(grout_verify(it.bound, GROUT_ARCH_SM_90A, it.diags), _i == 0);
    ck_assert_int_eq(get_code(it.diags), _i == 0 ? GROUT_DIAG_NONE : GROUT_DIAG_BAD_PTX);
    free_text(&it);
    grout_text_free(&text);
}
