/* array_contents.c - what init(..) and the generators put into an array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "array_contents.h"

#include "grout-internal/text.h"

#include "bound.h"
#include "float_env.h"
#include "invariant.h"
#include "pulse.h"
#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* Whether a number is one of an integer type (bool: 0 and 1). */
static bool holds_integer(grout_dtype dtype, double value) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (!isfinite(value) || value != floor(value)) {
        return false;
    }
    if (info->class_ == GROUT_CLASS_BOOL) {
        return value == 0 || value == 1;
    }
    bool is_signed = info->class_ == GROUT_CLASS_SINT;
    double end = ldexp(1.0, info->bits - (is_signed ? 1 : 0));
    return value < end && value >= (is_signed ? -end : 0.0);
}

bool grout_generator_fits(const grout_generator *generator, grout_dtype dtype) {
    switch (generator->kind) {
    case GROUT_GENERATOR_INTS:
    case GROUT_GENERATOR_ZEROS:
    case GROUT_GENERATOR_ONES:
    case GROUT_GENERATOR_ARANGE:
        return true;
    case GROUT_GENERATOR_RANDN:
    case GROUT_GENERATOR_UNIFORM:
        return is_float(dtype);
    case GROUT_GENERATOR_VALUE:
        return is_float(dtype) || holds_integer(dtype, generator->low);
    case GROUT_GENERATOR_LIST:
    case GROUT_GENERATOR_COUNT:
        break;
    }
    return false;
}

/* ---- elements ------------------------------------------------------------------------------- */

static void put_bits(uint64_t bits, uint32_t bytes, uint8_t *out) {
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(bits >> (8 * i));
    }
}

/* The bits of one element into its place in an array. */
static void put_at(const grout_type *type, const uint8_t *element, uint8_t *out, uint64_t index) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    if (info->bits >= 8) {
        memcpy(out + index * info->bytes, element, info->bytes);
    } else {
        grout_type_put_element(type, out, (int64_t)index, element);
    }
}

/* Rounds once, to nearest even. What is too large for a type of 8 bits becomes its largest number,
 * as a cast does it; wider types have infinity. */
static void put_number(grout_dtype dtype, double value, uint8_t *out) {
    const uint8_t bytes = grout_dtype_get_info(dtype)->bytes;
    if (dtype == GROUT_DTYPE_F64) {
        memcpy(out, &value, sizeof value);
        return;
    }
    if (dtype == GROUT_DTYPE_F32) {
        const float narrow = (float)value;
        memcpy(out, &narrow, sizeof narrow);
        return;
    }
    const double largest = grout_number__get_largest(dtype);
    if (bytes == 1 && fabs(value) > largest) {
        value = copysign(largest, value);
    }
    put_bits(grout_expr_value_to_bits((grout_expr_value){.is_float = true, .number = value}, dtype),
             bytes, out);
}

/* ---- generators ------------------------------------------------------------------------------ */

/* Elements of an array, from first on and before end; first is a multiple of 4. */
typedef struct span {
    uint64_t first, end;
} span;

/* Mixes the bits of a counter (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static void put_integer(grout_dtype dtype, uint64_t value, uint8_t *out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        put_number(dtype, (double)(int64_t)value, out);
        return;
    }
    const uint32_t bits = info->class_ == GROUT_CLASS_BOOL ? 1 : info->bits;
    put_bits(value & UINT64_MAX >> (64 - bits), info->bytes, out);
}

/* Nine elements made once, then picked: small integers are exact in every type. */
typedef struct few_ints {
    uint8_t elements[9][8];
    uint64_t key;
} few_ints;

static const uint8_t *pick(const few_ints *from, uint64_t index) {
    const uint64_t choice = (mix(from->key ^ index) >> 32) * 9 >> 32;
    GROUT_ASSERT(choice < sizeof from->elements / sizeof from->elements[0]);
    return from->elements[choice];
}

/* Elements of this many bytes, a constant of each caller. */
static inline void fill_picked(const few_ints *from, size_t bytes, uint8_t *out, span part) {
    for (uint64_t i = part.first; i < part.end; i++) {
        memcpy(out + i * bytes, pick(from, i), bytes);
    }
}

