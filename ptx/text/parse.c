/* parse.c - a text of PTX: what stands outside of bodies. PTX ISA 9.1, chapters 4, 5 and 11.
 * SPDX-License-Identifier: Apache-2.0 */
#include "goes_on.h"
#include "parser.h"

#include <string.h>

enum { TOKEN_WORK = 16 }; /* as pulse.h counts it */

/* Nothing more is read. */
static bool end_reading(ptx_parser *parser) {
    parser->is_failed = true;
    parser->is_over = true;
    parser->token = (ptx_token){
        .kind = PTX_TOKEN_END, .text = parser->reader.end, .place = parser->token.place};
    return false;
}

void grout_ptx__advance(ptx_parser *parser) {
    if (grout_pulse__goes_on(&parser->pulse, TOKEN_WORK)) {
        parser->token = grout_ptx__read_token(&parser->reader);
    } else {
        (void)end_reading(parser);
    }
}

bool grout_ptx__is_mark(const ptx_parser *parser, char mark) {
    return parser->token.kind == PTX_TOKEN_MARK && parser->token.mark == mark;
}

bool grout_ptx__is_word(const ptx_parser *parser, const char *text) {
    const ptx_token *token = &parser->token;
    return token->kind == PTX_TOKEN_WORD && token->size == strlen(text) &&
           memcmp(token->text, text, token->size) == 0;
}

bool grout_ptx__accept(ptx_parser *parser, char mark) {
    bool is_next = grout_ptx__is_mark(parser, mark);
    if (is_next) {
        grout_ptx__advance(parser);
    }
    return is_next;
}

bool grout_ptx__expect(ptx_parser *parser, char mark, const char *where) {
    if (grout_ptx__accept(parser, mark)) {
        return true;
    }
    if (parser->token.kind == PTX_TOKEN_END) {
        return grout_ptx__refuse(parser, parser->token.place, "the text ends where '%c' should %s",
                                 mark, where);
    }
    return grout_ptx__refuse(parser, parser->token.place, "'%c' should %s, not '%.*s'", mark, where,
                             ptx_shown(parser->token.size), parser->token.text);
}

static bool fail(ptx_parser *parser, grout_diag_code code, ptx_place place, const char *format,
                 va_list arguments) {
    parser->is_failed = true;
    if (parser->is_over) {
        return false; /* it is said already why */
    }
    return grout_diags_add_list(parser->diags, code, grout_ptx__get_place(parser->module, place),
                                format, arguments);
}

bool grout_ptx__refuse(ptx_parser *parser, ptx_place place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(parser, GROUT_DIAG_PTX_SYNTAX, place, format, arguments);
    va_end(arguments);
    return false;
}

bool grout_ptx__refuse_unknown(ptx_parser *parser, ptx_place place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(parser, GROUT_DIAG_PTX_UNSUPPORTED, place, format, arguments);
    va_end(arguments);
    return false;
}

bool grout_ptx__fail_oom(ptx_parser *parser) {
    (void)grout_diags_add_oom(parser->diags);
    return end_reading(parser);
}

uint32_t grout_ptx__add_name(ptx_parser *parser, const char *text, size_t size) {
    grout_ptx_module *module = parser->module;
    if (!PTX_ROOM_FOR(parser, &module->names, size + 1)) {
        return PTX_NO_ID;
    }
    uint32_t name = (uint32_t)module->names.count;
    memcpy(module->names.items + name, text, size);
    module->names.items[name + size] = '\0';
    module->names.count += size + 1;
    return name;
}

bool grout_ptx__read_count(ptx_parser *parser, uint64_t most, uint64_t *value_out,
                           const char *what) {
    ptx_token token = parser->token;
    if (token.kind != PTX_TOKEN_NUMBER || token.is_float || token.bits > most) {
        return grout_ptx__refuse(parser, token.place, "%s should be a number from 0 to %llu", what,
                                 (unsigned long long)most);
    }
    *value_out = token.bits;
    grout_ptx__advance(parser);
    return true;
}

