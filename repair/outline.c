/* outline.c - reads the lines of a kernel.
 *
 * The module knows the kernel, but a repair is made of lines: what is on one line, and what can be
 * put between two, is seen from the text. What is wrongly read costs a try that fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outline.h"

#include "array.h"

#include <string.h>

/* Lines that are looked at before and after one, and above a line for the names that it can use. */
#define LOOKED_MAX 1000u
#define ABOVE_MAX  4096u
/* Barriers and the like of a file that are told apart. */
#define OBJECTS_MAX 256u

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static grout_span take_word(grout_span *text) {
    grout_span word = {text->data, 0};
    while (word.size < text->size && is_word(text->data[word.size])) {
        word.size++;
    }
    *text = grout_span__trim((grout_span){text->data + word.size, text->size - word.size});
    return word;
}

grout_span grout_span__get_name(grout_span text) {
    size_t size = 1;
    if (text.size < 2 || text.data[0] != '%') {
        return (grout_span){text.data, 0};
    }
    while (size < text.size && is_word(text.data[size])) {
        size++;
    }
    return (grout_span){text.data, size};
}

bool grout_span__has_name(grout_span text, grout_span name) {
    for (size_t i = 0; name.size > 0 && i + name.size <= text.size; i++) {
        if (memcmp(text.data + i, name.data, name.size) == 0 &&
            (i + name.size == text.size || !is_word(text.data[i + name.size]))) {
            return true;
        }
    }
    return false;
}

grout_span grout_span__take_operand(grout_span *text) {
    size_t depth = 0, size = 0;
    for (; size < text->size && (depth > 0 || text->data[size] != ','); size++) {
        depth += strchr("([{", text->data[size]) != NULL ? 1u : 0u;
        depth -= depth > 0 && strchr(")]}", text->data[size]) != NULL ? 1u : 0u;
    }
    grout_span operand = grout_span__trim((grout_span){text->data, size});
    size += size < text->size ? 1u : 0u;
    *text = grout_span__trim((grout_span){text->data + size, text->size - size});
    return operand;
}

/* ---- declarations --------------------------------------------------------------------------- */

static bool add_object(grout_outline *outline, grout_span name, grout_sync_object kind) {
    if (outline->objects.count == OBJECTS_MAX) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&outline->objects, NULL, 1)) {
        return false;
    }
    outline->objects.items[outline->objects.count++] = (grout_outline_object){name, kind};
    return true;
}

/* "%full : barrier[STAGES] arrivals(2)" */
static bool read_declaration(grout_outline *outline, grout_span text) {
    static const struct {
        const char *type;
        grout_sync_object kind;
    } kinds[] = {
        {"barrier", GROUT_SYNC_OBJECT_BARRIER},
        {"mbarrier", GROUT_SYNC_OBJECT_MBARRIER},
        {"semaphore", GROUT_SYNC_OBJECT_SEMAPHORE},
    };
    grout_span name = grout_span__get_name(text);
    text = grout_span__trim((grout_span){text.data + name.size, text.size - name.size});
    if (name.size == 0 || !grout_span__take(&text, ":")) {
        return true;
    }
    for (grout_span word = take_word(&text); word.size > 0; word = take_word(&text)) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            if (grout_span__is(word, kinds[i].type)) {
                return add_object(outline, name, kinds[i].kind);
            }
        }
    }
    return true;
}

/* Parameters, or what a scope owns, several on a line: "%a: in gmem f32[N], %s: inout
 * semaphore[4])". */
static bool read_parameters(grout_outline *outline, grout_span text) {
    bool is_good = true;
    for (size_t i = 0; i < text.size && is_good; i++) {
        grout_span rest = {text.data + i, text.size - i};
        is_good = text.data[i] != '%' || read_declaration(outline, rest);
    }
    return is_good;
}

/* ---- statements ----------------------------------------------------------------------------- */

const grout_outline_object *grout_outline__find_object(const grout_outline *outline,
                                                       grout_span text) {
    grout_span name = grout_span__get_name(text);
    for (size_t i = 0; i < outline->objects.count && name.size > 0; i++) {
        if (grout_span__is_equal(outline->objects.items[i].name, name)) {
            return &outline->objects.items[i];
        }
    }
    return NULL;
}

