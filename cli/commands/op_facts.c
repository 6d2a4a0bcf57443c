/* op_facts.c - the columns of effects.def, sync.def and ops.def in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_facts.h"

#include <string.h>

/* ---- effects ----------------------------------------------------------------------------------
 */

static const char *get_space_text(grout_effect_space space) {
    static const char *const texts[] = {[GROUT_EFFECT_SPACE_ANY] = "the operand's memory",
#define GROUT_SPACE(NAME, ...) [GROUT_EFFECT_SPACE_##NAME] = #NAME,
#include "grout/spaces.def"
                                        [GROUT_EFFECT_SPACE_BARRIER] = "barrier",
                                        [GROUT_EFFECT_SPACE_SEMAPHORE] = "semaphore"};
    return grout_space_is_fragment(space) ? "the accumulator" : texts[space];
}

static const char *get_access_text(grout_access_kind access) {
    switch (access) {
    case GROUT_ACCESS_READ:
        return "read";
    case GROUT_ACCESS_WRITE:
        return "write";
    case GROUT_ACCESS_ARRIVE:
        return "arrive";
    case GROUT_ACCESS_ATOMIC:
        return "atomic";
    case GROUT_ACCESS_BYTES:
        return "bytes";
    case GROUT_ACCESS_SIGNAL:
        return "signal";
    case GROUT_ACCESS_WAIT:
        return "wait";
    }
    return "";
}

static const char *get_milestone_text(grout_milestone milestone) {
    switch (milestone) {
    case GROUT_MILESTONE_ISSUE:
        return "at once";
    case GROUT_MILESTONE_BULK_READ:
        return "until the bulk group's reads are done";
    case GROUT_MILESTONE_BULK_WRITE:
        return "until the bulk group's writes are done";
    case GROUT_MILESTONE_PHASE:
        return "until the barrier's phase is complete";
    case GROUT_MILESTONE_ASYNC_COPY:
        return "until the thread's cp.async group is done";
    case GROUT_MILESTONE_WGMMA:
        return "until the wgmma group is done";
    case GROUT_MILESTONE_TCGEN05:
        return "until a commit issued after it has arrived";
    case GROUT_MILESTONE_TMEM_LOAD:
        return "until the thread's wait_load_tmem";
    case GROUT_MILESTONE_TMEM_STORE:
        return "until the thread's commit_tmem";
    }
    return "";
}

void grout_op_facts__add_effects(grout_effect_row row, const char *start, grout_text *out) {
    uint32_t count = 0;
    const grout_effect *effects = grout_effect_row_get_effects(row, &count);
    for (uint32_t i = 0; i < count; i++) {
        const grout_effect *effect = &effects[i];
        grout_text_add(out, "%soperand %u: %s, %s, %s proxy, %s\n", start, effect->operand + 1u,
                       get_access_text((grout_access_kind)effect->access),
                       get_space_text((grout_effect_space)effect->space),
                       effect->proxy == GROUT_PROXY_ASYNC ? "async" : "generic",
                       get_milestone_text((grout_milestone)effect->milestone));
    }
}

/* ---- updates ----------------------------------------------------------------------------------
 */

static const char *get_commutes_text(grout_commutes commutes) {
    switch (commutes) {
    case GROUT_COMMUTES_NEVER:
        return "the order of two of them shows";
    case GROUT_COMMUTES_INTEGERS:
        return "the order of two of them shows in floats, which are rounded, not in integers";
    case GROUT_COMMUTES_ALWAYS:
        return "the order of two of them does not show";
    }
    return "";
}

