/*
 * check_op_columns.c - NAME, BUILD, TYPES and DOC of an op, and RULE and SYNTAX of its form, hold
 * to the letters, the attributes and the effect row. SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here runs an op: a RULE that does not fit its letters would read operands that are not
 * there. As in check_sync.c, each rule says what to write instead.
 */
#include "op_rules.h"
#include "tests/tests.h"

#include "grout-internal/sinks.h"

#include <strings.h>

/* Columns that only tests ask for, as they are written. */
typedef struct op_words {
    const char *name, *form, *build;
} op_words;

static const op_words words[GROUT_OP_COUNT] = {
    [GROUT_OP_NONE] = {"", "", ""},
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) \
    [GROUT_OP_##NAME] = {#NAME, #FORM, #BUILD},
#include "grout/ops.def"
};

static const char *get_form(const op_facts *it) {
    return words[it->opcode].form;
}

/* ---- NAME and DOC ------------------------------------------------------------------------------
 */

static void a_name_is_the_mnemonic(const op_facts *it) {
    const char *name = words[it->opcode].name, *text = it->info->text;
    bool is_same =
        strcasecmp(name, text) == 0 && strpbrk(name, "abcdefghijklmnopqrstuvwxyz") == NULL;
    if (!is_same) {
        grout_text_add(it->faults, "\n  %s: NAME is '%s': write the mnemonic in capitals", text,
                       name);
    }
}

static void a_doc_is_a_sentence_without_its_end(const op_facts *it) {
    const char *doc = it->info->doc;
    size_t size = strlen(doc);
    hold(it, size > 5, "DOC is empty, or no sentence: say what the op does");
    expect(it, size > 0, strchr(".,;: \n", doc[size == 0 ? 0 : size - 1]) == NULL,
           "DOC ends with a full stop, another mark or a space: the manual sets the full stop");
    expect(it, size > 0, doc[0] != ' ' && strstr(doc, "  ") == NULL,
           "DOC begins with a space, or has two in a row");
}

/* ---- RULE --------------------------------------------------------------------------------------
 */

/*
 * What a RULE reads of an op (verify/bind/infer.c). Patterns of letters: 'R' memory, '+' the one
 * before again and again, '~' any of those that say all by themselves, '?' the one before or
 * nothing.
 */
typedef struct rule_row {
    const char *name;
    const char *letters, *or_letters; /* NULL: any; NULL: no other pattern */
    grout_shape shape;
    uint8_t results;
    bool is_typed;
    uint32_t types; /* bits of the TYPES that it reads, or ANY */
} rule_row;

#define TYPES(NAME) (1u << GROUT_TYPES_##NAME)
enum { ARITHMETIC = TYPES(NUM) | TYPES(INT) | TYPES(FLOAT) | TYPES(LOGIC) };
enum { COMPARISONS = TYPES(CMP) | TYPES(CMP_ANY) | TYPES(CMP_FLOAT) };

