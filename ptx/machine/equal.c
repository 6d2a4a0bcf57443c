/* equal.c - two writes that race and leave the same values: by chance or not.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values are often equal by chance, as zeros and small integers are. So the launch is made once
 * more with other inputs: what differs then is a race as any.
 */
#include "observe.h"

#include <string.h>

/* ---- other inputs ---- */

enum { SEED = 1 };

/* Bits of an element, and of a float's fraction and exponent. */
typedef struct ptx_layout {
    uint32_t bits, fraction, bias;
} ptx_layout;

static ptx_layout get_layout(grout_ptx_elements elements) {
    switch (elements) {
    case GROUT_PTX_ELEMENTS_FIXED:
    case GROUT_PTX_ELEMENTS_ANY:
        break;
    case GROUT_PTX_ELEMENTS_I8:
        return (ptx_layout){8, 0, 0};
    case GROUT_PTX_ELEMENTS_I16:
        return (ptx_layout){16, 0, 0};
    case GROUT_PTX_ELEMENTS_I32:
        return (ptx_layout){32, 0, 0};
    case GROUT_PTX_ELEMENTS_I64:
        return (ptx_layout){64, 0, 0};
    case GROUT_PTX_ELEMENTS_E4M3:
        return (ptx_layout){8, 3, 7};
    case GROUT_PTX_ELEMENTS_E5M2:
        return (ptx_layout){8, 2, 15};
    case GROUT_PTX_ELEMENTS_F16:
        return (ptx_layout){16, 10, 15};
    case GROUT_PTX_ELEMENTS_BF16:
        return (ptx_layout){16, 7, 127};
    case GROUT_PTX_ELEMENTS_F32:
        return (ptx_layout){32, 23, 127};
    case GROUT_PTX_ELEMENTS_F64:
        return (ptx_layout){64, 52, 1023};
    }
    return (ptx_layout){0, 0, 0};
}

/* A float between a half and two, or minus that. */
static uint64_t draw_float(ptx_machine *source, const ptx_layout *layout) {
    const uint64_t sign = grout_ptx__draw(source, 2), exponent = grout_ptx__draw(source, 2),
                   fraction = grout_ptx__draw(source, UINT64_C(1) << layout->fraction);
    return sign << (layout->bits - 1) | (layout->bias - exponent) << layout->fraction | fraction;
}

static bool vary_floats(ptx_machine *source, ptx_array *array, const ptx_layout *layout) {
    const size_t size = layout->bits / 8;
    for (size_t at = 0; at + size <= array->size && ptx_may_go_on(source, 1); at += size) {
        const uint64_t value = draw_float(source, layout);
        memcpy(array->data + at, &value, size);
    }
    return array->size >= size;
}

/* Integers often are indices: each stays, at another place. */
static bool vary_integers(ptx_machine *source, ptx_array *array, size_t size) {
    for (size_t i = array->size / size; i > 1 && ptx_may_go_on(source, 1); i--) {
        const size_t other = (size_t)grout_ptx__draw(source, i) * size;
        uint64_t held = 0;
        memcpy(&held, array->data + (i - 1) * size, size);
        memcpy(array->data + (i - 1) * size, array->data + other, size);
        memcpy(array->data + other, &held, size);
    }
    return array->size / size > 1;
}

static bool vary_bytes(ptx_machine *source, ptx_array *array) {
    for (size_t i = 0; i < array->size && ptx_may_go_on(source, 1); i++) {
        array->data[i] = (uint8_t)grout_ptx__draw(source, UINT8_MAX + 1u);
    }
    return array->size > 0;
}

