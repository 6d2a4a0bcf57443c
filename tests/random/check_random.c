/* check_random.c - drawn kernels: the interpreter under every timing against the float64 reference,
 * and the checker, which has nothing to find.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: check_random KIND FIRST COUNT [STRIDE [print | write=FOLDER]]   KIND: table, values,
 * copies, wgmma, mma, groups, updates, tcgen05, forms
 *
 * A kernel that fails is printed. With KERNELS_ENOUGH kernels or more, at least one result of each
 * drawn operation has to be compared; after a few hundred, each operation that drawn.def gives to
 * the kind has been drawn for each of its element types. Closing line: 'N passed, N failed'. print
 * writes the kernels and runs nothing. write=FOLDER runs them, and leaves each that passes there
 * with its inputs and what it has to leave: for tests/differential/gpu/random_on_gpu.py.
 */
#include "cells.h"
#include "draw.h"
#include "files.h"
#include "formats.h"
#include "inputs.h"
#include "prints.h"
#include "reference.h"

#include "grout-internal/interp.h"
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX     32
#define TIMINGS        3
#define KERNELS_ENOUGH 90

typedef struct trial {
    grout_module *bound;
    const grout_kernel *kernel;
    grout_argument arguments[PARAMS_MAX];
    uint8_t *initial[PARAMS_MAX];
    uint8_t *first[PARAMS_MAX]; /* what the first timing gave */
    reference_array arrays[PARAMS_MAX];
    prints printed[TIMINGS];
    reference_output output;
    reference_ops checked;      /* with a result that was compared */
    uint64_t compared, skipped; /* elements */
} trial;

static const char *get_dtype_text(uint32_t dtype) {
    return grout_dtype_get_info((grout_dtype)dtype)->text;
}

