/* check_kernel_function.c - kernels as C functions: what they compute, what they refuse.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/function.h"
#include "grout-internal/race.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include <pthread.h>

/* What the last call had to say. */
typedef struct said {
    uint32_t calls;
    grout_diag_code code;
    char message[256], help[256];
} said;

/* A kernel as a function. */
typedef struct subject {
    bound_text text;
    grout_kernel_function *function;
    said said;
    struct judged *told; /* what judge notes */
} subject;

/* The first help of a report. */
static void keep_help(const grout_diag *diag, said *to) {
    for (uint32_t i = 0; i < diag->note_count && to->help[0] == '\0'; i++) {
        if (diag->notes[i].severity == GROUT_SEVERITY_ADVICE) {
            snprintf(to->help, sizeof to->help, "%s", diag->notes[i].message);
        }
    }
}

static void keep(void *payload, const grout_diags *diags) {
    subject *it = payload;
    it->said = (said){.calls = it->said.calls + 1, .code = get_code(diags)};
    if (diags != NULL && grout_diags_count(diags) > 0) {
        const grout_diag *diag = grout_diags_get(diags, 0);
        snprintf(it->said.message, sizeof it->said.message, "%s", diag->message);
        keep_help(diag, &it->said);
    }
}

static grout_any_function *load(subject *it, const char *text,
                                grout_kernel_function_options options) {
    *it = (subject){.text = bind_text(text, NULL, 0)};
    ck_assert_msg(it->text.bound != NULL &&
                      grout_verify(it->text.bound, GROUT_ARCH_SM_90A, it->text.diags),
                  "%s", get_said(it->text.diags));
    options.launch.module = it->text.bound;
    options.launch.kernel = 1;
    options.report = keep;
    options.payload = it;
    it->function = grout_kernel_function_make(&options, it->text.diags);
    ck_assert_msg(it->function != NULL, "%s", get_said(it->text.diags));
    return grout_kernel_function_get(it->function);
}

static void unload(subject *it) {
    grout_kernel_function_free(it->function);
    free_text(&it->text);
}

static grout_array make_floats(float *data, int64_t count) {
    return (grout_array){.dtype = GROUT_DTYPE_F32, .rank = 1, .dims = {count}, .data = data};
}

/* ---- values --------------------------------------------------------------------------------- */

static const char scale[] =
    "kernel @scale(%x: in gmem f32[4], %by: f32, %y: out gmem f32[4]) grid(x = 1)\n"
    "{\n"
    "  store %y, (mul (load %x), %by)\n"
    "}\n";
typedef bool scale_function(const grout_array *x, float by, const grout_array *y);

TEST_EACH(test_scale, 2) {
    subject it;
    scale_function *call =
        (scale_function *)load(&it, scale, (grout_kernel_function_options){.is_checked = _i == 1});
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    const grout_array from = make_floats(x, 4), to = make_floats(y, 4);
    for (int round = 1; round < 4; round++) {
        ck_assert(call(&from, (float)round, &to));
        for (int i = 0; i < 4; i++) {
            ck_assert_float_eq(y[i], x[i] * (float)round);
        }
    }
    ck_assert_uint_eq(it.said.calls, 0);
    unload(&it);
}

static const char scalars[] =
    "kernel @scalars(%a: i8, %b: u8, %c: i16, %d: u16, %e: i32, %f: u32, %g: i64, %h: u64, %i: "
    "f32,\n"
    "    %j: f64, %k: bool, %l: f16, %m: bf16, %y: out gmem f64[13]) grid(x = 1)\n"
    "{\n"
    "  store %y[0], (cast %a : f64)\n"
    "  store %y[1], (cast %b : f64)\n"
    "  store %y[2], (cast %c : f64)\n"
    "  store %y[3], (cast %d : f64)\n"
    "  store %y[4], (cast %e : f64)\n"
    "  store %y[5], (cast %f : f64)\n"
    "  store %y[6], (cast %g : f64)\n"
    "  store %y[7], (cast %h : f64)\n"
    "  store %y[8], (cast %i : f64)\n"
    "  store %y[9], %j\n"
    "  %one = if %k { yield 1.0 } else { yield 0.0 }\n"
    "  store %y[10], (cast %one : f64)\n"
    "  store %y[11], (cast %l : f64)\n"
    "  store %y[12], (cast %m : f64)\n"
    "}\n";
