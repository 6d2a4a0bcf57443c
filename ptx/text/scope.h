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
    uint64_t hash; /* of its scope and its name */
    uint32_t scope;
    ptx_meaning meaning;
    uint32_t id, count;
} ptx_symbol;

/* A block, and which names it may declare: a bit for each sixty-fourth of the hashes. */
typedef struct ptx_block {
    uint64_t names;
    uint32_t parent;
} ptx_block;

/* A place of the table: who looks for another symbol sees that without looking at this one. */
typedef struct ptx_bucket {
    uint32_t hash;   /* the lower half */
    uint32_t symbol; /* its number from 1; 0: nobody's */
} ptx_bucket;

/* Symbols of the module and of the function that is read. Scopes are numbered as they open; 0 is
 * the module's. */
typedef struct ptx_scopes {
    const grout_allocator *allocator;
    GROUT_ARRAY(ptx_symbol) symbols;
    GROUT_ARRAY(ptx_block) blocks; /* by number of the scope */
    ptx_bucket *buckets;
    uint32_t bucket_count; /* a power of two, more than symbols */
} ptx_scopes;

bool grout_ptx__init_scopes(ptx_scopes *scopes, const grout_allocator *allocator);
void grout_ptx__deinit_scopes(ptx_scopes *scopes);
/* A new scope in another one; PTX_NO_ID without memory. */
uint32_t grout_ptx__open_scope(ptx_scopes *scopes, uint32_t parent);
/* Declares; NULL if the scope has the name already, or (is_oom_out) without memory. */
ptx_symbol *grout_ptx__declare(ptx_scopes *scopes, ptx_symbol symbol, bool *is_oom_out);
/* Takes back what was declared since there were count symbols. */
void grout_ptx__forget_symbols(ptx_scopes *scopes, size_t count);
/* What a name means in a scope or those around it: of a range of registers, id is the register.
 * meaning PTX_MEANS_NOTHING: it is not declared. */
ptx_symbol grout_ptx__find_symbol(const ptx_scopes *scopes, uint32_t scope, const char *text,
                                  size_t size);

#endif
