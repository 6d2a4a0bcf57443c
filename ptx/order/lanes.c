/* lanes.c - CTAs, their lanes, and the barriers where lanes meet. PTX ISA 9.1, 'bar', 'barrier',
 * 'barrier.cluster', 'bar.warp.sync'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <string.h>

/* ---- CTAs ---- */

ptx_order *grout_ptx__new_order(const ptx_means *means, uint32_t warp_count,
                                uint32_t cluster_size) {
    ptx_order *order = grout__new(means->allocator, 1, sizeof *order);
    if (order != NULL) {
        order->means = *means;
        order->shadow.means = *means;
        order->warp_count = warp_count;
        order->cluster_size = cluster_size;
    }
    return order;
}

/* Each lane of a CTA knows that it has begun, and tells others whenever it tells them anything. */
static bool tell_begun(ptx_order *order, uint32_t cta) {
    const ptx_cta_order *it = order->ctas.items[cta];
    ptx_clock *begun = NULL;
    if (!grout_ptx__note_time(&order->means, &begun, ptx_agent(PTX_AGENT_BEGUN, cta), 1, 1)) {
        return false;
    }
    for (uint32_t i = 0; i < order->warp_count; i++) {
        FOR_LANES(lane, UINT32_MAX) {
            it->warps[i].lanes[lane].view.clocks[PTX_KNOWN_BEGUN] = grout_ptx__share_clock(begun);
        }
    }
    grout_ptx__drop_clock(begun);
    return true;
}

/* Room for a CTA of this number: they begin in their order, or nearly. */
static bool reserve_cta(ptx_order *order, uint32_t cta) {
    const size_t more = cta < order->ctas.count ? 0 : cta + (size_t)1 - order->ctas.count;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
    if (!GROUT_ARRAY_RESERVE(&order->ctas, order->means.allocator, more)) {
        return false;
    }
    for (size_t i = 0; i < more; i++) {
        order->ctas.items[order->ctas.count++] = NULL;
    }
    return true;
}

bool grout_ptx__begin_order(ptx_order *order, uint32_t cta) {
    if (!reserve_cta(order, cta)) {
        return false;
    }
    ptx_cta_order *it = grout__new(order->means.allocator, 1, sizeof *it);
    order->ctas.items[cta] = it;
    if (it == NULL) {
        return false;
    }
    it->warps = grout__new(order->means.allocator, order->warp_count, sizeof *it->warps);
    for (uint32_t i = 0; it->warps != NULL && i < order->warp_count; i++) {
        it->warps[i].now = 1;
    }
    return it->warps != NULL && (order->cluster_size == 1 || tell_begun(order, cta));
}

static void drop_lane(ptx_lane *lane) {
    grout_ptx__drop_view(&lane->view);
    grout_ptx__free_fenced(lane->fenced);
}

static void drop_bar(ptx_bar_order *bar) {
    grout_ptx__drop_view(&bar->open);
    grout_ptx__drop_view(&bar->done);
    grout__free(bar->waiting.items);
}

void grout_ptx__end_order(ptx_order *order, uint32_t cta) {
    ptx_cta_order *it = cta < order->ctas.count ? order->ctas.items[cta] : NULL;
    if (it == NULL) {
        return;
    }
    order->ctas.items[cta] = NULL;
    for (uint32_t i = 0; it->warps != NULL && i < order->warp_count; i++) {
        FOR_LANES(lane, UINT32_MAX) {
            drop_lane(&it->warps[i].lanes[lane]);
        }
    }
    for (uint32_t i = 0; i < PTX_NAMED_BARRIERS; i++) {
        drop_bar(&it->bars[i]);
    }
    drop_bar(&it->cluster);
    drop_bar(&it->near);
    grout_ptx__drop_view(&it->left);
    for (size_t i = 0; i < it->phases.count; i++) {
        grout_ptx__drop_heads(&it->phases.items[i].open);
        grout_ptx__drop_heads(&it->phases.items[i].done);
    }
    grout__free(it->phases.items);
    grout__free(it->phases_at.items);
    grout__free(it->warps);
    grout__free(it);
}

void grout_ptx__free_order(ptx_order *order) {
    if (order == NULL) {
        return;
    }
    for (uint32_t i = 0; i < order->ctas.count; i++) {
        grout_ptx__end_order(order, i);
    }
    for (size_t i = 0; i < order->location_capacity; i++) {
        grout_ptx__drop_heads(&order->locations[i].heads);
    }
    grout__free(order->locations);
    grout__free(order->maps.items);
    grout__free(order->ctas.items);
    grout_ptx__deinit_shadow(&order->shadow);
    grout__free(order);
}