static const grout_param *get_param(const trial *t, uint32_t i) {
    return grout_module_get_param(t->bound, t->kernel, i);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static const char *get_name(const trial *t, uint32_t i) {
    const grout_object *object = grout_module_get_object(t->bound, get_param(t, i)->object);
    return grout_module_get_string(t->bound, grout_module_get_value(t->bound, object->value)->name);
}

/* The first letter of the parameter's name. */
static char get_style(const trial *t, uint32_t i) {
    return get_name(t, i)[0];
}

static bool fill(trial *t, uint64_t seed) {
    for (uint32_t i = 0; i < t->kernel->param_count; i++) {
        const grout_param *param = get_param(t, i);
        const grout_type *type = grout_object_get_type(t->bound, param->object);
        const grout_dtype dtype = (grout_dtype)type->dtype;
        reference_array *array = &t->arrays[i];
        array->count = grout_type_get_count(type);
        array->numbers = calloc((size_t)array->count, sizeof *array->numbers);
        array->is_written = calloc((size_t)array->count, sizeof *array->is_written);
        t->arguments[i].size = (size_t)grout_type_get_bytes(type);
        t->arguments[i].data = calloc(1, t->arguments[i].size);
        t->first[i] = calloc(1, t->arguments[i].size);
        t->initial[i] = calloc(1, t->arguments[i].size);
        if (array->numbers == NULL || array->is_written == NULL || t->first[i] == NULL ||
            t->initial[i] == NULL || t->arguments[i].data == NULL) {
            return false;
        }
        for (int64_t k = 0; param->direction != GROUT_DIRECTION_OUT && k < array->count; k++) {
            const uint64_t bits = inputs_draw(dtype, get_style(t, i), seed, (uint64_t)k * 64 + i);
            grout_type_put_element(type, t->initial[i], k, &bits);
            array->numbers[k] = formats_decode(dtype, bits);
            array->is_written[k] = param->direction == GROUT_DIRECTION_INOUT;
        }
    }
    return true;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

static bool compare_array(trial *t, uint32_t i) {
    const grout_type *type = grout_object_get_type(t->bound, get_param(t, i)->object);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    bool is_checked = false;
    for (int64_t k = 0; k < t->arrays[i].count; k++) {
        const reference_number wanted = t->arrays[i].numbers[k];
        uint64_t have = 0;
        grout_element_get(dtype, t->first[i], k, &have);
        const reference_number value = formats_decode(dtype, have);
        if (!t->arrays[i].is_written[k]) {
            continue;
        }
        t->compared++;
        t->skipped += isinf(wanted.bound) ? 1 : 0;
        is_checked = is_checked || !isinf(wanted.bound);
        const bool is_wide = formats_is_wide(dtype) && wanted.bound == 0;
        if (!prints_is_near(value.value, wanted) || (is_wide && value.wide != wanted.wide)) {
            printf("parameter %" PRIu32 " (%s), element %" PRId64 ": %.17g (0x%" PRIx64
                   "), and the reference has %.17g within %.3g\n",
                   i, get_dtype_text(dtype), k, value.value, have, wanted.value, wanted.bound);
            return false;
        }
    }
    if (is_checked) {
        reference_ops_add(&t->checked, &t->arrays[i].ops);
    }
    return true;
}

static bool compare_prints(trial *t) {
    bool is_right = true;
    for (uint32_t i = 0; i < TIMINGS; i++) {
        is_right = is_right && prints_agree(&t->printed[i], &t->output);
    }
    for (uint32_t i = 0; i < t->output.line_count; i++) {
        const reference_line *line = &t->output.lines[i];
        bool is_checked = true;
        for (int64_t k = 0; k < line->count; k++) {
            is_checked = is_checked && !isinf(line->numbers[k].bound);
        }
        if (is_checked) {
            reference_ops_add(&t->checked, &line->ops);
        }
    }
    return is_right;
}

static bool check_against_reference(trial *t) {
    const char *why = NULL;
    if (!reference_run(t->bound, 1, t->arrays, &t->output, &why)) {
        if (strstr(why, "rounding decides") != NULL) {
            return true; /* nothing to compare with */
        }
        printf("the reference has no %s: in tests/random/reference/ a function of floats is a case "
               "of rounding.c, of integers one of integers.c, another operation one of run_op in "
               "reference.c\n",
               why);
        return false;
    }
    for (uint32_t i = 0; i < t->kernel->param_count; i++) {
        if (get_param(t, i)->direction != GROUT_DIRECTION_IN && !compare_array(t, i)) {
            return false;
        }
    }
    return compare_prints(t);
}

/* What the first timing gave is kept, the others have to give the same bits. */
static bool keep_outputs(trial *t, grout_timing timing) {
    for (uint32_t i = 0; i < t->kernel->param_count; i++) {
        if (timing == GROUT_TIMING_LAZY) {
            memcpy(t->first[i], t->arguments[i].data, t->arguments[i].size);
        } else if (memcmp(t->first[i], t->arguments[i].data, t->arguments[i].size) != 0) {
            printf("%%p%" PRIu32 " depends on the timing\n", i);
            return false;
        }
    }
    return true;
}

static bool is_expected(grout_diag_code code) {
    return code == GROUT_DIAG_DIVISION_BY_ZERO || code == GROUT_DIAG_OUTPUT_NOT_WRITTEN;
}

static bool run(trial *t, grout_timing timing, uint64_t seed, grout_diags *diags) {
    grout_checker *checker = grout_checker_new(NULL, diags);
    grout_launch launch = {.module = t->bound,
                           .kernel = 1,
                           .arguments = t->arguments,
                           .argument_count = t->kernel->param_count,
                           .timing = timing,
                           .schedule = timing == GROUT_TIMING_RANDOM ? GROUT_SCHEDULE_RANDOM
                                                                     : GROUT_SCHEDULE_FAIR,
                           .seed = seed,
                           .track_undefined = true,
                           .observers = {grout_checker_get_observer(checker)},
                           .observer_count = 1,
                           .print_whole_arrays = true,
                           .print = prints_add,
                           .payload = &t->printed[timing]};
    for (uint32_t i = 0; i < t->kernel->param_count; i++) {
        memcpy(t->arguments[i].data, t->initial[i], t->arguments[i].size);
    }
    grout_machine *machine = grout_machine_new(&launch, diags);
    bool is_right = machine != NULL && grout_machine_run(machine, 0, diags) == GROUT_RUN_DONE;
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        if (!is_expected(finding->code)) {
            printf("%s at line %" PRIu32 "\n", grout_diag_get(finding->code)->text,
                   finding->primary.line);
            is_right = false;
        }
    }
    grout_machine_free(machine);
    grout_checker_free(checker);
    return is_right && keep_outputs(t, timing);
}

static void deinit(trial *t) {
    for (uint32_t i = 0; t->kernel != NULL && i < t->kernel->param_count; i++) {
        free(t->arguments[i].data);
        free(t->first[i]);
        free(t->initial[i]);
        free(t->arrays[i].numbers);
        free(t->arrays[i].is_written);
    }
    for (uint32_t i = 0; i < TIMINGS; i++) {
        prints_deinit(&t->printed[i]);
    }
    reference_output_deinit(&t->output);
    grout_module_free(t->bound);
}

static bool check(trial *t, const grout_text *text, uint64_t seed, grout_diags *diags) {
    static const grout_timing timings[TIMINGS] = {GROUT_TIMING_LAZY, GROUT_TIMING_EAGER,
                                                  GROUT_TIMING_RANDOM};
    grout_module *symbolic = grout_parse("drawn.grout", text->data, text->size, diags);
    t->bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    grout_module_free(symbolic);
    const grout_arch arch =
        strstr(text->data, ": tmem ") == NULL ? GROUT_ARCH_OWN : GROUT_ARCH_SM_100A;
    if (t->bound == NULL || !grout_verify(t->bound, arch, diags)) {
        return false;
    }
    t->kernel = grout_module_get_kernel(t->bound, 1);
    bool is_right = fill(t, seed);
    for (uint32_t i = 0; i < TIMINGS && is_right; i++) {
        is_right = run(t, timings[i], seed, diags);
    }
    return is_right && check_against_reference(t);
}

static void print_diags(const grout_diags *diags) {
    grout_text text = {0};
    grout_diags_render(diags, &(grout_render_options){0}, &text);
    printf("%s", text.data == NULL ? "" : text.data);
    grout_text_free(&text);
}

/* ---- as files -------------------------------------------------------------------------------- */

/* NAME.grout, NAME.PARAMETER.npy of each input, and of each output NAME.PARAMETER.want.npy and,
 * where it is not exact, NAME.PARAMETER.bounds.npy. */
static bool write_files(const trial *t, const char *folder, const char *name,
                        const grout_text *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s.grout", name);
    bool is_written = files_write_text(folder, path, text);
    for (uint32_t i = 0; i < t->kernel->param_count && is_written; i++) {
        const grout_param *param = get_param(t, i);
        const grout_type *type = grout_object_get_type(t->bound, param->object);
        if (param->direction != GROUT_DIRECTION_OUT) {
            (void)snprintf(path, sizeof path, "%s.%s", name, get_name(t, i));
            is_written = files_write_array(folder, path, type, t->initial[i]);
        }
        if (param->direction != GROUT_DIRECTION_IN && is_written) {
            (void)snprintf(path, sizeof path, "%s.%s.want", name, get_name(t, i));
            is_written = files_write_array(folder, path, type, t->first[i]);
            (void)snprintf(path, sizeof path, "%s.%s.bounds", name, get_name(t, i));
            is_written = is_written && files_write_bounds(folder, path, &t->arrays[i]);
        }
    }
    return is_written;
}

/* ---- the command ----------------------------------------------------------------------------- */

typedef struct totals {
    uint64_t passed, failed, compared, skipped;
    reference_ops drawn, checked;
    cells_seen seen; /* of kernels that passed */
} totals;

/* Each draws kernels from seeds; after this many that pass, all cells of the owner have been drawn.
 */
static const struct {
    const char *name;
    void (*draw)(uint64_t seed, grout_text *out);
    drawn_by owner;
    uint64_t enough;
} kinds[] = {
    {"table", draw_table, DRAWN_BY_TABLE, 300},
    {"values", draw_values, DRAWN_BY_VALUES, 400},
    {"copies", draw_copies, DRAWN_BY_COUNT, 0},
    {"wgmma", draw_wgmma, DRAWN_BY_WGMMA, 150},
    {"mma", draw_mma, DRAWN_BY_MMA, 150},
    {"groups", draw_groups, DRAWN_BY_COUNT, 0},
    {"tcgen05", draw_tcgen05, DRAWN_BY_TCGEN05, 80},
    {"updates", draw_updates, DRAWN_BY_UPDATES, 300},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds, FORMS_ENOUGH = 100 };

/* False: there is no such kernel. */
static bool draw_kernel(const char *kind, uint64_t seed, grout_text *out) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            kinds[i].draw(seed, out);
            return true;
        }
    }
    return strcmp(kind, "forms") == 0 && draw_wgmma_form(seed, out);
}

