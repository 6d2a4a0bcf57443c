/* check_build_sync.c - the builder's clusters, semaphores, explicit style, warps and partitions:
 * what is built prints as a text that reads back equal; mistakes are reported once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/text.h"
#include "grout/build.h"
#include "tests/tests.h"
#include "tests/unit/ir/module_equal.h"

#include <string.h>

static grout_builder *b;
static grout_diags *diags;
static grout_value_id a, n;
static grout_value_id full, peers, sem, tile, counts; /* objects: see begin_objects */

static void set_up(void) {
    b = grout_builder_new("test");
    diags = grout_diags_new();
    ck_assert(b != NULL && diags != NULL);
}

static void tear_down(void) {
    grout_diags_free(diags);
}

static grout_operand expr(int64_t value) {
    return grout_expr_operand(grout_build_int(b, value));
}

static grout_operand value(grout_value_id id) {
    return grout_value_operand(id);
}

static grout_operand at(grout_value_id base, int64_t index) {
    grout_build_index where = grout_index_at(expr(index));
    return grout_build_ref(b, base, 1, &where);
}

/* The header's axes: grid x is axis 0, the cluster's cx and cy are 1 and 2. */
#define HEADER                                                                                    \
    "kernel @k(%a: in gmem f32[4, 8], %n: i32) grid(x = 2) cluster(cx = 2, cy = 2) threads(wg = " \
    "2)\n    attr arch = \"sm_103a\" cluster_exit = none auto_fence = 1 partition_warps = [4, "   \
    "1]\n{\n"
enum { AXIS_X = 1 << 0, AXIS_CX = 1 << 1, AXIS_CY = 1 << 2 };

static void begin_kernel(void) {
    grout_expr_id dims[] = {grout_build_int(b, 4), grout_build_int(b, 8)};
    grout_builder_kernel(b, "k");
    a = grout_build_param_array(b, "a", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 2, dims);
    n = grout_build_param_scalar(b, "n", GROUT_DTYPE_I32);
    grout_build_axis(b, GROUT_AXIS_THREADS, "wg", grout_build_int(b, 2));
    grout_build_axis(b, GROUT_AXIS_CLUSTER, "cx", grout_build_int(b, 2));
    grout_build_axis(b, GROUT_AXIS_GRID, "x", grout_build_int(b, 2));
    grout_build_axis(b, GROUT_AXIS_CLUSTER, "cy", grout_build_int(b, 2));
    grout_build_arch(b, GROUT_ARCH_SM_103A);
    grout_build_cluster_exit(b, GROUT_CLUSTER_EXIT_NONE);
    grout_build_auto_fence(b, true);
    grout_build_partition_warps(b, 2, (const uint32_t[]){4, 1});
}

#define OBJECTS                                                   \
    "  scratch %full : mbarrier[2]\n"                             \
    "  scratch %peers : barrier[2] arrivals(2) cluster(cx, cy)\n" \
    "  scratch %sem : semaphore[2] global\n"                      \
    "  scratch %tile : smem f32[4, 8]\n"                          \
    "  scratch %counts : gmem u32[4]\n"

static void begin_objects(void) {
    static const uint8_t groups[] = {AXIS_CY, AXIS_CX};
    begin_kernel();
    grout_expr_id two = grout_build_int(b, 2);
    grout_expr_id dims[] = {grout_build_int(b, 4), grout_build_int(b, 8)};
    full = grout_build_scratch(
        b, "full",
        &(grout_build_object){
            .kind = GROUT_OBJECT_BARRIER, .rank = 1, .dims = &two, .is_explicit = true});
    peers = grout_build_scratch(b, "peers",
                                &(grout_build_object){.kind = GROUT_OBJECT_BARRIER,
                                                      .rank = 1,
                                                      .dims = &two,
                                                      .arrivals = two,
                                                      .cluster_group_count = 2,
                                                      .cluster_groups = groups});
    sem = grout_build_scratch(
        b, "sem",
        &(grout_build_object){
            .kind = GROUT_OBJECT_SEMAPHORE, .rank = 1, .dims = &two, .is_global = true});
    tile = grout_build_scratch(
        b, "tile",
        &(grout_build_object){
            .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 2, .dims = dims});
    counts = grout_build_scratch(b, "counts",
                                 &(grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                                       .space = GROUT_SPACE_GMEM,
                                                       .dtype = GROUT_DTYPE_U32,
                                                       .rank = 1,
                                                       .dims = dims});
}

