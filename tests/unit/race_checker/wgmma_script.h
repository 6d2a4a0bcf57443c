/*
 * wgmma_script.h - for the tests of wgmmas in race_checker/: event streams made by hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A script is a word a step: thread, what it does, and a number. A small machine keeps the clocks
 * as the interpreter does. Slots are boxes of %as; the ops are those of KERNEL, whatever slot they
 * name there. Findings come out as "code line/line", in order, joined by commas; the barrier
 * protocol, which the scripts do not keep, is left out.
 */
#ifndef GROUT_TESTS_WGMMA_SCRIPT_H
#define GROUT_TESTS_WGMMA_SCRIPT_H

#include "in_place_order.h"

#include "grout-internal/race.h"
#include "grout-internal/text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 3,
    SLOTS = 8,
    ELEMENTS = SLOTS + THREADS, /* %full[slot], %free[thread] */
    COUNTERS = 7 * THREADS + ELEMENTS,
    SLOT_BYTES = 64 * 64 * 2,
    ROWS = 64,
    COLUMNS = 128,
    PHASES = 64
};

static const char KERNEL[] =
    "kernel @k(%x: in gmem f16[64, 64]) threads(wg = 3) {\n" /* 1 */
    "  scratch %as : smem f16[8, 64, 64] tile(8, 64) swizzle(128)\n"
    "  scratch %bs : smem f16[64, 128] tile(8, 64) swizzle(128)\n"
    "  scratch %acc : acc f32[64, 128]\n"
    "  scratch %full : barrier[8]\n"
    "  scratch %free : barrier[3]\n"
    "  wgmma %acc, %as[0], %bs\n"                                     /* 7: m */
    "  wgmma_async %acc, %as[0], %bs\n"                               /* 8: n */
    "  wgmma_async %acc[:, ds(0, 64)], %as[0], %bs[:, ds(0, 64)]\n"   /* 9: h */
    "  wgmma_async %acc[:, ds(64, 64)], %as[0], %bs[:, ds(64, 64)]\n" /* 10: i */
    "  wgmma_async %acc[:, ds(32, 64)], %as[0], %bs[:, ds(0, 64)]\n"  /* 11: j */
    "  wgmma_wait 2\n"                                                /* 12: w */
    "  copy_gmem_to_smem %x, %as[0], %full[0]\n"                      /* 13: t */
    "  barrier_wait %full[0]\n"                                       /* 14: c */
    "  store %as[0], (load %x)\n"                                     /* 15: s */
    "  %v = load %as[0]\n"                                            /* 16: r */
    "  commit_smem\n"                                                 /* 17: f */
    "  barrier_arrive %free[0]\n"                                     /* 18: a */
    "  barrier_wait %free[0]\n"                                       /* 19: g */
    "  %u = acc_load %acc\n"                                          /* 20: x */
    "  acc_store %acc, %u\n"                                          /* 21: y */
    "  %o = acc_load %acc wait(1)\n"                                  /* 22: z */
    "  %l = load %acc\n"                                              /* 23: l */
    "  wgmma %acc, %as[0], %bs\n"
    "  barrier_arrive %free[0]\n" /* 25: b */
    "  wgmma_wait 0\n"            /* 26: v */
    "}\n";

/* What a step's letter means. */
typedef struct word {
    char letter;
    uint32_t line;
    const char *mnemonic;
} word;

static const word WORDS[] = {{'m', 7, "wgmma"},
                             {'n', 8, "wgmma_async"},
                             {'h', 9, "wgmma_async"},
                             {'i', 10, "wgmma_async"},
                             {'j', 11, "wgmma_async"},
                             {'w', 12, "wgmma_wait"},
                             {'t', 13, "copy_gmem_to_smem"},
                             {'o', 13, "copy_gmem_to_smem"}, /* slot 0, barrier [number] */
                             {'c', 14, "barrier_wait"},
                             {'s', 15, "store"},
                             {'r', 16, "load"},
                             {'f', 17, "commit_smem"},
                             {'a', 18, "barrier_arrive"},
                             {'g', 19, "barrier_wait"},
                             {'x', 20, "acc_load"},
                             {'y', 21, "acc_store"},
                             {'z', 22, "acc_load"},
                             {'l', 23, "load"},
                             {'b', 25, "barrier_arrive"},
                             {'v', 26, "wgmma_wait"}};
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

#define REUSE  "mma-operand-reuse "
#define FLIGHT "accumulator-in-flight "
#define EXIT   "async-at-exit "

/* ---- the machine ------------------------------------------------------------------------------
 */

