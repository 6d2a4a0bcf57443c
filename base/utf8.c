/* utf8.c - well-formed byte sequences, table 3-7 of the Unicode standard.
 * SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <stdbool.h>

static bool is_between(unsigned char byte, unsigned char low, unsigned char high) {
    return byte >= low && byte <= high;
}

size_t grout_utf8__length(const char *bytes, size_t size) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (b[0] < 0x80) {
        return 1;
    }
    if (is_between(b[0], 0xc2, 0xdf)) {
        return size >= 2 && is_between(b[1], 0x80, 0xbf) ? 2 : 0;
    }
    if (is_between(b[0], 0xe0, 0xef)) {
        /* No overlong forms, no surrogates. */
        unsigned char low = b[0] == 0xe0 ? 0xa0 : 0x80;
        unsigned char high = b[0] == 0xed ? 0x9f : 0xbf;
        return size >= 3 && is_between(b[1], low, high) && is_between(b[2], 0x80, 0xbf) ? 3 : 0;
    }
    if (is_between(b[0], 0xf0, 0xf4)) {
        unsigned char low = b[0] == 0xf0 ? 0x90 : 0x80;
        unsigned char high = b[0] == 0xf4 ? 0x8f : 0xbf;
        return size >= 4 && is_between(b[1], low, high) && is_between(b[2], 0x80, 0xbf) &&
                       is_between(b[3], 0x80, 0xbf)
                   ? 4
                   : 0;
    }
    return 0;
}