/* Ends the kernel. Its text must be header, objects and body, and must read back equal. */
static void expect_body(const char *objects, const char *body) {
    grout_text expected = {0}, text = {0}, said = {0};
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_finish(b, diags);
    ck_assert_msg(module != NULL, "%s",
                  grout_diags_count(diags) > 0 ? grout_diags_get(diags, 0)->message : "?");
    grout_text_add(&expected, "%s%s%s}\n", HEADER, objects, body);
    grout_module_print(module, &text);
    ck_assert_str_eq(text.data, expected.data);
    grout_module *reread = grout_parse("built.grout", text.data, text.size, diags);
    grout_diags_render(diags, NULL, &said);
    ck_assert_msg(reread != NULL, "%s\n%s", text.data, said.data != NULL ? said.data : "");
    const char *difference = find_module_difference(module, reread);
    ck_assert_msg(difference == NULL, "%s differs in\n%s", difference, text.data);
    grout_module_free(reread);
    grout_module_free(module);
    grout_text_free(&expected);
    grout_text_free(&text);
    grout_text_free(&said);
}

/* ---- what is built --------------------------------------------------------------------------- */

TEST(objects_of_each_kind_are_built) {
    begin_objects();
    expect_body(OBJECTS, "");
}

TEST(references_name_other_ctas) {
    begin_objects();
    grout_builder_inline(b, true);
    grout_operand place[] = {value(n), value(grout_build_neg(b, value(n)))};
    grout_operand there = grout_build_cluster_ref(b, value(tile), 2, place);
    (void)grout_build_name(b, grout_build_load(b, there), "v");
    grout_operand own[] = {expr(0), expr(1)};
    grout_build_mbarrier_arrive(b, grout_build_cluster_ref(b, at(full, 1), 2, own));
    expect_body(OBJECTS, "  %v = load %tile.cluster(%n, (neg %n))\n"
                         "  mbarrier_arrive %full[1].cluster(0, 1)\n");
}

TEST(each_form_is_built) {
    begin_objects();
    grout_expr_id box[] = {grout_build_int(b, 4), grout_build_int(b, 8)};
    grout_value_id descriptor = grout_build_tensor_descriptor(b, value(a), GROUT_DTYPE_F32, 2, box);
    grout_build_index start[] = {grout_index_at(expr(0)), grout_index_at(expr(0))};
    grout_build_mbarrier_init(b, at(full, 0), grout_build_int(b, 1));
    grout_build_copy_gmem_to_smem(b, grout_build_ref(b, descriptor, 2, start), value(tile),
                                  at(full, 0));
    grout_build_mbarrier_expect(b, at(full, 0), grout_expr_operand(grout_build_int(b, 128)));
    grout_build_mbarrier_wait(b, at(full, 0), expr(0));
    (void)grout_build_mbarrier_test(b, at(full, 0), value(n));
    (void)grout_build_barrier_test(b, at(peers, 0));
    grout_build_semaphore_signal(b, at(sem, 0), expr(1));
    (void)grout_build_semaphore_read(b, at(sem, 0));
    grout_build_named_barrier_sync(b, grout_expr_operand(grout_build_int(b, 1)),
                                   grout_expr_operand(grout_build_int(b, 2)), 0);
    (void)grout_build_atomic_fetch_add(b, at(counts, 0), expr(1));
    (void)grout_build_atomic_cas(b, at(counts, 0), expr(0), expr(1));
    grout_build_atomic_max(b, at(counts, 1), expr(7));
    grout_build_async_copy(b, value(a), value(tile));
    grout_build_async_copy_wait(b, grout_build_int(b, 0), 0);
    grout_build_async_store_smem(b, value(grout_build_load(b, value(tile))), value(tile),
                                 at(full, 0));
    grout_build_cluster_barrier(b);
    expect_body(OBJECTS, "  %0 = tensor_descriptor %a : f32[4, 8]\n"
                         "  mbarrier_init %full[0], 1\n"
                         "  copy_gmem_to_smem %0[0, 0], %tile, %full[0]\n"
                         "  mbarrier_expect %full[0], 128\n"
                         "  mbarrier_wait %full[0], 0\n"
                         "  %1 = mbarrier_test %full[0], %n\n"
                         "  %2 = barrier_test %peers[0]\n"
                         "  semaphore_signal %sem[0], 1\n"
                         "  %3 = semaphore_read %sem[0]\n"
                         "  named_barrier_sync 1, 2\n"
                         "  %4 = atomic_fetch_add %counts[0], 1\n"
                         "  %5 = atomic_cas %counts[0], 0, 1\n"
                         "  atomic_max %counts[1], 7\n"
                         "  async_copy %a, %tile\n"
                         "  async_copy_wait 0\n"
                         "  %6 = load %tile\n"
                         "  async_store_smem %6, %tile, %full[0]\n"
                         "  cluster_barrier\n");
}

