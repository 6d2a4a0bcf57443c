/* utf8.c - which bytes are UTF-8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <stdbool.h>

size_t grout_utf8__get_size(const char *text, size_t size) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = size == 0                        ? 0
                    : at[0] < 0x80                   ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    if (length > size) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong =
        length > 2 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90));
    bool is_no_code =
        length > 2 && ((at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f));
    return is_overlong || is_no_code ? 0 : length;
}
