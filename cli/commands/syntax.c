/* syntax.c - grout ops --syntax: the words of the language as an editor wants them, from the
 * tables. SPDX-License-Identifier: Apache-2.0 */
#include "pages.h"

#include "grout-internal/tables.h"

#include <string.h>

/* What an editor tells apart. A word of two kinds, such as 'add', is coloured as the first of them.
 */
typedef enum word_kind {
    WORDS_FLOW,
    WORDS_OPERATION,
    WORDS_TYPE,
    WORDS_STORAGE, /* memory spaces, objects, where their elements lie */
    WORDS_MODULE,  /* what a file and a kernel are made of */
    WORDS_CONSTANT,
    WORDS_FUNCTION,
    WORDS_ATTRIBUTE,
    WORDS_CHOICE,
    WORDS_GENERATOR,
    WORDS_KIND_COUNT
} word_kind;

static const struct {
    const char *name;     /* of vim's group, after 'grout' */
    const char *vim;      /* the group of vim that it looks like */
    const char *textmate; /* the scope, before '.grout' */
} looks[WORDS_KIND_COUNT] = {
    [WORDS_FLOW] = {"Flow", "Statement", "keyword.control"},
    [WORDS_OPERATION] = {"Operation", "Function", "support.function"},
    [WORDS_TYPE] = {"Type", "Type", "storage.type"},
    [WORDS_STORAGE] = {"Storage", "StorageClass", "storage.modifier"},
    [WORDS_MODULE] = {"Module", "Keyword", "keyword.other"},
    [WORDS_CONSTANT] = {"Constant", "Boolean", "constant.language"},
    [WORDS_FUNCTION] = {"Call", "Function", "support.function.constant"},
    [WORDS_ATTRIBUTE] = {"Attribute", "PreProc", "entity.other.attribute-name"},
    [WORDS_CHOICE] = {"Choice", "Constant", "constant.other.choice"},
    [WORDS_GENERATOR] = {"Generator", "Constant", "constant.other.generator"},
};

/* The kinds of keywords.def. */
#define KIND_MODULE    WORDS_MODULE
#define KIND_PARAMETER WORDS_MODULE
#define KIND_AXES      WORDS_MODULE
#define KIND_OBJECT    WORDS_STORAGE
#define KIND_TRANSFORM WORDS_STORAGE
#define KIND_FLOW      WORDS_FLOW
#define KIND_CONSTANT  WORDS_CONSTANT
#define KIND_FUNCTION  WORDS_FUNCTION

static const struct {
    const char *text;
    word_kind kind;
} keywords[] = {
#define GROUT_KEYWORD(text, KIND) {text, KIND_##KIND},
#include "grout-internal/keywords.def"
};

enum { KEYWORD_COUNT = sizeof keywords / sizeof keywords[0] };

/* ---- the words of a kind ----------------------------------------------------------------------
 */

static word_kind get_op_kind(grout_opcode op) {
    return grout_op_get_info(op)->shape == GROUT_SHAPE_PLAIN ? WORDS_OPERATION : WORDS_FLOW;
}

/* The i-th word (from 0) of all the tables, with its kind; NULL after the last one. */
static const char *get_word(int i, word_kind *kind) {
    if (i < GROUT_OP_COUNT - 1) {
        *kind = get_op_kind((grout_opcode)(i + 1));
        return grout_op_get_info((grout_opcode)(i + 1))->text;
    }
    i -= GROUT_OP_COUNT - 1;
    if (i < GROUT_DTYPE_COUNT - 1) {
        *kind = WORDS_TYPE;
        return grout_dtype_get_info((grout_dtype)(i + 1))->text;
    }
    i -= GROUT_DTYPE_COUNT - 1;
    if (i < GROUT_SPACE_COUNT - 1) {
        *kind = WORDS_STORAGE;
        return grout_space_get_text((grout_space)(i + 1));
    }
    i -= GROUT_SPACE_COUNT - 1;
    if (i < KEYWORD_COUNT) {
        *kind = keywords[i].kind;
        return keywords[i].text;
    }
    i -= KEYWORD_COUNT;
    if (i < GROUT_ATTR_COUNT) {
        *kind = WORDS_ATTRIBUTE;
        return grout_attr_get_info((grout_attr)i)->text;
    }
    i -= GROUT_ATTR_COUNT;
    if (i < GROUT_CHOICE_COUNT - 1) {
        *kind = WORDS_CHOICE;
        return grout_choice_get_info((grout_choice)(i + 1))->text;
    }
    i -= GROUT_CHOICE_COUNT - 1;
    *kind = WORDS_GENERATOR;
    return i < GROUT_GENERATOR_VALUE ? grout_generator_get_info((grout_generator_kind)i)->text
                                     : NULL;
}

/* Whether a word is of an earlier kind too, or came before in its own. */
static bool is_taken(int at, word_kind kind, const char *text) {
    word_kind other;
    const char *word;
    for (int i = 0; (word = get_word(i, &other)) != NULL; i++) {
        if ((other < kind || (other == kind && i < at)) && strcmp(word, text) == 0) {
            return true;
        }
    }
    return false;
}

static void add_words(grout_text *out, word_kind kind, const char *separator) {
    word_kind own;
    const char *word, *between = "";
    for (int i = 0; (word = get_word(i, &own)) != NULL; i++) {
        if (own == kind && !is_taken(i, kind, word)) {
            grout_text_add(out, "%s%s", between, word);
            between = separator;
        }
    }
}

