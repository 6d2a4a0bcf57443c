/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - where memory comes from, if the program that uses grout wants to decide it.
 *
 * Without an allocator (NULL), libc's is used. Compilation and launches on a GPU use libc's in any
 * case. An allocator that is given to an object serves all that the object allocates
 * from then on, and what is made from the object: the binding of a module, the state of a call.
 * It is borrowed and has to live until the last object that was made with it is freed.
 *
 *     parsing                grout_parse_in
 *     building               grout_builder_new_in
 *     binding, verifying     the module's
 *     diagnostics            grout_diags_new_in
 *     texts                  grout_text.allocator
 *     emitting CUDA          the module's, and that of the text that it is added to
 *     kernels as functions   grout_function_options_new, also for what their calls need
 *     parsing PTX            grout_ptx_bounds.allocator
 *     arrays for PTX         grout_ptx_memory_new_in, also for variables of the module
 *     running PTX            grout_ptx_launch.allocator
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
 *     block, new_size 0             frees the block; the result is ignored
 *
 * old_size is exactly the size that the block was made or last resized with; 0 if block is NULL.
 * Blocks are aligned for every type (alignof(max_align_t)) and need not be zeroed. NULL means that
 * there is no memory: the block stays as it was, and the call of grout ends with the diagnostic
 * out-of-memory. Freeing must not fail.
 *
 * It is called in the OS thread that calls grout, never in two at once for one object. A program
 * that gives one allocator to objects of several threads has to make it safe to call in all of
 * them. It must not call grout.
 */
typedef struct grout_allocator {
    void *(*resize)(void *payload, void *block, size_t old_size, size_t new_size);
    void *payload;
} grout_allocator;

#ifdef __cplusplus
}
#endif
#endif
