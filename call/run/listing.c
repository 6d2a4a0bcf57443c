/* listing.c - the launches of a file's launch list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"

#include "starts.h"

#include "invariant.h"

#include <stdlib.h>
#include <string.h>

/* An array or scalar that launches name: its contents, and what they were before the launches that
 * may still run. */
typedef struct grout_listed_array {
    const char *name;
    size_t size;
    void *data;
    void *before, *now; /* at the last launch that depends on none; as the launch at hand began */
    bool is_changed;    /* between the two */
} grout_listed_array;

bool grout_listing__is_wanted(const grout_session *session, const grout_load *load) {
    return grout_module_get_launch_count(load->symbolic) > 1 &&
           !grout_options__has(&session->options, GROUT_OPTION_KERNEL);
}

bool grout_listing__has_kernel(const grout_load *load, grout_kernel_id kernel) {
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(load->symbolic); id++) {
        if (grout_module_get_launch_kernel(load->symbolic, id) == kernel) {
            return true;
        }
    }
    return false;
}

bool grout_listing__is_repeated(const grout_session *session) {
    return grout_options__get_count(&session->options, GROUT_OPTION_REPEAT, 1) > 1;
}

void grout_listing__init(grout_listing *listing, grout_session *session, const grout_load *load,
                         grout_kernel_id kernel) {
    const uint64_t rounds = grout_options__get_count(&session->options, GROUT_OPTION_REPEAT, 1);
    *listing = (grout_listing){.session = session,
                               .load = load,
                               .kernel = kernel,
                               .round = 1,
                               .rounds = rounds > UINT32_MAX ? UINT32_MAX : (uint32_t)rounds};
}

/* Launches of a round. */
static uint32_t get_size(const grout_listing *listing) {
    return listing->kernel != 0 ? 1 : grout_module_get_launch_count(listing->load->bound) - 1;
}

bool grout_listing__has_more(const grout_listing *listing) {
    return listing->at < get_size(listing) || listing->round < listing->rounds;
}

/* Goes on to the next launch. False: it was the last one, or there are too many. */
static bool go_on(grout_listing *listing) {
    if (!grout_listing__has_more(listing)) {
        return false;
    }
    if (listing->at == get_size(listing)) {
        listing->at = 0;
        listing->round++;
    }
    listing->at++;
    listing->number++;
    if ((uint64_t)listing->rounds * get_size(listing) > GROUT_LAUNCHES_MAX) {
        grout_diags_add(listing->session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "--repeat %u makes more than %u launches", listing->rounds,
                        (uint32_t)GROUT_LAUNCHES_MAX);
        return false;
    }
    return true;
}

grout_kernel_id grout_listing__get_kernel(const grout_listing *listing) {
    return listing->kernel != 0 ? listing->kernel
                                : grout_module_get_launch_kernel(listing->load->bound, listing->at);
}

static void end_launch(grout_listing *listing) {
    grout_argument_set__deinit(&listing->start);
    free(listing->params);
    free(listing->stale);
    listing->params = NULL;
    listing->stale = NULL;
}

static void drop_ledgers(grout_listing *listing) {
    for (size_t i = 0; i <= GROUT_LAUNCHES_MAX; i++) {
        grout_ledger_free(listing->ledgers[i]);
        listing->ledgers[i] = NULL;
    }
}

void grout_listing__deinit(grout_listing *listing) {
    end_launch(listing);
    drop_ledgers(listing);
    grout_past_free(listing->past);
    grout_starts__free(listing->starts);
    for (size_t i = 0; i < listing->arrays.count; i++) {
        free(listing->arrays.items[i].data);
        free(listing->arrays.items[i].before);
        free(listing->arrays.items[i].now);
    }
    grout__free(listing->arrays.items);
    grout_lookup__deinit(&listing->array_of_name);
    grout_lookup__deinit(&listing->writer_of_name);
    grout_beside__deinit(&listing->beside);
    *listing = (grout_listing){0};
}

/* ---- arrays --------------------------------------------------------------------------------- */

