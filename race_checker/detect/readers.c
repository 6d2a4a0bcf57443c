/* readers.c - which of the accesses beside the last write a region keeps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "readers.h"

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

static bool is_same_op(const grout_entry *a, const grout_entry *b) {
    return a->origin.op == b->origin.op && ((a->flags ^ b->flags) & GROUT_ENTRY_WRITE) == 0;
}

static bool is_same_actor(const grout_entry *a, const grout_entry *b) {
    return a->origin.cta == b->origin.cta && a->origin.thread == b->origin.thread &&
           a->origin.warp == b->origin.warp;
}

/*
 * Accesses of clusters that have ended are unordered with every other one for good, and two of them
 * for each op are enough: the access to come is of another cluster than one of the two.
 */
static void drop_old_readers(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                             const grout_entry *entry) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    uint32_t alike = 0;
    for (uint32_t i = region->reader_count; i-- > 0;) {
        bool is_alike = is_same_op(&readers[i], entry) && has_ended(rules, readers[i].cluster);
        alike += is_alike ? 1 : 0;
        if (is_alike && alike > 2) {
            grout_shadow__remove_reader(shadow, region, i);
        }
    }
}

/* What is kept of the actor and op of an entry, or NULL. Clusters begin one after the other, and so
 * do the ops of a text, so that thousands that read the same bytes are seldom looked through. */
static grout_entry *find_alike(const grout_shadow *shadow, const grout_region *region,
                               const grout_entry *entry) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    bool is_new = entry->cluster > region->cluster_max ||
                  (entry->cluster == region->cluster_max && entry->origin.op > region->op_max);
    for (uint32_t i = 0; !is_new && i < region->reader_count; i++) {
        grout_entry *it = &readers[i];
        if (it->component == entry->component && it->cluster == entry->cluster &&
            is_same_op(it, entry) && is_same_actor(it, entry)) {
            return it;
        }
    }
    return NULL;
}

bool grout_readers__keep(const grout_rules *rules, grout_shadow *shadow, grout_region *region,
                         const grout_entry *entry) {
    grout_entry *it = find_alike(shadow, region, entry);
    if (it != NULL) {
        uint32_t vouches = it->vouches ? it->vouches : entry->vouches;
        *it = it->number <= entry->number ? *entry : *it;
        it->vouches = vouches;
        return true;
    }
    if (grout_space_is_of_launch(rules->space) && region->reader_count > 2 && rules->ended_ctas) {
        drop_old_readers(rules, shadow, region, entry);
    }
    return grout_shadow__add_reader(shadow, region, entry);
}