static bool read_name(ptx_parser *parser, uint32_t *name_out, ptx_token *token_out) {
    *token_out = parser->token;
    if (token_out->kind != PTX_TOKEN_NAME) {
        return grout_ptx__refuse(parser, token_out->place, "a name should stand here");
    }
    grout_ptx__advance(parser);
    *name_out = grout_ptx__add_name(parser, token_out->text, token_out->size);
    return *name_out != PTX_NO_ID;
}

/* One to four digits from *text on, and moves it past them. */
static bool read_digits(const char **text, const char *end, uint32_t *value_out) {
    const char *start = *text;
    *value_out = 0;
    while (*text < end && **text >= '0' && **text <= '9' && *text - start < 4) {
        *value_out = *value_out * 10 + (uint32_t)(*(*text)++ - '0');
    }
    return *text > start;
}

/* .version 9.0: the token is a float whose text has both numbers. */
static bool parse_version(ptx_parser *parser) {
    grout_ptx_module *module = parser->module;
    grout_ptx__advance(parser);
    ptx_token token = parser->token;
    const char *text = token.text, *end = text + token.size;
    if (token.kind != PTX_TOKEN_NUMBER || !read_digits(&text, end, &module->version_major) ||
        text == end || *text++ != '.' || !read_digits(&text, end, &module->version_minor) ||
        text != end) {
        return grout_ptx__refuse(parser, token.place, "a version is two numbers, as 9.0");
    }
    parser->has_version = true;
    grout_ptx__advance(parser);
    return true;
}

/* .target sm_90a, debug */
static bool parse_target(ptx_parser *parser) {
    ptx_token token;
    uint32_t name = 0;
    grout_ptx__advance(parser);
    if (!read_name(parser, &parser->module->target, &token)) {
        return false;
    }
    while (grout_ptx__accept(parser, ',')) {
        if (!read_name(parser, &name, &token)) {
            return false;
        }
    }
    parser->has_target = true;
    return true;
}

/* .section .debug_info { .. } */
static bool skip_section(ptx_parser *parser) {
    grout_ptx__advance(parser);
    grout_ptx__advance(parser);
    if (!grout_ptx__expect(parser, '{', "begin the section")) {
        return false;
    }
    while (!grout_ptx__is_mark(parser, '}') && parser->token.kind != PTX_TOKEN_END) {
        grout_ptx__advance(parser);
    }
    return grout_ptx__expect(parser, '}', "end the section");
}

/* (.param .b32 a, .param .align 8 .b8 b[16]) */
static bool parse_parameters(ptx_parser *parser) {
    grout_ptx__advance(parser);
    if (grout_ptx__accept(parser, ')')) {
        return true;
    }
    do {
        if (grout_ptx__is_word(parser, "reg")) {
            return grout_ptx__refuse_unknown(parser, parser->token.place,
                                             "parameters in registers are not known: .param is");
        }
        if (!grout_ptx__is_space(parser)) {
            return grout_ptx__refuse(parser, parser->token.place,
                                     "a parameter begins with '.param'");
        }
        if (!grout_ptx__parse_variable(parser, false, true)) {
            return false;
        }
    } while (grout_ptx__accept(parser, ','));
    return grout_ptx__expect(parser, ')', "end the parameters");
}

/* Up to three numbers: .maxntid 128, 1, 1 */
static bool parse_numbers(ptx_parser *parser, uint32_t *numbers, uint32_t most) {
    grout_ptx__advance(parser);
    for (uint32_t i = 0; i < most; i++) {
        uint64_t value = 0;
        if (!grout_ptx__read_count(parser, UINT32_MAX, &value,
                                   "what a performance directive says")) {
            return false;
        }
        numbers[i] = (uint32_t)value;
        if (i + 1 == most || !grout_ptx__accept(parser, ',')) {
            for (i++; i < most; i++) {
                numbers[i] = 1;
            }
        }
    }
    return true;
}