/* TYPES of NONE, TRUTH and INTEGER, and of accumulators: see get_types. */
static const rule_row rule_rows[] = {
    [GROUT_RULE_NONE] = {"NONE", "R?~", NULL, GROUT_SHAPE_PLAIN, 0, false, 0},
    [GROUT_RULE_TRUTH] = {"TRUTH", "~", NULL, GROUT_SHAPE_PLAIN, 1, false, 0},
    [GROUT_RULE_INTEGER] = {"INTEGER", "R?~", NULL, GROUT_SHAPE_PLAIN, 1, false, 0},
    [GROUT_RULE_JOIN] = {"JOIN", "v+", NULL, GROUT_SHAPE_PLAIN, 1, false, ARITHMETIC},
    [GROUT_RULE_COMPARE] = {"COMPARE", "v+", NULL, GROUT_SHAPE_PLAIN, 1, false, COMPARISONS},
    [GROUT_RULE_SELECT] = {"SELECT", "vvv", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_CONVERT] = {"CONVERT", "v", NULL, GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_BITCAST] = {"BITCAST", "v", NULL, GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_BROADCAST] = {"BROADCAST", "v", NULL, GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_IOTA] = {"IOTA", "", NULL, GROUT_SHAPE_PLAIN, 1, true, ARITHMETIC},
    [GROUT_RULE_SLICE] = {"SLICE", "q", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_RESHAPE] = {"RESHAPE", "v", NULL, GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_CONCATENATE] = {"CONCATENATE", "v*", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_TRANSPOSE] = {"TRANSPOSE", "v", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_LAYOUT] = {"LAYOUT", "v", "vt", GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_REDUCE] = {"REDUCE", "v", NULL, GROUT_SHAPE_PLAIN, 1, false, ARITHMETIC},
    [GROUT_RULE_SCAN] = {"SCAN", "v", NULL, GROUT_SHAPE_PLAIN, 1, false, ARITHMETIC},
    [GROUT_RULE_LOAD] = {"LOAD", "R~", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_STORE] = {"STORE", "Rv~", "vR~", GROUT_SHAPE_PLAIN, 0, false,
                          TYPES(ANY) | TYPES(WORD)},
    [GROUT_RULE_MASKED_LOAD] = {"MASKED_LOAD", "Rc", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_MASKED_STORE] = {"MASKED_STORE", "Rvc", NULL, GROUT_SHAPE_PLAIN, 0, false,
                                 TYPES(ANY)},
    [GROUT_RULE_GATHER] = {"GATHER", "Rjo", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(ANY)},
    [GROUT_RULE_SCATTER] = {"SCATTER", "Rjvo", NULL, GROUT_SHAPE_PLAIN, 0, false,
                            TYPES(ANY) | TYPES(WORD)},
    [GROUT_RULE_FETCH] = {"FETCH", "Rs+", "Rv", GROUT_SHAPE_PLAIN, 1, false, TYPES(WORD)},
    [GROUT_RULE_COPY] = {"COPY", "RR~", NULL, GROUT_SHAPE_PLAIN, 0, false, TYPES(ANY)},
    [GROUT_RULE_IM2COL] = {"IM2COL", "GHb*", NULL, GROUT_SHAPE_PLAIN, 0, false, TYPES(ANY)},
    [GROUT_RULE_ROWS] = {"ROWS", "GHbw", "HGw", GROUT_SHAPE_PLAIN, 0, false, TYPES(ANY)},
    [GROUT_RULE_MASKED_COPY] = {"MASKED_COPY", "RRc", NULL, GROUT_SHAPE_PLAIN, 0, false,
                                TYPES(ANY)},
    [GROUT_RULE_GATHER_COPY] = {"GATHER_COPY", "RRjo", NULL, GROUT_SHAPE_PLAIN, 0, false,
                                TYPES(ANY)},
    [GROUT_RULE_DESCRIPTOR] = {"DESCRIPTOR", "g", "gg*", GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_WGMMA] = {"WGMMA", "amhu", "amhvu", GROUT_SHAPE_PLAIN, 0, false, TYPES(MMA)},
    [GROUT_RULE_TCGEN05] = {"TCGEN05", "Tnhu", "TnhT+u", GROUT_SHAPE_PLAIN, 0, false, TYPES(MMA)},
    [GROUT_RULE_TCGEN05_COPY] = {"TCGEN05_COPY", "hT", NULL, GROUT_SHAPE_PLAIN, 0, false,
                                 TYPES(ANY)},
    [GROUT_RULE_MMA] = {"MMA", "vvv", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(MMA)},
    [GROUT_RULE_PRINT] = {"PRINT", "t*", NULL, GROUT_SHAPE_PLAIN, 0, false, TYPES(ANY)},
    [GROUT_RULE_PRINT_LAYOUT] = {"PRINT_LAYOUT", "t*", NULL, GROUT_SHAPE_PLAIN, 0, false,
                                 TYPES(ANY)},
    [GROUT_RULE_CHECK] = {"CHECK", "vt*", NULL, GROUT_SHAPE_PLAIN, 0, false, TYPES(BOOL)},
    [GROUT_RULE_PROMISE] = {"PROMISE", "sk", NULL, GROUT_SHAPE_PLAIN, 1, false, TYPES(INT)},
    [GROUT_RULE_EXTERN] = {"EXTERN", "t*", "tt*", GROUT_SHAPE_PLAIN, 1, true, TYPES(ANY)},
    [GROUT_RULE_OBJECT] = {"OBJECT", "", NULL, GROUT_SHAPE_SCRATCH, 1, false, TYPES(NONE)},
    [GROUT_RULE_CONDITION] = {"CONDITION", "s", NULL, GROUT_SHAPE_END, 0, false, TYPES(BOOL)},
    [GROUT_RULE_YIELD] = {"YIELD", "*", NULL, GROUT_SHAPE_END, 0, false, TYPES(ANY)},
    /* Letters and results: a_region_is_as_its_form of check_tables.c. */
    [GROUT_RULE_REGION] = {"REGION", NULL, NULL, GROUT_SHAPE_REGION, 9, false, TYPES(NONE)},
};
enum { RULE_COUNT = sizeof rule_rows / sizeof *rule_rows };