TEST(attributes_of_each_kind_are_built) {
    static const grout_choice choices[] = {GROUT_CHOICE_SCOPE_CLUSTER, GROUT_CHOICE_ORDER_RELEASE};
    begin_objects();
    grout_operand copy[] = {value(a), value(tile), at(full, 0)};
    grout_build_op_args args = {.operands = copy,
                                .operand_count = 3,
                                .attrs = GROUT_ATTR_BIT(MULTICAST),
                                .attr_axes = AXIS_CX | AXIS_CY};
    (void)grout_build_op(b, GROUT_OP_COPY_GMEM_TO_SMEM, &args);
    grout_expr_id integers[] = {grout_build_int(b, 2), grout_build_int(b, 0)};
    grout_operand barrier = at(full, 0);
    args = (grout_build_op_args){.operands = &barrier,
                                 .operand_count = 1,
                                 .attrs = GROUT_ATTR_BIT(ARRIVE_COUNT) | GROUT_ATTR_BIT(FROM_CTA) |
                                          GROUT_ATTR_BIT(SCOPE) | GROUT_ATTR_BIT(ORDER),
                                 .attr_values = integers,
                                 .choices = choices,
                                 .choice_count = 2};
    (void)grout_build_op(b, GROUT_OP_MBARRIER_ARRIVE, &args);
    expect_body(OBJECTS,
                "  copy_gmem_to_smem %a, %tile, %full[0] multicast(cx, cy)\n"
                "  mbarrier_arrive %full[0] count(2) order(release) scope(cluster) from_cta(0)\n");
}

/* Types are not looked at before the module is bound: the array may have any rank. */
TEST(ranges_are_built) {
    begin_objects();
    const grout_expr_id low = grout_build_int(b, -1), one = grout_build_int(b, 1);
    const grout_written_range pixels[] = {{low, low, one}, {one, low, grout_build_int(b, 2)}};
    const grout_operand offsets[] = {grout_expr_operand(one), grout_expr_operand(one)};
    grout_build_copy_gmem_to_smem_im2col(b, value(a), value(tile), at(full, 0), 2, offsets, pixels);
    expect_body(OBJECTS, "  copy_gmem_to_smem_im2col %a, %tile, %full[0], 1, 1 "
                         "pixels(-1..-1, 1..-1 step 2)\n");
}

TEST(warps_have_an_index) {
    begin_kernel();
    grout_value_id w = grout_build_warp_map(b, NULL);
    (void)grout_build_neg(b, value(w));
    (void)grout_build_end(b, 0, NULL);
    (void)grout_build_warp_map(b, "w");
    (void)grout_build_end(b, 0, NULL);
    expect_body("", "  warp_map(%0) {\n    %1 = neg %0\n  }\n  warp_map(%w) {\n  }\n");
}

