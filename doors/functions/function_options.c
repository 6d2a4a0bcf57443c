/*
 * function_options.c - options of a kernel function, by the words of the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_options.h"

#include "alloc.h"

#include <string.h>

struct grout_function_options {
    grout_kernel_function_options plain;
};

/* ---- values --------------------------------------------------------------------------------- */

/* A number from least to most, in decimal digits. */
static bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    uint64_t value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = 10 * value + digit;
    }
    *out = value;
    return *text != '\0' && value >= least && value <= most;
}

static bool set_u32(const char *text, uint32_t *out) {
    uint64_t value;
    const bool is_count = read_count(text, 1, UINT32_MAX, &value);
    *out = is_count ? (uint32_t)value : *out;
    return is_count;
}

static bool set_schedule(const char *text, grout_launch *launch) {
    static const char pct[] = "pct:";
    grout_schedule schedule;
    if (strncmp(text, pct, sizeof pct - 1) == 0) {
        const bool is_depth = set_u32(text + sizeof pct - 1, &launch->pct_depth);
        launch->schedule = is_depth ? GROUT_SCHEDULE_PCT : launch->schedule;
        return is_depth;
    }
    if (!grout_schedule_find(text, &schedule) || schedule == GROUT_SCHEDULE_PCT ||
        schedule == GROUT_SCHEDULE_REPLAY) {
        return false;
    }
    launch->schedule = schedule;
    return true;
}

static bool set_timing(const char *text, grout_launch *launch) {
    grout_timing timing;
    const bool is_found = grout_timing_find(text, &timing);
    launch->timing = is_found ? timing : launch->timing;
    return is_found;
}

static bool set_numerics(const char *text, grout_launch *launch) {
    grout_numerics numerics;
    const bool is_found = grout_numerics_find(text, &numerics);
    launch->numerics = is_found ? numerics : launch->numerics;
    return is_found;
}

static bool set_seed(const char *text, grout_launch *launch) {
    return read_count(text, 0, UINT64_MAX, &launch->seed);
}

static bool set_sms(const char *text, grout_launch *launch) {
    return set_u32(text, &launch->sm_count);
}

static bool set_resident(const char *text, grout_launch *launch) {
    return set_u32(text, &launch->resident);
}

static bool set_threads(const char *text, grout_launch *launch) {
    return set_u32(text, &launch->workers);
}

static bool set_max_steps(const char *text, grout_launch *launch) {
    return read_count(text, 1, GROUT_STEPS_MAX, &launch->max_steps);
}

static bool set_max_memory(const char *text, grout_launch *launch) {
    return read_count(text, 1, UINT64_MAX, &launch->max_memory);
}

/* ---- options -------------------------------------------------------------------------------- */

static bool *find_flag(grout_function_options *options, const char *name) {
    return strcmp(name, "checked") == 0       ? &options->plain.is_checked
           : strcmp(name, "non-finite") == 0  ? &options->plain.launch.track_non_finite
           : strcmp(name, "full-arrays") == 0 ? &options->plain.launch.print_whole_arrays
                                              : NULL;
}

typedef bool set_function(const char *text, grout_launch *launch);

static set_function *find_setter(const char *name) {
    static const struct {
        const char *name;
        set_function *set;
    } setters[] = {
        {"schedule", set_schedule},
        {"timing", set_timing},
        {"numerics", set_numerics},
        {"seed", set_seed},
        {"sms", set_sms},
        {"resident", set_resident},
        {"threads", set_threads},
        {"max-steps", set_max_steps},
        {"max-memory", set_max_memory},
    };
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        if (strcmp(name, setters[i].name) == 0) {
            return setters[i].set;
        }
    }
    return NULL;
}

static bool set(grout_function_options *options, const char *name, const char *value) {
    bool *flag = find_flag(options, name);
    if (flag != NULL) {
        *flag |= value == NULL;
        return value == NULL;
    }
    set_function *setter = find_setter(name);
    return setter != NULL && value != NULL && setter(value, &options->plain.launch);
}

bool grout_function_options_set(grout_function_options *options, const char *option,
                                const char *value, grout_diags *diags) {
    return set(options, option, value) ||
           (diags != NULL &&
            grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, (grout_place){0},
                            "'%s%s%s' is not an option of a kernel function", option,
                            value == NULL ? "" : " ", value == NULL ? "" : value));
}

void grout_function_options_use_externs(grout_function_options *options,
                                        const grout_externs *externs) {
    grout_launch *launch = &options->plain.launch;
    launch->externs = externs == NULL ? NULL : grout_externs_get(externs, &launch->extern_count);
    launch->extern_count = externs == NULL ? 0 : launch->extern_count;
}

void grout_function_options_set_callbacks(grout_function_options *options,
                                          const grout_function_callbacks *callbacks) {
    options->plain.report = callbacks->report;
    options->plain.payload = callbacks->payload;
    options->plain.launch.progress = callbacks->progress;
    options->plain.launch.print = callbacks->print;
    options->plain.launch.payload = callbacks->payload;
}

/* ---- their life ----------------------------------------------------------------------------- */

grout_function_options *grout_function_options_new(const grout_allocator *allocator) {
    grout_function_options *options = grout__new(allocator, 1, sizeof *options);
    if (options != NULL) {
        options->plain.launch.allocator = allocator;
    }
    return options;
}

void grout_function_options_free(grout_function_options *options) {
    grout__free(options);
}

grout_kernel_function_options grout_function_options__for(const grout_function_options *options,
                                                          const grout_module *bound,
                                                          grout_kernel_id kernel) {
    grout_kernel_function_options plain = {0};
    if (options != NULL) {
        plain = options->plain;
    }
    plain.launch.module = bound;
    plain.launch.kernel = kernel;
    return plain;
}
