/*
 * unwritten_words.c - the read that an undefined value comes from.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machine says which op uses such a value, and which ops have read memory that had none. What
 * the use comes from is followed through values and memory; of several reads on the way the first
 * in the kernel is named: the others most often read what it has brought.
 */
#include "taint.h"
#include "wording.h"

#include "alloc.h"

void grout_sources__deinit(grout_sources *sources) {
    if (sources->feeds != NULL) {
        grout_feeds__deinit(sources->feeds);
        grout__free(sources->feeds);
    }
}

/* False without memory. */
static bool make(const grout_wording *wording) {
    const grout_checker *checker = wording->checker;
    grout_sources *sources = &wording->shared->sources;
    sources->is_made = true;
    if (checker->run.unwritten_count == 0) {
        return true;
    }
    sources->feeds = grout__new(checker->allocator, 1, sizeof *sources->feeds);
    if (sources->feeds == NULL || !grout_feeds__init(sources->feeds, checker)) {
        return false;
    }
    for (uint32_t i = 0; i < checker->run.unwritten_count; i++) {
        sources->feeds->reads[checker->run.unwritten[i].op] = 1;
    }
    return grout_feeds__follow(sources->feeds);
}

const grout_unwritten *grout_wording__find_unwritten(const grout_wording *wording) {
    const grout_checker *checker = wording->checker;
    const grout_op_id use = wording->facts->sides[0].origin.op;
    if (wording->record->code != GROUT_DIAG_UNINITIALISED_READ || use == 0) {
        return NULL;
    }
    if (!wording->shared->sources.is_made && !make(wording)) {
        wording->strings->has_failed = true;
        return NULL;
    }
    const grout_op_id read = wording->shared->sources.feeds != NULL
                                 ? grout_feeds__find(wording->shared->sources.feeds, use)
                                 : 0;
    for (uint32_t i = 0; read != 0 && i < checker->run.unwritten_count; i++) {
        if (checker->run.unwritten[i].op == read) {
            return &checker->run.unwritten[i];
        }
    }
    return NULL;
}

/* The launch that has left elements of the object without a value; 0: none has. */
static uint32_t find_launch(const grout_wording *wording, grout_object_id object) {
    const grout_checker *checker = wording->checker;
    const grout_kernel *kernel = grout_module_get_kernel(wording->module, checker->info.kernel);
    for (uint32_t i = 0; checker->pasts != NULL && i < kernel->param_count; i++) {
        if (grout_module_get_param(wording->module, kernel, i)->object == object &&
            checker->pasts[i].undefined_count > 0) {
            return checker->pasts[i].launch;
        }
    }
    return 0;
}

bool grout_wording__add_unwritten_repair(const grout_wording *wording, grout_text *out) {
    const grout_unwritten *it = grout_wording__find_unwritten(wording);
    if (it == NULL) {
        return false;
    }
    const grout_origin read = {.op = it->op};
    const uint32_t launch = find_launch(wording, it->box.object);
    const uint32_t line = grout_wording__get_line(wording, &read);
    grout_text box = {.allocator = wording->checker->allocator};
    grout_wording__add_box(wording, &it->box, &box);
    const char *object = grout_wording__keep(wording, &box);
    if (launch > 0) {
        grout_sentence__add(out, GROUT_SENTENCE_UNWRITTEN_LAUNCH_HELP,
                            &(grout_words){.number = launch, .object = object, .line = line});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_UNWRITTEN_HELP,
                            &(grout_words){.object = object, .line = line});
    }
    return true;
}
