/* parse_item.c - what stands at the top of a file: header, consts, requires, kernels, launches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

#include <string.h>

static grout_kernel *get_kernel(grout_parser *p) {
    return GROUT_TABLE_AT(p->module->kernels, grout_kernel, p->kernel);
}

/* ---- consts and requires --------------------------------------------------------------------- */

static void add_const(grout_parser *p, const grout_token *token, const grout_const *constant) {
    grout_const_id other = grout_scope__find(&p->consts, constant->name);
    if (other != 0) {
        grout_parser__report_duplicate(p, token, grout_module_get_const(p->module, other)->loc);
        return;
    }
    grout_const_id id = grout_table__push(&p->module->consts, constant);
    p->module->failed |= id == 0;
    grout_module__add_name(p->module, GROUT_NAMED_CONST, constant->name, id);
    grout_scope__bind(&p->consts, constant->name, id);
    grout_module__add_item(p->module, GROUT_ITEM_CONST, id);
}

/* NAME [':' 'f32'] '=' constant [',']; *more_out if there was a comma. */
static bool parse_const(grout_parser *p, grout_const *constant, bool *more_out) {
    grout_token name = p->token;
    if (name.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, "the name of a const");
    }
    bool is_free = grout_parser__check_free(p, &name, "a const");
    constant->name = grout_parser__intern(p, &name);
    constant->loc = grout_parser__add_loc(p, &name);
    grout_parser__advance(p);
    if (grout_parser__accept(p, GROUT_TOKEN_COLON)) {
        constant->is_f32 = true;
        if (!grout_parser__expect_word(p, "f32")) {
            return false;
        }
    }
    if (!grout_parser__expect(p, GROUT_TOKEN_ASSIGN, "'=' and the value of the const") ||
        !grout_parser__constant(p, &constant->expr)) {
        return false;
    }
    *more_out = grout_parser__accept(p, GROUT_TOKEN_COMMA);
    grout_string_id lead = constant->trivia; /* held there meanwhile */
    constant->trivia = grout_parser__end_item(p, lead);
    if (is_free) {
        add_const(p, &name, constant);
    }
    return true;
}

static bool parse_consts(grout_parser *p, grout_string_id lead) {
    bool is_more = true;
    bool is_first = true;
    grout_parser__advance(p);
    while (is_more) {
        grout_const constant = {.trivia = lead, .continues = !is_first};
        is_more = false;
        if (!parse_const(p, &constant, &is_more)) {
            return false;
        }
        is_first = false;
        lead = is_more ? grout_parser__take_lead(p, true) : 0;
    }
    return true;
}

