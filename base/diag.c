/* diag.c - the list of diagnostics: codes, places, notes, texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"

#include "diag_list.h"
#include "invariant.h"

#include <stdio.h>
#include <string.h>

static const grout_diag_info diag_infos[GROUT_DIAG_COUNT] = {
    [GROUT_DIAG_NONE] = {"", "", GROUT_SEVERITY_OFF, GROUT_STAGE_USE},
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) \
    [GROUT_DIAG_##NAME] = {TEXT, DOC, GROUT_SEVERITY_##SEVERITY, GROUT_STAGE_##STAGE},
#include "grout/diag.def"
};

const grout_diag_info *grout_diag_get(grout_diag_code code) {
    GROUT_ASSERT(code >= GROUT_DIAG_NONE && code < GROUT_DIAG_COUNT);
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
    return grout_diags_new_in(NULL);
}

grout_diags *grout_diags_new_in(const grout_allocator *allocator) {
    grout_diags *diags = grout__new(allocator, 1, sizeof *diags);
    if (diags != NULL) {
        diags->allocator = allocator;
        memcpy(diags->oom_message, "out of memory", sizeof "out of memory");
    }
    return diags;
}

static void free_diag(const grout_diags *diags, grout_diag *diag) {
    for (uint32_t i = 0; i < diag->note_count; i++) {
        grout__free(diag->notes[i].message);
    }
    grout__free(diag->notes);
    if (diag->message != diags->oom_message) {
        grout__free(diag->message);
    }
}

void grout_diags_free(grout_diags *diags) {
    if (diags == NULL) {
        return;
    }
    for (uint32_t i = 0; i < diags->count; i++) {
        free_diag(diags, &diags->items[i]);
    }
    for (size_t i = 0; i < diags->files.count; i++) {
        grout__free(diags->files.items[i]);
    }
    for (size_t i = 0; i < diags->sources.count; i++) {
        grout_shared_text__drop(diags->sources.items[i].text);
    }
    grout__free(diags->files.items);
    grout__free(diags->sources.items);
    grout__free(diags);
}

/* The list's own copy of a file's name; NULL for NULL, or without memory. */
static const char *keep_file(grout_diags *diags, const char *file) {
    if (file == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < diags->files.count; i++) {
        if (strcmp(diags->files.items[i], file) == 0) {
            return diags->files.items[i];
        }
    }
    if (!GROUT_ARRAY_RESERVE(&diags->files, diags->allocator, 1)) {
        return NULL;
    }
    char *copy = grout__copy(diags->allocator, file, strlen(file));
    if (copy != NULL) {
        diags->files.items[diags->files.count++] = copy;
    }
    return copy;
}

const grout_diag_source *grout_diags__find_source(const grout_diags *diags, const char *file) {
    for (size_t i = 0; file != NULL && i < diags->sources.count; i++) {
        if (strcmp(diags->sources.items[i].file, file) == 0) {
            return &diags->sources.items[i];
        }
    }
    return NULL;
}

/* A slot for the text of a file: the one it has, or a new one; NULL without memory. */
static grout_diag_source *find_source_slot(grout_diags *diags, const char *file) {
    for (size_t i = 0; i < diags->sources.count; i++) {
        if (diags->sources.items[i].file == file) {
            return &diags->sources.items[i];
        }
    }
    if (!GROUT_ARRAY_RESERVE(&diags->sources, diags->allocator, 1)) {
        return NULL;
    }
    grout_diag_source *slot = &diags->sources.items[diags->sources.count++];
    *slot = (grout_diag_source){.file = file};
    return slot;
}

/* Takes a text over, NULL without memory for it. */
static bool take_source(grout_diags *diags, const char *file, grout_shared_text *text) {
    const char *kept_file = keep_file(diags, file);
    grout_diag_source *slot =
        text != NULL && kept_file != NULL ? find_source_slot(diags, kept_file) : NULL;
    if (slot == NULL) {
        grout_shared_text__drop(text);
        return grout_diags_add_oom(diags);
    }
    grout_shared_text__drop(slot->text);
    slot->text = text;
    return true;
}

bool grout_diags_add_source(grout_diags *diags, const char *file, const char *text, size_t size) {
    return diags == NULL || file == NULL ||
           take_source(diags, file, grout_shared_text__new(diags->allocator, text, size));
}

static bool has_text(const grout_diags *diags, const char *file, const grout_shared_text *text) {
    const grout_diag_source *source = grout_diags__find_source(diags, file);
    return source != NULL && grout_shared_text__is_equal(source->text, text);
}

bool grout_diags__add_shared_source(grout_diags *diags, const char *file, grout_shared_text *text) {
    return diags == NULL || file == NULL || has_text(diags, file, text) ||
           take_source(diags, file, grout_shared_text__share(diags->allocator, text));
}

