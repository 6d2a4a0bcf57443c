/* parse_header.c - the header of a kernel after its parameters: axes and attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

#include <string.h>

static grout_kernel *get_kernel(grout_parser *p) {
    return GROUT_TABLE_AT(p->module->kernels, grout_kernel, p->kernel);
}

bool grout_parser__check_free(grout_parser *p, const grout_token *token, const char *what) {
    const char *text = p->lexer.text + token->offset;
    if (grout_word__get_kind(text, token->size) == GROUT_WORD_FREE) {
        return true;
    }
    return grout_parser__error(p, token, GROUT_DIAG_RESERVED_NAME,
                               "'%.*s' is a word of the language and cannot name %s",
                               (int)token->size, text, what);
}

void grout_parser__report_duplicate(grout_parser *p, const grout_token *token, grout_loc_id first) {
    (void)grout_parser__error(p, token, GROUT_DIAG_DUPLICATE_NAME, "'%.*s' is defined twice",
                              (int)token->size, p->lexer.text + token->offset);
    grout_parser__note(p, first, "first defined here");
}

void grout_parser__skip_part(grout_parser *p) {
    uint32_t open = 0;
    while (p->token.kind != GROUT_TOKEN_END && p->token.kind != GROUT_TOKEN_LEFT_BRACE &&
           p->token.kind != GROUT_TOKEN_RIGHT_BRACE && !grout_parser__at_item(p)) {
        bool is_open =
            p->token.kind == GROUT_TOKEN_LEFT_PAREN || p->token.kind == GROUT_TOKEN_LEFT_BRACKET;
        bool is_close =
            p->token.kind == GROUT_TOKEN_RIGHT_PAREN || p->token.kind == GROUT_TOKEN_RIGHT_BRACKET;
        if (open == 0 &&
            (p->token.kind == GROUT_TOKEN_COMMA || p->token.kind == GROUT_TOKEN_RIGHT_PAREN)) {
            return;
        }
        open += is_open;
        open -= is_close && open > 0;
        grout_parser__advance(p);
    }
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* The groups of axes, by grout_axis_kind. */
static const struct {
    const char *word, *sample;
} groups[] = {
    [GROUT_AXIS_GRID] = {"grid", "grid(x = 2)"},
    [GROUT_AXIS_CLUSTER] = {"cluster", "cluster(cx = 2)"},
    [GROUT_AXIS_THREADS] = {"threads", "threads(wg = 2)"},
};
enum { GROUP_COUNT = sizeof groups / sizeof groups[0] };

/* Puts an axis after those of its kind: grid axes before cluster axes before thread axes. */
static bool add_axis(grout_parser *p, const grout_token *token, const grout_axis *axis) {
    grout_kernel *kernel = get_kernel(p);
    if (kernel->axis_count == GROUT_AXES_MAX) {
        return grout_parser__error(p, token, GROUT_DIAG_LIMIT, "more than %d axes", GROUT_AXES_MAX);
    }
    uint32_t at = kernel->axis_count, same_kind = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        same_kind += kernel->axes[i].kind == axis->kind;
        if (kernel->axes[i].name == axis->name) {
            grout_parser__report_duplicate(p, token, kernel->axes[i].loc);
            return true;
        }
    }
    if (axis->kind == GROUT_AXIS_CLUSTER && same_kind == GROUT_CLUSTER_AXES_MAX) {
        return grout_parser__error(p, token, GROUT_DIAG_LIMIT, "more than %d cluster axes",
                                   GROUT_CLUSTER_AXES_MAX);
    }
    while (at > 0 && kernel->axes[at - 1].kind > axis->kind) {
        kernel->axes[at] = kernel->axes[at - 1];
        at--;
    }
    kernel->axes[at] = *axis;
    kernel->axis_count++;
    return true;
}

static bool parse_axis(grout_parser *p, grout_axis_kind kind) {
    grout_token name = p->token;
    grout_axis axis = {.kind = (uint8_t)kind};
    if (name.kind != GROUT_TOKEN_NAME) {
        (void)grout_parser__expected(p, "the name of an axis");
        grout_parser__help(p, "axes have names: %s", groups[kind].sample);
        return false;
    }
    bool is_free = grout_parser__check_free(p, &name, "an axis");
    axis.name = grout_parser__intern(p, &name);
    axis.loc = grout_parser__add_loc(p, &name);
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_ASSIGN, "'=' and the size of the axis") &&
           grout_parser__constant(p, &axis.size) && (!is_free || add_axis(p, &name, &axis));
}

