/* diag.c - the list of diagnostics: codes, places, notes, texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/diag.h"

#include "alloc.h"
#include "diag_list.h"

#include <stdio.h>
#include <string.h>

static const grout_diag_info diag_infos[GROUT_DIAG_COUNT] = {
    [GROUT_DIAG_NONE] = {"", "", GROUT_SEVERITY_OFF, GROUT_STAGE_USE},
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) \
    [GROUT_DIAG_##NAME] = {TEXT, DOC, GROUT_SEVERITY_##SEVERITY, GROUT_STAGE_##STAGE},
#include "grout/diag.def"
};

const grout_diag_info *grout_diag_get(grout_diag_code code) {
    return &diag_infos[code];
}

grout_diag_code grout_diag_find(const char *text) {
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        if (strcmp(diag_infos[i].text, text) == 0) {
            return (grout_diag_code)i;
        }
    }
    return GROUT_DIAG_NONE;
}

grout_diags *grout_diags_new(void) {
    grout_diags *diags = grout__calloc(1, sizeof *diags);
    if (diags != NULL) {
        memcpy(diags->oom_message, "out of memory", sizeof "out of memory");
    }
    return diags;
}

void grout_diags_free(grout_diags *diags) {
    if (diags == NULL) {
        return;
    }
    for (uint32_t i = 0; i < diags->count; i++) {
        grout_diag *diag = &diags->items[i];
        if (diag->message != diags->oom_message) {
            grout__free(diag->message);
        }
        for (uint32_t n = 0; n < diag->note_count; n++) {
            grout__free(diag->notes[n].message);
        }
        grout__free(diag->notes);
    }
    for (uint32_t i = 0; i < diags->file_count; i++) {
        grout__free(diags->files[i]);
    }
    for (uint32_t i = 0; i < diags->source_count; i++) {
        grout__free(diags->sources[i].text);
    }
    grout__free(diags->files);
    grout__free(diags->sources);
    grout__free(diags);
}

/* A copy of size bytes with a NUL behind, or NULL without memory. */
static char *copy_bytes(const char *bytes, size_t size) {
    char *copy = grout__realloc(NULL, size + 1);
    if (copy != NULL) {
        if (size > 0) {
            memcpy(copy, bytes, size);
        }
        copy[size] = '\0';
    }
    return copy;
}

/* The list's own copy of a file's name; NULL for NULL, or without memory. */
static const char *keep_file(grout_diags *diags, const char *file) {
    if (file == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < diags->file_count; i++) {
        if (strcmp(diags->files[i], file) == 0) {
            return diags->files[i];
        }
    }
    char **files = grout__realloc(diags->files, (diags->file_count + 1) * sizeof *files);
    if (files == NULL) {
        return NULL;
    }
    diags->files = files;
    char *copy = copy_bytes(file, strlen(file));
    if (copy != NULL) {
        files[diags->file_count++] = copy;
    }
    return copy;
}

const grout_diag_source *grout_diags__find_source(const grout_diags *diags, const char *file) {
    for (uint32_t i = 0; file != NULL && i < diags->source_count; i++) {
        if (strcmp(diags->sources[i].file, file) == 0) {
            return &diags->sources[i];
        }
    }
    return NULL;
}

/* A slot for the text of a file: the one it has, or a new one; NULL without memory. */
static grout_diag_source *find_source_slot(grout_diags *diags, const char *file) {
    for (uint32_t i = 0; i < diags->source_count; i++) {
        if (diags->sources[i].file == file) {
            return &diags->sources[i];
        }
    }
    grout_diag_source *sources =
        grout__realloc(diags->sources, (diags->source_count + 1) * sizeof *sources);
    if (sources == NULL) {
        return NULL;
    }
    diags->sources = sources;
    sources[diags->source_count] = (grout_diag_source){.file = file};
    return &sources[diags->source_count++];
}

bool grout_diags_add_source(grout_diags *diags, const char *file, const char *text, size_t size) {
    if (diags == NULL || file == NULL) {
        return true;
    }
    const char *kept_file = keep_file(diags, file);
    char *copy = copy_bytes(text, size);
    grout_diag_source *slot = kept_file != NULL ? find_source_slot(diags, kept_file) : NULL;
    if (slot == NULL || copy == NULL) {
        grout__free(copy);
        if (slot != NULL && slot->text == NULL) {
            diags->source_count--;
        }
        return grout_diags_add_oom(diags);
    }
    grout__free(slot->text);
    slot->text = copy;
    slot->size = size;
    return true;
}