static void fill_ints(const grout_generator *generator, const grout_type *type, uint8_t *out,
                      span part) {
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    bool is_signed = (info->class_ == GROUT_CLASS_SINT || info->class_ == GROUT_CLASS_FLOAT) &&
                     dtype != GROUT_DTYPE_F8E8M0; /* scales have no sign */
    few_ints from = {.key = mix(generator->stream)};
    for (uint32_t i = 0; i < 9; i++) {
        put_integer(dtype, (uint64_t)i - (is_signed ? 4u : 0u), from.elements[i]);
    }
    if (info->packed == 1 && info->bytes == 4) {
        fill_picked(&from, 4, out, part);
    } else if (info->packed == 1 && info->bytes == 2) {
        fill_picked(&from, 2, out, part);
    } else {
        for (uint64_t i = part.first; i < part.end; i++) {
            put_at(type, pick(&from, i), out, i);
        }
    }
}

/* Four elements for each counter; p lies in the middle of one of 2^32 equal parts of (0, 1). */
static void fill_random(const grout_generator *generator, const grout_type *type, uint8_t *out,
                        span part) {
    uint8_t element[8] = {0};
    uint32_t key[2] = {(uint32_t)generator->seed, (uint32_t)(generator->seed >> 32)};
    uint32_t words[4] = {0};
    for (uint64_t i = part.first; i < part.end; i++) {
        if (i % 4 == 0) {
            uint32_t counter[4] = {(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), 0, 0};
            grout_random__philox(counter, key, words);
        }
        double p = ((double)words[i % 4] + 0.5) / 4294967296.0;
        double value = generator->kind == GROUT_GENERATOR_RANDN
                           ? grout_random__quantile(p)
                           : generator->low * (1 - p) + generator->high * p;
        put_number((grout_dtype)type->dtype, value, element);
        put_at(type, element, out, i);
    }
}

static void fill_same(const grout_type *type, const uint8_t *element, uint8_t *out, span part) {
    for (uint64_t i = part.first; i < part.end; i++) {
        put_at(type, element, out, i);
    }
}

static void fill_part(const grout_generator *generator, const grout_type *type, void *out,
                      span part) {
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint8_t element[8] = {0};
    GROUT_ASSERT(grout_generator_fits(generator, dtype) && info->bytes <= sizeof element);
    switch (generator->kind) {
    case GROUT_GENERATOR_INTS:
        fill_ints(generator, type, out, part);
        break;
    case GROUT_GENERATOR_ONES:
        put_integer(dtype, 1, element);
        fill_same(type, element, out, part);
        break;
    case GROUT_GENERATOR_ARANGE:
        for (uint64_t i = part.first; i < part.end; i++) {
            put_integer(dtype, i, element);
            put_at(type, element, out, i);
        }
        break;
    case GROUT_GENERATOR_RANDN:
    case GROUT_GENERATOR_UNIFORM: {
        grout_float_env caller = grout_float_env__enter();
        fill_random(generator, type, out, part);
        grout_float_env__leave(&caller);
        break;
    }
    case GROUT_GENERATOR_VALUE:
        if (is_float(dtype)) {
            put_number(dtype, generator->low, element);
        } else {
            put_integer(dtype,
                        generator->low < 0 ? (uint64_t)(int64_t)generator->low
                                           : (uint64_t)generator->low,
                        element);
        }
        fill_same(type, element, out, part);
        break;
    case GROUT_GENERATOR_ZEROS: /* fill */
    case GROUT_GENERATOR_LIST:
    case GROUT_GENERATOR_COUNT:
        GROUT_UNREACHABLE();
    }
}

static void fill_zeros(const grout_type *type, void *out) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const uint64_t count = (uint64_t)grout_type_get_count(type);
    const uint64_t words = (count + info->packed - 1) / info->packed;
    memset(out, 0,
           type->is_expanded ? (size_t)grout_type_get_bytes(type) : (size_t)words * info->bytes);
}

/* Elements that are made between two questions to a pulse. */
enum { PART = GROUT_PULSE_WORK };

/* The next elements after those of the part, if there are any, and nothing has ended the work. */
static bool go_on(span *part, uint64_t count, grout_pulse *pulse) {
    const uint64_t left = count - part->end;
    part->first = part->end;
    part->end += left < PART ? left : PART;
    return left > 0 && (pulse == NULL || grout_pulse__goes_on(pulse, PART));
}