/* Whether something in it is another then. */
static bool vary(grout_ptx_memory *memory, bool are_floats_alone, grout_pulse *pulse) {
    ptx_machine source = {.random = SEED, .pulse = pulse};
    bool is_varied = false;
    for (size_t i = 0; i < memory->arrays.count; i++) {
        ptx_array *array = &memory->arrays.items[i];
        const ptx_layout layout = get_layout(array->elements);
        if (array->elements == GROUT_PTX_ELEMENTS_ANY && !are_floats_alone) {
            is_varied |= vary_bytes(&source, array);
        } else if (layout.fraction > 0) {
            is_varied |= vary_floats(&source, array, &layout);
        } else if (layout.bits > 0 && !are_floats_alone) {
            is_varied |= vary_integers(&source, array, layout.bits / 8);
        }
    }
    return is_varied;
}

/* ---- what a second run says ---- */

static bool is_of(const ptx_twin *twin, ptx_instructions two) {
    const uint32_t earlier = twin->equal.race.earlier.inst, later = twin->equal.later.inst;
    return (earlier == two.earlier && later == two.later) ||
           (earlier == two.later && later == two.earlier);
}

static bool has_met(const ptx_again *again, const ptx_twin *twin) {
    for (size_t i = 0; i < again->twins.count; i++) {
        const ptx_equal *it = &again->twins.items[i].equal;
        if (is_of(twin, (ptx_instructions){it->race.earlier.inst, it->later.inst})) {
            return true;
        }
    }
    return false;
}

/* Whether the run has come to all of the writes, or has ended with a race of two of them. */
static bool is_usable(const ptx_machine *machine, const ptx_again *again) {
    bool has_met_all = true;
    for (size_t i = 0; i < machine->twins.count; i++) {
        has_met_all = has_met_all && has_met(again, &machine->twins.items[i]);
        if (!again->is_done && is_of(&machine->twins.items[i], again->raced)) {
            return true;
        }
    }
    return again->is_done && has_met_all;
}

/* A run with other inputs; is_varied_out: there are some. */
static bool run_varied(const ptx_machine *machine, const grout_ptx_memory *initial,
                       bool are_floats_alone, bool *is_varied_out, ptx_again *again_out) {
    grout_ptx_memory *other = grout_ptx__copy_memory(initial, machine->heap, machine->pulse);
    bool is_done =
        other != NULL || (!machine->pulse->is_over && grout_diags_add_oom(machine->diags));
    *is_varied_out = is_done && vary(other, are_floats_alone, machine->pulse);
    is_done = is_done && !machine->pulse->is_over;
    grout__free(again_out->twins.items);
    *again_out = (ptx_again){.raced = PTX_NO_INSTRUCTIONS};
    is_done = is_done && (!*is_varied_out || grout_ptx__run_again(machine, other, again_out));
    grout_ptx_memory_free(other);
    return is_done;
}

/* NULL: with all inputs they leave the same, as far as is known. */
static const char *judge(const ptx_again *again, const ptx_twin *twin) {
    return is_of(twin, again->raced)                 ? "with other inputs they leave other values"
           : again->is_done && !has_met(again, twin) ? "with these inputs they leave the same "
                                                       "values, and no run with others came to both"
                                                     : NULL;
}

bool grout_ptx__judge_twins(ptx_machine *machine, const grout_ptx_memory *initial) {
    ptx_again again = {.raced = PTX_NO_INSTRUCTIONS};
    bool is_varied = false, is_right = true;
    if (initial != NULL && machine->twins.count > 0) {
        is_right = run_varied(machine, initial, false, &is_varied, &again);
        if (is_right && is_varied && !is_usable(machine, &again)) {
            is_right = run_varied(machine, initial, true, &is_varied, &again);
            again.is_done |= is_varied && !is_usable(machine, &again);
        }
    }
    for (size_t i = 0; is_right && i < machine->twins.count; i++) {
        const char *what = is_varied ? judge(&again, &machine->twins.items[i]) : NULL;
        grout_ptx__report_twin(machine, &machine->twins.items[i], what);
        machine->is_failed = machine->is_failed || what != NULL;
    }
    grout__free(again.twins.items);
    return is_right && !machine->is_failed;
}
