/*
 * decisions.c - what a schedule decides: who runs, and answers that a GPU may give either way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include "alloc.h"

void grout_decisions_deinit(grout_decisions *decisions) {
    grout__free(decisions->actors);
    *decisions = (grout_decisions){0};
}

void grout_machine__record(grout_machine *machine, uint32_t number) {
    grout_decisions *record = machine->launch.record;
    if (record == NULL) {
        return;
    }
    if (record->count == record->capacity) {
        size_t capacity = record->capacity < 64 ? 64 : 2 * record->capacity;
        uint32_t *actors =
            grout__resize(machine->launch.allocator, record->actors, capacity * sizeof *actors);
        if (actors == NULL) {
            machine->run.has_failed = true;
            return;
        }
        record->actors = actors;
        record->capacity = capacity;
    }
    record->actors[record->count++] = number;
}

bool grout_machine__answer(grout_machine *machine, bool usual) {
    const grout_decisions *replay = machine->launch.replay;
    const uint64_t at = machine->run.facts.decisions++;
    bool answer = usual;
    if (machine->launch.schedule == GROUT_SCHEDULE_REPLAY && replay != NULL && at < replay->count &&
        grout_decision_is_answer(replay->actors[at])) {
        answer = replay->actors[at] == GROUT_DECISION_YES;
    }
    grout_machine__record(machine, answer ? GROUT_DECISION_YES : GROUT_DECISION_NO);
    return answer;
}
