/* tiling_report.c - why no tile and swizzle suit all that uses an array in 'tile(infer)'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tiling.h"

#include "invariant.h"
#include "type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- why one use refuses one candidate --------------------------------------------------------- */

typedef struct refusal {
    grout_diag_code code; /* NONE: there is no memory to say why */
    grout_place place;
    char text[320];
} refusal;

static refusal get_refusal(grout_tiling_search *search, const grout_tiling_use *use,
                           uint32_t candidate) {
    const grout_module *module = search->binding->module;
    refusal why = {.code = GROUT_DIAG_NONE};
    grout_diags *diags = grout_diags_new_in(module->allocator);
    grout_tiling__apply(search, candidate);
    if (diags != NULL && !grout_tiling__is_fine(search, use, diags) &&
        grout_diags_count(diags) > 0) {
        const grout_diag *first = grout_diags_get(diags, 0);
        const grout_op *op = grout_module_get_op(module, use->op);
        why.code = first->code;
        why.place = grout_module_get_place(
            module, grout_module_get_operand(module, op, use->operand)->loc);
        (void)snprintf(why.text, sizeof why.text, "%s", first->message);
    }
    grout_diags_free(diags);
    return why;
}

/* Whether a refusal can be about where the elements lie. */
static bool is_of_layout(grout_diag_code code) {
    return code == GROUT_DIAG_WGMMA_OPERAND || code == GROUT_DIAG_BAD_TRANSFORM ||
           code == GROUT_DIAG_TMA_LAYOUT || code == GROUT_DIAG_TMA_BOX ||
           code == GROUT_DIAG_TMA_INNER_BYTES || code == GROUT_DIAG_ASYNC_PIECES;
}

/* Whether some candidate would have been another layout, if the array had whole tiles of it. */
static bool misses_tiles(const grout_tiling_search *search) {
    for (uint32_t k = 0; k < search->count; k++) {
        if (search->candidates[k].fault == GROUT_TILING_NO_ROWS ||
            search->candidates[k].fault == GROUT_TILING_UNALIGNED) {
            return true;
        }
    }
    return false;
}

bool grout_tiling__is_foreign(grout_tiling_search *search, const grout_tiling_use *use) {
    refusal first = {.code = GROUT_DIAG_NONE};
    uint32_t count = 0;
    for (uint32_t k = 0; k < search->count; k++) {
        if ((search->possible >> k & 1u) == 0) {
            continue;
        }
        const refusal why = get_refusal(search, use, k);
        if (!is_of_layout(why.code)) {
            return true;
        }
        if (count++ == 0) {
            first = why;
        } else if (strcmp(first.text, why.text) != 0) {
            return false;
        }
    }
    return count > 1 || !misses_tiles(search);
}

/* ---- which uses -------------------------------------------------------------------------------- */

/* The uses that the report is about: one that takes nothing, or the first two that share nothing;
 * NULL: only all together do. */
typedef struct contradiction {
    const grout_tiling_use *first, *second;
} contradiction;

static contradiction find_contradiction(const grout_tiling_search *search) {
    for (size_t i = 0; i < search->uses.count; i++) {
        const grout_tiling_use *use = &search->uses.items[i];
        if (!use->is_foreign && use->fits == 0) {
            return (contradiction){.first = use};
        }
    }
    for (size_t i = 0; i < search->uses.count; i++) {
        const grout_tiling_use *first = &search->uses.items[i];
        for (size_t j = i + 1; !first->is_foreign && j < search->uses.count; j++) {
            const grout_tiling_use *second = &search->uses.items[j];
            if (!second->is_foreign && (first->fits & second->fits) == 0) {
                return (contradiction){.first = first, .second = second};
            }
        }
    }
    return (contradiction){.first = NULL};
}

