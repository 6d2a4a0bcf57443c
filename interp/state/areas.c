/*
 * areas.c - a treap of groups. The simple model, which check_areas.c compares it with, is a list
 * of members that a search walks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "areas.h"

#include <string.h>

#define CHANCE_SEED 0x9e3779b9u

typedef struct entry {
    uint32_t link; /* of the pool: unused */
    uint32_t group;
    uint32_t older, newer; /* of the group */
    uint64_t order;
} entry; /* of a member */

typedef struct node {
    uint32_t link; /* of the pool */
    uint32_t parent, children[2];
    uint32_t priority; /* at most that of the parent */
    uint32_t newest;   /* member */
    uint64_t order;    /* the highest of this group and all below it */
    grout_area area;
    grout_area hull; /* of this group and all below it; object 0: they are of several */
} node;              /* of a group */

static node *get_group(const grout_areas *areas, uint32_t index) {
    GROUT_ASSERT(index != 0);
    return grout_pool__at(&areas->groups, index);
}

static entry *get_member(const grout_areas *areas, uint32_t number) {
    GROUT_ASSERT(number != 0 && number < areas->members.count);
    return grout_pool__at(&areas->members, number);
}

void grout_areas__init(grout_areas *areas) {
    *areas = (grout_areas){.groups.item_size = sizeof(node),
                           .members.item_size = sizeof(entry),
                           .chance = CHANCE_SEED};
}

void grout_areas__clear(grout_areas *areas) {
    grout_pool__clear(&areas->groups);
    grout_pool__clear(&areas->members);
    areas->root = 0;
}

void grout_areas__free(grout_areas *areas, grout_heap *heap) {
    grout_pool__free(&areas->groups, heap);
    grout_pool__free(&areas->members, heap);
    areas->root = 0;
}

/* ---- areas ----------------------------------------------------------------------------------- */

static bool meets(const grout_area *a, const grout_area *b) {
    const uint32_t last = a->object == b->object ? GROUT_AREA_DIMS : GROUT_AREA_BOX;
    bool is_met = true;
    for (uint32_t i = 0; i < last && is_met; i++) {
        is_met = a->dims[i].low < b->dims[i].high && b->dims[i].low < a->dims[i].high;
    }
    return is_met;
}

