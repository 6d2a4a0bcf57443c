/* cmd_ops.c - grout ops: the operations, from ops.def, effects.def and sync.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "op_facts.h"
#include "pages.h"
#include "suggest.h"

#include "grout-internal/op_names.h"

#include <ctype.h>
#include <string.h>

static const char *get_types_text(grout_type_rule rule) {
    switch (rule) {
    case GROUT_TYPES_NONE:
        return "";
    case GROUT_TYPES_ANY:
        return "any type";
    case GROUT_TYPES_NUM:
        return "all integers, f16, bf16, f32, f64";
    case GROUT_TYPES_INT:
        return "all integers";
    case GROUT_TYPES_FLOAT:
        return "f16, bf16, f32, f64";
    case GROUT_TYPES_LOGIC:
        return "all integers, bool";
    case GROUT_TYPES_BOOL:
        return "bool";
    case GROUT_TYPES_CMP:
        return "all integers, f16, bf16, f32, f64; the result is bool";
    case GROUT_TYPES_CMP_ANY:
        return "all integers, f16, bf16, f32, f64, bool; the result is bool";
    case GROUT_TYPES_CMP_FLOAT:
        return "f16, bf16, f32, f64; the result is bool";
    case GROUT_TYPES_WORD:
        return "i32, u32";
    case GROUT_TYPES_ACC:
        return "f16, f32, i32";
    case GROUT_TYPES_MMA:
        return "a and b both f16, bf16 or f32 (read as tf32); acc f32, with f16 also f16. Or each "
               "f8e4m3 or f8e5m2; acc f32 or f16. Or each i8 or u8; acc i32";
    }
    return "";
}

static const char *get_class_text(grout_effect_class class_) {
    switch (class_) {
    case GROUT_EFFECT_PURE:
        return "pure";
    case GROUT_EFFECT_ACCESS:
        return "accesses memory";
    case GROUT_EFFECT_ASYNC:
        return "asynchronous";
    case GROUT_EFFECT_SYNC:
        return "orders, never blocks";
    case GROUT_EFFECT_BLOCKING:
        return "may block";
    case GROUT_EFFECT_CONTROL:
        return "control";
    }
    return "";
}

/* What each choice of an attribute means, a line each; nothing for other attributes. */
static void add_choices(grout_attr attr, const char *start, const char *quote, grout_text *out) {
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        const grout_choice_info *choice = grout_choice_get_info((grout_choice)i);
        if (choice->attr == attr) {
            grout_text_add(out, "%s%s%s%s: %s\n", start, quote, choice->text, quote, choice->doc);
        }
    }
}

/* The attributes of an operation; choice_start: what stands before each choice, NULL for none. */
static void add_attrs(const grout_op_info *info, const char *start, const char *quote,
                      const char *choice_start, grout_text *out) {
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        const grout_attr_info *attr = grout_attr_get_info((grout_attr)i);
        if ((info->attrs >> i & 1) != 0) {
            grout_text_add(out, "%s%s", start, quote);
            grout_attr_print_syntax((grout_attr)i, out);
            grout_text_add(out, "%s: %s\n", quote, attr->doc);
            if (choice_start != NULL) {
                add_choices((grout_attr)i, choice_start, quote, out);
            }
        }
    }
}

static void add_facts(grout_opcode opcode, const char *start, grout_text *out) {
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    const grout_region_info *region = grout_op_get_region(opcode);
    grout_update update = (grout_update)grout_op_get_info(opcode)->update;
    if (update != GROUT_UPDATE_NONE) {
        grout_op_facts__add_update(update, start, out);
    }
    if (region->kind != GROUT_REGION_NONE) {
        grout_op_facts__add_region(region, start, out);
    }
    if (sync != NULL) {
        grout_op_facts__add_sync(sync, start, out);
    }
}

/* What PTX calls the operation, or others do: a line, if there is a name. */
static void add_names(grout_opcode opcode, bool is_ptx, const char *start, const char *quote,
                      grout_text *out) {
    const char *between = start;
    const grout_op_name *name;
    for (size_t i = 0; (name = grout_op_name_get(i)) != NULL; i++) {
        if (name->opcode == opcode && name->is_ptx == is_ptx) {
            grout_text_add(out, "%s%s%s%s", between, quote, name->text, quote);
            between = ", ";
        }
    }
    grout_text_add(out, "%s", between == start ? "" : "\n");
}