typedef bool scalars_function(int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                              uint64_t, float, double, bool, uint16_t, uint16_t,
                              const grout_array *);

/* More of them than there are registers, each at both ends of its type. */
TEST(test_scalars) {
    subject it;
    scalars_function *call =
        (scalars_function *)load(&it, scalars, (grout_kernel_function_options){0});
    double y[13];
    const grout_array to = {.dtype = GROUT_DTYPE_F64, .rank = 1, .dims = {13}, .data = y};
    ck_assert(call(INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, INT32_MIN, UINT32_MAX, -(1LL << 52),
                   1ULL << 53, 1.5f, -0.1, true, 0x3e00, 0x3fc0, &to));
    const double wanted[13] = {INT8_MIN,   UINT8_MAX, INT16_MIN, UINT16_MAX, INT32_MIN,
                               UINT32_MAX, -0x1p52,   0x1p53,    1.5,        -0.1,
                               1,          1.5,       1.5};
    for (int i = 0; i < 13; i++) {
        ck_assert_msg(y[i] == wanted[i], "scalar %d: %g, not %g", i, y[i], wanted[i]);
    }
    ck_assert(call(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, false, 0, 0, &to));
    for (int i = 0; i < 13; i++) {
        ck_assert_double_eq(y[i], i < 10 ? i + 1 : 0);
    }
    unload(&it);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const grout_array *wrong(int index, grout_array *array, float *memory) {
    *array = make_floats(memory, 4);
    switch (index) {
    case 0:
        return NULL;
    case 1:
        array->data = NULL;
        break;
    case 2:
        array->dtype = GROUT_DTYPE_I32;
        break;
    case 3:
        array->dims[0] = 5;
        break;
    case 4:
        array->rank = 2;
        array->dims[1] = 1;
        break;
    case 5:
        array->rank = GROUT_RANK_MAX + 1;
        break;
    case 6:
        array->dtype = GROUT_DTYPE_COUNT;
        break;
    case 7:
        array->data = (char *)memory + 1;
        break;
    case 8:
        array->dtype = GROUT_DTYPE_NONE;
        break;
    default:
        array->dims[0] = INT64_MIN;
    }
    return array;
}

static const char *const reasons[] = {
    "'%y' is NULL",
    "'%y' has no data",
    "'%y' is i32[4], not f32[4]",
    "'%y' is f32[5], not f32[4]",
    "'%y' is f32[4, 1], not f32[4]",
    "'%y' has no element type",
    "'%y' has no element type",
    "'%y' has data that is not aligned",
    "'%y' has no element type",
    "not f32[4]",
};

static const char *const remedies[] = {
    "the address of a grout_array of f32[4]",
    "the address of a grout_array of f32[4]",
    "",
    "",
    "",
    "the address of a grout_array of f32[4]",
    "the address of a grout_array of f32[4]",
    "a multiple of 4 bytes",
    "the address of a grout_array of f32[4]",
    "",
};

TEST_EACH(test_wrong, COUNT_OF(reasons)) {
    subject it;
    scale_function *call = (scale_function *)load(&it, scale, (grout_kernel_function_options){0});
    float x[4] = {1, 2, 3, 4}, y[5] = {7, 7, 7, 7, 7};
    const grout_array from = make_floats(x, 4);
    grout_array to;
    ck_assert(!call(&from, 2, wrong(_i, &to, y)));
    ck_assert_int_eq(it.said.code, GROUT_DIAG_BAD_ARGUMENT);
    ck_assert_msg(strstr(it.said.message, reasons[_i]) != NULL, "%s", it.said.message);
    ck_assert_msg(strstr(it.said.help, remedies[_i]) != NULL, "%s", it.said.help);
    for (int i = 0; i < 5; i++) {
        ck_assert_float_eq(y[i], 7);
    }
    unload(&it);
}

TEST(test_overlap) {
    subject it;
    scale_function *call = (scale_function *)load(&it, scale, (grout_kernel_function_options){0});
    float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const grout_array from = make_floats(memory, 4), touching = make_floats(memory + 3, 4),
                      apart = make_floats(memory + 4, 4);
    ck_assert(!call(&from, 2, &touching));
    ck_assert_int_eq(it.said.code, GROUT_DIAG_BAD_ARGUMENT);
    ck_assert_msg(strstr(it.said.message, "'%y', which the kernel writes, and '%x'") != NULL, "%s",
                  it.said.message);
    ck_assert_float_eq(memory[3], 4);
    ck_assert(call(&from, 2, &apart));
    ck_assert_float_eq(memory[7], 8);
    unload(&it);
}

/* ---- runs that do not end, and mistakes ------------------------------------------------------ */

static const char one_store[] = "kernel @one_store(%y: out gmem f32[4]) grid(x = 1)\n"
                                "{\n"
                                "  store %y, (broadcast 1.0 : f32[4])\n"
                                "}\n";
static const char stuck[] = "kernel @stuck(%y: out gmem f32[4]) grid(x = 1)\n"
                            "{\n"
                            "  scratch %b : barrier[1]\n"
                            "  barrier_wait %b[0]\n"
                            "  store %y[0], 1.0\n"
                            "}\n";
static const char endless[] = "kernel @endless(%y: out gmem f32[4]) grid(x = 1)\n"
                              "{\n"
                              "  for %i in 0..1000 {\n"
                              "    store %y[0], 1.0\n"
                              "  }\n"
                              "}\n";
static const char racy[] = "kernel @racy(%y: out gmem f32[4]) grid(x = 2)\n"
                           "{\n"
                           "  store %y[0], (cast (axis_index x) : f32)\n"
                           "}\n";
static const char equal[] = "kernel @equal(%y: out gmem f32[4]) grid(x = 2)\n"
                            "{\n"
                            "  store %y, (broadcast 1.0 : f32[4])\n"
                            "}\n";
typedef bool one_array_function(const grout_array *y);

static bool say_stop(void *payload, const grout_progress *progress) {
    (void)payload;
    (void)progress;
    return false;
}

static const struct {
    const char *text;
    grout_kernel_function_options options;
    bool is_done;
    grout_diag_code code;
} ends[] = {
    {stuck, {.is_checked = false}, false, GROUT_DIAG_DEADLOCK},
    {stuck, {.is_checked = true}, false, GROUT_DIAG_DEADLOCK},
    {endless, {.launch = {.max_steps = 100}}, false, GROUT_DIAG_STEP_LIMIT},
    {endless, {.launch = {.progress = say_stop}}, false, GROUT_DIAG_INTERRUPTED},
    {endless, {.launch = {.max_memory = 1}}, false, GROUT_DIAG_OUT_OF_MEMORY},
    {racy, {.is_checked = false}, true, GROUT_DIAG_NONE},
    {racy, {.is_checked = true}, false, GROUT_DIAG_GMEM_RACE},
    {equal, {.is_checked = false}, true, GROUT_DIAG_NONE},
    {equal, {.is_checked = true}, true, GROUT_DIAG_SAME_VALUE_RACE},
};

TEST_EACH(test_end, COUNT_OF(ends)) {
    subject it;
    one_array_function *call = (one_array_function *)load(&it, ends[_i].text, ends[_i].options);
    float y[4] = {0};
    const grout_array to = make_floats(y, 4);
    ck_assert_int_eq(call(&to), ends[_i].is_done);
    ck_assert_int_eq(it.said.code, ends[_i].code);
    ck_assert_uint_eq(it.said.calls, ends[_i].code != GROUT_DIAG_NONE);
    unload(&it);
}

/* ---- what a verdict holds for ---------------------------------------------------------------- */

/* Which of two CTAs comes first decides what is stored. */
static const char by_chance[] = "kernel @by_chance(%y: out gmem f32[4]) grid(x = 2)\n"
                                "{\n"
                                "  scratch %turn : gmem i32[1] init(0)\n"
                                "  %was = atomic_fetch_add %turn[0], 1\n"
                                "  if (eq %was, 0) {\n"
                                "    store %y, (broadcast 1.0 : f32[4])\n"
                                "  }\n"
                                "}\n";

/* How many verdicts there were, and the last of them. */
typedef struct judged {
    uint32_t calls;
    grout_verdict verdict;
    bool holds, has_reason;
} judged;

static void note_verdict(void *payload, const grout_check_summary *summary) {
    subject *it = payload;
    judged *told = it->told;
    told->calls++;
    told->verdict = summary->verdict;
    told->holds = summary->is_well_synchronised;
    told->has_reason = summary->not_well_synchronised_because[0] != '\0';
}

static const struct {
    const char *text;
    grout_kernel_function_options options;
    judged told;
} verdicts[] = {
    {one_store, {.is_checked = true}, {1, GROUT_VERDICT_CLEAN, true, false}},
    {by_chance, {.is_checked = true}, {1, GROUT_VERDICT_CLEAN, false, true}},
    {racy, {.is_checked = true}, {1, GROUT_VERDICT_ERROR, false, true}},
    {equal, {.is_checked = true}, {1, GROUT_VERDICT_CLEAN, true, false}},
    {stuck, {.is_checked = true}, {1, GROUT_VERDICT_ERROR, false, true}},
    {endless,
     {.is_checked = true, .launch = {.max_steps = 10}},
     {1, GROUT_VERDICT_INCOMPLETE, false, true}},
    {one_store, {.is_checked = false}, {0, GROUT_VERDICT_CLEAN, false, false}},
};

TEST_EACH(test_verdict, COUNT_OF(verdicts)) {
    subject it;
    judged told = {0};
    grout_kernel_function_options options = verdicts[_i].options;
    options.judge = note_verdict;
    one_array_function *call = (one_array_function *)load(&it, verdicts[_i].text, options);
    it.told = &told;
    float y[4] = {0};
    const grout_array to = make_floats(y, 4);
    (void)call(&to);
    ck_assert_uint_eq(told.calls, verdicts[_i].told.calls);
    ck_assert_int_eq(told.verdict, verdicts[_i].told.verdict);
    ck_assert_int_eq(told.holds, verdicts[_i].told.holds);
    ck_assert_int_eq(told.has_reason, verdicts[_i].told.has_reason);
    told.calls = 0;
    ck_assert(!call(NULL)); /* nothing has begun */
    ck_assert_uint_eq(told.calls, 0);
    unload(&it);
}

/* ---- making one ----------------------------------------------------------------------------- */

TEST_EACH(test_options, 5) {
    bound_text text = bind_text(scale, NULL, 0);
    grout_argument argument = {0};
    grout_kernel_function_options options = {.launch = {.module = text.bound, .kernel = 1}};
    const char *wanted = "";
    switch (_i) {
    case 0:
        options.launch.module = text.symbolic;
        wanted = "a bound module";
        break;
    case 1:
        options.launch.kernel = 2;
        wanted = "no kernel";
        break;
    case 2:
        options.launch.kernel = 0;
        wanted = "no kernel";
        break;
    case 3:
        options.launch.arguments = &argument;
        wanted = "has arguments";
        break;
    default:
        options.is_checked = true;
        options.launch.observer_count = GROUT_OBSERVERS_MAX;
        wanted = "too many observers";
    }
    ck_assert_ptr_null(grout_kernel_function_make(&options, text.diags));
    ck_assert_int_eq(get_code(text.diags), GROUT_DIAG_BAD_ARGUMENT);
    ck_assert_msg(strstr(get_said(text.diags), wanted) != NULL, "%s", get_said(text.diags));
    free_text(&text);
    grout_kernel_function_free(NULL);
}

/* What a program sets, by words. */
static const struct {
    const char *option, *value;
    bool is_taken;
} words[] = {
    {"schedule", "random", true},
    {"schedule", "pct:3", true},
    {"schedule", "pct", false},
    {"schedule", "pct:0", false},
    {"schedule", "replay", false},
    {"schedule", NULL, false},
    {"timing", "eager", true},
    {"timing", "late", false},
    {"numerics", "exact", true},
    {"numerics", "", false},
    {"seed", "18446744073709551615", true},
    {"seed", "18446744073709551616", false},
    {"seed", "-1", false},
    {"sms", "4294967296", false},
    {"resident", "0", false},
    {"threads", "2", true},
    {"max-steps", "2147483648", true},
    {"max-steps", "2147483649", false},
    {"max-memory", "1000000", true},
    {"non-finite", NULL, true},
    {"full-arrays", "yes", false},
    {"checked", NULL, true},
    {"format", "json", false},
};

TEST_EACH(test_words, COUNT_OF(words)) {
    grout_function_options *options = grout_function_options_new(NULL);
    grout_diags *diags = grout_diags_new();
    ck_assert_int_eq(grout_function_options_set(options, words[_i].option, words[_i].value, diags),
                     words[_i].is_taken);
    ck_assert_int_eq(get_code(diags),
                     words[_i].is_taken ? GROUT_DIAG_NONE : GROUT_DIAG_BAD_ARGUMENT);
    ck_assert(!grout_function_options_set(options, "nothing", NULL, NULL));
    grout_diags_free(diags);
    grout_function_options_free(options);
    grout_function_options_free(NULL);
}

/* Options that were set hold for the calls of a function, and end before it. */
static bool run_within(subject *it, const char *option, const char *value) {
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    const grout_array from = make_floats(x, 4), to = make_floats(y, 4);
    *it = (subject){.text = bind_text(scale, NULL, 0)};
    grout_function_options *options = grout_function_options_new(NULL);
    ck_assert(grout_function_options_set(options, option, value, NULL));
    grout_function_options_set_callbacks(
        options, &(grout_function_callbacks){.report = keep, .payload = it});
    it->function = grout_kernel_function_new(it->text.bound, 1, options, it->text.diags);
    grout_function_options_free(options);
    const bool is_done = ((scale_function *)grout_kernel_function_get(it->function))(&from, 2, &to);
    ck_assert(!is_done || y[3] == 8);
    unload(it);
    return is_done;
}

TEST(test_set_options) {
    subject it;
    ck_assert(run_within(&it, "checked", NULL));
    ck_assert(run_within(&it, "schedule", "pct:2"));
    ck_assert(!run_within(&it, "max-steps", "1"));
    ck_assert_int_eq(it.said.code, GROUT_DIAG_STEP_LIMIT);
}

/* ---- several OS threads --------------------------------------------------------------------- */

typedef struct caller {
    scale_function *call;
    float by;
    bool is_right;
} caller;

static void *call_often(void *payload) {
    caller *c = payload;
    c->is_right = true;
    for (int round = 0; round < 20; round++) {
        float x[4] = {1, 2, 3, 4}, y[4] = {0};
        const grout_array from = make_floats(x, 4), to = make_floats(y, 4);
        c->is_right = c->is_right && c->call(&from, c->by, &to);
        for (int i = 0; i < 4; i++) {
            c->is_right = c->is_right && y[i] == x[i] * c->by;
        }
    }
    return NULL;
}

TEST(test_threads) {
    subject it;
    scale_function *call =
        (scale_function *)load(&it, scale, (grout_kernel_function_options){.is_checked = true});
    pthread_t threads[4];
    caller callers[4];
    for (int i = 0; i < 4; i++) {
        callers[i] = (caller){.call = call, .by = (float)i + 2};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(callers[i].is_right);
    }
    unload(&it);
}
