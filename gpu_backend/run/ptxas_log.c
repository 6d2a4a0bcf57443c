/*
 * ptxas_log.c - reads the log of ptxas -v.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its lines, as CUDA 12 and 13 write them:
 *
 *   ptxas info    : Compiling entry function 'add' for 'sm_90a'
 *   ptxas info    : Function properties for add
 *       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 40 registers, used 1 barriers, 16 bytes smem
 *   ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async ... in the function 'add'
 */
#include "ptxas_log.h"

#include <stdlib.h>
#include <string.h>

/* The text of a line after a word, or NULL; the line ends at end. */
static const char *find_after(const char *line, const char *end, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = line; (size_t)(end - at) >= size; at++) {
        if (memcmp(at, word, size) == 0) {
            return at + size;
        }
    }
    return NULL;
}

/* The number before a word of the line, 0 if the word is not there. */
static uint32_t number_before(const char *line, const char *end, const char *word) {
    const char *at = find_after(line, end, word);
    if (at == NULL) {
        return 0;
    }
    at -= strlen(word);
    while (at > line && at[-1] >= '0' && at[-1] <= '9') {
        at--;
    }
    uint32_t number = 0;
    while (*at >= '0' && *at <= '9' && number < 100000000) {
        number = number * 10 + (uint32_t)(*at++ - '0');
    }
    return number;
}

static void copy_name(grout_gpu_resources *kernel, const char *name, const char *end) {
    size_t size = 0;
    while (name + size < end && name[size] != '\'' && size < sizeof kernel->kernel - 1) {
        size++;
    }
    memcpy(kernel->kernel, name, size);
    kernel->kernel[size] = '\0';
}

static bool is_note(const char *line, const char *end) {
    const char *code = find_after(line, end, "(C7");
    return (code != NULL && code < end && *code >= '0' && *code <= '9') ||
           find_after(line, end, "warning") != NULL;
}

/* What is being read: properties belong to entry (NULL between kernels) if it is the one they name.
 */
typedef struct parser {
    grout_gpu_ptxas_log *log;
    grout_gpu_resources *entry;
    bool is_entry_part;
    size_t notes_size;
} parser;

static void read_line(parser *p, const char *line, const char *end) {
    const char *name = find_after(line, end, "Compiling entry function '");
    if (name != NULL) {
        p->entry = &p->log->kernels[p->log->kernel_count++];
        copy_name(p->entry, name, end);
        p->is_entry_part = true;
    } else if ((name = find_after(line, end, "Function properties for ")) != NULL) {
        grout_gpu_resources part;
        copy_name(&part, name, end);
        /* A function that was not inlined has properties of its own. */
        p->is_entry_part = p->entry != NULL && strcmp(part.kernel, p->entry->kernel) == 0;
    } else if (p->entry != NULL && p->is_entry_part &&
               find_after(line, end, " bytes stack frame") != NULL) {
        p->entry->stack_bytes = number_before(line, end, " bytes stack frame");
        p->entry->spill_store_bytes = number_before(line, end, " bytes spill stores");
        p->entry->spill_load_bytes = number_before(line, end, " bytes spill loads");
    } else if (p->entry != NULL && find_after(line, end, ": Used ") != NULL) {
        p->entry->registers = number_before(line, end, " registers");
        p->entry->named_barriers = number_before(line, end, " barriers");
        p->entry->static_smem_bytes = number_before(line, end, " bytes smem");
    }
    if (is_note(line, end)) {
        const size_t size = (size_t)(end - line);
        memcpy(p->log->notes + p->notes_size, line, size);
        p->notes_size += size;
        p->log->notes[p->notes_size++] = '\n';
    }
}

bool grout_gpu__ptxas_log_parse(const char *text, grout_gpu_ptxas_log *out,
                                grout_gpu_error *error) {
    const size_t size = strlen(text);
    size_t entries = 0;
    for (const char *at = text; (at = strstr(at, "Compiling entry function '")) != NULL; at++) {
        entries++;
    }
    /* The notes are some of the lines, each with its end. */
    out->notes = malloc(size + 2);
    out->kernels = calloc(entries + 1, sizeof *out->kernels);
    out->kernel_count = 0;
    if (out->notes == NULL || out->kernels == NULL) {
        grout_gpu__ptxas_log_deinit(out);
        return grout_gpu__fail_memory(error, "the compiler's log");
    }
    parser p = {.log = out};
    const char *line = text;
    while (*line != '\0') {
        const char *end = strchr(line, '\n');
        if (end == NULL) {
            end = text + size;
        }
        read_line(&p, line, end);
        line = *end == '\n' ? end + 1 : end;
    }
    out->notes[p.notes_size] = '\0';
    return true;
}

void grout_gpu__ptxas_log_deinit(grout_gpu_ptxas_log *log) {
    free(log->kernels);
    free(log->notes);
    *log = (grout_gpu_ptxas_log){0};
}

const grout_gpu_resources *grout_gpu__ptxas_log_find(const grout_gpu_ptxas_log *log,
                                                     const char *kernel) {
    for (uint32_t i = 0; i < log->kernel_count; i++) {
        if (strcmp(log->kernels[i].kernel, kernel) == 0) {
            return &log->kernels[i];
        }
    }
    return NULL;
}
