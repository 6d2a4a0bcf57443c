/* words.c - a report in words: the verdict, the launch, what the verdict holds for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/words.h"

#include <string.h>

static void add_count(grout_text *out, uint64_t count, const char *noun) {
    grout_text_add(out, ", %llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

static bool is_clean(const char *word) {
    return strcmp(word, "clean") == 0;
}

static const char *get_verdict_color(const char *word, const char *differs) {
    bool is_open = strcmp(word, "incomplete") == 0;
    bool is_lowered = strcmp(word, "warning") == 0 && differs == NULL;
    return is_clean(word) && differs == NULL ? "\033[1;32m"
           : is_open || is_lowered           ? "\033[1;33m"
                                             : "\033[1;31m";
}

static void add_counts(const grout_finding_counts *counts, grout_text *out) {
    if (counts->errors > 0) {
        add_count(out, counts->errors, "error");
    }
    if (counts->warnings > 0) {
        add_count(out, counts->warnings, "warning");
    }
    if (counts->silenced > 0) {
        grout_text_add(out, ", %llu silenced", (unsigned long long)counts->silenced);
    }
    if (counts->follow_on > 0) {
        bool is_one = counts->errors + counts->warnings == 1;
        grout_text_add(out, ", %llu more that %s from %s", (unsigned long long)counts->follow_on,
                       counts->follow_on == 1 ? "follows" : "follow", is_one ? "it" : "these");
    }
    if (counts->unlisted > 0) {
        grout_text_add(out, ", %llu past --max-findings", (unsigned long long)counts->unlisted);
    }
}

void grout_describe_verdict(const grout_verdict_line *line, grout_text *out) {
    bool is_all = line->differs == NULL || !is_clean(line->word);
    grout_text_add(out, "@%s: %s%s%s%s", line->kernel,
                   line->color ? get_verdict_color(line->word, line->differs) : "", line->word,
                   is_all ? "" : " of races", line->color ? "\033[0m" : "");
    add_counts(&line->counts, out);
    if (line->differs != NULL) {
        grout_text_add(out, ", %s %s", is_all ? "and" : "but", line->differs);
    }
}

void grout_describe_launch(const grout_module *bound, grout_kernel_id kernel, grout_text *out) {
    static const char *const words[] = {"grid(", "cluster(", "threads("};
    const grout_kernel *facts = grout_module_get_kernel(bound, kernel);
    const char *start = "";
    for (int kind = GROUT_AXIS_GRID; kind <= GROUT_AXIS_THREADS; kind++) {
        bool is_open = false;
        for (uint32_t i = 0; i < facts->axis_count; i++) {
            if (facts->axes[i].kind == kind) {
                grout_text_add(out, "%s%s%s=%lld", is_open ? ", " : start,
                               is_open ? "" : words[kind],
                               grout_module_get_string(bound, facts->axes[i].name),
                               (long long)grout_kernel_get_axis_size(bound, kernel, i));
                is_open = true;
            }
        }
        grout_text_add(out, "%s", is_open ? ")" : "");
        start = is_open ? " " : start;
    }
    grout_text_add(out, "%s", start[0] == '\0' ? "one CTA of one thread" : "");
}

void grout_describe_conditions(bool has_equal_writes, const char *assuming, grout_text *out) {
    grout_text_add(out, "%s", has_equal_writes ? ", with racing writes of equal values" : "");
    if (assuming[0] != '\0') {
        grout_text_add(out, ", assuming that %s", assuming);
    }
}

void grout_describe_promise(const grout_check_summary *summary, bool fails, const char *cut,
                            grout_text *out) {
    /* An error is no certificate, so its sentence has other words. */
    const char *start = fails ? "fails under each" : "holds for every";
    if (cut != NULL) {
        grout_text_add(out, "the run is incomplete: %s; nothing is known of the rest", cut);
    } else if (summary->is_well_synchronised) {
        grout_text_add(out, "%s schedule and timing of this launch with these inputs", start);
        grout_describe_conditions(summary->has_equal_writes, summary->assuming, out);
    } else {
        grout_text_add(out, "%s this schedule%s%s", fails ? "fails under" : "holds for",
                       summary->not_well_synchronised_because[0] == '\0' ? "" : ": ",
                       summary->not_well_synchronised_because);
    }
}

/* All were run, and all of them fail or none. */
static void describe_all(const grout_exploration *exploration, const grout_check_summary *summary,
                         grout_text *out) {
    grout_text_add(out, "%s %s of this launch with these inputs",
                   exploration->failing > 0 ? "fails under each" : "holds for every",
                   exploration->is_interleaved ? "interleaving" : "schedule");
    grout_describe_conditions(summary->has_equal_writes, summary->assuming, out);
    grout_text_add(out, ": %llu explored, which differ in what matters%s",
                   (unsigned long long)exploration->schedules,
                   exploration->is_interleaved ? "; atomics of a GPU may do more" : "");
}

void grout_describe_exploration(const grout_exploration *exploration,
                                const grout_check_summary *summary, const char *cut,
                                grout_text *out) {
    const uint64_t failing = exploration->failing + exploration->random_failing;
    const uint64_t schedules = exploration->schedules + exploration->random_schedules;
    const bool is_split = failing > 0 && exploration->failing < exploration->schedules;
    if (exploration->is_complete && !is_split) {
        describe_all(exploration, summary, out);
        return;
    }
    if (exploration->is_complete && exploration->failing > 0) {
        grout_text_add(out,
                       "fails under %llu of the %llu schedules of this launch with these inputs "
                       "that differ in what matters",
                       (unsigned long long)exploration->failing,
                       (unsigned long long)exploration->schedules);
        grout_describe_conditions(summary->has_equal_writes, summary->assuming, out);
        return;
    }
    if (failing > 0) {
        grout_text_add(out, "fails under %llu of the ", (unsigned long long)failing);
    } else {
        grout_text_add(out, "holds for the ");
    }
    grout_text_add(out, "%llu schedule%s explored", (unsigned long long)schedules,
                   schedules == 1 ? "" : "s");
    if (exploration->random_schedules > 0) {
        grout_text_add(out, ", %llu of them random",
                       (unsigned long long)exploration->random_schedules);
    }
    if (!exploration->is_complete) {
        grout_text_add(out, ": %s (%s)", cut != NULL ? cut : exploration->why_open,
                       summary->not_well_synchronised_because);
    }
}

void grout_describe_non_finite(const grout_run_stats *stats, grout_text *out) {
    if (stats->non_finite_made == 0) {
        grout_text_add(out, "no operation made NaN or infinity out of numbers");
    } else {
        grout_text_add(out, "%llu element%s made NaN or infinite out of numbers",
                       (unsigned long long)stats->non_finite_made,
                       stats->non_finite_made == 1 ? " was" : "s were");
    }
    if (stats->non_finite_follow > 0) {
        grout_text_add(out, "; %llu computed from such stayed so",
                       (unsigned long long)stats->non_finite_follow);
    }
}

void grout_describe_finding(const grout_finding *finding, grout_text *out) {
    bool has_two = finding->related.file != NULL && finding->related.line != finding->primary.line;
    grout_text_add(out, "%s at line%s %u", grout_diag_get(finding->code)->text, has_two ? "s" : "",
                   finding->primary.line);
    if (has_two) {
        grout_text_add(out, " and %u", finding->related.line);
    }
}
