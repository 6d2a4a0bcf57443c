/* check_workers.c - a launch by several OS threads (grout_launch.workers): the values, statistics
 * and findings of one. Each kernel here has a reason to be run by several, or not to be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ARGUMENTS_MAX 4
#define FINDINGS_MAX  16

typedef struct test_subject {
    const char *name, *text; /* text NULL: the kernel of this name */
    bool is_divided;         /* the clusters are shared out, and the result is kept */
} test_subject;

/* Rows of their own, in place, through a GMEM scratch too. */
static const char in_place[] =
    "const N = 64, CTAS = 24\n"
    "kernel @in_place(%x: inout gmem f32[CTAS, N], %y: out gmem f32[CTAS, N]) grid(i = CTAS)\n"
    "{\n"
    "  scratch %g : gmem f32[CTAS, N]\n"
    "  %row = add (load %x[(axis_index i)]), 1.0\n"
    "  store %g[(axis_index i)], %row\n"
    "  store %x[(axis_index i)], (mul (load %g[(axis_index i)]), 2.0)\n"
    "  store %y[(axis_index i)], %row\n"
    "}\n";
/* Neighbours write the same element. */
static const char overlap[] = "const CTAS = 24\n"
                              "kernel @overlap(%y: out gmem f32[CTAS + 1]) grid(i = CTAS)\n"
                              "{\n"
                              "  store %y[ds((axis_index i), 2)], (broadcast 1.0 : f32[2])\n"
                              "}\n";
/* A CTA reads what the one before wrote: with one worker it is there. */
static const char chain[] = "const CTAS = 24\n"
                            "kernel @chain(%x: inout gmem i32[CTAS + 1]) grid(i = CTAS)\n"
                            "{\n"
                            "  %next = add (axis_index i), 1\n"
                            "  store %x[ds(%next, 1)], (add (load %x[ds((axis_index i), 1)]), 1)\n"
                            "}\n";
static const char atomic[] = "const CTAS = 24\n"
                             "kernel @sum(%x: inout gmem i32[1]) grid(i = CTAS)\n"
                             "{\n"
                             "  atomic_add %x, (broadcast 1 : i32[1])\n"
                             "}\n";
static const char printing[] = "const CTAS = 24\n"
                               "kernel @printing(%y: out gmem i32[CTAS]) grid(i = CTAS)\n"
                               "{\n"
                               "  debug_print \"{}\", (axis_index i)\n"
                               "  store %y[ds((axis_index i), 1)], (broadcast 1 : i32[1])\n"
                               "}\n";
/* One CTA of many lacks an arrival, one reads what nobody wrote. */
static const char stuck[] = "const CTAS = 24\n"
                            "kernel @stuck(%y: out gmem i32[CTAS]) grid(i = CTAS)\n"
                            "{\n"
                            "  scratch %b : barrier[1]\n"
                            "  if (ne (axis_index i), 17) {\n"
                            "    barrier_arrive %b[0]\n"
                            "  }\n"
                            "  barrier_wait %b[0]\n"
                            "  store %y[ds((axis_index i), 1)], (broadcast 1 : i32[1])\n"
                            "}\n";
static const char unwritten[] = "const CTAS = 24\n"
                                "kernel @unwritten(%y: out gmem i32[CTAS]) grid(i = CTAS)\n"
                                "{\n"
                                "  if (ne (axis_index i), 17) {\n"
                                "    store %y[ds((axis_index i), 1)], (broadcast 1 : i32[1])\n"
                                "  }\n"
                                "}\n";

static const test_subject SUBJECTS[] = {
    {"matmul_hopper", NULL, true},
    {"softmax_cluster", NULL, true},
    {"add_tma", NULL, true},
    {"layer_norm", NULL, true},
    {"in_place", in_place, true},
    /* an output that nobody wrote is found at the end, over the arrays of all */
    {"unwritten", unwritten, true},
    {"bugs/matmul_hopper_no_commit", NULL, false},
    {"normalise_grid", NULL, false},
    {"overlap", overlap, false},
    {"chain", chain, false},
    {"sum", atomic, false},
    {"printing", printing, false},
    {"stuck", stuck, false},
};
enum { SUBJECTS_COUNT = sizeof SUBJECTS / sizeof *SUBJECTS };

/* What a run left. */
typedef struct result {
    grout_run_status status;
    grout_run_stats stats;
    grout_check_summary summary;
    uint32_t count;
    uint64_t identities[FINDINGS_MAX], seen[FINDINGS_MAX];
    grout_argument arguments[ARGUMENTS_MAX];
    uint32_t argument_count;
    uint32_t lines;  /* printed */
    uint32_t joined; /* parts of the counter */
} result;