/* Whether the letter says all, so that a rule has nothing to ask of the operand. */
static bool is_closed(char letter) {
    return is_kind(grout_letter_get_info(letter), KIND(INTEGER) | KIND(BARRIER) | KIND(SEMAPHORE) |
                                                      KIND(CONSTANT) | KIND(AXIS) | KIND(OPTION));
}

static bool fits_one(char pattern, char letter) {
    return pattern == '~'   ? is_closed(letter)
           : pattern == 'R' ? is_kind(grout_letter_get_info(letter), KIND(MEMORY))
                            : pattern == letter;
}

static bool fits_letters(const char *pattern, const char *letters) {
    for (; *pattern != '\0'; pattern++) {
        char next = pattern[1];
        bool repeats = *pattern == '~' || next == '+';
        bool is_optional = *pattern == '~' || next == '?';
        uint32_t count = 0;
        while (*letters != '\0' && fits_one(*pattern, *letters) && (repeats || count == 0)) {
            letters++;
            count++;
        }
        if (count == 0 && !is_optional) {
            return false;
        }
        pattern += next == '+' || next == '?' ? 1 : 0;
    }
    return *letters == '\0';
}

static bool fits_rule(const op_facts *it, const rule_row *row) {
    const char *letters = it->info->operands;
    bool is_region = row->shape == GROUT_SHAPE_REGION;
    bool has_letters = row->letters == NULL || fits_letters(row->letters, letters) ||
                       (row->or_letters != NULL && fits_letters(row->or_letters, letters));
    return has_letters && row->shape == it->info->shape && row->is_typed == it->info->typed &&
           (is_region || row->results == it->info->results);
}

static void a_rule_fits_the_letters(const op_facts *it) {
    const char *separator = "";
    if (!is_first_of_its_form(it) || fits_rule(it, &rule_rows[it->info->rule])) {
        return;
    }
    grout_text_add(it->faults,
                   "\n  %s: the RULE of its form %s is %s, which does not go with the letters "
                   "\"%s\", TYPED %d and RESULTS %u. These do: ",
                   it->info->text, get_form(it), rule_rows[it->info->rule].name, it->info->operands,
                   it->info->typed, it->info->results);
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        if (fits_rule(it, &rule_rows[i])) {
            grout_text_add(it->faults, "%s%s", separator, rule_rows[i].name);
            separator = ", ";
        }
    }
    grout_text_add(it->faults, "%s",
                   separator[0] == '\0' ? "none, change the letters or RESULTS, or give a new RULE "
                                          "a line in rule_rows of check_op_columns.c"
                                        : "");
}

/* ---- TYPES -------------------------------------------------------------------------------------
 */

static const char *const types_names[] = {
    [GROUT_TYPES_NONE] = "NONE",       [GROUT_TYPES_ANY] = "ANY",
    [GROUT_TYPES_NUM] = "NUM",         [GROUT_TYPES_INT] = "INT",
    [GROUT_TYPES_FLOAT] = "FLOAT",     [GROUT_TYPES_LOGIC] = "LOGIC",
    [GROUT_TYPES_BOOL] = "BOOL",       [GROUT_TYPES_CMP] = "CMP",
    [GROUT_TYPES_ACC] = "ACC",         [GROUT_TYPES_MMA] = "MMA",
    [GROUT_TYPES_CMP_ANY] = "CMP_ANY", [GROUT_TYPES_CMP_FLOAT] = "CMP_FLOAT",
    [GROUT_TYPES_WORD] = "WORD"};
enum { TYPES_COUNT = sizeof types_names / sizeof *types_names };

static bool has_accumulator(const op_facts *it) {
    for (uint32_t i = 0; i < it->effect_count; i++) {
        if (it->effects[i].space == GROUT_EFFECT_SPACE_ACC) {
            return true;
        }
    }
    return has_letter(it, "a");
}

/* Bits of what TYPES may be: a word that nobody reads would be a promise in the manual only. */
/* A fence of some bytes, whatever elements they are. */
static bool fences_memory(const op_facts *it) {
    return it->sync != NULL && it->sync->mode == GROUT_SYNC_MODE_FENCES;
}

