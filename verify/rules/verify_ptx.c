/* verify_ptx.c - the text of an inline_ptx: it computes '$0' from the operands, and does nothing
 * else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <string.h>

#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS      "0123456789"
#define PUNCTUATION " .,;${}@!<>|-"

/* What computes values from registers alone. Whatever is not here may touch memory, order
 * something, jump, or ask other lanes. */
static const char *const instructions[] = {
    "abs",      "add",  "addc",  "and",  "bfe",   "bfi",  "bfind", "bmsk", "brev", "clz",  "cnot",
    "copysign", "cos",  "cvt",   "div",  "dp2a",  "dp4a", "ex2",   "fma",  "fns",  "lg2",  "lop3",
    "mad",      "madc", "max",   "min",  "mov",   "mul",  "neg",   "not",  "or",   "popc", "prmt",
    "rcp",      "rem",  "rsqrt", "sad",  "selp",  "set",  "setp",  "shf",  "shl",  "shr",  "sin",
    "slct",     "sqrt", "sub",   "subc", "szext", "tanh", "testp", "xor",
};

/* A text while it is read. */
typedef struct reader {
    grout_verifying *verifying;
    const grout_op *op;
    uint32_t operand_count; /* the highest placeholder */
    uint32_t used;          /* bit k: '$k' stands somewhere */
    bool is_written;        /* '$0' has its value */
    const char *statement;  /* the one at hand */
} reader;

static grout_loc_id get_loc(const reader *r) {
    return grout_module_get_operand(r->verifying->module, r->op, 1)->loc;
}

static bool is_instruction(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        if (strlen(instructions[i]) == length && strncmp(instructions[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool check_characters(const reader *r, const char *text) {
    const size_t length = strlen(text);
    const char bad = text[strspn(text, LETTERS DIGITS PUNCTUATION)];
    if (length > GROUT_PTX_MAX) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "PTX of %zu characters, more than %d", length, GROUT_PTX_MAX);
        grout_diags_help(r->verifying->diags, "split it into several operations");
        return false;
    }
    if (bad == '\0') {
        return true;
    }
    if (bad > ' ' && bad < 0x7f) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "'%c' has no place in inline PTX", bad);
    } else {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "a character that cannot be printed stands in inline PTX");
    }
    grout_diags_help(r->verifying->diags,
                     "operands are $1, $2 .., other registers are declared by .reg; memory, labels "
                     "and registers such as %%laneid have operations of their own");
    return false;
}

/* '$k' up to end: each is an operand, or the result. Sets bits of what is there. */
static bool read_placeholders(const reader *r, const char *text, const char *end, uint32_t *found) {
    *found = 0;
    for (const char *at = text; at < end; at++) {
        uint32_t number = 0;
        if (*at != '$') {
            continue;
        }
        const size_t digits = strspn(at + 1, DIGITS);
        for (size_t i = 1; i <= digits && number <= GROUT_EXTERN_OPERANDS_MAX; i++) {
            number = number * 10 + (uint32_t)(at[i] - '0');
        }
        if (digits == 0 || number > r->operand_count) {
            grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                    "'%.*s' is not an operand: there are $0 to $%u",
                                    (int)digits + 1, at, (unsigned)r->operand_count);
            grout_diags_help(r->verifying->diags, "$0 is the result, $1 the first of the operands");
            return false;
        }
        *found |= 1u << number;
    }
    return true;
}

/* The end of the first operand: a ',' outside braces, or the end. */
static const char *find_first_end(const char *text, const char *end) {
    int depth = 0;
    for (; text < end && (*text != ',' || depth > 0); text++) {
        depth += *text == '{' ? 1 : *text == '}' ? -1 : 0;
    }
    return text;
}

static bool check_braces(const reader *r, const char *text, const char *end) {
    int depth = 0;
    for (const char *at = text; at < end && depth >= 0 && depth <= 1; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    }
    if (depth != 0) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "braces of inline PTX do not match within a statement");
        grout_diags_help(r->verifying->diags, "they hold the parts of a vector; the text is a "
                                              "scope of its own already");
    }
    return depth == 0;
}

