/* oracle.c - every access of every byte, and which two of them are in no order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "history.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
    uint32_t cluster;
    uint32_t *happened, *gmem; /* V, PG */
} known;

typedef struct entry {
    grout_access access; /* without its runs */
    grout_origin origin;
    uint32_t line;
    uint32_t cluster;
    grout_run *runs;
    uint32_t known_count;
    known *knowns;      /* of the own cluster first */
    uint32_t **smem;    /* PS of each CTA of the own cluster */
    uint32_t *admitted; /* U, and what of it can be seen; NULL: a kernel without tensor memory */
} entry;

struct oracle {
    grout_observer observer;
    const grout_module *module;
    grout_clock_shape shape;
    entry *entries;
    uint32_t count, capacity;
    oracle_pair *pairs;
    uint32_t pair_count, pair_capacity;
    uint64_t comparisons;
    history *history; /* NULL: not asked for, or too much for it */
    bool has_history;
    uint64_t differences;
    oracle_pair difference;
};

/* A test that has no memory left ends. */
static void *take(void *memory) {
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static uint32_t *copy_clock(const oracle *it, const uint32_t *clock) {
    const size_t size = grout_clock_size(&it->shape) * sizeof *clock;
    return memcpy(take(malloc(size)), clock, size);
}

/* ---- recording ------------------------------------------------------------------------------- */

static void keep_clocks(const oracle *it, entry *e, const grout_clocks *clocks) {
    e->cluster = clocks->cluster;
    e->known_count = 1 + clocks->foreign_count;
    e->knowns = take(calloc(e->known_count, sizeof *e->knowns));
    e->knowns[0] = (known){clocks->cluster, copy_clock(it, clocks->known),
                           copy_clock(it, grout_clocks_find_fenced(clocks, clocks->cluster))};
    for (uint32_t i = 0; i < clocks->foreign_count; i++) {
        const grout_foreign_clock *foreign = &clocks->foreign[i];
        e->knowns[i + 1] =
            (known){foreign->cluster, copy_clock(it, foreign->known),
                    copy_clock(it, grout_clocks_find_fenced(clocks, foreign->cluster))};
    }
    e->smem = take(calloc(it->shape.cta_count, sizeof *e->smem));
    for (uint32_t rank = 0; rank < it->shape.cta_count; rank++) {
        e->smem[rank] = copy_clock(it, grout_clocks_get_smem(clocks, rank));
    }
    if (clocks->admitted != NULL) {
        const size_t size = grout_clock_admitted_size(&it->shape) * sizeof *e->admitted;
        e->admitted = memcpy(take(malloc(size + 1)), clocks->admitted, size);
    }
}

static uint32_t get_line(const oracle *it, const grout_origin *origin) {
    const grout_op *op = grout_module_get_op(it->module, origin->op);
    return grout_module_get_place(it->module, op->loc).line;
}

static void compare_with_history(oracle *it, const grout_event *event);

static bool take_event(void *self, const grout_event *event) {
    oracle *it = self;
    const grout_access *access = event->u.access;
    if (event->kind != GROUT_EVENT_ACCESS) {
        if (it->history != NULL) {
            history_take(it->history, event);
        }
        return true;
    }
    if (event->clocks == NULL ||
        (access->space != GROUT_SPACE_SMEM && access->space != GROUT_SPACE_GMEM &&
         access->space != GROUT_SPACE_TMEM)) {
        return true;
    }
    if (it->count == it->capacity) {
        it->capacity = it->capacity ? 2 * it->capacity : 64;
        it->entries = take(realloc(it->entries, it->capacity * sizeof *it->entries));
    }
    entry *e = &it->entries[it->count++];
    memset(e, 0, sizeof *e);
    e->access = *access;
    e->access.object = grout_object_get_root(it->module, access->object); /* starts where it does */
    e->origin = event->origin;
    e->line = get_line(it, &event->origin);
    e->runs = take(malloc(access->run_count * sizeof *e->runs));
    memcpy(e->runs, access->runs, access->run_count * sizeof *e->runs);
    keep_clocks(it, e, event->clocks);
    if (it->history != NULL) {
        compare_with_history(it, event);
    }
    return true;
}

static bool begin(void *self, const grout_launch_info *info) {
    oracle *it = self;
    it->module = info->module;
    it->history = it->has_history ? history_new(info) : NULL;
    it->shape = info->shape;
    return true;
}

static bool end(void *self) {
    (void)self;
    return true;
}

/* ---- done, and seen -------------------------------------------------------------------------- */

static bool is_by_engine(const entry *e) {
    return e->access.stamp.agent != GROUT_AGENT_ACTOR;
}

static bool looks(const entry *y) {
    return !y->access.is_write || y->access.is_atomic;
}

/* What says that y knows x to be done: of what an engine did in the memory of a CTA there is a
 * counter that every edge carries, and one that goes to another CTA only by edges of memory. */
static uint32_t get_counter(const oracle *it, const entry *x, bool is_seen) {
    const uint32_t component = x->access.stamp.component;
    return is_seen && is_by_engine(x) && x->access.space != GROUT_SPACE_GMEM
               ? grout_clock_seen(&it->shape, component)
               : component;
}

/* Whether y sees what x has written, or what x has read, as far as y has to: who writes over a slot
 * has not. */
static bool sees(const oracle *it, const entry *x, const entry *y) {
    return x->access.space == GROUT_SPACE_GMEM || !looks(y) ||
           y->knowns[0].happened[get_counter(it, x, true)] >= x->access.stamp.number;
}

/* ---- order ----------------------------------------------------------------------------------- */

static bool has_reached(const oracle *it, const entry *y, const entry *x, bool published) {
    const grout_stamp *stamp = &x->access.stamp;
    (void)it;
    for (uint32_t i = 0; i < y->known_count; i++) {
        if (y->knowns[i].cluster == stamp->cluster) {
            const uint32_t *clock = published ? y->knowns[i].gmem : y->knowns[i].happened;
            return clock[stamp->component] >= stamp->number;
        }
    }
    return false;
}

/* Whether x is before y, by what these say. is_known: that x is over; is_published: that it is
 * published to the proxy of y. */
static bool is_before(const entry *x, const entry *y, bool is_known, bool is_published) {
    const bool is_smem = x->access.space == GROUT_SPACE_SMEM;
    const bool x_is_async = x->access.stamp.agent == GROUT_AGENT_ENGINE;
    if (!is_known || y->access.stamp.agent != GROUT_AGENT_ENGINE) {
        return is_known;
    }
    if (x_is_async) {
        return is_smem || !x->access.is_write || x->origin.cta == y->origin.cta || is_published;
    }
    return is_published || (!is_smem && !x->access.is_write);
}

/* ---- tensor memory --------------------------------------------------------------------------- */

/* The lane that an MMA comes from; false: it is a load or a store of tensor memory. */
static bool get_mma_lane(const oracle *it, const entry *e, uint32_t *lane) {
    *lane = e->access.stamp.component - grout_clock_tcgen05(&it->shape, 0);
    return e->access.stamp.component >= grout_clock_tcgen05(&it->shape, 0) &&
           *lane < grout_clock_tensor_lanes(&it->shape);
}

/* Extent of what an operand refers to. */
typedef struct operand_form {
    uint32_t rank;
    int64_t extent[GROUT_RANK_MAX];
} operand_form;

static operand_form get_form(const oracle *it, grout_op_id id, uint32_t operand) {
    const grout_op *op = grout_module_get_op(it->module, id);
    operand_form form = {0};
    grout_view view;
    if (grout_module_get_view(it->module, grout_module_get_operand(it->module, op, operand),
                              &view)) {
        form.rank = view.rank;
        memcpy(form.extent, view.extent, view.rank * sizeof *view.extent);
    }
    return form;
}

static bool is_copy(const oracle *it, const entry *e) {
    const uint32_t opcode = grout_module_get_op(it->module, e->origin.op)->opcode;
    return opcode == GROUT_OP_ASYNC_COPY_SMEM_TO_TMEM ||
           opcode == GROUT_OP_ASYNC_COPY_SCALES_TO_TMEM ||
           opcode == GROUT_OP_ASYNC_COPY_SPARSE_METADATA_TO_TMEM;
}

static bool are_equal(const operand_form *a, const operand_form *b) {
    return a->rank == b->rank && memcmp(a->extent, b->extent, a->rank * sizeof *a->extent) == 0;
}

/* Two MMAs that add to the same columns in the same shape. */
static bool are_same_sums(const oracle *it, const entry *x, const entry *y) {
    const operand_form sums[2] = {get_form(it, x->origin.op, 0), get_form(it, y->origin.op, 0)};
    return are_equal(&sums[0], &sums[1]) && x->access.run_count == y->access.run_count &&
           memcmp(x->runs, y->runs, x->access.run_count * sizeof *x->runs) == 0;
}

/* The pairs of PTX ISA 9.4, of which one writes: what one warp issues to the tensor core, by what
 * the columns are to each, and loads and stores of one warp. A thread's loads and stores of the
 * same lanes are the same warp's. */
static bool are_pipelined(const oracle *it, const entry *x, const entry *y) {
    uint32_t lanes[2] = {0, 0};
    const bool x_is_mma = get_mma_lane(it, x, &lanes[0]), y_is_mma = get_mma_lane(it, y, &lanes[1]);
    if (!x_is_mma && !y_is_mma) {
        return x->origin.cta == y->origin.cta && x->origin.thread == y->origin.thread &&
               x->origin.warp == y->origin.warp;
    }
    if (!x_is_mma || !y_is_mma || lanes[0] != lanes[1] || x->cluster != y->cluster) {
        return false;
    }
    if (!x->access.is_write) { /* an operand in tensor memory, which is overwritten */
        return true;
    }
    if (is_copy(it, x)) {
        return !y->access.is_write;
    }
    return y->access.is_write && !is_copy(it, y) && are_same_sums(it, x, y);
}

/* Whether a path through the fences tells y that x is over; and, with is_seen, shows what it did.
 */
static bool is_admitted(const oracle *it, const entry *x, const entry *y, bool is_seen) {
    const uint32_t component = x->access.stamp.component;
    const uint32_t place = is_seen ? grout_clock_admitted_seen(&it->shape, component)
                                   : grout_clock_admitted(&it->shape, component);
    return y->admitted[place] >= x->access.stamp.number;
}

/* Everybody has to see what was written: an MMA may add to it. */
static bool is_ordered_in_tmem(const oracle *it, const entry *x, const entry *y) {
    return is_admitted(it, x, y, x->access.is_write) || are_pipelined(it, x, y);
}

/* Whether a read, or a write, between others shows the last one what was there, as far as that
 * looks at it: a load, an operand, and sums that are added to. */
static bool shows_in_tmem(const oracle *it, const entry *between, const entry *y) {
    uint32_t lane = 0;
    const bool is_sum = get_mma_lane(it, y, &lane) && !is_copy(it, y);
    return (y->access.is_write && !is_sum) || is_admitted(it, between, y, true);
}

static bool is_ordered(const oracle *it, const entry *x, const entry *y) {
    bool is_published = false;
    if (x->access.space == GROUT_SPACE_TMEM) {
        return is_ordered_in_tmem(it, x, y);
    }
    if (x->access.space == GROUT_SPACE_GMEM) {
        is_published = has_reached(it, y, x, true);
    } else if (y->cluster == x->cluster) {
        const uint32_t *clock = y->smem[x->access.owner % it->shape.cta_count];
        is_published =
            clock[get_counter(it, x, x->access.is_write && looks(y))] >= x->access.stamp.number;
    }
    return is_before(x, y, has_reached(it, y, x, false), is_published) &&
           (!x->access.is_write || sees(it, x, y));
}

static bool holds(const oracle *it, const entry *x, const entry *y) {
    switch (x->access.atomic_scope) {
    case GROUT_CHOICE_SCOPE_CTA:
        return x->origin.cta == y->origin.cta;
    case GROUT_CHOICE_SCOPE_CLUSTER:
        return x->origin.cta / it->shape.cta_count == y->origin.cta / it->shape.cta_count;
    default:
        return true;
    }
}

static bool is_conflict(const oracle *it, const entry *x, const entry *y) {
    if (!x->access.is_write && !y->access.is_write) {
        return false;
    }
    const bool is_one_proxy = (x->access.stamp.agent == GROUT_AGENT_ENGINE) ==
                              (y->access.stamp.agent == GROUT_AGENT_ENGINE);
    return !(x->access.is_atomic && y->access.is_atomic && is_one_proxy &&
             x->access.atomic_width == y->access.atomic_width && holds(it, x, y) &&
             holds(it, y, x));
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool is_same_memory(const entry *x, const entry *y) {
    return x->access.object == y->access.object &&
           (x->access.space == GROUT_SPACE_GMEM || x->access.owner == y->access.owner);
}

static bool touches(const entry *e, int64_t byte) {
    for (uint32_t i = 0; i < e->access.run_count; i++) {
        const grout_run *run = &e->runs[i];
        const int64_t stride = run->count > 1 ? run->stride : 1;
        const int64_t piece = byte < run->base ? -1 : (byte - run->base) / stride;
        const int64_t last = piece < run->count ? piece : run->count - 1;
        if (piece >= 0 &&
            byte - run->base - last * (run->count > 1 ? run->stride : 0) < run->length) {
            return true;
        }
    }
    return false;
}

static void note_difference(oracle *it, const entry *x, const entry *y, bool is_before_y) {
    if (is_before_y != is_ordered(it, x, y)) {
        it->difference = it->differences > 0 ? it->difference
                                             : (oracle_pair){x->line, y->line, x->access.object};
        it->differences++;
    }
}

static void compare_with_history(oracle *it, const grout_event *event) {
    const entry *y = &it->entries[it->count - 1];
    for (uint32_t i = 0; i + 1 < it->count; i++) {
        const entry *x = &it->entries[i];
        if (!is_same_memory(x, y) || !is_conflict(it, x, y)) {
            continue;
        }
        if (x->access.space == GROUT_SPACE_TMEM) {
            const bool is_before_y =
                history_is_over_in_tmem(it->history, event, i, x->access.is_write) ||
                are_pipelined(it, x, y);
            note_difference(it, x, y, is_before_y);
            continue;
        }
        const bool is_smem = x->access.space == GROUT_SPACE_SMEM;
        const bool is_published = history_is_published(
            it->history, event, i, is_smem, is_smem ? x->access.owner % it->shape.cta_count : 0);
        const bool is_known = history_knows(it->history, event, i);
        note_difference(it, x, y, is_before(x, y, is_known, is_published));
    }
    if (!history_add(it->history, event)) {
        history_free(it->history);
        it->history = NULL;
    }
}

static bool shows(const oracle *it, const entry *between, const entry *y) {
    return y->access.space == GROUT_SPACE_TMEM ? shows_in_tmem(it, between, y)
                                               : sees(it, between, y);
}

/* Whether an access between the two is in order with both, and so covers the first. A read shows
 * what it has read to those who look only along edges that carry memory. */
static bool is_covered(const oracle *it, const uint32_t *list, uint32_t x, uint32_t y) {
    const entry *first = &it->entries[list[x]], *then = &it->entries[list[y]];
    for (uint32_t i = x + 1; i < y; i++) {
        const entry *between = &it->entries[list[i]];
        if ((first->access.is_write || between->access.is_write) &&
            is_ordered(it, first, between) && is_ordered(it, between, then) &&
            shows(it, between, then) &&
            (first->access.space != GROUT_SPACE_GMEM || between->access.is_write)) {
            return true;
        }
    }
    return false;
}

static void note(oracle *it, const entry *x, const entry *y) {
    oracle_pair pair = {x->line < y->line ? x->line : y->line,
                        x->line < y->line ? y->line : x->line, x->access.object};
    for (uint32_t i = 0; i < it->pair_count; i++) {
        if (memcmp(&it->pairs[i], &pair, sizeof pair) == 0) {
            return;
        }
    }
    if (it->pair_count == it->pair_capacity) {
        it->pair_capacity = it->pair_capacity ? 2 * it->pair_capacity : 16;
        it->pairs = take(realloc(it->pairs, it->pair_capacity * sizeof *it->pairs));
    }
    it->pairs[it->pair_count++] = pair;
}

static void compare_byte(oracle *it, const uint32_t *list, uint32_t count) {
    for (uint32_t y = 1; y < count; y++) {
        for (uint32_t x = 0; x < y; x++) {
            const entry *first = &it->entries[list[x]], *then = &it->entries[list[y]];
            it->comparisons++;
            if (is_conflict(it, first, then) && !is_ordered(it, first, then) &&
                !is_covered(it, list, x, y)) {
                note(it, first, then);
            }
        }
    }
}

/* ---- one memory ------------------------------------------------------------------------------ */

static int compare_offsets(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Where something begins or ends; between two such places all bytes have the same accesses. */
static size_t find_places(const oracle *it, const uint32_t *members, uint32_t count,
                          int64_t **places_out) {
    int64_t *places = NULL;
    size_t found = 0, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const entry *e = &it->entries[members[i]];
        for (uint32_t k = 0; k < e->access.run_count; k++) {
            const grout_run *run = &e->runs[k];
            places = take(realloc(places, (found + 2 * (size_t)run->count) * sizeof *places));
            for (int64_t piece = 0; piece < run->count; piece++) {
                places[found++] = run->base + piece * run->stride;
                places[found++] = run->base + piece * run->stride + run->length;
            }
        }
    }
    if (places != NULL) {
        qsort(places, found, sizeof *places, compare_offsets);
    }
    for (size_t i = 0; i < found; i++) {
        if (kept == 0 || places[kept - 1] != places[i]) {
            places[kept++] = places[i];
        }
    }
    *places_out = places;
    return kept;
}

static void compare_memory(oracle *it, const uint32_t *members, uint32_t count) {
    int64_t *places = NULL;
    const size_t place_count = find_places(it, members, count, &places);
    uint32_t *list = take(malloc(count * sizeof *list));
    uint32_t *last = take(malloc(count * sizeof *list));
    uint32_t last_count = 0;
    for (size_t i = 0; i + 1 < place_count; i++) {
        uint32_t listed = 0;
        for (uint32_t k = 0; k < count; k++) {
            if (touches(&it->entries[members[k]], places[i])) {
                list[listed++] = members[k];
            }
        }
        /* neighbours with the same accesses give the same answers */
        if (listed != last_count || memcmp(list, last, listed * sizeof *list) != 0) {
            compare_byte(it, list, listed);
            memcpy(last, list, listed * sizeof *list);
            last_count = listed;
        }
    }
    free(list);
    free(last);
    free(places);
}

/* ---- columns that scopes have one after the other ----------------------------------------------
 */

/* Two scopes make the arrays: no drawn one lies in another. */
static bool take_turns(const oracle *it, const entry *x, const entry *y) {
    const entry *both[2] = {x, y};
    grout_op_id makers[2];
    for (uint32_t i = 0; i < 2; i++) {
        const grout_object *object = grout_module_get_object(it->module, both[i]->access.object);
        makers[i] = grout_module_get_value(it->module, object->value)->op;
        if (grout_module_get_op(it->module, makers[i])->opcode != GROUT_OP_SCOPED) {
            return false;
        }
    }
    return makers[0] != makers[1];
}

/* Another CTA's scope may have come less far: what is done to an array of the one after it has to
 * have heard of all that was done to those before. */
static void compare_turns(oracle *it) {
    for (uint32_t k = 1; k < it->count; k++) {
        const entry *y = &it->entries[k];
        for (uint32_t i = 0; y->access.space == GROUT_SPACE_TMEM && i < k; i++) {
            const entry *x = &it->entries[i];
            if (x->access.space == GROUT_SPACE_TMEM && x->access.owner == y->access.owner &&
                x->origin.cta != y->origin.cta && is_conflict(it, x, y) && take_turns(it, x, y) &&
                y->knowns[0].happened[get_counter(it, x, x->access.is_write)] <
                    x->access.stamp.number) {
                note(it, x, y);
            }
        }
    }
}

uint32_t oracle_find(oracle *it, const oracle_pair **pairs_out) {
    bool *is_done = take(calloc(it->count + 1, sizeof *is_done));
    uint32_t *members = take(calloc(it->count + 1, sizeof *members));
    for (uint32_t i = 0; i < it->count; i++) {
        uint32_t count = 0;
        for (uint32_t k = i; k < it->count && !is_done[i]; k++) {
            if (is_same_memory(&it->entries[i], &it->entries[k])) {
                members[count++] = k;
            }
        }
        for (uint32_t k = 0; k < count; k++) {
            is_done[members[k]] = true;
        }
        if (count > 1) {
            compare_memory(it, members, count);
        }
    }
    free(is_done);
    free(members);
    compare_turns(it);
    *pairs_out = it->pairs;
    return it->pair_count;
}

/* ---- life ------------------------------------------------------------------------------------ */

oracle *oracle_new(bool has_history) {
    oracle *it = take(calloc(1, sizeof *it));
    it->has_history = has_history;
    it->observer =
        (grout_observer){.self = it,
                         .interest = has_history ? UINT64_MAX : UINT64_C(1) << GROUT_EVENT_ACCESS,
                         .begin = begin,
                         .event = take_event,
                         .end = end};
    return it;
}

void oracle_free(oracle *it) {
    for (uint32_t i = 0; it != NULL && i < it->count; i++) {
        entry *e = &it->entries[i];
        for (uint32_t k = 0; k < e->known_count; k++) {
            free(e->knowns[k].happened);
            free(e->knowns[k].gmem);
        }
        for (uint32_t rank = 0; rank < it->shape.cta_count; rank++) {
            free(e->smem[rank]);
        }
        free(e->smem);
        free(e->admitted);
        free(e->knowns);
        free(e->runs);
    }
    if (it != NULL) {
        free(it->entries);
        free(it->pairs);
        history_free(it->history);
    }
    free(it);
}

const grout_observer *oracle_get_observer(oracle *it) {
    return &it->observer;
}

uint64_t oracle_get_differences(const oracle *it, oracle_pair *first_out) {
    *first_out = it->difference;
    return it->differences;
}

uint64_t oracle_get_comparisons(const oracle *it) {
    return it->comparisons;
}
