/* check_synchronised.c - drawn kernels that synchronise: rings, clusters, grids, meetings,
 * tensor memory, rows by TMA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: check_synchronised right|mistakes|print|print-mistakes KIND FIRST COUNT [RUNS]
 *
 * right: each kernel runs RUNS times (3) under the timings and schedules in turn. There is nothing
 * to find, the verdict holds for every schedule unless the generator says otherwise, and the
 * outputs are the sums that it says. mistakes: the same kernels with one operation dropped, moved
 * or changed. What the checker says about memory is compared with the oracle, which knows every
 * access of every byte: each of its pairs of lines is one of the oracle's, and it is silent about
 * an object only if the oracle is. The machine's clocks are compared with what each actor knows by
 * history.h. Runs that are clean under every schedule compute the same. What fails is printed.
 * Closing line: 'N passed, N failed'.
 */
#include "draw.h"
#include "oracle.h"

#include "grout-internal/interp.h"
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    grout_module *bound;
    const grout_kernel *kernel;
    draw_sums sums;
    bool has_history; /* nothing weaker than usual in it */
    bool has_tensors; /* accumulators are in memory, and not a thread's own */
    grout_argument arguments[2];
    int32_t *input;
} trial;

typedef struct totals {
    uint64_t passed, failed, skipped; /* kernels; skipped: not legal */
    uint64_t runs, racy, other;       /* racy: the oracle has a pair; other: another finding */
    uint64_t pairs, comparisons;
    uint64_t uncertified;
    uint64_t histories; /* runs in which the clocks were held against the history */
} totals;

/* ---- arguments ------------------------------------------------------------------------------- */

static grout_dtype get_dtype(const trial *t, uint32_t i) {
    const grout_param *param = grout_module_get_param(t->bound, t->kernel, i);
    return (grout_dtype)grout_object_get_type(t->bound, param->object)->dtype;
}

/* Where a source's tile has what an element of a result's tile is made of. */
static size_t get_place(const trial *t, uint32_t source, uint32_t element) {
    const uint32_t rows = t->sums.elements / t->sums.width;
    return ((size_t)source * rows + element / t->sums.width) * t->sums.pitch +
           element % t->sums.width;
}

static bool make_arguments(trial *t, uint64_t seed) {
    const uint32_t rows = t->sums.elements / t->sums.width;
    const uint32_t counts[2] = {t->sums.sources * rows * t->sums.pitch,
                                t->sums.results * t->sums.elements};
    t->input = calloc(counts[0] + 1u, sizeof *t->input);
    for (uint32_t i = 0; i < 2; i++) {
        t->arguments[i].size = (size_t)counts[i] * grout_dtype_get_info(get_dtype(t, i))->bytes;
        t->arguments[i].data = calloc(1, t->arguments[i].size + 1);
        if (t->arguments[i].data == NULL || t->input == NULL) {
            return false;
        }
    }
    for (uint32_t k = 0; k < counts[0]; k++) {
        t->input[k] = (int32_t)((k * 7 + k / 16 * 5 + seed) % 17) - 8;
        grout_element_from_double(get_dtype(t, 0), t->input[k],
                                  (uint8_t *)t->arguments[0].data +
                                      k * (size_t)grout_dtype_get_info(get_dtype(t, 0))->bytes);
    }
    return true;
}

static bool has_right_sums(const trial *t) {
    const grout_dtype type = get_dtype(t, 1);
    const uint8_t *data = t->arguments[1].data;
    for (uint32_t result = 0; result < t->sums.results; result++) {
        for (uint32_t k = 0; k < t->sums.elements; k++) {
            const size_t at = (size_t)result * t->sums.elements + k;
            double wanted = 0;
            for (uint32_t source = 0; source < t->sums.sources; source++) {
                wanted += (double)t->sums.weights[(size_t)result * t->sums.sources + source] *
                          t->input[get_place(t, source, k)];
            }
            const double value =
                grout_element_to_double(type, data + at * grout_dtype_get_info(type)->bytes);
            if (!(value == wanted)) {
                printf("%%p1, tile %" PRIu32 ", element %" PRIu32 ": %g instead of %g\n", result, k,
                       value, wanted);
                return false;
            }
        }
    }
    return true;
}

