/* schedule.c - which warp goes on: at random, for a while of random length. Every order of warps
 * that a GPU could take is possible, and a seed has one. With most seeds a warp of each cluster is
 * slow: if the others do not wait for it, that shows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include "observe.h"
#include "state.h"

enum {
    RESIDENT_CTAS = 8, /* that run side by side while they get on */
    SPIN_STEPS = 20000,
    SLOW_TURNS = 64,     /* of a slow warp, one is taken */
    STEP_WORK = 4,       /* as pulse.h counts it */
    STALL_STEPS = 400000 /* after which others may be what they wait for */
};

/* SplitMix64: the same numbers for a seed everywhere. */
uint64_t grout_ptx__draw(ptx_machine *machine, uint64_t below) {
    uint64_t z = machine->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* ---- groups of a warp ---- */

static bool have_same_calls(const ptx_group *a, const ptx_group *b) {
    bool is_same = a->call_count == b->call_count;
    for (uint32_t i = 0; is_same && i < a->call_count; i++) {
        is_same = a->returns[i] == b->returns[i];
    }
    return is_same;
}

static void remove_group(ptx_warp *warp, uint32_t index) {
    warp->groups[index] = warp->groups[--warp->group_count];
}

/* Groups without lanes go, and those at the same place become one. */
static void tidy_groups(ptx_warp *warp) {
    for (uint32_t i = 0; i < warp->group_count;) {
        ptx_group *group = &warp->groups[i];
        bool is_gone = group->lanes == 0;
        for (uint32_t j = 0; !is_gone && j < i; j++) {
            ptx_group *other = &warp->groups[j];
            if (other->pc == group->pc && !other->is_waiting && !group->is_waiting &&
                have_same_calls(group, other)) {
                other->lanes |= group->lanes;
                other->has_stayed = false;
                is_gone = true;
            }
        }
        if (is_gone) {
            remove_group(warp, i);
        } else {
            i++;
        }
    }
}

/* The group that goes on: the one that has come least far, now and then another one, so that lanes
 * which spin do not keep away those that they spin for. NULL: all wait. */
static ptx_group *choose_group(ptx_machine *machine, ptx_warp *warp) {
    ptx_group *best = NULL;
    bool is_any = warp->group_count > 1 && grout_ptx__draw(machine, 16) == 0;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        ptx_group *group = &warp->groups[i];
        if (group->has_stayed && group->tried_at == machine->events) {
            continue;
        }
        if (best == NULL || (is_any ? grout_ptx__draw(machine, 2) == 0 : group->pc < best->pc)) {
            best = group;
        }
    }
    return best;
}

/* ---- one step ---- */

/* The lanes whose guard is right; false with a fault. */
static bool apply_guard(ptx_context *context) {
    const ptx_plane *guard = &context->step->guard;
    if (guard->is_sink) {
        return true;
    }
    if (!grout_ptx__need(context, guard, "the guard of the instruction")) {
        return false;
    }
    context->lanes &= ptx_mask(context, guard);
    return true;
}

/* An instruction for lanes together: those whose guard is wrong go on alone, the others wait until
 * all that have to be are here. True: they are. */
static bool meet(ptx_context *context, bool *is_right_out) {
    const ptx_step *step = context->step;
    ptx_group *group = context->group;
    ptx_warp *warp = context->warp;
    uint64_t needed = warp->live;
    *is_right_out = true;
    if (context->lanes != group->lanes) {
        ptx_group *rest = &warp->groups[warp->group_count++];
        *rest = *group;
        rest->lanes &= ~context->lanes;
        rest->pc++;
        rest->has_stayed = false;
        group->lanes = context->lanes;
    }
    if (step->needs_mask) {
        const ptx_plane *mask = &step->sources[step->mask_source];
        *is_right_out = grout_ptx__need_same(context, mask, "the mask of lanes", &needed);
        if (*is_right_out && (context->lanes & ~needed) != 0) {
            grout_ptx__fault(context, PTX_LANES, "lanes 0x%x run it, but its mask is 0x%llx",
                             context->lanes, (unsigned long long)needed);
            *is_right_out = false;
        }
        needed &= warp->live;
    }
    return *is_right_out && (needed & ~(uint64_t)context->lanes) == 0;
}

