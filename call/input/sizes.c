/* sizes.c - the sizes of --sweep, and the seeds of --seeds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sizes.h"

#include "array.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

/* ---- one value ------------------------------------------------------------------------------ */

static bool is_equal(const grout_size_value *a, const grout_size_value *b) {
    return a->is_float || b->is_float ? a->number == b->number : a->integer == b->integer;
}

static bool is_less(const grout_size_value *a, const grout_size_value *b) {
    return a->is_float || b->is_float ? a->number < b->number : a->integer < b->integer;
}

/* What -D takes, except for what has no order. */
static bool read_value(const char *text, grout_size_value *out) {
    out->is_float = !grout_read_i64(text, &out->integer);
    out->number = (double)out->integer;
    return !out->is_float || (grout_read_number(text, &out->number) && out->number == out->number);
}

static char *make_define(const char *name, const char *text, const grout_size_value *value) {
    grout_text define = {0};
    if (value->is_float) {
        grout_text_add(&define, "%s=%s", name, text);
    } else {
        grout_text_add(&define, "%s=%lld", name, (long long)value->integer);
    }
    char *copy = define.data == NULL ? NULL : grout__copy(NULL, define.data, define.size);
    grout_text_free(&define);
    return copy;
}

/* Puts a value in its place among the smaller and the larger ones. */
static bool add_value(grout_session *session, grout_size_axis *axis, const char *text) {
    grout_size_value value = {0};
    if (!read_value(text, &value)) {
        return grout_diags_add(
            session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
            "the value of --sweep is NAME=A,B,C with numbers, and '%.200s' of %s is none", text,
            axis->name);
    }
    for (size_t i = 0; i < axis->values.count; i++) {
        if (is_equal(&axis->values.items[i], &value)) {
            return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                   "--sweep gives %s the value %.200s twice", axis->name, text);
        }
    }
    value.define = make_define(axis->name, text, &value);
    if (value.define == NULL || !GROUT_ARRAY_RESERVE(&axis->values, NULL, 1)) {
        grout__free(value.define);
        return grout_diags_add_oom(session->diags);
    }
    size_t at = axis->values.count++;
    while (at > 0 && is_less(&value, &axis->values.items[at - 1])) {
        axis->values.items[at] = axis->values.items[at - 1];
        at--;
    }
    axis->values.items[at] = value;
    return true;
}

/* ---- one --sweep ---------------------------------------------------------------------------- */

/* A const has its values from one option: a later -D would win over all of them. */
static bool check_name(grout_session *session, const grout_sizes *sizes, const char *name) {
    const char *define;
    size_t size = strlen(name);
    for (size_t i = 0; i < sizes->axes.count; i++) {
        if (strcmp(sizes->axes.items[i].name, name) == 0) {
            grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                            "there are two --sweep of %.200s", name);
            grout_diags_help(session->diags, "one takes all values: --sweep %.200s=A,B,C", name);
            return false;
        }
    }
    for (size_t i = 0;
         (define = grout_options__get_use(&session->options, GROUT_OPTION_DEFINE, i)) != NULL;
         i++) {
        if (strncmp(define, name, size) == 0 && define[size] == '=') {
            grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                            "-D %.200s and --sweep %.200s are of the same const", define, name);
            grout_diags_help(session->diags, "give it one of the two");
            return false;
        }
    }
    return true;
}

static bool say_too_many(grout_session *session) {
    return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                           "--sweep: there are more than %d sizes", GROUT_SIZES_MAX);
}

static bool add_values(grout_session *session, grout_size_axis *axis, char *list) {
    bool is_good = true;
    for (char *text = list; text != NULL;) {
        if (axis->values.count == GROUT_SIZES_MAX) {
            return say_too_many(session);
        }
        char *comma = strchr(text, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        is_good = add_value(session, axis, text) && is_good;
        text = comma == NULL ? NULL : comma + 1;
    }
    return is_good;
}

static bool add_axis(grout_session *session, grout_sizes *sizes, const char *value) {
    size_t size = strcspn(value, "=");
    if (size == 0 || value[size] == '\0' || value[size + 1] == '\0') {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                               grout_options__get_place(&session->options, value),
                               "the value of --sweep is NAME=A,B,C with numbers, not '%.200s'",
                               value);
    }
    char *name = grout__copy(NULL, value, size);
    char *list = grout__copy(NULL, value + size + 1, strlen(value + size + 1));
    bool is_good = false;
    if (name == NULL || list == NULL || !GROUT_ARRAY_RESERVE(&sizes->axes, NULL, 1)) {
        (void)grout_diags_add_oom(session->diags);
        grout__free(name);
    } else if (!check_name(session, sizes, name)) {
        grout__free(name);
    } else {
        grout_size_axis *axis = &sizes->axes.items[sizes->axes.count++];
        *axis = (grout_size_axis){.name = name};
        is_good = add_values(session, axis, list);
    }
    grout__free(list);
    return is_good;
}

