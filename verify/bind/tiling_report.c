/* tiling_report.c - why no tile and swizzle suit all that uses an array in 'tile(infer)'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tiling.h"

#include "invariant.h"
#include "type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- why one use refuses one candidate ---------------------------------------------------------
 */

typedef struct refusal {
    grout_diag_code code; /* NONE: there was no memory to say why, which is reported */
    grout_place place;
    char text[320];
} refusal;

static refusal get_refusal(grout_tiling_search *search, const grout_tiling_use *use,
                           uint32_t candidate) {
    const grout_module *module = search->binding->module;
    refusal why = {.code = GROUT_DIAG_NONE};
    grout_diags *diags = grout_diags_new_in(module->allocator);
    grout_tiling__apply(search, candidate);
    if (diags == NULL) {
        search->binding->ok = grout_diags_add_oom(search->binding->diags);
    } else if (!grout_tiling__is_fine(search, use, diags) && grout_diags_count(diags) > 0) {
        const grout_diag *first = grout_diags_get(diags, 0);
        const grout_op *op = grout_module_get_op(module, use->op);
        why.code = first->code;
        why.place =
            grout_module_get_place(module, grout_module_get_operand(module, op, use->operand)->loc);
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

/* Whether the layout that the array has now has the view of it that a use is of. Nobody else says
 * that there is none. */
static bool has_view(const grout_tiling_search *search, const grout_tiling_use *use) {
    const grout_module *module = search->binding->module;
    const grout_op *op = grout_module_get_op(module, use->op);
    grout_view view;
    return grout_module_get_view(module, grout_module_get_operand(module, op, use->operand), &view);
}

bool grout_tiling__is_foreign(grout_tiling_search *search, const grout_tiling_use *use) {
    refusal first = {.code = GROUT_DIAG_NONE};
    uint32_t count = 0;
    for (uint32_t k = 0; k < search->count; k++) {
        if ((search->possible >> k & 1u) == 0) {
            continue;
        }
        const refusal why = get_refusal(search, use, k);
        if (!has_view(search, use)) {
            return false;
        }
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

/* ---- which uses --------------------------------------------------------------------------------
 */

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
    return grout_module_get_place(module, grout_module_get_operand(module, op, use->operand)->loc);
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* "in tile(8, 64) swizzle(128)" */
static void add_tiling(const grout_tiling_candidate *candidate, const char *join, grout_text *out) {
    const grout_tiling *tiling = &candidate->tiling;
    const char *in = tiling->rank > 0 ? "in " : tiling->swizzle != 0 ? "in rows with " : "";
    grout_text_add(out, "%s%s%s", join, in,
                   in[0] == '\0' ? "without a tile" : grout_tiling_get_text(tiling).chars);
}

/* "'wgmma' takes it in tile(8, 64) swizzle(128), .." at the use. */
static void note_wish(const grout_tiling_search *search, const grout_tiling_use *use) {
    enum { SHOWN_MAX = 3 };
    grout_text list = {.allocator = search->binding->module->allocator};
    uint32_t count = 0;
    for (uint32_t k = 0; k < search->count; k++) {
        if ((use->fits >> k & 1u) != 0 && count++ < SHOWN_MAX) {
            add_tiling(&search->candidates[k], count > 1 ? ", " : "", &list);
        }
    }
    if (count > SHOWN_MAX) {
        grout_text_add(&list, " and %" PRIu32 " more", count - SHOWN_MAX);
    }
    grout_diags_note(search->binding->diags, get_place(search, use), "'%s' takes it %s",
                     get_mnemonic(search, use), list.failed ? "" : list.data);
    grout_text_free(&list);
}

/* Why a candidate is not tried. */
static void note_fault(const grout_tiling_search *search, uint8_t fault, const char *list) {
    const grout_type *type = grout_object_get_type(search->binding->module, search->object);
    const grout_place nowhere = {.file = NULL};
    if (fault == GROUT_TILING_NO_ROWS) {
        grout_diags_note(search->binding->diags, nowhere, "%s: %s has no whole tiles", list,
                         grout_type__get_shape_text(type).chars);
    } else if (fault == GROUT_TILING_UNALIGNED) {
        grout_diags_note(search->binding->diags, nowhere,
                         "%s: an alias with a swizzle starts at a multiple of 1024 bytes", list);
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

/* What became of a candidate: of those in one note it is the same. */
typedef struct verdict {
    uint8_t fault;               /* grout_tiling_fault; FINE: */
    const grout_tiling_use *use; /* this one refuses it; else NULL */
    refusal why;
} verdict;

static verdict judge(grout_tiling_search *search, const contradiction *between,
                     uint32_t candidate) {
    verdict it = {.fault = search->candidates[candidate].fault};
    if (it.fault == GROUT_TILING_FINE) {
        it.use = find_refuser(search, between, candidate);
        GROUT_ASSERT(it.use != NULL);
    }
    if (it.use != NULL) {
        it.why = get_refusal(search, it.use, candidate);
    }
    return it;
}

static bool is_alike(const verdict *a, const verdict *b) {
    return a->fault == b->fault && a->use == b->use && strcmp(a->why.text, b->why.text) == 0;
}

static void note_verdict(grout_tiling_search *search, const verdict *it, const grout_text *list) {
    if (list->failed) {
        search->binding->ok = grout_diags_add_oom(search->binding->diags);
    } else if (it->use == NULL) {
        note_fault(search, it->fault, list->data);
    } else {
        grout_diags_note(search->binding->diags, it->why.place, "%s '%s' refuses it: %s",
                         list->data, get_mnemonic(search, it->use), it->why.text);
    }
}

/* Names those of a set that have the same verdict, and takes them out of it. */
static void take_alike(grout_tiling_search *search, const contradiction *between,
                       const verdict *first, uint64_t *left, grout_text *list) {
    for (uint32_t k = 0; k < search->count; k++) {
        if ((*left >> k & 1u) == 0) {
            continue;
        }
        const verdict next = judge(search, between, k);
        if (is_alike(first, &next)) {
            add_tiling(&search->candidates[k], list->size > 0 ? ", " : "", list);
            *left &= ~(UINT64_C(1) << k);
        }
    }
}

/* Notes for all candidates but those that differ from another one by the rows of a tile. */
static void note_verdicts(grout_tiling_search *search, const contradiction *between) {
    uint64_t left = 0;
    for (uint32_t k = 0; k < search->count; k++) {
        left |= (uint64_t)!search->candidates[k].is_height << k;
    }
    for (uint32_t k = 0; k < search->count; k++) {
        if ((left >> k & 1u) != 0) {
            const verdict first = judge(search, between, k);
            grout_text list = {.allocator = search->binding->module->allocator};
            take_alike(search, between, &first, &left, &list);
            note_verdict(search, &first, &list);
            grout_text_free(&list);
        }
    }
}

static void add_headline(const grout_tiling_search *search, const contradiction *between) {
    const grout_module *module = search->binding->module;
    const grout_object *object = grout_module_get_object(module, search->object);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const grout_place place = grout_module_get_place(module, object->loc);
    grout_diags *diags = search->binding->diags;
    if (search->possible == 0) {
        grout_diags_add(diags, GROUT_DIAG_TILE_CONFLICT, place,
                        "%s can have no tile with the swizzle that is written", name.chars);
    } else if (between->second != NULL) {
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

static bool has_fault(const grout_tiling_search *search, grout_tiling_fault fault) {
    for (uint32_t k = 0; k < search->count; k++) {
        if (search->candidates[k].fault == fault) {
            return true;
        }
    }
    return false;
}

static void add_help(const grout_tiling_search *search, const contradiction *between) {
    const char *help = "change the use as its note says, or write a tile and a swizzle to see the "
                       "one error that is left";
    if (between->second != NULL) {
        help = "give one of the two an array of its own, or an alias with another tile; or change "
               "one of them as its note says";
    } else if (has_fault(search, GROUT_TILING_UNALIGNED)) {
        help = "start the alias at a multiple of 1024 bytes";
    } else if (has_fault(search, GROUT_TILING_NO_ROWS)) {
        help = search->possible == 0
                   ? "leave the swizzle to tile(infer) too, or make the rows a multiple of it"
                   : "pad the array to multiples of 8 rows, and rows to multiples of 16, 32, 64 or "
                     "128 bytes";
    }
    grout_diags_help(search->binding->diags, "%s", help);
}

void grout_tiling__report(grout_tiling_search *search) {
    const contradiction between = find_contradiction(search);
    search->binding->ok = false;
    add_headline(search, &between);
    if (between.second != NULL) {
        note_wish(search, between.first);
        note_wish(search, between.second);
    }
    note_verdicts(search, &between);
    add_help(search, &between);
}