/* ---- vim ----------------------------------------------------------------------------------------
 */

static const char vim_head[] =
    "\" Vim syntax file of grout kernels, written by 'grout ops --syntax vim'; a test compares.\n"
    "if exists('b:current_syntax')\n    finish\nendif\n\n"
    "syntax case match\n"
    "setlocal iskeyword=@,48-57,_\n\n";

/* The words of comments that grout reads, after the comment that they are in. */
static const char vim_patterns[] =
    "\n\" '%' and a blank is the remainder of a division.\n"
    "syntax match groutValue '%\\w\\+'\n"
    "syntax match groutKernel '@\\a\\w*'\n"
    "syntax match groutAttribute "
    "'\\<\\%(arch\\|cluster_exit\\|auto_fence\\|partition_warps\\)\\>\\%(\\s*=\\s*\\%(sync\\|"
    "none\\)\\>\\)"
    "\\='\n"
    "syntax match groutNumber '\\<\\d\\+\\%(\\.\\d\\+\\)\\=\\%([eE][+-]\\=\\d\\+\\)\\=\\>'\n"
    "syntax match groutNumber '\\<0[xX]\\x\\+\\%(\\.\\x\\+\\)\\=\\%([pP][+-]\\=\\d\\+\\)\\=\\>'\n"
    "syntax region groutString start='\"' skip='\\\\.' end='\"' oneline\n"
    "syntax match groutComment '//.*$' contains=groutMark,@Spell\n"
    "syntax match groutMark '\\%(//\\s*\\)\\@<=\\%(expect\\%(-\\w\\+\\)\\=\\|run\\|allow\\):' "
    "contained\n\n"
    "highlight default link groutValue Identifier\n"
    "highlight default link groutKernel Special\n"
    "highlight default link groutNumber Number\n"
    "highlight default link groutString String\n"
    "highlight default link groutComment Comment\n"
    "highlight default link groutMark SpecialComment\n";

static void add_vim(grout_text *out) {
    grout_text_add(out, "%s", vim_head);
    for (int kind = 0; kind < WORDS_KIND_COUNT; kind++) {
        grout_text_add(out, "syntax keyword grout%s\n    \\ ", looks[kind].name);
        add_words(out, (word_kind)kind, "\n    \\ ");
        grout_text_add(out, "\n");
    }
    grout_text_add(out, "%s", vim_patterns);
    for (int kind = 0; kind < WORDS_KIND_COUNT; kind++) {
        grout_text_add(out, "highlight default link grout%s %s\n", looks[kind].name,
                       looks[kind].vim);
    }
    grout_text_add(out, "\nlet b:current_syntax = 'grout'\n");
}

/* ---- TextMate -----------------------------------------------------------------------------------
 */

static const char textmate_head[] =
    "{\n"
    "  \"$comment\": \"Written by 'grout ops --syntax textmate'; a test compares.\",\n"
    "  \"name\": \"grout\",\n"
    "  \"scopeName\": \"source.grout\",\n"
    "  \"fileTypes\": [\"grout\"],\n"
    "  \"patterns\": [\n"
    "    {\n"
    "      \"name\": \"comment.line.double-slash.grout\",\n"
    "      \"match\": \"//(?:\\\\s*((?:expect(?:-\\\\w+)?|run|allow):))?.*$\",\n"
    "      \"captures\": {\"1\": {\"name\": \"keyword.other.mark.grout\"}}\n"
    "    },\n"
    "    {\n"
    "      \"name\": \"string.quoted.double.grout\",\n"
    "      \"match\": \"\\\"(?:[^\\\"\\\\\\\\]|\\\\\\\\.)*\\\"\"\n"
    "    },\n"
    "    {\"name\": \"variable.other.grout\", \"match\": \"%[A-Za-z0-9_]+\"},\n"
    "    {\"name\": \"entity.name.function.grout\", \"match\": \"@[A-Za-z][A-Za-z0-9_]*\"},\n"
    "    {\n"
    "      \"name\": \"entity.other.attribute-name.kernel.grout\",\n"
    "      \"match\": "
    "\"\\\\b(?:arch|cluster_exit|auto_fence|partition_warps)\\\\b(?:\\\\s*=\\\\s*(?:sync|none)"
    "\\\\b)?"
    "\"\n"
    "    },\n"
    "    {\n"
    "      \"name\": \"constant.numeric.grout\",\n"
    "      \"match\": \"\\\\b(?:0[xX][0-9a-fA-F]+(?:\\\\.[0-9a-fA-F]+)?(?:[pP][+-]?[0-9]+)?"
    "|[0-9]+(?:\\\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\\\\b\"\n"
    "    },\n";

static void add_textmate(grout_text *out) {
    grout_text_add(out, "%s", textmate_head);
    for (int kind = 0; kind < WORDS_KIND_COUNT; kind++) {
        grout_text_add(out,
                       "    {\"name\": \"%s.grout\", \"match\": \"\\\\b(?:", looks[kind].textmate);
        add_words(out, (word_kind)kind, "|");
        grout_text_add(out, ")\\\\b\"},\n");
    }
    grout_text_add(out, "    {\"name\": \"keyword.operator.grout\", "
                        "\"match\": \"<<|>>|[=!<>]=|\\\\.\\\\.|[-+*/%%<>=]\"}\n  ]\n}\n");
}

void grout_ops__print_syntax(const char *editor, grout_text *out) {
    if (strcmp(editor, "vim") == 0) {
        add_vim(out);
    } else {
        add_textmate(out);
    }
}
