/* check_ptx_view.c - what is handed over to whom: PTX ISA 9.1, 'Morally strong operations'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "view.h"

/* Two CTAs in a cluster. */
enum { CLUSTER = 2, AGENT = 7, LANE = 3, TIME = 5 };
static const ptx_means means = {.allocator = NULL};

static const struct scope_case {
    ptx_scope scope;
    uint32_t cta, other;
    bool is_in;
} scope_cases[] = {
    {PTX_SCOPE_NONE, 1, 1, false},   {PTX_SCOPE_CTA, 1, 1, true},      {PTX_SCOPE_CTA, 1, 0, false},
    {PTX_SCOPE_CLUSTER, 1, 0, true}, {PTX_SCOPE_CLUSTER, 1, 2, false}, {PTX_SCOPE_GPU, 1, 2, true},
    {PTX_SCOPE_SYS, 1, 9, true},
};

TEST_EACH(scopes_include_threads, COUNT_OF(scope_cases)) {
    const struct scope_case *it = &scope_cases[_i];
    ck_assert_int_eq(grout_ptx__includes(it->scope, it->cta, it->other, CLUSTER), it->is_in);
}

/* CTA 1 takes what CTA 0 hands over. */
static const struct head_case {
    ptx_scope head, taker;
    ptx_handed handed, taken;
} head_cases[] = {
    {PTX_SCOPE_CLUSTER, PTX_SCOPE_CLUSTER, PTX_HANDED_ALL, PTX_HANDED_ALL},
    {PTX_SCOPE_GPU, PTX_SCOPE_CLUSTER, PTX_HANDED_ALL, PTX_HANDED_ALL},
    {PTX_SCOPE_CTA, PTX_SCOPE_GPU, PTX_HANDED_ALL, PTX_HANDED_ENGINES},
    {PTX_SCOPE_GPU, PTX_SCOPE_CTA, PTX_HANDED_ALL, PTX_HANDED_ENGINES},
    {PTX_SCOPE_GPU, PTX_SCOPE_GPU, PTX_HANDED_ENGINES, PTX_HANDED_ENGINES},
    {PTX_SCOPE_GPU, PTX_SCOPE_GPU, PTX_HANDED_FENCED, PTX_HANDED_FENCED},
    {PTX_SCOPE_GPU, PTX_SCOPE_NONE, PTX_HANDED_ALL, PTX_HANDED_FENCED},
    {PTX_SCOPE_CLUSTER, PTX_SCOPE_NONE, PTX_HANDED_ENGINES, PTX_HANDED_FENCED},
};

/* What is known, and by which part it is handed over. */
static const struct known_case {
    ptx_known known;
    ptx_handed least;
} known_cases[] = {
    {PTX_KNOWN_THREADS, PTX_HANDED_ALL},     {PTX_KNOWN_SHARED, PTX_HANDED_ALL},
    {PTX_KNOWN_GLOBAL, PTX_HANDED_ALL},      {PTX_KNOWN_MAPS_OUT, PTX_HANDED_ALL},
    {PTX_KNOWN_ENGINES, PTX_HANDED_ENGINES}, {PTX_KNOWN_BEGUN, PTX_HANDED_FENCED},
    {PTX_KNOWN_SEALED, PTX_HANDED_FENCED},   {PTX_KNOWN_SEALED_SEEN, PTX_HANDED_FENCED},
};

static ptx_head make_head(ptx_scope scope, ptx_handed handed) {
    ptx_head head = {.scope = scope, .handed = handed};
    for (int i = 0; i < COUNT_OF(known_cases); i++) {
        ck_assert(grout_ptx__note_time(&means, &head.view.clocks[known_cases[i].known], AGENT,
                                       1u << LANE, TIME));
    }
    return head;
}