static void deinit(trial *t) {
    free(t->arguments[0].data);
    free(t->arguments[1].data);
    free(t->input);
    free(t->sums.weights);
    grout_module_free(t->bound);
}

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run {
    grout_run_status status;
    grout_checker *checker;
    oracle *oracle;
    grout_check_summary summary;
} run;

enum { STEPS_MAX = 400000 };

static const char *const TIMINGS[] = {"lazy", "eager", "random"};

/* CTAs that fit at once, where that may be few: another number in each run; 0: all of them. */
static uint32_t get_resident(const trial *t, uint64_t number) {
    const uint32_t clusters =
        t->sums.resident_max == 0 ? 0 : t->sums.resident_max / t->sums.cluster_size;
    return clusters == 0 ? 0 : (uint32_t)(number % clusters) * t->sums.cluster_size;
}

/* The first three runs are fair, one of each timing; the others are drawn. */
static bool start(trial *t, uint64_t number, bool has_oracle, grout_diags *diags, run *out) {
    const grout_checker_options options = {.max_findings = 1000};
    out->checker = grout_checker_new(&options, diags);
    out->oracle = has_oracle ? oracle_new(t->has_history) : NULL;
    grout_launch launch = {.module = t->bound,
                           .kernel = 1,
                           .arguments = t->arguments,
                           .argument_count = 2,
                           .timing = (grout_timing)(number % 3),
                           .schedule = number < 3            ? GROUT_SCHEDULE_FAIR
                                       : number / 3 % 4 == 0 ? GROUT_SCHEDULE_PCT
                                                             : GROUT_SCHEDULE_RANDOM,
                           .pct_depth = 3,
                           .seed = number,
                           .resident = get_resident(t, number),
                           .max_steps = t->sums.steps_max == 0 ? STEPS_MAX : t->sums.steps_max,
                           .track_undefined = true,
                           .observers = {grout_checker_get_observer(out->checker)},
                           .observer_count = 1};
    if (has_oracle) {
        launch.observers[launch.observer_count++] = oracle_get_observer(out->oracle);
    }
    memset(t->arguments[1].data, 0, t->arguments[1].size);
    grout_machine *machine = grout_machine_new(&launch, diags);
    if (machine == NULL) {
        return false;
    }
    out->status = grout_machine_run(machine, 0, diags);
    grout_machine_free(machine);
    out->summary = grout_checker_get_summary(out->checker, out->status == GROUT_RUN_STEP_LIMIT);
    return true;
}

static void finish(run *it) {
    grout_checker_free(it->checker);
    oracle_free(it->oracle);
}

static void print_findings(const run *it, uint64_t number) {
    printf("run %" PRIu64 " (%s): %s%s\n", number, TIMINGS[number % 3],
           it->summary.is_well_synchronised ? "holds for every schedule"
                                            : it->summary.not_well_synchronised_because,
           it->status == GROUT_RUN_DONE ? "" : ", did not end");
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(it->checker, i);
        printf("  %s at line %" PRIu32 ", %" PRIu32 "\n", grout_diag_get(finding->code)->text,
               finding->primary.line, finding->related.line);
    }
}

/* ---- right kernels --------------------------------------------------------------------------- */

static bool is_clean(trial *t, uint64_t number, grout_diags *diags, totals *sum) {
    run it = {.status = GROUT_RUN_FAILED};
    const bool ran = start(t, number, false, diags, &it);
    bool is_right = ran && it.status == GROUT_RUN_DONE && grout_checker_get_count(it.checker) == 0;
    is_right = is_right && (it.summary.is_well_synchronised || !t->sums.is_certified);
    is_right = is_right && (!t->sums.is_certified ||
                            (it.summary.assuming[0] != '\0') == (get_resident(t, number) > 0));
    sum->uncertified += ran && !it.summary.is_well_synchronised;
    sum->runs++;
    if (ran && !is_right) {
        print_findings(&it, number);
    }
    if (is_right && !has_right_sums(t)) {
        printf("run %" PRIu64 " (%s)\n", number, TIMINGS[number % 3]);
        is_right = false;
    }
    finish(&it);
    return is_right;
}

