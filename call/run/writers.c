/* writers.c - who wrote each element of an array last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "writers.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

/* ---- writes --------------------------------------------------------------------------------- */

static void mark_bytes(grout_writers *writers, const grout_origin *origin, int64_t base,
                       int64_t length) {
    int64_t first = base / writers->element_bytes * writers->packed;
    int64_t last = ((base + length - 1) / writers->element_bytes + 1) * writers->packed - 1;
    for (int64_t i = first < 0 ? 0 : first; i <= last && i < writers->count; i++) {
        writers->ctas[i] = origin->cta + 1;
    }
    if (writers->watched >= first && writers->watched <= last) {
        writers->origin = *origin;
    }
}

static void mark_runs(grout_writers *writers, const grout_origin *origin, const grout_run *runs,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < runs[i].count; k++) {
            mark_bytes(writers, origin, runs[i].base + k * runs[i].stride, runs[i].length);
        }
    }
}

static bool add_flight(grout_writers *writers, const grout_event *event) {
    const grout_access *access = event->u.access;
    size_t size = access->run_count * sizeof access->runs[0];
    grout_run *runs = malloc(size > 0 ? size : 1);
    if (runs == NULL || !GROUT_ARRAY_RESERVE(&writers->flights, NULL, 1)) {
        free(runs);
        return false;
    }
    if (size > 0) {
        memcpy(runs, access->runs, size);
    }
    writers->flights.items[writers->flights.count++] = (grout_writers_flight){
        .serial = writers->serial,
        .origin = event->origin,
        .runs = runs,
        .run_count = access->run_count,
    };
    return true;
}

/* Takes the flight at a place out of the list: it is over. */
static void land(grout_writers *writers, size_t index) {
    grout_writers_flight flight = writers->flights.items[index];
    mark_runs(writers, &flight.origin, flight.runs, flight.run_count);
    free(flight.runs);
    writers->flights.count--;
    memmove(&writers->flights.items[index], &writers->flights.items[index + 1],
            (writers->flights.count - index) * sizeof writers->flights.items[0]);
}

static void land_all_of(grout_writers *writers, uint32_t cta, uint64_t serial) {
    for (size_t i = 0; i < writers->flights.count;) {
        const grout_writers_flight *flight = &writers->flights.items[i];
        if (flight->origin.cta == cta && flight->serial == serial) {
            land(writers, i);
        } else {
            i++;
        }
    }
}

/* ---- the observer --------------------------------------------------------------------------- */

static bool observe(void *self, const grout_event *event) {
    grout_writers *writers = self;
    if (event->kind == GROUT_EVENT_ISSUE) { /* its accesses follow */
        writers->serial = event->u.issue->serial;
    } else if (event->kind == GROUT_EVENT_COMPLETE) {
        land_all_of(writers, event->origin.cta, event->u.issue->serial);
    } else if (event->kind == GROUT_EVENT_ACCESS) {
        const grout_access *access = event->u.access;
        if (!access->is_write || access->object != writers->object) {
            return true;
        }
        if (access->stamp.agent != GROUT_AGENT_ACTOR) {
            return add_flight(writers, event);
        }
        mark_runs(writers, &event->origin, access->runs, access->run_count);
    }
    return true;
}

static bool end(void *self) {
    grout_writers *writers = self;
    while (writers->flights.count > 0) {
        land(writers, 0);
    }
    return true;
}

bool grout_writers__init(grout_writers *writers, const grout_load *load, grout_kernel_id kernel,
                         uint32_t param_index, int64_t watched) {
    const grout_kernel *info = grout_module_get_kernel(load->bound, kernel);
    const grout_param *param = grout_module_get_param(load->bound, info, param_index);
    const grout_type *type = grout_object_get_type(load->bound, param->object);
    *writers = (grout_writers){
        .object = param->object,
        .param_index = param_index,
        .element_bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes,
        .packed = grout_type_get_packed(type),
        .count = grout_type_get_count(type),
        .watched = watched,
    };
    writers->ctas = calloc((size_t)writers->count + 1, sizeof writers->ctas[0]);
    writers->observer = (grout_observer){
        .self = writers,
        .interest = UINT64_C(1) << GROUT_EVENT_ISSUE | UINT64_C(1) << GROUT_EVENT_COMPLETE |
                    UINT64_C(1) << GROUT_EVENT_ACCESS,
        .event = observe,
        .end = end,
    };
    return writers->ctas != NULL;
}

void grout_writers__deinit(grout_writers *writers) {
    for (size_t i = 0; i < writers->flights.count; i++) {
        free(writers->flights.items[i].runs);
    }
    grout__free(writers->flights.items);
    free(writers->ctas);
    *writers = (grout_writers){0};
}

/* ---- the run -------------------------------------------------------------------------------- */

static bool run(grout_writers *writers, grout_session *session, const grout_load *load,
                grout_kernel_id kernel, const grout_launch_settings *settings,
                const grout_argument_set *arguments) {
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    launch.track_undefined = settings->with_checker; /* as the run that was compared */
    launch.observers[launch.observer_count++] = &writers->observer;
    grout_machine *machine = grout_machine_new(&launch, session->diags);
    bool is_done =
        machine != NULL && grout_machine_run(machine, 0, session->diags) == GROUT_RUN_DONE;
    grout_machine_free(machine);
    grout_progress_line__clear(&payload.line);
    return is_done;
}

static bool make_arguments(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *inputs, grout_argument_set *out) {
    return inputs != NULL
               ? grout_argument_set__copy(session, inputs, out)
               : grout_argument_set__init(session, &load->bindings, load->bound, kernel, out);
}

bool grout_writers__watch(grout_writers *writers, grout_session *session, const grout_load *load,
                          grout_kernel_id kernel, const grout_launch_settings *settings,
                          const void *bytes) {
    grout_session own = *session;
    grout_launch_settings silent = *settings;
    grout_argument_set arguments = {0};
    silent.is_silent = true;
    silent.record = NULL;
    silent.reach = NULL;
    silent.observer = NULL;
    own.diags =
        grout_session__new_diags(session); /* no fault of it is one of the run that is reported */
    bool is_same = own.diags != NULL &&
                   make_arguments(&own, load, kernel, writers->inputs, &arguments) &&
                   run(writers, &own, load, kernel, &silent, &arguments) &&
                   memcmp(arguments.arguments[writers->param_index].data, bytes,
                          arguments.arguments[writers->param_index].size) == 0;
    grout_argument_set__deinit(&arguments);
    grout_diags_free(own.diags);
    return is_same;
}
