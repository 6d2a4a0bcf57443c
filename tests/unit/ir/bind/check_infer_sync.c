/* check_infer_sync.c - clusters, semaphores, the explicit style: types and refusals, views,
 * arrivals and places in memory. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#define MISMATCH GROUT_DIAG_TYPE_MISMATCH
#define CLASS    GROUT_DIAG_TYPE_CLASS
#define SHAPE    GROUT_DIAG_SHAPE_MISMATCH
#define KIND     GROUT_DIAG_OPERAND_KIND
#define REGION   GROUT_DIAG_BAD_REGION
#define INDEX    GROUT_DIAG_BAD_INDEX
#define LITERAL  GROUT_DIAG_BAD_LITERAL
#define SPACE    GROUT_DIAG_BAD_SPACE
#define DIM      GROUT_DIAG_BAD_DIMENSION

#define HEADER                                                                                   \
    "kernel @k(%a: in gmem f32[64, 32], %q: inout gmem u32[8], %w: inout gmem i64[8], %n: i32, " \
    "%u: u32, %x: f32, %p: bool)\n"                                                              \
    "    grid(x = 3) cluster(cx = 2, cy = 4) threads(wg = 2)\n{\n"                               \
    "  scratch %b : barrier[2]\n"                                                                \
    "  scratch %m : mbarrier[3]\n"                                                               \
    "  scratch %s : semaphore[2]\n"                                                              \
    "  scratch %g : semaphore[1] global\n"                                                       \
    "  scratch %t : gmem f32[16]\n"                                                              \
    "  scratch %as : smem f32[2, 16, 32]\n"                                                      \
    "  scratch %cs : smem u32[8]\n"                                                              \
    "  scratch %acc : acc f32[64, 8]\n"                                                          \
    "  %d = tensor_descriptor %a : f32[16, 32]\n"                                                \
    "  %row = load %as[0, 0]\n"

/* A statement that defines %r, or a statement without a result (type ""); or the code that refuses
 * it (type NULL). */
typedef struct sync_case {
    const char *statement;
    const char *type;
    grout_diag_code code;
} sync_case;

