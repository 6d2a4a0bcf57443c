/*
 * taint.c - whether a value that depends on the schedule reaches what decides the run, or a
 * finding. SPDX-License-Identifier: Apache-2.0
 *
 * What an operand decides is a column of the op table (sinks.def). Here stands when a sink asks for
 * more than the letter of the operand says.
 */
#include "taint.h"

#include "sentences.h"
#include "statement.h"

#include "alloc.h"
#include "grout-internal/sinks.h"

#include <string.h>

/* ---- when an operand decides what its letter says ---- */

static grout_object_id find_target(const grout_flow *it, const grout_op *op) {
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    return target < op->operand_count ? grout_op__find_object(it->module, op, target) : 0;
}

static bool combines(const grout_flow *it, const grout_op *op) {
    return grout_op_get_update(it->module, op) != GROUT_UPDATE_NONE;
}

/* What an op leaves in an array of the launch: that it writes over has no part in it. */
static bool goes_out(const grout_flow *it, const grout_op *op, uint32_t operand) {
    const grout_object_id object = find_target(it, op);
    const bool counts =
        operand != grout_op_find_target((grout_opcode)op->opcode) ||
        (combines(it, op) && grout_op_get_update(it->module, op) != GROUT_UPDATE_EXCHANGE);
    return object != 0 && counts &&
           grout_space_is_of_launch(grout_module_get_object(it->module, object)->space);
}

/* Values of which two may go to one place have to be equal, unless they are combined there. */
static bool is_scattered(const grout_flow *it, const grout_op *op, uint32_t operand) {
    (void)operand;
    return !combines(it, op);
}