TEST(partitions_follow_the_first_body) {
    begin_kernel();
    grout_operand results[] = {value(n), expr(2)};
    grout_build_warp_specialize(b);
    grout_build_block_barrier(b);
    grout_build_partition(b, 2, results);
    grout_build_commit_smem(b);
    grout_build_partition(b, 0, NULL);
    grout_value_id first = grout_build_end(b, 0, NULL);
    (void)grout_build_add(b, value(first), value(first + 1));
    grout_build_warp_specialize(b);
    (void)grout_build_end(b, 0, NULL);
    grout_build_warp_specialize(b);
    first = grout_build_end(b, 1, results);
    (void)grout_build_neg(b, value(first));
    expect_body("", "  %0, %1 = warp_specialize {\n    block_barrier\n    yield %n, 2\n"
                    "  } partition {\n    commit_smem\n  } partition {\n  }\n"
                    "  %2 = add %0, %1\n"
                    "  warp_specialize {\n  }\n"
                    "  %3 = warp_specialize {\n    yield %n\n  }\n"
                    "  %4 = neg %3\n");
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void fifth_cluster_axis(void) {
    begin_kernel();
    grout_build_axis(b, GROUT_AXIS_CLUSTER, "cz", grout_build_int(b, 1));
    grout_build_axis(b, GROUT_AXIS_CLUSTER, "cu", grout_build_int(b, 1));
    grout_build_axis(b, GROUT_AXIS_CLUSTER, "cv", grout_build_int(b, 1));
}
static void many_partitions(void) {
    begin_kernel();
    grout_build_partition_warps(b, 9, (const uint32_t[]){4, 1, 1, 1, 1, 1, 1, 1, 1});
}
static void arch_of_no_gpu(void) {
    begin_kernel();
    grout_build_arch(b, GROUT_ARCH_ANY);
}
static void late_attribute(void) {
    begin_kernel();
    grout_build_block_barrier(b);
    grout_build_auto_fence(b, true);
}
static void build_object(grout_build_object object) {
    begin_kernel();
    grout_expr_id two = grout_build_int(b, 2);
    object.rank = object.rank == 0 ? 1 : object.rank;
    object.dims = &two;
    object.arrivals = object.arrivals != 0 ? two : 0;
    (void)grout_build_scratch(b, "o", &object);
}
static void arrivals_of_an_mbarrier(void) {
    build_object(
        (grout_build_object){.kind = GROUT_OBJECT_BARRIER, .is_explicit = true, .arrivals = 1});
}
static void explicit_semaphore(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_SEMAPHORE, .is_explicit = true});
}
static void global_barrier(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_BARRIER, .is_global = true});
}
static void semaphore_in_smem(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_SEMAPHORE, .space = GROUT_SPACE_SMEM});
}
static void packed_barrier(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_BARRIER, .is_packed = true});
}
static void scales_in_smem(void) {
    build_object((grout_build_object){
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F8E8M0, .is_scales = true});
}
static void scales_of_both_kinds(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                      .space = GROUT_SPACE_TMEM,
                                      .dtype = GROUT_DTYPE_F8E8M0,
                                      .is_scales = true,
                                      .is_split_scales = true});
}
static void padded_in_tmem(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                      .space = GROUT_SPACE_TMEM,
                                      .dtype = GROUT_DTYPE_F6E2M3,
                                      .is_padded = true});
}
static void packed_metadata(void) {
    build_object((grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                      .space = GROUT_SPACE_TMEM,
                                      .dtype = GROUT_DTYPE_U16,
                                      .is_packed = true,
                                      .is_metadata = true});
}
static void array_with_a_cluster(void) {
    static const uint8_t group = AXIS_CX;
    build_object((grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                      .dtype = GROUT_DTYPE_F32,
                                      .cluster_group_count = 1,
                                      .cluster_groups = &group});
}
static void groups_that_share(void) {
    static const uint8_t groups[] = {AXIS_CX, AXIS_CX | AXIS_CY};
    build_object((grout_build_object){
        .kind = GROUT_OBJECT_BARRIER, .cluster_group_count = 2, .cluster_groups = groups});
}
static void group_of_a_grid_axis(void) {
    static const uint8_t groups[] = {AXIS_X};
    build_object((grout_build_object){
        .kind = GROUT_OBJECT_BARRIER, .cluster_group_count = 1, .cluster_groups = groups});
}
static void build_copy(uint64_t attrs, uint32_t axes) {
    begin_objects();
    grout_operand copy[] = {value(a), value(tile), at(full, 0)};
    grout_build_op_args args = {
        .operands = copy, .operand_count = 3, .attrs = attrs, .attr_axes = axes};
    (void)grout_build_op(b, GROUT_OP_COPY_GMEM_TO_SMEM, &args);
}
static void multicast_over_nothing(void) {
    build_copy(GROUT_ATTR_BIT(MULTICAST), 0);
}
static void multicast_over_the_grid(void) {
    build_copy(GROUT_ATTR_BIT(MULTICAST), AXIS_X);
}
static void multicast_over_an_unknown_axis(void) {
    build_copy(GROUT_ATTR_BIT(MULTICAST), 1u << 31);
}
static void build_pixels(uint32_t count) {
    const grout_expr_id one = grout_build_int(b, 1);
    const grout_written_range range = {one, one, one}, pixels[] = {range, range, range, range};
    const grout_operand offset = grout_expr_operand(one);
    const grout_operand offsets[] = {offset, offset, offset, offset};
    grout_build_copy_gmem_to_smem_im2col(b, value(a), value(tile), at(full, 0), count, offsets,
                                         pixels);
}
static void no_range(void) {
    begin_objects();
    build_pixels(0);
}
static void fourth_range(void) {
    begin_objects();
    build_pixels(4);
}
static void build_wait(grout_choice choice) {
    begin_objects();
    grout_operand barrier = at(peers, 0);
    grout_build_op_args args = {.operands = &barrier,
                                .operand_count = 1,
                                .attrs = GROUT_ATTR_BIT(ORDER),
                                .choices = &choice,
                                .choice_count = 1};
    (void)grout_build_op(b, GROUT_OP_BARRIER_WAIT, &args);
}
static void choice_of_another_attribute(void) {
    build_wait(GROUT_CHOICE_SCOPE_CTA);
}
static void unknown_choice(void) {
    build_wait(GROUT_CHOICE_COUNT);
}
static void place_is_a_reference(void) {
    begin_objects();
    grout_operand place = at(counts, 0);
    (void)grout_build_cluster_ref(b, value(tile), 1, &place);
}
static void place_on_no_axis(void) {
    begin_objects();
    (void)grout_build_cluster_ref(b, value(tile), 0, NULL);
}
static void semaphore_is_a_constant(void) {
    begin_objects();
    grout_build_semaphore_signal(b, expr(0), expr(1));
}
static void partition_outside(void) {
    begin_kernel();
    grout_build_partition(b, 0, NULL);
}
static void ninth_body(void) {
    begin_kernel();
    grout_build_warp_specialize(b);
    for (int i = 0; i < GROUT_THREADS_MAX; i++) {
        grout_build_partition(b, 0, NULL);
    }
}
static void partition_with_results(void) {
    begin_kernel();
    grout_operand result = value(n);
    grout_build_warp_specialize(b);
    grout_build_partition(b, 0, NULL);
    (void)grout_build_end(b, 1, &result);
}
static void warps_with_results(void) {
    begin_kernel();
    grout_operand result = value(n);
    (void)grout_build_warp_map(b, "w");
    (void)grout_build_end(b, 1, &result);
}
static void regions_by_op(void) {
    begin_kernel();
    (void)grout_build_op(b, GROUT_OP_WARP_MAP, &(grout_build_op_args){0});
}