static uint32_t get_types(const op_facts *it) {
    uint32_t types = rule_rows[it->info->rule].types;
    if (types == 0) { /* the letters say all: there is an element type only in memory */
        types = has_kind(it, KIND(MEMORY) | KIND(MEMORY_OR_ARRAY)) && !fences_memory(it)
                    ? TYPES(ANY)
                    : TYPES(NONE);
    }
    return has_accumulator(it) && types != TYPES(MMA) ? TYPES(ACC) : types;
}

static void types_are_those_that_the_rule_reads(const op_facts *it) {
    uint32_t types = get_types(it);
    const char *separator = "";
    if (!fits_rule(it, &rule_rows[it->info->rule]) || (types >> it->info->types & 1) != 0) {
        return; /* or a fault of its own, in the form */
    }
    grout_text_add(it->faults,
                   "\n  %s: TYPES is %s; with the letters \"%s\" and the RULE %s write ",
                   it->info->text, types_names[it->info->types], it->info->operands,
                   rule_rows[it->info->rule].name);
    for (uint32_t i = 0; i < TYPES_COUNT; i++) {
        if ((types >> i & 1) != 0) {
            grout_text_add(it->faults, "%s%s", separator, types_names[i]);
            separator = " or ";
        }
    }
}

/* ---- SYNTAX ------------------------------------------------------------------------------------
 */

/* Operands of "op a, b dim(d) : dtype": what has parentheses is an attribute. */
static uint32_t count_words(const char *syntax) {
    uint32_t count = 0;
    const char *at = syntax;
    while (*at != '\0') {
        at += strspn(at, ", ");
        size_t word = strcspn(at, ", "), part = strcspn(at, ",");
        count += word > 0 && *at != ':' && memchr(at, '(', word) == NULL ? 1 : 0;
        at += part;
    }
    return count;
}

/* Messages name operands by these words, and put the mnemonic for 'op'
 * (verify/bind/infer_letters.c).
 */
static void a_plain_syntax_has_a_word_for_each_operand(const op_facts *it) {
    const char *syntax = it->info->syntax, *letters = it->info->operands;
    const bool has_result = strncmp(syntax, "%r = ", 5) == 0;
    const char *op = syntax + (has_result ? 5 : 0);
    const bool has_op = strncmp(op, "op", 2) == 0 && (op[2] == ' ' || op[2] == '\0');
    const char *rest = has_op ? op + 2 : op;
    const bool has_type = strstr(rest, " : ") != NULL;
    /* '*' is "a, ..." */
    const uint32_t wanted = (uint32_t)strlen(letters) + (strchr(letters, '*') != NULL ? 1 : 0);
    if (it->info->shape != GROUT_SHAPE_PLAIN || !is_first_of_its_form(it)) {
        return;
    }
    hold(it, has_result == (it->info->results == 1),
         "SYNTAX of its form begins with '%r = ' if and only if RESULTS is 1");
    hold(it, has_op && strstr(rest, " op ") == NULL,
         "SYNTAX of its form has 'op' once, where the mnemonic stands");
    hold(it, has_type == it->info->typed,
         "SYNTAX of its form ends with ' : ' and a type if and only if TYPED is 1");
    if (count_words(rest) != wanted) {
        grout_text_add(it->faults,
                       "\n  %s: SYNTAX of its form %s is '%s', and the letters are \"%s\": write "
                       "one word for each, with commas ('*' is 'a, ...')",
                       it->info->text, get_form(it), syntax, letters);
    }
}

static uint32_t count_char(const char *text, char wanted) {
    uint32_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == wanted ? 1 : 0;
    }
    return count;
}

/* What has blocks, makes an object or ends a block is shown with its own mnemonic. */
static void any_other_syntax_has_the_mnemonic(const op_facts *it) {
    const char *syntax = it->info->syntax, *at = strstr(syntax, it->info->text);
    const bool is_region = it->info->shape == GROUT_SHAPE_REGION;
    const bool has_results = strncmp(syntax, "%r, ... = ", 10) == 0;
    if (it->info->shape == GROUT_SHAPE_PLAIN) {
        return;
    }
    hold(it, at == syntax + (has_results ? 10 : 0),
         "SYNTAX of its form begins with the mnemonic, after '%r, ... = ' if there are results");
    hold(it, has_results == (it->info->results == 9),
         "SYNTAX of its form begins with '%r, ... = ' if and only if RESULTS is 9");
    hold(it,
         is_region == (strchr(syntax, '{') != NULL) &&
             count_char(syntax, '{') == count_char(syntax, '}'),
         "SYNTAX shows blocks, { ... }, where the SHAPE of its form is REGION, and nowhere else");
}