static grout_listed_array *find_array(const grout_listing *listing, grout_string_id name) {
    const uint32_t number = grout_lookup__find(&listing->array_of_name, name);
    return number == 0 ? NULL : &listing->arrays.items[number - 1];
}

static void *copy_bytes(const void *data, size_t size) {
    void *copy = malloc(size > 0 ? size : 1);
    if (copy != NULL) {
        memcpy(copy, data, size);
    }
    return copy;
}

static const grout_param *get_param(const grout_listing *listing, grout_kernel_id kernel,
                                    size_t index) {
    return grout_module_get_param(listing->load->bound,
                                  grout_module_get_kernel(listing->load->bound, kernel),
                                  (uint32_t)index);
}

static grout_string_id get_name(const grout_listing *listing, const grout_param *param) {
    return grout_module_get_value(listing->load->bound, param->value)->name;
}

/* What the launch will fill it with. */
static void fill_poison(const grout_type *type, unsigned char *data) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const uint64_t pattern = grout_dtype_get_pattern((grout_dtype)type->dtype, info->poison);
    const int64_t bytes = grout_type_get_bytes(type);
    for (int64_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(pattern >> 8 * (i % info->bytes));
    }
}

/* A new array takes over what was made for the argument, or copies what it borrows. */
static bool add_array(grout_listing *listing, const grout_param *param,
                      grout_argument_set *arguments, size_t index) {
    grout_argument *argument = &arguments->arguments[index];
    const grout_string_id name = get_name(listing, param);
    uint32_t *number = GROUT_ARRAY_RESERVE(&listing->arrays, NULL, 1)
                           ? grout_lookup__at(&listing->array_of_name, name)
                           : NULL;
    if (number == NULL) {
        return false;
    }
    if (arguments->owned[index] == NULL) {
        argument->data = copy_bytes(argument->data, argument->size);
    }
    arguments->owned[index] = NULL;
    if (argument->data == NULL) {
        return false;
    }
    if (param->direction == GROUT_DIRECTION_OUT) {
        const grout_type *type = grout_object_get_type(listing->load->bound, param->object);
        fill_poison(type, argument->data);
    }
    listing->arrays.items[listing->arrays.count++] =
        (grout_listed_array){.name = grout_module_get_string(listing->load->bound, name),
                             .size = argument->size,
                             .data = argument->data};
    *number = (uint32_t)listing->arrays.count;
    return listing->starts == NULL ||
           grout_starts__add_array(listing->starts, argument->data, argument->size);
}

/* Arguments of one name are one array. */
static bool share_arrays(grout_listing *listing, grout_kernel_id kernel,
                         grout_argument_set *arguments) {
    for (size_t i = 0; i < arguments->count; i++) {
        const grout_param *param = get_param(listing, kernel, i);
        const grout_listed_array *array = find_array(listing, get_name(listing, param));
        if (array == NULL) {
            if (!add_array(listing, param, arguments, i)) {
                return false;
            }
            continue;
        }
        GROUT_ASSERT(array->size == arguments->arguments[i].size); /* the verifier has compared */
        free(arguments->owned[i]);
        arguments->owned[i] = NULL;
        arguments->arguments[i].data = array->data;
    }
    return true;
}

/* Notes who writes each array last. False without memory. */
static bool note_writers(grout_listing *listing) {
    const grout_module *module = listing->load->bound;
    const bool is_noted = listing->kernel != 0 || listing->writer_of_name.count > 0;
    for (grout_launch_id id = 1; !is_noted && id <= get_size(listing); id++) {
        grout_kernel_id kernel = grout_module_get_launch_kernel(module, id);
        uint32_t count = grout_module_get_kernel(module, kernel)->param_count;
        for (uint32_t i = 0; i < count; i++) {
            const grout_param *param = get_param(listing, kernel, i);
            uint32_t *writer =
                grout_direction_is_written(param->direction)
                    ? grout_lookup__at(&listing->writer_of_name, get_name(listing, param))
                    : &(uint32_t){0};
            if (writer == NULL) {
                return false;
            }
            *writer = id;
        }
    }
    return true;
}