typedef struct machine {
    grout_module *symbolic, *module;
    grout_diags *diags;
    grout_checker *checker;
    const grout_observer *observer;
    grout_clock_shape shape;
    grout_object_id objects[5]; /* as, bs, acc, full, free */
    grout_op_id ops[WORD_COUNT];
    uint32_t sets[THREADS][3][COUNTERS]; /* V, PS, PG */
    uint32_t released[ELEMENTS][PHASES][3][COUNTERS];
    uint32_t arrived[ELEMENTS];
    grout_wait_fact waits[ELEMENTS][THREADS];
    uint32_t groups[THREADS];
} machine;

enum { AS, BS, ACC, FULL, FREE };

static grout_op_id find_op(const grout_module *module, uint32_t line, const char *mnemonic) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (grout_module_get_place(module, op->loc).line == line &&
            strcmp(grout_op_get_info((grout_opcode)op->opcode)->text, mnemonic) == 0) {
            return i;
        }
    }
    ck_abort_msg("no %s in line %u", mnemonic, line);
    return 0;
}

static void find_ids(machine *it) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORD_COUNT; i++) {
        it->ops[i] = find_op(it->module, WORDS[i].line, WORDS[i].mnemonic);
    }
    for (grout_object_id i = 1; i < grout_module_get_object_count(it->module); i++) {
        if (grout_module_get_object(it->module, i)->space != GROUT_SPACE_GMEM) {
            it->objects[count++] = i;
        }
    }
    ck_assert_uint_eq(count, 5);
}

static void start(machine *it, const char *text) {
    grout_object_id elements[ELEMENTS] = {0};
    uint32_t indices[ELEMENTS] = {0};
    const grout_checker_options options = {.max_findings = 1000};
    grout_launch_info info = {.kernel = 1,
                              .shape = {.cta_count = 1,
                                        .actor_count = THREADS,
                                        .lane_count = THREADS,
                                        .barrier_count = ELEMENTS,
                                        .thread_count = THREADS,
                                        .lanes_per_thread = 1},
                              .cta_count = 1};
    memset(it, 0, sizeof *it);
    it->diags = grout_diags_new();
    it->symbolic = grout_parse("k.grout", text, strlen(text), it->diags);
    ck_assert_ptr_nonnull(it->symbolic);
    it->module = grout_module_bind(it->symbolic, NULL, 0, it->diags);
    ck_assert_ptr_nonnull(it->module);
    if (text == KERNEL) {
        find_ids(it);
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        elements[i] = it->objects[i < SLOTS ? FULL : FREE];
        indices[i] = i < SLOTS ? i : i - SLOTS;
    }
    it->shape = info.shape;
    ck_assert_uint_eq(grout_clock_size(&it->shape), COUNTERS);
    info.module = it->module;
    info.element_objects = elements;
    info.element_indices = indices;
    it->checker = grout_checker_new(&options, it->diags);
    it->observer = grout_checker_get_observer(it->checker);
    ck_assert(it->observer->begin(it->observer->self, &info));
    for (uint32_t t = 0; t < THREADS; t++) {
        it->sets[t][0][grout_clock_epoch(&it->shape, t)] = 1;
        it->sets[t][0][grout_clock_released(&it->shape, t)] = 1;
    }
}