static void add_op(grout_opcode opcode, grout_text *out) {
    const grout_op_info *info = grout_op_get_info(opcode);
    grout_effect_row row = (grout_effect_row)info->effect_row;
    grout_op_print_syntax(opcode, out);
    grout_text_add(out, "\n  %s\n", info->doc);
    if (info->types != GROUT_TYPES_NONE) {
        grout_text_add(out, "  types: %s\n", get_types_text((grout_type_rule)info->types));
    }
    if (info->expression != NULL) {
        grout_text_add(out, "  value: %s\n", info->expression);
    }
    if (info->ulp > 0) {
        grout_text_add(out, "  accuracy: within %u units in the last place\n", info->ulp);
    }
    add_attrs(info, "  attribute ", "", "    ", out);
    grout_text_add(out, "  effect: %s; %s\n", get_class_text(grout_effect_row_get_class(row)),
                   grout_effect_row_get_doc(row));
    grout_op_facts__add_effects(row, "    ", out);
    add_facts(opcode, "  ", out);
    add_names(opcode, true, "  PTX: ", "", out);
    add_names(opcode, false, "  elsewhere: ", "", out);
}

/* ---- docs/operations.md ---------------------------------------------------------------------- */

static void add_markdown_op(grout_opcode opcode, grout_text *out) {
    const grout_op_info *info = grout_op_get_info(opcode);
    grout_effect_row row = (grout_effect_row)info->effect_row;
    grout_text_add(out, "\n### %s\n\n    ", info->text);
    grout_op_print_syntax(opcode, out);
    grout_text_add(out, "\n\nResult or action: %s.\n\n", info->doc);
    if (info->types != GROUT_TYPES_NONE) {
        grout_text_add(out, "- types: %s\n", get_types_text((grout_type_rule)info->types));
    }
    if (info->expression != NULL) {
        grout_text_add(out, "- value, in the functions of `grout/num.h`: `%s`\n", info->expression);
    }
    if (info->ulp > 0) {
        grout_text_add(out, "- accuracy: within %u units in the last place\n", info->ulp);
    }
    add_attrs(info, "- attribute ", "`", NULL, out);
    grout_text_add(out, "- effect: %s; %s\n", get_class_text(grout_effect_row_get_class(row)),
                   grout_effect_row_get_doc(row));
    grout_op_facts__add_effects(row, "  - ", out);
    add_facts(opcode, "- ", out);
    add_names(opcode, true, "- PTX: ", "`", out);
    add_names(opcode, false, "- elsewhere: ", "`", out);
}

static void add_markdown(grout_text *out) {
    grout_text_add(out,
                   "<!-- Written by 'grout ops --markdown'; a test compares. Change "
                   "include/grout/ops.def, op_docs.def, op_names.def, effects.def, sync.def or "
                   "types.def. -->\n"
                   "# The operations\n\n## Element types\n\n"
                   "| type | bytes | arithmetic | meaning |\n|---|---|---|---|\n");
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)i);
        grout_text_add(out, "| `%s` | %u | %s | %s |\n", info->text, info->bytes,
                       info->is_arithmetic ? "yes" : "load, store, select, cast, copy", info->doc);
    }
    grout_text_add(out,
                   "\n## Choices\n\nWhat the words in the parentheses of an attribute mean.\n");
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        const grout_attr_info *info = grout_attr_get_info((grout_attr)i);
        if (info->argument == GROUT_ARGUMENT_CHOICE) {
            grout_text_add(out, "\n`%s`: %s\n\n", info->text, info->doc);
            add_choices((grout_attr)i, "- ", "`", out);
        }
    }
    grout_text_add(out, "\n## Operations\n\n"
                        "Operands and results are written as in the syntax line; `ref` is a "
                        "reference with its indices, such as `%%as[%%slot, ds(0, 32), :]`.\n");
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        add_markdown_op((grout_opcode)i, out);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Columns of the longest name. */
static int get_name_width(void) {
    size_t width = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        size_t size = strlen(grout_op_get_info((grout_opcode)i)->text);
        width = size > width ? size : width;
    }
    return (int)width;
}