/* ---- an observer that counts its parts ------------------------------------------------------- */

typedef struct counter {
    grout_observer observer;
    uint32_t *joined;
} counter;

static bool count_event(void *self, const grout_event *event) {
    (void)self;
    return event->kind < GROUT_EVENT_KIND_COUNT;
}

static const grout_observer *new_counter(void *self) {
    counter *part = calloc(1, sizeof *part);
    (void)self;
    if (part != NULL) {
        part->observer = (grout_observer){.self = part, .interest = 1, .event = count_event};
    }
    return part == NULL ? NULL : &part->observer;
}

static bool join_counter(void *self, const grout_observer *part) {
    (void)part;
    ++*((counter *)self)->joined;
    return true;
}

static void free_counter(const grout_observer *part) {
    free(part->self);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void count_line(void *payload, const char *line) {
    (void)line;
    ++((result *)payload)->lines;
}

static void fill_arguments(const grout_module *module, result *out) {
    const grout_kernel *kernel = grout_module_get_kernel(module, 1);
    out->argument_count = kernel->param_count;
    ck_assert_uint_le(out->argument_count, ARGUMENTS_MAX);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        grout_argument *argument = &out->arguments[i];
        argument->size = (size_t)grout_object_get_layout(module, param->object)->bytes;
        argument->data = malloc(argument->size);
        ck_assert_ptr_nonnull(argument->data);
        for (size_t at = 0; at < argument->size; at++) {
            ((uint8_t *)argument->data)[at] = (uint8_t)(at % 4 == 3 ? 0x3f : at % 5);
        }
    }
}

static void keep_findings(const grout_checker *checker, result *out) {
    out->count = grout_checker_get_count(checker);
    for (uint32_t i = 0; i < out->count && i < FINDINGS_MAX; i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        out->identities[i] = finding->identity;
        out->seen[i] = finding->count;
    }
    out->summary = grout_checker_get_summary(checker, out->status == GROUT_RUN_INTERRUPTED);
}

static result run_bound(const grout_module *module, uint32_t workers, grout_schedule schedule,
                        bool (*progress)(void *, const grout_progress *)) {
    result out = {.status = GROUT_RUN_FAILED};
    grout_diags *diags = grout_diags_new();
    grout_checker *checker = grout_checker_new(NULL, diags);
    counter counts = {.joined = &out.joined};
    fill_arguments(module, &out);
    counts.observer = (grout_observer){.self = &counts,
                                       .interest = 1,
                                       .event = count_event,
                                       .new_part = new_counter,
                                       .join_part = join_counter,
                                       .free_part = free_counter};
    grout_launch launch = {.module = module,
                           .kernel = 1,
                           .arguments = out.arguments,
                           .argument_count = out.argument_count,
                           .schedule = schedule,
                           .timing = schedule == GROUT_SCHEDULE_FAIR ? GROUT_TIMING_LAZY
                                                                     : GROUT_TIMING_RANDOM,
                           .seed = 7,
                           .workers = workers,
                           .track_undefined = true,
                           .observers = {grout_checker_get_observer(checker), &counts.observer},
                           .observer_count = 2,
                           .progress = progress,
                           .print = count_line,
                           .payload = &out};
    grout_machine *machine = grout_machine_new(&launch, diags);
    ck_assert_ptr_nonnull(machine);
    out.status = grout_machine_run(machine, 0, diags);
    out.stats = grout_machine_get_stats(machine);
    keep_findings(checker, &out);
    grout_machine_free(machine);
    grout_checker_free(checker);
    grout_diags_free(diags);
    return out;
}

static void free_result(result *it) {
    for (uint32_t i = 0; i < it->argument_count; i++) {
        free(it->arguments[i].data);
    }
}