/* printf into memory of its own; NULL without memory. */
static char *GROUT_PRINTF(1, 0) format_message(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_copy has just initialised it */
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *message = size < 0 ? NULL : grout__realloc(NULL, (size_t)size + 1);
    if (message != NULL) {
        (void)vsnprintf(message, (size_t)size + 1, format, arguments);
    }
    return message;
}

/* A place with its file's name in the list; no place if there is no memory for it. */
static grout_place keep_place(grout_diags *diags, grout_place place) {
    place.file = keep_file(diags, place.file);
    return place;
}

/* Counts a diagnostic; the slot for it, or NULL if it is to be dropped. */
static grout_diag *add_slot(grout_diags *diags, grout_diag_code code) {
    diags->total++;
    diags->is_newest_kept = diags->count < GROUT_DIAGS_MAX;
    if (!diags->is_newest_kept) {
        diags->has_dropped_error |= diag_infos[code].severity == GROUT_SEVERITY_ERROR;
        return NULL;
    }
    grout_diag *diag = &diags->items[diags->count++];
    *diag = (grout_diag){.code = code, .severity = diag_infos[code].severity};
    return diag;
}

bool grout_diags_add_list(grout_diags *diags, grout_diag_code code, grout_place place,
                          const char *format, va_list arguments) {
    if (diags == NULL) {
        return false;
    }
    if (diags->count == GROUT_DIAGS_MAX) {
        (void)add_slot(diags, code);
        return false;
    }
    char *message = format_message(format, arguments);
    if (message == NULL) {
        return grout_diags_add_oom(diags);
    }
    grout_diag *diag = add_slot(diags, code);
    diag->message = message;
    diag->place = keep_place(diags, place);
    return false;
}

bool grout_diags_add(grout_diags *diags, grout_diag_code code, grout_place place,
                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_diags_add_list(diags, code, place, format, arguments);
    va_end(arguments);
    return false;
}

bool grout_diags_add_oom(grout_diags *diags) {
    if (diags == NULL || diags->has_oom) {
        return false;
    }
    diags->has_oom = true;
    grout_diag *diag = add_slot(diags, GROUT_DIAG_OUT_OF_MEMORY);
    if (diag != NULL) {
        diag->message = diags->oom_message;
    }
    return false;
}

void grout_diags__add_note(grout_diags *diags, grout_note note, const char *format,
                           va_list arguments) {
    if (diags == NULL || !diags->is_newest_kept || diags->count == 0) {
        return;
    }
    grout_diag *diag = &diags->items[diags->count - 1];
    note.message = format_message(format, arguments);
    grout_note *notes = note.message == NULL
                            ? NULL
                            : grout__realloc(diag->notes, (diag->note_count + 1) * sizeof *notes);
    if (notes == NULL) {
        grout__free(note.message);
        (void)grout_diags_add_oom(diags);
        return;
    }
    note.place = keep_place(diags, note.place);
    diag->notes = notes;
    notes[diag->note_count++] = note;
}

void grout_diags_note(grout_diags *diags, grout_place place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_diags__add_note(diags, (grout_note){.severity = GROUT_SEVERITY_NOTE, .place = place},
                          format, arguments);
    va_end(arguments);
}

void grout_diags_help(grout_diags *diags, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_diags__add_note(diags, (grout_note){.severity = GROUT_SEVERITY_ADVICE}, format,
                          arguments);
    va_end(arguments);
}

uint32_t grout_diags_count(const grout_diags *diags) {
    return diags != NULL ? diags->count : 0;
}

uint64_t grout_diags_total(const grout_diags *diags) {
    return diags != NULL ? diags->total : 0;
}

const grout_diag *grout_diags_get(const grout_diags *diags, uint32_t index) {
    return &diags->items[index];
}

bool grout_diags_has_errors(const grout_diags *diags) {
    bool has_error = diags->has_dropped_error;
    for (uint32_t i = 0; i < diags->count; i++) {
        has_error |= diags->items[i].severity == GROUT_SEVERITY_ERROR;
    }
    return has_error;
}

void grout_diags_set_severity(grout_diags *diags, uint32_t index, grout_severity to) {
    diags->items[index].severity = to;
}

static bool is_before(const grout_diag *a, const grout_diag *b) {
    if (a->place.line != b->place.line) {
        return a->place.line < b->place.line;
    }
    return a->place.column < b->place.column;
}

void grout_diags__sort(grout_diags *diags, uint32_t first) {
    for (uint32_t i = first + 1; i < diags->count; i++) {
        grout_diag diag = diags->items[i];
        uint32_t at = i;
        while (at > first && is_before(&diag, &diags->items[at - 1])) {
            diags->items[at] = diags->items[at - 1];
            at--;
        }
        diags->items[at] = diag;
    }
}
