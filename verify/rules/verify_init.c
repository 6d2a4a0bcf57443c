/* verify_init.c - which arrays have contents by default, and whether they can hold them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "array_contents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* An init(..), and what it is the contents of. */
typedef struct init_place {
    const grout_init *init;
    const grout_type *type;
    grout_value_text name; /* in quotes */
} init_place;

static grout_dtype get_dtype(const init_place *place) {
    return (grout_dtype)place->type->dtype;
}

static const char *get_dtype_text(const init_place *place) {
    return grout_dtype_get_info(get_dtype(place))->text;
}

/* ---- places that start without values -------------------------------------------------------- */

static void refuse_out(grout_verifying *verifying, const init_place *place) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                            "%s is an 'out' array: it starts without values, and has no init",
                            place->name.chars);
    grout_diags_help(verifying->diags, "make it 'inout', or leave init(..) out");
}

static void refuse_object(grout_verifying *verifying, const grout_object *object,
                          const init_place *place) {
    const char *what = "starts without values", *help = "store to it at the top of the kernel";
    if (object->kind == GROUT_OBJECT_SEMAPHORE) {
        what = "counts from 0";
        help = "leave init(..) out, and begin with a semaphore_signal";
    } else if (object->kind == GROUT_OBJECT_BARRIER) {
        what = "has phases and no values";
        help = "leave init(..) out";
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                            "%s %s: init is for parameters and 'scratch gmem'", place->name.chars,
                            what);
    grout_diags_help(verifying->diags, "%s", help);
}

/* ---- contents -------------------------------------------------------------------------------- */

static grout_loc_id get_argument(const grout_verifying *verifying, const init_place *place,
                                 uint32_t index, grout_expr_value *value_out) {
    grout_expr_id id = grout_module_get_init_argument(verifying->module, place->init, index);
    *value_out = grout_module_get_expr_value(verifying->module, id);
    return grout_module_get_expr(verifying->module, id)->loc;
}

/* A constant by its value; the caret shows how it is written. */
typedef struct constant_text {
    char chars[48];
} constant_text;

static constant_text get_text(const grout_verifying *verifying, const grout_expr_value *value) {
    constant_text text = {{0}};
    grout_text whole = {.allocator = verifying->module->allocator};
    grout_init__print_constant(value, &whole);
    (void)snprintf(text.chars, sizeof text.chars, "%s", whole.data == NULL ? "" : whole.data);
    grout_text_free(&whole);
    return text;
}

/* A constant as an element; false after a report. */
static bool check_element(grout_verifying *verifying, const init_place *place, uint32_t index) {
    grout_expr_value value;
    grout_loc_id loc = get_argument(verifying, place, index, &value);
    grout_dtype dtype = get_dtype(place);
    if (!grout_number__is_constant_of(&value, dtype)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, loc,
                                "%s has elements of type %s, and '%s' is none", place->name.chars,
                                get_dtype_text(place), get_text(verifying, &value).chars);
        grout_diags_help(verifying->diags, "%s",
                         dtype == GROUT_DTYPE_BOOL ? "write true or false"
                         : value.is_bool           ? "write 1 for true, 0 for false"
                                         : "constants are not cast: write one of the type");
        return false;
    }
    if (!grout_fold__fits(&value, dtype)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, loc,
                                "%s has elements of type %s, which '%s' does not fit",
                                place->name.chars, get_dtype_text(place),
                                get_text(verifying, &value).chars);
        grout_number__help_range(dtype, verifying->diags);
        return false;
    }
    return true;
}

/* One report of a list is enough. */
static void check_list(grout_verifying *verifying, const init_place *place) {
    int64_t count = grout_type_get_count(place->type);
    if (place->type->kind == GROUT_TYPE_SCALAR) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                                "%s is a scalar, and a list is for an array", place->name.chars);
        grout_diags_help(verifying->diags, "write the value without brackets");
        return;
    }
    if (count != place->init->count) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                                "%s has %" PRId64 " element%s, and the list %" PRIu32,
                                place->name.chars, count, count == 1 ? "" : "s",
                                place->init->count);
        grout_diags_help(verifying->diags, "list all elements, in row-major order; one value "
                                           "without brackets is for all of them");
        return;
    }
    for (uint32_t i = 0; i < place->init->count && check_element(verifying, place, i); i++) {
    }
}