static grout_span find_object_operand(const grout_outline *outline, grout_span operands) {
    while (operands.size > 0) {
        grout_span operand = grout_span__take_operand(&operands);
        if (grout_outline__find_object(outline, operand) != NULL) {
            size_t size = 0, depth = 0;
            while (size < operand.size && (depth > 0 || operand.data[size] != ' ')) {
                depth += strchr("[(", operand.data[size]) != NULL ? 1u : 0u;
                depth -= depth > 0 && strchr("])", operand.data[size]) != NULL ? 1u : 0u;
                size++;
            }
            return (grout_span){operand.data, size}; /* without "count(2)" */
        }
    }
    return (grout_span){"", 0};
}

static void read_statement(const grout_outline *outline, grout_span code,
                           grout_outline_line *line) {
    grout_span name = grout_span__get_name(code);
    grout_span rest = grout_span__trim((grout_span){code.data + name.size, code.size - name.size});
    line->has_result = name.size > 0 && grout_span__take(&rest, "=");
    code = line->has_result ? rest : code;
    line->mnemonic = take_word(&code);
    line->operands = code;
    grout_opcode opcode = grout_op_find(line->mnemonic.data, line->mnemonic.size);
    line->sync = opcode == 0 ? NULL : grout_op_get_sync(opcode);
    line->object = find_object_operand(outline, code);
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* Where the reader stands between two lines. */
typedef struct reader {
    const char *kernel;
    uint32_t role, role_count;
    size_t role_braces;    /* that were open before the role's first */
    bool is_other;         /* in a kernel that is not looked at */
    size_t braces, parens; /* that are open */
} reader;

static void step_over(reader *it, grout_span code) {
    bool is_string = false;
    for (size_t i = 0; i < code.size; i++) {
        char c = code.data[i];
        is_string = c == '"' ? !is_string : is_string;
        if (is_string) {
            continue;
        }
        it->braces += c == '{' ? 1u : 0u;
        it->braces -= c == '}' && it->braces > 0 ? 1u : 0u;
        it->parens += c == '(' || c == '[' ? 1u : 0u;
        it->parens -= (c == ')' || c == ']') && it->parens > 0 ? 1u : 0u;
    }
}

/* Branches are how threads part: the outermost one that opens here, if the line is one. */
static void step_into_role(reader *it, grout_span code) {
    const char *const words[] = {"if ", "} else", "} partition",
                                 grout_op_get_info(GROUT_OP_WARP_SPECIALIZE)->text, "if("};
    size_t braces = it->braces - (code.data[0] == '}' && it->braces > 0 ? 1u : 0u);
    if (it->role != 0 && braces <= it->role_braces) {
        it->role = 0;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0] && it->role == 0; i++) {
        grout_span rest = code;
        if (code.data[code.size - 1] == '{' && grout_span__take(&rest, words[i])) {
            it->role = ++it->role_count;
            it->role_braces = braces;
        }
    }
}

static bool is_kernel(grout_span code, const char *name) {
    if (!grout_span__take(&code, "@")) {
        return false;
    }
    return grout_span__is(take_word(&code), name);
}

/* Outside of all braces: the head of a kernel or of a function. */
static bool read_head(grout_outline *outline, reader *it, grout_span code) {
    if (grout_span__take(&code, "kernel ")) {
        it->is_other = it->kernel != NULL && !is_kernel(code, it->kernel);
    }
    if (it->is_other) {
        return true;
    }
    for (size_t i = 0; i + 8 <= code.size; i++) {
        grout_span rest = {code.data + i, code.size - i};
        if (grout_span__take(&rest, "cluster(")) {
            outline->has_cluster = true;
            outline->cluster_axis = take_word(&rest);
        }
    }
    return read_parameters(outline, code);
}

static bool read_line(grout_outline *outline, reader *it, size_t index) {
    grout_span code = outline->lines->items[index].code;
    grout_outline_line *line = &outline->items[index];
    const grout_span none = {"", 0};
    bool is_good = true;
    *line = (grout_outline_line){
        .depth = it->braces, .mnemonic = none, .operands = none, .object = none};
    if (code.size > 0 && it->braces == 0) {
        is_good = read_head(outline, it, code);
    } else if (code.size > 0 && !it->is_other && it->parens == 0) {
        grout_span rest = code;
        step_into_role(it, code);
        line->role = it->role;
        reader after = *it;
        step_over(&after, code);
        line->is_scratch = grout_span__take(&rest, "scratch ");
        line->is_place = !line->is_scratch;
        is_good = line->is_scratch                     ? read_declaration(outline, rest)
                  : grout_span__take(&rest, "scoped(") ? read_parameters(outline, rest)
                                                       : true;
        line->is_statement = !line->is_scratch && code.data[0] != '}' &&
                             after.braces == it->braces && after.parens == 0;
        if (line->is_statement) {
            read_statement(outline, code, line);
        }
    }
    step_over(it, code);
    return is_good;
}