/* A directive between the parameters and the body; false also if it is none. */
static bool parse_performance(ptx_parser *parser, ptx_function *function) {
    uint32_t ignored = 0;
    if (grout_ptx__is_word(parser, "maxntid")) {
        return parse_numbers(parser, function->max_threads, 3);
    }
    if (grout_ptx__is_word(parser, "reqntid")) {
        return parse_numbers(parser, function->needed_threads, 3);
    }
    if (grout_ptx__is_word(parser, "reqnctapercluster")) {
        return parse_numbers(parser, function->cluster, 3);
    }
    if (grout_ptx__is_word(parser, "minnctapersm")) {
        return parse_numbers(parser, &function->min_ctas, 1);
    }
    if (grout_ptx__is_word(parser, "maxnreg")) {
        return parse_numbers(parser, &function->max_registers, 1);
    }
    if (grout_ptx__is_word(parser, "maxnctapersm") ||
        grout_ptx__is_word(parser, "maxclusterrank")) {
        return parse_numbers(parser, &ignored, 1);
    }
    if (grout_ptx__is_word(parser, "explicitcluster") || grout_ptx__is_word(parser, "noreturn")) {
        function->is_cluster_explicit |= grout_ptx__is_word(parser, "explicitcluster");
        grout_ptx__advance(parser);
        return true;
    }
    if (grout_ptx__skip_directive(parser)) {
        return !parser->is_failed;
    }
    return grout_ptx__refuse(parser, parser->token.place,
                             "'.%.*s' is not a directive of a function",
                             ptx_shown(parser->token.size), parser->token.text);
}

/* A function again: its prototype came before. The names of its parameters are those of the body.
 */
static bool add_function(ptx_parser *parser, const ptx_function *function, const ptx_token *name) {
    grout_ptx_module *module = parser->module;
    bool is_oom = false;
    ptx_symbol known = grout_ptx__find_symbol(&parser->scopes, 0, name->text, name->size);
    if (known.meaning == PTX_MEANS_FUNCTION && !module->functions.items[known.id].has_body) {
        parser->function = known.id;
        module->functions.items[known.id] = *function;
        return true;
    }
    ptx_symbol symbol = {.text = name->text,
                         .size = name->size,
                         .meaning = PTX_MEANS_FUNCTION,
                         .id = (uint32_t)module->functions.count};
    if (grout_ptx__declare(&parser->scopes, symbol, &is_oom) == NULL) {
        return is_oom ? grout_ptx__fail_oom(parser)
                      : grout_ptx__refuse(parser, name->place, "'%.*s' is declared already",
                                          ptx_shown(name->size), name->text);
    }
    if (!PTX_ROOM(parser, &module->functions)) {
        return false;
    }
    parser->function = (uint32_t)module->functions.count;
    module->functions.items[module->functions.count++] = *function;
    return true;
}

/* Each at the next multiple of its alignment. */
static void place_parameters(ptx_parser *parser, uint32_t first) {
    grout_ptx_module *module = parser->module;
    uint64_t offset = 0;
    for (uint32_t i = first; i < module->variables.count; i++) {
        ptx_variable *variable = &module->variables.items[i];
        variable->function = parser->function;
        variable->offset = (offset + variable->align - 1) / variable->align * variable->align;
        offset = variable->offset + variable->size;
    }
}

/* From its name to its body or semicolon. The parameters are in a scope of the function's own. */
static bool parse_function_from_name(ptx_parser *parser, ptx_function *function) {
    grout_ptx_module *module = parser->module;
    ptx_token name;
    if (!read_name(parser, &function->name, &name)) {
        return false;
    }
    function->place = name.place;
    if (!add_function(parser, function, &name)) {
        return false;
    }
    parser->outer_symbols = parser->scopes.symbols.count;
    uint32_t first = function->first_parameter;
    if (grout_ptx__is_mark(parser, '(') && !parse_parameters(parser)) {
        return false;
    }
    function->first_parameter = first;
    function->parameter_count = (uint32_t)module->variables.count - first;
    place_parameters(parser, first);
    while (parser->token.kind == PTX_TOKEN_WORD) {
        if (!parse_performance(parser, function)) {
            return false;
        }
    }
    function->has_body = grout_ptx__is_mark(parser, '{');
    module->functions.items[parser->function] = *function;
    return function->has_body ? grout_ptx__parse_body(parser)
                              : grout_ptx__expect(parser, ';', "end the prototype");
}

