/* edge.c - the missing edge: what order exists, what is absent, what came close and why it fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"
#include "wording.h"

#include <inttypes.h>

/* "store", "load", or what an engine did. */
static const char *get_earlier(const grout_wording *wording) {
    const grout_side *side = &wording->facts->sides[1];
    if (side->stamp.agent != GROUT_AGENT_ACTOR || side->is_atomic) {
        return grout_wording__get_access(wording, side);
    }
    return side->is_write ? "store" : "load";
}

/* The commit that was run, or that would have helped. */
static const char *get_commit(const grout_wording *wording) {
    const grout_origin *run = &wording->facts->near.origin;
    if (run->op) {
        return grout_wording__get_mnemonic(wording, run);
    }
    return wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM
               ? "commit_gmem"
               : grout_wording__get_smem_commit(wording);
}

/* Why the attribute has put none in. */
static const char *get_auto_fence_note(const grout_wording *wording) {
    const grout_launch_info *info = &wording->checker->info;
    bool is_smem = wording->record->code != GROUT_DIAG_MISSING_COMMIT_GMEM;
    return is_smem && grout_module_get_kernel(info->module, info->kernel)->auto_fence
               ? ", and auto_fence looks only at what one thread does itself in its own CTA's SMEM"
               : "";
}

/* The access is the primary side here, and the copy the related one. */
static void add_strict_edge(const grout_wording *wording, grout_text *out) {
    const char *commit = get_commit(wording);
    const grout_side *access = &wording->facts->sides[0];
    grout_text_add(out,
                   "the plain rule is kept: a %s of others on the way publishes the %s; "
                   "--strict-fences asks the %s that made it for one of its own, before it lets "
                   "others go on",
                   commit, access->is_write ? "write" : "read",
                   access->origin.warp ? "warp" : "thread");
}

static void add_commit_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_near *near = &facts->near;
    uint32_t line = grout_wording__get_line(wording, &facts->sides[1].origin);
    const char *access = get_earlier(wording);
    const char *commit = get_commit(wording);
    if (near->kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        add_strict_edge(wording, out);
    } else if (near->kind == GROUT_NEAR_NO_COMMIT) {
        grout_text_add(out,
                       "the two are in order, but nothing publishes the %s at line %" PRIu32
                       " to the async proxy%s: no %s has run%s",
                       access, line,
                       facts->sides[1].stamp.agent == GROUT_AGENT_ENGINE ? " of another CTA" : "",
                       commit, get_auto_fence_note(wording));
    } else if (near->kind == GROUT_NEAR_COMMIT_BEFORE) {
        grout_text_add(out,
                       "this %s runs before the %s at line %" PRIu32
                       " and publishes only what came earlier",
                       commit, access, line);
    } else if (near->kind == GROUT_NEAR_COMMIT_OFF_PATH) {
        grout_text_add(out,
                       "this %s is not on the way from the %s at line %" PRIu32
                       " to the %s: it must follow the one and come before the other",
                       commit, access, line,
                       grout_wording__is_wgmma(wording, &facts->sides[0]) ? "wgmma" : "copy");
    } else if (near->kind == GROUT_NEAR_COMMIT_ABROAD) {
        grout_text_add(out,
                       "%s commit_gmem is of another CTA than the copy: the fence for the %s at "
                       "line %" PRIu32 " belongs into the CTA that issues the copy",
                       near->origin.op ? "this" : "a", access, line);
    } else if (near->kind == GROUT_NEAR_COMMIT_OTHER_CTA) {
        grout_text_add(out,
                       "this %s publishes accesses of its own CTA's SMEM only, and these bytes "
                       "are of ",
                       commit);
        grout_wording__add_cta(wording, facts->owner, out);
    }
}

/* "the copy is done when phase 0 of %full[1] completes" */
static void add_done(const grout_near *near, const char *element, grout_text *out) {
    grout_text_add(out, "the copy is done when phase %" PRIu32 " of %s completes", near->phase,
                   element);
}

static void add_wait_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *access = &wording->facts->sides[0].origin;
    const char *who = access->warp ? "warp" : "thread";
    grout_text element = {.allocator = wording->checker->allocator};
    grout_wording__add_element_of(wording, near->element, near->cta, access->cta, &element);
    if (element.failed) {
        out->failed = true;
    } else if (near->kind == GROUT_NEAR_BARRIER_GONE) {
        grout_text_add(out,
                       "%s has ended with its scope while the copy was in flight: no wait in its "
                       "next life stands for this copy",
                       element.data);
    } else if (near->kind == GROUT_NEAR_NEVER_WAITED) {
        add_done(near, element.data, out);
        grout_text_add(out, ", and this %s has not waited on %s at all", who, element.data);
    } else if (near->kind == GROUT_NEAR_WAIT_FRESH) {
        add_done(near, element.data, out);
        grout_text_add(out,
                       "; this wait is the %s's last there, and its parity is that of the phase "
                       "before the first: a fresh mbarrier lets it pass",
                       who);
    } else if (near->kind == GROUT_NEAR_WAIT_EARLIER) {
        add_done(near, element.data, out);
        grout_text_add(out, "; this wait is the %s's last on it and stands for an earlier phase",
                       who);
    } else if (near->kind == GROUT_NEAR_WAIT_ELSEWHERE) {
        grout_text_add(out, "the copy arrives on %s; the %s's last wait, here, is on ",
                       element.data, who);
        grout_wording__add_element(wording, near->number, out);
    } else if (near->kind == GROUT_NEAR_WAIT_ABROAD) {
        add_done(near, element.data, out);
        grout_text_add(out, ": a thread of that CTA has to wait for it and then tell this one");
    }
    grout_text_free(&element);
}

