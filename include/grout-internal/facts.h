/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what facts.def says: which edges carry that something was done to memory. Needs no
 * other header.
 */
#ifndef GROUT_FACTS_H
#define GROUT_FACTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The words of the column TRAVELS. */
typedef enum grout_travel {
    GROUT_TRAVEL_TIME,
    GROUT_TRAVEL_SEEN,
    GROUT_TRAVEL_MEMORY
} grout_travel;

enum { GROUT_FACT_OF_CTA, GROUT_FACT_OF_LAUNCH };
enum { GROUT_FACT_BY_THREAD, GROUT_FACT_BY_ENGINE };
enum { GROUT_FACT_READ, GROUT_FACT_WRITE };

// clang-format off
/* Which edges carry that a read or a write, by a thread or an engine, is done. */
static inline grout_travel grout_fact_get_travel(bool is_of_launch, bool is_by_engine,
                                                 bool is_write) {
#define GROUT_FACT(OWNER, BY, DID, TRAVELS, DOC)                                                   \
    if (is_of_launch == (GROUT_FACT_OF_##OWNER == GROUT_FACT_OF_LAUNCH) &&                         \
        is_by_engine == (GROUT_FACT_BY_##BY == GROUT_FACT_BY_ENGINE) &&                            \
        is_write == (GROUT_FACT_##DID == GROUT_FACT_WRITE)) {                                      \
        return GROUT_TRAVEL_##TRAVELS;                                                             \
    }
#include "grout-internal/facts.def"
    return GROUT_TRAVEL_MEMORY;
}
// clang-format on

#ifdef __cplusplus
}
#endif
#endif
