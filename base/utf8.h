/*
 * utf8.h - what is UTF-8 and what is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_UTF8_H
#define GROUT_IR_UTF8_H

#include <stddef.h>

/* Bytes of the character that starts at bytes (size > 0 bytes are there): 1 to 4, or 0 if none
 * does. */
size_t grout_utf8__length(const char *bytes, size_t size);

#endif