static bool check_right(trial *t, uint64_t seed, uint64_t runs, grout_diags *diags, totals *sum) {
    bool is_right = make_arguments(t, seed);
    for (uint64_t i = 0; i < runs && is_right; i++) {
        is_right = is_clean(t, i, diags, sum);
    }
    return is_right;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static bool is_about_memory(const trial *t, grout_diag_code code) {
    static const grout_diag_code CODES[] = {GROUT_DIAG_MISSING_COMMIT_SMEM,
                                            GROUT_DIAG_MISSING_COMMIT_SMEM_WAR,
                                            GROUT_DIAG_MISSING_COMMIT_GMEM,
                                            GROUT_DIAG_ASYNC_NOT_AWAITED,
                                            GROUT_DIAG_SMEM_RACE,
                                            GROUT_DIAG_GMEM_RACE,
                                            GROUT_DIAG_SMEM_SOURCE_REUSE,
                                            GROUT_DIAG_MMA_OPERAND_REUSE,
                                            GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE,
                                            GROUT_DIAG_TENSORMAP_IN_FLIGHT,
                                            GROUT_DIAG_CLUSTER_SMEM_REUSE,
                                            GROUT_DIAG_INSUFFICIENT_SCOPE,
                                            GROUT_DIAG_TMEM_RACE,
                                            GROUT_DIAG_TMEM_LOAD_NOT_AWAITED,
                                            GROUT_DIAG_TMEM_STORE_NOT_COMMITTED,
                                            GROUT_DIAG_TENSOR_CORE_ORDER,
                                            GROUT_DIAG_TENSOR_PIPE_ORDER};
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++) {
        if (CODES[i] == code) {
            return true;
        }
    }
    return t->has_tensors && code == GROUT_DIAG_ACCUMULATOR_IN_FLIGHT;
}

static bool names_object(const grout_finding *finding, const char *name) {
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < finding->access_count; i++) {
        const char *box = finding->accesses[i].box;
        if (strncmp(box, name, length) != 0) {
            continue;
        }
        const char *rest = box + length;
        rest += strncmp(rest, "_too", 4) == 0 ? 4 : 0; /* its alias (draw.c): the same bytes */
        if (strchr("[. ", rest[0]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool has_pair(const oracle_pair *pairs, uint32_t count, const grout_finding *finding) {
    for (uint32_t i = 0; i < count; i++) {
        if ((pairs[i].first == finding->primary.line && pairs[i].second == finding->related.line) ||
            (pairs[i].second == finding->primary.line && pairs[i].first == finding->related.line)) {
            return true;
        }
    }
    return false;
}

/* A finding about memory that names this object. */
static bool has_finding(const trial *t, const run *it, const char *name) {
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(it->checker, i);
        if (is_about_memory(t, finding->code) && names_object(finding, name)) {
            return true;
        }
    }
    return false;
}

/* Whether the line brings bytes that no phase waits for. Races with them need no finding. */
static bool brings_late_bytes(const run *it, uint32_t line) {
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(it->checker, i);
        if ((finding->code == GROUT_DIAG_BARRIER_OVERRUN ||
             finding->code == GROUT_DIAG_BARRIER_TX_MISMATCH) &&
            finding->primary.line == line && finding->related.line == 0) {
            return true;
        }
    }
    return false;
}

/* Bytes of one phase that came to another, and the like: what a wait then knows is not defined. */
static bool has_broken_phase(const run *it) {
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_diag_code code = grout_checker_get_finding(it->checker, i)->code;
        if (code == GROUT_DIAG_BARRIER_OVERRUN || code == GROUT_DIAG_BARRIER_TX_MISMATCH ||
            code == GROUT_DIAG_BARRIER_WRONG_PARITY) {
            return true;
        }
    }
    return false;
}

static const char *get_name(const grout_module *module, const grout_object *object) {
    return grout_module_get_string(module, grout_module_get_value(module, object->value)->name);
}