/* ---- --seeds ----------------------------------------------------------------------------------
 */

/* Whether chance decides something: by --seeds alone it decides all. */
static bool goes_by_seed(const grout_options *options) {
    const char *schedule = grout_options__get(options, GROUT_OPTION_SCHEDULE);
    const char *timing = grout_options__get(options, GROUT_OPTION_TIMING);
    return (schedule == NULL && timing == NULL) ||
           (schedule != NULL && strcmp(schedule, "fair") != 0) ||
           (timing != NULL && strcmp(timing, "random") == 0);
}

static bool add_seed(grout_size_axis *axis, uint64_t seed) {
    grout_text define = {0};
    grout_text_add(&define, "seed=%llu", (unsigned long long)seed);
    char *copy = define.data == NULL ? NULL : grout__copy(NULL, define.data, define.size);
    grout_text_free(&define);
    if (copy == NULL || !GROUT_ARRAY_RESERVE(&axis->values, NULL, 1)) {
        grout__free(copy);
        return false;
    }
    axis->values.items[axis->values.count++] =
        (grout_size_value){.define = copy, .integer = (int64_t)seed, .number = (double)seed};
    return true;
}

static bool add_seeds(grout_session *session, grout_sizes *sizes) {
    const uint64_t count = grout_options__get_count(&session->options, GROUT_OPTION_SEEDS, 0);
    const uint64_t first = grout_options__get_count(&session->options, GROUT_OPTION_SEED, 0);
    if (count > GROUT_SIZES_MAX || first > INT64_MAX - GROUT_SIZES_MAX) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "--seeds: at most %d, from a --seed below 2^63", GROUT_SIZES_MAX);
    }
    if (!goes_by_seed(&session->options)) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "--seeds: neither the schedule nor the timing goes by a seed");
        grout_diags_help(session->diags, "write --schedule random or --timing random; without "
                                         "--schedule and --timing both are");
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!add_seed(&sizes->seeds, first + i)) {
            return grout_diags_add_oom(session->diags);
        }
    }
    return true;
}

/* ---- all of them ---------------------------------------------------------------------------- */

bool grout_sizes__are_asked_for(const grout_options *options) {
    return grout_options__has(options, GROUT_OPTION_SWEEP) ||
           grout_options__has(options, GROUT_OPTION_SEEDS);
}

/* Both are at most GROUT_SIZES_MAX. */
static bool multiply(grout_session *session, grout_sizes *sizes, size_t times) {
    if (sizes->count * times > GROUT_SIZES_MAX) {
        return say_too_many(session);
    }
    sizes->count *= times;
    return true;
}

bool grout_sizes__read(grout_session *session, grout_sizes *out) {
    const char *value;
    bool is_good = true;
    *out = (grout_sizes){.count = 1};
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_SWEEP, i)) != NULL; i++) {
        is_good = add_axis(session, out, value) && is_good;
    }
    if (grout_options__has(&session->options, GROUT_OPTION_SEEDS)) {
        is_good = add_seeds(session, out) && is_good;
    }
    for (size_t i = 0; i < out->axes.count && is_good; i++) {
        is_good = multiply(session, out, out->axes.items[i].values.count);
    }
    return is_good &&
           (out->seeds.values.count == 0 || multiply(session, out, out->seeds.values.count));
}

static void deinit(grout_size_axis *axis) {
    for (size_t i = 0; i < axis->values.count; i++) {
        grout__free(axis->values.items[i].define);
    }
    grout__free(axis->values.items);
    grout__free(axis->name);
}

void grout_sizes__deinit(grout_sizes *sizes) {
    for (size_t i = 0; i < sizes->axes.count; i++) {
        deinit(&sizes->axes.items[i]);
    }
    deinit(&sizes->seeds);
    grout__free(sizes->axes.items);
    *sizes = (grout_sizes){0};
}

