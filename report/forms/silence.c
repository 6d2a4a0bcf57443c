/* silence.c - reads and applies the rules that silence findings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "silence.h"

#include "array.h"
#include "comments.h"
#include "hash.h"
#include "invariant.h"
#include "suggest.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((uint64_t)64 << 20)

static const char OWN_COMMENT[] = "// allow";

/* ---- rules ---------------------------------------------------------------------------------- */

static char *copy(grout_span text) {
    char *to = malloc(text.size + 1);
    if (to != NULL) {
        memcpy(to, text.data, text.size);
        to[text.size] = '\0';
    }
    return to;
}

static grout_span span_of(const char *text) {
    return (grout_span){text, strlen(text)};
}

/* Adds a copy of a rule whose strings are borrowed; file.data NULL: any. */
static bool add(grout_silencer *silencer, const grout_allowance *rule, grout_span file,
                grout_span reason) {
    if (!GROUT_ARRAY_RESERVE(silencer, NULL, 1)) {
        return false;
    }
    GROUT_ASSERT(silencer->count < silencer->capacity && rule->by != NULL);
    grout_allowance *item = &silencer->items[silencer->count++];
    *item = *rule;
    item->by = copy(span_of(rule->by));
    item->reason = copy(reason);
    item->file = file.data == NULL ? NULL : copy(file);
    return item->by != NULL && item->reason != NULL && (file.data == NULL || item->file != NULL);
}

void grout_silencer__deinit(grout_silencer *silencer) {
    for (size_t i = 0; i < silencer->count; i++) {
        free(silencer->items[i].file);
        free(silencer->items[i].by);
        free(silencer->items[i].reason);
    }
    grout__free(silencer->items);
    grout_lookup__deinit(&silencer->first);
    *silencer = (grout_silencer){0};
}

/* The next word, up to a blank. */
static grout_span take_word(grout_span *text) {
    size_t size = 0;
    while (size < text->size && strchr(" \t", text->data[size]) == NULL) {
        size++;
    }
    grout_span word = {text->data, size};
    *text = grout_span__trim((grout_span){text->data + size, text->size - size});
    return word;
}

static grout_diag_code find_code(grout_span word) {
    char code[64] = "";
    if (word.size < sizeof code) {
        memcpy(code, word.data, word.size);
    }
    return grout_diag_find(code);
}

static void help_code(grout_session *session, grout_span word) {
    char code[64] = "";
    if (word.size < sizeof code) {
        memcpy(code, word.data, word.size);
    }
    grout_suggestion suggestion = grout_suggest__begin_command(code);
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_diag_get((grout_diag_code)i)->text);
    }
    grout_session__help_near(session, suggestion.best, "'grout explain' lists the codes");
}

/* Whether a code may be silenced: a finding, not an invalid kernel or a limit. False: a diagnostic.
 */
static bool check_code(grout_session *session, grout_place place, grout_span word) {
    grout_diag_code code = find_code(word);
    int size = (int)(word.size < 100 ? word.size : 100);
    if (code == GROUT_DIAG_NONE) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_SUPPRESSION, place,
                        "there is no code '%.*s'", size, word.data);
        help_code(session, word);
        return false;
    }
    return (grout_diag_get(code)->stage == GROUT_STAGE_RUN && code != GROUT_DIAG_STEP_LIMIT) ||
           grout_diags_add(session->diags, GROUT_DIAG_BAD_SUPPRESSION, place,
                           "'%.*s' is not a finding of a run: it cannot be silenced", size,
                           word.data);
}

/* ---- the kernel file ------------------------------------------------------------------------ */

/* CODE[, CODE] REASON */
static bool read_allow(grout_silencer *silencer, grout_session *session, const char *name,
                       const grout_comment *comment) {
    grout_span text = comment->text;
    (void)grout_span__take(&text, "allow:");
    grout_place place = {.file = name, .line = comment->line, .column = 1, .length = 1};
    grout_span codes[16];
    size_t count = 0;
    bool goes_on = true;
    while (goes_on && count < sizeof codes / sizeof codes[0]) {
        grout_span word = take_word(&text);
        goes_on = word.size > 0 && word.data[word.size - 1] == ',';
        word.size -= goes_on ? 1u : 0u;
        codes[count++] = word;
        if (!check_code(session, place, word)) {
            return false;
        }
    }
    if (text.size == 0 || comment->code_line == 0) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_SUPPRESSION, place,
                        text.size == 0 ? "an allow comment without a reason"
                                       : "no code follows this allow comment");
        grout_diags_help(session->diags,
                         "write '// allow: CODE why this is right here', at the end of the "
                         "line that the finding points to or above it");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        grout_allowance rule = {
            .code = find_code(codes[i]), .line = comment->code_line, .by = (char *)OWN_COMMENT};
        if (!add(silencer, &rule, span_of(name), text)) {
            return grout_diags_add_oom(session->diags);
        }
    }
    return true;
}

