/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sinks.h - what an operand decides by its value alone, and which findings hang on that
 * (sinks.def).
 */
#ifndef GROUT_SINKS_H
#define GROUT_SINKS_H

#include "grout-internal/diagnose.h"
#include "grout-internal/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a value decides. */
typedef enum grout_sink {
#define GROUT_SINK(NAME, TRAITS, DOC) GROUT_SINK_##NAME,
#include "grout-internal/sinks.def"
    GROUT_SINK_COUNT
} grout_sink;

/* One GROUT_SINK line. */
typedef struct grout_sink_info {
    const char *text, *doc; /* its name in the table */
    bool of_value;          /* which value it is decides it */
    bool of_definedness;    /* whether the value is defined does */
} grout_sink_info;

/* Whether the verdict holds for this schedule only where a finding is (DOUBT column). */
typedef enum grout_doubt { GROUT_DOUBT_NO, GROUT_DOUBT_OWN, GROUT_DOUBT_ORDER } grout_doubt;

/* One GROUT_FINDING line. */
typedef struct grout_finding_info {
    uint8_t doubt;  /* grout_doubt */
    uint32_t sinks; /* bits 1 << grout_sink of what decides it; 0: order alone */
} grout_finding_info;

const grout_sink_info *grout_sink_get_info(grout_sink sink);
/* What an operand of an op may decide: bits 1 << grout_sink. For a reference it is what its
 * contents decide; its indices are an ADDRESS besides. Operands after the last of the form are as
 * that one.
 */
uint32_t grout_op_get_sinks(grout_opcode opcode, uint32_t operand);
/* What decides a finding of a run; NULL of codes that are none. */
const grout_finding_info *grout_finding_get_info(grout_diag_code code);

#ifdef __cplusplus
}
#endif

#endif
