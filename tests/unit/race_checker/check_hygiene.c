/* check_hygiene.c - requirement 16: several checks at once in one process, between texts that do
 * not parse and kernels that fault, say what one alone says. The threads come first, so that what
 * is made at its first use is made there. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#include <pthread.h>
#include <stdlib.h>

#define WORKERS      4
#define ROUNDS       16
#define FINDINGS_MAX 16

static const char broken[] = "kernel @broken(%y: out gmem f32[4]) {\n  store %y, (load %nothing)\n";

static const char ring[] =
    "const STEPS = 6, N = 64\n"
    "kernel @ring(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) threads(wg = 2)\n"
    "{\n"
    "  scratch %s : smem f32[2, N]\n"
    "  scratch %full : barrier[2]\n"
    "  scratch %empty : barrier[2]\n"
    "  for %i in 0..STEPS {\n"
    "    %slot = rem %i, 2\n"
    "    if (eq (axis_index wg), 0) {\n"
    "      if (gt %i, 1) {\n"
    "        barrier_wait %empty[%slot]\n"
    "      }\n"
    "      copy_gmem_to_smem %x[%i], %s[%slot], %full[%slot]\n"
    "    } else {\n"
    "      barrier_wait %full[%slot]\n"
    "      store %y[%i], (load %s[%slot])\n"
    "      ";
static const char ring_end[] = "      if (lt %i, STEPS - 2) {\n"
                               "        barrier_arrive %empty[%slot]\n"
                               "      }\n"
                               "    }\n"
                               "  }\n"
                               "}\n";
static const char stuck[] = "kernel @stuck(%y: out gmem f32[4])\n"
                            "{\n"
                            "  scratch %b : barrier[1]\n"
                            "  barrier_wait %b[0]\n"
                            "  store %y, (broadcast 1.0 : f32[4])\n"
                            "}\n";

enum { SUBJECT_BROKEN, SUBJECT_CLEAN, SUBJECT_RACY, SUBJECT_STUCK, SUBJECT_FILES };

/* Matrix products, functions, clusters, semaphores: all that has state of its own somewhere. */
static const char *const FILES[] = {
    GROUT_TEST_SOURCE_DIR "/kernels/matmul_hopper.grout",
    GROUT_TEST_SOURCE_DIR "/kernels/softmax_cluster.grout",
    GROUT_TEST_SOURCE_DIR "/kernels/normalise_grid.grout",
    GROUT_TEST_SOURCE_DIR "/kernels/bugs/matmul_hopper_no_commit.grout",
};
enum { SUBJECT_COUNT = SUBJECT_FILES + sizeof FILES / sizeof *FILES };

/* What was said of a text. */
typedef struct verdict {
    bool is_bound, is_clean;
    uint32_t count;
    uint64_t identities[FINDINGS_MAX];
} verdict;

typedef struct worker {
    pthread_t thread;
    const grout_text *texts;
    verdict found[ROUNDS];
    uint32_t first;
} worker;

static void fill_texts(grout_text texts[SUBJECT_COUNT]) {
    grout_text_add(&texts[SUBJECT_BROKEN], "%s", broken);
    grout_text_add(&texts[SUBJECT_CLEAN], "%scommit_smem\n%s", ring, ring_end);
    grout_text_add(&texts[SUBJECT_RACY], "%s\n%s", ring, ring_end);
    grout_text_add(&texts[SUBJECT_STUCK], "%s", stuck);
    for (uint32_t i = SUBJECT_FILES; i < SUBJECT_COUNT; i++) {
        texts[i] = read_file(FILES[i - SUBJECT_FILES]);
    }
}

/* No assertions here: they jump, and this runs in threads. */
static void run_bound(const grout_module *module, grout_diags *diags, verdict *out) {
    const grout_kernel *kernel = grout_module_get_kernel(module, 1);
    grout_argument arguments[4] = {{0}};
    grout_checker *checker = grout_checker_new(NULL, diags);
    grout_launch launch = {.module = module,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = kernel->param_count,
                           .track_undefined = true};
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        arguments[i].size = (size_t)grout_object_get_layout(module, param->object)->bytes;
        arguments[i].data = calloc(1, arguments[i].size);
    }
    if (checker != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
        grout_machine *machine = grout_machine_new(&launch, diags);
        out->is_clean = machine != NULL && grout_machine_run(machine, 0, diags) == GROUT_RUN_DONE &&
                        grout_checker_get_count(checker) == 0;
        out->count = grout_checker_get_count(checker);
        for (uint32_t i = 0; i < out->count && i < FINDINGS_MAX; i++) {
            out->identities[i] = grout_checker_get_finding(checker, i)->identity;
        }
        grout_machine_free(machine);
        grout_checker_free(checker);
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        free(arguments[i].data);
    }
}

static verdict judge(const char *text) {
    verdict result = {0};
    grout_diags *diags = grout_diags_new();
    grout_module *symbolic = grout_parse("test.grout", text, strlen(text), diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    result.is_bound = bound != NULL;
    if (bound != NULL) {
        run_bound(bound, diags, &result);
    }
    grout_module_free(bound);
    grout_module_free(symbolic);
    grout_diags_free(diags);
    return result;
}

static bool is_same(const verdict *a, const verdict *b) {
    return a->is_bound == b->is_bound && a->is_clean == b->is_clean && a->count == b->count &&
           memcmp(a->identities, b->identities, sizeof a->identities) == 0;
}

static uint32_t get_subject(const worker *own, uint32_t round) {
    return (own->first + round) % SUBJECT_COUNT;
}

static void *work(void *payload) {
    worker *own = payload;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        own->found[i] = judge(own->texts[get_subject(own, i)].data);
    }
    return NULL;
}

TEST(test_checks_at_once) {
    static worker workers[WORKERS];
    grout_text texts[SUBJECT_COUNT] = {0};
    verdict alone[SUBJECT_COUNT];
    fill_texts(texts);
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i].texts = texts;
        workers[i].first = i * 2;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    }
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        alone[i] = judge(texts[i].data);
    }
    ck_assert(!alone[SUBJECT_BROKEN].is_bound);
    ck_assert(alone[SUBJECT_CLEAN].is_clean);
    ck_assert_uint_gt(alone[SUBJECT_RACY].count, 0);
    ck_assert_uint_gt(alone[SUBJECT_STUCK].count, 0);
    for (uint32_t i = SUBJECT_FILES; i < SUBJECT_COUNT; i++) {
        ck_assert_msg(alone[i].is_clean == (i + 1 < SUBJECT_COUNT), "%s", FILES[i - SUBJECT_FILES]);
    }
    for (uint32_t i = 0; i < WORKERS * ROUNDS; i++) {
        const worker *own = &workers[i / ROUNDS];
        ck_assert(is_same(&own->found[i % ROUNDS], &alone[get_subject(own, i % ROUNDS)]));
    }
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        grout_text_free(&texts[i]);
    }
}
