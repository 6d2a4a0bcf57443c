/* utf8.h - which bytes are UTF-8: names and files may hold any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_UTF8_H
#define GROUT_CLI_UTF8_H

#include <stddef.h>

/* U+FFFD: what is shown in place of bytes that are no UTF-8. */
#define GROUT_UTF8_BAD "\xef\xbf\xbd"

/* Length of the sequence that begins a text of size bytes, or 0 if none does. */
size_t grout_utf8__get_size(const char *text, size_t size);

#endif
