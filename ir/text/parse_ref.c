/* parse_ref.c - values, and the indices and views after them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

#include <string.h>

/* This many different unknown names are kept for a report. */
enum { UNKNOWN_MAX = 2 * GROUT_DIAGS_MAX };

/* ---- names ----------------------------------------------------------------------------------- */

/* The visible name nearest to one that is not. */
static grout_string_id find_nearest(grout_parser *p, grout_string_id name) {
    const char *text = grout_module_get_string(p->module, name);
    grout_suggestion suggestion = grout_suggest__begin(text, strlen(text));
    uint32_t count = p->values.bindings.count;
    for (grout_string_id id = 1; id < count && suggestion.offers_left > 0; id++) {
        if (grout_scope__find(&p->values, id) != 0) {
            grout_suggest__offer(&suggestion, grout_module_get_string(p->module, id));
        }
    }
    return suggestion.best == NULL
               ? 0
               : grout_module__find_string(p->module, suggestion.best, strlen(suggestion.best));
}

/* Whether the name was noted before in this kernel: it is reported once. */
static bool is_noted(const grout_parser *p, grout_string_id name) {
    for (uint32_t i = 1; i < p->unknown_values.count; i++) {
        if (GROUT_TABLE_AT(p->unknown_values, grout_unknown_value, i)->name == name) {
            return true;
        }
    }
    return false;
}

grout_value_id grout_parser__find_value(grout_parser *p, const grout_token *token) {
    grout_string_id name = grout_parser__intern(p, token);
    grout_value_id value = grout_scope__find(&p->values, name);
    if (value != 0) {
        return value;
    }
    p->has_error = true;
    if (p->unknown_values.count <= UNKNOWN_MAX && !is_noted(p, name)) {
        grout_unknown_value unknown = {name, find_nearest(p, name), *token};
        grout_parser__push(p, &p->unknown_values, &unknown);
    }
    return 0;
}

/* The first value of the kernel with this name, or 0. */
static grout_value_id find_in_kernel(const grout_parser *p, grout_string_id name) {
    for (uint32_t i = p->first_value; i < p->module->values.count; i++) {
        if (grout_module_get_value(p->module, i)->name == name) {
            return i;
        }
    }
    return 0;
}

/* Whether a value is defined after the token. */
static bool is_defined_later(const grout_parser *p, grout_value_id value,
                             const grout_token *token) {
    const grout_loc *loc =
        grout_module_get_loc(p->module, grout_module_get_value(p->module, value)->loc);
    return loc->line > token->line || (loc->line == token->line && loc->column > token->column);
}

/* A use of an object of a 'scoped' that has ended. */
static void report_ended_object(grout_parser *p, const grout_unknown_value *unknown,
                                grout_value_id object) {
    const char *name = grout_module_get_string(p->module, unknown->name);
    (void)grout_parser__error(p, &unknown->token, GROUT_DIAG_USE_AFTER_SCOPE,
                              "'%%%s' is gone: the scope that it lived in has ended", name);
    grout_parser__note(p, grout_module_get_value(p->module, object)->loc, "it lives in this scope");
    grout_parser__help(p, "use it inside the scope, or make it by 'scratch %%%s : ..'", name);
}

