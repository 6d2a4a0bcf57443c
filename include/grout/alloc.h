/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - where memory comes from, if the program that uses grout wants to decide it.
 *
 * Whoever gives no allocator (NULL) gets libc's. A checker, compilation, and launches on a GPU take
 * libc's whatever is given. One that is given to an object serves all that the
 * object allocates from then on, and what is made out of it: a module its binding, a launch its
 * machine. It is borrowed, and has to live until the last object that was made with it is freed.
 *
 *     parsing                grout_parse_in
 *     building               grout_builder_new_in
 *     binding, verifying     the module's
 *     diagnostics            grout_diags_new_in
 *     texts                  grout_text.allocator
 *     emitting CUDA          the module's, and that of the text that it is added to
 *     running                grout_launch.allocator
 *     exploring, advising    grout_launch.allocator, of the launch that is explored
 */
#ifndef GROUT_ALLOC_H
#define GROUT_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * resize makes, changes and frees blocks, as lua_Alloc does:
 *
 *     block NULL, new_size > 0      a new block of new_size bytes
 *     block and new_size > 0        the block with its first bytes, as many as both sizes have, at
 *                                   the same address or at another one
 *     block, new_size 0             frees the block; the result is not looked at
 *
 * old_size is what the block was made or last resized with, exactly; 0 if block is NULL. Blocks are
 * aligned for every type (alignof(max_align_t)) and need not be zeroed. NULL means that there is no
 * memory: the block stays as it was, and what grout was asked for ends with the diagnostic
 * out-of-memory. Freeing may not fail.
 *
 * It is called in the OS thread that calls grout, never in two at once for one object; whoever
 * gives the same allocator to objects of several threads sees to it that it may be called in all of
 * them. It may not call grout.
 */
typedef struct grout_allocator {
    void *(*resize)(void *payload, void *block, size_t old_size, size_t new_size);
    void *payload;
} grout_allocator;

#ifdef __cplusplus
}
#endif
#endif