/* ---- what lanes know ---- */

ptx_lanes *grout_ptx__get_lanes(ptx_order *order, const ptx_actor *actor) {
    return &order->ctas.items[actor->cta]->warps[actor->warp];
}

uint64_t grout_ptx__get_agent(const ptx_order *order, ptx_agent_kind kind, uint32_t cta,
                              uint32_t warp) {
    return ptx_agent(kind, (uint64_t)cta * order->warp_count + warp);
}

static bool is_same_view(const ptx_view *a, const ptx_view *b) {
    return memcmp(a->clocks, b->clocks, sizeof a->clocks) == 0;
}

bool grout_ptx__capture(ptx_order *order, const ptx_actor *actor, ptx_view *view_out) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const ptx_lane *last = NULL;
    bool is_done = true;
    *view_out = (ptx_view){{NULL}};
    FOR_LANES(lane, actor->lanes) {
        if (last == NULL || !is_same_view(&last->view, &warp->lanes[lane].view)) {
            last = &warp->lanes[lane];
            is_done = is_done && grout_ptx__join_view(view_out, &last->view);
        }
    }
    static const ptx_agent_kind own[] = {PTX_AGENT_THREADS, PTX_AGENT_INITS};
    for (uint32_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        is_done = is_done &&
                  grout_ptx__note_time(&order->means, &view_out->clocks[PTX_KNOWN_THREADS],
                                       grout_ptx__get_agent(order, own[i], actor->cta, actor->warp),
                                       actor->lanes, warp->now);
    }
    (void)grout_ptx__tick(order, &warp->now);
    if (!is_done) {
        grout_ptx__drop_view(view_out);
    }
    return is_done;
}

bool grout_ptx__absorb(ptx_order *order, const ptx_actor *actor, const ptx_view *view) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    ptx_view before = {{NULL}}, *last = NULL; /* of the lane before, which is often the same */
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        ptx_view *own = &warp->lanes[lane].view;
        if (last != NULL && is_same_view(own, &before)) {
            grout_ptx__drop_view(own);
            *own = grout_ptx__share_view(last);
            continue;
        }
        grout_ptx__drop_view(&before);
        before = grout_ptx__share_view(own);
        is_done = is_done && grout_ptx__join_view(own, view);
        last = own;
    }
    grout_ptx__drop_view(&before);
    return is_done;
}

/* One clock of each lane learns; lanes that had the same one have the same one again. */
static bool learn_alike(ptx_lanes *warp, uint32_t lanes, ptx_known known, ptx_clock *news) {
    ptx_clock *before = NULL, *after = NULL;
    bool is_first = true, is_done = true;
    FOR_LANES(lane, lanes) {
        ptx_clock **clock = &warp->lanes[lane].view.clocks[known];
        if (!is_first && *clock == before) {
            grout_ptx__drop_clock(*clock);
            *clock = grout_ptx__share_clock(after);
            continue;
        }
        grout_ptx__drop_clock(before);
        before = grout_ptx__share_clock(*clock);
        is_done = is_done && grout_ptx__join_clock(clock, news);
        after = *clock;
        is_first = false;
    }
    grout_ptx__drop_clock(before);
    return is_done;
}

bool grout_ptx__learn(ptx_order *order, const ptx_actor *actor, ptx_known known, uint64_t agent,
                      uint32_t lanes, uint32_t time) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    ptx_clock *news = NULL;
    const ptx_known seen = known == PTX_KNOWN_ENGINES    ? PTX_KNOWN_VISIBLE
                           : known == PTX_KNOWN_ADMITTED ? PTX_KNOWN_ADMITTED_SEEN
                                                         : known;
    bool is_done = seen == known || grout_ptx__learn(order, actor, seen, agent, lanes, time);
    if (lanes != 0) {
        is_done = is_done && grout_ptx__note_time(&order->means, &news, agent, lanes, time) &&
                  learn_alike(warp, actor->lanes, known, news);
        grout_ptx__drop_clock(news);
        return is_done;
    }
    FOR_LANES(lane, actor->lanes) {
        is_done =
            is_done && grout_ptx__note_time(&order->means, &warp->lanes[lane].view.clocks[known],
                                            agent, 1u << lane, time);
    }
    return is_done;
}

/* ---- meetings ---- */

bool grout_ptx__sync_lanes(ptx_order *order, const ptx_actor *actor) {
    ptx_view all;
    if (!grout_ptx__capture(order, actor, &all)) {
        return false;
    }
    bool is_done = grout_ptx__absorb(order, actor, &all);
    grout_ptx__drop_view(&all);
    return is_done;
}

