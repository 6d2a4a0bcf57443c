/* check_alloc.c - an allocator of the program's: all memory of what is made with it comes from it
 * and goes back, with the right sizes; and when it gives no more, the reason is out-of-memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/heap.h"
#include "grout-internal/advice.h"
#include "grout-internal/explore.h"
#include "grout-internal/gpu.h"
#include "grout-internal/interp.h"
#include "grout-internal/register_layout.h"
#include "grout/build.h"
#include "tests/nth_allocation/kernel_files.h"
#include "tests/tests.h"

#include <stdint.h>

/* ---- libc's functions, counted while nobody should call them --------------------------------- */

static bool is_watched;
static uint64_t stray_calls;
/* What a work did and should not have: Check itself allocates, so that nothing is asserted then. */
static uint64_t wrong_results;

/* The linker's names. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_malloc(size_t size) {
    stray_calls += is_watched;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    stray_calls += is_watched;
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *pointer, size_t size) {
    stray_calls += is_watched;
    return __real_realloc(pointer, size);
}

/* ---- the allocator --------------------------------------------------------------------------- */

/* What it gave, and how much it may. Each block has its size in front of it. */
typedef struct purse {
    uint64_t blocks, bytes, peak, calls;
    uint64_t bytes_max; /* 0: no limit */
    uint64_t wrong_sizes, refusals;
} purse;

typedef struct block_head {
    _Alignas(max_align_t) size_t size;
} block_head;

static void *resize(void *payload, void *block, size_t old_size, size_t new_size) {
    purse *p = payload;
    block_head *old = block != NULL ? (block_head *)block - 1 : NULL;
    bool was_watched = is_watched;
    p->calls++;
    p->wrong_sizes += old_size != (old != NULL ? old->size : 0);
    if (new_size > old_size && p->bytes_max != 0 && p->bytes - old_size + new_size > p->bytes_max) {
        p->refusals++;
        return NULL;
    }
    is_watched = false;
    /* Another address each time, and nothing that was zeroed by chance. */
    block_head *made = new_size > 0 ? malloc(sizeof *made + new_size) : NULL;
    if (made != NULL) {
        memset(made, 0xa5, sizeof *made + new_size);
        made->size = new_size;
        memcpy(made + 1, block != NULL ? block : "", old_size < new_size ? old_size : new_size);
    }
    free(old);
    is_watched = was_watched;
    p->blocks += (made != NULL) - (uint64_t)(old != NULL);
    p->bytes += new_size - (uint64_t)old_size;
    p->peak = p->bytes > p->peak ? p->bytes : p->peak;
    return made != NULL ? made + 1 : NULL;
}

static void assert_empty(const purse *p) {
    ck_assert_uint_eq(p->wrong_sizes, 0);
    ck_assert_uint_eq(p->blocks, 0);
    ck_assert_uint_eq(p->bytes, 0);
}

/* ---- what is done with it -------------------------------------------------------------------- */

/* One use of the library. Returns whether it could do all it should; reasons are in diags. */
typedef bool work(const grout_allocator *allocator, grout_diags *diags);

/* The text of the kernel at hand, read before anybody counts. */
static grout_text source;

static grout_module *bind_with(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *symbolic = grout_parse_in(allocator, "t.grout", source.data, source.size, diags);
    if (symbolic == NULL) {
        return NULL;
    }
    grout_module *bound = grout_module_bind(symbolic, NULL, 0, diags);
    grout_module_free(symbolic);
    return bound;
}

/* Parses, binds, verifies, prints, and looks for register layouts. */
static bool do_text(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *bound = bind_with(allocator, diags);
    if (bound == NULL) {
        return false;
    }
    grout_text text = {.allocator = allocator};
    bool is_done = grout_verify(bound, GROUT_ARCH_SM_90A, diags);
    grout_module_print(bound, &text);
    if (text.failed) {
        is_done = grout_diags_add_oom(diags);
    }
    grout_register_layouts *layouts = grout_register_layouts_infer(bound, 1, diags);
    is_done = is_done && layouts != NULL;
    grout_register_layouts_free(layouts);
    grout_text_free(&text);
    grout_module_free(bound);
    return is_done;
}

