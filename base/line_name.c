/* line_name.c - the name of a file in a #line of C.
 * SPDX-License-Identifier: Apache-2.0 */
#include "line_name.h"

void grout_line_name__add(grout_text *out, const char *name) {
    for (const char *c = name; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        bool is_plain = byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\\';
        grout_text_add_bytes(out, is_plain ? c : "_", 1);
    }
}