static void add_group_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    uint32_t line = grout_wording__get_line(wording, &wording->facts->sides[1].origin);
    switch (near->kind) {
    case GROUT_NEAR_GROUP_LEFT:
        grout_text_add(out,
                       "group off by one: this wait_smem_to_gmem %" PRIu32
                       " leaves exactly the group of the copy in flight",
                       near->number);
        break;
    case GROUT_NEAR_GROUP_READ_ONLY:
        grout_text_add(out, "a read_only wait is not visibility: it says that the source has been "
                            "read, and nothing of the write");
        break;
    case GROUT_NEAR_GROUP_BEFORE:
        grout_text_add(out,
                       "never awaited: this wait_smem_to_gmem runs before the copy at line "
                       "%" PRIu32 " is issued",
                       line);
        break;
    case GROUT_NEAR_GROUP_WAS_OPEN:
        grout_text_add(out,
                       "this wait_smem_to_gmem runs while the copy at line %" PRIu32
                       " is in the open group; waits count closed groups only",
                       line);
        break;
    case GROUT_NEAR_GROUP_OPEN:
        grout_text_add(out, "the copy is in the open group, which no commit_group has closed; "
                            "waits count closed groups only");
        break;
    case GROUT_NEAR_GROUP_NEVER:
        grout_text_add(out, "never awaited: the thread has not executed any wait_smem_to_gmem");
        break;
    case GROUT_NEAR_GROUP_OTHER_THREAD:
        grout_text_add(out,
                       "another %s's group: the copy belongs to the %s that issued it, "
                       "and no other can wait for it",
                       wording->facts->sides[1].origin.warp ? "warp" : "thread",
                       wording->facts->sides[1].origin.warp ? "warp" : "thread");
        break;
    default:
        break;
    }
}

/* The source of a load, written by a thread that issued it or knows of the issue: in order, but for
 * the engine. */
static void add_reading_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    grout_text_add(out,
                   "the load at line %" PRIu32
                   " is issued before, but TMA may still be reading its source: phase %" PRIu32
                   " of ",
                   grout_wording__get_line(wording, &wording->facts->sides[1].origin), near->phase);
    grout_wording__add_element(wording, near->element, out);
    grout_text_add(out, " says when it has, and nothing waits for it before this write");
}

static void add_race_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *write = &facts->sides[0];
    const grout_side *other = &facts->sides[1];
    bool is_foreign = wording->checker->info.has_foreign_order;
    if (write->is_atomic && other->is_atomic) {
        grout_text_add(
            out, "atomics need no order among themselves if they go through one proxy, are of "
                 "one width, and the scope of each holds the other's thread");
        return;
    }
    if (grout_record__find_poll(wording->module, wording->record)) {
        grout_text_add(out, "a flag: the loop goes round until the store comes, but a plain load "
                            "that finds a plain store orders nothing");
        return;
    }
    if (write->stamp.cluster != other->stamp.cluster && !is_foreign) {
        grout_text_add(out,
                       "nothing orders the %s of a launch: they must not share bytes that one "
                       "of them writes",
                       wording->checker->shape.cta_count > 1 ? "clusters" : "CTAs");
        return;
    }
    if (facts->near.kind == GROUT_NEAR_STILL_READING) {
        add_reading_edge(wording, out);
        return;
    }
    if (grout_wording__add_async_copy_edge(wording, 1, out)) {
        return;
    }
    if (write->stamp.cluster != other->stamp.cluster) {
        grout_text_add(out,
                       "%s, in no order: no signal after the one is taken by a wait before the "
                       "other",
                       !other->is_write ? "one reads, one writes" : "both write");
        return;
    }
    grout_text_add(out,
                   "%s, in no order: no arrive after the one is followed by a wait before the "
                   "other",
                   !other->is_write ? "one reads, one writes" : "both write");
}

void grout_wording__add_missing_edge(const grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_protocol_edge(wording, out) ||
        grout_wording__add_peer_edge(wording, out)) {
        return;
    }
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
        code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        add_commit_edge(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        if (!grout_wording__add_async_copy_edge(wording, 1, out)) {
            add_wait_edge(wording, out);
        }
    } else if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        add_group_edge(wording, out);
    } else if (grout_code__is_about_wgmma(code)) {
        grout_wording__add_wgmma_edge(wording, out);
    } else if (code == GROUT_DIAG_SMEM_RACE || code == GROUT_DIAG_GMEM_RACE) {
        add_race_edge(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
        if (grout_wording__add_async_copy_edge(wording, 0, out)) {
            return;
        }
        if (wording->facts->near.kind == GROUT_NEAR_BARRIER_GONE) {
            add_wait_edge(wording, out);
        } else if (grout_wording__is_wgmma(wording, &wording->facts->sides[0])) {
            grout_wording__add_wgmma_edge(wording, out);
        } else {
            add_group_edge(wording, out);
        }
    } else if (code == GROUT_DIAG_BARRIER_OVERRUN) {
        grout_wording__add_overrun_edge(wording, out);
    }
}
