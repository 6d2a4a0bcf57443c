/*
 * verify_registers.c - whether the accumulators of each thread fit its registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A walk through the kernel for each of its threads, into those branches that the thread can take:
 * a condition made of the thread's own index is decided, of any other one both branches count. The
 * walk knows how many registers a lane has, as long as set_max_registers stands outside loops and
 * undecided branches; where it does not know, only what a lane can have at most is asked.
 */
#include "verifying.h"

#include "alloc.h"
#include "invariant.h"
#include "wgmma.h"

#include <inttypes.h>

#define SM_REGISTERS   65536
#define LANES          128
#define LANE_REGISTERS 255 /* that an instruction can name */
/* What the smallest loop around a wgmma needs besides its accumulators: seen with ptxas 13.0, which
 * with one group of 8 columns more spills and serialises, or gives up (docs/hardware.md 6.6). */
#define OTHER_REGISTERS 26

uint32_t grout_get_entry_registers(uint32_t thread_count) {
    uint32_t lanes = thread_count == 0 ? LANES : thread_count * LANES;
    uint32_t registers = SM_REGISTERS / lanes / GROUT_REGISTERS_STEP * GROUT_REGISTERS_STEP;
    return registers > LANE_REGISTERS + 1 ? LANE_REGISTERS + 1 : registers;
}

/* Registers go to the four parts of an SM alike: a warpgroup that is not full counts whole. */
uint32_t grout_kernel_get_entry_registers(const grout_module *module, grout_kernel_id id) {
    const uint32_t warps = grout_kernel_get_warp_count(module, id);
    return grout_get_entry_registers((warps + GROUT_WARPS - 1) / GROUT_WARPS);
}

/* A thread on its way through the kernel. */
typedef struct register_walk {
    grout_verifying *verifying;
    uint32_t thread, thread_count;
    uint32_t entry;     /* registers of a lane at the start */
    uint32_t *users;    /* by object: the last thread that names it, plus 1 */
    bool is_listing;    /* first walk: only fill users */
    int64_t live;       /* registers of a lane that accumulators take here */
    uint32_t undecided; /* loops and branches around that may be passed or not */
    int64_t registers;  /* that a lane has here; 0: unknown */
    grout_op_id change; /* set_max_registers that gave them; 0: none yet */
    uint32_t changes;   /* so far */
    bool is_reported;   /* one report a kernel */
} register_walk;

/* ---- accumulators ---------------------------------------------------------------------------- */

static bool is_accumulator(const grout_module *module, grout_object_id id) {
    const grout_object *object = grout_module_get_object(module, id);
    return object->kind == GROUT_OBJECT_ARRAY && object->space == GROUT_SPACE_ACC;
}

/* The accumulator that an operand names, or 0. */
static grout_object_id find_accumulator(const grout_module *module, const grout_operand *operand) {
    if (operand->kind != GROUT_OPERAND_VALUE && operand->kind != GROUT_OPERAND_REF) {
        return 0;
    }
    grout_value_id base = operand->kind == GROUT_OPERAND_REF
                              ? grout_module_get_ref(module, operand->id)->base
                              : operand->id;
    grout_object_id object = grout_module_get_value(module, base)->object;
    return object != 0 && is_accumulator(module, object) ? object : 0;
}

/* Notes on the accumulators of this thread that live at an operation: those of scratch that it
 * uses, and those of the scopes around. */
static void note_accumulators(const register_walk *walk, const grout_op *op) {
    const grout_module *module = walk->verifying->module;
    for (uint32_t id = 1; id < grout_module_get_object_count(module); id++) {
        const grout_object *object = grout_module_get_object(module, id);
        const grout_value *value = grout_module_get_value(module, object->value);
        if (!is_accumulator(module, id) || walk->users[id] != walk->thread + 1) {
            continue;
        }
        bool is_live = value->block == 0;
        grout_block_id block = op->parent;
        while (!is_live && block != 0) {
            is_live = value->block == block;
            grout_op_id around = grout_module_get_block(module, block)->parent;
            block = around == 0 ? 0 : grout_module_get_op(module, around)->parent;
        }
        if (is_live) {
            grout_diags_note(walk->verifying->diags, grout_module_get_place(module, object->loc),
                             "%s takes %" PRId64,
                             grout_value__get_text(module, object->value, "this").chars,
                             grout_wgmma__count_registers(module, id));
        }
    }
}

static const char *get_repair(const register_walk *walk, int64_t registers) {
    if (registers >= LANE_REGISTERS) {
        return "make the tile smaller, or divide its rows among more threads";
    }
    if (walk->change == 0) {
        return "make the tile smaller, or move registers here: set_max_registers 40 decrease in "
               "the "
               "threads that only copy, 232 increase in two that multiply";
    }
    return "make the tile smaller, or let another thread multiply";
}

