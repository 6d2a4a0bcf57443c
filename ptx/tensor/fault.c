/* fault.c - the words of a fault, cut where they are too long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <stdio.h>

bool grout_ptx__fail(grout_ptx_fault *fault, const char *format, ...) {
    va_list words;
    va_start(words, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, words);
    va_end(words);
    return false;
}
