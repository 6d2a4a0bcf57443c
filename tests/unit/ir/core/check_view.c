/* check_view.c - references composed of indices, slices and transposes, against a naive model.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* ---- a table of shapes and starts ------------------------------------------------------------ */

typedef struct view_case {
    const char *ref;
    uint32_t rank;     /* of the view */
    uint8_t dims[3];   /* the object's dimension for each of the view's */
    int64_t extent[3]; /* of the object's dimensions */
    int64_t start[3];  /* their constant starts */
    uint8_t terms[3];  /* how many values are added to each */
} view_case;

static const view_case view_cases[] = {
    {"%a", 3, {0, 1, 2}, {4, 8, 16}, {0, 0, 0}, {0, 0, 0}},
    {"%a[2]", 2, {1, 2}, {1, 8, 16}, {2, 0, 0}, {0, 0, 0}},
    {"%a[%i]", 2, {1, 2}, {1, 8, 16}, {0, 0, 0}, {1, 0, 0}},
    {"%a[:, 3]", 2, {0, 2}, {4, 1, 16}, {0, 3, 0}, {0, 0, 0}},
    {"%a[1, 2, 3]", 0, {0}, {1, 1, 1}, {1, 2, 3}, {0, 0, 0}},
    {"%a[ds(1, 2), ds(%i, 4)]", 3, {0, 1, 2}, {2, 4, 16}, {1, 0, 0}, {0, 1, 0}},
    {"%a[ds(1, 2)][1]", 2, {1, 2}, {1, 8, 16}, {2, 0, 0}, {0, 0, 0}},
    {"%a[ds(%i, 2)][%j]", 2, {1, 2}, {1, 8, 16}, {0, 0, 0}, {2, 0, 0}},
    {"%a[ds(%i, 3)][ds(%j, 2)][ds(1, 1)][%i]", 2, {1, 2}, {1, 8, 16}, {1, 0, 0}, {3, 0, 0}},
    {"%a.transpose(2, 0, 1)", 3, {2, 0, 1}, {4, 8, 16}, {0, 0, 0}, {0, 0, 0}},
    {"%a.transpose(2, 0, 1)[5]", 2, {0, 1}, {4, 8, 1}, {0, 0, 5}, {0, 0, 0}},
    {"%a[1].transpose(1, 0)[ds(4, 8)]", 2, {2, 1}, {1, 8, 8}, {1, 0, 4}, {0, 0, 0}},
    {"%a.transpose(1, 2, 0).transpose(1, 2, 0)", 3, {2, 0, 1}, {4, 8, 16}, {0, 0, 0}, {0, 0, 0}},
};

static bound_text bind_load(const char *ref) {
    char source[512];
    snprintf(source, sizeof source,
             "kernel @k(%%a: in gmem f32[4, 8, 16], %%i: i32, %%j: i32) {\n  %%r = load %s\n}\n",
             ref);
    return bind_text(source, NULL, 0);
}

TEST_EACH(views, COUNT_OF(view_cases)) {
    const view_case *c = &view_cases[_i];
    bound_text text = bind_load(c->ref);
    ck_assert_msg(text.bound != NULL, "%s: %s", c->ref, get_said(text.diags));
    const grout_op *op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_LOAD, 0));
    grout_view view;
    ck_assert(
        grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 0), &view));
    ck_assert_uint_eq(view.base, find_value(text.bound, "a"));
    ck_assert_uint_eq(view.rank, 3);
    ck_assert_uint_eq(view.view_rank, c->rank);
    uint32_t seen = 0;
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert(k >= c->rank || view.view_dim[k] == c->dims[k]);
        ck_assert_int_eq(view.extent[k], c->extent[k]);
        ck_assert_int_eq(view.start_const[k], c->start[k]);
        ck_assert_uint_eq(view.start_term_count[k], c->terms[k]);
        seen |= 1u << view.order[k];
        ck_assert(k < 3 - c->rank ? view.is_squeezed[view.order[k]]
                                  : view.order[k] == view.view_dim[k - (3 - c->rank)]);
    }
    ck_assert_uint_eq(seen, 7);
    free_text(&text);
}

/* A slice of an accumulator is a view like others: a box of an object in a space of its own. */
TEST(accumulators) {
    bound_text text = bind_text("kernel @k() {\n  scratch %acc : acc f16[128, 64]\n"
                                "  %r = acc_load %acc[:, ds(16, 32)]\n}\n",
                                NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    const grout_op *op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_ACC_LOAD, 0));
    const grout_operand *operand = grout_module_get_operand(text.bound, op, 0);
    grout_view view;
    ck_assert(grout_module_get_view(text.bound, operand, &view));
    ck_assert_uint_eq(view.object, find_object(text.bound, "acc"));
    ck_assert(view.extent[0] == 128 && view.extent[1] == 32 && view.start_const[1] == 16);
    grout_type type = grout_module_get_operand_type(text.bound, operand);
    ck_assert(type.kind == GROUT_TYPE_REF && type.space == GROUT_SPACE_ACC);
    const grout_layout *layout = grout_object_get_layout(text.bound, view.object);
    ck_assert(grout_layout_is_plain(layout) && layout->bytes == 128l * 64 * 2);
    grout_text said = {0};
    grout_type_print(&type, &said);
    ck_assert_str_eq(said.data, "acc f16[128, 32]");
    grout_text_free(&said);
    free_text(&text);
}

/* ---- random chains --------------------------------------------------------------------------- */

