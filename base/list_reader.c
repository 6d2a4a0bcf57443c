/* list_reader.c - reads numbers, lists of numbers and lists of those, as Python prints them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "list_reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool grout_list__fail(grout_list_reader *reader, const char *format, ...) {
    va_list arguments;
    if (reader->ok) {
        va_start(arguments, format);
        (void)vsnprintf(reader->problem, reader->problem_size, format, arguments);
        va_end(arguments);
    }
    reader->ok = false;
    return false;
}

bool grout_list__accept(grout_list_reader *reader, const char *text) {
    while (isspace((unsigned char)*reader->at)) {
        reader->at++;
    }
    const size_t size = strlen(text);
    if (strncmp(reader->at, text, size) != 0) {
        return false;
    }
    reader->at += size;
    return true;
}

bool grout_list__accept_open(grout_list_reader *reader) {
    return grout_list__accept(reader, "(") || grout_list__accept(reader, "[");
}

bool grout_list__accept_close(grout_list_reader *reader) {
    return grout_list__accept(reader, ")") || grout_list__accept(reader, "]");
}

static bool read_number(grout_list_reader *reader, int32_t *number_out) {
    (void)grout_list__accept(reader, "");
    const bool is_negative = reader->takes_negative && grout_list__accept(reader, "-");
    int32_t number = 0;
    if (!isdigit((unsigned char)*reader->at)) {
        return grout_list__fail(reader, "a number is missing at '%.20s'", reader->at);
    }
    for (; isdigit((unsigned char)*reader->at); reader->at++) {
        number = number > reader->number ? number : 10 * number + (*reader->at - '0');
    }
    *number_out = is_negative ? -number : number;
    return number <= reader->number ||
           grout_list__fail(reader, "a number is larger than %d", reader->number);
}

/* '8, 64)' after the opening bracket. */
static bool read_row(grout_list_reader *reader, grout_list *list, uint32_t row) {
    while (reader->ok && !grout_list__accept_close(reader)) {
        if (list->lengths[row] == reader->columns) {
            return grout_list__fail(reader, "a list has more than %u numbers", reader->columns);
        }
        (void)read_number(reader, &list->numbers[row][list->lengths[row]++]);
        (void)grout_list__accept(reader, ",");
    }
    return reader->ok;
}

static bool read_entry(grout_list_reader *reader, grout_list *list) {
    if (list->count == reader->rows) {
        return grout_list__fail(reader, "a list has more than %u entries", reader->rows);
    }
    const uint32_t row = list->count++;
    if (grout_list__accept_open(reader)) {
        return read_row(reader, list, row);
    }
    if (!reader->takes_copies || !grout_list__accept(reader, "Replicated(")) {
        return read_number(reader, &list->numbers[row][0]);
    }
    list->is_copy[row] = true;
    (void)grout_list__accept(reader, "times=");
    return read_number(reader, &list->numbers[row][0]) &&
           (grout_list__accept_close(reader) ||
            grout_list__fail(reader, "Replicated(n) lacks its bracket"));
}

bool grout_list__read(grout_list_reader *reader, grout_list *list_out) {
    list_out->is_there = true;
    if (!grout_list__accept_open(reader)) {
        return read_entry(reader, list_out);
    }
    while (reader->ok && !grout_list__accept_close(reader)) {
        (void)read_entry(reader, list_out);
        (void)grout_list__accept(reader, ",");
    }
    return reader->ok;
}
