/* view.c - views that are handed over and taken.
 * SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

ptx_view grout_ptx__share_view(const ptx_view *view) {
    for (uint32_t i = 0; i < PTX_KNOWN_COUNT; i++) {
        grout_ptx__share_clock(view->clocks[i]);
    }
    return *view;
}

void grout_ptx__drop_view(ptx_view *view) {
    for (uint32_t i = 0; i < PTX_KNOWN_COUNT; i++) {
        grout_ptx__drop_clock(view->clocks[i]);
        view->clocks[i] = NULL;
    }
}

bool grout_ptx__join_view(ptx_view *view, const ptx_view *other) {
    bool is_done = true;
    for (uint32_t i = 0; i < PTX_KNOWN_ADMITTED; i++) {
        is_done = is_done && grout_ptx__join_clock(&view->clocks[i], other->clocks[i]);
    }
    return is_done;
}

bool grout_ptx__join_handed(ptx_view *view, const ptx_view *other, ptx_handed handed) {
    static const ptx_known fenced[] = {PTX_KNOWN_BEGUN, PTX_KNOWN_SEALED, PTX_KNOWN_ENGINES,
                                       PTX_KNOWN_VISIBLE};
    const uint32_t count = 2 + (uint32_t)handed - PTX_HANDED_FENCED;
    bool is_done = true;
    if (handed == PTX_HANDED_ALL) {
        return grout_ptx__join_view(view, other);
    }
    for (uint32_t i = 0; is_done && i < count; i++) {
        is_done = grout_ptx__join_clock(&view->clocks[fenced[i]], other->clocks[fenced[i]]);
    }
    return is_done;
}

bool grout_ptx__join_seen(ptx_view *view, const ptx_view *other) {
    return grout_ptx__join_clock(&view->clocks[PTX_KNOWN_SEALED_SEEN],
                                 other->clocks[PTX_KNOWN_SEALED_SEEN]);
}

bool grout_ptx__includes(ptx_scope scope, uint32_t cta, uint32_t other, uint32_t cluster_size) {
    return scope >= PTX_SCOPE_GPU ||
           (scope == PTX_SCOPE_CLUSTER && cta / cluster_size == other / cluster_size) ||
           (scope == PTX_SCOPE_CTA && cta == other);
}

void grout_ptx__drop_heads(ptx_heads *heads) {
    for (size_t i = 0; i < heads->count; i++) {
        grout_ptx__drop_view(&heads->items[i].view);
    }
    grout__free(heads->items);
    *heads = (ptx_heads){NULL, 0, 0};
}

bool grout_ptx__add_head(const ptx_means *means, ptx_heads *heads, const ptx_head *head) {
    if (!ptx_goes_on(means, 1 + heads->count / 64)) {
        return false;
    }
    for (size_t i = 0; i < heads->count; i++) {
        ptx_head *old = &heads->items[i];
        if (old->scope == head->scope && old->carrier == head->carrier &&
            old->handed == head->handed && old->is_narrow == head->is_narrow &&
            (old->cta == head->cta ||
             (head->handed == PTX_HANDED_FENCED && head->carrier == PTX_SCOPE_NONE))) {
            return grout_ptx__join_view(&old->view, &head->view);
        }
    }
    if (!GROUT_ARRAY_RESERVE(heads, means->allocator, 1)) {
        return false;
    }
    heads->items[heads->count] = *head;
    heads->items[heads->count++].view = grout_ptx__share_view(&head->view);
    return true;
}

bool grout_ptx__add_heads(const ptx_means *means, ptx_heads *heads, const ptx_heads *others) {
    bool is_done = true;
    for (size_t i = 0; is_done && i < others->count; i++) {
        is_done = grout_ptx__add_head(means, heads, &others->items[i]);
    }
    return is_done;
}

static bool is_observed(const ptx_head *head, const ptx_taker *wait) {
    const uint32_t size = wait->cluster_size;
    return head->carrier == PTX_SCOPE_NONE ||
           (grout_ptx__includes(head->carrier, head->cta, wait->cta, size) &&
            grout_ptx__includes(wait->scope, wait->cta, head->cta, size));
}

bool grout_ptx__add_observed(const ptx_means *means, ptx_heads *heads, const ptx_heads *others,
                             const ptx_taker *wait) {
    bool is_done = true;
    for (size_t i = 0; is_done && i < others->count; i++) {
        ptx_head head = others->items[i];
        head.is_narrow = head.is_narrow || !is_observed(&head, wait);
        if (head.handed == PTX_HANDED_ALL && head.is_narrow) {
            head.handed = PTX_HANDED_ENGINES;
        }
        head.carrier = PTX_SCOPE_NONE;
        is_done = grout_ptx__add_head(means, heads, &head);
    }
    return is_done;
}

/* The first operation of the release pattern and the last one of the acquire pattern are morally
 * strong. */
static bool is_strong(const ptx_head *head, const ptx_taker *taker) {
    return grout_ptx__includes(head->scope, head->cta, taker->cta, taker->cluster_size) &&
           grout_ptx__includes(taker->scope, taker->cta, head->cta, taker->cluster_size);
}

static ptx_handed get_handed(const ptx_head *head, const ptx_taker *taker) {
    return taker->scope == PTX_SCOPE_NONE                                  ? PTX_HANDED_FENCED
           : head->handed >= PTX_HANDED_VISIBLE && !is_strong(head, taker) ? PTX_HANDED_ENGINES
                                                                           : head->handed;
}

bool grout_ptx__takes_all(const ptx_heads *heads, const ptx_taker *taker) {
    for (size_t i = 0; i < heads->count; i++) {
        if (get_handed(&heads->items[i], taker) != heads->items[i].handed) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__take_heads(const ptx_means *means, const ptx_heads *heads, const ptx_taker *taker,
                           ptx_view *view) {
    bool is_done = true;
    for (size_t i = 0; is_done && i < heads->count; i++) {
        const ptx_head *head = &heads->items[i];
        is_done = ptx_goes_on(means, 1) &&
                  grout_ptx__join_handed(view, &head->view, get_handed(head, taker)) &&
                  (head->is_narrow || grout_ptx__join_seen(view, &head->view));
    }
    return is_done;
}