/* ---- BUILD -------------------------------------------------------------------------------------
 */

/*
 * Attributes without argument that some op of this form takes: siblings have the same function.
 * Fences and waits for semaphores came without a parameter for theirs, as build.h says: they are
 * written with grout_build_op.
 */
static bool has_flags(const op_facts *it) {
    const uint64_t of_build_op =
        GROUT_ATTR_BIT(CLUSTER) | GROUT_ATTR_BIT(NO_DECREMENT) | GROUT_ATTR_BIT(LEADER_TRACKED);
    uint64_t attrs = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        const grout_op_info *other = grout_op_get_info((grout_opcode)i);
        attrs |= other->form == it->info->form ? other->attrs : 0;
    }
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        bool is_flag = grout_attr_get_info((grout_attr)i)->argument == GROUT_ARGUMENT_FLAG;
        if (is_flag && ((attrs & ~of_build_op) >> i & 1) != 0) {
            return true;
        }
    }
    return false;
}

/* V2, N1_K, K1_ATTRS and so on. */
static void compose_build(const op_facts *it, grout_text *out) {
    const bool has_option = has_kind(it, KIND(OPTION));
    const uint32_t all = (uint32_t)strlen(it->info->operands) - (has_option ? 1 : 0);
    const uint32_t first_k = (uint32_t)strcspn(it->info->operands, "k");
    const uint32_t operands = first_k < all ? first_k : all;
    const uint32_t constants = all - operands;
    const bool has_result = it->info->results > 0;
    if (operands == 0 && constants > 0 && !has_result) {
        grout_text_add(out, "K%u", constants);
    } else {
        grout_text_add(out, "%s%u%s", has_result ? "V" : "N", operands, constants > 0 ? "_K" : "");
    }
    grout_text_add(out, "%s%s", has_option ? "_OPTION" : "", has_flags(it) ? "_ATTRS" : "");
}

static const char *find_own_build(const op_facts *it) {
    const grout_op_info *info = it->info;
    bool is_elementwise = info->expression != NULL;
    if (info->shape != GROUT_SHAPE_PLAIN) {
        return "OWN";
    }
    if (has_kind(it, KIND(AXIS) | KIND(TEXT) | KIND(REST))) { /* what is no grout_operand */
        return strcmp(info->operands, "x") == 0      ? "AXIS"
               : strcmp(info->operands, "tt*") == 0  ? "PTX"
               : info->rule == GROUT_RULE_DESCRIPTOR ? "DESCRIPTOR"
               : info->rule == GROUT_RULE_IM2COL     ? "IM2COL"
               : info->rule == GROUT_RULE_EXTERN     ? "EXTERN"
               : info->rule == GROUT_RULE_LAYOUT     ? "RELAYOUT"
               : strcmp(info->operands, "t*") == 0   ? "PRINT"
               : info->rule == GROUT_RULE_CHECK      ? "CHECK"
               : strcmp(info->operands, "v*") == 0   ? "CONCATENATE"
                                                     : "OWN";
    }
    if (info->rule == GROUT_RULE_SCAN) {
        return "SCAN";
    }
    if (has_kind(it, KIND(INDICES))) { /* with a dimension, and a mask that may be omitted */
        return info->results > 0                      ? "GATHER"
               : info->rule == GROUT_RULE_GATHER_COPY ? "GATHER_COPY"
                                                      : "SCATTER";
    }
    if (info->typed) {
        bool is_cast = info->rule == GROUT_RULE_CONVERT || info->rule == GROUT_RULE_BITCAST;
        return is_cast ? "CAST" : info->operands[0] == '\0' ? "IOTA" : "SHAPED";
    }
    if (info->rule == GROUT_RULE_TRANSPOSE) {
        return "TRANSPOSE";
    }
    return info->rule == GROUT_RULE_REDUCE ? "REDUCE" : is_elementwise ? get_form(it) : NULL;
}