// clang-format off
static const sync_case cases[] = {
    /* barriers */
    {"%r = barrier_test %b[1]", "bool", 0},
    {"%r = barrier_test %b", NULL, INDEX},
    {"%r = barrier_test %as[0]", NULL, KIND},
    {"%r = barrier_test %n", NULL, KIND},
    {"%r = mbarrier_test %m[%n], %n % 2", "bool", 0},
    {"%r = mbarrier_test %m[0], %p", NULL, MISMATCH},
    {"%r = mbarrier_test %m[0], %u", NULL, MISMATCH},
    {"%r = mbarrier_test %m[0], true", NULL, MISMATCH},
    {"mbarrier_wait %m[0], 1", "", 0},
    {"mbarrier_wait %m, 1", NULL, INDEX},
    {"mbarrier_wait %m[0], %row", NULL, MISMATCH},
    {"mbarrier_init %m[0], 4 * 2", "", 0},
    {"mbarrier_init %m[0], 3000000000", NULL, LITERAL},
    {"mbarrier_init %m[0], 1.5", NULL, MISMATCH},
    {"mbarrier_init %s[0], 1", NULL, KIND},
    {"mbarrier_invalidate %m[2]", "", 0},
    {"mbarrier_arrive %m.cluster(0, %n)[2] count(2) from_cta(0)", "", 0},
    {"named_barrier_sync 1, 2", "", 0},
    {"named_barrier_sync 1.0, 2", NULL, MISMATCH},
    /* semaphores */
    {"semaphore_signal %s[0], 1", "", 0},
    {"semaphore_signal %s[0], %n", "", 0},
    {"semaphore_signal %s[0], %x", NULL, MISMATCH},
    {"semaphore_signal %s[0], 1.0", NULL, MISMATCH},
    {"semaphore_signal %s, 1", NULL, INDEX},
    {"semaphore_signal %b[0], 1", NULL, KIND},
    {"semaphore_wait %g[0], (add %n, 1) no_decrement", "", 0},
    {"%r = semaphore_read %g[0]", "i32", 0},
    {"%r = semaphore_read %q[0]", NULL, KIND},
    {"%r = add %s[0], 1", NULL, KIND},
    {"%r = load %s[0]", NULL, KIND},
    {"semaphore_signal %s[%u], 1", NULL, MISMATCH},
    /* atomics */
    {"atomic_add %as[0, 0], %row", "", 0},
    {"atomic_add %as[0, 0, 0], 1", "", 0},
    {"atomic_add %as[0, 0], 1", NULL, SHAPE},
    {"atomic_add %as[0, 0, 0], %n", NULL, MISMATCH},
    {"atomic_or %q[%n], 1", "", 0},
    {"atomic_or %as[0, 0, 0], %x", NULL, CLASS},
    {"%r = atomic_fetch_add %q[0], 1", "u32", 0},
    {"%r = atomic_fetch_add %cs.cluster(1, 1)[%n], %u", "u32", 0},
    {"%r = atomic_fetch_add %q, %u", NULL, SHAPE},
    {"%r = atomic_fetch_add %q[0], %n", NULL, MISMATCH},
    {"%r = atomic_fetch_add %as[0, 0, 0], %x", NULL, CLASS},
    {"%r = atomic_fetch_add %q[0], -1", NULL, LITERAL},
    {"%r = atomic_exchange %w[0], 1", NULL, CLASS},
    {"%r = atomic_cas %q[0], 0, %u", "u32", 0},
    {"%r = atomic_cas %q[0], %n, %u", NULL, MISMATCH},
    {"%r = atomic_cas %b[0], 0, 1", NULL, KIND},
    /* copies and stores of other engines */
    {"async_copy %a[ds(0, 16), :], %as[0]", "", 0},
    {"async_copy %a[ds(0, 8), :], %as[0]", NULL, SHAPE},
    {"async_copy %q, %as[0, 0, ds(0, 8)]", NULL, MISMATCH},
    {"async_copy_arrive %b[0]", "", 0},
    {"async_copy_arrive %b", NULL, INDEX},
    {"async_store_smem %row, %as.cluster(1, 0)[0, 0], %b[0]", "", 0},
    {"async_store_smem %row, %as.cluster(1, 0)[0], %b[0]", NULL, SHAPE},
    {"async_store_smem %row, %cs.cluster(1, 0), %b[0]", NULL, MISMATCH},
    {"async_store_smem %row, %as.cluster(1, 0)[0, 0], %b", NULL, INDEX},
    {"async_store_smem %row, %as.cluster(1, 0)[0, 0], %s[0]", NULL, KIND},
    {"async_store_smem %as[0, 0], %as.cluster(1, 0)[0, 0], %b[0]", NULL, KIND},
    /* descriptors */
    {"%r = tensor_descriptor %a : f32[1, 32]", "descriptor of f32[1, 32]", 0},
    {"%r = tensor_descriptor %t : f32[8]", "descriptor of f32[8]", 0},
    {"%r = tensor_descriptor %a : f32[32]", NULL, SHAPE},
    {"%r = tensor_descriptor %a : f16[1, 32]", NULL, MISMATCH},
    {"%r = tensor_descriptor %a : f32[0, 32]", NULL, DIM},
    {"%r = tensor_descriptor %a : f32[2147483647, 2147483647]", NULL, DIM},
    {"%r = tensor_descriptor %a[ds(0, 16), :] : f32[16, 32]", NULL, KIND},
    {"%r = tensor_descriptor %as : f32[1, 1, 32]", NULL, KIND},
    {"%r = tensor_descriptor %d : f32[16, 32]", NULL, INDEX},
    {"%r = make_tensor_descriptor %t, %a, %n, 0, 16, 32 : f32[16, 32]", "descriptor of f32[16, 32]",
     0},
    {"%r = make_tensor_descriptor %t, %t, 0, 16 : f32[8]", "descriptor of f32[8]", 0},
    {"%r = make_tensor_descriptor %t, %a : f32[16, 32]", NULL, GROUT_DIAG_OPERAND_COUNT},
    {"%r = make_tensor_descriptor %t, %a, 0, 0, 16 : f32[16, 32]", NULL, GROUT_DIAG_OPERAND_COUNT},
    {"%r = make_tensor_descriptor %t, %a, 0, 0, 16, %row : f32[16, 32]", NULL, MISMATCH},
    {"%r = make_tensor_descriptor %t, %a[ds(0, 16), :], 0, 0, 16, 32 : f32[16, 32]", NULL, KIND},
    {"%r = make_tensor_descriptor %d, %a, 0, 0, 16, 32 : f32[16, 32]", NULL, INDEX},
    {"%r = make_tensor_descriptor %t, %a, 0, 0, 16, 32 : f16[16, 32]", NULL, MISMATCH},
    {"tensormap_acquire %t", "", 0},
    {"tensormap_acquire %n", NULL, KIND},
    {"copy_gmem_to_smem %d[%n, 0], %as[0], %m[0]", "", 0},
    {"copy_smem_to_gmem %as[0], %d[0, 0]", "", 0},
    {"copy_gmem_to_smem %d, %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[%n], %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[ds(%n, 16), :], %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[%n, 0].transpose(1, 0), %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[%n, 0].cluster(0, 0), %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d.cluster(0, 0)[%n, 0], %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[%x, 0], %as[0], %m[0]", NULL, MISMATCH},
    {"copy_gmem_to_smem %d[3000000000, 0], %as[0], %m[0]", NULL, INDEX},
    {"copy_gmem_to_smem %d[%n, 0], %as[0, ds(0, 8)], %m[0]", NULL, SHAPE},
    {"%r = neg %d", NULL, KIND},
    {"store %as[0, 0, 0], %d", NULL, KIND},
    {"%r = for %i in 0..2 carry(%c = %d) {\n    yield %c\n  }", NULL, KIND},
    {"%r = if %p {\n    yield %d\n  } else {\n    yield 1\n  }", NULL, KIND},
    {"%r = neg (tensor_descriptor %a : f32[1, 32])", NULL, KIND},
    {"%r = load (tensor_descriptor %a : f32[1, 32])", NULL, INDEX},
    /* the same object in another CTA */
    {"%r = load %as.cluster(%n, 3)[1, 0]", "f32[32]", 0},
    {"%r = load %as[1].cluster(%n, 3)[0]", "f32[32]", 0},
    {"%r = load %as[1, 0].cluster(%n, 3)", "f32[32]", 0},
    {"%r = load %as.cluster(0)[1, 0]", NULL, INDEX},
    {"%r = load %as.cluster(0, 0, 0)[1, 0]", NULL, INDEX},
    {"%r = load %as.cluster(0, 0).cluster(0, 0)[1, 0]", NULL, INDEX},
    {"%r = load %as.cluster(0, %x)[1, 0]", NULL, MISMATCH},
    {"%r = load %as.cluster(0, 1.5)[1, 0]", NULL, GROUT_DIAG_CONST_TYPE},
    {"%r = load %as.cluster(0, 3000000000)[1, 0]", NULL, INDEX},
    {"%r = load %as.cluster(0, 0)[0, 0, 0, 0]", NULL, INDEX},
    {"%r = load %a.cluster(0, 0)[0]", NULL, SPACE},
    {"%r = load %t.cluster(0, 0)", NULL, SPACE},
    {"%r = load %acc.cluster(0, 0)", NULL, SPACE},
    {"semaphore_signal %s.cluster(0, 0)[0], 1", NULL, SPACE},
    /* warps and partitions */
    {"warp_map(%i) {\n    store %as[0, 0, %i], 1\n    %v = neg %i\n  }", "", 0},
    {"%r = warp_specialize {\n    yield %n\n  } partition {\n    barrier_arrive %b[0]\n  }", "i32", 0},
    {"%r = warp_specialize {\n    yield 1.5\n  } partition {\n  }", "f32", 0},
    {"%r = warp_specialize {\n    yield (load %as[0])\n  }", "f32[16, 32]", 0},
    {"warp_specialize {\n    %v = neg %x\n  } partition {\n    %v = neg %n\n  }", "", 0},
};
// clang-format on