/* Whether a later launch writes an array, which is then no result yet. */
static bool is_written_later(const grout_listing *listing, grout_string_id name) {
    return listing->round < listing->rounds ||
           grout_lookup__find(&listing->writer_of_name, name) > listing->at;
}

static bool mark_passed_on(grout_listing *listing, grout_kernel_id kernel,
                           grout_argument_set *arguments) {
    arguments->is_passed_on = calloc(arguments->count + 1, sizeof *arguments->is_passed_on);
    if (!note_writers(listing)) {
        return false;
    }
    for (size_t i = 0; arguments->is_passed_on != NULL && i < arguments->count; i++) {
        arguments->is_passed_on[i] =
            is_written_later(listing, get_name(listing, get_param(listing, kernel, i)));
    }
    return arguments->is_passed_on != NULL;
}

static bool is_next_dependent(const grout_listing *listing) {
    grout_launch_id next = listing->at + 1;
    return next <= get_size(listing) && listing->kernel == 0 &&
           grout_module_get_launch(listing->load->bound, next)->is_dependent;
}

/* Whether there is room for the copies that are kept where launches overlap: an array as it is, as
 * it was and as it begins, and the arguments of the launch at hand. */
static bool has_room(const grout_listing *listing, const grout_argument_set *arguments,
                     bool is_first) {
    uint64_t bytes = arguments->bytes;
    for (size_t i = 0; i < listing->arrays.count; i++) {
        bytes += 3 * (uint64_t)listing->arrays.items[i].size;
    }
    return (is_first && !is_next_dependent(listing)) ||
           grout_argument_set__check_memory(listing->session, bytes);
}

static void drop_contents(const grout_listing *listing) {
    for (size_t i = 0; i < listing->arrays.count; i++) {
        grout_listed_array *array = &listing->arrays.items[i];
        free(array->before);
        free(array->now);
        array->before = array->now = NULL;
        array->is_changed = false;
    }
}

/* Keeps the contents of all arrays as they are. is_first: no launch before this one still runs. If
 * the next one waits for this one, too, nobody asks for them. */
static bool keep_contents(const grout_listing *listing, bool is_first) {
    bool ok = true;
    if (is_first && !is_next_dependent(listing)) {
        drop_contents(listing);
        return true;
    }
    for (size_t i = 0; i < listing->arrays.count && ok; i++) {
        grout_listed_array *array = &listing->arrays.items[i];
        if (is_first || array->before == NULL) {
            free(array->before);
            array->before = copy_bytes(array->data, array->size);
        }
        free(array->now);
        array->now = copy_bytes(array->data, array->size);
        ok = array->before != NULL && array->now != NULL;
        array->is_changed = ok && memcmp(array->before, array->now, array->size) != 0;
    }
    return ok;
}

/* ---- launches before ------------------------------------------------------------------------ */

/* The first launch that may still run when this one begins; itself if none may. */
static grout_launch_id find_first_open(const grout_listing *listing) {
    grout_launch_id first = listing->at;
    while (listing->kernel == 0 && first > 1 &&
           grout_module_launches_overlap(listing->load->bound, first - 1, listing->at)) {
        first--;
    }
    return first;
}

static void map_params(const grout_listing *listing, grout_kernel_id kernel,
                       grout_kernel_id earlier, uint32_t *map) {
    const grout_module *module = listing->load->bound;
    const grout_kernel *other = grout_module_get_kernel(module, earlier);
    uint32_t count = grout_module_get_kernel(module, kernel)->param_count;
    for (uint32_t i = 0; i < count; i++) {
        grout_string_id name = get_name(listing, get_param(listing, kernel, i));
        map[i] = grout_module_find_param(module, other, grout_module_get_string(module, name)) + 1;
    }
}

/* What a launch before has written of an array, and the one at hand need not see: it stays as old
 * has it. */
static bool keep_unseen(const grout_listing *listing, grout_launch_id id,
                        const grout_earlier_launch *earlier, const grout_listed_array *array,
                        const void *old) {
    const grout_module *module = listing->load->bound;
    const grout_kernel_id kernel = grout_module_get_launch_kernel(module, id);
    const uint32_t index =
        grout_module_find_param(module, grout_module_get_kernel(module, kernel), array->name);
    return index == UINT32_MAX || grout_ledger_keep_unseen(earlier, index, old, array->before);
}