/* How often a seed follows one of the same size; 1 without --seeds. */
static size_t count_seeds(const grout_sizes *sizes) {
    return sizes->seeds.values.count > 0 ? sizes->seeds.values.count : 1;
}

const grout_size_value *grout_sizes__get_value(const grout_sizes *sizes, size_t index,
                                               size_t axis) {
    GROUT_ASSERT(index < sizes->count && axis < sizes->axes.count);
    index /= count_seeds(sizes);
    for (size_t i = sizes->axes.count - 1; i > axis; i--) {
        index /= sizes->axes.items[i].values.count;
    }
    return &sizes->axes.items[axis].values.items[index % sizes->axes.items[axis].values.count];
}

const grout_size_value *grout_sizes__get_seed(const grout_sizes *sizes, size_t index) {
    GROUT_ASSERT(index < sizes->count);
    return sizes->seeds.values.count == 0 ? NULL
                                          : &sizes->seeds.values.items[index % count_seeds(sizes)];
}

void grout_sizes__describe(const grout_sizes *sizes, size_t index, grout_text *out) {
    const grout_size_value *seed = grout_sizes__get_seed(sizes, index);
    for (size_t i = 0; i < sizes->axes.count; i++) {
        grout_text_add(out, "%s%s", i > 0 ? ", " : "",
                       grout_sizes__get_value(sizes, index, i)->define);
    }
    if (seed != NULL) {
        grout_text_add(out, "%s%s", sizes->axes.count > 0 ? ", " : "", seed->define);
    }
}

size_t grout_sizes__find_last(const grout_sizes *sizes, size_t index) {
    const size_t seeds = count_seeds(sizes);
    return index - index % seeds + seeds - 1;
}

void grout_sizes__describe_range(const grout_sizes *sizes, size_t first, size_t last,
                                 grout_text *out) {
    grout_sizes__describe(sizes, first, out);
    if (first != last) {
        grout_text_add(out, " to %lld", (long long)grout_sizes__get_seed(sizes, last)->integer);
    }
}

const char *grout_sizes__get_word(const grout_sizes *sizes) {
    return sizes->seeds.values.count == 0 ? "sizes"
           : sizes->axes.count == 0       ? "seeds"
                                          : "sizes and seeds";
}

void grout_sizes__print_name(const grout_sizes *sizes, size_t index, grout_text *out) {
    const grout_size_value *seed = grout_sizes__get_seed(sizes, index);
    for (size_t i = 0; i < sizes->axes.count; i++) {
        const grout_size_axis *axis = &sizes->axes.items[i];
        const char *define = grout_sizes__get_value(sizes, index, i)->define;
        grout_text_add(out, "%s%s-%s", i > 0 ? "." : "", axis->name,
                       define + strlen(axis->name) + 1);
    }
    if (seed != NULL) {
        grout_text_add(out, "%sseed-%lld", sizes->axes.count > 0 ? "." : "",
                       (long long)seed->integer);
    }
}

/* The later of two uses counts. */
static void add_use(grout_options *out, grout_option_id id, const char *value) {
    out->uses[out->use_count++] = (grout_option_use){.id = id, .value = value};
}

static void add_draws(grout_options *out, const char *seed) {
    if (!grout_options__has(out, GROUT_OPTION_SCHEDULE) &&
        !grout_options__has(out, GROUT_OPTION_TIMING)) {
        add_use(out, GROUT_OPTION_SCHEDULE, "random");
        add_use(out, GROUT_OPTION_TIMING, "random");
    }
    add_use(out, GROUT_OPTION_SEED, seed);
}

bool grout_sizes__apply(const grout_sizes *sizes, size_t index, const grout_options *options,
                        grout_options *out) {
    enum { OF_SEEDS = 3 }; /* uses */
    *out = *options;
    out->uses = malloc((options->use_count + sizes->axes.count + OF_SEEDS) * sizeof *out->uses);
    if (out->uses == NULL) {
        return false;
    }
    if (options->use_count > 0) {
        memcpy(out->uses, options->uses, options->use_count * sizeof *out->uses);
    }
    for (size_t i = 0; i < sizes->axes.count; i++) {
        add_use(out, GROUT_OPTION_DEFINE, grout_sizes__get_value(sizes, index, i)->define);
    }
    if (grout_sizes__get_seed(sizes, index) != NULL) {
        add_draws(out, strchr(grout_sizes__get_seed(sizes, index)->define, '=') + 1);
    }
    return true;
}