static bool agrees(const trial *t, const run *it, totals *sum) {
    const oracle_pair *pairs = NULL;
    const uint32_t count = oracle_find(it->oracle, &pairs);
    bool is_right = true;
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(it->checker, i);
        if (is_about_memory(t, finding->code) && !has_pair(pairs, count, finding)) {
            printf("only the checker has lines %" PRIu32 " and %" PRIu32 "\n",
                   finding->primary.line, finding->related.line);
            is_right = false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        const grout_object *object = grout_module_get_object(t->bound, pairs[i].object);
        (void)snprintf(name, sizeof name, "%%%s", get_name(t->bound, object));
        if (!has_finding(t, it, name) && !brings_late_bytes(it, pairs[i].first) &&
            !brings_late_bytes(it, pairs[i].second)) {
            printf("only the oracle has lines %" PRIu32 " and %" PRIu32 ", of %s\n", pairs[i].first,
                   pairs[i].second, name);
            is_right = false;
        }
    }
    oracle_pair other;
    const bool has_history = t->has_history && !has_broken_phase(it);
    if (oracle_get_differences(it->oracle, &other) > 0 && has_history) {
        printf("the clocks and the history differ about lines %" PRIu32 " and %" PRIu32 "\n",
               other.first, other.second);
        is_right = false;
    }
    sum->histories += has_history;
    sum->pairs += count;
    sum->racy += count > 0;
    sum->other += count == 0 && grout_checker_get_count(it->checker) > 0;
    sum->comparisons += oracle_get_comparisons(it->oracle);
    return is_right;
}

/* A verdict for every schedule is the verdict of every run. */
typedef struct verdicts {
    bool is_certified, has_errors, has_none;
    uint64_t certificate; /* identities of the run that holds for all */
} verdicts;

static bool note_verdict(verdicts *all, const run *it) {
    uint64_t identities = 0;
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        identities += grout_checker_get_finding(it->checker, i)->identity;
    }
    all->has_errors = all->has_errors || it->summary.error_count > 0;
    all->has_none = all->has_none || it->summary.error_count == 0;
    if (it->summary.is_well_synchronised) {
        if (all->is_certified && all->certificate != identities) {
            printf("two runs, each of which holds for every schedule, have other findings\n");
            return false;
        }
        all->is_certified = true;
        all->certificate = identities;
    }
    if (all->is_certified && all->has_errors && all->has_none) {
        printf("a run that holds for every schedule, and another with another verdict\n");
        return false;
    }
    return true;
}

/* What a run computes that is clean under every schedule, all of them compute. */
static bool has_same_output(const trial *t, const run *it, uint8_t **first) {
    const size_t size = t->arguments[1].size;
    if (!it->summary.is_well_synchronised || grout_checker_get_count(it->checker) > 0) {
        return true;
    }
    if (*first == NULL) {
        *first = malloc(size);
        return *first != NULL && memcpy(*first, t->arguments[1].data, size) != NULL;
    }
    if (memcmp(*first, t->arguments[1].data, size) != 0) {
        printf("clean under every schedule, and the outputs of two runs differ\n");
        return false;
    }
    return true;
}