static bool is_of_floats(const grout_type *type) {
    return grout_dtype_get_info((grout_dtype)type->dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* Whether the op computes floats, where the launch asks what that makes. */
static bool makes_floats(const grout_flow *it, const grout_op *op, uint32_t operand) {
    const grout_object_id object = find_target(it, op);
    const bool is_plain = (grout_op_get_sinks((grout_opcode)op->opcode, operand) &
                           1u << GROUT_SINK_OUTPUT) != 0; /* goes to memory as it is */
    if (it->checker == NULL || !it->checker->info.tracks_non_finite ||
        (is_plain && !combines(it, op))) {
        return false;
    }
    return op->result_count > 0
               ? is_of_floats(grout_module_get_type(it->module, op->first_result))
               : object != 0 && is_of_floats(grout_object_get_type(it->module, object));
}

/* Whether bytes that are loaded as bools may be written as something else. */
static bool is_bool_by_another_name(const grout_flow *it, const grout_op *op, uint32_t operand) {
    const grout_object_id object = grout_op__find_object(it->module, op, operand);
    const uint32_t count = grout_module_get_object_count(it->module);
    bool found = false;
    if (object == 0 || grout_object_get_type(it->module, object)->dtype != GROUT_DTYPE_BOOL) {
        return false;
    }
    for (grout_object_id i = 1; i < count && !found; i++) {
        found = grout_object_get_type(it->module, i)->dtype != GROUT_DTYPE_BOOL &&
                grout_object_get_root(it->module, i) == grout_object_get_root(it->module, object);
    }
    return found;
}

/* What a sink says, and when a value reaches it; NULL: by its letter alone. */
static const struct {
    grout_phrase_id what;
    bool (*applies)(const grout_flow *it, const grout_op *op, uint32_t operand);
} SINKS[] = {
    [GROUT_SINK_BRANCH] = {GROUT_PHRASE_TAINT_BRANCH, NULL},
    [GROUT_SINK_SYNC] = {GROUT_PHRASE_TAINT_SYNC, NULL},
    [GROUT_SINK_ADDRESS] = {GROUT_PHRASE_TAINT_ADDRESS, NULL},
    [GROUT_SINK_METADATA] = {GROUT_PHRASE_TAINT_METADATA, NULL},
    [GROUT_SINK_ACCUMULATES] = {GROUT_PHRASE_TAINT_ACCUMULATES, NULL},
    [GROUT_SINK_SCATTERED] = {GROUT_PHRASE_TAINT_SCATTERED, is_scattered},
    [GROUT_SINK_BOOL] = {GROUT_PHRASE_TAINT_BOOL, is_bool_by_another_name},
    [GROUT_SINK_PROMISED] = {GROUT_PHRASE_TAINT_PROMISED, NULL},
    [GROUT_SINK_CHECKED] = {GROUT_PHRASE_TAINT_CHECKED, NULL},
    [GROUT_SINK_PRINTED] = {GROUT_PHRASE_TAINT_PRINTED, NULL},
    [GROUT_SINK_MADE] = {GROUT_PHRASE_TAINT_MADE, makes_floats},
    [GROUT_SINK_DELAYED] = {GROUT_PHRASE_TAINT_DELAYED, NULL},
    [GROUT_SINK_OUTPUT] = {GROUT_PHRASE_TAINT_OUTPUT, goes_out},
};
/* The last one, COMPARED, is the question of equal_writes.c. */
_Static_assert(sizeof SINKS / sizeof *SINKS == GROUT_SINK_COMPARED &&
                   GROUT_SINK_COMPARED + 1 == GROUT_SINK_COUNT,
               "each sink that a letter of sinks.def names has a row in SINKS");

/* Each use that an undefined value is a fault for is a sink of the same name. */
enum {
    USES_WITH_A_SINK = 1 << GROUT_USE_BRANCH | 1 << GROUT_USE_ADDRESS | 1 << GROUT_USE_OUTPUT |
                       1 << GROUT_USE_PRINT | 1 << GROUT_USE_SYNC | 1 << GROUT_USE_CHECK
};
_Static_assert(USES_WITH_A_SINK == (1 << GROUT_USE_COUNT) - 1,
               "each grout_uninitialised_use is a sink");

/* ---- what an op decides ---- */

/* The indices of a reference. */
static grout_op_id find_index(const grout_flow *it, const grout_operand *operand,
                              grout_trait trait) {
    const grout_op_id *values = it->values[trait];
    grout_view view;
    grout_op_id found = 0;
    memset(&view, 0, sizeof view);
    if (operand->kind != GROUT_OPERAND_REF || !grout_module_get_view(it->module, operand, &view)) {
        return 0;
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
            found = grout_flow__choose(it, found, values[view.start_terms[dim][i]]);
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count; i++) {
        const bool is_value = view.cluster_index[i].kind == GROUT_OPERAND_VALUE;
        found = grout_flow__choose(it, found, is_value ? values[view.cluster_index[i].id] : 0);
    }
    return found;
}

static bool asks_for(grout_sink sink, grout_trait trait) {
    const grout_sink_info *info = grout_sink_get_info(sink);
    return trait == GROUT_TRAIT_VALUE     ? info->of_value
           : trait == GROUT_TRAIT_DEFINED ? info->of_definedness
                                          : false;
}

/* Where the sink's value at an operand comes from; 0: the operand does not reach it. */
static grout_op_id find_at(const grout_flow *it, const grout_op *op, uint32_t operand,
                           grout_sink sink, grout_trait trait) {
    const bool is_one = (grout_op_get_sinks((grout_opcode)op->opcode, operand) >> sink & 1) != 0 &&
                        (SINKS[sink].applies == NULL || SINKS[sink].applies(it, op, operand));
    const grout_op_id source = is_one ? grout_flow__find_operand(it, op, operand, trait) : 0;
    return sink == GROUT_SINK_ADDRESS && (source == 0 || it->reads != NULL)
               ? grout_flow__choose(
                     it, source,
                     find_index(it, grout_module_get_operand(it->module, op, operand), trait))
               : source;
}

/* What any operand may decide, by its letter or by its indices. */
static uint32_t get_all_sinks(const grout_op *op) {
    uint32_t sinks = 1u << GROUT_SINK_ADDRESS;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        sinks |= grout_op_get_sinks((grout_opcode)op->opcode, i);
    }
    return sinks;
}

/* What reaches the op, and how: of several, the one by the first sink. The source of reads is the
 * first of them all, by whatever sink. */
static grout_taint find_sink(const grout_flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    const uint32_t sinks = get_all_sinks(op);
    grout_taint found = {.sink = id};
    const bool is_all = it->reads != NULL;
    for (uint32_t trait = 0; trait < GROUT_TRAIT_COUNT && (!found.source || is_all); trait++) {
        for (uint32_t sink = 0; sink < GROUT_SINK_COMPARED && (!found.source || is_all); sink++) {
            found.what = grout_phrase__get(SINKS[sink].what);
            found.is_undefined = trait != GROUT_TRAIT_VALUE;
            const bool is_asked =
                (sinks >> sink & 1) != 0 && asks_for((grout_sink)sink, (grout_trait)trait);
            for (uint32_t i = 0; is_asked && i < op->operand_count && (!found.source || is_all);
                 i++) {
                found.source = grout_flow__choose(
                    it, found.source, find_at(it, op, i, (grout_sink)sink, (grout_trait)trait));
            }
        }
    }
    return found;
}

/* ---- questions ---- */

static bool search(grout_flow *it, grout_taint *found) {
    uint32_t count = grout_module_get_op_count(it->module);
    bool done = grout_flow__run(it);
    for (grout_op_id i = 1; done && it->has_marks && i < count && !found->source; i++) {
        if (grout_flow__is_in_kernel(it, i)) {
            *found = find_sink(it, i);
        }
    }
    grout_flow__deinit(it);
    return done;
}

bool grout_checker__find_taint(const grout_checker *checker, grout_taint *taint_out) {
    grout_flow it = {.allocator = checker->allocator,
                     .checker = checker,
                     .module = checker->info.module,
                     .kernel = checker->info.kernel};
    memset(taint_out, 0, sizeof *taint_out);
    return search(&it, taint_out);
}

bool grout_race_is_decisive(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, grout_object_id object, bool *is_decisive_out) {
    grout_flow it = {.allocator = allocator, .module = module, .kernel = kernel, .only = object};
    grout_taint found = {0};
    bool done = search(&it, &found);
    *is_decisive_out = found.source != 0;
    return done;
}

static bool reaches_array(const grout_flow *it) {
    const grout_kernel *own = grout_module_get_kernel(it->module, it->kernel);
    bool does = false;
    for (uint32_t i = 0; i < own->param_count && !does; i++) {
        const grout_object_id array = grout_module_get_param(it->module, own, i)->object;
        does = array != 0 && (it->objects[GROUT_TRAIT_VALUE][array] != 0 ||
                              it->objects[GROUT_TRAIT_DEFINED][array] != 0);
    }
    return does;
}

bool grout_race_leaves_kernel(const grout_allocator *allocator, const grout_module *module,
                              grout_kernel_id kernel, grout_object_id object, bool *leaves_out) {
    grout_flow it = {.allocator = allocator, .module = module, .kernel = kernel, .only = object};
    const bool done = grout_flow__run(&it);
    *leaves_out = done && reaches_array(&it);
    for (grout_op_id i = 1; done && !*leaves_out && i < grout_module_get_op_count(module); i++) {
        *leaves_out = grout_flow__is_in_kernel(&it, i) && find_sink(&it, i).source != 0;
    }
    grout_flow__deinit(&it);
    return done;
}

/* ---- turns of a loop that looks for something ---- */

static bool is_loop(const grout_op *op) {
    return op->block_count > 0 &&
           grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_LOOP;
}

static bool is_within(const grout_module *module, grout_op_id op, grout_op_id region) {
    while (op != 0 && op != region) {
        op = grout_op__get_parent(module, op);
    }
    return op != 0;
}

/* The outermost loop around an op; 0: there is none. */
static grout_op_id find_outermost(const grout_module *module, grout_op_id op) {
    grout_op_id found = 0;
    while ((op = grout_op__get_parent(module, op)) != 0) {
        found = is_loop(grout_module_get_op(module, op)) ? op : found;
    }
    return found;
}

/* Whether what the flow follows decides something after the loop, and nothing in it. How long a
 * turn takes decides nothing. */
static bool decides_after(const grout_flow *it, grout_op_id loop, bool counts_arrays) {
    bool does = counts_arrays && reaches_array(it);
    for (grout_op_id i = 1; i < grout_module_get_op_count(it->module); i++) {
        const grout_op_info *info =
            grout_op_get_info((grout_opcode)grout_module_get_op(it->module, i)->opcode);
        if (!grout_flow__is_in_kernel(it, i) || info->effect_row == GROUT_EFFECT_ROW_HINT ||
            find_sink(it, i).source == 0) {
            continue;
        }
        if (is_within(it->module, i, loop)) {
            return false;
        }
        does = true;
    }
    return does;
}

bool grout_race_counts_turns(const grout_allocator *allocator, const grout_module *module,
                             grout_kernel_id kernel, grout_op_id look, bool counts_arrays,
                             bool *counts_out) {
    const grout_op_id outermost = find_outermost(module, look);
    bool done = true;
    *counts_out = false;
    for (grout_op_id at = outermost == 0 ? 0 : look; at != 0 && at != outermost;) {
        at = grout_op__get_parent(module, at);
        const grout_op *loop = grout_module_get_op(module, at);
        for (uint32_t i = 0; done && is_loop(loop) && !*counts_out && i < loop->result_count; i++) {
            grout_flow it = {.allocator = allocator,
                             .module = module,
                             .kernel = kernel,
                             .read = at,
                             .carried = i};
            done = grout_flow__run(&it);
            *counts_out = done && decides_after(&it, outermost, counts_arrays);
            grout_flow__deinit(&it);
        }
    }
    return done;
}

static bool is_writer(const grout_module *module, const grout_op *op, grout_object_id object) {
    uint32_t count = 0;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        const bool writes =
            effects[i].access == GROUT_ACCESS_WRITE || effects[i].access == GROUT_ACCESS_ATOMIC;
        const grout_object_id target = writes && effects[i].operand < op->operand_count
                                           ? grout_op__find_object(module, op, effects[i].operand)
                                           : 0;
        if (target != 0 && grout_object_get_root(module, target) == object) {
            return true;
        }
    }
    return false;
}