static const struct {
    void (*make)(void);
    const char *message;
} mistakes[] = {
    {fifth_cluster_axis, "axis 'cv' is one too many"},
    {many_partitions, "partition_warps of 9 threads: 1 to 8"},
    {arch_of_no_gpu, "a kernel is for a GPU, not for 'any'"},
    {late_attribute, "parameters and axes come before the kernel's operations"},
    {arrivals_of_an_mbarrier, "only a barrier that is not an mbarrier has arrivals, a cluster and "
                              "orders_tensor_core"},
    {explicit_semaphore, "only barriers are explicit, and only semaphores global"},
    {global_barrier, "only barriers are explicit, and only semaphores global"},
    {semaphore_in_smem, "semaphores lie in gmem"},
    {packed_barrier, "barriers are not packed or collective, and no scales or metadata"},
    {scales_in_smem,
     "only arrays in tmem are packed, scales, split_scales, metadata or collective"},
    {scales_of_both_kinds, "an array in tmem is packed, scales, split_scales or metadata"},
    {padded_in_tmem, "only arrays in smem are padded"},
    {packed_metadata, "an array in tmem is packed, scales, split_scales or metadata"},
    {array_with_a_cluster, "an array has an element type and no arrivals"},
    {groups_that_share, "a cluster axis stands in two groups of one barrier"},
    {group_of_a_grid_axis, "a set of axes has axes that are not cluster axes, or none"},
    {multicast_over_nothing, "a set of axes has axes that are not cluster axes, or none"},
    {multicast_over_the_grid, "a set of axes has axes that are not cluster axes, or none"},
    {multicast_over_an_unknown_axis, "a set of axes has axes that are not cluster axes, or none"},
    {no_range, "'pixels' of no ranges, or of more than 3"},
    {fourth_range, "'copy_gmem_to_smem_im2col' has at most 3 offsets, not 4"},
    {choice_of_another_attribute, "attribute 'order' has no choice"},
    {unknown_choice, "attribute 'order' has no choice"},
    {place_is_a_reference, "a place is a reference; load it first"},
    {place_on_no_axis, "a CTA has a place on 1 to 4 cluster axes"},
    {semaphore_is_a_constant, "an operand of 'semaphore_signal' is of the wrong kind"},
    {partition_outside, "a partition outside of 'warp_specialize'"},
    {ninth_body, "more than 8 bodies of a warp_specialize"},
    {partition_with_results, "the results of a warp_specialize are those of its first body"},
    {warps_with_results, "a warp_map has no results"},
    {regions_by_op, "'warp_map' has a function of its own"},
};

TEST_EACH(each_mistake_is_reported_once, COUNT_OF(mistakes)) {
    grout_builder_here(b, "user.c", 7);
    mistakes[_i].make();
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_total(diags), 1);
    ck_assert_str_eq(grout_diags_get(diags, 0)->message, mistakes[_i].message);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BUILDER);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