static bool come(ptx_order *order, const ptx_actor *actor, ptx_bar_order *bar, ptx_handed handed) {
    ptx_view own;
    if (!grout_ptx__capture(order, actor, &own)) {
        return false;
    }
    bool is_done =
        grout_ptx__join_handed(&bar->open, &own, handed) && grout_ptx__join_seen(&bar->open, &own);
    grout_ptx__drop_view(&own);
    return is_done;
}

bool grout_ptx__come_to_bar(ptx_order *order, const ptx_actor *actor, uint32_t bar, bool waits) {
    ptx_bar_order *it = &order->ctas.items[actor->cta]->bars[bar];
    if (waits) {
        if (!GROUT_ARRAY_RESERVE(&it->waiting, order->means.allocator, 1)) {
            return false;
        }
        it->waiting.items[it->waiting.count++] = *actor;
    }
    return come(order, actor, it, PTX_HANDED_ALL);
}

/* Before they go on: until then others may have met there again. */
bool grout_ptx__end_bar(ptx_order *order, uint32_t cta, uint32_t bar) {
    ptx_bar_order *it = &order->ctas.items[cta]->bars[bar];
    bool is_done = true;
    for (size_t i = 0; is_done && i < it->waiting.count; i++) {
        is_done = grout_ptx__absorb(order, &it->waiting.items[i], &it->open);
    }
    it->waiting.count = 0;
    grout_ptx__drop_view(&it->open);
    return is_done;
}

static void end_generation(ptx_bar_order *bar) {
    grout_ptx__drop_view(&bar->done);
    bar->done = bar->open;
    bar->open = (ptx_view){{NULL}};
}

static ptx_bar_order *get_cluster_bar(ptx_order *order, uint32_t cta) {
    return &order->ctas.items[cta - cta % order->cluster_size]->cluster;
}

bool grout_ptx__come_to_cluster(ptx_order *order, const ptx_actor *actor, bool is_release) {
    ptx_bar_order *bar = get_cluster_bar(order, actor->cta);
    const ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    ptx_heads heads = {NULL, 0, 0};
    bool is_done = come(order, actor, bar, is_release ? PTX_HANDED_ALL : PTX_HANDED_FENCED);
    FOR_LANES(lane, is_release ? 0 : actor->lanes) {
        is_done = is_done && grout_ptx__add_fenced(order, &warp->lanes[lane], actor->cta,
                                                   PTX_SCOPE_NONE, &heads);
    }
    for (size_t i = 0; is_done && i < heads.count; i++) {
        const ptx_head *head = &heads.items[i];
        const bool is_near = head->scope < PTX_SCOPE_CLUSTER;
        is_done = grout_ptx__join_handed(&bar->open, &head->view,
                                         is_near ? PTX_HANDED_ENGINES : head->handed) &&
                  (!is_near || grout_ptx__join_handed(&order->ctas.items[actor->cta]->near.open,
                                                      &head->view, head->handed));
    }
    grout_ptx__drop_heads(&heads);
    return is_done;
}

void grout_ptx__end_cluster_bar(ptx_order *order, uint32_t cta) {
    const uint32_t first = cta - cta % order->cluster_size;
    end_generation(get_cluster_bar(order, cta));
    for (uint32_t i = 0; i < order->cluster_size; i++) {
        if (order->ctas.items[first + i] != NULL) {
            end_generation(&order->ctas.items[first + i]->near);
        }
    }
}

bool grout_ptx__leave_cluster(ptx_order *order, const ptx_actor *actor) {
    return grout_ptx__absorb(order, actor, &get_cluster_bar(order, actor->cta)->done) &&
           grout_ptx__absorb(order, actor, &order->ctas.items[actor->cta]->near.done);
}

/* ---- CTAs of a cluster ---- */

static bool is_begun(const ptx_view *view, uint32_t cta) {
    return grout_ptx__knows(view->clocks[PTX_KNOWN_BEGUN], ptx_agent(PTX_AGENT_BEGUN, cta), 0, 1);
}

bool grout_ptx__knows_begun(ptx_order *order, const ptx_actor *actor, uint32_t cta) {
    const ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    FOR_LANES(lane, actor->lanes) {
        if (is_begun(&warp->lanes[lane].view, cta)) {
            return true;
        }
    }
    return false;
}

bool grout_ptx__flight_knows_begun(const ptx_flight *flight, uint32_t cta) {
    return is_begun(&flight->view, cta);
}