static bool check_mistake(trial *t, uint64_t seed, uint64_t runs, grout_diags *diags, totals *sum) {
    bool is_right = make_arguments(t, seed);
    verdicts all = {false};
    uint8_t *first = NULL;
    for (uint64_t i = 0; i < runs && is_right; i++) {
        run it = {.status = GROUT_RUN_FAILED};
        const uint64_t number = i < 3 ? i : seed * 7 + i;
        is_right = start(t, number, true, diags, &it);
        is_right = is_right && agrees(t, &it, sum) && note_verdict(&all, &it) &&
                   has_same_output(t, &it, &first);
        sum->runs++;
        if (!is_right) {
            print_findings(&it, number);
        }
        finish(&it);
    }
    free(first);
    sum->uncertified += all.has_errors && all.has_none; /* depends on the schedule, and says so */
    return is_right;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool draw_kernel(const char *kind, uint64_t seed, grout_text *out, draw_sums *sums) {
    if (strcmp(kind, "rings") == 0) {
        draw_rings(seed, out, sums);
    } else if (strcmp(kind, "clusters") == 0) {
        draw_clusters(seed, out, sums);
    } else if (strcmp(kind, "grids") == 0) {
        draw_grids(seed, out, sums);
    } else if (strcmp(kind, "meetings") == 0) {
        draw_meetings(seed, out, sums);
    } else if (strcmp(kind, "tensors") == 0) {
        draw_tensors(seed, out, sums);
    } else if (strcmp(kind, "pairs") == 0) {
        draw_pairs(seed, out, sums);
    } else if (strcmp(kind, "cancels") == 0) {
        draw_cancels(seed, out, sums);
    } else if (strcmp(kind, "rows") == 0) {
        draw_rows(seed, out, sums);
    } else {
        return false;
    }
    return true;
}

static bool bind(trial *t, const grout_text *text, grout_diags *diags) {
    grout_module *symbolic = grout_parse("drawn.grout", text->data, text->size, diags);
    t->bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    grout_module_free(symbolic);
    const grout_arch arch = t->has_tensors ? GROUT_ARCH_SM_100A : GROUT_ARCH_OWN;
    if (t->bound == NULL || !grout_verify(t->bound, arch, diags)) {
        return false;
    }
    t->kernel = grout_module_get_kernel(t->bound, 1);
    return true;
}

static void print_diags(const grout_diags *diags) {
    grout_text text = {0};
    grout_diags_render(diags, &(grout_render_options){0}, &text);
    printf("%s", text.data == NULL ? "" : text.data);
    grout_text_free(&text);
}

typedef struct command {
    bool has_mistakes, prints;
    const char *kind;
    uint64_t runs;
} command;

static void check_seed(const command *asked, uint64_t seed, totals *sum) {
    trial t = {0};
    grout_text right = {0}, wrong = {0};
    grout_diags *diags = grout_diags_new();
    (void)draw_kernel(asked->kind, asked->has_mistakes ? seed / 4 : seed, &right, &t.sums);
    if (asked->has_mistakes && !draw_mistake(&right, seed, &wrong)) {
        (void)0;
    }
    const grout_text *text = asked->has_mistakes ? &wrong : &right;
    t.has_history = text->data != NULL && strstr(text->data, "relaxed") == NULL &&
                    strstr(text->data, "scope(") == NULL &&
                    strstr(text->data, "atomic_fetch") == NULL;
    t.has_tensors = text->data != NULL && strstr(text->data, ": tmem ") != NULL;
    if (asked->prints) {
        printf("// %s %" PRIu64 "\n%s", asked->kind, seed, text->data);
    } else {
        const bool is_legal = bind(&t, text, diags);
        bool is_right = is_legal;
        if (is_legal && asked->has_mistakes) {
            is_right = check_mistake(&t, seed, asked->runs, diags, sum);
        } else if (is_legal) {
            is_right = check_right(&t, seed, asked->runs, diags, sum);
        }
        sum->skipped += asked->has_mistakes && !is_legal;
        sum->passed += is_right;
        sum->failed += !is_right && (is_legal || !asked->has_mistakes);
        if (!is_right && (is_legal || !asked->has_mistakes)) {
            print_diags(diags);
            printf("---- %s %" PRIu64 " ----\n%s----\n", asked->kind, seed, text->data);
        }
    }
    deinit(&t);
    grout_text_free(&right);
    grout_text_free(&wrong);
    grout_diags_free(diags);
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: check_synchronised right|mistakes|print|print-mistakes "
                        "rings|clusters|grids|meetings|tensors|pairs|cancels FIRST COUNT [RUNS]\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[3], NULL, 10), count = strtoull(argv[4], NULL, 10);
    const command asked = {.has_mistakes = strstr(argv[1], "mistakes") != NULL,
                           .prints = strncmp(argv[1], "print", 5) == 0,
                           .kind = argv[2],
                           .runs = argc > 5 ? strtoull(argv[5], NULL, 10) : 3};
    totals sum = {0};
    for (uint64_t i = 0; i < count && sum.failed < 5; i++) {
        check_seed(&asked, first + i, &sum);
    }
    if (asked.prints) {
        return 0;
    }
    printf("%" PRIu64 " runs, %" PRIu64 " with races (%" PRIu64 " pairs), %" PRIu64
           " with other findings only, %" PRIu64 " not legal, %" PRIu64
           " of this schedule, %" PRIu64 " comparisons, %" PRIu64 " with a history\n",
           sum.runs, sum.racy, sum.pairs, sum.other, sum.skipped, sum.uncertified, sum.comparisons,
           sum.histories);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", sum.passed, sum.failed);
    return sum.failed > 0 || sum.passed == 0 ? 1 : 0;
}
