/*
 * scope.h - the objects of a scope, from their beginning to their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_SCOPE_H
#define GROUT_INTERP_SCOPE_H

#include "machine.h"

/* They begin or end: bytes uninitialised, barriers fresh. inst: of the scope, NULL for the CTA's
 * own. */
void grout_cta__begin_scope(const grout_cta *cta, const grout_scope_plan *scope,
                            const grout_inst *inst);
/* last: what the threads of the scope knew as they left it. */
void grout_cta__end_scope(const grout_cta *cta, const grout_scope_plan *scope, const uint32_t *last,
                          uint32_t thread, const grout_inst *inst);
/* The CTA's own objects end, with its CTA_END. */
void grout_cta__end_objects(const grout_cta *cta);

#endif
