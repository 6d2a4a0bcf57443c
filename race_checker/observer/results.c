/*
 * results.c - a checker from outside: made, asked for findings and a summary, freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observer.h"

#include "alloc.h"
#include "explain.h"
#include "path.h"
#include "taint.h"

grout_checker *grout_checker_new(const grout_checker_options *options, grout_diags *diags) {
    const grout_allocator *allocator = options ? options->allocator : NULL;
    grout_checker *checker = grout__new(allocator, 1, sizeof *checker);
    grout_explained_cache *cache = grout__new(allocator, 1, sizeof *cache);
    if (!checker || !cache) {
        grout__free(checker);
        grout__free(cache);
        if (diags) {
            (void)grout_diags_add_oom(diags);
        }
        return NULL;
    }
    checker->allocator = allocator;
    checker->cache = cache;
    checker->diags = diags;
    checker->max_findings =
        options && options->max_findings ? options->max_findings : GROUT_DIAGS_MAX;
    checker->strict_fences = options && options->strict_fences;
    checker->judged = options ? options->judged : NULL;
    checker->observer = grout_checker__make_observer(checker);
    return checker;
}

void grout_checker_free(grout_checker *checker) {
    if (checker) {
        grout_checker__forget_launch(checker);
        grout__free(checker->cache);
        grout__free(checker);
    }
}

const grout_observer *grout_checker_get_observer(grout_checker *checker) {
    return &checker->observer;
}

/* The report of what was found so far, made again when there is more. */
static const grout_explained *get_explained(const grout_checker *checker) {
    grout_explained_cache *cache = checker->cache;
    if (!checker->has_launch) {
        return NULL;
    }
    if (!cache->explained || cache->total != checker->memory.findings.total) {
        grout_explained__free(cache->explained);
        cache->explained = grout_explained__new(checker);
        cache->total = checker->memory.findings.total;
        if (!cache->explained && checker->diags) {
            (void)grout_diags_add_oom(checker->diags);
        }
    }
    return cache->explained;
}

uint32_t grout_checker_get_count(const grout_checker *checker) {
    const grout_explained *explained = get_explained(checker);
    return explained ? grout_explained__get_count(explained) : 0;
}

const grout_finding *grout_checker_get_finding(const grout_checker *checker, uint32_t index) {
    return grout_explained__get(get_explained(checker), index);
}

grout_finding_path *grout_checker_make_path(const grout_checker *checker,
                                            const grout_finding *finding) {
    const uint32_t record = grout_explained__find_record(get_explained(checker), finding);
    return record == UINT32_MAX
               ? NULL
               : grout_path__new(checker, &checker->memory.findings.records[record]);
}

void grout_finding_path_free(grout_finding_path *path) {
    grout_path__free(path);
}

static grout_verdict get_verdict(const grout_checker *checker, bool was_cut) {
    for (uint32_t i = 0; i < checker->memory.findings.count; i++) {
        const grout_record *record = &checker->memory.findings.records[i];
        if (record->severity == GROUT_SEVERITY_ERROR && record->code != GROUT_DIAG_STEP_LIMIT) {
            return GROUT_VERDICT_ERROR;
        }
    }
    bool is_whole =
        checker->has_launch && !was_cut && !checker->run.has_step_limit && !checker->has_failed;
    return is_whole ? GROUT_VERDICT_CLEAN : GROUT_VERDICT_INCOMPLETE;
}

/*
 * Nothing says in which order the CTAs of a grid start. It can matter only where some start when
 * others have ended and a cluster waits for another: if the room is full of those that wait for one
 * that has not begun, none ends. Atomics make nobody wait, unless a loop looks at them.
 */
static bool needs_grid_order(const grout_checker *checker) {
    bool is_waiting = checker->run.has_foreign_wait || checker->info.has_foreign_loop;
    return checker->has_launch && checker->info.has_late_clusters && is_waiting;
}

static bool has_finding(const grout_checker *checker, grout_diag_code code) {
    for (uint32_t i = 0; i < checker->memory.findings.count; i++) {
        if (checker->memory.findings.records[i].code == code) {
            return true;
        }
    }
    return false;
}

/* All that the kernel may write. */
static void leave_all(const grout_checker *checker, uint32_t launch, grout_chance *chances_out) {
    const grout_module *module = checker->info.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, checker->info.kernel);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_object_id object = grout_module_get_param(module, kernel, i)->object;
        const grout_op_id writer = object == 0 ? 0 : grout_checker__find_writer(checker, object);
        for (uint32_t k = 0; writer != 0 && k < GROUT_CHANCE_COUNT; k++) {
            chances_out[i * GROUT_CHANCE_COUNT + k] = (grout_chance){writer, launch};
        }
    }
}

bool grout_checker_find_chances(const grout_checker *checker, bool was_cut, uint32_t launch,
                                grout_chance *chances_out) {
    if (!checker->has_launch || !grout_checker__find_chances(checker, launch, chances_out)) {
        return false;
    }
    if (*grout_checker__find_doubt(checker, was_cut)) {
        leave_all(checker, launch, chances_out);
    }
    return true;
}

/* The interpreter performs what a lane issues to the tensor core in the order of its issue, also
 * where PTX does not promise it. */
static const char *get_assumption(const grout_checker *checker) {
    const bool needs_pipe_order = has_finding(checker, GROUT_DIAG_TENSOR_PIPE_ORDER);
    if (needs_grid_order(checker)) {
        return needs_pipe_order ? "CTAs start in grid order, and the tensor core works in the "
                                  "order of issue"
                                : "CTAs start in grid order";
    }
    return needs_pipe_order ? "the tensor core works in the order of issue" : "";
}

grout_check_summary grout_checker_get_summary(const grout_checker *checker, bool was_cut) {
    const grout_explained *explained = get_explained(checker);
    grout_check_summary summary = {.verdict = get_verdict(checker, was_cut),
                                   .suppressed_count = checker->run.suppressed,
                                   .accesses = checker->run.accesses,
                                   .async_ops = checker->run.async_ops,
                                   .barrier_phases = checker->run.barrier_phases};
    uint64_t local_peak = checker->run.local_peak;
    summary.not_well_synchronised_because = grout_checker__find_doubt(checker, was_cut);
    summary.is_well_synchronised = !*summary.not_well_synchronised_because;
    summary.goes_by_chance = !summary.is_well_synchronised && summary.error_count == 0 &&
                             !was_cut && grout_checker__goes_by_chance(checker);
    summary.has_equal_writes = has_finding(checker, GROUT_DIAG_SAME_VALUE_RACE);
    summary.assuming = get_assumption(checker);
    if (explained) {
        grout_explained_totals totals = grout_explained__get_totals(explained);
        summary.error_count = totals.error_count;
        summary.warning_count = totals.warning_count;
        summary.dropped_count = totals.dropped_count;
    }
    for (uint32_t i = 0; i < checker->memory.cta_count; i++) {
        uint64_t peak = checker->memory.ctas[i].local.slab.peak_bytes;
        local_peak = peak > local_peak ? peak : local_peak;
    }
    summary.shadow_bytes_peak = checker->memory.gmem.slab.peak_bytes + local_peak;
    return summary;
}
