/* mismatch.c - what is said of an array that is not as expected.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mismatch.h"

#include "grout-internal/observe.h"

#include <stdlib.h>

/* ---- CTAs ----------------------------------------------------------------------------------- */

/* Counts by CTA, plus 1; 0: what nothing wrote. NULL without memory. */
static grout_mismatch_cta *count_by_cta(const grout_mismatch *mismatch, size_t *size_out) {
    const grout_writers *writers = mismatch->writers;
    uint32_t most = 0;
    for (int64_t i = 0; i < writers->count; i++) {
        most = writers->ctas[i] > most ? writers->ctas[i] : most;
    }
    *size_out = (size_t)most + 1;
    grout_mismatch_cta *counts = calloc(*size_out, sizeof *counts);
    for (int64_t i = 0; counts != NULL && i < writers->count; i++) {
        grout_mismatch_cta *at = &counts[writers->ctas[i]];
        at->written++;
        at->differing +=
            grout_compare_is_differing(&mismatch->comparison, &mismatch->difference, i) ? 1 : 0;
    }
    return counts;
}

/* False: the writers are not known, or there is no memory. */
static bool find_ctas(const grout_mismatch *mismatch, grout_mismatch_ctas *out) {
    size_t size = 0;
    *out = (grout_mismatch_ctas){0};
    grout_mismatch_cta *counts = mismatch->writers == NULL ? NULL : count_by_cta(mismatch, &size);
    if (counts == NULL) {
        return false;
    }
    out->unwritten = counts[0].differing;
    out->items = counts; /* what is kept moves to the front */
    for (size_t i = 1; i < size; i++) {
        out->writer_count += counts[i].written > 0 ? 1u : 0u;
        if (counts[i].differing > 0) {
            out->items[out->count] = counts[i];
            out->items[out->count++].cta = (uint32_t)i - 1;
        }
    }
    return true;
}

static bool is_all_wrong(const grout_mismatch_ctas *ctas) {
    for (size_t i = 0; i < ctas->count; i++) {
        if (ctas->items[i].differing < ctas->items[i].written) {
            return false;
        }
    }
    return true;
}

/* "CTA (x=0), CTA (x=1) and 2 more" */
static void add_names(const grout_mismatch *mismatch, const grout_mismatch_ctas *ctas,
                      grout_text *out) {
    enum { SHOWN_MAX = 4 };
    for (size_t i = 0; i < ctas->count && i < SHOWN_MAX; i++) {
        grout_text_add(out, "%s", i == 0 ? "" : ", ");
        grout_describe_cta(mismatch->comparison.bound, mismatch->comparison.kernel,
                           ctas->items[i].cta, out);
    }
    if (ctas->count > SHOWN_MAX) {
        grout_text_add(out, " and %zu more", ctas->count - SHOWN_MAX);
    }
}

/* Which CTAs wrote what differs, and whether that is all that they wrote. */
static void describe_ctas(const grout_mismatch *mismatch, const grout_mismatch_ctas *ctas,
                          grout_text *out) {
    bool is_all = is_all_wrong(ctas);
    if (ctas->count == 0 || ctas->writer_count < 2) {
        return;
    }
    if (ctas->count == ctas->writer_count) {
        grout_text_add(out,
                       is_all ? "all that the CTAs wrote differs"
                              : "each of the %zu CTAs that write it wrote some that differ",
                       ctas->writer_count);
        return;
    }
    add_names(mismatch, ctas, out);
    if (ctas->count > 1) {
        grout_text_add(out, ", %zu of %zu, wrote them%s", ctas->count, ctas->writer_count,
                       is_all ? " and nothing else" : "");
    } else if (is_all) {
        grout_text_add(out, ", one of %zu, wrote them and nothing else", ctas->writer_count);
    } else {
        grout_text_add(out, ", one of %zu, wrote them, and %lld that do not differ",
                       ctas->writer_count,
                       (long long)(ctas->items[0].written - ctas->items[0].differing));
    }
}

static void note_ctas(grout_diags *diags, const grout_mismatch *mismatch,
                      const grout_mismatch_ctas *ctas) {
    grout_text text = {0};
    describe_ctas(mismatch, ctas, &text);
    if (ctas->unwritten > 0) {
        grout_text_add(&text, "%snothing wrote %lld of them", text.size > 0 ? "; " : "",
                       (long long)ctas->unwritten);
    }
    if (text.size > 0 && text.data != NULL) {
        grout_diags_note(diags, grout_nowhere, "%s", text.data);
    }
    grout_text_free(&text);
}

/* ---- the last writer ------------------------------------------------------------------------ */

static void note_writer(grout_diags *diags, const grout_mismatch *mismatch) {
    const grout_module *bound = mismatch->comparison.bound;
    const grout_kernel *kernel = grout_module_get_kernel(bound, mismatch->comparison.kernel);
    const grout_param *param =
        grout_module_get_param(bound, kernel, mismatch->comparison.param_index);
    const grout_writers *writers = mismatch->writers;
    if (writers == NULL || writers->origin.op == 0) {
        return;
    }
    grout_text element = {0}, actor = {0};
    grout_describe_element(grout_object_get_type(bound, param->object), writers->watched, &element);
    grout_describe_actor(bound, mismatch->comparison.kernel, &writers->origin, &actor);
    if (element.data != NULL && actor.data != NULL) {
        grout_diags_note(
            diags,
            grout_module_get_place(bound, grout_module_get_op(bound, writers->origin.op)->loc),
            "the last write of '%%%s'%s, by %s",
            grout_module_get_string(bound, grout_module_get_value(bound, param->value)->name),
            element.data, actor.data);
    }
    grout_text_free(&element);
    grout_text_free(&actor);
}

void grout_mismatch__report(grout_reporter *report, const grout_mismatch *mismatch) {
    grout_diags *diags = report->session->diags;
    grout_mismatch_ctas ctas;
    bool has_ctas = find_ctas(mismatch, &ctas);
    grout_compare_report(&mismatch->comparison, &mismatch->difference, diags);
    if (has_ctas) {
        note_ctas(diags, mismatch, &ctas);
    }
    note_writer(diags, mismatch);
    if (report->json != NULL) {
        grout_mismatch__keep_facts(report, mismatch, has_ctas ? &ctas : NULL,
                                   grout_diags_total(diags));
    }
    free(ctas.items);
}