/* What an instruction writes and reads, after its name. */
static bool check_operands(reader *r, const char *text, const char *end, bool is_guarded) {
    const char *first_end = find_first_end(text, end);
    uint32_t written, read;
    if (!check_braces(r, text, end) || !read_placeholders(r, text, first_end, &written) ||
        !read_placeholders(r, first_end, end, &read)) {
        return false;
    }
    if ((written & ~1u) != 0) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "inline PTX writes to an operand, '%.*s'", (int)(first_end - text),
                                text);
        grout_diags_help(r->verifying->diags, "only $0 is written: declare a register by .reg for "
                                              "what lies between");
        return false;
    }
    if (!r->is_written && ((read & 1u) != 0 || (written != 0 && is_guarded))) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "$0 may have no value when inline PTX is at '%.*s'",
                                (int)(end - r->statement), r->statement);
        grout_diags_help(r->verifying->diags, "write it without a condition first");
        return false;
    }
    r->is_written |= written != 0;
    r->used |= written | read;
    return true;
}

/* What is declared, and a condition, is a register of the text's own: one of an operand's name
 * would hide it. */
static bool check_own(const reader *r, const char *text, const char *end) {
    if (memchr(text, '$', (size_t)(end - text)) == NULL) {
        return true;
    }
    grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                            "'%.*s' has an operand where a register of the text's own stands",
                            (int)(end - text), text);
    grout_diags_help(r->verifying->diags, "declare one by .reg, as in '.reg .pred p;'");
    return false;
}

static bool check_statement(reader *r, const char *text, const char *end) {
    text += strspn(text, " ");
    const bool is_guarded = *text == '@';
    r->statement = text;
    if (is_guarded) {
        const char *guard = text;
        text += strcspn(text, " ;");
        if (!check_own(r, guard, text)) {
            return false;
        }
        text += strspn(text, " ");
    }
    const size_t name = strcspn(text, " .;");
    if (!is_guarded && strncmp(text, ".reg ", 5) == 0) {
        return check_own(r, text, end);
    }
    if (!is_instruction(text, name)) {
        grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                "'%.*s' is not an instruction of inline PTX, which computes values "
                                "only",
                                (int)(name > 0 ? name : strcspn(text, " ;")), text);
        grout_diags_help(r->verifying->diags,
                         "memory, barriers, jumps and other lanes: write the operation, whose "
                         "accesses and order can be checked");
        return false;
    }
    text += strcspn(text, " ;");
    text += strspn(text, " ");
    return check_operands(r, text, end, is_guarded);
}

static bool check_text(reader *r, const char *text) {
    if (!check_characters(r, text)) {
        return false;
    }
    while (*(text += strspn(text, " ")) != '\0') {
        const char *end = strchr(text, ';');
        if (end == NULL) {
            grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                    "inline PTX ends without ';'");
            grout_diags_help(r->verifying->diags, "end each statement with ';'");
            return false;
        }
        if (!check_statement(r, text, end)) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static bool check_use(const reader *r) {
    for (uint32_t k = 0; k <= r->operand_count; k++) {
        if ((r->used >> k & 1) == 0) {
            grout_verifying__report(r->verifying, GROUT_DIAG_BAD_PTX, get_loc(r),
                                    k == 0 ? "inline PTX does not write its result, $%u"
                                           : "inline PTX does not read the operand $%u",
                                    (unsigned)k);
            grout_diags_help(r->verifying->diags, "$0 is the result, $1 the first of the operands");
            return false;
        }
    }
    return true;
}

/* asm has registers of 16, 32 and 64 bits. */
static bool check_register(const reader *r, grout_loc_id loc, uint8_t dtype) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)dtype);
    if (info->bits >= 16 && info->class_ != GROUT_CLASS_BOOL) {
        return true;
    }
    grout_verifying__report(r->verifying, GROUT_DIAG_TYPE_CLASS, loc,
                            "inline PTX has no register for %s", info->text);
    grout_diags_help(r->verifying->diags, "cast to a type of 16, 32 or 64 bits around it");
    return false;
}

void grout_verify__ptx(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const char *text = grout_op_get_ptx(module, op);
    const uint32_t texts = grout_op_count_texts(op);
    if (text == NULL || op->operand_count - texts > GROUT_EXTERN_OPERANDS_MAX) {
        return;
    }
    reader r = {.verifying = verifying, .op = op, .operand_count = op->operand_count - texts};
    bool ok = check_register(&r, op->loc, grout_module_get_type(module, op->first_result)->dtype);
    for (uint32_t k = texts; ok && k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        ok = check_register(&r, operand->loc, grout_module_get_operand_type(module, operand).dtype);
    }
    if (ok && check_text(&r, text)) {
        (void)check_use(&r);
    }
}