static bool parse_require(grout_parser *p, grout_string_id lead) {
    grout_require require = {.loc = grout_parser__add_loc(p, &p->token)};
    grout_parser__advance(p);
    if (!grout_parser__constant(p, &require.expr) ||
        !grout_parser__expect(p, GROUT_TOKEN_COMMA, "',' and the text of the require") ||
        !grout_parser__string(p, &require.text)) {
        return false;
    }
    require.trivia = grout_parser__end_item(p, lead);
    uint32_t id = grout_table__push(&p->module->requires_, &require);
    p->module->failed |= id == 0;
    grout_module__add_item(p->module, GROUT_ITEM_REQUIRE, id);
    return true;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

/* VALUE {',' VALUE}, or nothing, and ')'; their number goes up by one for each. */
static bool parse_launch_arguments(grout_parser *p, uint32_t *count) {
    if (grout_parser__accept(p, GROUT_TOKEN_RIGHT_PAREN)) {
        return true;
    }
    do {
        if (p->token.kind != GROUT_TOKEN_VALUE) {
            return grout_parser__expected_value(p, "the name of an array or scalar");
        }
        grout_launch_argument argument = {grout_parser__intern(p, &p->token),
                                          grout_parser__add_loc(p, &p->token)};
        grout_module__add_launch_argument(p->module, &argument);
        grout_parser__advance(p);
        (*count)++;
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* 'launch' '@' NAME '(' arguments ')' ['dependent']. */
static bool parse_launch(grout_parser *p, grout_string_id lead) {
    grout_parser__advance(p);
    grout_token name = p->token;
    if (name.kind != GROUT_TOKEN_KERNEL) {
        return grout_parser__expected(p, "'@' and the name of the kernel to launch");
    }
    grout_launch_line launch = {.kernel_name = grout_parser__intern(p, &name),
                                .loc = grout_parser__add_loc(p, &name)};
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and what the kernel is given") ||
        !parse_launch_arguments(p, &launch.argument_count)) {
        return false;
    }
    if (!p->token.has_newline && grout_parser__is_word(p, &p->token, "dependent")) {
        launch.is_dependent = true;
        grout_parser__advance(p);
    }
    launch.trivia = grout_parser__end_item(p, lead);
    if (p->module->launches.count > GROUT_LAUNCHES_MAX) {
        return grout_parser__error(p, &name, GROUT_DIAG_LIMIT,
                                   "a launch list has more than %d launches", GROUT_LAUNCHES_MAX);
    }
    grout_module__add_launch(p->module, &launch);
    return true;
}

/* ---- checks -----------------------------------------------------------------------------------
 */

static bool parse_kernel_name(grout_parser *p, const char *what, grout_string_id *name,
                              grout_loc_id *loc) {
    if (p->token.kind != GROUT_TOKEN_KERNEL) {
        return grout_parser__expected(p, what);
    }
    *name = grout_parser__intern(p, &p->token);
    *loc = grout_parser__add_loc(p, &p->token);
    grout_parser__advance(p);
    return true;
}

/* WORD '(' constant ')', if it is there. */
static bool parse_tolerance(grout_parser *p, const char *word, grout_expr_id *out) {
    if (p->token.has_newline || !grout_parser__is_word(p, &p->token, word)) {
        return true;
    }
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and a tolerance") &&
           grout_parser__constant(p, out) &&
           grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

/* 'check' '@' NAME 'against' '@' NAME ['rtol' '(' constant ')'] ['atol' '(' constant ')']. */
static bool parse_check(grout_parser *p, grout_string_id lead) {
    grout_check_line line = {0};
    grout_parser__advance(p);
    if (!parse_kernel_name(p, "'@' and the name of the kernel to check", &line.kernel_name,
                           &line.kernel_loc) ||
        !grout_parser__expect_word(p, "against") ||
        !parse_kernel_name(p, "'@' and the name of the kernel that is right", &line.reference_name,
                           &line.reference_loc) ||
        !parse_tolerance(p, "rtol", &line.rtol) || !parse_tolerance(p, "atol", &line.atol)) {
        return false;
    }
    line.trivia = grout_parser__end_item(p, lead);
    grout_module__add_check_line(p->module, &line);
    return true;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static bool parse_direction(grout_parser *p, grout_param *param) {
    static const struct {
        const char *word;
        grout_direction direction;
    } words[] = {
        {"in", GROUT_DIRECTION_IN}, {"out", GROUT_DIRECTION_OUT}, {"inout", GROUT_DIRECTION_INOUT}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (grout_parser__is_word(p, &p->token, words[i].word)) {
            param->direction = (uint8_t)words[i].direction;
            grout_parser__advance(p);
            return true;
        }
    }
    return false;
}

static bool parse_array_param(grout_parser *p, grout_param *param, grout_loc_id loc) {
    grout_object object = {
        .kind = GROUT_OBJECT_ARRAY, .space = GROUT_SPACE_GMEM, .value = param->value, .loc = loc};
    if (!grout_parser__expect_word(p, "gmem") || !grout_parser__type(p, &object.type)) {
        return false;
    }
    if (!object.type.is_array) {
        return grout_parser__expected(p, "'[' and the dimensions of the array");
    }
    object.is_packed = grout_parser__is_word(p, &p->token, "packed");
    if (object.is_packed) {
        grout_parser__advance(p);
    }
    param->object = grout_module__add_object(p->module, &object);
    return true;
}

static bool parse_scalar_param(grout_parser *p, grout_param *param) {
    grout_dtype dtype = GROUT_DTYPE_NONE;
    param->direction = GROUT_DIRECTION_SCALAR;
    if (grout_parser__is_word(p, &p->token, "gmem")) {
        (void)grout_parser__expected(p, "'in', 'out' or 'inout'");
        grout_parser__help(p, "an array says what the kernel does to it: 'in gmem f32[..]'");
        return false;
    }
    if (!grout_parser__dtype(p, &dtype)) {
        return false;
    }
    param->dtype = (uint8_t)dtype;
    return true;
}

/* VALUE ':' direction 'gmem' array, or VALUE ':' dtype. */
static bool parse_param(grout_parser *p) {
    if (p->token.kind != GROUT_TOKEN_VALUE) {
        return grout_parser__expected_value(p, "the name of a parameter");
    }
    grout_kernel *kernel = get_kernel(p);
    uint32_t index = kernel->param_count++;
    grout_parsed_name name = {grout_parser__intern(p, &p->token),
                              grout_parser__add_loc(p, &p->token)};
    grout_parser__push(p, &p->names, &name);
    grout_parser__advance(p);
    grout_param param = {.value = grout_table__add(&p->module->values, 1)};
    grout_value *value = GROUT_TABLE_AT(p->module->values, grout_value, param.value);
    p->module->failed |= param.value == 0;
    value->kind = GROUT_VALUE_PARAM;
    value->index = index;
    grout_parser__bind_names(p, p->names.count - 1, param.value);
    grout_module__add_name(p->module, kernel->first_param, name.name, index + 1);
    bool ok = grout_parser__expect(p, GROUT_TOKEN_COLON, "':' and the type of the parameter");
    if (ok) {
        ok = parse_direction(p, &param) ? parse_array_param(p, &param, name.loc)
                                        : parse_scalar_param(p, &param);
        ok = ok && grout_parser__init(p, &param.init);
    }
    p->module->failed |= grout_table__push(&p->module->params, &param) == 0;
    return ok;
}

static bool parse_params(grout_parser *p) {
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and the parameters")) {
        return false;
    }
    if (grout_parser__accept(p, GROUT_TOKEN_RIGHT_PAREN)) {
        return true;
    }
    do {
        if (!parse_param(p)) {
            grout_parser__skip_part(p);
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* '@' NAME, and an entry for the kernel. */
static bool begin_kernel(grout_parser *p) {
    grout_parser__advance(p);
    grout_token name = p->token;
    if (name.kind != GROUT_TOKEN_KERNEL) {
        (void)grout_parser__expected(p, "'@' and the kernel's name");
        if (name.kind == GROUT_TOKEN_NAME && !name.has_newline) {
            grout_parser__help(p, "write 'kernel @%.*s'", (int)name.size,
                               p->lexer.text + name.offset);
        }
        return false;
    }
    grout_kernel kernel = {.name = grout_parser__intern(p, &name),
                           .loc = grout_parser__add_loc(p, &name),
                           .first_param = p->module->params.count};
    grout_parser__advance(p);
    grout_kernel_id other = grout_scope__find(&p->globals, kernel.name);
    if (other != 0) {
        grout_parser__report_duplicate(p, &name, grout_module_get_kernel(p->module, other)->loc);
    }
    p->kernel = grout_table__push(&p->module->kernels, &kernel);
    p->first_value = p->module->values.count;
    p->module->failed |= p->kernel == 0;
    grout_module__add_name(p->module, GROUT_NAMED_KERNEL, kernel.name, p->kernel);
    grout_scope__bind(&p->globals, kernel.name, p->kernel);
    grout_module__add_item(p->module, GROUT_ITEM_KERNEL, p->kernel);
    return p->kernel != 0;
}

/* Goes to the body after a fault in the header; false if there is none. */
static bool skip_to_kernel_body(grout_parser *p) {
    while (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        if (p->token.kind == GROUT_TOKEN_END || p->token.kind == GROUT_TOKEN_RIGHT_BRACE ||
            grout_parser__at_item(p)) {
            return false;
        }
        grout_parser__advance(p);
    }
    return true;
}

static void parse_kernel_body(grout_parser *p, grout_string_id lead) {
    uint32_t header_line = p->last.line;
    grout_trivia_id trivia = grout_parser__end_item(p, lead);
    grout_block_id body = grout_table__add(&p->module->blocks, 1);
    p->module->failed |= body == 0;
    GROUT_TABLE_AT(p->module->blocks, grout_block, body)->kernel = p->kernel;
    get_kernel(p)->body = body;
    grout_parser__open_block(p, body);
    /* 'kernel @a() {  // comment' on one line: the comment belongs to the header's line. */
    bool has_tail = grout_module_get_trivia(p->module, trivia)->tail != 0;
    grout_string_id tail = 0;
    if (!has_tail && p->last.line == header_line) {
        tail = grout_parser__take_tail(p);
    }
    if (tail != 0 && trivia == 0) {
        trivia = grout_table__add(&p->module->trivia, 1);
        p->module->failed |= trivia == 0;
    }
    if (tail != 0) {
        GROUT_TABLE_AT(p->module->trivia, grout_trivia, trivia)->tail = tail;
    }
    get_kernel(p)->trivia = trivia;
    grout_parser__block(p, body);
}

static bool parse_kernel(grout_parser *p, grout_string_id lead) {
    if (!begin_kernel(p)) {
        return false;
    }
    uint32_t mark = grout_scope__enter(&p->values);
    bool ok = parse_params(p) && grout_parser__kernel_header(p);
    ok = ok || skip_to_kernel_body(p);
    if (ok) {
        parse_kernel_body(p, lead);
    }
    grout_scope__leave(&p->values, mark);
    grout_parser__report_unknown_values(p);
    p->is_unwinding = false;
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool parse_header(grout_parser *p) {
    grout_string_id lead = grout_parser__take_lead(p, true);
    uint64_t version = 0;
    grout_parser__advance(p);
    if (p->token.kind != GROUT_TOKEN_INT) {
        return grout_parser__expected(p, "the version of the text format");
    }
    if (!grout_lexer__get_integer(&p->lexer, &p->token, &version) ||
        version != GROUT_TEXT_VERSION) {
        (void)grout_parser__error(p, &p->token, GROUT_DIAG_TEXT_VERSION,
                                  "this grout reads version %d of the text format, not %.*s",
                                  GROUT_TEXT_VERSION, (int)p->token.size,
                                  p->lexer.text + p->token.offset);
    }
    grout_parser__advance(p);
    p->module->has_header = true;
    p->module->header_trivia = grout_parser__end_item(p, lead);
    return true;
}

static bool report_item(grout_parser *p) {
    static const char *const words[] = {"const", "require", "kernel", "launch", "check"};
    const char *text = p->lexer.text + p->token.offset;
    if (p->token.kind == GROUT_TOKEN_NAME &&
        grout_word__get_kind(text, p->token.size) == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_SYNTAX);
    }
    (void)grout_parser__unexpected(p, "'const', 'require', 'kernel', 'launch' or 'check'");
    if (p->token.kind == GROUT_TOKEN_NAME) {
        grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            grout_suggest__offer(&suggestion, words[i]);
        }
        grout_parser__suggest(p, "", suggestion.best);
    }
    return false;
}

/* Goes to the next item; at least one token further than start. */
static void skip_item(grout_parser *p, uint32_t start) {
    if (p->token.offset == start) {
        grout_parser__advance(p);
    }
    while (p->token.kind != GROUT_TOKEN_END && !grout_parser__at_item(p)) {
        grout_parser__advance(p);
    }
}

static void note_opening(grout_parser *p, grout_table *openings) {
    const grout_opening opening = {p->token.offset, p->token.line, p->token.column};
    p->module->failed |= grout_table__push(openings, &opening) == 0;
}

bool grout_parser__item(grout_parser *p, grout_string_id lead) {
    if (grout_parser__is_word(p, &p->token, "const")) {
        note_opening(p, &p->module->shared_openings);
        return parse_consts(p, lead);
    }
    if (grout_parser__is_word(p, &p->token, "require")) {
        note_opening(p, &p->module->shared_openings);
        return parse_require(p, lead);
    }
    if (grout_parser__is_word(p, &p->token, "kernel")) {
        note_opening(p, &p->module->kernel_openings);
        return parse_kernel(p, lead);
    }
    if (grout_parser__is_word(p, &p->token, "launch")) {
        return parse_launch(p, lead);
    }
    if (grout_parser__is_word(p, &p->token, "check")) {
        return parse_check(p, lead);
    }
    return report_item(p);
}

void grout_parser__items(grout_parser *p) {
    bool is_first = true;
    if (grout_parser__is_word(p, &p->token, "grout")) {
        if (!parse_header(p)) {
            skip_item(p, p->token.offset);
        }
        is_first = false;
    }
    while (p->token.kind != GROUT_TOKEN_END) {
        uint32_t start = p->token.offset;
        p->nesting = 0;
        if (!grout_parser__item(p, grout_parser__take_lead(p, is_first))) {
            skip_item(p, start);
        }
        is_first = false;
        if (grout_parser__is_out_of_memory(p)) {
            return;
        }
    }
    grout_string_id lead = grout_parser__take_lead(p, is_first);
    if (lead != 0) {
        grout_trivia trivia = {lead, 0};
        p->module->end_trivia = grout_table__push(&p->module->trivia, &trivia);
        p->module->failed |= p->module->end_trivia == 0;
    }
}
