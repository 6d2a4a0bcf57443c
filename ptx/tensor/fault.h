/* fault.h - what an instruction may not do, in words.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The functions of this folder have no place in a source: the caller, which runs the instruction,
 * adds it. A function that can fail takes a fault as its last parameter, returns false and has
 * written the words; the words of a function that returns true are as they were.
 */
#ifndef GROUT_PTX_FAULT_H
#define GROUT_PTX_FAULT_H

#include <stdarg.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define GROUT_PTX_WORDS(at, first) __attribute__((format(printf, at, first)))
#else
#define GROUT_PTX_WORDS(at, first)
#endif

/* One line, lower case, no full stop: the cause, then what would be right. */
typedef struct grout_ptx_fault {
    char text[240];
} grout_ptx_fault;

/* Writes the words and returns false. */
bool grout_ptx__fail(grout_ptx_fault *fault, const char *format, ...) GROUT_PTX_WORDS(2, 3);

#endif
