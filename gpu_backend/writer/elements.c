/* elements.c - elements as memory holds them, one by one or in chunks of neighbours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

const char *grout_emit__memory_type(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_BOOL ? "grout_u8" : grout_gpu__get_type_name(dtype);
}

void grout_emit__element(grout_emitter *e, const grout_operand *from, grout_dtype dtype,
                         const char *index) {
    if (dtype == GROUT_DTYPE_BOOL) {
        grout_emit__add(e, "grout_u8(");
        grout_emit__operand(e, from, index);
        grout_emit__add(e, " ? 1 : 0)");
    } else {
        grout_emit__operand(e, from, index);
    }
}

void grout_emit__write_chunk(grout_emitter *e, const grout_operand *from, grout_dtype dtype,
                             uint32_t width) {
    GROUT_ASSERT(width > 1);
    GROUT_ASSERT(width * grout_dtype_get_info(dtype)->bytes <= GROUT_WIDE_BYTES_MAX);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_vector<%s, %" PRIu32 "> chunk = {",
                    grout_emit__memory_type(dtype), width);
    for (uint32_t k = 0; k < width; k++) {
        char index[24];
        (void)snprintf(index, sizeof index, k == 0 ? "reg" : "reg + %" PRIu32, k);
        grout_emit__add(e, k == 0 ? "" : ", ");
        grout_emit__element(e, from, dtype, index);
    }
    grout_emit__end(e, "};");
}

void grout_emit__read_chunk(grout_emitter *e, grout_value_id value, uint32_t width,
                            const char *tail) {
    GROUT_ASSERT(width > 1 && grout_emit__layout(e, value)->registers % width == 0);
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    grout_emit__add(e, "for (int part = 0; part < %" PRIu32 "; part++)", width);
    grout_emit__open(e);
    grout_emit__line(e, "%s[reg + part] = chunk[part]%s;", grout_emit__name(e, value), tail);
    grout_emit__close(e, "");
}