/* .entry name (..) { .. }, .func (..) name (..) { .. } */
static bool parse_function(ptx_parser *parser) {
    grout_ptx_module *module = parser->module;
    ptx_function function = {.is_entry = grout_ptx__is_word(parser, "entry"),
                             .first_parameter = (uint32_t)module->variables.count,
                             .first_register = (uint32_t)module->registers.count,
                             .first_inst = (uint32_t)module->insts.count};
    grout_ptx__advance(parser);
    parser->scope = grout_ptx__open_scope(&parser->scopes, 0);
    if (parser->scope == PTX_NO_ID) {
        return grout_ptx__fail_oom(parser);
    }
    if (grout_ptx__is_word(parser, "attribute")) {
        return grout_ptx__refuse_unknown(parser, parser->token.place,
                                         "attributes of functions are not known");
    }
    if (!function.is_entry && grout_ptx__is_mark(parser, '(') && !parse_parameters(parser)) {
        return false;
    }
    function.result_count = (uint32_t)module->variables.count - function.first_parameter;
    return parse_function_from_name(parser, &function);
}

/* .visible .entry .., .extern .shared .., .global .. */
static bool parse_declaration(ptx_parser *parser) {
    bool is_extern = false;
    ptx_place place = parser->token.place;
    while (grout_ptx__is_word(parser, "visible") || grout_ptx__is_word(parser, "extern") ||
           grout_ptx__is_word(parser, "weak") || grout_ptx__is_word(parser, "common")) {
        is_extern |= grout_ptx__is_word(parser, "extern");
        grout_ptx__advance(parser);
    }
    if (grout_ptx__is_word(parser, "entry") || grout_ptx__is_word(parser, "func")) {
        parser->outer_symbols = SIZE_MAX;
        bool is_right = parse_function(parser);
        grout_ptx__forget_symbols(&parser->scopes, parser->outer_symbols);
        parser->scope = 0;
        parser->function = PTX_NO_ID;
        return is_right;
    }
    if (grout_ptx__is_space(parser)) {
        return grout_ptx__parse_variable(parser, is_extern, false);
    }
    return grout_ptx__refuse(parser, place, "neither a function, nor a variable, nor a directive");
}

static bool parse_statement(ptx_parser *parser) {
    if (grout_ptx__is_word(parser, "version")) {
        return parse_version(parser);
    }
    if (grout_ptx__is_word(parser, "target")) {
        return parse_target(parser);
    }
    if (grout_ptx__is_word(parser, "address_size")) {
        uint64_t bits = 0;
        ptx_place place = parser->token.place;
        grout_ptx__advance(parser);
        return grout_ptx__read_count(parser, 64, &bits, "the size of an address") &&
               (bits == 64 || grout_ptx__refuse_unknown(parser, place, "addresses have 64 bits"));
    }
    if (grout_ptx__is_word(parser, "section")) {
        return skip_section(parser);
    }
    if (grout_ptx__skip_directive(parser)) {
        return !parser->is_failed;
    }
    return parse_declaration(parser);
}

/* After a failure outside of a body: the next function or the end. */
static void recover(ptx_parser *parser) {
    do {
        grout_ptx__advance(parser);
    } while (parser->token.kind != PTX_TOKEN_END && !grout_ptx__is_word(parser, "entry") &&
             !grout_ptx__is_word(parser, "func"));
    parser->scope = 0;
    parser->depth = 0;
    parser->function = PTX_NO_ID;
}

/* A module has a version and a target (PTX ISA, "PTX Module Directives"): without them nobody knows
 * what the rest means. */
static bool check_header(ptx_parser *parser) {
    if (parser->is_failed || (parser->has_version && parser->has_target)) {
        return !parser->is_failed;
    }
    return grout_ptx__refuse(parser, parser->token.place,
                             "the text ends without a '%s': is it PTX, and all of it?",
                             parser->has_version ? ".target" : ".version");
}