/* What comes before the start of the launch at hand is no older for it: of one array. */
static bool renew_array(const grout_listing *listing, grout_launch_id first,
                        grout_listed_array *array) {
    void *old = array->before;
    array->before = copy_bytes(array->now, array->size);
    bool is_good = array->before != NULL;
    for (grout_launch_id id = first; is_good && id < listing->at; id++) {
        is_good = keep_unseen(listing, id, &listing->earlier[id - first], array, old);
    }
    free(old);
    array->is_changed = is_good && memcmp(array->before, array->now, array->size) != 0;
    return is_good;
}

/* Whether each launch that may run beside has a ledger: on a device none has. */
static bool have_ledgers(const grout_listing *listing, grout_launch_id first) {
    bool have = true;
    for (grout_launch_id id = first; id < listing->at; id++) {
        have = have && listing->ledgers[id] != NULL;
    }
    return have;
}

/* The same for all arrays, where the launch right before lets the one at hand know anything. */
static bool renew_contents(const grout_listing *listing, grout_launch_id first) {
    const bool is_needed = first < listing->at && have_ledgers(listing, first) &&
                           grout_ledger_hands_on(listing->ledgers[listing->at - 1]);
    bool is_good = true;
    for (size_t i = 0; is_needed && is_good && i < listing->arrays.count; i++) {
        is_good = renew_array(listing, first, &listing->arrays.items[i]);
    }
    return is_good;
}

/* By parameter: the contents that it may be shown. */
static void describe_stale(grout_listing *listing, grout_kernel_id kernel, size_t param_count) {
    for (uint32_t i = 0; i < param_count; i++) {
        const grout_param *param = get_param(listing, kernel, i);
        const grout_listed_array *array = find_array(listing, get_name(listing, param));
        if (array->is_changed && param->object != 0) {
            listing->stale[i] = (grout_stale_array){array->before, array->now};
        }
    }
}

static bool describe_earlier(grout_listing *listing, grout_kernel_id kernel, size_t param_count,
                             grout_launch_settings *settings) {
    grout_launch_id first = find_first_open(listing);
    uint32_t count = listing->at - first;
    listing->params = calloc(count * param_count + 1, sizeof *listing->params);
    listing->stale = calloc(param_count + 1, sizeof *listing->stale);
    if (listing->params == NULL || listing->stale == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        grout_launch_id id = first + i;
        uint32_t *map = listing->params + i * param_count;
        map_params(listing, kernel, grout_module_get_launch_kernel(listing->load->bound, id), map);
        listing->earlier[i] = (grout_earlier_launch){
            .ledger = listing->ledgers[id], .params = map, .open = listing->open[id]};
    }
    if (have_ledgers(listing, first)) {
        grout_ledger_order(listing->earlier, count);
    }
    if (!renew_contents(listing, first)) {
        return false;
    }
    if (count > 0) {
        describe_stale(listing, kernel, param_count);
    }
    settings->launch = listing->kernel != 0 ? 0 : listing->at;
    settings->number = listing->number;
    settings->total = listing->rounds * get_size(listing);
    if (listing->session->replay_list != NULL) {
        settings->replay = &listing->session->replay_list[listing->number];
    }
    settings->earlier = listing->earlier;
    settings->earlier_count = count;
    settings->stale = count > 0 ? listing->stale : NULL;
    return true;
}

/* Why exploring the launch at hand alone does not show every schedule; NULL: it does. */
static const char *find_open(const grout_listing *listing, const grout_launch_settings *settings) {
    for (uint32_t i = 0; i < settings->earlier_count; i++) {
        if (settings->earlier[i].open != 0) {
            return "a grid beside it was run under one schedule only";
        }
    }
    return listing->kernel != 0
               ? NULL
               : grout_beside__find_open(&listing->beside, listing->load->bound, listing->at);
}

