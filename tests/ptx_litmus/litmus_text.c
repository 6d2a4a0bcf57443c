/* litmus_text.c - see litmus_text.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "litmus_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_verdict(const char *at, litmus_verdict *verdict_out) {
    *verdict_out = (litmus_verdict){.is_race = false};
    if (strncmp(at, "ordered\n", 8) == 0) {
        return true;
    }
    verdict_out->is_same = strncmp(at, "same ", 5) == 0;
    verdict_out->is_race = strncmp(at, "race ", 5) == 0;
    return (verdict_out->is_race || verdict_out->is_same) &&
           sscanf(at + 5, "%127s %127s %127s", verdict_out->missing, verdict_out->marks[0],
                  verdict_out->marks[1]) == 3;
}

static bool read_twin(const char *at, litmus_file *file) {
    int end = 0;
    if (file->twin_count == LITMUS_TWINS_MAX) {
        return false;
    }
    litmus_twin *twin = &file->twins[file->twin_count++];
    return sscanf(at, "'%127[^'\n]' for '%127[^'\n]': %n", twin->other, twin->piece, &end) == 2 &&
           end > 0 && read_verdict(at + end, &twin->expected);
}

/* A number after a word and a blank; *at goes on. */
static bool read_number(const char **at, const char *word, uint32_t *number_out) {
    const size_t length = strlen(word);
    char *end = NULL;
    if (strncmp(*at, word, length) != 0 || (*at)[length] != ' ') {
        return false;
    }
    *number_out = (uint32_t)strtoul(*at + length + 1, &end, 10);
    bool is_number = end != *at + length + 1;
    *at = *end == ' ' ? end + 1 : end;
    return is_number;
}

static bool read_comment(const char *at, litmus_file *file) {
    if (strncmp(at, "// launch: ", 11) == 0) {
        at += 11;
        return read_number(&at, "grid", &file->grid) &&
               read_number(&at, "cluster", &file->cluster) &&
               read_number(&at, "block", &file->block);
    }
    if (strncmp(at, "// expect: ", 11) == 0) {
        return read_verdict(at + 11, &file->twins[0].expected);
    }
    return strncmp(at, "// with ", 8) != 0 || read_twin(at + 8, file);
}

bool litmus_read(const char *path, litmus_file *file_out, const char **reason_out) {
    FILE *stream = fopen(path, "rb");
    *file_out = (litmus_file){.twin_count = 1};
    *reason_out = "cannot be read";
    if (stream == NULL) {
        return false;
    }
    size_t size = fread(file_out->text, 1, sizeof file_out->text, stream);
    (void)fclose(stream);
    if (size == sizeof file_out->text) {
        return false;
    }
    for (const char *at = file_out->text; at != NULL && *at != '\0';) {
        if (!read_comment(at, file_out)) {
            *reason_out = "has a comment that is not of the form of litmus_text.h";
            return false;
        }
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    *reason_out = "does not say how to launch it and what to expect";
    return file_out->block > 0 && strstr(file_out->text, "// expect: ") != NULL &&
           strstr(file_out->text, "// PTX ISA 9.") != NULL;
}

bool litmus_make_twin(const litmus_file *file, const litmus_twin *twin, char *text_out) {
    const char *program = strstr(file->text, "\n.version");
    if (twin->piece[0] == '\0') {
        memcpy(text_out, file->text, LITMUS_TEXT_MAX);
        return true;
    }
    const char *at = program == NULL ? NULL : strstr(program, twin->piece);
    if (at == NULL || strstr(at + 1, twin->piece) != NULL) {
        return false;
    }
    int count = snprintf(text_out, LITMUS_TEXT_MAX, "%.*s%s%s", (int)(at - file->text), file->text,
                         twin->other, at + strlen(twin->piece));
    return count > 0 && count < LITMUS_TEXT_MAX;
}

void litmus_get_mark(const char *text, uint32_t line, char mark_out[LITMUS_WORD_MAX]) {
    (void)snprintf(mark_out, LITMUS_WORD_MAX, line == 0 ? "-" : "?");
    text = line == 0 ? NULL : text;
    for (; line > 1 && text != NULL; line--) {
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
    const char *end = text == NULL ? NULL : strchr(text, '\n');
    const char *mark = text == NULL ? NULL : strstr(text, "// ");
    if (end != NULL && mark != NULL && mark < end) {
        (void)snprintf(mark_out, LITMUS_WORD_MAX, "%.*s", (int)(end - mark - 3), mark + 3);
    }
}

bool litmus_is_same(const litmus_verdict *a, const litmus_verdict *b) {
    bool is_straight =
        strcmp(a->marks[0], b->marks[0]) == 0 && strcmp(a->marks[1], b->marks[1]) == 0;
    bool is_turned = strcmp(a->marks[0], b->marks[1]) == 0 && strcmp(a->marks[1], b->marks[0]) == 0;
    return a->is_race == b->is_race && a->is_same == b->is_same &&
           ((!a->is_race && !a->is_same) ||
            (strcmp(a->missing, b->missing) == 0 && (is_straight || is_turned)));
}