/* False: the pulse has ended it. */
static bool fill(const grout_generator *generator, const grout_type *type, void *out,
                 grout_pulse *pulse) {
    const uint64_t count = (uint64_t)grout_type_get_count(type);
    span part = {0};
    if (generator->kind == GROUT_GENERATOR_ZEROS) {
        fill_zeros(type, out);
        return true;
    }
    while (go_on(&part, count, pulse)) {
        fill_part(generator, type, out, part);
    }
    return pulse == NULL || !pulse->is_over;
}

void grout_generator_print(const grout_generator *generator, grout_text *out) {
    if (generator->kind == GROUT_GENERATOR_VALUE) {
        grout_text_add(out, "%.17g", generator->low);
        return;
    }
    const grout_generator_info *info = grout_generator_get_info(generator->kind);
    grout_text_add(out, "%s", info->text);
    if (info->argument_count > 0) {
        grout_text_add(out, ":%" PRIu64, generator->seed);
    }
    if (info->argument_count > 1) {
        grout_text_add(out, ":%.17g:%.17g", generator->low, generator->high);
    }
}

void grout_generator_fill(const grout_generator *generator, grout_dtype dtype, void *out,
                          uint64_t count) {
    const grout_type type = {.kind = GROUT_TYPE_REF,
                             .dtype = (uint8_t)dtype,
                             .space = GROUT_SPACE_GMEM,
                             .rank = 1,
                             .dims = {(int64_t)count}};
    (void)fill(generator, &type, out, NULL);
}

bool grout_generator_fill_array(const grout_generator *generator, const grout_type *type, void *out,
                                grout_pulse *pulse) {
    return fill(generator, type, out, pulse);
}

/* ---- init ------------------------------------------------------------------------------------ */

static grout_expr_value get_argument(const grout_module *bound, const grout_init *init,
                                     uint32_t index) {
    return grout_module_get_expr_value(bound, grout_module_get_init_argument(bound, init, index));
}

static double get_number(const grout_module *bound, const grout_init *init, uint32_t index) {
    const grout_expr_value value = get_argument(bound, init, index);
    return value.is_float ? value.number : (double)value.integer;
}

/* The init names a generator. */
static grout_generator get_generator(const grout_module *bound, const grout_init *init) {
    grout_generator generator = {.kind = (grout_generator_kind)init->kind};
    if (init->count > 0) {
        generator.seed = (uint64_t)get_argument(bound, init, 0).integer;
    }
    if (init->count > 1) {
        generator.low = get_number(bound, init, 1);
        generator.high = get_number(bound, init, 2);
    }
    return generator;
}

/* The constants of a value or of a list, of which the type holds each (verify_init.c). */
static bool fill_constants(const grout_module *bound, const grout_init *init,
                           const grout_type *type, uint8_t *out, grout_pulse *pulse) {
    const uint64_t count = (uint64_t)grout_type_get_count(type);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    GROUT_ASSERT(init->kind == GROUT_GENERATOR_VALUE || init->count == count);
    if (init->kind == GROUT_GENERATOR_VALUE) {
        uint8_t element[8] = {0};
        span part = {0};
        put_bits(grout_expr_value_to_bits(get_argument(bound, init, 0), dtype), bytes, element);
        while (go_on(&part, count, pulse)) {
            fill_same(type, element, out, part);
        }
        return pulse == NULL || !pulse->is_over;
    }
    for (uint32_t i = 0; i < init->count; i++) { /* as many as the text has */
        uint8_t element[8] = {0};
        put_bits(grout_expr_value_to_bits(get_argument(bound, init, i), dtype), bytes, element);
        put_at(type, element, out, i);
    }
    return true;
}

/* id 0: ints. */
static bool fill_init(const grout_module *bound, grout_init_id id, uint64_t stream,
                      const grout_type *type, void *data, grout_pulse *pulse) {
    const grout_init *init = grout_module_get_init(bound, id);
    if (init->kind == GROUT_GENERATOR_VALUE || init->kind == GROUT_GENERATOR_LIST) {
        return fill_constants(bound, init, type, data, pulse);
    }
    grout_generator generator = get_generator(bound, init);
    generator.stream = stream;
    return fill(&generator, type, data, pulse);
}