grout_op_id grout_checker__find_writer(const grout_checker *checker, grout_object_id object) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        if (grout_op__is_in_kernel(module, i, checker->info.kernel) &&
            is_writer(module, grout_module_get_op(module, i), object)) {
            return i;
        }
    }
    return 0;
}

bool grout_checker__find_chances(const grout_checker *checker, uint32_t launch,
                                 grout_chance *chances_out) {
    const grout_module *module = checker->info.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, checker->info.kernel);
    grout_flow it = {.allocator = checker->allocator,
                     .checker = checker,
                     .module = module,
                     .kernel = checker->info.kernel};
    const bool done = grout_flow__run(&it);
    for (uint32_t i = 0; done && i < kernel->param_count * GROUT_CHANCE_COUNT; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i / GROUT_CHANCE_COUNT);
        const grout_op_id source =
            param->object == 0 ? 0 : it.objects[i % GROUT_CHANCE_COUNT][param->object];
        const grout_chance *before = grout_flow__get_chance(checker, source);
        chances_out[i] = source == 0      ? (grout_chance){0}
                         : before != NULL ? *before
                                          : (grout_chance){source, launch};
    }
    grout_flow__deinit(&it);
    return done;
}

/* What comes of a read, before it is followed. */
static grout_flow begin_at(const grout_checker *checker, grout_op_id read) {
    return (grout_flow){.allocator = checker->allocator,
                        .checker = checker,
                        .module = checker->info.module,
                        .kernel = checker->info.kernel,
                        .read = read};
}