void grout_parser__report_unknown_values(grout_parser *p) {
    for (uint32_t i = 1; i < p->unknown_values.count && !p->is_stopped; i++) {
        grout_unknown_value unknown = *GROUT_TABLE_AT(p->unknown_values, grout_unknown_value, i);
        const char *name = grout_module_get_string(p->module, unknown.name);
        grout_value_id other = find_in_kernel(p, unknown.name);
        bool is_later = other != 0 && is_defined_later(p, other, &unknown.token);
        if (other != 0 && !is_later &&
            grout_module_get_value(p->module, other)->kind == GROUT_VALUE_OBJECT) {
            report_ended_object(p, &unknown, other);
            continue;
        }
        (void)grout_parser__error(p, &unknown.token, GROUT_DIAG_UNKNOWN_NAME,
                                  "no value '%%%s' is visible here", name);
        if (other != 0) {
            grout_parser__note(p, grout_module_get_value(p->module, other)->loc,
                               is_later ? "'%%%s' is defined here, after its use"
                                        : "'%%%s' is defined here, in a block that has ended",
                               name);
        } else if (unknown.suggestion != 0) {
            grout_parser__suggest(p, "%", grout_module_get_string(p->module, unknown.suggestion));
        } else {
            grout_parser__help(p, "define it first, by '%%%s = ..' in this block or one around",
                               name);
        }
    }
    p->unknown_values.count = 1;
}

/* ---- indices and views ----------------------------------------------------------------------- */

/* "help: a slice is ds(..)" for the diagnostic just made, if a ':' stands there as in Python. */
static void help_slice(grout_parser *p) {
    if (p->token.kind == GROUT_TOKEN_COLON || p->last.kind == GROUT_TOKEN_COLON) {
        grout_parser__help(p, "a slice is ds(start, size): ds(0, 64)");
    }
}

/* 'ds' '(' start ',' size ')' after its word. */
static bool parse_slice(grout_parser *p, grout_index *index, uint32_t *depth) {
    grout_parsed_operand start;
    if (!grout_parser__nest(p)) {
        return false;
    }
    bool ok = grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('") &&
              grout_parser__scalar(p, &start) &&
              grout_parser__expect(p, GROUT_TOKEN_COMMA, "',' and the size of the slice") &&
              grout_parser__constant(p, &index->size) &&
              grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
    p->nesting--;
    if (!ok) {
        help_slice(p);
    } else {
        index->kind = GROUT_INDEX_SLICE;
        index->start = start.operand;
        *depth = start.depth > *depth ? start.depth : *depth;
    }
    return ok;
}

static bool parse_index(grout_parser *p, uint32_t *depth) {
    grout_index index = {0};
    if (grout_parser__accept(p, GROUT_TOKEN_COLON)) {
        index.kind = GROUT_INDEX_ALL;
    } else if (grout_parser__is_word(p, &p->token, "ds")) {
        grout_parser__advance(p);
        if (!parse_slice(p, &index, depth)) {
            return false;
        }
    } else {
        grout_parsed_operand start;
        if (!grout_parser__scalar(p, &start)) {
            return false;
        }
        index.kind = GROUT_INDEX_AT;
        index.start = start.operand;
        *depth = start.depth > *depth ? start.depth : *depth;
    }
    grout_parser__push(p, &p->indices, &index);
    return true;
}

/* The indices after '[', through ']'. Their number is reported against the limit only. */
static bool parse_indices(grout_parser *p, uint32_t *depth) {
    uint32_t first = p->indices.count;
    if (!grout_parser__nest(p)) {
        return false;
    }
    bool ok = true;
    do {
        if (p->indices.count - first == GROUT_RANK_MAX) {
            ok = grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT, "more than %d indices",
                                     GROUT_RANK_MAX);
        }
        ok = ok && parse_index(p, depth);
    } while (ok && grout_parser__accept(p, GROUT_TOKEN_COMMA));
    p->nesting--;
    if (ok && !grout_parser__expect(p, GROUT_TOKEN_RIGHT_BRACKET, "',' or ']'")) {
        help_slice(p);
        ok = false;
    }
    return ok;
}

/* '1, 0)' of a transpose, '64, 32)' of a reshape. */
static bool parse_constants(grout_parser *p) {
    grout_expr_id sizes[GROUT_RANK_MAX];
    uint32_t count = grout_parser__constants(p, sizes, GROUT_RANK_MAX, GROUT_TOKEN_RIGHT_PAREN);
    for (uint32_t i = 0; i < count; i++) {
        grout_index index = {.kind = GROUT_INDEX_ALL, .size = sizes[i]};
        grout_parser__push(p, &p->indices, &index);
    }
    return count > 0;
}