void grout_op_facts__add_update(grout_update update, const char *start, grout_text *out) {
    grout_text_add(out, "%sleaves in memory: %s; %s\n", start, grout_update_get_doc(update),
                   get_commutes_text(grout_update_get_commutes(update)));
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static const char *get_region_text(grout_region_kind kind) {
    switch (kind) {
    case GROUT_REGION_NONE:
        return "none";
    case GROUT_REGION_LOOP:
        return "run again and again, the last one as the body";
    case GROUT_REGION_BRANCH:
        return "one of them runs";
    case GROUT_REGION_SCOPE:
        return "run once, with objects that live only there";
    case GROUT_REGION_WARPS:
        return "run in each warp of the thread, side by side";
    case GROUT_REGION_PARTITIONS:
        return "each runs in a thread of its own, side by side";
    }
    return "";
}

static const char *get_yields_text(grout_region_yields yields) {
    switch (yields) {
    case GROUT_YIELDS_NONE:
        return "there are none";
    case GROUT_YIELDS_EACH:
        return "what the block that runs yields";
    case GROUT_YIELDS_FIRST:
        return "what the first block yields";
    case GROUT_YIELDS_LAST:
        return "what the last block yields";
    }
    return "";
}

void grout_op_facts__add_region(const grout_region_info *region, const char *start,
                                grout_text *out) {
    grout_text_add(out, "%sblocks: ", start);
    if (region->blocks > 0) {
        grout_text_add(out, "%u, ", region->blocks);
    }
    grout_text_add(out, "%s; results: %s\n", get_region_text((grout_region_kind)region->kind),
                   get_yields_text((grout_region_yields)region->yields));
    grout_text_add(out, "%sin front of what is carried: operands: %u, arguments of a block: %u\n",
                   start, region->lead_operands, region->lead_args);
}

/* ---- synchronisation ---------------------------------------------------------------------------
 */

static const char *get_object_text(grout_sync_object object) {
    switch (object) {
    case GROUT_SYNC_OBJECT_BARRIER:
        return "a barrier";
    case GROUT_SYNC_OBJECT_MBARRIER:
        return "an mbarrier";
    case GROUT_SYNC_OBJECT_ANY_BARRIER:
        return "a barrier or an mbarrier";
    case GROUT_SYNC_OBJECT_SEMAPHORE:
        return "a semaphore";
    case GROUT_SYNC_OBJECT_NAMED:
        return "a named barrier";
    case GROUT_SYNC_OBJECT_CTA:
        return "all threads of the CTA";
    case GROUT_SYNC_OBJECT_CLUSTER:
        return "the hardware barrier of the cluster";
    case GROUT_SYNC_OBJECT_REGISTERS:
        return "the pool of registers";
    case GROUT_SYNC_OBJECT_PROXY:
        return "what the async proxy sees";
    case GROUT_SYNC_OBJECT_BULK:
        return "the thread's bulk groups";
    case GROUT_SYNC_OBJECT_ASYNC_COPY:
        return "the thread's groups of async_copy";
    case GROUT_SYNC_OBJECT_WGMMA:
        return "the thread's wgmma groups";
    case GROUT_SYNC_OBJECT_TCGEN05:
        return "the lane's MMAs of tcgen05";
    case GROUT_SYNC_OBJECT_TMEM_LOAD:
        return "the thread's loads of tensor memory";
    case GROUT_SYNC_OBJECT_TMEM_STORE:
        return "the thread's stores to tensor memory";
    case GROUT_SYNC_OBJECT_OBJECTS:
        return "the objects of a scope";
    case GROUT_SYNC_OBJECT_PARTS:
        return "the warps or partitions that it runs";
    case GROUT_SYNC_OBJECT_GRIDS:
        return "the grids of the launches before and after";
    }
    return "";
}

static const char *get_reach_text(grout_sync_reach reach) {
    switch (reach) {
    case GROUT_SYNC_REACH_OWN:
        return "in its own CTA";
    case GROUT_SYNC_REACH_CLUSTER:
        return "in its own CTA, or one that its cluster shares";
    case GROUT_SYNC_REACH_PEER:
        return "in any CTA of the cluster";
    case GROUT_SYNC_REACH_GRID:
        return "anywhere in the grid";
    }
    return "";
}

static const char *get_mode_text(grout_sync_mode mode) {
    switch (mode) {
    case GROUT_SYNC_MODE_POSTS:
        return "makes progress for those who wait, and goes on";
    case GROUT_SYNC_MODE_WAITS:
        return "goes on when there is what it waits for";
    case GROUT_SYNC_MODE_MEETS:
        return "makes progress for those who wait, and goes on when the others have come";
    case GROUT_SYNC_MODE_TESTS:
        return "looks, and goes on: its result says what it found";
    case GROUT_SYNC_MODE_STARTS:
        return "gives an engine something to do, which ends later";
    case GROUT_SYNC_MODE_CLOSES:
        return "closes a group, which can then be waited for";
    case GROUT_SYNC_MODE_FENCES:
        return "publishes the thread's accesses to another proxy";
    case GROUT_SYNC_MODE_MAKES:
        return "begins the life of the object";
    case GROUT_SYNC_MODE_ENDS:
        return "ends the life of the object";
    case GROUT_SYNC_MODE_FORKS:
        return "starts them, and goes on when all have ended";
    }
    return "";
}

static const char *get_side_text(grout_sync_side side) {
    switch (side) {
    case GROUT_SYNC_SIDE_NONE:
        return "neither releases nor acquires";
    case GROUT_SYNC_SIDE_RELEASE:
        return "releases";
    case GROUT_SYNC_SIDE_ACQUIRE:
        return "acquires";
    case GROUT_SYNC_SIDE_BOTH:
        return "releases and acquires";
    }
    return "";
}

static const char *get_scope_text(grout_sync_scope scope) {
    switch (scope) {
    case GROUT_SYNC_SCOPE_THREAD:
        return "in the thread itself";
    case GROUT_SYNC_SCOPE_CTA:
        return "for the threads of the CTA";
    case GROUT_SYNC_SCOPE_CLUSTER:
        return "for the threads of the cluster";
    case GROUT_SYNC_SCOPE_SHARERS:
        return "for every CTA that can use the object";
    case GROUT_SYNC_SCOPE_SYS:
        return "for all threads of the system";
    }
    return "";
}

static const char *get_arrival_text(grout_sync_arrival arrival) {
    switch (arrival) {
    case GROUT_SYNC_ARRIVAL_NONE:
        return "";
    case GROUT_SYNC_ARRIVAL_NOW:
        return "at once";
    case GROUT_SYNC_ARRIVAL_LATER:
        return "later, when what it covers is done";
    }
    return "";
}

static const char *get_covered_text(grout_milestone milestone) {
    switch (milestone) {
    case GROUT_MILESTONE_ISSUE:
        return "what is over at once";
    case GROUT_MILESTONE_BULK_READ:
        return "the reads of bulk groups";
    case GROUT_MILESTONE_BULK_WRITE:
        return "the writes of bulk groups";
    case GROUT_MILESTONE_PHASE:
        return "what the barrier's phase covers";
    case GROUT_MILESTONE_WGMMA:
        return "wgmma groups";
    case GROUT_MILESTONE_ASYNC_COPY:
        return "groups of async_copy";
    case GROUT_MILESTONE_TCGEN05:
        return "MMAs";
    case GROUT_MILESTONE_TMEM_LOAD:
        return "loads of tensor memory";
    case GROUT_MILESTONE_TMEM_STORE:
        return "stores to tensor memory";
    }
    return "";
}

static const char *get_lanes_text(grout_sync_lanes lanes) {
    switch (lanes) {
    case GROUT_SYNC_LANES_ONE:
        return "one does it for all, when the others have come";
    case GROUT_SYNC_LANES_ANY:
        return "each does it for itself, or one for all";
    case GROUT_SYNC_LANES_EACH:
        return "each does it for itself, and every one counts";
    case GROUT_SYNC_LANES_VOTE:
        return "all meet in it, or one does it for all";
    case GROUT_SYNC_LANES_MEET:
        return "all meet in it";
    case GROUT_SYNC_LANES_OWN:
        return "each has its own share of it";
    }
    return "";
}

static const char *get_redundant_text(grout_sync_redundant redundant) {
    switch (redundant) {
    case GROUT_SYNC_REDUNDANT_NO:
        return "";
    case GROUT_SYNC_REDUNDANT_COMMIT:
        return "as a commit";
    case GROUT_SYNC_REDUNDANT_WAIT:
        return "as a wait";
    case GROUT_SYNC_REDUNDANT_BARRIER:
        return "as a barrier";
    case GROUT_SYNC_REDUNDANT_PAIR:
        return "together with all other uses of its object";
    }
    return "";
}

static const char *get_tensor_text(grout_sync_tensor tensor) {
    switch (tensor) {
    case GROUT_SYNC_TENSOR_NO:
        return "";
    case GROUT_SYNC_TENSOR_SEALS:
        return "orders its operations before this one";
    case GROUT_SYNC_TENSOR_ADMITS:
        return "orders its operations after this one";
    }
    return "";
}

/* A line, unless the fact is empty. */
static void add_line(const char *start, const char *what, const char *fact, grout_text *out) {
    if (fact[0] != '\0') {
        grout_text_add(out, "%s%s: %s\n", start, what, fact);
    }
}

static void add_covers(uint16_t covers, const char *start, grout_text *out) {
    const char *separator = "";
    if (covers == 0) {
        return;
    }
    grout_text_add(out, "%sover, when it has come back: ", start);
    for (int i = GROUT_MILESTONE_ISSUE; i <= GROUT_MILESTONE_TMEM_STORE; i++) {
        if ((covers >> i & 1) != 0) {
            grout_text_add(out, "%s%s", separator, get_covered_text((grout_milestone)i));
            separator = ", ";
        }
    }
    grout_text_add(out, "\n");
}

void grout_op_facts__add_sync(const grout_sync_info *sync, const char *start, grout_text *out) {
    grout_text_add(out, "%ssynchronises on: %s, %s\n", start,
                   get_object_text((grout_sync_object)sync->object),
                   get_reach_text((grout_sync_reach)sync->reach));
    add_line(start, "action", get_mode_text((grout_sync_mode)sync->mode), out);
    grout_text_add(out, "%sorder, if none is written: %s, %s\n", start,
                   get_side_text((grout_sync_side)sync->side),
                   get_scope_text((grout_sync_scope)sync->scope));
    add_line(start, "what it posts counts", get_arrival_text((grout_sync_arrival)sync->arrival),
             out);
    add_covers(sync->covers, start, out);
    add_line(start, "lanes of the thread", get_lanes_text((grout_sync_lanes)sync->lanes), out);
    add_line(start, "tensor core", get_tensor_text((grout_sync_tensor)sync->tensor), out);
    add_line(start, "check --advice tries without it",
             get_redundant_text((grout_sync_redundant)sync->redundant), out);
    grout_text_add(out, "%sin a warp_map: %s%s\n", start,
                   sync->warp[0] == '\0' ? "yes" : "no: ", sync->warp);
}