static bool read_comments(grout_silencer *silencer, grout_session *session, const char *name,
                          const grout_bytes *text) {
    grout_comments comments;
    bool is_good = grout_comments__init(&comments, text->data, text->size) ||
                   grout_diags_add_oom(session->diags);
    for (size_t i = 0; i < comments.count; i++) {
        grout_span at = comments.items[i].text;
        if (grout_span__take(&at, "allow:")) {
            is_good = read_allow(silencer, session, name, &comments.items[i]) && is_good;
        }
    }
    grout_comments__deinit(&comments);
    return is_good;
}

/* ---- --suppress ----------------------------------------------------------------------------- */

/* FILE, FILE:LINE or '*', into a rule. */
static grout_span read_where(grout_span word, grout_allowance *rule) {
    size_t digits = 0;
    while (digits < word.size && strchr("0123456789", word.data[word.size - 1 - digits]) != NULL) {
        digits++;
    }
    if (digits > 0 && digits < 9 && digits < word.size &&
        word.data[word.size - 1 - digits] == ':') {
        for (size_t i = word.size - digits; i < word.size; i++) {
            rule->line = rule->line * 10 + (uint32_t)(word.data[i] - '0');
        }
        word.size -= digits + 1;
    }
    bool is_any = word.size == 1 && word.data[0] == '*';
    return is_any ? (grout_span){NULL, 0} : word;
}

/* CODE FILE[:LINE] REASON */
static bool read_rule(grout_silencer *silencer, grout_session *session, grout_place place,
                      grout_span line) {
    grout_span word = take_word(&line), where = take_word(&line);
    grout_text by = {0};
    if (!check_code(session, place, word)) {
        return false;
    }
    if (where.size == 0 || line.size == 0) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_SUPPRESSION, place,
                        "a rule needs a code, a file and a reason");
        grout_diags_help(session->diags,
                         "write 'CODE FILE:LINE why this is right there'; FILE alone "
                         "for all its lines, * for all files");
        return false;
    }
    grout_text_add(&by, "%s:%u", place.file, place.line);
    grout_allowance rule = {.code = find_code(word), .by = by.data};
    grout_span file = read_where(where, &rule);
    bool is_added = by.data != NULL && add(silencer, &rule, file, line);
    grout_text_free(&by);
    return is_added || grout_diags_add_oom(session->diags);
}

static bool read_rules(grout_silencer *silencer, grout_session *session, const char *path) {
    grout_bytes bytes = {0};
    bool is_good = grout_session__read_file(session, path, FILE_SIZE_MAX, &bytes);
    (void)grout_diags_add_source(session->diags, path, bytes.data == NULL ? "" : bytes.data,
                                 bytes.size);
    grout_span rest = {bytes.data, bytes.size};
    for (uint32_t number = 1; rest.size > 0; number++) {
        grout_span line = grout_span__split(&rest, '\n');
        grout_place place = {.file = path, .line = number, .column = 1, .length = 1};
        if (line.size > 0 && line.data[0] != '#') {
            is_good = read_rule(silencer, session, place, line) && is_good;
        }
    }
    free(bytes.data);
    return is_good;
}

/* ---- --baseline ----------------------------------------------------------------------------- */

static bool add_identities(grout_silencer *silencer, const json_t *findings, const char *by) {
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding) {
        const char *text = json_string_value(json_object_get(finding, "identity"));
        if (text == NULL || strlen(text) != 16) {
            continue;
        }
        grout_allowance rule = {.identity = strtoull(text, NULL, 16), .by = (char *)by};
        if (!add(silencer, &rule, (grout_span){NULL, 0}, span_of(""))) {
            return false;
        }
    }
    return true;
}

static bool read_baseline(grout_silencer *silencer, grout_session *session, const char *path) {
    grout_bytes bytes = {0};
    grout_text by = {0};
    if (!grout_session__read_file(session, path, FILE_SIZE_MAX, &bytes)) {
        return false;
    }
    json_t *root = json_loadb(bytes.data == NULL ? "" : bytes.data, bytes.size, 0, NULL);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    bool is_report = schema != NULL && strcmp(schema, "grout-report/1") == 0;
    grout_text_add(&by, "--baseline %s", path);
    bool is_good = is_report && by.data != NULL &&
                   add_identities(silencer, json_object_get(root, "findings"), by.data) &&
                   add_identities(silencer, json_object_get(root, "silenced"), by.data);
    if (!is_report) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_SUPPRESSION, grout_nowhere,
                        "'%s' is not a report of 'grout check --format json'", path);
    } else if (!is_good) {
        (void)grout_diags_add_oom(session->diags);
    }
    json_decref(root);
    grout_text_free(&by);
    free(bytes.data);
    return is_good;
}

/* ---- finding the rule of a finding ----------------------------------------------------------- */

/* The part of a path that a rule's file has to have in common with that of a finding. */
static uint64_t hash_base(const char *file) {
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    return grout_hash__bytes(1, base, strlen(base));
}