static void a_build_is_as_the_form(const op_facts *it) {
    const char *own = find_own_build(it), *is = words[it->opcode].build;
    grout_text wanted = {0};
    if (own != NULL) {
        grout_text_add(&wanted, "%s", own);
    } else {
        compose_build(it, &wanted);
    }
    if (wanted.data == NULL || strcmp(is, wanted.data) != 0) {
        grout_text_add(it->faults,
                       "\n  %s: BUILD is %s: write %s, as its form (\"%s\", RESULTS %u) and the "
                       "attributes without argument of that form's ops ask; what build.h does not "
                       "have yet, define there and in ir/build/build_ops.c",
                       it->info->text, is, wanted.data == NULL ? "" : wanted.data,
                       it->info->operands, it->info->results);
    }
    grout_text_free(&wanted);
}

static void constants_stand_last(const op_facts *it) {
    const char *constants = strchr(it->info->operands, 'k');
    expect(it, constants != NULL, constants == NULL || constants[strspn(constants, "k")] == '\0',
           "constants (k) are the last letters of a form, as the builder's functions take them");
}

/* ---- hints -------------------------------------------------------------------------------------
 */

static void a_hint_names_memory_and_touches_nothing(const op_facts *it) {
    expect(it, it->info->effect_row == GROUT_EFFECT_ROW_HINT,
           it->info->rule == GROUT_RULE_NONE && it->info->results == 0 && !has_letter(it, "be"),
           "its effect row is HINT, which nobody can see the effect of: the RULE of its form is "
           "NONE, RESULTS 0, and no letter a barrier (b) or semaphore (e); or write another row");
}

/* ---- DECIDES (sinks.def) -----------------------------------------------------------------------
 */

/* Whether a value of this kind is there to decide something. */
static bool is_to_decide(uint8_t kind) {
    return kind == GROUT_LETTER_SCALAR || kind == GROUT_LETTER_INTEGER ||
           kind == GROUT_LETTER_INDICES || kind == GROUT_LETTER_MASK || kind == GROUT_LETTER_ROWS ||
           kind == GROUT_LETTER_OPTION || kind == GROUT_LETTER_OPTIONAL_MASK;
}

static void what_is_there_to_decide_has_a_sink(const op_facts *it) {
    const char *letters = it->info->operands;
    for (uint32_t i = 0; letters[i] != '\0'; i++) {
        expect(it, is_to_decide(grout_letter_get_info(letters[i])->kind),
               grout_op_get_sinks(it->opcode, i) != 0,
               "a scalar, an index, a mask, a row or an option decides something: its letter in "
               "GROUT_DECIDES of sinks.def is not '.'");
    }
}

TEST_EACH(each_sink_is_decided_somewhere, GROUT_SINK_COUNT) {
    bool is_decided = _i == GROUT_SINK_COMPARED; /* any value that is written, says the table */
    for (int op = 1; op < GROUT_OP_COUNT && !is_decided; op++) {
        const size_t count = strlen(grout_op_get_info((grout_opcode)op)->operands);
        for (uint32_t i = 0; i < count && !is_decided; i++) {
            is_decided = (grout_op_get_sinks((grout_opcode)op, i) >> _i & 1) != 0;
        }
    }
    ck_assert_msg(is_decided, "no operand decides %s: remove its line from sinks.def",
                  grout_sink_get_info((grout_sink)_i)->text);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static const op_rule rules[] = {
    RULE(a_name_is_the_mnemonic),
    RULE(a_doc_is_a_sentence_without_its_end),
    RULE(a_rule_fits_the_letters),
    RULE(types_are_those_that_the_rule_reads),
    RULE(a_plain_syntax_has_a_word_for_each_operand),
    RULE(any_other_syntax_has_the_mnemonic),
    RULE(a_build_is_as_the_form),
    RULE(constants_stand_last),
    RULE(a_hint_names_memory_and_touches_nothing),
    RULE(what_is_there_to_decide_has_a_sink),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}

/* Forms are looked at through their ops. */
TEST_FROM(each_form_has_an_op, 1, GROUT_FORM_COUNT) {
    static const char *const names[] = {
        [GROUT_FORM_NONE] = "",
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) [GROUT_FORM_##NAME] = #NAME,
#include "grout/ops.def"
    };
    bool is_used = false;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        is_used = is_used || grout_op_get_info((grout_opcode)i)->form == _i;
    }
    ck_assert_msg(is_used, "no op has the form %s: remove its line from ops.def", names[_i]);
}