/* printf into memory of its own; NULL without memory. */
static char *GROUT_PRINTF(2, 0)
    format_message(const grout_diags *diags, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_copy has just initialised it */
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *message = size < 0 ? NULL : grout__resize(diags->allocator, NULL, (size_t)size + 1);
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

/* The newest that is no error, plus 1; 0: all are errors. */
static uint32_t find_lesser(const grout_diags *diags) {
    uint32_t at = diags->count;
    while (at > 0 && diags->items[at - 1].severity == GROUT_SEVERITY_ERROR) {
        at--;
    }
    return at;
}

/* Whether a diagnostic is kept: an error takes the place of one that is none. */
static bool has_room(const grout_diags *diags, grout_diag_code code) {
    return diags->count < GROUT_DIAGS_MAX ||
           (diag_infos[code].severity == GROUT_SEVERITY_ERROR && find_lesser(diags) > 0);
}

static void make_room(grout_diags *diags) {
    uint32_t at = diags->count == GROUT_DIAGS_MAX ? find_lesser(diags) : 0;
    if (at > 0) {
        free_diag(diags, &diags->items[at - 1]);
        memmove(&diags->items[at - 1], &diags->items[at],
                (diags->count - at) * sizeof diags->items[0]);
        diags->count--;
    }
}

/* Counts a diagnostic; the slot for it, or NULL if it is to be dropped. */
static grout_diag *add_slot(grout_diags *diags, grout_diag_code code) {
    GROUT_ASSERT(diags->count <= GROUT_DIAGS_MAX && diags->count <= diags->total);
    diags->total++;
    diags->is_newest_kept = has_room(diags, code);
    if (!diags->is_newest_kept) {
        diags->has_dropped_error |= diag_infos[code].severity == GROUT_SEVERITY_ERROR;
        return NULL;
    }
    make_room(diags);
    grout_diag *diag = &diags->items[diags->count++];
    *diag =
        (grout_diag){.code = code, .severity = diag_infos[code].severity, .number = diags->total};
    return diag;
}

bool grout_diags_add_list(grout_diags *diags, grout_diag_code code, grout_place place,
                          const char *format, va_list arguments) {
    if (diags == NULL) {
        return false;
    }
    if (!has_room(diags, code)) {
        (void)add_slot(diags, code);
        return false;
    }
    char *message = format_message(diags, format, arguments);
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
    /* What has been ended fails for no lack of memory. */
    if (diags == NULL || diags->has_oom || diags->has_ended) {
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
    note.message = format_message(diags, format, arguments);
    grout_note *notes =
        note.message == NULL
            ? NULL
            : grout__resize(diags->allocator, diag->notes, (diag->note_count + 1) * sizeof *notes);
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

void grout_diags__append(grout_diags *diags, const grout_diags *from) {
    for (uint32_t i = 0; i < from->count; i++) {
        const grout_diag *diag = &from->items[i];
        (void)grout_diags_add(diags, diag->code, diag->place, "%s", diag->message);
        if (diags->is_newest_kept && diag->severity != GROUT_SEVERITY_ERROR) {
            diags->items[diags->count - 1].severity = diag->severity;
        }
        for (uint32_t k = 0; k < diag->note_count; k++) {
            const grout_note *note = &diag->notes[k];
            if (note->severity == GROUT_SEVERITY_ADVICE) {
                grout_diags_help(diags, "%s", note->message);
            } else {
                grout_diags_note(diags, note->place, "%s", note->message);
            }
        }
    }
}

uint32_t grout_diags_count(const grout_diags *diags) {
    return diags != NULL ? diags->count : 0;
}

uint64_t grout_diags_total(const grout_diags *diags) {
    return diags != NULL ? diags->total : 0;
}

const grout_diag *grout_diags_get(const grout_diags *diags, uint32_t index) {
    GROUT_ASSERT(index < diags->count);
    return &diags->items[index];
}

bool grout_diags_has_errors(const grout_diags *diags) {
    bool has_error = diags->has_dropped_error;
    for (uint32_t i = 0; i < diags->count; i++) {
        has_error |= diags->items[i].severity == GROUT_SEVERITY_ERROR;
    }
    return has_error;
}

bool grout_diags_has_dropped_error(const grout_diags *diags) {
    return diags->has_dropped_error;
}

void grout_diags_set_severity(grout_diags *diags, uint32_t index, grout_severity to) {
    GROUT_ASSERT(index < diags->count);
    diags->items[index].severity = to;
}

static bool is_before(const grout_diag *a, const grout_diag *b) {
    if (a->place.line != b->place.line) {
        return a->place.line < b->place.line;
    }
    return a->place.column < b->place.column;
}

void grout_diags__sort(grout_diags *diags, uint32_t first) {
    GROUT_ASSERT(first <= diags->count);
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