/* '(%p, 0)' of a cluster: the place on each axis. */
static bool parse_place(grout_parser *p, uint32_t *depth) {
    uint32_t count = 0;
    if (!grout_parser__nest(p)) {
        return false;
    }
    bool ok = true;
    do {
        grout_parsed_operand place = {0};
        if (count++ == GROUT_CLUSTER_AXES_MAX) {
            ok = grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT, "more than %d cluster axes",
                                     GROUT_CLUSTER_AXES_MAX);
        }
        ok = ok && grout_parser__scalar(p, &place);
        if (ok) {
            grout_index index = {.kind = GROUT_INDEX_AT, .start = place.operand};
            *depth = place.depth > *depth ? place.depth : *depth;
            grout_parser__push(p, &p->indices, &index);
        }
    } while (ok && grout_parser__accept(p, GROUT_TOKEN_COMMA));
    p->nesting--;
    return ok && grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* 'f32)' of a bitcast. */
static bool parse_dtype(grout_parser *p, grout_ref_step *step) {
    grout_dtype dtype = GROUT_DTYPE_NONE;
    if (!grout_parser__dtype(p, &dtype)) {
        return false;
    }
    step->dtype = (uint8_t)dtype;
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

/* The words of the views, by the kind of their step. */
static const char *const VIEWS[] = {[GROUT_REF_INDEX] = NULL,
                                    [GROUT_REF_TRANSPOSE] = "transpose",
                                    [GROUT_REF_CLUSTER] = "cluster",
                                    [GROUT_REF_BITCAST] = "bitcast",
                                    [GROUT_REF_RESHAPE] = "reshape"};
enum { VIEW_COUNT = sizeof VIEWS / sizeof VIEWS[0] };

/* Reports what follows a point and is no view. */
static bool report_view(grout_parser *p) {
    (void)grout_parser__expected(p, "'transpose', 'cluster', 'bitcast' or 'reshape'");
    if (p->token.kind == GROUT_TOKEN_NAME) {
        grout_suggestion suggestion =
            grout_suggest__begin(p->lexer.text + p->token.offset, p->token.size);
        for (uint32_t i = 1; i < VIEW_COUNT; i++) {
            grout_suggest__offer(&suggestion, VIEWS[i]);
        }
        grout_parser__suggest(p, "", suggestion.best);
    }
    return false;
}

/* '.transpose(1, 0)' and the like, after its point. */
static bool parse_view(grout_parser *p, grout_ref_step *step, uint32_t *depth) {
    uint8_t kind = 1;
    while (kind < VIEW_COUNT && !grout_parser__is_word(p, &p->token, VIEWS[kind])) {
        kind++;
    }
    if (kind == VIEW_COUNT) {
        return report_view(p);
    }
    step->kind = kind;
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('") &&
           (kind == GROUT_REF_CLUSTER   ? parse_place(p, depth)
            : kind == GROUT_REF_BITCAST ? parse_dtype(p, step)
                                        : parse_constants(p));
}

/* Moves the indices of a step from the stack into the module. */
static void move_indices(grout_parser *p, uint32_t first, grout_ref_step *step) {
    uint32_t count = p->indices.count - first;
    step->count = (uint8_t)count;
    if (count == 0) { /* a bitcast */
        return;
    }
    step->first = grout_table__add(&p->module->indices, count);
    if (step->first == 0) {
        p->module->failed = true;
        return;
    }
    memcpy(GROUT_TABLE_AT(p->module->indices, grout_index, step->first),
           GROUT_TABLE_AT(p->indices, grout_index, first), count * sizeof(grout_index));
}

static bool parse_step(grout_parser *p, grout_ref_step *step, uint32_t *depth) {
    uint32_t first = p->indices.count;
    grout_token start = p->token;
    step->kind = GROUT_REF_INDEX;
    grout_parser__advance(p);
    bool ok = start.kind == GROUT_TOKEN_DOT ? parse_view(p, step, depth) : parse_indices(p, depth);
    if (ok) {
        if (start.line == p->last.line) {
            start.size = p->last.offset + p->last.size - start.offset;
        }
        step->loc = grout_parser__add_loc(p, &start);
        move_indices(p, first, step);
    }
    p->indices.count = first;
    return ok && !p->module->failed;
}

/* The steps of a reference lie one after the other in the module, but the indices of a step may
 * hold references of their own: so they are collected first. */
static bool parse_steps(grout_parser *p, grout_ref *ref, uint32_t *depth) {
    enum { STEPS_MAX = 2 * GROUT_RANK_MAX };
    grout_ref_step steps[STEPS_MAX] = {{0}};
    while (p->token.kind == GROUT_TOKEN_LEFT_BRACKET || p->token.kind == GROUT_TOKEN_DOT) {
        if (ref->step_count == STEPS_MAX) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT,
                                       "more than %d indexings and views of one reference",
                                       STEPS_MAX);
        }
        if (!parse_step(p, &steps[ref->step_count], depth)) {
            return false;
        }
        ref->step_count++;
    }
    ref->first_step = grout_table__add(&p->module->ref_steps, ref->step_count);
    if (ref->first_step == 0) {
        p->module->failed = true;
        return false;
    }
    memcpy(GROUT_TABLE_AT(p->module->ref_steps, grout_ref_step, ref->first_step), steps,
           ref->step_count * sizeof steps[0]);
    return true;
}