static int compare_numbers(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* Objects are apart from one another, in the order of their bytes. */
static int compare(const grout_area *a, const grout_area *b) {
    int order = 0;
    for (uint32_t i = 0; i < GROUT_AREA_DIMS && order == 0; i++) {
        if (i == GROUT_AREA_BOX && a->object != b->object) {
            return a->object < b->object ? -1 : 1;
        }
        order = compare_numbers(a->dims[i].low, b->dims[i].low);
        order = order != 0 ? order : compare_numbers(a->dims[i].high, b->dims[i].high);
    }
    return order != 0 ? order : (a->apart > b->apart) - (a->apart < b->apart);
}

static void extend(grout_area *hull, const grout_area *other) {
    hull->object = hull->object == other->object ? hull->object : 0;
    for (uint32_t i = 0; i < GROUT_AREA_DIMS; i++) {
        const grout_area_side *side = &other->dims[i];
        hull->dims[i].low = side->low < hull->dims[i].low ? side->low : hull->dims[i].low;
        hull->dims[i].high = side->high > hull->dims[i].high ? side->high : hull->dims[i].high;
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void sum_up(const grout_areas *areas, uint32_t index) {
    node *it = get_group(areas, index);
    it->hull = it->area;
    it->order = it->newest == 0 ? 0 : get_member(areas, it->newest)->order;
    for (uint32_t i = 0; i < 2; i++) {
        if (it->children[i] != 0) {
            const node *child = get_group(areas, it->children[i]);
            extend(&it->hull, &child->hull);
            it->order = child->order > it->order ? child->order : it->order;
        }
    }
}

static void sum_up_from(const grout_areas *areas, uint32_t index) {
    while (index != 0) {
        sum_up(areas, index);
        index = get_group(areas, index)->parent;
    }
}

/* What pointed at a child of a parent (0: the root) points at another group, or at none. */
static void replace(grout_areas *areas, uint32_t parent, uint32_t child, uint32_t other) {
    if (parent == 0) {
        areas->root = other;
    } else {
        node *it = get_group(areas, parent);
        it->children[it->children[1] == child ? 1 : 0] = other;
    }
    if (other != 0) {
        get_group(areas, other)->parent = parent;
    }
}

/* A group takes the place of its parent, which comes below it. */
static void lift(grout_areas *areas, uint32_t index) {
    node *it = get_group(areas, index);
    const uint32_t parent = it->parent;
    node *above = get_group(areas, parent);
    const uint32_t side = above->children[1] == index ? 1 : 0;
    replace(areas, parent, index, it->children[1 - side]);
    replace(areas, above->parent, parent, index);
    it->children[1 - side] = parent;
    above->parent = index;
    sum_up(areas, parent);
    sum_up(areas, index);
}

/* Xorshift: every run has the same tree. */
static uint32_t draw(grout_areas *areas) {
    areas->chance ^= areas->chance << 13;
    areas->chance ^= areas->chance >> 17;
    areas->chance ^= areas->chance << 5;
    return areas->chance;
}

/* The group of an area, made if there is none; 0 without memory. */
static uint32_t find_group(grout_areas *areas, grout_heap *heap, const grout_area *area) {
    uint32_t parent = 0, side = 0, index = areas->root;
    while (index != 0) {
        const node *it = get_group(areas, index);
        const int order = compare(area, &it->area);
        if (order == 0) {
            return index;
        }
        parent = index;
        side = order > 0 ? 1 : 0;
        index = it->children[side];
    }
    index = grout_pool__take(&areas->groups, heap);
    if (index == 0) {
        return 0;
    }
    node *made = get_group(areas, index);
    made->area = *area;
    made->priority = draw(areas);
    made->parent = parent;
    if (parent == 0) {
        areas->root = index;
    } else {
        get_group(areas, parent)->children[side] = index;
    }
    sum_up_from(areas, index);
    while (made->parent != 0 && get_group(areas, made->parent)->priority < made->priority) {
        lift(areas, index);
    }
    return index;
}

static void remove_group(grout_areas *areas, uint32_t index) {
    const node *it = get_group(areas, index);
    while (it->children[0] != 0 && it->children[1] != 0) {
        const uint32_t a = it->children[0], b = it->children[1];
        lift(areas, get_group(areas, a)->priority >= get_group(areas, b)->priority ? a : b);
    }
    const uint32_t parent = it->parent;
    replace(areas, parent, index, it->children[it->children[0] != 0 ? 0 : 1]);
    sum_up_from(areas, parent);
    grout_pool__give(&areas->groups, index);
}

/* ---- members --------------------------------------------------------------------------------- */

static bool reserve(grout_areas *areas, grout_heap *heap, uint32_t count) {
    const uint32_t old = areas->members.count;
    if (count <= old) {
        return true;
    }
    if (!grout_pool__reserve(&areas->members, heap, count)) {
        return false;
    }
    memset(grout_pool__at(&areas->members, old), 0, (size_t)(count - old) * sizeof(entry));
    areas->members.count = count;
    return true;
}

bool grout_areas__add(grout_areas *areas, grout_heap *heap, uint32_t member, const grout_area *area,
                      uint64_t order) {
    GROUT_ASSERT(member > 0 && member < UINT32_MAX && order > 0 &&
                 !grout_areas__has(areas, member));
    const uint32_t index = reserve(areas, heap, member + 1) ? find_group(areas, heap, area) : 0;
    if (index == 0) {
        return false;
    }
    node *it = get_group(areas, index);
    entry *added = get_member(areas, member);
    *added = (entry){.group = index, .older = it->newest, .order = order};
    if (it->newest != 0) {
        GROUT_ASSERT(get_member(areas, it->newest)->order <= order);
        get_member(areas, it->newest)->newer = member;
    }
    it->newest = member;
    sum_up_from(areas, index);
    return true;
}

bool grout_areas__has(const grout_areas *areas, uint32_t member) {
    return member < areas->members.count && get_member(areas, member)->group != 0;
}

void grout_areas__remove(grout_areas *areas, uint32_t member) {
    GROUT_ASSERT(grout_areas__has(areas, member));
    entry *removed = get_member(areas, member);
    node *it = get_group(areas, removed->group);
    if (removed->older != 0) {
        get_member(areas, removed->older)->newer = removed->newer;
    }
    if (removed->newer != 0) {
        get_member(areas, removed->newer)->older = removed->older;
    } else {
        it->newest = removed->older;
        if (it->newest == 0) {
            remove_group(areas, removed->group);
        } else {
            sum_up_from(areas, removed->group);
        }
    }
    *removed = (entry){0};
}

/* ---- searches -------------------------------------------------------------------------------- */

/* The group after another one, parents first; without those below it, if not is_below. */
static uint32_t step(const grout_areas *areas, uint32_t index, bool is_below) {
    const node *it = get_group(areas, index);
    for (uint32_t i = 0; i < 2 && is_below; i++) {
        if (it->children[i] != 0) {
            return it->children[i];
        }
    }
    while (it->parent != 0) {
        const node *above = get_group(areas, it->parent);
        if (above->children[0] == index && above->children[1] != 0) {
            return above->children[1];
        }
        index = it->parent;
        it = above;
    }
    return 0;
}

uint32_t grout_areas__next(const grout_areas *areas, const grout_area *area, uint64_t order,
                           uint32_t group) {
    group = group == 0 ? areas->root : step(areas, group, true);
    while (group != 0) {
        const node *it = get_group(areas, group);
        const bool is_below = it->order > order && meets(&it->hull, area);
        if (is_below && get_member(areas, it->newest)->order > order && meets(&it->area, area)) {
            return group;
        }
        group = step(areas, group, is_below);
    }
    return 0;
}

uint32_t grout_areas__get_newest(const grout_areas *areas, uint32_t group) {
    return get_group(areas, group)->newest;
}

uint32_t grout_areas__get_older(const grout_areas *areas, uint32_t member) {
    return get_member(areas, member)->older;
}

uint64_t grout_areas__get_order(const grout_areas *areas, uint32_t member) {
    return get_member(areas, member)->order;
}
