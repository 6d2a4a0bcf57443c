/*
 * emit_wgmma.c - wgmma as instructions of the tensor core, its waits, and registers per lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wgmma is a fence, one instruction for each 64 rows and K step, and the commit of the group.
 * What changes from one instruction to the next is the start of its operands, in units of 16 bytes:
 * a constant added to what is worked out once for the whole wgmma.
 */
#include "emit.h"

#include "invariant.h"
#include "wgmma_turns.h"

#include <inttypes.h>

static uint32_t get_swizzle(uint32_t bytes) {
    return bytes == 128 ? 1 : bytes == 64 ? 2 : bytes == 32 ? 3 : 0;
}

/* What of a matrix descriptor does not change with the address. */
static uint64_t describe_operand(const grout_wgmma_operand *operand) {
    uint64_t word = 0;
    GROUT_ASSERT(operand->leading_bytes % 16 == 0 && operand->stride_bytes % 16 == 0);
    word |= BITS(WGMMA_LEADING, operand->leading_bytes / 16);
    word |= BITS(WGMMA_STRIDE, operand->stride_bytes / 16);
    word |= BITS(WGMMA_BASE, 0);
    return word | BITS(WGMMA_SWIZZLE, get_swizzle(operand->swizzle));
}

/* "const grout_u32 x5 = grout_operand_start(as + ...) | 65536u;" and the number of x. */
static uint32_t write_start(grout_emitter *e, const grout_view *view,
                            const grout_wgmma_operand *operand) {
    const uint32_t start = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = grout_operand_start(", start);
    grout_emit__smem_start(e, view);
    grout_emit__add(e, ")");
    FIELD_END(e, WGMMA_START);
    grout_emit__end(e, " | %" PRIu32 "u;", (uint32_t)describe_operand(operand));
    return start;
}

/* The descriptor of the part of an operand that one instruction takes. */
static void add_descriptor(grout_emitter *e, const grout_wgmma *wgmma,
                           const grout_wgmma_operand *operand, uint32_t start) {
    const uint32_t high = (uint32_t)(describe_operand(operand) >> 32);
    const bool has_panels = wgmma->step_count > operand->steps_per_panel;
    GROUT_ASSERT(operand->steps_per_panel > 0 && !operand->is_register);
    grout_emit__add(e, "grout_operand(x%" PRIu32, start);
    if (wgmma->block_count > 1 && operand->block_bytes > 0) { /* 0: of b, the same for all rows */
        grout_emit__add_distance(e, "band", 1, 1, FIELD(WGMMA_BAND, operand->block_bytes / 16));
    }
    if (has_panels) {
        grout_emit__add_distance(e, "part", operand->steps_per_panel, 1,
                                 FIELD(WGMMA_PANEL, operand->panel_bytes / 16));
    }
    if (wgmma->step_count > 1 && operand->steps_per_panel > 1) {
        grout_emit__add_distance(e, "part", 1, has_panels ? operand->steps_per_panel : 1,
                                 FIELD(WGMMA_STEP, operand->step_bytes / 16));
    }
    grout_emit__add(e, ", 0x%08" PRIx32 "u)", high);
}

/* "grout_pair" or "grout_quad": the elements of a register in order. */
static const char *get_packer(uint32_t per_register) {
    return per_register == 4 ? "grout_quad" : "grout_pair";
}

/* An array that the tensor core reads in registers. */
typedef struct register_array {
    const char *name, *splat; /* of the operand, for a report; of a variable */
    const grout_operand *operand;
    grout_dtype dtype;
    grout_register_layout_kind kind;
    uint32_t registers; /* of 32 bits */
} register_array;

/* The elements of one register, all of them those of a splat: "splat7", for the registers x7. A
 * scope may have several. */
static void write_splat(grout_emitter *e, const register_array *array, uint32_t packed) {
    const uint32_t per_register = 4u / grout_dtype_get_info(array->dtype)->bytes;
    grout_emit__begin(e);
    grout_emit__add(e, "const %s %s%" PRIu32 "[%" PRIu32 "] = {",
                    grout_gpu__get_type_name(array->dtype), array->splat, packed, per_register);
    for (uint32_t k = 0; k < per_register; k++) {
        grout_emit__add(e, k == 0 ? "" : ", ");
        grout_emit__operand(e, array->operand, NULL);
    }
    grout_emit__end(e, "};");
}

/* An array as the 32-bit registers that the instruction reads: its own, in order. */
static uint32_t write_packed(grout_emitter *e, const grout_op *op, const register_array *array) {
    const uint32_t per_register = 4u / grout_dtype_get_info(array->dtype)->bytes;
    const bool is_spread = grout_emit__is_spread(e, array->operand);
    /* The same in all turns: the compiler moves it in front of the loop, and no turn writes it. */
    const bool is_kept =
        e->rounds.body == op->parent && grout_gpu__is_from_around(e->module, op, array->operand);
    if (is_spread && grout_emit__layout(e, array->operand->id)->kind != array->kind) {
        grout_emit__unsupported(e, op, "%s in registers that is not in the %s layout", array->name,
                                grout_register_layout_get_text(array->kind));
        return 0;
    }
    const uint32_t packed = grout_emit__begin_hold(e, array->registers);
    if (!is_spread) {
        write_splat(e, array, packed);
    }
    grout_emit__open_registers(e, array->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "x%" PRIu32 "[reg] = %s%s(", packed, is_kept ? "" : "grout_wgmma_take(",
                    get_packer(per_register));
    if (is_spread) {
        grout_emit__add(e, "%s + %" PRIu32 " * reg", grout_emit__name(e, array->operand->id),
                        per_register);
    } else {
        grout_emit__add(e, "%s%" PRIu32, array->splat, packed);
    }
    grout_emit__end(e, is_kept ? ");" : "));");
    grout_emit__close(e, "");
    return packed;
}

static uint32_t write_left(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma) {
    const grout_dtype dtype = (grout_dtype)wgmma->a_dtype;
    const bool is_byte = grout_dtype_get_info(dtype)->bytes == 1;
    return write_packed(
        e, op,
        &(register_array){.name = "an a",
                          .splat = "splat",
                          .operand = grout_module_get_operand(e->module, op, 1),
                          .dtype = dtype,
                          .kind = is_byte ? GROUT_LAYOUT_WGMMA_8BIT : GROUT_LAYOUT_WGMMA,
                          .registers = 4 * wgmma->step_count * wgmma->block_count});
}

/* Registers of metadata of each 64 rows: of each step, or of two. */
static uint32_t count_metadata(const grout_wgmma *wgmma) {
    return wgmma->step_count / grout_emit__count_selectors(wgmma);
}

static uint32_t write_metadata(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma) {
    const bool is_byte = grout_dtype_get_info((grout_dtype)wgmma->a_dtype)->bytes == 1;
    return write_packed(e, op,
                        &(register_array){.name = "metadata",
                                          .splat = "codes",
                                          .operand = grout_wgmma_get_metadata(e->module, op),
                                          .dtype = GROUT_DTYPE_U16,
                                          .kind = is_byte ? GROUT_LAYOUT_WGMMA_METADATA_8BIT
                                                          : GROUT_LAYOUT_WGMMA_METADATA,
                                          .registers = count_metadata(wgmma) * wgmma->block_count});
}

static void open_loop(grout_emitter *e, const char *index, uint32_t count) {
    if (count > 1) {
        grout_emit__line(e, "#pragma unroll");
        grout_emit__begin(e);
        grout_emit__add(e, "for (int %s = 0; %s < %" PRIu32 "; %s++)", index, index, count, index);
        grout_emit__open(e);
    }
}

static void close_loop(grout_emitter *e, uint32_t count) {
    if (count > 1) {
        grout_emit__close(e, "");
    }
}

/* The registers that an instruction adds to: "acc", "acc + 64 * band + 32". */
static void add_accumulator(grout_emitter *e, const grout_wgmma *wgmma, const grout_view *view) {
    const grout_type *type = grout_object_get_type(e->module, view->object);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const uint32_t start = grout_emit__count_accumulators(dtype, 64 * wgmma->column);
    grout_emit__add(e, "%s", grout_emit__name(e, view->base));
    if (wgmma->block_count > 1) {
        grout_emit__add(e, " + band * %" PRIu32,
                        grout_emit__count_accumulators(dtype, 64 * type->dims[1]));
    }
    if (start != 0) {
        grout_emit__add(e, " + %" PRIu32, start);
    }
}

/* The registers of a that an instruction reads: four for each K step of each 64 rows. */
static void add_packed(grout_emitter *e, const grout_wgmma *wgmma, uint32_t packed) {
    grout_emit__add(e, "x%" PRIu32, packed);
    if (wgmma->block_count > 1) {
        grout_emit__add(e, " + band * %" PRIu32, 4 * wgmma->step_count);
    }
    if (wgmma->step_count > 1) {
        grout_emit__add(e, " + part * 4");
    }
}

/* Whether the accumulator counts: for the first step of K what the operand says. */
static void add_use(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma) {
    if (wgmma->has_use) {
        grout_emit__add(e, ", ");
        FIELD_START(e, WGMMA_USE);
        grout_emit__add(e, wgmma->step_count > 1 ? "part > 0 || " : "");
        grout_emit__operand(e, grout_wgmma_get_use(e->module, op), NULL);
        FIELD_END(e, WGMMA_USE);
    }
}

/* The register of metadata that an instruction reads. */
static void add_metadata(grout_emitter *e, const grout_wgmma *wgmma, uint32_t packed) {
    const uint32_t count = count_metadata(wgmma), steps = wgmma->step_count / count;
    grout_emit__add(e, ", x%" PRIu32 "[", packed);
    if (wgmma->block_count > 1) {
        grout_emit__add(e, count > 1 ? "band * %" PRIu32 " + " : "band", count);
    }
    if (count > 1) {
        grout_emit__add(e, steps > 1 ? "part / %" PRIu32 : "part", steps);
    } else if (wgmma->block_count == 1) {
        grout_emit__add(e, "0");
    }
    grout_emit__add(e, "]");
}

/* What a wgmma reads: its accumulator, and the numbers of what has been written of the operands. */
typedef struct sources {
    grout_view acc;
    uint32_t a, b, metadata;
} sources;

static void write_instruction(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma,
                              const sources *its, uint32_t selector) {
    grout_emit__begin(e);
    grout_emit__add(e, "%s(", grout_emit__wgmma_name(wgmma, selector).text);
    add_accumulator(e, wgmma, &its->acc);
    grout_emit__add(e, ", ");
    if (wgmma->a.is_register) {
        add_packed(e, wgmma, its->a);
    } else {
        add_descriptor(e, wgmma, &wgmma->a, its->a);
    }
    grout_emit__add(e, ", ");
    add_descriptor(e, wgmma, &wgmma->b, its->b);
    if (wgmma->is_sparse) {
        add_metadata(e, wgmma, its->metadata);
    }
    add_use(e, op, wgmma);
    grout_emit__end(e, ");");
}

/* Which lanes have the metadata is part of the instruction: it alternates from step to step. */
static void write_selected(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma,
                           const sources *its) {
    if (grout_emit__count_selectors(wgmma) == 1) {
        write_instruction(e, op, wgmma, its, 0);
        return;
    }
    grout_emit__begin(e);
    grout_emit__add(e, "if (part %% 2 == 0)");
    grout_emit__open(e);
    write_instruction(e, op, wgmma, its, 0);
    grout_emit__close(e, "");
    grout_emit__begin(e);
    grout_emit__add(e, "else");
    grout_emit__open(e);
    write_instruction(e, op, wgmma, its, 1);
    grout_emit__close(e, "");
}

static void write_instructions(grout_emitter *e, const grout_op *op, const grout_wgmma *wgmma,
                               const sources *its) {
    grout_emit__line(e, "grout_wgmma_fence();");
    open_loop(e, "part", wgmma->step_count);
    open_loop(e, "band", wgmma->block_count);
    write_selected(e, op, wgmma, its);
    close_loop(e, wgmma->block_count);
    close_loop(e, wgmma->step_count);
    grout_emit__line(e, "grout_wgmma_commit();");
}

/* What the tensor core may still read of registers when the wgmma has been issued. */
static void hold_registers(grout_emitter *e, grout_op_id id, const grout_wgmma *wgmma,
                           const sources *its) {
    grout_emit_hold holds[2];
    uint32_t count = 0;
    if (wgmma->a.is_register) {
        holds[count++] = (grout_emit_hold){.number = its->a,
                                           .registers = 4 * wgmma->step_count * wgmma->block_count};
    }
    if (wgmma->is_sparse) {
        holds[count++] = (grout_emit_hold){.number = its->metadata,
                                           .registers = count_metadata(wgmma) * wgmma->block_count};
    }
    if (count > 0) {
        grout_emit__end_hold(e, id, holds, count);
    }
}

static void multiply(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_wgmma wgmma;
    grout_view a, b;
    sources its = {.a = 0};
    if (!grout_wgmma_plan(e->module, id, &wgmma, e->diags) ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &its.acc) ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 2), &b)) {
        e->failed = true;
        return;
    }
    if (wgmma.a.is_register) {
        its.a = write_left(e, op, &wgmma);
    } else if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 1), &a)) {
        its.a = write_start(e, &a, &wgmma.a);
    } else {
        e->failed = true;
        return;
    }
    its.b = write_start(e, &b, &wgmma.b);
    if (wgmma.is_sparse) {
        its.metadata = write_metadata(e, op, &wgmma);
    }
    write_instructions(e, op, &wgmma, &its);
    hold_registers(e, id, &wgmma, &its);
}