static void compare(const test_subject *subject, const result *one, const result *several) {
    ck_assert_msg(one->status == several->status, "%s", subject->name);
    ck_assert_msg(one->stats.steps == several->stats.steps, "%s", subject->name);
    ck_assert_msg(one->stats.events == several->stats.events, "%s", subject->name);
    ck_assert_msg(one->stats.async_ops == several->stats.async_ops, "%s", subject->name);
    ck_assert_msg(one->stats.ctas_done == several->stats.ctas_done, "%s", subject->name);
    ck_assert_msg(one->lines == several->lines, "%s", subject->name);
    ck_assert_msg(one->count == several->count, "%s", subject->name);
    ck_assert_mem_eq(one->identities, several->identities, sizeof one->identities);
    ck_assert_mem_eq(one->seen, several->seen, sizeof one->seen);
    ck_assert_int_eq(one->summary.verdict, several->summary.verdict);
    ck_assert_str_eq(one->summary.not_well_synchronised_because,
                     several->summary.not_well_synchronised_because);
    ck_assert_uint_eq(one->summary.accesses, several->summary.accesses);
    ck_assert_uint_eq(one->summary.barrier_phases, several->summary.barrier_phases);
    for (uint32_t i = 0; i < one->argument_count; i++) {
        ck_assert_msg(
            memcmp(one->arguments[i].data, several->arguments[i].data, one->arguments[i].size) == 0,
            "%s: array %u", subject->name, (unsigned)i);
    }
}

static grout_module *bind_subject(const test_subject *subject, grout_diags *diags) {
    if (subject->text != NULL) {
        return bind_text(subject->name, subject->text, diags);
    }
    char path[256];
    (void)snprintf(path, sizeof path, GROUT_TEST_SOURCE_DIR "/kernels/%s.grout", subject->name);
    grout_text text = read_file(path);
    grout_module *module = bind_text(subject->name, text.data, diags);
    grout_text_free(&text);
    return module;
}

TEST_EACH(test_as_one, SUBJECTS_COUNT) {
    const test_subject *subject = &SUBJECTS[_i];
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_subject(subject, diags);
    for (int schedule = GROUT_SCHEDULE_FAIR; schedule <= GROUT_SCHEDULE_RANDOM; schedule++) {
        result one = run_bound(module, 0, (grout_schedule)schedule, NULL);
        ck_assert_uint_eq(one.joined, 0);
        for (uint32_t workers = 2; workers <= 5; workers++) {
            result several = run_bound(module, workers, (grout_schedule)schedule, NULL);
            compare(subject, &one, &several);
            ck_assert_msg((several.joined > 0) == subject->is_divided, "%s: %u parts",
                          subject->name, (unsigned)several.joined);
            free_result(&several);
        }
        free_result(&one);
    }
    grout_module_free(module);
    grout_diags_free(diags);
}

static bool interrupt(void *payload, const grout_progress *progress) {
    (void)payload;
    return progress->ctas_done > progress->ctas_total;
}

TEST(test_interrupted) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("in_place", in_place, diags);
    result run = run_bound(module, 3, GROUT_SCHEDULE_FAIR, interrupt);
    ck_assert_int_eq(run.status, GROUT_RUN_INTERRUPTED);
    ck_assert_int_eq(run.summary.verdict, GROUT_VERDICT_INCOMPLETE);
    free_result(&run);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* Bytes that two arguments share are seen by one worker at once. */
TEST(test_aliases) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("aliases",
                                     "const CTAS = 24\n"
                                     "kernel @k(%x: in gmem i32[CTAS], %y: out gmem i32[CTAS])\n"
                                     "    grid(i = CTAS)\n"
                                     "{\n"
                                     "  store %y[ds((axis_index i), 1)], (broadcast 7 : i32[1])\n"
                                     "}\n",
                                     diags);
    int32_t data[25] = {0};
    for (int offset = 0; offset < 2; offset++) {
        uint32_t joined = 0;
        counter counts = {.joined = &joined};
        counts.observer = (grout_observer){.self = &counts,
                                           .interest = 1,
                                           .event = count_event,
                                           .new_part = new_counter,
                                           .join_part = join_counter,
                                           .free_part = free_counter};
        int32_t other[24] = {0};
        grout_argument arguments[2] = {{offset == 0 ? (void *)other : (void *)(data + 1), 96},
                                       {data, 96}};
        grout_launch launch = {.module = module,
                               .kernel = 1,
                               .arguments = arguments,
                               .argument_count = 2,
                               .workers = 3,
                               .observers = {&counts.observer},
                               .observer_count = 1};
        grout_machine *machine = grout_machine_new(&launch, diags);
        ck_assert_ptr_nonnull(machine);
        ck_assert_int_eq(grout_machine_run(machine, 0, diags), GROUT_RUN_DONE);
        ck_assert_int_eq(data[23], 7);
        ck_assert_int_eq(joined > 0, offset == 0);
        grout_machine_free(machine);
    }
    grout_module_free(module);
    grout_diags_free(diags);
}
