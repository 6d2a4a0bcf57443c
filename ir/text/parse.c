/* parse.c - from text to symbolic module: the whole of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "alloc.h"
#include "diag_list.h"
#include "grout-internal/text.h"
#include "suggest.h"

#include <string.h>

static void report_late_name(grout_parser *p, const grout_late_name *late) {
    const char *name = grout_module_get_string(p->module, late->name);
    grout_loc_id loc = GROUT_TABLE_AT(p->module->exprs, grout_expr, late->expr)->loc;
    (void)grout_parser__error_at(p, loc, GROUT_DIAG_UNKNOWN_NAME, "there is no const '%s'", name);
    if (grout_diags_total(p->diags) > GROUT_DIAGS_MAX) {
        return;
    }
    grout_suggestion suggestion = grout_suggest__begin(name, strlen(name));
    for (uint32_t i = 1; i < p->module->consts.count; i++) {
        grout_suggest__offer(
            &suggestion,
            grout_module_get_string(p->module, grout_module_get_const(p->module, i)->name));
    }
    if (late->is_in_init) {
        grout_parser__offer_generators(&suggestion);
    }
    if (suggestion.best != NULL) {
        grout_parser__suggest(p, "", suggestion.best);
    } else {
        grout_parser__help(p, "a value is written '%%%s'; a const is defined by 'const %s = ..'",
                           name, name);
    }
}

static void resolve_late_names(grout_parser *p) {
    for (uint32_t i = 1; i < p->late_names.count && !p->is_stopped; i++) {
        const grout_late_name *late = GROUT_TABLE_AT(p->late_names, grout_late_name, i);
        grout_const_id id = grout_scope__find(&p->consts, late->name);
        GROUT_TABLE_AT(p->module->exprs, grout_expr, late->expr)->constant = id;
        if (id == 0) {
            report_late_name(p, late);
        }
    }
}

/* Makes the module's own copy of the text; NULL without memory. */
static const char *add_source(grout_parser *p, const char *text, size_t size) {
    grout_source source = {.file = p->file_id,
                           .text = grout_shared_text__new(p->module->allocator, text, size)};
    if (source.text == NULL) {
        return NULL;
    }
    if (grout_table__push(&p->module->sources, &source) == 0) {
        grout_shared_text__drop(source.text);
        return NULL;
    }
    return source.text->data;
}

/* keeps_text: the module gets a copy of its own, else it borrows the text while it is parsed. */
static bool init_parser(grout_parser *p, const grout_allocator *allocator, const char *text,
                        size_t size, bool keeps_text) {
    p->module = grout_module__new(allocator);
    if (p->module == NULL) {
        return false;
    }
    p->file_id = grout_module__intern(p->module, p->file, strlen(p->file));
    const char *kept = keeps_text ? add_source(p, text, size) : text;
    bool ok = kept != NULL &&
              grout_lexer__init(&p->lexer, p->file, kept, (uint32_t)size, allocator, p->diags) &&
              !p->module->failed;
    ok = grout_scope__init(&p->values, allocator) && ok;
    ok = grout_scope__init(&p->consts, allocator) && ok;
    ok = grout_scope__init(&p->globals, allocator) && ok;
    ok = grout_table__init(&p->operands, allocator, sizeof(grout_operand)) && ok;
    ok = grout_table__init(&p->indices, allocator, sizeof(grout_index)) && ok;
    ok = grout_table__init(&p->attrs, allocator, sizeof(grout_attr_value)) && ok;
    ok = grout_table__init(&p->names, allocator, sizeof(grout_parsed_name)) && ok;
    ok = grout_table__init(&p->late_names, allocator, sizeof(grout_late_name)) && ok;
    return grout_table__init(&p->unknown_values, allocator, sizeof(grout_unknown_value)) && ok;
}

static void deinit_parser(grout_parser *p) {
    grout_lexer__deinit(&p->lexer);
    grout_scope__deinit(&p->values);
    grout_scope__deinit(&p->consts);
    grout_scope__deinit(&p->globals);
    grout_table__deinit(&p->operands);
    grout_table__deinit(&p->indices);
    grout_table__deinit(&p->attrs);
    grout_table__deinit(&p->names);
    grout_table__deinit(&p->late_names);
    grout_table__deinit(&p->unknown_values);
}

static bool parse_all(grout_parser *p) {
    grout_parser__advance(p);
    grout_parser__advance(p);
    grout_parser__items(p);
    resolve_late_names(p);
    return !grout_parser__is_out_of_memory(p);
}

grout_module *grout_parse(const char *file, const char *text, size_t size, grout_diags *diags) {
    return grout_parse_in(NULL, file, text, size, diags);
}

grout_module *grout_parse_in(const grout_allocator *allocator, const char *file, const char *text,
                             size_t size, grout_diags *diags) {
    grout_parser p = {.file = file != NULL ? file : "", .diags = diags};
    uint32_t first_diag = diags != NULL ? grout_diags_count(diags) : 0;
    if (size > GROUT_FILE_MAX) {
        (void)grout_diags_add(diags, GROUT_DIAG_LIMIT, (grout_place){p.file, 0, 0, 0},
                              "the file has %zu bytes, at most %u are read", size, GROUT_FILE_MAX);
        return NULL;
    }
    bool has_memory = init_parser(&p, allocator, text, size, true) && parse_all(&p);
    bool ok = has_memory && !p.has_error && !p.lexer.has_error;
    if (!has_memory) {
        (void)grout_diags_add_oom(diags);
    } else if (!ok && diags != NULL) {
        grout_diags__sort(diags, first_diag);
        (void)grout_diags_add_source(diags, p.file, text, size);
    }
    deinit_parser(&p);
    if (!ok) {
        grout_module_free(p.module);
        return NULL;
    }
    return p.module;
}

/* ---- one kernel of a file ------------------------------------------------------------------- */

static void parse_at(grout_parser *p, const grout_opening *opening) {
    grout_lexer *lexer = &p->lexer;
    GROUT_ASSERT(opening->offset < lexer->size && opening->column <= opening->offset + 1);
    lexer->at = opening->offset;
    lexer->line = opening->line;
    lexer->line_start = opening->offset + 1 - opening->column;
    lexer->newlines = 1;
    lexer->first_comment = lexer->comments.count;
    p->nesting = 0;
    grout_parser__advance(p);
    grout_parser__advance(p);
    p->has_error |= !grout_parser__item(p, 0);
}

grout_module *grout_module_take_kernel(const grout_module *symbolic, grout_kernel_id kernel,
                                       grout_diags *diags) {
    if (symbolic->sources.count != 2 || kernel >= symbolic->kernel_openings.count) {
        return NULL;
    }
    const grout_source *source = GROUT_TABLE_AT(symbolic->sources, grout_source, 1);
    grout_parser p = {.file = grout_module_get_string(symbolic, source->file), .diags = diags};
    bool ok = init_parser(&p, symbolic->allocator, source->text->data, source->text->size, false);
    for (uint32_t i = 1; ok && i < symbolic->shared_openings.count; i++) {
        parse_at(&p, GROUT_TABLE_AT(symbolic->shared_openings, grout_opening, i));
    }
    if (ok) {
        parse_at(&p, GROUT_TABLE_AT(symbolic->kernel_openings, grout_opening, kernel));
        resolve_late_names(&p);
    }
    ok = ok && !grout_parser__is_out_of_memory(&p) && !p.has_error;
    deinit_parser(&p);
    if (!ok) {
        (void)grout_diags_add_oom(diags);
        grout_module_free(p.module);
        return NULL;
    }
    return p.module;
}