TEST_EACH(each_statement_has_its_type, COUNT_OF(cases)) {
    const sync_case *c = &cases[_i];
    grout_text text = {0};
    grout_text_add(&text, "%s  %s\n}\n", HEADER, c->statement);
    bound_text bound = bind_text(text.data, NULL, 0);
    if (c->type == NULL) {
        ck_assert_msg(bound.bound == NULL, "accepted: %s", c->statement);
        ck_assert_msg(get_code(bound.diags) == c->code, "%s\n%s", c->statement,
                      get_said(bound.diags));
        ck_assert_msg(grout_diags_total(bound.diags) == 1, "%s\n%s", c->statement,
                      get_said(bound.diags));
    } else {
        ck_assert_msg(bound.bound != NULL, "%s\n%s", c->statement, get_said(bound.diags));
        grout_text type = {0};
        grout_value_id value = find_value(bound.bound, "r");
        if (value != 0) {
            grout_type_print(grout_module_get_type(bound.bound, value), &type);
        }
        ck_assert_str_eq(type.data == NULL ? "" : type.data, c->type);
        grout_text_free(&type);
    }
    free_text(&bound);
    grout_text_free(&text);
}

/* ---- views ----------------------------------------------------------------------------------- */

static grout_view view_of(const bound_text *text, grout_opcode opcode, uint32_t n, uint32_t index) {
    grout_view view;
    const grout_op *op = grout_module_get_op(text->bound, find_op(text->bound, opcode, n));
    ck_assert(grout_module_get_view(text->bound, grout_module_get_operand(text->bound, op, index),
                                    &view));
    return view;
}

