/* emit_mma.c - mma: arrays in registers through mma.sync, 16 x 8 of a warp at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The layouts of its operands are the instruction's fragments one after the other, so an operand of
 * one instruction is a run of registers: of a four for each K step of each 64 rows, of b two for
 * each 8 columns of each K step, of the sums four elements for each 8 columns of each 64 rows.
 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { C, A, B };
enum { A_REGISTERS = 4, B_REGISTERS = 2, SUMS = 4 }; /* of an instruction, in each lane */

static bool has_half_sums(const grout_mma *mma) {
    return mma->accumulator_dtype == GROUT_DTYPE_F16;
}

/* "grout_mma_m16n8k32_f32_e4m3_e5m2" */
static grout_gpu_name get_name(const grout_mma *mma) {
    grout_gpu_name name;
    const bool is_mixed = mma->a_dtype != mma->b_dtype;
    (void)snprintf(name.text, sizeof name.text, "grout_mma_m16n8k%" PRIu32 "_%s_%s%s%s%s",
                   mma->k_step, grout_emit__get_ptx_type(mma->accumulator_dtype, false),
                   grout_emit__get_ptx_type(mma->a_dtype, true), is_mixed ? "_" : "",
                   is_mixed ? grout_emit__get_ptx_type(mma->b_dtype, true) : "",
                   mma->is_saturating ? "_saturating" : "");
    return name;
}

/* ---- one form of the instruction ------------------------------------------------------------- */

static void write_form(grout_emitter *e, const grout_mma *mma, const char *name) {
    const bool is_half = has_half_sums(mma);
    const char *sums = grout_emit__get_ptx_type(mma->accumulator_dtype, false);
    grout_emit__line(e, "// c += a b: 16 x 8 of a warp by %" PRIu32 " of K.", mma->k_step);
    grout_emit__begin(e);
    grout_emit__add(e, "GROUT_DEVICE void %s(%s *c, const grout_u32 *a, const grout_u32 *b)", name,
                    grout_gpu__get_type_name((grout_dtype)mma->accumulator_dtype));
    grout_emit__open(e);
    if (is_half) {
        grout_emit__line(e, "grout_u32 low = grout_pair(c), high = grout_pair(c + 2);");
    }
    grout_emit__line(e,
                     "asm volatile(\"mma.sync.aligned.m16n8k%" PRId64 ".row.col%s.%s.%s.%s.%s \"",
                     FIELD(MMA_K, mma->k_step), mma->is_saturating ? ".satfinite" : "", sums,
                     grout_emit__get_ptx_type(mma->a_dtype, true),
                     grout_emit__get_ptx_type(mma->b_dtype, true), sums);
    if (is_half) {
        grout_emit__line(e, "    \"{%%0, %%1}, {%%2, %%3, %%4, %%5}, {%%6, %%7}, {%%0, %%1};\"");
        grout_emit__line(e, "    : \"+r\"(low), \"+r\"(high)");
    } else {
        const char letter = mma->accumulator_dtype == GROUT_DTYPE_F32 ? 'f' : 'r';
        grout_emit__line(e, "    \"{%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, "
                            "{%%0, %%1, %%2, %%3};\"");
        grout_emit__line(e, "    : \"+%c\"(c[0]), \"+%c\"(c[1]), \"+%c\"(c[2]), \"+%c\"(c[3])",
                         letter, letter, letter, letter);
    }
    grout_emit__line(e, "    : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
                        "\"r\"(b[1]));");
    if (is_half) {
        grout_emit__line(e, "grout_unpair(c, low);");
        grout_emit__line(e, "grout_unpair(c + 2, high);");
    }
    grout_emit__close(e, "");
    grout_emit__line(e, "%s", "");
}

static bool visit(void *payload, grout_op_id id, const grout_op *op) {
    grout_emitter *e = payload;
    grout_mma mma;
    if (grout_op_get_info((grout_opcode)op->opcode)->rule != GROUT_RULE_MMA) {
        return true;
    }
    if (!grout_mma_plan(e->module, id, &mma, e->diags)) {
        e->failed = true;
        return false;
    }
    const grout_gpu_name name = get_name(&mma);
    if (!grout_emit__has_function(e, name.text)) {
        write_form(e, &mma, name.text);
    }
    return true;
}

void grout_emit__mma_forms(grout_emitter *e) {
    (void)grout_gpu__walk(e->module, e->kernel->body, visit, e);
}

/* ---- an mma ---------------------------------------------------------------------------------- */

