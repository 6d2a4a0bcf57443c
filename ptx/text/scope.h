/* scope.h - what names mean where: each block { .. } may declare a name again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_TEXT_SCOPE_H
#define GROUT_PTX_TEXT_SCOPE_H

#include "module.h"

typedef enum ptx_meaning {
    PTX_MEANS_NOTHING,
    PTX_MEANS_REGISTER,  /* id */
    PTX_MEANS_REGISTERS, /* .reg %r<8>: id of the first, count: a name is this one and a number */
    PTX_MEANS_VARIABLE,
    PTX_MEANS_LABEL, /* id: an instruction, from the function's first */
    PTX_MEANS_TARGETS,
    PTX_MEANS_FUNCTION
} ptx_meaning;

typedef struct ptx_symbol {
    const char *text; /* borrowed from the text */
    size_t size;
    uint64_t hash;
    uint32_t scope;
    ptx_meaning meaning;
    uint32_t id, count;
    uint32_t next; /* of the same bucket; PTX_NO_ID at the end */
} ptx_symbol;

/* All symbols ever declared. Scopes are numbered as they open; 0 is the module's. */
typedef struct ptx_scopes {
    const grout_allocator *allocator;
    GROUT_ARRAY(ptx_symbol) symbols;
    GROUT_ARRAY(uint32_t) parents; /* of each scope */
    uint32_t *buckets, bucket_count;
} ptx_scopes;

bool grout_ptx__init_scopes(ptx_scopes *scopes, const grout_allocator *allocator);
void grout_ptx__deinit_scopes(ptx_scopes *scopes);
/* A new scope in another one; PTX_NO_ID without memory. */
uint32_t grout_ptx__open_scope(ptx_scopes *scopes, uint32_t parent);
/* Declares; NULL if the scope has the name already, or (is_oom_out) without memory. */
ptx_symbol *grout_ptx__declare(ptx_scopes *scopes, ptx_symbol symbol, bool *is_oom_out);
/* What a name means in a scope or those around it: of a range of registers, id is the register.
 * meaning PTX_MEANS_NOTHING: it is not declared. */
ptx_symbol grout_ptx__find_symbol(const ptx_scopes *scopes, uint32_t scope, const char *text,
                                  size_t size);

#endif