/* Whose cells have to be complete after this many kernels; COUNT: those of none. */
static drawn_by get_owner(const char *kind, uint64_t passed) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kind, kinds[i].name) == 0 && passed >= kinds[i].enough) {
            return kinds[i].owner;
        }
    }
    return strcmp(kind, "forms") == 0 && passed >= FORMS_ENOUGH ? DRAWN_BY_FORMS : DRAWN_BY_COUNT;
}

/* The fast instruction of a GPU has no bound. */
static void drop_approx(grout_text *text) {
    for (char *at = strstr(text->data, " approx\n"); at != NULL; at = strstr(at, " approx\n")) {
        memset(at, ' ', strlen(" approx"));
    }
}

/* folder: where the kernel goes if it passes, or NULL. */
static void check_seed(const char *kind, uint64_t seed, grout_text *text, const char *folder,
                       totals *sum) {
    trial t = {0};
    grout_diags *diags = grout_diags_new();
    if (folder != NULL) {
        drop_approx(text);
    }
    bool is_right = check(&t, text, seed, diags);
    if (is_right && folder != NULL) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s_%" PRIu64, kind, seed);
        is_right = write_files(&t, folder, name, text);
    }
    if (!is_right) {
        print_diags(diags);
        printf("---- %s %" PRIu64 " ----\n%s----\n", kind, seed, text->data);
    }
    if (is_right) {
        cells_see(&sum->seen, t.bound);
    }
    sum->passed += is_right;
    sum->failed += !is_right;
    sum->compared += t.compared;
    sum->skipped += t.skipped;
    reference_ops_add(&sum->drawn, &t.output.ops);
    reference_ops_add(&sum->checked, &t.checked);
    deinit(&t);
    grout_diags_free(diags);
}