/* An operand as 32-bit registers, its elements in order: the number of their name. */
static uint32_t write_packed(grout_emitter *e, const grout_operand *operand, grout_dtype dtype,
                             uint32_t registers) {
    static const char *const packers[] = {
        [1] = "grout_word", [2] = "grout_pair", [4] = "grout_quad"};
    const uint32_t per_register = 4u / grout_dtype_get_info(dtype)->bytes;
    const uint32_t packed = e->temp_count++;
    const bool is_spread = grout_emit__is_spread(e, operand);
    grout_emit__line(e, "grout_u32 x%" PRIu32 "[%" PRIu32 "];", packed, registers);
    if (!is_spread) { /* one value, as often as a register holds it */
        grout_emit__begin(e);
        grout_emit__add(e, "const %s x%" PRIu32 "_all[%" PRIu32 "] = {",
                        grout_gpu__get_type_name(dtype), packed, per_register);
        for (uint32_t k = 0; k < per_register; k++) {
            grout_emit__add(e, k == 0 ? "" : ", ");
            grout_emit__operand(e, operand, NULL);
        }
        grout_emit__end(e, "};");
    }
    grout_emit__open_registers(e, registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "x%" PRIu32 "[reg] = %s(", packed, packers[per_register]);
    if (!is_spread) {
        grout_emit__add(e, "x%" PRIu32 "_all", packed);
    } else if (per_register == 1) {
        grout_emit__add(e, "%s + reg", grout_emit__name(e, operand->id));
    } else {
        grout_emit__add(e, "%s + %" PRIu32 " * reg", grout_emit__name(e, operand->id),
                        per_register);
    }
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
    return packed;
}

/* The result starts as what is added to. */
static void write_start(grout_emitter *e, const grout_operand *c, grout_value_id value) {
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, grout_emit__layout(e, value)->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    grout_emit__operand(e, c, "reg");
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

static void open_loop(grout_emitter *e, const char *index, uint32_t count) {
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    grout_emit__add(e, "for (int %s = 0; %s < %" PRIu32 "; %s++)", index, index, count, index);
    grout_emit__open(e);
}

/* Whether the analysis of layouts has given an operand the fragments of the instruction. */
static bool check_layout(grout_emitter *e, const grout_op *op, const grout_operand *operand,
                         grout_register_layout_kind kind) {
    if (!grout_emit__is_spread(e, operand) || grout_emit__layout(e, operand->id)->kind == kind) {
        return true;
    }
    grout_emit__unsupported(e, op, "an operand that is not in the layout %s",
                            grout_register_layout_get_text(kind));
    return false;
}

static bool check_layouts(grout_emitter *e, const grout_op *op, const grout_mma *mma) {
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)mma->a_dtype)->bytes;
    return check_layout(e, op, grout_module_get_operand(e->module, op, C), GROUT_LAYOUT_WGMMA) &&
           check_layout(e, op, grout_module_get_operand(e->module, op, A),
                        grout_register_layout_get_mma_left(bytes)) &&
           check_layout(e, op, grout_module_get_operand(e->module, op, B),
                        grout_register_layout_get_mma_right(bytes));
}

void grout_emit__mma(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_mma mma;
    const grout_value_id value = op->first_result;
    if (!grout_mma_plan(e->module, id, &mma, e->diags) || !check_layouts(e, op, &mma)) {
        e->failed = true;
        return;
    }
    const uint32_t a =
        write_packed(e, grout_module_get_operand(e->module, op, A), (grout_dtype)mma.a_dtype,
                     A_REGISTERS * mma.step_count * mma.block_count);
    const uint32_t b =
        write_packed(e, grout_module_get_operand(e->module, op, B), (grout_dtype)mma.b_dtype,
                     B_REGISTERS * mma.column_count * mma.step_count);
    write_start(e, grout_module_get_operand(e->module, op, C), value);
    GROUT_ASSERT(grout_emit__layout(e, value)->registers ==
                 SUMS * mma.column_count * mma.block_count);
    open_loop(e, "part", mma.step_count);
    open_loop(e, "band", mma.block_count);
    open_loop(e, "col", mma.column_count);
    grout_emit__line(e,
                     "%s(%s + (band * %" PRIu32 " + col) * %d, x%" PRIu32 " + (band * %" PRIu32
                     " + part) * %d, x%" PRIu32 " + (part * %" PRIu32 " + col) * %d);",
                     get_name(&mma).text, grout_emit__name(e, value), mma.column_count, SUMS, a,
                     mma.step_count, A_REGISTERS, b, mma.column_count, B_REGISTERS);
    grout_emit__close(e, "");
    grout_emit__close(e, "");
    grout_emit__close(e, "");
}