bool grout_ptx__leave(ptx_order *order, const ptx_actor *actor) {
    ptx_view own;
    if (order->cluster_size == 1) {
        return true;
    }
    if (!grout_ptx__capture(order, actor, &own)) {
        return false;
    }
    bool is_done = grout_ptx__join_view(&order->ctas.items[actor->cta]->left, &own);
    grout_ptx__drop_view(&own);
    return is_done;
}

bool grout_ptx__has_waited(ptx_order *order, uint32_t cta, const ptx_span *shared,
                           ptx_race *race_out) {
    return order->cluster_size == 1 ||
           !grout_ptx__find_unknown(&order->shadow, &order->ctas.items[cta]->left, cta, shared,
                                    race_out);
}

/* A thread that accesses the shared memory of another CTA knows that it has begun: PTX ISA 9.1,
 * 'Cluster of Cooperative Thread Arrays', lets CTAs of a cluster begin at any time. */
static bool check_begun(const ptx_order *order, uint32_t cta, const ptx_span *span,
                        const ptx_view *view, ptx_race *race_out) {
    const uint32_t owner = cta - cta % order->cluster_size + span->rank;
    *race_out = (ptx_race){.missing = PTX_MISSING_BEGIN};
    return span->kind != PTX_SPAN_SHARED || owner == cta || is_begun(view, owner);
}

/* ---- accesses ---- */

const ptx_equal *grout_ptx__get_equal(const ptx_order *order, size_t number) {
    const ptx_shadow *shadow = &order->shadow;
    return number < shadow->equals.count ? &shadow->equals.items[number] : NULL;
}

const char *grout_ptx__get_limit(const ptx_order *order) {
    return order->shadow.is_full ? "limit ptx-accesses: the run has more accesses than the search "
                                   "for races can tell apart"
                                 : order->limit;
}

static ptx_record make_record(const ptx_touch *touch, uint32_t cta) {
    return (ptx_record){.inst = touch->inst,
                        .cta = cta,
                        .scope = (uint8_t)touch->ordering.scope,
                        .is_strong = touch->ordering.sem != PTX_SEM_WEAK,
                        .is_map = touch->is_map,
                        .is_barrier = touch->is_barrier,
                        .is_cached = touch->is_cached,
                        .is_write = touch->is_write,
                        .size = (uint8_t)touch->size,
                        .mark = touch->mark};
}

bool grout_ptx__touch(ptx_order *order, const ptx_actor *actor, const ptx_touch *touch,
                      ptx_race *race_out) {
    const ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    ptx_agent_kind kind = touch->is_init ? PTX_AGENT_INITS : PTX_AGENT_THREADS;
    ptx_access access = {.record = make_record(touch, actor->cta),
                         .lanes = actor->lanes,
                         .cluster_size = order->cluster_size,
                         .own_lane = PTX_OWN_LANE,
                         .own_time = warp->now,
                         .same = touch->same};
    access.own_agent = grout_ptx__get_agent(order, PTX_AGENT_THREADS, actor->cta, actor->warp);
    access.record.agent = grout_ptx__get_agent(order, kind, actor->cta, actor->warp);
    access.record.time = warp->now;
    access.record.warp = (uint8_t)actor->warp;
    FOR_LANES(lane, actor->lanes) {
        access.views[lane] = &warp->lanes[lane].view;
        if (!check_begun(order, actor->cta, &touch->span, access.views[lane], race_out)) {
            race_out->own_lane = lane;
            return false;
        }
    }
    return grout_ptx__note_access(&order->shadow, &access, &touch->span, race_out);
}

bool grout_ptx__touch_by_flight(ptx_order *order, const ptx_flight *flight, uint32_t cta,
                                uint32_t warp, const ptx_touch *touch, ptx_race *race_out) {
    ptx_access access = {.record = make_record(touch, cta),
                         .lanes = 1u << flight->lane,
                         .own_agent = flight->own_agent,
                         .own_lane = flight->own_lane,
                         .own_time = flight->own_time,
                         .cluster_size = order->cluster_size,
                         .same = touch->same};
    access.record.agent = flight->agent;
    access.record.time = flight->time;
    access.record.is_async_proxy = flight->is_async_proxy;
    access.record.pipe = flight->pipe;
    access.record.pipe.is_operand = touch->is_operand;
    access.record.warp = (uint8_t)warp;
    access.views[flight->lane] = &flight->view;
    return check_begun(order, cta, &touch->span, &flight->view, race_out) &&
           grout_ptx__note_access(&order->shadow, &access, &touch->span, race_out);
}