static bool run_step(ptx_machine *machine, ptx_warp *warp, ptx_group *group) {
    const ptx_step *step = &machine->code->steps.items[group->pc];
    ptx_context context = {.machine = machine,
                           .cta = warp->cta,
                           .warp = warp,
                           .group = group,
                           .step = step,
                           .lanes = group->lanes,
                           .constants = (uint8_t *)machine->code->constants.items};
    ptx_outcome outcome = PTX_NEXT;
    bool is_right = apply_guard(&context);
    machine->steps++;
    machine->lane_steps += (uint32_t)__builtin_popcount(context.lanes);
    if (is_right && context.lanes != 0) {
        bool is_met = !(step->needs_all || step->needs_mask) || meet(&context, &is_right);
        outcome = is_met && is_right ? step->run(&context) : PTX_STAY;
    }
    if (!is_right || outcome == PTX_FAILED) {
        machine->is_failed = true;
        return false;
    }
    if (outcome == PTX_NEXT) {
        group->pc++;
        group->is_waiting = false;
        group->has_stayed = false;
    } else if (outcome == PTX_STAY) {
        group->has_stayed = true;
        group->tried_at = machine->events;
    } else {
        group->has_stayed = false;
    }
    return true;
}

/* A warp runs for some steps. True: at least one that did not wait. */
static bool run_warp(ptx_machine *machine, ptx_warp *warp, uint64_t steps) {
    bool has_run = false;
    for (; steps > 0 && warp->live != 0 && !machine->is_failed; steps--) {
        if (!ptx_may_go_on(machine, STEP_WORK)) {
            machine->is_failed = true;
            break;
        }
        ptx_group *group = warp->group_count == 1 && !warp->groups[0].has_stayed
                               ? &warp->groups[0]
                               : choose_group(machine, warp);
        if (group == NULL || !run_step(machine, warp, group)) {
            break;
        }
        has_run |= !group->has_stayed;
        if (warp->group_count > 1) {
            tidy_groups(warp);
        }
    }
    return has_run;
}

/* ---- clusters ---- */

static bool has_ended(const ptx_machine *machine, const ptx_cta *first) {
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        if (first[i].live_warps > 0) {
            return false;
        }
    }
    return first->under_way == 0;
}

/* False with a fault. */
static bool end_clusters(ptx_machine *machine) {
    for (size_t i = 0; i < machine->resident.count;) {
        if (has_ended(machine, machine->resident.items[i])) {
            if (!grout_ptx__observe_cluster_exit(machine, machine->resident.items[i])) {
                return false;
            }
            grout_ptx__end_cluster(machine, i);
            machine->stall_start = machine->steps;
        } else {
            i++;
        }
    }
    return true;
}

/* Clusters begin while there is room; as many more, up to what a GPU holds, if those that run seem
 * to wait for them. False without memory. */
static bool begin_clusters(ptx_machine *machine, bool is_stuck) {
    uint32_t size = machine->cluster_size;
    while (machine->next_cta < machine->cta_count &&
           (machine->resident.count == 0 ||
            (machine->resident.count + 1) * size <= machine->resident_most)) {
        if (!grout_ptx__begin_cluster(machine)) {
            return false;
        }
        is_stuck = false;
    }
    const size_t more = is_stuck ? machine->resident.count : 0;
    const uint32_t most = grout_ptx__count_resident(machine);
    for (size_t i = 0; i < more && machine->next_cta < machine->cta_count &&
                       (machine->resident.count + 1) * size <= most;
         i++) {
        machine->stall_start = machine->steps;
        if (!grout_ptx__begin_cluster(machine)) {
            return false;
        }
    }
    return true;
}

/* A warp of a cluster. */
static ptx_warp *get_warp(const ptx_machine *machine, const ptx_cta *first, uint32_t number) {
    return &first[number / machine->warp_count].warps[number % machine->warp_count];
}

static void add_end(ptx_machine *machine, grout_place place, bool is_limit) {
    const unsigned long long steps = machine->steps;
    const grout_place nowhere = {.file = NULL};
    if (is_limit) {
        grout_diags_add(machine->diags, GROUT_DIAG_LIMIT_REACHED, place,
                        "limit ptx-steps: the run takes more than %llu instructions", steps);
        return;
    }
    grout_diags_add(machine->diags, GROUT_DIAG_PTX_HANG, place,
                    "all lanes wait, after %llu instructions", steps);
    if (machine->next_cta < machine->cta_count) {
        grout_diags_note(machine->diags, nowhere,
                         "%u of %u CTAs have not begun: the others keep their room on %d SMs",
                         machine->cta_count - machine->next_cta, machine->cta_count,
                         PTX_RESIDENCY_SMS);
    }
}

/* Where the lanes of a warp are. */
static void note_warp(ptx_machine *machine, const ptx_warp *warp, bool *is_first, bool is_limit) {
    const grout_ptx_module *module = machine->code->module;
    const grout_place nowhere = {.file = NULL};
    const uint32_t *index = warp->cta->index;
    for (uint32_t i = 0; warp->live != 0 && i < warp->group_count; i++) {
        const ptx_step *step = &machine->code->steps.items[warp->groups[i].pc];
        grout_place place = grout_ptx__get_place(module, module->insts.items[step->inst].place);
        if (*is_first) {
            add_end(machine, place, is_limit);
        }
        *is_first = false;
        grout_diags_note(
            machine->diags, nowhere, "lanes 0x%x of warp %u of CTA (%u, %u, %u) are at line %u",
            warp->groups[i].lanes, warp->index, index[0], index[1], index[2], place.line);
    }
}

