/*
 * tiling.c - the tile and swizzle of an array in 'tile(infer)'.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A candidate becomes the layout of the array and of the views that are made of it, and every use
 * is asked whether it could be planned so: by the functions that plan it for the interpreter and
 * the CUDA, so nothing is known twice. The best of the candidates that suit all uses stays.
 *
 * Each array is chosen for by itself: but for copies through one descriptor of the run, no
 * operation asks that the layouts of two arrays agree.
 */
#include "tiling.h"

#include "alloc.h"

#include <string.h>

void grout_tiling__apply(grout_tiling_search *search, uint32_t candidate) {
    grout_binding *binding = search->binding;
    const grout_tiling *tiling = &search->candidates[candidate].tiling;
    const grout_type type = binding->bound->object_types[search->object];
    const uint8_t packed = grout_type_get_packed(&type);
    grout_layout_spec spec = search->rows;
    spec.tile_rank = tiling->rank;
    spec.swizzle = tiling->swizzle;
    for (uint32_t k = 0; k < tiling->rank; k++) {
        spec.tile[k] = tiling->tile[k] / (k + 1u == tiling->rank ? packed : 1);
    }
    binding->bound->object_tilings[search->object] = *tiling;
    grout_binding__set_object(binding, search->object, &type, &spec);
    grout_recast__object(binding, search->object);
}

/* ---- what suits --------------------------------------------------------------------------------
 */

/* Which candidates each use takes. */
static void try_all(grout_tiling_search *search) {
    for (uint32_t k = 0; k < search->count; k++) {
        if ((search->possible >> k & 1u) == 0) {
            continue;
        }
        grout_tiling__apply(search, k);
        for (size_t i = 0; grout_binding__goes_on(search->binding) && i < search->uses.count; i++) {
            grout_tiling_use *use = &search->uses.items[i];
            const bool fits = grout_tiling__is_fine(search, use, NULL);
            use->fits |= (uint64_t)fits << k;
        }
    }
}

/* The candidates that suit all uses which a tile can be to blame for. */
static uint64_t find_fitting(grout_tiling_search *search) {
    uint64_t fitting = search->possible;
    for (size_t i = 0; grout_binding__goes_on(search->binding) && i < search->uses.count; i++) {
        grout_tiling_use *use = &search->uses.items[i];
        use->is_foreign = use->fits == 0 && grout_tiling__is_foreign(search, use);
        fitting &= use->is_foreign ? UINT64_MAX : use->fits;
    }
    return fitting;
}

/* ---- what is best ------------------------------------------------------------------------------
 */

static void measure(grout_tiling_search *search, uint32_t candidate) {
    grout_tiling_candidate *measured = &search->candidates[candidate];
    grout_tiling__apply(search, candidate);
    for (size_t i = 0; grout_binding__goes_on(search->binding) && i < search->uses.count; i++) {
        const grout_tiling_use *use = &search->uses.items[i];
        if (!use->is_foreign) {
            grout_tiling__add_cost(search, use, measured);
        }
    }
}

static bool is_better(const grout_tiling_candidate *a, const grout_tiling_candidate *b) {
    return a->passes != b->passes ? a->passes < b->passes
           : a->boxes != b->boxes ? a->boxes < b->boxes
                                  : a->box_dims < b->box_dims;
}

/* The one of a set with the fewest passes over the banks, then the fewest boxes, then boxes of the
 * fewest dimensions; the first such. */
static uint32_t find_best(grout_tiling_search *search, uint64_t fitting) {
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < search->count; k++) {
        if ((fitting >> k & 1u) == 0) {
            continue;
        }
        measure(search, k);
        if (best == UINT32_MAX || is_better(&search->candidates[k], &search->candidates[best])) {
            best = k;
        }
    }
    return best;
}

static void infer_tile(grout_binding *binding, grout_object_id id, const bool *is_fragment,
                       const grout_tiling_uses *uses) {
    grout_tiling_search search = {.binding = binding,
                                  .object = id,
                                  .rows = binding->object_specs[id],
                                  .is_fragment = is_fragment,
                                  .all_uses = uses};
    if (grout_tiling__add_uses(&search)) {
        grout_tiling__add_candidates(&search);
        try_all(&search);
        const uint64_t fitting = find_fitting(&search);
        if (fitting == 0) {
            grout_tiling__report(&search);
        } else {
            grout_tiling__apply(&search, find_best(&search, fitting));
        }
    }
    grout__free(search.uses.items);
}

/* Whether the object is an array whose tile is to be found. */
static bool is_asked(const grout_module *module, grout_object_id id) {
    return grout_module_get_object(module, id)->infers_tile && grout_object_is_declared(module, id);
}

void grout_infer_tiles__module(grout_binding *binding) {
    const grout_module *module = binding->module;
    const bool is_typed = binding->ok; /* a fault of one array is none of the next */
    bool *is_fragment = NULL;
    grout_tiling_uses uses = {0};
    for (grout_object_id id = 1; is_typed && id < module->objects.count; id++) {
        if (!is_asked(module, id)) {
            continue;
        }
        if (is_fragment == NULL) { /* the first one */
            is_fragment = grout_tiling__find_fragments(binding);
            if (is_fragment == NULL || !grout_tiling__list_uses(binding, &uses)) {
                break;
            }
        }
        infer_tile(binding, id, is_fragment, &uses);
    }
    grout_tiling__drop_uses(&uses);
    grout__free(is_fragment);
}