TEST(a_view_says_which_cta) {
    bound_text text =
        bind_text(HEADER "  %r = load %as.cluster(%n, 3)[1, ds(%n, 2)]\n}\n", NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    grout_view own = view_of(&text, GROUT_OP_LOAD, 0, 0);
    grout_view peer = view_of(&text, GROUT_OP_LOAD, 1, 0);
    ck_assert_uint_eq(own.cluster_index_count, 0);
    ck_assert_uint_eq(peer.cluster_index_count, 2);
    ck_assert_uint_eq(peer.cluster_index[0].kind, GROUT_OPERAND_VALUE);
    ck_assert_uint_eq(peer.cluster_index[0].id, find_value(text.bound, "n"));
    ck_assert_uint_eq(peer.cluster_index[1].kind, GROUT_OPERAND_EXPR);
    ck_assert_int_eq(grout_module_get_expr_value(text.bound, peer.cluster_index[1].id).integer, 3);
    ck_assert_uint_eq(peer.object, find_object(text.bound, "as"));
    ck_assert_int_eq(peer.start_const[0], 1);
    ck_assert_int_eq(peer.extent[1], 2);
    free_text(&text);
}

TEST(a_view_goes_through_a_descriptor) {
    bound_text text =
        bind_text(HEADER "  copy_gmem_to_smem %d[%n + 1, 32], %as[0], %m[0]\n}\n", NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    grout_view view = view_of(&text, GROUT_OP_COPY_GMEM_TO_SMEM, 0, 0);
    ck_assert_uint_eq(view.descriptor, find_value(text.bound, "d"));
    ck_assert_uint_eq(view.object, find_object(text.bound, "a"));
    ck_assert_uint_eq(view.base, find_value(text.bound, "a"));
    ck_assert_uint_eq(view.view_rank, 2);
    ck_assert_int_eq(view.extent[0], 16);
    ck_assert_int_eq(view.extent[1], 32);
    ck_assert_uint_eq(view.start_term_count[0], 1);
    ck_assert_int_eq(view.start_const[1], 32);
    ck_assert(!view.is_squeezed[0] && !view.is_squeezed[1]);
    ck_assert_uint_eq(view_of(&text, GROUT_OP_COPY_GMEM_TO_SMEM, 0, 1).descriptor, 0);
    free_text(&text);
}

/* ---- objects --------------------------------------------------------------------------------- */

static const struct {
    const char *object;
    uint32_t arrivals;
} arrivals[] = {
    {"barrier[1]", 1},
    {"barrier[1] arrivals(3)", 3},
    {"barrier[1] cluster(cx)", 2},
    {"barrier[1] cluster(cx) arrivals(3)", 6},
    {"barrier[1] cluster(cx, cy)", 5},
    {"barrier[1] arrivals(2) cluster(cx, cy, cz)", 14},
    {"barrier[1] cluster((cx, cy))", 8},
    {"barrier[1] cluster(cx, (cy, cz))", 13},
    {"barrier[1] cluster((cz, cx), cy)", 9},
    {"barrier[1] arrivals(2147483647) cluster(cx)", 0},
    {"barrier[1] arrivals(9000000000000000000) cluster(cx)", 0},
    {"mbarrier[1]", 0},
};

TEST_EACH(a_phase_takes_so_many_arrivals, COUNT_OF(arrivals)) {
    grout_text text = {0};
    grout_text_add(&text, "kernel @k() cluster(cx = 2, cy = 4, cz = 3) {\n  scratch %%b : %s\n}\n",
                   arrivals[_i].object);
    bound_text bound = bind_text(text.data, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s", get_said(bound.diags));
    ck_assert_uint_eq(grout_object_get_arrivals(bound.bound, find_object(bound.bound, "b")),
                      arrivals[_i].arrivals);
    free_text(&bound);
    grout_text_free(&text);
}

TEST(only_arrays_and_barriers_take_smem) {
    bound_text text = bind_text("kernel @k() threads(wg = 1) {\n"
                                "  scratch %as : smem f32[16]\n"
                                "  scratch %p : gmem f32[16]\n"
                                "  scratch %s : semaphore[4]\n"
                                "  scratch %m : mbarrier[3]\n"
                                "  scratch %b : barrier[1]\n"
                                "}\n",
                                NULL, 0);
    const grout_module *bound = text.bound;
    ck_assert_ptr_nonnull(bound);
    ck_assert_int_eq(grout_object_get_offset(bound, find_object(bound, "as")), 0);
    ck_assert_int_eq(grout_object_get_offset(bound, find_object(bound, "p")), -1);
    ck_assert_int_eq(grout_object_get_offset(bound, find_object(bound, "s")), -1);
    ck_assert_int_eq(grout_object_get_offset(bound, find_object(bound, "m")), 64);
    ck_assert_int_eq(grout_object_get_offset(bound, find_object(bound, "b")), 88);
    ck_assert_int_eq(grout_kernel_get_space_bytes(bound, 1, GROUT_SPACE_SMEM), 96);
    ck_assert(grout_module_get_object(bound, find_object(bound, "p"))->is_global);
    ck_assert(!grout_module_get_object(bound, find_object(bound, "s"))->is_global);
    free_text(&text);
}

/* Barriers of scopes after each other share bytes only if the hardware and its users see no
 * difference. */
TEST(barriers_of_scopes_share_with_their_like) {
    static const struct {
        const char *first, *second;
        bool is_shared;
    } pairs[] = {
        {"barrier[2]", "barrier[2]", true},
        {"mbarrier[2]", "mbarrier[2]", true},
        {"barrier[2]", "mbarrier[2]", false},
        {"barrier[2] cluster(cx)", "barrier[2] cluster(cx)", true},
        {"barrier[2] cluster(cx)", "barrier[2] cluster(cy)", false},
        {"barrier[2] cluster(cx)", "barrier[2] arrivals(2)", false},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        grout_text text = {0};
        grout_text_add(&text,
                       "kernel @k() cluster(cx = 2, cy = 2) threads(wg = 1) {\n"
                       "  scoped(%%a : %s) collective {\n  }\n"
                       "  scoped(%%b : %s) collective {\n  }\n}\n",
                       pairs[k].first, pairs[k].second);
        bound_text bound = bind_text(text.data, NULL, 0);
        ck_assert_ptr_nonnull(bound.bound);
        int64_t first = grout_object_get_offset(bound.bound, find_object(bound.bound, "a"));
        int64_t second = grout_object_get_offset(bound.bound, find_object(bound.bound, "b"));
        ck_assert_msg((first == second) == pairs[k].is_shared, "%s, %s", pairs[k].first,
                      pairs[k].second);
        free_text(&bound);
        grout_text_free(&text);
    }
}

TEST(semaphores_of_an_array_have_a_limit) {
    bound_text text = bind_text("kernel @k() {\n  scratch %s : semaphore[1048576]\n}\n", NULL, 0);
    ck_assert_ptr_nonnull(text.bound);
    free_text(&text);
    text = bind_text("kernel @k() {\n  scratch %s : semaphore[1048577]\n}\n", NULL, 0);
    ck_assert_ptr_null(text.bound);
    ck_assert_int_eq(get_code(text.diags), DIM);
    free_text(&text);
}

/* CTA i has rank i % C in cluster i / C; the last cluster axis is the fastest. */
TEST(ranks_are_row_major) {
    bound_text text = bind_text(
        "kernel @k() threads(wg = 2) cluster(cx = 2, cy = 3) grid(x = 2, y = 2) {\n}\n", NULL, 0);
    const grout_module *bound = text.bound;
    ck_assert_ptr_nonnull(bound);
    ck_assert_uint_eq(grout_kernel_get_cluster_size(bound, 1), 6);
    ck_assert_int_eq(grout_kernel_get_grid_size(bound, 1), 24);
    /* axes: x, y, cx, cy, wg */
    const int64_t cta = 2 * 6 + 4; /* cluster (1, 0), rank 4 = (1, 1) */
    static const int64_t indices[] = {1, 0, 1, 1, 1};
    for (uint32_t axis = 0; axis < 5; axis++) {
        ck_assert_int_eq(grout_kernel_get_axis_index(bound, 1, axis, cta, 1), indices[axis]);
    }
    ck_assert_uint_eq(grout_kernel_get_cluster_mask(bound, 1, 0, 4), 1u << 4);
    ck_assert_uint_eq(grout_kernel_get_cluster_mask(bound, 1, 1 << 2, 4), 1u << 1 | 1u << 4);
    ck_assert_uint_eq(grout_kernel_get_cluster_mask(bound, 1, 1 << 3, 4), 7u << 3);
    ck_assert_uint_eq(grout_kernel_get_cluster_mask(bound, 1, 1 << 2 | 1 << 3, 4), 63);
    ck_assert_uint_eq(grout_kernel_get_cluster_mask(bound, 1, 1 << 0, 4), 1u << 4);
    free_text(&text);
}

TEST(an_exit_sync_is_for_clusters) {
    static const struct {
        const char *text;
        bool is_sync;
    } kernels[] = {
        {"kernel @k() cluster(cx = 2) {\n}\n", false},
        {"kernel @k() cluster(cx = 2) attr cluster_exit = sync {\n}\n", true},
        {"kernel @k() cluster(cx = 1) attr cluster_exit = sync {\n}\n", false},
        {"kernel @k() cluster(cx = 2) {\n  scratch %m : mbarrier[1]\n}\n", true},
        {"kernel @k() cluster(cx = 2) {\n  scoped(%m : mbarrier[1]) {\n  }\n}\n", true},
        {"kernel @k() cluster(cx = 2) {\n  scratch %m : barrier[1]\n}\n", false},
        {"kernel @k() cluster(cx = 2) attr cluster_exit = none {\n  scratch %m : mbarrier[1]\n}\n",
         false},
    };
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        bound_text text = bind_text(kernels[k].text, NULL, 0);
        ck_assert_ptr_nonnull(text.bound);
        ck_assert_msg(grout_kernel_has_exit_sync(text.bound, 1) == kernels[k].is_sync, "%s",
                      kernels[k].text);
        free_text(&text);
    }
}