static bool report_hang(ptx_machine *machine, bool is_limit) {
    bool is_first = true;
    uint32_t count = machine->cluster_size * machine->warp_count;
    for (size_t i = 0; i < machine->resident.count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            note_warp(machine, get_warp(machine, machine->resident.items[i], j), &is_first,
                      is_limit);
        }
    }
    machine->is_failed = true;
    return false;
}

/* Warp k of each cluster is slow with the seed k + 1, and counted on from there; none with 0. */
static bool is_slow(const ptx_machine *machine, uint32_t number) {
    uint32_t count = machine->cluster_size * machine->warp_count;
    return machine->launch->seed % (count + 1) == number + 1;
}

/* One warp of those that run, or NULL. */
static ptx_warp *draw_warp(ptx_machine *machine) {
    const ptx_cta *first =
        machine->resident.items[grout_ptx__draw(machine, machine->resident.count)];
    uint32_t count = machine->cluster_size * machine->warp_count;
    uint32_t number = (uint32_t)grout_ptx__draw(machine, count);
    ptx_warp *warp = get_warp(machine, first, number);
    bool is_left_out = is_slow(machine, number) && grout_ptx__draw(machine, SLOW_TURNS) != 0;
    return warp->live != 0 && !is_left_out ? warp : NULL;
}

/* Tries all warps, once each. */
static bool run_any_warp(ptx_machine *machine) {
    uint32_t count = machine->cluster_size * machine->warp_count;
    for (size_t i = 0; i < machine->resident.count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            ptx_warp *warp = get_warp(machine, machine->resident.items[i], j);
            if ((warp->live != 0 && run_warp(machine, warp, 64)) || machine->is_failed) {
                return true;
            }
        }
    }
    return false;
}

/* What is under way happens now and then; what is late too, after a while: lanes that spin may wait
 * for it. */
static void let_happen(ptx_machine *machine) {
    bool is_overdue = machine->steps - machine->happened_at > SPIN_STEPS;
    if (machine->asyncs.live == 0) {
        machine->happened_at = machine->steps;
    } else if (is_overdue || grout_ptx__draw(machine, 2) == 0) {
        if (grout_ptx__let_one_happen(machine, is_overdue)) {
            machine->happened_at = machine->steps;
        }
    }
}

/* No warp has gone on for a while: one that can, or what is late, or a cluster more. False: none.
 */
static bool get_on(ptx_machine *machine) {
    uint32_t begun = machine->next_cta;
    if (run_any_warp(machine) || grout_ptx__let_one_happen(machine, true) || machine->is_failed) {
        return !machine->is_failed;
    }
    if (!end_clusters(machine) || !begin_clusters(machine, true)) {
        return false;
    }
    return machine->next_cta != begun || machine->resident.count == 0 ||
           report_hang(machine, false);
}

/* Some steps of a warp that is drawn; idle counts those that could not go on. */
static bool run_some(ptx_machine *machine, uint32_t *idle) {
    static const uint32_t lengths[] = {1, 4, 16, 64, 256, 1024};
    ptx_warp *warp = draw_warp(machine);
    uint64_t length = lengths[grout_ptx__draw(machine, sizeof lengths / sizeof lengths[0])];
    *idle = warp != NULL && run_warp(machine, warp, length) ? 0 : *idle + 1;
    if (*idle <= 2 * machine->warp_count || machine->is_failed) {
        return !machine->is_failed;
    }
    *idle = 0;
    return get_on(machine);
}

bool grout_ptx__run_all(ptx_machine *machine) {
    const uint64_t wanted = machine->launch->max_steps;
    const uint64_t most = wanted > 0 && wanted < GROUT_PTX_STEPS_MAX ? wanted : GROUT_PTX_STEPS_MAX;
    uint32_t idle = 0;
    /* Fewer, so that clusters are left for others to ask for. */
    machine->resident_most = machine->code->has_requests
                                 ? 1 + (uint32_t)grout_ptx__draw(machine, RESIDENT_CTAS)
                                 : RESIDENT_CTAS;
    while (!machine->is_failed) {
        if (!end_clusters(machine)) {
            return false;
        }
        if (machine->resident.count == 0 && machine->next_cta == machine->cta_count) {
            return true;
        }
        if (!begin_clusters(machine, machine->steps - machine->stall_start > STALL_STEPS)) {
            return false;
        }
        if (machine->steps > most) {
            return report_hang(machine, true);
        }
        if (!ptx_may_go_on(machine, 1)) {
            return false;
        }
        if (!grout_ptx__is_in_limits(machine)) {
            return false;
        }
        let_happen(machine);
        if (!run_some(machine, &idle)) {
            return false;
        }
    }
    return false;
}