bool grout_parser__reference(grout_parser *p, grout_parsed_operand *out) {
    grout_token name = p->token;
    grout_value_id value = grout_parser__find_value(p, &name);
    grout_parser__advance(p);
    out->depth = 1;
    if (p->token.kind != GROUT_TOKEN_LEFT_BRACKET && p->token.kind != GROUT_TOKEN_DOT) {
        out->operand = (grout_operand){GROUT_OPERAND_VALUE, value, grout_parser__add_loc(p, &name)};
        return true;
    }
    grout_ref ref = {.base = value};
    uint32_t depth = 0;
    if (!parse_steps(p, &ref, &depth)) {
        return false;
    }
    if (name.line == p->last.line) {
        name.size = p->last.offset + p->last.size - name.offset;
    }
    ref.loc = grout_parser__add_loc(p, &name);
    grout_ref_id id = grout_table__push(&p->module->refs, &ref);
    p->module->failed |= id == 0;
    out->operand = (grout_operand){GROUT_OPERAND_REF, id, ref.loc};
    out->depth = depth + 1;
    return true;
}

bool grout_parser__boxed(grout_parser *p, grout_parsed_operand *out, uint32_t *box_out) {
    grout_token name = p->token;
    *out = (grout_parsed_operand){.depth = 1};
    if (name.kind == GROUT_TOKEN_VALUE) {
        grout_value_id value = grout_parser__find_value(p, &name);
        grout_parser__advance(p);
        out->operand = (grout_operand){GROUT_OPERAND_VALUE, value, grout_parser__add_loc(p, &name)};
    } else if (!grout_parser__operand(p, out)) {
        return false;
    }
    if (p->token.kind != GROUT_TOKEN_LEFT_BRACKET || p->token.has_newline) {
        (void)grout_parser__expected(p, "'[' and the indices of the box");
        help_slice(p);
        return false;
    }
    grout_ref_step step = {0};
    uint32_t depth = 0;
    bool outer = p->constants_only;
    p->constants_only = true;
    bool ok = parse_step(p, &step, &depth);
    p->constants_only = outer;
    *box_out = ok ? grout_table__push(&p->module->ref_steps, &step) : 0;
    p->module->failed |= ok && *box_out == 0;
    return ok;
}