bool grout_param__fill_default(const grout_module *bound, const grout_kernel *kernel,
                               uint32_t index, void *data, grout_pulse *pulse) {
    const grout_param *param = grout_module_get_param(bound, kernel, index);
    GROUT_ASSERT(param->direction != GROUT_DIRECTION_OUT);
    const grout_type *type = grout_module_get_type(bound, param->value);
    return fill_init(bound, param->init, index, type, data, pulse);
}

void grout_param_fill_default(const grout_module *bound, const grout_kernel *kernel, uint32_t index,
                              void *data) {
    (void)grout_param__fill_default(bound, kernel, index, data, NULL);
}

/* Streams go on after those of the parameters: the number of the kernel's gmem scratches before. */
static uint64_t get_scratch_stream(const grout_module *bound, grout_object_id scratch) {
    const grout_kernel_id kernel = grout_object__get_kernel(bound, scratch);
    uint64_t stream = grout_module_get_kernel(bound, kernel)->param_count;
    for (grout_object_id id = 1; id < scratch; id++) {
        const grout_object *object = grout_module_get_object(bound, id);
        stream += object->kind == GROUT_OBJECT_ARRAY && grout_space_is_of_launch(object->space) &&
                  grout_object__get_kernel(bound, id) == kernel;
    }
    return stream;
}

bool grout_scratch_fill_default(const grout_module *bound, grout_object_id scratch, void *data,
                                grout_pulse *pulse) {
    const grout_object *object = grout_module_get_object(bound, scratch);
    GROUT_ASSERT(object->init != 0);
    return fill_init(bound, object->init, get_scratch_stream(bound, scratch),
                     grout_object_get_type(bound, scratch), data, pulse);
}

bool grout_init_is_uniform(const grout_module *bound, const grout_init *init, grout_dtype dtype,
                           uint64_t *bits_out) {
    if (init->kind == GROUT_GENERATOR_VALUE) {
        *bits_out = grout_dtype_get_pattern(
            dtype, grout_expr_value_to_bits(get_argument(bound, init, 0), dtype));
        return true;
    }
    const grout_expr_value one = {.integer = init->kind == GROUT_GENERATOR_ONES};
    *bits_out = grout_dtype_get_pattern(dtype, grout_expr_value_to_bits(one, dtype));
    return init->kind == GROUT_GENERATOR_ZEROS || init->kind == GROUT_GENERATOR_ONES;
}

void grout_init__print_constant(const grout_expr_value *value, grout_text *out) {
    if (value->bits_dtype != GROUT_DTYPE_NONE) {
        const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)value->bits_dtype);
        if (info->class_ == GROUT_CLASS_SINT) {
            grout_text_add(out, "%s:%" PRId64, info->text, value->integer);
        } else if (info->class_ == GROUT_CLASS_UINT) {
            grout_text_add(out, "%s:%" PRIu64, info->text, value->bits);
        } else {
            grout_text_add(out, "%s:0x%0*" PRIx64, info->text, 2 * info->bytes, value->bits);
        }
    } else if (value->is_bool) {
        grout_text_add(out, "%s", value->integer != 0 ? "true" : "false");
    } else if (value->is_float) {
        grout_text_add(out, "%.17g", value->number);
    } else {
        grout_text_add(out, "%" PRId64, value->integer);
    }
}

static void print_list(const grout_module *bound, const grout_init *init, grout_text *out) {
    enum { SHOWN_MAX = 8 };
    for (uint32_t i = 0; i < init->count && i < SHOWN_MAX; i++) {
        const grout_expr_value value = get_argument(bound, init, i);
        grout_text_add(out, "%s", i == 0 ? "[" : ", ");
        grout_init__print_constant(&value, out);
    }
    grout_text_add(out, "%s", init->count > SHOWN_MAX ? ", ..]" : "]");
}

void grout_init_print_input(const grout_module *bound, const grout_init *init, grout_text *out) {
    if (init->kind == GROUT_GENERATOR_LIST) {
        print_list(bound, init, out);
    } else if (init->kind == GROUT_GENERATOR_VALUE) {
        const grout_expr_value value = get_argument(bound, init, 0);
        grout_init__print_constant(&value, out);
    } else {
        const grout_generator generator = get_generator(bound, init);
        grout_generator_print(&generator, out);
    }
}