/* Parses what is wrong in many ways, and shows it. */
static bool do_faults(const grout_allocator *allocator, grout_diags *diags) {
    static const char bad[] =
        "const A = WRONG, A = 2\nkernel @k(%a: in gmem f33[A]) gird(x = 2)\n{\n  %x = lod %a\n"
        "  %y = add %x, %z\n  for %i on 0..4 {\n    store %a[%i], %w $\n  }\n  %z = neg %y\n}\n";
    grout_text text = {.allocator = allocator};
    grout_module *module = grout_parse_in(allocator, "t.grout", bad, sizeof bad - 1, diags);
    grout_diags_render(diags, NULL, &text);
    bool is_done = module == NULL && !text.failed;
    if (!is_done) {
        grout_diags_add_oom(diags);
    }
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        is_done &= grout_diags_get(diags, i)->code != GROUT_DIAG_OUT_OF_MEMORY;
    }
    grout_text_free(&text);
    grout_module_free(module);
    return is_done;
}

/* Emits CUDA and its manifest. */
static bool do_emitting(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *bound = bind_with(allocator, diags);
    if (bound == NULL) {
        return false;
    }
    grout_text text = {.allocator = allocator};
    bool is_done = grout_emit_cuda(bound, 1, NULL, &text, diags) &&
                   grout_emit_manifest(bound, 1, &text, diags) &&
                   grout_emit_host(bound, 1, &text, diags);
    grout_text_free(&text);
    grout_module_free(bound);
    return is_done;
}

/* Builds "y[i] = x[i] + .. + x[i]", with names for none of it. */
static bool do_building(const grout_allocator *allocator, grout_diags *diags) {
    grout_builder *b = grout_builder_new_in(allocator, "t");
    grout_expr_id size = grout_build_const(b, "N", grout_build_int(b, 64));
    grout_builder_kernel(b, "k");
    grout_value_id x =
        grout_build_param_array(b, "x", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 1, &size);
    grout_value_id y =
        grout_build_param_array(b, "y", GROUT_DIRECTION_OUT, GROUT_DTYPE_F32, 1, &size);
    grout_value_id sum = grout_build_load(b, grout_value_operand(x));
    for (int i = 0; i < 40; i++) {
        sum = grout_build_add(b, grout_value_operand(sum), grout_value_operand(sum));
    }
    grout_build_store(b, grout_value_operand(y), grout_value_operand(sum));
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_finish(b, diags);
    bool is_done = module != NULL;
    grout_module_free(module);
    return is_done;
}

enum { ELEMENTS_MAX = 8 * 256 };

static grout_launch launch_of(const grout_allocator *allocator, const grout_module *bound) {
    static float arrays[2][ELEMENTS_MAX];
    static grout_argument arguments[2];
    for (int i = 0; i < 2; i++) {
        arguments[i] = (grout_argument){arrays[i], sizeof arrays[i]};
    }
    return (grout_launch){.module = bound,
                          .kernel = 2,
                          .arguments = arguments,
                          .argument_count = 2,
                          .timing = GROUT_TIMING_RANDOM,
                          .track_undefined = true,
                          .allocator = allocator};
}

/* Runs half-way, goes back to a snapshot, runs to the end. */
static bool do_running(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *bound = bind_with(allocator, diags);
    if (bound == NULL) {
        return false;
    }
    const grout_launch launch = launch_of(allocator, bound);
    grout_machine *machine = grout_machine_new(&launch, diags);
    grout_snapshot *snapshot = NULL;
    bool is_done = machine != NULL && grout_machine_run(machine, 9, diags) == GROUT_RUN_PAUSED;
    if (is_done) {
        snapshot = grout_machine_snapshot(machine, diags);
        is_done = snapshot != NULL && grout_machine_run(machine, 5, diags) == GROUT_RUN_PAUSED &&
                  grout_machine_restore(machine, snapshot, diags) &&
                  grout_machine_run(machine, 0, diags) == GROUT_RUN_DONE;
    }
    grout_snapshot_free(snapshot);
    grout_machine_free(machine);
    grout_module_free(bound);
    return is_done;
}