static bool parse_axis_group(grout_parser *p, grout_axis_kind kind) {
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")) {
        return false;
    }
    do {
        if (!parse_axis(p, kind)) {
            grout_parser__skip_part(p);
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* ---- attributes of the kernel ---------------------------------------------------------------- */

/* What is said of a name that is no hardware. */
static bool report_arch(grout_parser *p, const grout_token *token, const char *text) {
    (void)grout_parser__error(p, token, GROUT_DIAG_BAD_ATTRIBUTE, "there is no arch \"%.40s\"",
                              text);
    if (strncmp(text, "sm_12", 5) == 0) {
        grout_parser__help(p, GROUT_ARCH_WITHOUT_TENSOR_MEMORY);
        return false;
    }
    grout_suggestion suggestion = grout_suggest__begin(text, strlen(text));
    for (int arch = GROUT_ARCH_SM_90A; arch < GROUT_ARCH_ANY; arch++) {
        grout_suggest__offer(&suggestion, grout_arch_get_text((grout_arch)arch));
    }
    if (suggestion.best != NULL) {
        grout_parser__help(p, "did you mean \"%s\"?", suggestion.best);
    } else {
        grout_parser__help(p, "there are \"sm_90a\", \"sm_100a\", \"sm_103a\" and \"sm_110a\"");
    }
    return false;
}

/* 'arch' '=' and its name, a string, from after the '='. */
static bool parse_arch(grout_parser *p) {
    const grout_token token = p->token;
    const grout_loc_id loc = grout_parser__add_loc(p, &token);
    grout_string_id name = 0;
    grout_arch arch = GROUT_ARCH_ANY;
    if (!grout_parser__string(p, &name)) {
        return false;
    }
    const char *text = grout_module_get_string(p->module, name);
    if (!grout_arch_find(text, &arch) || arch == GROUT_ARCH_ANY) {
        return report_arch(p, &token, text);
    }
    get_kernel(p)->has_arch = true;
    get_kernel(p)->arch = (uint8_t)arch;
    get_kernel(p)->arch_loc = loc;
    return true;
}

/* 'cluster_exit' '=' 'sync' or 'none', from after the '='. */
static bool parse_cluster_exit(grout_parser *p) {
    static const struct {
        const char *word;
        grout_cluster_exit exit;
    } words[] = {{"sync", GROUT_CLUSTER_EXIT_SYNC}, {"none", GROUT_CLUSTER_EXIT_NONE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (grout_parser__is_word(p, &p->token, words[i].word)) {
            get_kernel(p)->cluster_exit = (uint8_t)words[i].exit;
            grout_parser__advance(p);
            return true;
        }
    }
    (void)grout_parser__expected(p, "'sync' or 'none'");
    if (p->token.kind == GROUT_TOKEN_NAME) {
        grout_suggestion suggestion =
            grout_suggest__begin(p->lexer.text + p->token.offset, p->token.size);
        grout_suggest__offer(&suggestion, "sync");
        grout_suggest__offer(&suggestion, "none");
        grout_parser__suggest(p, "", suggestion.best);
    }
    return false;
}

/* 'auto_fence' '=' 0 or 1, from after the '='. */
static bool parse_auto_fence(grout_parser *p) {
    uint64_t value = 2;
    if (p->token.kind != GROUT_TOKEN_INT ||
        !grout_lexer__get_integer(&p->lexer, &p->token, &value) || value > 1) {
        return grout_parser__expected(p, "0 or 1");
    }
    get_kernel(p)->has_auto_fence = true;
    get_kernel(p)->auto_fence = value == 1;
    grout_parser__advance(p);
    return true;
}

/* 'partition_warps' '=' '[' numbers ']', from after the '='. Which numbers make sense is the
 * verifier's affair. */
static bool parse_partition_warps(grout_parser *p) {
    const grout_loc_id loc = grout_parser__add_loc(p, &p->token);
    get_kernel(p)->partition_loc = loc;
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_BRACKET, "'[' and the warps of each thread")) {
        return false;
    }
    do {
        grout_kernel *kernel = get_kernel(p);
        uint64_t value = 0;
        if (p->token.kind != GROUT_TOKEN_INT ||
            !grout_lexer__get_integer(&p->lexer, &p->token, &value) || value > UINT32_MAX) {
            return grout_parser__expected(p, "the warps of a thread: 1, 2 or 4");
        }
        if (kernel->partition_count == GROUT_THREADS_MAX) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_ATTRIBUTE,
                                       "more than %d threads in 'partition_warps'",
                                       GROUT_THREADS_MAX);
        }
        kernel->partition_warps[kernel->partition_count++] = (uint32_t)value;
        grout_parser__advance(p);
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_BRACKET, "',' or ']'");
}

