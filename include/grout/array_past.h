/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_past.h - what is known of an array that earlier launches of a list have written.
 */
#ifndef GROUT_ARRAY_PAST_H
#define GROUT_ARRAY_PAST_H

#include "grout/ids.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of an array may depend on the schedule. */
typedef enum grout_chance_kind {
    GROUT_CHANCE_VALUE,   /* which values it holds */
    GROUT_CHANCE_DEFINED, /* whether they are defined */
    GROUT_CHANCE_COUNT
} grout_chance_kind;

typedef struct grout_chance {
    grout_op_id op;  /* the operation that it comes from; 0: it depends on none */
    uint32_t launch; /* that ran it, from 1 */
} grout_chance;

/* What the launches before this one have left in an array that it is given. */
typedef struct grout_array_past {
    const uint64_t *undefined; /* bit e % 64 of word e / 64: element e has no value; NULL: all do */
    int64_t undefined_count, first_undefined;
    uint32_t launch; /* the last one that had the array and left it so; from 1 */
    grout_chance chances[GROUT_CHANCE_COUNT];
} grout_array_past;

#ifdef __cplusplus
}
#endif
#endif