/* Two threads take a lock each and then the other's. */
static const char locks[] = "kernel @locks(%y: out gmem i32[2]) threads(wg = 2)\n"
                            "{\n"
                            "  scratch %a : semaphore[1]\n"
                            "  scratch %b : semaphore[1]\n"
                            "  scratch %go : barrier[1]\n"
                            "  %t = axis_index wg\n"
                            "  if (eq %t, 0) {\n"
                            "    semaphore_signal %a[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "    barrier_arrive %go[0]\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    semaphore_wait %b[0], 1\n"
                            "    store %y[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "    semaphore_signal %a[0], 1\n"
                            "  } else {\n"
                            "    barrier_wait %go[0]\n"
                            "    semaphore_wait %b[0], 1\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    store %y[1], 1\n"
                            "    semaphore_signal %a[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "  }\n"
                            "  block_barrier\n"
                            "  if (eq %t, 0) {\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    semaphore_wait %b[0], 1\n"
                            "  }\n"
                            "}\n";

/* Explores schedules, and makes the one that fails shorter. */
static bool do_exploring(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *symbolic = grout_parse_in(allocator, "t.grout", locks, sizeof locks - 1, diags);
    grout_module *bound = symbolic != NULL ? grout_module_bind(symbolic, NULL, 0, diags) : NULL;
    grout_module_free(symbolic);
    if (bound == NULL) {
        return false;
    }
    int32_t y[2] = {0};
    const grout_argument argument = {y, sizeof y};
    const grout_launch launch = {.module = bound,
                                 .kernel = 1,
                                 .arguments = &argument,
                                 .argument_count = 1,
                                 .allocator = allocator};
    const grout_explore_options options = {.max_schedules = 20};
    grout_exploration exploration;
    bool is_done = grout_explore(&launch, &options, &exploration, diags);
    wrong_results += is_done && exploration.schedules < 2;
    if (is_done) {
        is_done = grout_minimise_schedule(&launch, &options, 0, &exploration.witnesses[0].decisions,
                                          diags);
    }
    grout_exploration_deinit(&exploration);
    grout_module_free(bound);
    return is_done;
}

/* Races in pieces, an overrun, an unawaited load, a wgmma in flight, and a deadlock to explain. */
static const char races[] =
    "kernel @races(%x: in gmem f32[8, 256], %y: out gmem f32[8, 256]) grid(x = 2) threads(wg = 2) "
    "{\n"
    "  scratch %s : smem f32[8, 256]\n"
    "  scratch %full : barrier[2]\n"
    "  scratch %free : semaphore[2]\n"
    "  scratch %as : smem f16[64, 16] tile(8, 16) swizzle(32)\n"
    "  scratch %bs : smem f16[16, 8] tile(8, 8)\n"
    "  scratch %acc : acc f32[64, 8]\n"
    "  if (eq (axis_index wg), 0) {\n"
    "    for %i in 0..40 {\n"
    "      store %s[1, %i], 1.0\n"
    "      barrier_arrive %full[1]\n"
    "      semaphore_signal %free[0], 1\n"
    "    }\n"
    "    copy_gmem_to_smem %x, %s, %full[0]\n"
    "    copy_smem_to_gmem %s, %y\n"
    "  } else {\n"
    "    semaphore_wait %free[0], 3\n"
    "    store %y, (load %s)\n"
    "    wgmma_async %acc, %as, %bs\n"
    "    store %as, (broadcast 1.0 : f16[64, 16])\n"
    "    %v = acc_load %acc\n"
    "    barrier_wait %full[0]\n"
    "    barrier_wait %full[0]\n"
    "  }\n"
    "}\n";

/* Steps, then back to a snapshot, then to the end. */
static grout_run_status run_with_detour(const grout_launch *launch, grout_diags *diags) {
    grout_machine *machine = grout_machine_new(launch, diags);
    grout_run_status status = GROUT_RUN_FAILED;
    if (machine != NULL && grout_machine_run(machine, 60, diags) == GROUT_RUN_PAUSED) {
        grout_snapshot *snapshot = grout_machine_snapshot(machine, diags);
        bool is_back = snapshot != NULL &&
                       grout_machine_run(machine, 60, diags) == GROUT_RUN_PAUSED &&
                       grout_machine_restore(machine, snapshot, diags);
        status = is_back ? grout_machine_run(machine, 0, diags) : GROUT_RUN_FAILED;
        grout_snapshot_free(snapshot);
    }
    grout_machine_free(machine);
    return status;
}