TEST_EACH(heads_are_taken_by_scope, COUNT_OF(head_cases)) {
    const struct head_case *it = &head_cases[_i];
    const ptx_taker taker = {1, CLUSTER, it->taker};
    ptx_head head = make_head(it->head, it->handed);
    ptx_heads heads = {NULL, 0, 0};
    ptx_view view = {{NULL}};
    ck_assert(grout_ptx__add_head(&means, &heads, &head));
    grout_ptx__drop_view(&head.view);
    ck_assert(grout_ptx__take_heads(&means, &heads, &taker, &view));
    ck_assert_int_eq(grout_ptx__takes_all(&heads, &taker), it->taken == it->handed);
    for (int i = 0; i < COUNT_OF(known_cases); i++) {
        ck_assert_int_eq(grout_ptx__knows(view.clocks[known_cases[i].known], AGENT, LANE, TIME),
                         known_cases[i].least <= it->taken);
    }
    grout_ptx__drop_view(&view);
    grout_ptx__drop_heads(&heads);
}

/* A wait in CTA 1 observes an arrival of CTA 0, if both scopes include both; a fence is wide. */
static const struct observed_case {
    ptx_scope carrier, wait;
    bool is_observed;
} observed_cases[] = {
    {PTX_SCOPE_NONE, PTX_SCOPE_CTA, true},
    {PTX_SCOPE_CLUSTER, PTX_SCOPE_CLUSTER, true},
    {PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, false},
    {PTX_SCOPE_CLUSTER, PTX_SCOPE_CTA, false},
};

TEST_EACH(arrivals_are_observed_by_scope, COUNT_OF(observed_cases)) {
    const struct observed_case *it = &observed_cases[_i];
    const ptx_taker wait = {1, CLUSTER, it->wait}, fence = {1, CLUSTER, PTX_SCOPE_GPU};
    ptx_head head = make_head(PTX_SCOPE_GPU, PTX_HANDED_ALL);
    ptx_heads heads = {NULL, 0, 0}, observed = {NULL, 0, 0};
    ptx_view view = {{NULL}};
    head.carrier = it->carrier;
    ck_assert(grout_ptx__add_head(&means, &heads, &head));
    grout_ptx__drop_view(&head.view);
    ck_assert(grout_ptx__add_observed(&means, &observed, &heads, &wait));
    ck_assert(grout_ptx__take_heads(&means, &observed, &fence, &view));
    ck_assert_int_eq(grout_ptx__knows(view.clocks[PTX_KNOWN_THREADS], AGENT, LANE, TIME),
                     it->is_observed);
    grout_ptx__drop_view(&view);
    grout_ptx__drop_heads(&heads);
    grout_ptx__drop_heads(&observed);
}

/* What the fences of tcgen05 have sealed is over for a relaxed wait in CTA 1, and can be seen if
 * the scopes of the arrival and the wait include both. Another CTA's arrival of the same kind
 * changes nothing. */
TEST_EACH(sealed_is_seen_by_scope, COUNT_OF(observed_cases)) {
    const struct observed_case *it = &observed_cases[_i];
    const ptx_taker wait = {1, CLUSTER, it->wait}, relaxed = {1, CLUSTER, PTX_SCOPE_NONE};
    ptx_head head = make_head(it->carrier, PTX_HANDED_FENCED),
             own = {.scope = it->carrier, .carrier = it->carrier, .cta = 1};
    ptx_heads heads = {NULL, 0, 0}, observed = {NULL, 0, 0};
    ptx_view view = {{NULL}};
    head.carrier = it->carrier;
    ck_assert(grout_ptx__add_head(&means, &heads, &own));
    ck_assert(grout_ptx__add_head(&means, &heads, &head));
    grout_ptx__drop_view(&head.view);
    ck_assert(grout_ptx__add_observed(&means, &observed, &heads, &wait));
    ck_assert(grout_ptx__take_heads(&means, &observed, &relaxed, &view));
    ck_assert(grout_ptx__knows(view.clocks[PTX_KNOWN_SEALED], AGENT, LANE, TIME));
    ck_assert_int_eq(grout_ptx__knows(view.clocks[PTX_KNOWN_SEALED_SEEN], AGENT, LANE, TIME),
                     it->is_observed);
    grout_ptx__drop_view(&view);
    grout_ptx__drop_heads(&heads);
    grout_ptx__drop_heads(&observed);
}