bool grout_outline__init(grout_outline *outline, const grout_text_lines *lines, const char *kernel,
                         const grout_deadline *deadline) {
    reader it = {.kernel = kernel};
    bool is_good = true;
    *outline = (grout_outline){.lines = lines,
                               .end = lines->count,
                               .deadline = deadline,
                               .items = grout__new(NULL, lines->count, sizeof outline->items[0])};
    for (size_t i = 0; i < lines->count && outline->items != NULL && is_good; i++) {
        is_good = read_line(outline, &it, i);
    }
    return outline->items != NULL && is_good;
}

void grout_outline__look_at(grout_outline *outline, size_t line) {
    const size_t count = outline->lines->count;
    outline->first = line > LOOKED_MAX ? line - LOOKED_MAX : 0;
    outline->end = count > LOOKED_MAX && line < count - LOOKED_MAX ? line + LOOKED_MAX : count;
    outline->first = outline->first < outline->end ? outline->first : outline->end;
}

bool grout_outline__goes_on(const grout_outline *outline) {
    return grout_deadline__find_cut(outline->deadline) == GROUT_CUT_NONE;
}

void grout_outline__deinit(grout_outline *outline) {
    grout__free(outline->items);
    grout__free(outline->objects.items);
    *outline = (grout_outline){0};
}

/* ---- names ---------------------------------------------------------------------------------- */

static void add_names(grout_span code, bool is_all, grout_outline_names *out) {
    for (size_t i = 0; i < code.size && (is_all || i == 0); i++) {
        grout_span name = grout_span__get_name((grout_span){code.data + i, code.size - i});
        if (name.size > 0 && out->count < sizeof out->items / sizeof out->items[0]) {
            out->items[out->count++] = name;
        }
    }
}

/* Upwards: a line of an open block, or of one around it, gives its result; a line that opens one of
 * them gives all its names, for some belong to the block. */
void grout_outline__find_names(const grout_outline *outline, size_t line,
                               grout_outline_names *out) {
    size_t depth = outline->items[line].depth;
    out->count = 0;
    for (size_t i = line, last = line > ABOVE_MAX ? line - ABOVE_MAX : 0; i-- > last;) {
        grout_span code = outline->lines->items[i].code;
        const grout_outline_line *one = &outline->items[i];
        if (code.size > 0 && one->depth <= depth) {
            grout_span rest = code;
            bool is_open = one->depth < depth || one->depth == 0;
            (void)grout_span__take(&rest, "scratch ");
            add_names(is_open ? code : rest, is_open, out);
            depth = one->depth > 0 ? one->depth : depth;
        }
    }
}

bool grout_outline_names__have(const grout_outline_names *names, grout_span text) {
    for (size_t i = 0; i < text.size; i++) {
        grout_span name = grout_span__get_name((grout_span){text.data + i, text.size - i});
        bool is_known = name.size == 0;
        for (size_t k = 0; k < names->count && !is_known; k++) {
            is_known = grout_span__is_equal(names->items[k], name);
        }
        if (!is_known) {
            return false;
        }
    }
    return true;
}

grout_span grout_span__find_attribute(grout_span code, const char *word) {
    const size_t size = strlen(word);
    for (size_t i = 0; i + size + 2 < code.size; i++) {
        const char *end = memchr(code.data + i, ')', code.size - i);
        if (code.data[i] == ' ' && memcmp(code.data + i + 1, word, size) == 0 &&
            code.data[i + 1 + size] == '(' && end != NULL) {
            return (grout_span){code.data + i, (size_t)(end - code.data) + 1 - i};
        }
    }
    return (grout_span){"", 0};
}

grout_span grout_outline__find_attribute(const grout_outline *outline, const char *word) {
    grout_span found = {"", 0};
    for (size_t i = outline->first; i < outline->end && found.size == 0; i++) {
        if (outline->items[i].is_statement) {
            found = grout_span__find_attribute(outline->lines->items[i].code, word);
        }
    }
    return found;
}