static bool begin_module(ptx_parser *parser, const char *file, const char *text, size_t size) {
    grout_ptx_module *module = parser->module;
    const grout_allocator *allocator = ptx_module_allocator(module);
    module->file = grout__copy(allocator, file, strlen(file));
    module->text = grout__copy(allocator, text, size);
    module->text_size = size;
    if (module->file == NULL || module->text == NULL ||
        !grout_ptx__init_scopes(&parser->scopes, allocator)) {
        return grout_ptx__fail_oom(parser);
    }
    parser->reader = (ptx_reader){module->text, module->text + size, module->text, 1};
    return grout_diags_add_source(parser->diags, file, text, size) &&
           grout_ptx__add_name(parser, "", 0) != PTX_NO_ID;
}

static void parse_text(ptx_parser *parser) {
    grout_ptx__advance(parser);
    while (parser->token.kind != PTX_TOKEN_END) {
        if (!parse_statement(parser)) {
            recover(parser);
        }
    }
    if (check_header(parser) && !grout_ptx__index_entries(parser->module)) {
        (void)grout_ptx__fail_oom(parser);
    }
}

/* Why the parsing was ended that a bound has ended, beside what is said already. */
static void explain_end(const ptx_parser *parser) {
    const grout_limited *limited = &parser->module->limited;
    if (parser->is_over && limited->is_reached) {
        grout_diags_help(
            parser->diags,
            "the module may take %llu bytes (max_memory); %zu of %zu bytes of its text "
            "were read",
            (unsigned long long)limited->limit, (size_t)(parser->reader.at - parser->module->text),
            parser->module->text_size);
    }
    if (parser->pulse.is_over && !grout_diags__has_ended(parser->diags)) {
        grout_diags_add(parser->diags, GROUT_DIAG_INTERRUPTED,
                        grout_ptx__get_place(parser->module, parser->token.place),
                        "the progress callback has ended the parsing");
    }
}

/* The list of diagnostics, and the callback. */
static bool ask_bounds(void *payload) {
    const ptx_parser *parser = payload;
    if (!grout_diags__ask(parser->diags, "the PTX was read")) {
        return false;
    }
    if (parser->bounds->progress == NULL) {
        return true;
    }
    const grout_progress progress = {.steps = (uint64_t)(parser->reader.at - parser->module->text)};
    return parser->bounds->progress(parser->bounds->payload, &progress);
}

static grout_ptx_module *new_module(const grout_ptx_bounds *bounds) {
    grout_ptx_module *module = grout__new(bounds->allocator, 1, sizeof *module);
    if (module != NULL) {
        grout_limited__init(&module->limited, bounds->allocator, bounds->max_memory);
    }
    return module;
}

grout_ptx_module *grout_ptx_parse_within(const char *file, const char *text, size_t size,
                                         const grout_ptx_bounds *bounds, grout_diags *diags) {
    static const grout_ptx_bounds none = {.allocator = NULL};
    file = file != NULL ? file : "<ptx>";
    size = text != NULL ? size : 0;
    bounds = bounds != NULL ? bounds : &none;
    ptx_parser parser = {.module = new_module(bounds),
                         .bounds = bounds,
                         .diags = diags,
                         .pulse = {.goes_on = ask_bounds, .payload = &parser},
                         .function = PTX_NO_ID};
    if (parser.module == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    bool is_fitting = size <= UINT32_MAX / 2; /* places are 32-bit offsets */
    bool is_begun = begin_module(&parser, file, text, is_fitting ? size : 0);
    if (is_begun && !is_fitting) {
        (void)grout_ptx__refuse(&parser, (ptx_place){0}, "a text has at most 2 GiB");
    } else if (is_begun) {
        parse_text(&parser);
    }
    explain_end(&parser);
    grout_ptx__deinit_scopes(&parser.scopes);
    grout__free(parser.references.items);
    grout__free(parser.stack.items);
    if (!is_begun || parser.is_failed || parser.pulse.is_over) {
        grout_ptx_module_free(parser.module);
        return NULL;
    }
    return parser.module;
}
