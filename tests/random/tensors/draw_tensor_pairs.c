/* draw_tensor_pairs.c - what is another in a drawn kernel of a pair of CTAs: in which of them
 * arrivals count, and how the slots of both are filled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw_tensors.h"

#include <inttypes.h>
#include <stdio.h>

const char *draw_tensors_get_rows(const tensors *t) {
    return !t->is_pair ? "" : t->rows == 64 ? ", ds(%top, 64)" : ", ds(%top, 128)";
}

const char *draw_tensors_get_axis(const tensors *t) {
    return t->is_pair ? " collective_axis(pair)" : "";
}

const char *draw_tensors_get_collective(const tensors *t) {
    return t->is_pair ? " collective" : "";
}

void draw_tensors_add_arrive_at_leader(tensors *t, const char *name, const char *element) {
    const char *face = t->is_explicit ? "mbarrier_arrive" : "barrier_arrive";
    const bool is_named = t->is_pair && t->is_explicit && !t->is_shared;
    draw_line(&t->d, "%s %s%s[%s]", face, name, is_named ? ".cluster(0)" : "", element);
}

void draw_tensors_add_commit(tensors *t, const char *name, const char *element) {
    draw *d = &t->d;
    if (!t->is_pair || t->telling == TELLING_PAIR) {
        draw_line(d, "tcgen05_commit_arrive %s[%s]%s", name, element, draw_tensors_get_axis(t));
    } else if (t->telling == TELLING_ALONG) {
        draw_line(d, "tcgen05_commit_arrive %s[%s] multicast(pair)", name, element);
    } else {
        draw_line(d, "tcgen05_commit_arrive %s.cluster(1)[%s]", name, element);
        draw_line(d, "tcgen05_commit_arrive %s.cluster(0)[%s]", name, element);
    }
}

static uint32_t count_bytes(const tensors *t) {
    const tensor_form *form = draw_tensors_get_form(t);
    return t->rows * form->depth * form->bytes;
}

/* Both CTAs issue it, and the leader's barrier counts the bytes of both. */
static void add_shared_copy(tensors *t) {
    draw *d = &t->d;
    const bool has_parts = t->filling == FILLING_PARTS;
    if (t->is_explicit) {
        draw_line(d, "if (eq %%me, 0) {");
        draw_line(d, "  mbarrier_expect %%full[%%slot], %" PRIu32, 2 * count_bytes(t));
        draw_line(d, "}");
    }
    draw_line(d,
              "copy_gmem_to_smem %%p0[(add %%base, %%i)%s], %%s[%%slot], %%full[%%slot] "
              "collective_axes(pair) leader_tracked%s",
              has_parts       ? ""
              : t->rows == 64 ? ", ds(0, 64)"
                              : ", ds(0, 128)",
              has_parts ? " partitioned(0)" : "");
}

void draw_tensors_add_copy(tensors *t) {
    draw *d = &t->d;
    const bool is_for_leader = t->is_pair && !t->has_carrier;
    const bool is_forwarded = is_for_leader && !t->is_explicit;
    if (is_for_leader && t->filling != FILLING_OWN) {
        add_shared_copy(t);
        return;
    }
    if (t->is_explicit) {
        draw_line(d, "mbarrier_expect %%full[%%slot], %" PRIu32, count_bytes(t));
    }
    draw_line(d, "copy_gmem_to_smem %%p0[(add %%base, %%i)%s], %%s[%%slot], %s[%%slot]",
              draw_tensors_get_rows(t), is_forwarded ? "%own" : "%full");
    if (is_forwarded) {
        draw_line(d, "barrier_wait %%own[%%slot]");
        draw_tensors_add_arrive_at_leader(t, "%full", "%slot");
    }
}