/* Checks a launch that goes back once, reports it, and keeps its schedule. */
static bool do_checking(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *symbolic = grout_parse_in(allocator, "t.grout", races, sizeof races - 1, diags);
    grout_module *bound = symbolic != NULL ? grout_module_bind(symbolic, NULL, 0, diags) : NULL;
    grout_module_free(symbolic);
    if (bound == NULL) {
        return false;
    }
    const grout_checker_options options = {.allocator = allocator};
    grout_checker *checker = grout_checker_new(&options, diags);
    grout_decisions decisions = {0};
    bool is_done = false;
    if (checker != NULL) {
        grout_launch launch = launch_of(allocator, bound);
        launch.kernel = 1;
        launch.record = &decisions;
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
        is_done = run_with_detour(&launch, diags) == GROUT_RUN_DEADLOCK &&
                  grout_checker_get_count(checker) >= 5 && decisions.count > 0;
        const grout_check_summary summary = grout_checker_get_summary(checker, !is_done);
        is_done = is_done && summary.verdict == GROUT_VERDICT_ERROR;
    }
    grout_checker_free(checker);
    grout_decisions_deinit(&decisions);
    grout_module_free(bound);
    return is_done;
}

/* Looks for what the launch does not need. */
static bool do_advising(const grout_allocator *allocator, grout_diags *diags) {
    grout_module *bound = bind_with(allocator, diags);
    if (bound == NULL) {
        return false;
    }
    const grout_launch launch = launch_of(allocator, bound);
    const grout_advice_options options = {0};
    grout_advice_list advice = {0};
    const bool is_done = grout_advise(&launch, &options, &advice, diags);
    grout_advice_list_deinit(&advice);
    grout_module_free(bound);
    return is_done;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct {
    work *work;
    const char *path; /* of the kernel it needs */
} works[] = {
    {do_text, "kernels/softmax.grout"},
    {do_text, "kernels/add_explicit.grout"},
    {do_emitting, "kernels/matmul_hopper.grout"},
    {do_emitting, "kernels/softmax.grout"},
    {do_faults, NULL},
    {do_building, NULL},
    {do_running, "kernels/producer_consumer.grout"},
    {do_exploring, NULL},
    {do_checking, NULL},
    {do_advising, "kernels/producer_consumer.grout"},
};
enum { WORK_COUNT = sizeof works / sizeof works[0], STEPS = 60 };

static void read_kernel(int index) {
    source = works[index].path != NULL ? read_source(works[index].path) : (grout_text){0};
}

static bool has_oom(const grout_diags *diags) {
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        if (grout_diags_get(diags, i)->code == GROUT_DIAG_OUT_OF_MEMORY) {
            return true;
        }
    }
    return false;
}

TEST_EACH(all_comes_from_it_and_goes_back, WORK_COUNT) {
    purse p = {0};
    const grout_allocator allocator = {resize, &p};
    read_kernel(_i);
    is_watched = true;
    grout_diags *diags = grout_diags_new_in(&allocator);
    bool is_done = works[_i].work(&allocator, diags);
    grout_diags_free(diags);
    is_watched = false;
    ck_assert(is_done);
    ck_assert_uint_gt(p.calls, 10);
    ck_assert_uint_eq(stray_calls, 0);
    ck_assert_uint_eq(wrong_results, 0);
    assert_empty(&p);
    grout_text_free(&source);
}

TEST_EACH(a_limit_ends_in_out_of_memory, WORK_COUNT) {
    purse free_purse = {0};
    const grout_allocator free_allocator = {resize, &free_purse};
    read_kernel(_i);
    grout_diags *diags = grout_diags_new();
    ck_assert(works[_i].work(&free_allocator, diags));
    grout_diags_free(diags);
    uint32_t failures = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        purse p = {.bytes_max = 1 + free_purse.peak * step / STEPS};
        const grout_allocator allocator = {resize, &p};
        diags = grout_diags_new();
        bool is_done = works[_i].work(&allocator, diags);
        ck_assert_msg(is_done || p.refusals > 0, "it fails with memory enough");
        ck_assert_msg(is_done || has_oom(diags), "limit %ju: nobody says that memory ran out",
                      (uintmax_t)p.bytes_max);
        failures += !is_done;
        grout_diags_free(diags);
        assert_empty(&p);
    }
    ck_assert_uint_gt(failures, STEPS / 2);
    grout_text_free(&source);
}

