/* written.c - what a repair writes of an op: two columns of sync.def as data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/written.h"

/* A form with the cost 0 ends a list. */
enum { FORMS_MAX = 4 };

#define UNWRAP(...) __VA_ARGS__
#define NEVER \
    { .cost = 0 }
#define ALONE(COST, TEXT) \
    { .cost = (COST), .text = (TEXT) }
#define IN_CLUSTERS(COST, TEXT) \
    { .cost = (COST), .text = (TEXT), .is_only_in_clusters = true }
#define AND_THEN(COST, NEXT, TEXT) \
    { .cost = (COST), .text = (TEXT), .next = GROUT_OP_##NEXT }

static const grout_written forms[GROUT_OP_COUNT][FORMS_MAX] = {
#define GROUT_SYNC(NAME, OBJECT, REACH, MODE, SIDE, SCOPE, ARRIVAL, COVERS, LANES, REDUNDANT, \
                   TENSOR, WARP, MEANT, WRITTEN)                                              \
    [GROUT_OP_##NAME] = {UNWRAP WRITTEN},
#include "grout-internal/sync.def"
};

static const uint16_t meant[GROUT_OP_COUNT] = {
#define GROUT_SYNC(NAME, OBJECT, REACH, MODE, SIDE, SCOPE, ARRIVAL, COVERS, LANES, REDUNDANT, \
                   TENSOR, WARP, MEANT, WRITTEN)                                              \
    [GROUT_OP_##NAME] = GROUT_OP_##MEANT,
#include "grout-internal/sync.def"
};

const grout_written *grout_op_get_written(grout_opcode opcode, size_t *count_out) {
    size_t count = 0;
    while (count < FORMS_MAX && forms[opcode][count].cost > 0) {
        count++;
    }
    *count_out = count;
    return count == 0 ? NULL : forms[opcode];
}

grout_opcode grout_op_get_meant(grout_opcode opcode) {
    return (grout_opcode)meant[opcode];
}
