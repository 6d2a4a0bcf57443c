/* readers.c - which of the accesses beside the last write a region keeps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "readers.h"

#include "reader_index.h"
#include "vouchers.h"

#include "grout-internal/spaces.h"

/* Whether the cluster of the access has ended. */
static bool has_ended(const grout_rules *rules, uint32_t cluster) {
    uint32_t count = rules->shape->cta_count;
    for (uint32_t cta = cluster * count; cta < (cluster + 1) * count; cta++) {
        if (cta / 64 >= rules->ended_words || !(rules->ended_ctas[cta / 64] >> cta % 64 & 1)) {
            return false;
        }
    }
    return true;
}

/* Two entries of one op. */
static bool do_the_same(const grout_entry *a, const grout_entry *b) {
    return ((a->flags ^ b->flags) & GROUT_ENTRY_WRITE) == 0;
}

static bool is_alike(const grout_entry *a, const grout_entry *b) {
    return a->component == b->component && a->cluster == b->cluster && do_the_same(a, b) &&
           a->origin.cta == b->origin.cta && a->origin.thread == b->origin.thread &&
           a->origin.warp == b->origin.warp;
}

/*
 * Accesses of clusters that have ended are unordered with every other one for good, and two of them
 * for each op are enough: the access to come is of another cluster than one of the two.
 */
static void drop_old_readers(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                             const grout_entry *entry) {
    const grout_entry *newer = NULL;
    uint32_t alike = 0;
    for (const grout_entry *it = grout_reader_index__find_newest(shadow, region, entry->origin.op);
         it != NULL;) {
        const grout_entry *older = grout_reader_index__find_older(shadow, region, it);
        bool is_old = do_the_same(it, entry) && has_ended(rules, it->cluster);
        alike += is_old ? 1 : 0;
        if (is_old && alike > 2) {
            const grout_entry *readers = grout_shadow__get_readers(shadow, region);
            grout_reader_index__unlink_older(shadow, region, newer);
            grout_shadow__remove_reader(shadow, region, (uint32_t)(it - readers));
        } else {
            newer = it;
        }
        it = older;
    }
    grout_shadow__close_gaps(shadow, region);
}

/* What is kept of the actor and op of an entry, or NULL. Clusters begin one after the other, and so
 * do the ops of a text, so that most of those that read the same bytes are new. */
static grout_entry *find_alike(grout_shadow *shadow, grout_region *region,
                               const grout_entry *entry) {
    bool is_new = entry->cluster > region->cluster_max ||
                  (entry->cluster == region->cluster_max && entry->origin.op > region->op_max);
    grout_entry *found = NULL;
    grout_entry *it =
        is_new ? NULL : grout_reader_index__find_newest(shadow, region, entry->origin.op);
    for (; it != NULL; it = grout_reader_index__find_older(shadow, region, it)) {
        found = is_alike(it, entry) ? it : found;
    }
    return found;
}

bool grout_readers__keep(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                         const grout_entry *entry) {
    grout_entry *it = find_alike(shadow, region, entry);
    if (it != NULL) {
        uint32_t vouches = it->vouches ? it->vouches : entry->vouches;
        *it = it->number <= entry->number ? *entry : *it;
        it->vouches = vouches;
        grout_vouchers__note(shadow, region, it);
        return true;
    }
    if (grout_space_is_of_launch(rules->space) && region->reader_count > 2 && rules->ended_ctas) {
        drop_old_readers(rules, shadow, region, entry);
    }
    grout_vouchers__note(shadow, region, entry);
    return grout_shadow__add_reader(shadow, region, entry);
}