static void report_lane(register_walk *walk, const grout_op *op, const grout_operand *operand,
                        int64_t registers) {
    grout_verifying *verifying = walk->verifying;
    grout_verifying__report(verifying, GROUT_DIAG_REGISTER_BUDGET, operand->loc,
                            "the accumulators that live here take %" PRId64
                            " registers of each lane, and what is around them %d at least: a lane "
                            "of thread %" PRIu32 " has %" PRId64,
                            walk->live, OTHER_REGISTERS, walk->thread, registers);
    note_accumulators(walk, op);
    if (walk->change != 0) {
        const grout_op *change = grout_module_get_op(verifying->module, walk->change);
        grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, change->loc),
                         "its registers since here");
    } else if (registers < LANE_REGISTERS) {
        grout_diags_note(verifying->diags, (grout_place){0},
                         "%" PRIu32 " threads share the %d registers of an SM, %" PRId64
                         " for each lane",
                         walk->thread_count, SM_REGISTERS, registers);
    }
    grout_diags_help(verifying->diags, "%s", get_repair(walk, registers));
}

/* An operation with an accumulator: what lives has to fit. */
static void visit_accumulator(register_walk *walk, const grout_op *op,
                              const grout_operand *operand) {
    int64_t registers =
        walk->registers == 0 || walk->registers > LANE_REGISTERS ? LANE_REGISTERS : walk->registers;
    if (walk->is_reported || walk->live + OTHER_REGISTERS <= registers) {
        return;
    }
    walk->is_reported = true;
    report_lane(walk, op, operand, registers);
}

/* ---- set_max_registers ----------------------------------------------------------------------- */

static void visit_change(register_walk *walk, grout_op_id id, const grout_op *op) {
    const grout_module *module = walk->verifying->module;
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    int64_t count = grout_module_get_expr_value(module, operand->id).integer;
    bool increases = grout_module_find_attr(module, op, GROUT_ATTR_INCREASE) != NULL;
    /* One flag and a number that there is; otherwise it has been reported, and nothing follows. */
    bool is_sound = op->attr_count == 1 && grout_wgmma__has_register_count(module, op);
    walk->changes++;
    if (walk->undecided > 0 || walk->registers == 0 || !is_sound) {
        walk->registers = 0;
        walk->changes = UINT32_MAX / 2;
        return;
    }
    bool is_wrong = increases ? count < walk->registers : count > walk->registers;
    if (is_wrong && !walk->is_reported) {
        walk->is_reported = true;
        grout_verifying__report(
            walk->verifying, GROUT_DIAG_REGISTER_BUDGET, op->loc,
            "%s to %" PRId64 " registers, and a lane of thread %" PRIu32 " has %" PRId64 " here",
            increases ? "an increase" : "a decrease", count, walk->thread, walk->registers);
        grout_diags_help(walk->verifying->diags, "write '%s'", increases ? "decrease" : "increase");
    }
    walk->registers = count;
    walk->change = id;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void walk_block(register_walk *walk, grout_block_id id);

static void walk_if(register_walk *walk, const grout_op *op) {
    grout_known_value condition =
        grout_thread__evaluate(walk->verifying->module, walk->verifying->kernel, walk->thread,
                               grout_module_get_operand(walk->verifying->module, op, 0));
    if (condition.is_known) {
        uint32_t branch = condition.value != 0 ? 0 : 1;
        if (branch < op->block_count) {
            walk_block(walk, op->first_block + branch);
        }
        return;
    }
    walk->undecided++;
    for (uint32_t k = 0; k < op->block_count; k++) {
        walk_block(walk, op->first_block + k);
    }
    walk->undecided--;
}

static void walk_scope(register_walk *walk, const grout_op *op) {
    const grout_module *module = walk->verifying->module;
    const grout_block *body = grout_module_get_block(module, op->first_block);
    int64_t live = walk->live;
    for (uint32_t k = 0; k < body->arg_count; k++) {
        grout_object_id object = grout_module_get_value(module, body->first_arg + k)->object;
        if (is_accumulator(module, object)) {
            walk->live += grout_wgmma__count_registers(module, object);
            walk->users[object] = walk->thread + 1;
        }
    }
    walk_block(walk, op->first_block);
    walk->live = live;
}

/* Each thread has its own body of a warp_specialize. */
static void walk_specialize(register_walk *walk, const grout_op *op) {
    if (walk->thread < op->block_count) {
        walk_block(walk, op->first_block + walk->thread);
    }
}

static bool changes_registers(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_REGISTERS;
}

static void walk_region(register_walk *walk, const grout_op *op) {
    switch (grout_op_get_region_kind(op)) {
    case GROUT_REGION_BRANCH:
        walk_if(walk, op);
        break;
    case GROUT_REGION_SCOPE:
        walk_scope(walk, op);
        break;
    case GROUT_REGION_PARTITIONS:
        walk_specialize(walk, op);
        break;
    case GROUT_REGION_LOOP:
    case GROUT_REGION_WARPS:
        walk->undecided++;
        for (uint32_t k = 0; k < op->block_count; k++) {
            walk_block(walk, op->first_block + k);
        }
        GROUT_ASSERT(walk->undecided > 0);
        walk->undecided--;
        break;
    case GROUT_REGION_NONE:
        break;
    }
}

static void walk_op(register_walk *walk, grout_op_id id, const grout_op *op) {
    const grout_module *module = walk->verifying->module;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        grout_object_id object = find_accumulator(module, operand);
        if (object != 0 && walk->is_listing) {
            walk->users[object] = walk->thread + 1;
        } else if (object != 0) {
            visit_accumulator(walk, op, operand);
        }
    }
    if (changes_registers(op) && !walk->is_listing) {
        visit_change(walk, id, op);
    }
    walk_region(walk, op);
}

