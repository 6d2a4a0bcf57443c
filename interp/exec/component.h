/*
 * component.h - what has a state of its own beside the arenas of the clusters, and when it begins
 * and ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_COMPONENT_H
#define GROUT_INTERP_COMPONENT_H

#include "machine.h"

/* What a kind of object does at the ends of others' lives. NULL: nothing. */
typedef struct grout_component {
    const char *name;
    /* Before the first cluster begins. */
    void (*begin)(grout_machine *machine);
    /* Objects of a CTA (its number in the launch) end with their scope. */
    void (*end_scope)(grout_machine *machine, uint32_t cta, const grout_object_id *objects,
                      uint32_t count);
    /* A CTA has ended: what was its own goes. */
    void (*end_cta)(grout_machine *machine, uint32_t cta);
    /* The last cluster has ended. */
    void (*end_launch)(grout_machine *machine);
    /* Equal for equal states, however they were reached: what belongs to a CTA, in its arena or
     * linked from it, and what belongs to the launch. */
    uint64_t (*hash_cta)(const grout_cta *cta, uint64_t hash);
    uint64_t (*hash)(const grout_machine *machine, uint64_t hash);
} grout_component;

/* All components, in turn. */
void grout_components__begin(grout_machine *machine);
void grout_components__end_scope(const grout_cta *cta, const grout_object_id *objects,
                                 uint32_t count);
void grout_components__end_cta(const grout_cta *cta);
void grout_components__end_launch(grout_machine *machine);
uint64_t grout_components__hash(const grout_machine *machine, uint64_t hash);

#endif