static const char *get_mnemonic(const grout_tiling_search *search, const grout_tiling_use *use) {
    const grout_op *op = grout_module_get_op(search->binding->module, use->op);
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

static grout_place get_place(const grout_tiling_search *search, const grout_tiling_use *use) {
    const grout_module *module = search->binding->module;
    const grout_op *op = grout_module_get_op(module, use->op);
    return grout_module_get_place(module,
                                  grout_module_get_operand(module, op, use->operand)->loc);
}

/* ---- words ------------------------------------------------------------------------------------- */

/* "this 'wgmma' takes tile(8, 64) swizzle(128), .." at the use. */
static void note_wish(const grout_tiling_search *search, const grout_tiling_use *use) {
    char list[200] = "";
    size_t size = 0;
    uint32_t shown = 0, left = 0;
    enum { SHOWN_MAX = 3 };
    for (uint32_t k = 0; k < search->count; k++) {
        if ((use->fits >> k & 1u) == 0) {
            continue;
        }
        if (shown == SHOWN_MAX) {
            left++;
            continue;
        }
        const grout_tiling_text text = grout_tiling_get_text(&search->candidates[k].tiling);
        size += (size_t)snprintf(list + size, sizeof list - size, "%s%s", shown > 0 ? ", " : "",
                                 text.chars);
        shown++;
    }
    char more[32] = "";
    if (left > 0) {
        (void)snprintf(more, sizeof more, " and %" PRIu32 " more", left);
    }
    grout_diags_note(search->binding->diags, get_place(search, use), "'%s' takes %s%s",
                     get_mnemonic(search, use), shown == 0 ? "none" : list, more);
}

static void note_fault(const grout_tiling_search *search, const grout_tiling_candidate *candidate) {
    const grout_module *module = search->binding->module;
    const grout_type *type = grout_object_get_type(module, search->object);
    const grout_tiling_text text = grout_tiling_get_text(&candidate->tiling);
    const grout_place nowhere = {.file = NULL};
    if (candidate->fault == GROUT_TILING_NO_ROWS) {
        grout_diags_note(search->binding->diags, nowhere, "%s does not divide %s", text.chars,
                         grout_type__get_shape_text(type).chars);
    } else if (candidate->fault == GROUT_TILING_UNALIGNED) {
        grout_diags_note(search->binding->diags, nowhere,
                         "%s: an alias with a swizzle starts at a multiple of 1024 bytes",
                         text.chars);
    }
}

/* Which use refuses a candidate: one of the two that contradict each other, if they do. */
static const grout_tiling_use *find_refuser(const grout_tiling_search *search,
                                            const contradiction *between, uint32_t candidate) {
    const grout_tiling_use *const two[] = {between->first, between->second};
    for (uint32_t k = 0; k < 2; k++) {
        if (two[k] != NULL && (two[k]->fits >> candidate & 1u) == 0) {
            return two[k];
        }
    }
    for (size_t i = 0; i < search->uses.count; i++) {
        const grout_tiling_use *use = &search->uses.items[i];
        if (!use->is_foreign && (use->fits >> candidate & 1u) == 0) {
            return use;
        }
    }
    return NULL;
}

/* "tile(8, 64) swizzle(128): rows of .." at the use that refuses it. */
static void note_refusal(grout_tiling_search *search, const contradiction *between,
                         uint32_t candidate) {
    const grout_tiling_use *use = find_refuser(search, between, candidate);
    const grout_tiling_text text = grout_tiling_get_text(&search->candidates[candidate].tiling);
    GROUT_ASSERT(use != NULL);
    if (use != NULL) {
        const refusal why = get_refusal(search, use, candidate);
        grout_diags_note(search->binding->diags, why.place, "%s, '%s': %s", text.chars,
                         get_mnemonic(search, use), why.text);
    }
}

static void add_headline(const grout_tiling_search *search, const contradiction *between) {
    const grout_module *module = search->binding->module;
    const grout_object *object = grout_module_get_object(module, search->object);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const grout_place place = grout_module_get_place(module, object->loc);
    grout_diags *diags = search->binding->diags;
    if (between->second != NULL) {
        grout_diags_add(diags, GROUT_DIAG_TILE_CONFLICT, place,
                        "no tile and swizzle of %s suit both '%s' and '%s'", name.chars,
                        get_mnemonic(search, between->first),
                        get_mnemonic(search, between->second));
    } else if (between->first != NULL) {
        grout_diags_add(diags, GROUT_DIAG_TILE_CONFLICT, place,
                        "no tile and swizzle of %s suit '%s'", name.chars,
                        get_mnemonic(search, between->first));
    } else {
        grout_diags_add(diags, GROUT_DIAG_TILE_CONFLICT, place,
                        "no tile and swizzle of %s suit all that uses it", name.chars);
    }
}

static void add_help(const grout_tiling_search *search, const contradiction *between) {
    grout_diags *diags = search->binding->diags;
    if (between->second != NULL) {
        grout_diags_help(diags, "give one of the two an array of its own, or an alias with another "
                                "tile; or change one of them as its note says");
    } else if (misses_tiles(search)) {
        grout_diags_help(diags, "pad the array to multiples of 8 rows, and rows to multiples of 16, "
                                "32, 64 or 128 bytes");
    } else {
        grout_diags_help(diags, "change the use as its note says, or write tile and swizzle "
                                "yourself to see the one error that is left");
    }
}

void grout_tiling__report(grout_tiling_search *search) {
    const contradiction between = find_contradiction(search);
    search->binding->ok = false;
    add_headline(search, &between);
    if (between.second != NULL) {
        note_wish(search, between.first);
        note_wish(search, between.second);
    }
    for (uint32_t k = 0; k < search->count; k++) {
        const grout_tiling_candidate *candidate = &search->candidates[k];
        if (candidate->fault != GROUT_TILING_FINE) {
            note_fault(search, candidate);
        } else if (!candidate->is_height) {
            note_refusal(search, &between, k);
        }
    }
    add_help(search, &between);
}