/* file NULL: any; line 0: any. */
static uint64_t make_key(grout_diag_code code, const char *file, uint32_t line) {
    uint64_t key = grout_hash__word((uint64_t)code, line);
    return grout_hash__word(key, file == NULL ? 0 : hash_base(file));
}

static uint64_t make_identity_key(uint64_t identity) {
    return grout_hash__word(GROUT_DIAG_NONE, identity);
}

/* Rules of one key are a list in their order. */
static bool add_to_lists(grout_silencer *silencer) {
    GROUT_ASSERT(silencer->count < UINT32_MAX);
    for (size_t i = silencer->count; i-- > 0;) {
        grout_allowance *rule = &silencer->items[i];
        uint64_t key = rule->code == GROUT_DIAG_NONE ? make_identity_key(rule->identity)
                                                     : make_key(rule->code, rule->file, rule->line);
        uint32_t *first = grout_lookup__at(&silencer->first, key);
        if (first == NULL) {
            return false;
        }
        rule->next = *first;
        *first = (uint32_t)i + 1;
    }
    return true;
}

/* A rule's file names the whole path or its end: 'ring.grout' for 'kernels/ring.grout'. */
static bool is_file(const char *wanted, const char *file) {
    size_t size = strlen(wanted), whole = strlen(file);
    return size <= whole && strcmp(file + whole - size, wanted) == 0 &&
           (size == whole || file[whole - size - 1] == '/');
}

static bool fits(const grout_allowance *rule, const grout_finding *finding) {
    if (rule->code == GROUT_DIAG_NONE) {
        return rule->identity == finding->identity;
    }
    return rule->code == finding->code &&
           (rule->file == NULL ||
            (finding->primary.file != NULL && is_file(rule->file, finding->primary.file))) &&
           (rule->line == 0 || rule->line == finding->primary.line);
}

/* The first rule of a key that fits, if it comes before another one; numbers from 1, 0: none. */
static uint32_t find_before(const grout_silencer *silencer, uint64_t key,
                            const grout_finding *finding, uint32_t other) {
    uint32_t number = grout_lookup__find(&silencer->first, key);
    while (number != 0 && !fits(&silencer->items[number - 1], finding)) {
        number = silencer->items[number - 1].next;
    }
    return number != 0 && (other == 0 || number < other) ? number : other;
}

const grout_allowance *grout_silencer__find(grout_silencer *silencer,
                                            const grout_finding *finding) {
    const char *file = finding->primary.file;
    const uint32_t line = finding->primary.line;
    const uint64_t keys[] = {make_identity_key(finding->identity), make_key(finding->code, NULL, 0),
                             make_key(finding->code, NULL, line), make_key(finding->code, file, 0),
                             make_key(finding->code, file, line)};
    uint32_t number = 0;
    for (size_t i = 0; silencer->count > 0 && i < sizeof keys / sizeof keys[0]; i++) {
        number = find_before(silencer, keys[i], finding, number);
    }
    if (number == 0) {
        return NULL;
    }
    silencer->items[number - 1].is_used = true;
    return &silencer->items[number - 1];
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Those that the caller has in memory. */
static bool add_given(grout_silencer *silencer, const grout_given *given) {
    bool is_good = true;
    for (size_t i = 0; given != NULL && i < given->allowances.count && is_good; i++) {
        const grout_given_allowance *from = &given->allowances.items[i];
        const grout_allowance rule = {
            .code = from->code, .line = from->line, .by = (char *)OWN_COMMENT};
        is_good = add(silencer, &rule, span_of(from->file), span_of(from->reason));
    }
    return is_good;
}

bool grout_silencer__init(grout_silencer *silencer, grout_session *session, const char *name,
                          const grout_bytes *text) {
    const grout_options *options = &session->options;
    const char *path;
    bool is_good = true;
    *silencer = (grout_silencer){0};
    if (text != NULL && (session->given == NULL || session->given->module == NULL)) {
        is_good = read_comments(silencer, session, name, text);
    }
    if (!add_given(silencer, session->given)) {
        return grout_diags_add_oom(session->diags);
    }
    for (size_t i = 0; (path = grout_options__get_use(options, GROUT_OPTION_SUPPRESS, i)) != NULL;
         i++) {
        is_good = read_rules(silencer, session, path) && is_good;
    }
    for (size_t i = 0; (path = grout_options__get_use(options, GROUT_OPTION_BASELINE, i)) != NULL;
         i++) {
        is_good = read_baseline(silencer, session, path) && is_good;
    }
    return (add_to_lists(silencer) || grout_diags_add_oom(session->diags)) && is_good;
}

void grout_silencer__describe_unused(const grout_silencer *silencer, grout_text *out) {
    for (size_t i = 0; i < silencer->count; i++) {
        const grout_allowance *rule = &silencer->items[i];
        if (!rule->is_used && strcmp(rule->by, OWN_COMMENT) == 0) {
            grout_text__add_name(out, rule->file);
            grout_text_add(out, ":%u: the comment that allows '%s' silenced nothing in this run\n",
                           rule->line, grout_diag_get(rule->code)->text);
        }
    }
}