static void stop(machine *it) {
    grout_checker_free(it->checker);
    grout_module_free(it->module);
    grout_module_free(it->symbolic);
    grout_diags_free(it->diags);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

typedef struct step {
    uint32_t thread;
    grout_op_id op;
    uint32_t number;
    char letter;
} step;

static void send(machine *it, const step *at, grout_event *event) {
    grout_clocks clocks = {.known = it->sets[at->thread][0],
                           .published_smem = it->sets[at->thread][1],
                           .published_gmem = it->sets[at->thread][2]};
    event->origin.op = at->op;
    event->origin.thread = (uint8_t)at->thread;
    event->clocks = &clocks;
    ck_assert(it->observer->event(it->observer->self, event));
}

static void join(uint32_t *into, const uint32_t *from) {
    for (uint32_t i = 0; i < COUNTERS; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

static void advance(machine *it, uint32_t thread) {
    it->sets[thread][0][grout_clock_epoch(&it->shape, thread)]++;
    it->sets[thread][0][grout_clock_released(&it->shape, thread)]++;
}

static void touch(machine *it, const step *at, uint32_t object, bool is_write,
                  const grout_stamp *stamp, const grout_run *run) {
    grout_access access = {
        .object = it->objects[object], .is_write = is_write, .runs = run, .run_count = 1};
    grout_event event = {.kind = GROUT_EVENT_ACCESS};
    const grout_op *op = grout_module_get_op(it->module, at->op);
    access.space = grout_module_get_object(it->module, access.object)->space;
    if (stamp) {
        access.stamp = *stamp;
    } else {
        access.stamp.component = grout_clock_released(&it->shape, at->thread);
        access.stamp.number = it->sets[at->thread][0][access.stamp.component];
    }
    for (uint32_t i = 0; i < op->operand_count; i++) { /* the operand that names the object */
        grout_view view;
        if (grout_module_get_view(it->module, grout_module_get_operand(it->module, op, i), &view) &&
            view.object == access.object) {
            event.origin.operand = (uint8_t)i;
        }
    }
    event.u.access = &access;
    send(it, at, &event);
}

static void touch_slot(machine *it, const step *at, bool is_write, const grout_stamp *stamp) {
    const grout_run run = {
        .base = (int64_t)at->number * SLOT_BYTES, .count = 1, .length = SLOT_BYTES};
    touch(it, at, AS, is_write, stamp, &run);
}

static void touch_columns(machine *it, const step *at, int64_t first, int64_t count, bool is_write,
                          const grout_stamp *stamp) {
    const grout_run run = {
        .base = first * 4, .stride = COLUMNS * INT64_C(4), .count = ROWS, .length = count * 4};
    touch(it, at, ACC, is_write, stamp, &run);
}

static void wait_for_groups(machine *it, const step *at, uint32_t allowed) {
    uint32_t issued = it->groups[at->thread];
    grout_event event = {.kind = GROUT_EVENT_WGMMA_WAIT};
    event.u.group.lane = at->thread;
    event.u.group.allowed = allowed;
    event.u.group.number = issued > allowed ? issued - allowed : 0;
    send(it, at, &event);
    uint32_t *known = &it->sets[at->thread][0][grout_clock_wgmma(&it->shape, at->thread)];
    *known = *known < event.u.group.number ? event.u.group.number : *known;
}

static void multiply(machine *it, const step *at) {
    static const grout_run all_of_b = {.count = 1, .length = INT64_C(64) * 128 * 2};
    const int64_t first = at->letter == 'i' ? 64 : (at->letter == 'j' ? 32 : 0);
    const int64_t count = at->letter == 'm' || at->letter == 'n' ? COLUMNS : 64;
    grout_issue issue = {.bytes = 0};
    grout_event event = {.kind = GROUT_EVENT_ISSUE};
    issue.read.component = grout_clock_wgmma(&it->shape, at->thread);
    issue.read.number = ++it->groups[at->thread];
    issue.read.agent = GROUT_AGENT_ENGINE;
    issue.write = issue.read;
    event.u.issue = &issue;
    send(it, at, &event);
    touch_columns(it, at, first, count, true, &issue.write);
    touch_slot(it, at, false, &issue.read);
    touch(it, at, BS, false, &issue.read, &all_of_b);
    if (at->letter == 'm') {
        wait_for_groups(it, at, 1);
    }
}

/* An arrive on an element; its phases are complete at once. */
static void arrive(machine *it, const step *at, uint32_t element, bool by_copy) {
    uint32_t phase = it->arrived[element]++;
    ck_assert_uint_lt(phase, PHASES);
    memcpy(it->released[element][phase], it->sets[at->thread], sizeof it->sets[at->thread]);
    grout_event event = {.kind = GROUT_EVENT_ARRIVE};
    event.u.arrive.element = element;
    event.u.arrive.phase = phase;
    event.u.arrive.count = 1;
    event.u.arrive.by_copy = by_copy;
    event.u.arrive.is_last = true;
    event.u.arrive.previous.is_complete = phase > 0;
    event.u.arrive.previous.completion = it->sets[at->thread][0];
    send(it, at, &event);
    advance(it, at->thread);
}

/* A load; 'c' learns that it has landed. */
static void load(machine *it, const step *at) {
    step to = *at;
    to.number = at->letter == 'o' ? 0 : at->number;
    grout_issue issue = {.bytes = SLOT_BYTES};
    grout_event event = {.kind = GROUT_EVENT_ISSUE};
    issue.write.component = grout_clock_phase(&it->shape, at->number);
    issue.write.number = it->arrived[at->number] + 1;
    issue.write.agent = GROUT_AGENT_ENGINE;
    issue.read = issue.write;
    event.u.issue = &issue;
    send(it, at, &event);
    touch_slot(it, &to, true, &issue.write);
    arrive(it, at, at->number, true);
}

static void wait_for(machine *it, const step *at, uint32_t element) {
    grout_barrier_fact fact = {.element = element,
                               .object = it->objects[element < SLOTS ? FULL : FREE],
                               .arrivals = 1,
                               .full = it->arrived[element],
                               .completed = it->arrived[element],
                               .waits = it->waits[element],
                               .actor_count = THREADS};
    grout_wait_fact *own = &it->waits[element][at->thread];
    grout_event event = {.kind = GROUT_EVENT_WAIT};
    own->epoch = it->sets[at->thread][0][grout_clock_epoch(&it->shape, at->thread)];
    own->origin = (grout_origin){.op = at->op, .thread = (uint8_t)at->thread};
    event.u.wait.phase = own->waits++;
    ck_assert_uint_lt(event.u.wait.phase, it->arrived[element]);
    event.u.wait.barrier = &fact;
    send(it, at, &event);
    for (uint32_t i = 0; i < 3; i++) {
        join(it->sets[at->thread][i], it->released[element][event.u.wait.phase][i]);
    }
    uint32_t *known = &it->sets[at->thread][0][grout_clock_phase(&it->shape, element)];
    *known = *known < own->waits ? own->waits : *known;
}

static void commit(machine *it, const step *at) {
    grout_event event = {.kind = GROUT_EVENT_COMMIT_SMEM};
    send(it, at, &event);
    join(it->sets[at->thread][1], it->sets[at->thread][0]);
    advance(it, at->thread);
}

static void end_cta(machine *it, const step *at) {
    uint32_t last[COUNTERS] = {0};
    grout_event event = {.kind = GROUT_EVENT_CTA_END};
    for (uint32_t t = 0; t < THREADS; t++) {
        join(last, it->sets[t][0]);
    }
    event.u.scope.objects = it->objects;
    event.u.scope.object_count = 5;
    event.u.scope.last = last;
    send(it, at, &event);
}

static void use_accumulator(machine *it, const step *at) {
    if (at->letter == 'l' || at->letter == 'z') {
        wait_for_groups(it, at, at->letter == 'z' ? at->number : 0);
    }
    touch_columns(it, at, 0, COLUMNS, at->letter == 'y', NULL);
}

static void take_step(machine *it, const step *at) {
    switch (at->letter) {
    case 'w':
    case 'v':
        wait_for_groups(it, at, at->number);
        break;
    case 't':
    case 'o':
        load(it, at);
        break;
    case 'c':
        wait_for(it, at, at->number);
        break;
    case 's':
    case 'r':
        touch_slot(it, at, at->letter == 's', NULL);
        break;
    case 'f':
        commit(it, at);
        break;
    case 'a':
    case 'b':
        arrive(it, at, SLOTS + at->thread, false);
        break;
    case 'g':
        wait_for(it, at, SLOTS + at->number);
        break;
    case 'E':
        end_cta(it, at);
        break;
    case 'x':
    case 'y':
    case 'z':
    case 'l':
        use_accumulator(it, at);
        break;
    default:
        multiply(it, at);
    }
}

static step make_step(const machine *it, const char *text) {
    step at = {.thread = (uint32_t)(text[0] - '0'),
               .letter = text[1],
               .number = (uint32_t)(text[2] - '0')};
    for (uint32_t i = 0; i < WORD_COUNT; i++) {
        at.op = WORDS[i].letter == at.letter ? it->ops[i] : at.op;
    }
    return at;
}

static void run(machine *it, const char *steps) {
    for (; *steps; steps += steps[3] ? 4 : 3) {
        step at = make_step(it, steps);
        take_step(it, &at);
    }
}

/* ---- findings ---------------------------------------------------------------------------------
 */

static bool is_protocol(grout_diag_code code) {
    return code >= GROUT_DIAG_BARRIER_OVERRUN && code <= GROUT_DIAG_DEADLOCK;
}

static void list_findings(const machine *it, grout_text *out) {
    const char *comma = "";
    grout_text_add(out, "%s", "");
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = get_in_place_order(it->checker, i);
        if (is_protocol(finding->code)) {
            continue;
        }
        grout_text_add(out, "%s%s %u", comma, grout_diag_get(finding->code)->text,
                       finding->primary.line);
        if (finding->related.file) {
            grout_text_add(out, "/%u", finding->related.line);
        }
        comma = ",";
    }
}

static void expect(const machine *it, const char *name, const char *findings) {
    grout_text found = {0};
    list_findings(it, &found);
    ck_assert_msg(strcmp(found.data ? found.data : "", findings) == 0, "%s: '%s', not '%s'", name,
                  found.data ? found.data : "", findings);
    grout_text_free(&found);
}

#endif