static const struct {
    const char *word;
    bool (*parse)(grout_parser *p);
} kernel_attrs[] = {{"arch", parse_arch},
                    {"cluster_exit", parse_cluster_exit},
                    {"auto_fence", parse_auto_fence},
                    {"partition_warps", parse_partition_warps}};
enum { KERNEL_ATTR_COUNT = sizeof kernel_attrs / sizeof kernel_attrs[0] };

static bool report_kernel_attr(grout_parser *p) {
    const char *text = p->lexer.text + p->token.offset;
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (size_t i = 0; i < KERNEL_ATTR_COUNT; i++) {
        grout_suggest__offer(&suggestion, kernel_attrs[i].word);
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_ATTRIBUTE,
                              "a kernel has no attribute '%.*s'", (int)p->token.size, text);
    if (suggestion.best != NULL) {
        grout_parser__suggest(p, "", suggestion.best);
    } else {
        grout_parser__help(p, "there are: attr arch = \"sm_100a\", attr cluster_exit = sync, "
                              "attr auto_fence = 1, attr partition_warps = [4, 1]");
    }
    return false;
}

/* NAME '=' value. */
static bool parse_kernel_attr(grout_parser *p, uint32_t *seen) {
    for (uint32_t i = 0; i < KERNEL_ATTR_COUNT; i++) {
        if (!grout_parser__is_word(p, &p->token, kernel_attrs[i].word)) {
            continue;
        }
        if ((*seen >> i & 1u) != 0) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_ATTRIBUTE,
                                       "attribute '%s' stands twice", kernel_attrs[i].word);
        }
        *seen |= 1u << i;
        grout_parser__advance(p);
        return grout_parser__expect(p, GROUT_TOKEN_ASSIGN, "'=' and the attribute's value") &&
               kernel_attrs[i].parse(p);
    }
    return report_kernel_attr(p);
}

/* 'attr' and one attribute or more. */
static bool parse_kernel_attrs(grout_parser *p, uint32_t *seen) {
    if (get_kernel(p)->attr_loc == 0) {
        grout_loc_id loc = grout_parser__add_loc(p, &p->token);
        get_kernel(p)->attr_loc = loc;
    }
    grout_parser__advance(p);
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, "the name of an attribute");
    }
    do {
        if (!parse_kernel_attr(p, seen)) {
            return false;
        }
    } while (p->token.kind == GROUT_TOKEN_NAME && p->ahead.kind == GROUT_TOKEN_ASSIGN);
    return true;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* What is wrong with a word between the parameters and the body. */
static bool report_header_word(grout_parser *p) {
    const char *text = p->lexer.text + p->token.offset;
    if (p->token.kind == GROUT_TOKEN_NAME &&
        grout_word__get_kind(text, p->token.size) == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_SYNTAX);
    }
    (void)grout_parser__unexpected(p, "'grid', 'cluster', 'threads', 'attr' or '{'");
    if (p->token.kind == GROUT_TOKEN_NAME) {
        grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
        for (size_t i = 0; i < GROUP_COUNT; i++) {
            grout_suggest__offer(&suggestion, groups[i].word);
        }
        grout_suggest__offer(&suggestion, "attr");
        grout_parser__suggest(p, "", suggestion.best);
    }
    return false;
}

/* The group of axes that the next word begins, or their number. */
static uint32_t find_group(const grout_parser *p) {
    uint32_t kind = 0;
    while (kind < GROUP_COUNT && !grout_parser__is_word(p, &p->token, groups[kind].word)) {
        kind++;
    }
    return kind;
}

bool grout_parser__kernel_header(grout_parser *p) {
    bool has_group[GROUP_COUNT] = {false};
    uint32_t seen_attrs = 0;
    while (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        uint32_t kind = find_group(p);
        if (kind == GROUP_COUNT && grout_parser__is_word(p, &p->token, "attr")) {
            if (!parse_kernel_attrs(p, &seen_attrs)) {
                return false;
            }
            continue;
        }
        if (kind == GROUP_COUNT) {
            return report_header_word(p);
        }
        if (has_group[kind]) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX, "'%s' stands twice",
                                       groups[kind].word);
        }
        has_group[kind] = true;
        if (!parse_axis_group(p, (grout_axis_kind)kind)) {
            return false;
        }
    }
    return true;
}