/* An operation whose results nobody compares is not tested by being drawn. */
static uint32_t count_unchecked(const totals *sum) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_OP_COUNT && sum->passed >= KERNELS_ENOUGH; i++) {
        if (sum->drawn.has[i] && !sum->checked.has[i]) {
            printf("op '%s' is drawn, and no result of it is compared\n",
                   grout_op_get_info((grout_opcode)i)->text);
            count++;
        }
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: check_random KIND FIRST COUNT [STRIDE [print | write=FOLDER]]\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    const uint64_t stride = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    const bool is_print = argc > 5 && strcmp(argv[5], "print") == 0;
    const char *folder = argc > 5 && strncmp(argv[5], "write=", 6) == 0 ? argv[5] + 6 : NULL;
    totals sum = {0};
    for (uint64_t i = 0; i < count && sum.failed < 5; i++) {
        const uint64_t seed = first + i * stride;
        grout_text text = {0};
        if (!draw_kernel(argv[1], seed, &text)) {
            break;
        }
        if (text.size > 0 && is_print) {
            printf("// %s %" PRIu64 "\n%s", argv[1], seed, text.data);
        } else if (text.size > 0) {
            check_seed(argv[1], seed, &text, folder, &sum);
        }
        grout_text_free(&text);
    }
    if (is_print) {
        return 0;
    }
    /* Where rounding leaves nothing to compare, a test says nothing. */
    const bool is_hollow = sum.skipped * 2 > sum.compared;
    const uint32_t unchecked =
        count_unchecked(&sum) + cells_print_unseen(&sum.seen, get_owner(argv[1], sum.passed));
    printf("%" PRIu64 " elements compared, %" PRIu64 " of them with any value allowed\n",
           sum.compared, sum.skipped);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", sum.passed, sum.failed);
    return sum.failed > 0 || is_hollow || unchecked > 0 ? 1 : 0;
}
