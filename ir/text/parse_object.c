/* parse_object.c - the objects of scratch and scoped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

#include <stdio.h>

static bool report_twice(grout_parser *p) {
    return grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX, "'%.*s' stands twice",
                               (int)p->token.size, p->lexer.text + p->token.offset);
}

/* word '(' constants ')', the word being the next token. */
static uint32_t parse_list(grout_parser *p, grout_expr_id *ids, uint32_t max) {
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")
               ? grout_parser__constants(p, ids, max, GROUT_TOKEN_RIGHT_PAREN)
               : 0;
}

/* 'tile(8, 64)' or 'tile(infer)'. */
static bool parse_tile(grout_parser *p, grout_object *object) {
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")) {
        return false;
    }
    object->infers_tile = grout_parser__is_word(p, &p->token, "infer");
    if (object->infers_tile) {
        grout_parser__advance(p);
        return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
    }
    object->tile_rank =
        (uint8_t)grout_parser__constants(p, object->tile, GROUT_RANK_MAX, GROUT_TOKEN_RIGHT_PAREN);
    return object->tile_rank > 0;
}

/* 'alias(%a)' or 'alias(%a, START)'. */
static bool parse_alias(grout_parser *p, grout_object *object) {
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")) {
        return false;
    }
    if (p->token.kind != GROUT_TOKEN_VALUE) {
        return grout_parser__expected(p, "the array whose bytes it has");
    }
    const grout_token name = p->token;
    object->alias = grout_parser__find_value(p, &name);
    if (object->alias != 0) {
        GROUT_TABLE_AT(p->module->values, grout_value, object->alias)->use_count++;
    }
    grout_parser__advance(p);
    if (grout_parser__accept(p, GROUT_TOKEN_COMMA) &&
        !grout_parser__constant(p, &object->alias_start)) {
        return false;
    }
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* 'layout("..")'. */
static bool parse_layout(grout_parser *p, grout_object *object) {
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('") &&
           grout_parser__string(p, &object->layout) &&
           grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

/* A transform of an array; *done_out if none stands next. */
static bool parse_transform(grout_parser *p, grout_object *object, bool *done_out) {
    if (grout_parser__is_word(p, &p->token, "tile")) {
        return object->tile_rank > 0 || object->infers_tile ? report_twice(p)
                                                            : parse_tile(p, object);
    }
    if (grout_parser__is_word(p, &p->token, "swizzle")) {
        return object->swizzle != 0 ? report_twice(p) : parse_list(p, &object->swizzle, 1) > 0;
    }
    if (grout_parser__is_word(p, &p->token, "transpose")) {
        if (object->transpose_rank > 0) {
            return report_twice(p);
        }
        object->transpose_rank = (uint8_t)parse_list(p, object->transpose, GROUT_RANK_MAX);
        return object->transpose_rank > 0;
    }
    if (grout_parser__is_word(p, &p->token, "layout")) {
        return object->layout != 0 ? report_twice(p) : parse_layout(p, object);
    }
    if (grout_parser__is_word(p, &p->token, "alias")) {
        return object->alias != 0 ? report_twice(p) : parse_alias(p, object);
    }
    *done_out = true;
    return true;
}

static bool parse_transforms(grout_parser *p, grout_object *object) {
    bool is_done = false;
    object->is_padded = grout_parser__is_word(p, &p->token, "padded");
    if (object->is_padded) {
        grout_parser__advance(p);
    }
    while (!is_done) {
        if (!parse_transform(p, object, &is_done)) {
            return false;
        }
    }
    return true;
}

/* '[' numbers ']' of barriers or semaphores, after their word; without them it is a single one. */
static bool parse_numbers(grout_parser *p, grout_object *object) {
    grout_parser__advance(p);
    if (p->token.has_newline || !grout_parser__accept(p, GROUT_TOKEN_LEFT_BRACKET)) {
        return true;
    }
    object->type.is_array = true;
    object->type.rank = (uint8_t)grout_parser__constants(p, object->type.dims, GROUT_RANK_MAX,
                                                         GROUT_TOKEN_RIGHT_BRACKET);
    return object->type.rank > 0;
}

/* A word that is all there is to say. */
static bool parse_flag(grout_parser *p, bool *flag_out) {
    *flag_out = true;
    grout_parser__advance(p);
    return true;
}

/* A word of the other kind of barrier than this. */
static bool refuse_word(grout_parser *p, const char *help) {
    (void)grout_parser__unexpected(p, "the end of the object");
    grout_parser__help(p, "%s", help);
    return false;
}

/* Whose barriers count: 'leader_tracked' of a barrier, 'two_ctas' of an mbarrier. */
static bool parse_leader(grout_parser *p, grout_object *object) {
    const bool is_of_mbarrier = grout_parser__is_word(p, &p->token, "two_ctas");
    if (is_of_mbarrier != object->is_explicit) {
        return refuse_word(p, is_of_mbarrier
                                  ? "two_ctas is of an mbarrier; of a barrier for all CTAs of a "
                                    "cluster axis it is 'cluster(..) leader_tracked'"
                                  : "leader_tracked is of a 'barrier cluster(..)'; an mbarrier of "
                                    "a pair of CTAs is 'two_ctas'");
    }
    return object->is_leader_tracked ? report_twice(p) : parse_flag(p, &object->is_leader_tracked);
}

/* What says more about a barrier; *done_out if nothing stands next. */
static bool parse_barrier_part(grout_parser *p, grout_object *object, bool *done_out) {
    bool is_arrivals = grout_parser__is_word(p, &p->token, "arrivals");
    if (is_arrivals && object->is_explicit) {
        return refuse_word(p, "mbarrier_init says how many arrivals a phase of an mbarrier takes");
    }
    if (is_arrivals) {
        return object->arrivals != 0 ? report_twice(p) : parse_list(p, &object->arrivals, 1) > 0;
    }
    if (grout_parser__is_word(p, &p->token, "cluster") && object->is_explicit) {
        return refuse_word(p, "an mbarrier of another CTA is named by .cluster(..) where it is "
                              "used; only a 'barrier' is one of the cluster");
    }
    if (grout_parser__is_word(p, &p->token, "cluster")) {
        if (object->cluster_group_count > 0) {
            return report_twice(p);
        }
        grout_parser__advance(p);
        return grout_parser__axis_groups(p, object);
    }
    if (grout_parser__is_word(p, &p->token, "orders_tensor_core") && object->is_explicit) {
        return refuse_word(p, "leave it out: an mbarrier always orders the tensor core");
    }
    if (grout_parser__is_word(p, &p->token, "orders_tensor_core")) {
        return object->orders_tensor_core ? report_twice(p)
                                          : parse_flag(p, &object->orders_tensor_core);
    }
    if (grout_parser__is_word(p, &p->token, "leader_tracked") ||
        grout_parser__is_word(p, &p->token, "two_ctas")) {
        return parse_leader(p, object);
    }
    *done_out = true;
    return true;
}

static bool parse_barrier(grout_parser *p, grout_object *object) {
    object->kind = GROUT_OBJECT_BARRIER;
    object->space = GROUT_SPACE_SMEM;
    object->is_explicit = grout_parser__is_word(p, &p->token, "mbarrier");
    if (!parse_numbers(p, object)) {
        return false;
    }
    bool is_done = false;
    while (!is_done) {
        if (!parse_barrier_part(p, object, &is_done)) {
            return false;
        }
    }
    return true;
}

static bool parse_semaphore(grout_parser *p, grout_object *object) {
    object->kind = GROUT_OBJECT_SEMAPHORE;
    object->space = GROUT_SPACE_GMEM;
    if (!parse_numbers(p, object)) {
        return false;
    }
    object->is_global = grout_parser__is_word(p, &p->token, "global");
    if (object->is_global) {
        grout_parser__advance(p);
    }
    return true;
}

/* A transform is a fault after an array that has none. */
static bool refuse_transforms(grout_parser *p, const grout_object *object) {
    if (!grout_parser__is_word(p, &p->token, "tile") &&
        !grout_parser__is_word(p, &p->token, "swizzle") &&
        !grout_parser__is_word(p, &p->token, "transpose") &&
        !grout_parser__is_word(p, &p->token, "layout") &&
        !grout_parser__is_word(p, &p->token, "alias")) {
        return true;
    }
    if (object->alias != 0 && grout_parser__is_word(p, &p->token, "alias")) {
        return report_twice(p);
    }
    char what[32];
    const bool is_fragment = grout_space_is_fragment(object->space);
    snprintf(what, sizeof what, "an array in %s", grout_space_get_text((grout_space)object->space));
    return grout_parser__error(
        p, &p->token, GROUT_DIAG_BAD_TRANSFORM, "%s has no '%.*s': %s",
        is_fragment ? "an accumulator" : what, (int)p->token.size, p->lexer.text + p->token.offset,
        is_fragment ? "it lies in registers as the tensor core wants it" : "it lies in rows");
}

/* The flag of an array in tensor memory that a word sets; NULL: the word is no such. */
static bool *find_tmem_flag(const grout_parser *p, grout_object *object) {
    return grout_parser__is_word(p, &p->token, "packed")         ? &object->is_packed
           : grout_parser__is_word(p, &p->token, "scales")       ? &object->is_scales
           : grout_parser__is_word(p, &p->token, "split_scales") ? &object->is_split
           : grout_parser__is_word(p, &p->token, "metadata")     ? &object->is_metadata
           : grout_parser__is_word(p, &p->token, "collective")   ? &object->is_collective
                                                                 : NULL;
}

/* How an array lies in tensor memory, at most one of four words, and whether a pair has it. */
static bool parse_tmem(grout_parser *p, grout_object *object) {
    for (;;) {
        bool *flag = find_tmem_flag(p, object);
        if (flag == NULL ||
            (flag != &object->is_collective && !*flag &&
             (object->is_packed || object->is_scales || object->is_split || object->is_metadata))) {
            object->is_scales |= object->is_split;
            return true;
        }
        if (*flag ? !report_twice(p) : !parse_flag(p, flag)) {
            return false;
        }
    }
}

/* An array, after the word of its space; one in gmem is the launch's, as a parameter is. */
static bool parse_array(grout_parser *p, grout_object *object, grout_space space) {
    object->kind = GROUT_OBJECT_ARRAY;
    object->space = (uint8_t)space;
    object->is_global = grout_space_is_of_launch(space);
    grout_parser__advance(p);
    if (!grout_parser__type(p, &object->type)) {
        return false;
    }
    if (!object->type.is_array) {
        return grout_parser__expected(p, "'[' and the dimensions of the array");
    }
    if (grout_space_needs_tensor_order(space) && !parse_tmem(p, object)) {
        return false;
    }
    if (grout_space_has_transforms(space)) {
        return parse_transforms(p, object);
    }
    if (grout_space_has_aliases(space) && grout_parser__is_word(p, &p->token, "alias") &&
        !parse_alias(p, object)) {
        return false;
    }
    return refuse_transforms(p, object);
}

static bool report_object(grout_parser *p) {
#define GROUT_SPACE(NAME, TEXT, ...) TEXT,
    static const char *const words[] = {
#include "grout/spaces.def"
        "barrier", "mbarrier", "semaphore"};
#define GROUT_SPACE(NAME, TEXT, ...) "'" TEXT "', "
    static const char wanted[] =
#include "grout/spaces.def"
        "'barrier', 'mbarrier' or 'semaphore'";
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, wanted);
    }
    const char *text = p->lexer.text + p->token.offset;
    if (grout_word__get_kind(text, p->token.size) == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_SYNTAX);
    }
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        grout_suggest__offer(&suggestion, words[i]);
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_TYPE, "expected %s, found '%.*s'",
                              wanted, (int)p->token.size, text);
    grout_parser__suggest(p, "", suggestion.best);
    return false;
}

/* The object itself, without an init. */
static bool parse_object(grout_parser *p, grout_object *object_out) {
    const char *text = p->lexer.text + p->token.offset;
    const grout_space space = p->token.kind == GROUT_TOKEN_NAME
                                  ? grout_space_find(text, p->token.size)
                                  : GROUT_SPACE_NONE;
    if (space != GROUT_SPACE_NONE) {
        return parse_array(p, object_out, space);
    }
    if (grout_parser__is_word(p, &p->token, "barrier") ||
        grout_parser__is_word(p, &p->token, "mbarrier")) {
        return parse_barrier(p, object_out);
    }
    if (grout_parser__is_word(p, &p->token, "semaphore")) {
        return parse_semaphore(p, object_out);
    }
    return report_object(p);
}

bool grout_parser__object(grout_parser *p, grout_object *object_out) {
    return parse_object(p, object_out) && grout_parser__init(p, &object_out->init);
}