/* The list itself may run out: it keeps what it has, and says so. */
TEST(diagnostics_without_memory_say_so) {
    purse p = {0};
    const grout_allocator allocator = {resize, &p};
    grout_diags *diags = grout_diags_new_in(&allocator);
    p.bytes_max = p.bytes;
    const grout_place place = {"file", 1, 1, 1};
    grout_diags_add(diags, GROUT_DIAG_SYNTAX, place, "this takes %s", "memory");
    ck_assert(has_oom(diags));
    ck_assert(!grout_diags_add_source(diags, "file", "text", 4));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    grout_diags_free(diags);
    assert_empty(&p);
    p.bytes_max = 8;
    ck_assert_ptr_null(grout_diags_new_in(&allocator));
    ck_assert_ptr_null(grout_builder_new_in(&allocator, "t"));
}

TEST_EACH(blocks_keep_what_they_hold, 2) {
    purse p = {0};
    const grout_allocator allocator = {resize, &p};
    const grout_allocator *const both[] = {NULL, &allocator};
    uint8_t *bytes = grout__new(both[_i], 3, 5);
    for (int i = 0; i < 15; i++) {
        ck_assert_uint_eq(bytes[i], 0);
        bytes[i] = (uint8_t)i;
    }
    bytes = grout__resize(both[_i], bytes, 4000);
    bytes = grout__resize(NULL, bytes, 10); /* a block knows its own */
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(bytes[i], i);
    }
    grout__free(bytes);
    grout__free(NULL);
    ck_assert_ptr_null(grout__new(both[_i], SIZE_MAX / 2, 3));
    ck_assert_ptr_null(grout__new(both[_i], SIZE_MAX, 1));
    ck_assert_ptr_null(grout__resize(both[_i], NULL, SIZE_MAX - 4));
    ck_assert_ptr_null(grout__copy(both[_i], "", SIZE_MAX));
    char *none = grout__new(both[_i], 0, 8);
    ck_assert_ptr_nonnull(none);
    grout__free(none);
    char *copy = grout__copy(both[_i], "copied", 4);
    ck_assert_str_eq(copy, "copi");
    grout__free(copy);
    assert_empty(&p);
}

TEST(arrays_grow_or_stay) {
    purse p = {0};
    const grout_allocator allocator = {resize, &p};
    GROUT_ARRAY(uint32_t) array = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert(GROUT_ARRAY_RESERVE(&array, &allocator, 1));
        array.items[array.count++] = i;
    }
    ck_assert(GROUT_ARRAY_RESERVE(&array, &allocator, 5000));
    ck_assert_uint_ge(array.capacity, 6000);
    ck_assert_uint_lt(p.calls, 20);
    const uint32_t *before = array.items;
    ck_assert(!GROUT_ARRAY_RESERVE(&array, &allocator, SIZE_MAX));
    ck_assert(!GROUT_ARRAY_RESERVE(&array, &allocator, SIZE_MAX / 4 - 500));
    p.bytes_max = p.bytes;
    ck_assert(!GROUT_ARRAY_RESERVE(&array, &allocator, array.capacity));
    ck_assert_ptr_eq(array.items, before);
    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(array.items[i], i);
    }
    grout__free(array.items);
    assert_empty(&p);
}

TEST(heaps_count_align_and_zero) {
    purse p = {0};
    const grout_allocator allocator = {resize, &p};
    grout_heap heap = {.allocator = &allocator, .limit = 100000};
    uint8_t *small = grout_heap__take(&heap, 100);
    uint8_t *large = grout_heap__take(&heap, 80000);
    ck_assert_uint_eq((uintptr_t)small % 64, 0);
    ck_assert_uint_eq((uintptr_t)large % 64, 0);
    for (int i = 0; i < 80000; i++) {
        ck_assert_uint_eq(large[i], 0);
    }
    ck_assert_ptr_null(grout_heap__take(&heap, 20000));
    ck_assert_uint_eq(heap.used, 80100);
    grout_heap__give(&heap, large, 80000);
    grout_heap__give(&heap, small, 100);
    ck_assert_uint_eq(heap.used, 0);
    ck_assert_uint_eq(heap.peak, 80100);
    assert_empty(&p);
}