/* What the launches before have left, for the one at hand. */
static bool give_past(grout_listing *listing, const grout_argument_set *arguments,
                      grout_launch_settings *settings) {
    grout_launch launch = {.arguments = arguments->arguments, .argument_count = arguments->count};
    if (listing->past == NULL) {
        listing->past = grout_past_new(NULL, listing->session->diags);
    }
    if (listing->past == NULL || !grout_beside__note(&listing->beside, listing->load->bound) ||
        !grout_past_begin(listing->past, &launch, listing->session->diags)) {
        return false;
    }
    settings->past = listing->past;
    settings->why_open = find_open(listing, settings);
    settings->pasts = listing->pasts = launch.pasts;
    return true;
}

/* Where the list is explored: what it takes to run the launch from other states. */
static bool begin_exploring(grout_listing *listing, grout_kernel_id kernel,
                            const grout_argument_set *arguments, grout_launch_settings *settings) {
    settings->starts = listing->starts;
    return listing->starts == NULL ||
           grout_starts__begin(listing->starts, kernel, arguments, settings);
}

static bool make_starts(grout_listing *listing) {
    if (listing->starts == NULL &&
        grout_options__has(&listing->session->options, GROUT_OPTION_EXPLORE)) {
        listing->starts = grout_starts__new(listing->session, listing->load);
        return listing->starts != NULL;
    }
    return true;
}

grout_kernel_id grout_listing__begin(grout_listing *listing, grout_argument_set *arguments,
                                     grout_launch_settings *settings) {
    const grout_load *load = listing->load;
    *arguments = (grout_argument_set){0};
    if (!go_on(listing)) {
        return 0;
    }
    end_launch(listing);
    bool is_first = find_first_open(listing) == listing->at;
    if (is_first) {
        drop_ledgers(listing);
    }
    grout_kernel_id kernel = grout_listing__get_kernel(listing);
    if (!grout_argument_set__init(listing->session, &load->bindings, load->bound, kernel,
                                  arguments)) {
        return 0;
    }
    bool ok = make_starts(listing) && share_arrays(listing, kernel, arguments);
    if (ok && !has_room(listing, arguments, is_first)) {
        return 0;
    }
    ok = ok && mark_passed_on(listing, kernel, arguments) && keep_contents(listing, is_first) &&
         describe_earlier(listing, kernel, arguments->count, settings) &&
         give_past(listing, arguments, settings) &&
         begin_exploring(listing, kernel, arguments, settings) &&
         (!is_next_dependent(listing) ||
          grout_argument_set__copy(listing->session, arguments, &listing->start));
    return ok || grout_diags_add_oom(listing->session->diags) ? kernel : 0;
}

/* ---- what a launch did ---------------------------------------------------------------------- */

/* The launch once more, on copies, for those that may run beside it. */
static bool fill_ledger(grout_listing *listing) {
    grout_session *session = listing->session;
    grout_kernel_id kernel = grout_listing__get_kernel(listing);
    grout_launch_settings settings = grout_launch_settings__get(session, false);
    grout_ledger *ledger = grout_ledger_new(NULL, session->diags);
    grout_outcome outcome = {0};
    listing->ledgers[listing->at] = ledger;
    settings.is_silent = true;
    settings.earlier = listing->earlier;
    settings.earlier_count = listing->at - find_first_open(listing);
    settings.stale = settings.earlier_count > 0 ? listing->stale : NULL;
    settings.pasts = listing->pasts;
    settings.observer = ledger == NULL ? NULL : grout_ledger_get_observer(ledger);
    if (settings.schedule == GROUT_SCHEDULE_REPLAY) {
        settings.schedule = GROUT_SCHEDULE_FAIR;
    }
    bool ok = ledger != NULL && grout_launch__run(session, listing->load, kernel, &listing->start,
                                                  &settings, &outcome);
    grout_outcome__deinit(&outcome);
    return ok;
}

bool grout_listing__end(grout_listing *listing) {
    const bool is_certain = listing->past == NULL || grout_past_is_certain(listing->past);
    listing->open[listing->at] = is_certain ? 0 : listing->number;
    return listing->start.count == 0 || fill_ledger(listing);
}