static uint32_t pick(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* The model: for each element of the view the element of the object, as one number each. */
typedef struct model {
    uint32_t rank;
    uint32_t dims[3];
    uint32_t elements[4 * 8 * 16];
} model;

static uint32_t get_count(const model *m) {
    uint32_t count = 1;
    for (uint32_t k = 0; k < m->rank; k++) {
        count *= m->dims[k];
    }
    return count;
}

/* Moves dimension k to the front, the simplest transpose that makes all of them. */
static void model_transpose(model *m, uint32_t k) {
    model old = *m;
    uint32_t inner = 1, outer = 1;
    for (uint32_t i = 0; i < m->rank; i++) {
        inner *= i > k ? m->dims[i] : 1;
        outer *= i < k ? m->dims[i] : 1;
    }
    uint32_t size = m->dims[k];
    for (uint32_t x = 0; x < size; x++) {
        for (uint32_t o = 0; o < outer; o++) {
            for (uint32_t i = 0; i < inner; i++) {
                m->elements[(x * outer + o) * inner + i] = old.elements[(o * size + x) * inner + i];
            }
        }
    }
    for (uint32_t i = k; i > 0; i--) {
        m->dims[i] = old.dims[i - 1];
    }
    m->dims[0] = size;
}

/* Takes elements start .. start+size-1 of the first dimension; is_at: and drops it. */
static void model_slice(model *m, uint32_t start, uint32_t size, bool is_at) {
    uint32_t inner = get_count(m) / m->dims[0];
    memmove(m->elements, m->elements + (size_t)start * inner,
            (size_t)size * inner * sizeof *m->elements);
    m->dims[0] = size;
    if (is_at) {
        m->rank--;
        memmove(m->dims, m->dims + 1, m->rank * sizeof *m->dims);
    }
}

static void add_random_step(uint64_t *state, model *m, char *ref, size_t max) {
    size_t size = strlen(ref);
    if (m->rank > 1 && pick(state, 2) == 0) {
        uint32_t front = pick(state, m->rank);
        model_transpose(m, front);
        size += (size_t)snprintf(ref + size, max - size, ".transpose(%u", front);
        for (uint32_t k = 0; k < m->rank; k++) {
            if (k != front) {
                size += (size_t)snprintf(ref + size, max - size, ", %u", k);
            }
        }
        snprintf(ref + size, max - size, ")");
        return;
    }
    uint32_t start = pick(state, m->dims[0]);
    uint32_t extent = 1 + pick(state, m->dims[0] - start);
    bool is_at = pick(state, 4) == 0;
    if (is_at) {
        snprintf(ref + size, max - size, "[%u]", start);
        extent = 1;
    } else {
        snprintf(ref + size, max - size, "[ds(%u, %u)]", start, extent);
    }
    model_slice(m, start, extent, is_at);
}

static void check_model(const model *m, const grout_view *view, const char *ref) {
    ck_assert_msg(view->view_rank == m->rank, "%s", ref);
    for (uint32_t element = 0; element < get_count(m); element++) {
        int64_t index[3] = {view->start_const[0], view->start_const[1], view->start_const[2]};
        uint32_t rest = element;
        for (uint32_t k = m->rank; k-- > 0;) {
            index[view->view_dim[k]] += rest % m->dims[k];
            rest /= m->dims[k];
        }
        if ((index[0] * 8 + index[1]) * 16 + index[2] != m->elements[element]) {
            ck_abort_msg("%s: element %u", ref, element);
        }
    }
}

TEST_EACH(random_chains, 10) {
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < 50; round++) {
        char ref[256] = "%a";
        static model m;
        m.rank = 3;
        m.dims[0] = 4;
        m.dims[1] = 8;
        m.dims[2] = 16;
        for (uint32_t i = 0; i < 4 * 8 * 16; i++) {
            m.elements[i] = i;
        }
        for (uint32_t steps = 1 + pick(&state, 5); steps > 0 && m.rank > 0; steps--) {
            add_random_step(&state, &m, ref, sizeof ref);
        }
        bound_text text = bind_load(ref);
        ck_assert_msg(text.bound != NULL, "%s: %s", ref, get_said(text.diags));
        const grout_op *op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_LOAD, 0));
        grout_view view;
        ck_assert(
            grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 0), &view));
        check_model(&m, &view, ref);
        free_text(&text);
    }
}

/* The limit of computed starts, and one past it. */
TEST(term_limit) {
    bound_text text = bind_load("%a[:, :, ds(%i, 8)][:, :, ds(%i, 4)][:, :, ds(%j, 2)][:, :, %i]");
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    free_text(&text);
    text = bind_load(
        "%a[:, :, ds(%i, 8)][:, :, ds(%i, 4)][:, :, ds(%j, 2)][:, :, ds(%i, 2)][:, :, %i]");
    ck_assert_int_eq(get_code(text.diags), GROUT_DIAG_BAD_INDEX);
    free_text(&text);
}

/* A value is no reference. */
TEST(no_view) {
    bound_text text = bind_text("kernel @k(%a: inout gmem f32[4]) {\n  %x = load %a\n"
                                "  store %a, (add %x, 1.0)\n}\n",
                                NULL, 0);
    const grout_op *op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_ADD, 0));
    grout_view view;
    ck_assert(
        !grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 0), &view));
    ck_assert(
        !grout_module_get_view(text.bound, grout_module_get_operand(text.bound, op, 1), &view));
    free_text(&text);
}
