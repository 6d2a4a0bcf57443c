/* asyncs.h - the list of what is under way (machine.h, ptx_asyncs).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_ASYNCS_H
#define GROUT_PTX_ASYNCS_H

#include "machine.h"

/* Room for one more. False without memory. */
bool grout_ptx__asyncs_reserve(ptx_asyncs *asyncs, const grout_allocator *allocator);
/* Adds one as the newest, into the room that was reserved. What it owns is the list's. */
void grout_ptx__asyncs_add(ptx_asyncs *asyncs, const ptx_async *async);
/* The index of the number-th from 0; number < live. */
size_t grout_ptx__asyncs_find(const ptx_asyncs *asyncs, size_t number);
/* The first index from this one on that is not empty, or count. */
size_t grout_ptx__asyncs_next(const ptx_asyncs *asyncs, size_t index);
/* Empties a place, whose owned parts have been freed. Indices and pointers of others may change. */
void grout_ptx__asyncs_remove(ptx_asyncs *asyncs, size_t index);
void grout_ptx__asyncs_free(ptx_asyncs *asyncs);

#endif