static void add_line(grout_opcode opcode, grout_text *out) {
    const grout_op_info *info = grout_op_get_info(opcode);
    grout_text_add(out, "%-*s %s\n", get_name_width(), info->text, info->doc);
}

static bool is_letter(char c) {
    return isalnum((unsigned char)c) != 0;
}

/* Whether the text has the word, whole, in capitals or not; a plural s may follow. */
static bool has_word(const char *text, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = text; *at != '\0'; at++) {
        size_t same = 0;
        while (same < size &&
               tolower((unsigned char)at[same]) == tolower((unsigned char)word[same])) {
            same++;
        }
        if (same == size && (at == text || !is_letter(at[-1])) &&
            !is_letter(at[size == 0 || at[size] != 's' ? size : size + 1])) {
            return true;
        }
    }
    return false;
}

/* Adds the operations that others call so; false: none. */
static bool add_by_name(const char *word, grout_text *out) {
    const grout_op_name *found[GROUT_OP_COUNT];
    const size_t count = grout_op_names_find(word, strlen(word), found, GROUT_OP_COUNT);
    for (size_t i = 0; i < count; i++) {
        if (found[i]->instead != NULL) {
            grout_text_add(out, "no operation: %s\n", found[i]->instead);
        } else {
            add_line(found[i]->opcode, out);
        }
    }
    const grout_opcode same = grout_op_find(word, strcspn(word, ".:"));
    if (count == 0 && same != GROUT_OP_NONE) {
        add_line(same, out); /* add.rn.f32 */
    }
    return count > 0 || same != GROUT_OP_NONE;
}

/* Adds the operations with the word in their name, or else in the sentence about them. */
static bool add_by_word(const char *word, grout_text *out) {
    bool is_found = false;
    for (int in_doc = 0; in_doc < 2 && !is_found; in_doc++) {
        for (int i = 1; i < GROUT_OP_COUNT; i++) {
            const grout_op_info *info = grout_op_get_info((grout_opcode)i);
            if (has_word(info->text, word) || (in_doc != 0 && has_word(info->doc, word))) {
                add_line((grout_opcode)i, out);
                is_found = true;
            }
        }
    }
    return is_found;
}

static int fail_unknown(grout_session *session, const char *name) {
    grout_suggestion suggestion = grout_suggest__begin_command(name);
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_op_get_info((grout_opcode)i)->text);
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "there is no operation '%.200s'", name);
    grout_session__help_near(session, suggestion.best, "'grout ops' lists them");
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    return GROUT_EXIT_USAGE;
}

/* What is asked of one word: its operation, else those that it finds. */
static bool add_asked(const char *word, grout_text *out, size_t *indent) {
    const grout_opcode opcode = grout_op_find(word, strlen(word));
    if (opcode != GROUT_OP_NONE) {
        add_op(opcode, out);
        *indent = 2;
        return true;
    }
    *indent = (size_t)get_name_width() + 1;
    return add_by_name(word, out) || add_by_word(word, out);
}

int grout_cmd_ops(grout_session *session) {
    const grout_options *options = &session->options;
    const char *editor = grout_options__get(options, GROUT_OPTION_SYNTAX);
    grout_text text = {0};
    if (editor != NULL) {
        grout_ops__print_syntax(editor, &text);
    } else if (grout_options__has(options, GROUT_OPTION_MARKDOWN)) {
        add_markdown(&text);
    } else if (options->argument_count == 1) {
        const char *name = options->arguments[0];
        size_t indent;
        if (!add_asked(name, &text, &indent)) {
            return fail_unknown(session, name);
        }
        grout_session__flush_prose(session, GROUT_STREAM_OUT, &text, indent);
    } else {
        for (int i = 1; i < GROUT_OP_COUNT; i++) {
            add_line((grout_opcode)i, &text);
        }
        grout_session__flush_prose(session, GROUT_STREAM_OUT, &text, (size_t)get_name_width() + 1);
    }
    grout_session__flush_exact(session, GROUT_STREAM_OUT, &text);
    return GROUT_EXIT_OK;
}