static void check_seed(grout_verifying *verifying, const init_place *place) {
    grout_expr_value seed;
    grout_loc_id loc = get_argument(verifying, place, 0, &seed);
    if (seed.integer < 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, loc,
                                "a seed is at least 0, and this is %" PRId64, seed.integer);
        grout_diags_help(verifying->diags, "any other integer will do: another seed is another "
                                           "row of numbers");
    }
}

/* A bound of uniform; false after a report. */
static bool check_bound(grout_verifying *verifying, const init_place *place, uint32_t index,
                        double *number_out) {
    grout_expr_value value;
    grout_loc_id loc = get_argument(verifying, place, index, &value);
    *number_out = value.is_float ? value.number : (double)value.integer;
    if (value.bits_dtype != GROUT_DTYPE_NONE || value.is_bool || !isfinite(*number_out)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, loc,
                                "a bound of uniform is a finite number, and '%s' is none",
                                get_text(verifying, &value).chars);
        grout_diags_help(verifying->diags, "write the bounds as numbers: uniform(1, -1, 1)");
        return false;
    }
    return check_element(verifying, place, index);
}

static void check_bounds(grout_verifying *verifying, const init_place *place) {
    double low, high;
    bool ok = check_bound(verifying, place, 1, &low);
    ok = check_bound(verifying, place, 2, &high) && ok;
    if (ok && low > high) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                                "uniform goes from %g up to %g, which is less", low, high);
        grout_diags_help(verifying->diags, "the lower bound stands first: uniform(SEED, LO, HI)");
    }
}

static void check_generator(grout_verifying *verifying, const init_place *place) {
    const grout_generator_info *info =
        grout_generator_get_info((grout_generator_kind)place->init->kind);
    if (info->is_float && grout_dtype_get_info(get_dtype(place))->class_ != GROUT_CLASS_FLOAT) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INIT, place->init->loc,
                                "%s makes fractions, and %s has elements of type %s", info->text,
                                place->name.chars, get_dtype_text(place));
        grout_diags_help(verifying->diags, "ints makes small whole numbers of every type");
        return;
    }
    if (info->argument_count > 0) {
        check_seed(verifying, place);
    }
    if (info->argument_count > 1) {
        check_bounds(verifying, place);
    }
}

static void check_contents(grout_verifying *verifying, const init_place *place) {
    if (place->init->kind == GROUT_GENERATOR_LIST) {
        check_list(verifying, place);
    } else if (place->init->kind == GROUT_GENERATOR_VALUE) {
        (void)check_element(verifying, place, 0);
    } else {
        check_generator(verifying, place);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static init_place get_place(const grout_verifying *verifying, grout_init_id init,
                            grout_value_id value) {
    return (init_place){.init = grout_module_get_init(verifying->module, init),
                        .type = grout_module_get_type(verifying->module, value),
                        .name = grout_value__get_text(verifying->module, value, "it")};
}

void grout_verify__params(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, verifying->kernel);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (param->init == 0) {
            continue;
        }
        init_place place = get_place(verifying, param->init, param->value);
        if (param->direction == GROUT_DIRECTION_OUT) {
            refuse_out(verifying, &place);
        } else {
            check_contents(verifying, &place);
        }
    }
}

void grout_verify__inits(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_value_id first;
    uint32_t count = grout_op_get_made_objects(module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        const grout_object *object =
            grout_module_get_object(module, grout_module_get_value(module, first + k)->object);
        if (object->init == 0) {
            continue;
        }
        init_place place = get_place(verifying, object->init, first + k);
        if (object->kind != GROUT_OBJECT_ARRAY || !grout_space_is_of_launch(object->space)) {
            refuse_object(verifying, object, &place);
        } else {
            check_contents(verifying, &place);
        }
    }
}