void grout_emit__wgmma(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
    grout_emit__wait_wgmmas(e, 1);
}

void grout_emit__wgmma_async(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

void grout_emit__wgmma_sp(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__wgmma(e, id, op);
}

void grout_emit__wgmma_sp_async(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

void grout_emit__wgmma_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__wait_wgmmas(e, grout_emit__get_integer(e, op, 0));
}

static bool get_accumulator(grout_emitter *e, const grout_op *op, grout_view *view_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), view_out) &&
        grout_emit__is_accumulator(e, view_out)) {
        return true;
    }
    grout_emit__unsupported(e, op, "operand 1 is not an accumulator");
    return false;
}

void grout_emit__acc_load(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view view;
    (void)id;
    if (get_accumulator(e, op, &view)) {
        grout_emit__read_accumulator(e, op, &view);
    }
}

void grout_emit__acc_store(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view view;
    (void)id;
    if (get_accumulator(e, op, &view)) {
        grout_emit__write_accumulator(e, op, &view);
    }
}

void grout_emit__set_max_registers(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const bool is_increase = grout_module_find_attr(e->module, op, GROUT_ATTR_INCREASE) != NULL;
    (void)id;
    grout_emit__line(e, "grout_%s_registers<%" PRId64 ">();", is_increase ? "increase" : "decrease",
                     FIELD(REGISTERS_COUNT, grout_emit__get_integer(e, op, 0)));
}