bool grout_feeds__init(grout_feeds *feeds, const grout_checker *checker) {
    const uint32_t count = grout_module_get_op_count(checker->info.module);
    *feeds = (grout_feeds){.reads = grout__new(checker->allocator, count, sizeof *feeds->reads),
                           .flow = begin_at(checker, 0)};
    feeds->flow.reads = feeds->reads;
    return feeds->reads != NULL;
}

void grout_feeds__deinit(grout_feeds *feeds) {
    grout_flow__deinit(&feeds->flow);
    grout__free(feeds->reads);
    *feeds = (grout_feeds){.reads = NULL};
}

bool grout_feeds__follow(grout_feeds *feeds) {
    return grout_flow__run(&feeds->flow);
}

grout_op_id grout_feeds__find(const grout_feeds *feeds, grout_op_id use) {
    const grout_flow *it = &feeds->flow;
    const grout_op *op = grout_module_get_op(it->module, use);
    const grout_op_id own = feeds->reads[use] != 0 ? use : 0;
    const grout_op_id input = grout_flow__find_input(it, op, GROUT_TRAIT_VALUE);
    return grout_flow__choose(it, grout_flow__choose(it, own, input), find_sink(it, use).source);
}

static bool is_made_of(const grout_flow *it, grout_op_id write) {
    const grout_op *op = grout_module_get_op(it->module, write);
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    bool is_made = it->reads != NULL && it->reads[write] != 0;
    for (uint32_t i = 0; i < op->operand_count && !is_made; i++) {
        is_made = i != target && grout_flow__find_operand(it, op, i, GROUT_TRAIT_VALUE) != 0;
    }
    return is_made;
}

bool grout_makings__init(grout_makings *makings, const grout_checker *checker) {
    makings->schedule = begin_at(checker, 0);
    return grout_feeds__init(&makings->races, checker);
}

bool grout_makings__follow(grout_makings *makings) {
    return grout_flow__run(&makings->schedule) && grout_feeds__follow(&makings->races);
}

void grout_makings__deinit(grout_makings *makings) {
    grout_flow__deinit(&makings->schedule);
    grout_feeds__deinit(&makings->races);
}

bool grout_makings__has_schedule(const grout_makings *makings, grout_op_id write) {
    return is_made_of(&makings->schedule, write);
}

bool grout_makings__has_race(const grout_makings *makings, grout_op_id write) {
    return is_made_of(&makings->races.flow, write);
}
