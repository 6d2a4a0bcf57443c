/* parse_axis.c - the names of axes wherever they are used: in operands, attributes and barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

static const char *get_kind_text(uint8_t kind) {
    return kind == GROUT_AXIS_GRID ? "grid" : kind == GROUT_AXIS_CLUSTER ? "cluster" : "threads";
}

bool grout_parser__axis(grout_parser *p, bool cluster_only, uint32_t *index_out) {
    const grout_kernel *kernel = grout_module_get_kernel(p->module, p->kernel);
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, cluster_only ? "the name of a cluster axis"
                                                      : "the name of an axis");
    }
    const char *text = p->lexer.text + p->token.offset;
    grout_string_id name = grout_module__find_string(p->module, text, p->token.size);
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        bool is_wanted = !cluster_only || kernel->axes[i].kind == GROUT_AXIS_CLUSTER;
        if (kernel->axes[i].name == name && is_wanted) {
            *index_out = i;
            grout_parser__advance(p);
            return true;
        }
        if (kernel->axes[i].name == name) {
            (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_NAME,
                                      "'%.*s' is a %s axis, and a cluster axis is needed here",
                                      (int)p->token.size, text,
                                      get_kind_text(kernel->axes[i].kind));
            grout_parser__note(p, kernel->axes[i].loc, "the axis is here");
            return false;
        }
        if (is_wanted) {
            grout_suggest__offer(&suggestion,
                                 grout_module_get_string(p->module, kernel->axes[i].name));
        }
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_NAME,
                              "the kernel has no %saxis '%.*s'", cluster_only ? "cluster " : "",
                              (int)p->token.size, text);
    if (suggestion.best != NULL) {
        grout_parser__suggest(p, "", suggestion.best);
    } else {
        grout_parser__help(p, "axes are named in the kernel's header: '%s(%.*s = ..)'",
                           cluster_only ? "cluster" : "grid", (int)p->token.size, text);
    }
    return false;
}

/* One axis more for a set; taken has all that stand already. */
static bool add_to_set(grout_parser *p, uint32_t *taken, uint32_t *set) {
    grout_token name = p->token;
    uint32_t axis = 0;
    if (!grout_parser__axis(p, true, &axis)) {
        return false;
    }
    if ((*taken >> axis & 1u) != 0) {
        return grout_parser__error(p, &name, GROUT_DIAG_BAD_ATTRIBUTE, "axis '%.*s' stands twice",
                                   (int)name.size, p->lexer.text + name.offset);
    }
    *taken |= 1u << axis;
    *set |= 1u << axis;
    return true;
}

bool grout_parser__axis_set(grout_parser *p, uint8_t *set_out) {
    uint32_t taken = 0, set = 0;
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and cluster axes")) {
        return false;
    }
    do {
        if (!add_to_set(p, &taken, &set)) {
            return false;
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    *set_out = (uint8_t)set;
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* An axis, or several of them in parentheses. */
static bool parse_group(grout_parser *p, uint32_t *taken, uint32_t *set) {
    if (!grout_parser__accept(p, GROUT_TOKEN_LEFT_PAREN)) {
        return add_to_set(p, taken, set);
    }
    do {
        if (!add_to_set(p, taken, set)) {
            return false;
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

bool grout_parser__axis_groups(grout_parser *p, grout_object *object) {
    uint32_t taken = 0;
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and cluster axes")) {
        return false;
    }
    do {
        uint32_t set = 0;
        if (!parse_group(p, &taken, &set)) {
            return false;
        }
        grout_object__add_group(object, set);
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}
