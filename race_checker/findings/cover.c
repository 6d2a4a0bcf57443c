/*
 * cover.c - the wait that would mend all occurrences of a finding about a wgmma, or a bulk group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cover.h"

static const grout_op_id MANY = UINT32_MAX;

bool grout_code__is_about_wgmma(grout_diag_code code) {
    return code == GROUT_DIAG_MMA_OPERAND_REUSE || code == GROUT_DIAG_ACCUMULATOR_IN_FLIGHT;
}

bool grout_code__has_cover(grout_diag_code code) {
    return grout_code__is_about_wgmma(code) || code == GROUT_DIAG_SMEM_SOURCE_REUSE ||
           code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE || code == GROUT_DIAG_ASYNC_NOT_AWAITED;
}

static bool leaves_group(const grout_near *near) {
    return near->kind == GROUT_NEAR_WGMMA_LEFT || near->kind == GROUT_NEAR_GROUP_LEFT ||
           near->kind == GROUT_NEAR_COPY_LEFT;
}

static void add_op(grout_op_id op, uint32_t allowed, bool is_first, grout_op_id *kept_op,
                   uint32_t *kept_allowed) {
    if (is_first) {
        *kept_op = op;
        *kept_allowed = allowed;
        return;
    }
    *kept_op = *kept_op == op ? op : MANY;
    *kept_allowed = *kept_allowed < allowed ? *kept_allowed : allowed;
}

void grout_cover__add(grout_cover *cover, bool is_first, const grout_facts *facts) {
    const grout_near *near = &facts->near;
    GROUT_ASSERT(facts->side_count == 2);
    bool is_own = grout_origin__is_same_actor(&facts->sides[0].origin, &facts->sides[1].origin);
    grout_op_id spot = is_own ? facts->sides[0].origin.op : near->handover.op;
    grout_op_id wait = leaves_group(near) ? near->origin.op : 0;
    if (near->kind == GROUT_NEAR_WGMMA_UNORDERED) {
        spot = 0;
    }
    add_op(spot ? spot : MANY, near->needed, is_first, &cover->spot, &cover->allowed);
    add_op(wait ? wait : MANY, near->wait_needed, is_first, &cover->wait, &cover->wait_allowed);
}

grout_op_id grout_cover__get_spot(const grout_cover *cover) {
    return cover->spot == MANY ? 0 : cover->spot;
}

grout_op_id grout_cover__get_wait(const grout_cover *cover) {
    return cover->wait == MANY ? 0 : cover->wait;
}