/* Whether the thread runs an op of the kernel's own block: with warp_specialize thread 0 does. */
static bool takes_part(const register_walk *walk, const grout_block *block, const grout_op *op) {
    return block->parent != 0 || walk->thread == 0 || walk->verifying->specialize == NULL ||
           grout_op_get_region_kind(op) == GROUT_REGION_PARTITIONS;
}

/* Blocks nest at most GROUT_NESTING_MAX deep. */
static void walk_block(register_walk *walk, grout_block_id id) {
    const grout_module *module = walk->verifying->module;
    const grout_block *block = grout_module_get_block(module, id);
    grout_op_id next = block->first;
    while (next != 0 && grout_verify__goes_on(walk->verifying)) {
        const grout_op *op = grout_module_get_op(module, next);
        if (takes_part(walk, block, op)) {
            walk_op(walk, next, op);
        }
        next = op->next;
    }
}

/* Registers of the accumulators of scratch that the thread uses: they live from its start on. */
static int64_t count_scratch(const register_walk *walk) {
    const grout_module *module = walk->verifying->module;
    int64_t registers = 0;
    for (uint32_t id = 1; id < grout_module_get_object_count(module); id++) {
        bool is_used = walk->users[id] == walk->thread + 1 && is_accumulator(module, id);
        const grout_object *object = grout_module_get_object(module, id);
        if (is_used && grout_module_get_value(module, object->value)->block == 0) {
            registers += grout_wgmma__count_registers(module, id);
        }
    }
    return registers;
}

static void walk_thread(register_walk *walk, uint32_t thread, grout_block_id body) {
    walk->thread = thread;
    walk->is_listing = true;
    walk->live = 0;
    walk_block(walk, body);
    walk->is_listing = false;
    walk->live = count_scratch(walk);
    walk->registers = walk->entry;
    walk->change = 0;
    walk->changes = 0;
    walk_block(walk, body);
}

/* Whether the kernel has anything to count. */
static bool needs_walk(const grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (changes_registers(op) ||
            (op->operand_count > 0 &&
             find_accumulator(module, grout_module_get_operand(module, op, 0)) != 0)) {
            return true;
        }
    }
    return false;
}

/* Each thread changes its registers once at most, so a thread that waits for more than the pool can
 * ever have waits for ever. */
static void check_pool(grout_verifying *verifying, int64_t wanted, int64_t pool,
                       grout_op_id increase) {
    const grout_module *module = verifying->module;
    if (wanted <= pool || increase == 0) {
        return;
    }
    uint32_t threads = grout_kernel_get_thread_count(module, verifying->kernel);
    grout_verifying__report(
        verifying, GROUT_DIAG_REGISTER_BUDGET, grout_module_get_op(module, increase)->loc,
        "the %" PRIu32 " threads end with %" PRId64
        " registers a lane together, and start with %" PRIu32 " each, %" PRId64
        " together: an increase waits for ever",
        threads, wanted, grout_kernel_get_entry_registers(module, verifying->kernel), pool);
    grout_diags_help(verifying->diags,
                     "give back more where few are needed: decreases have to bring what increases "
                     "take");
}

static void walk_threads(register_walk *walk) {
    grout_verifying *verifying = walk->verifying;
    grout_block_id body = grout_module_get_kernel(verifying->module, verifying->kernel)->body;
    const int64_t entry = walk->entry;
    int64_t wanted = 0;
    bool is_certain = true;
    grout_op_id increase = 0;
    for (uint32_t thread = 0; thread < walk->thread_count; thread++) {
        walk_thread(walk, thread, body);
        is_certain = is_certain && walk->changes <= 1 && walk->registers != 0;
        wanted += walk->registers;
        increase = walk->registers > entry ? walk->change : increase;
    }
    if (is_certain && !walk->is_reported) {
        check_pool(verifying, wanted, entry * walk->thread_count, increase);
    }
}

void grout_verify__registers(grout_verifying *verifying) {
    register_walk walk = {.verifying = verifying};
    walk.thread_count = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    if (verifying->arch == GROUT_ARCH_ANY || walk.thread_count > GROUT_THREADS_MAX ||
        !needs_walk(verifying)) {
        return;
    }
    walk.entry = grout_kernel_get_entry_registers(verifying->module, verifying->kernel);
    walk.users = grout__new(verifying->module->allocator,
                            grout_module_get_object_count(verifying->module), sizeof *walk.users);
    if (walk.users == NULL) {
        verifying->ok = grout_diags_add_oom(verifying->diags);
        return;
    }
    walk_threads(&walk);
    grout__free(walk.users);
}
