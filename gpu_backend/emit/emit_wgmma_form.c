/* emit_wgmma_form.c - one function for each form of wgmma.mma_async that a kernel uses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PER_LINE 8 /* operands */

/* The element type of the operands as PTX calls it. */
static const char *get_operand_type(const grout_wgmma *wgmma) {
    if (wgmma->operand_dtype == GROUT_DTYPE_F16) {
        return "f16";
    }
    return wgmma->operand_dtype == GROUT_DTYPE_BF16 ? "bf16" : "tf32";
}

static bool is_f32(const grout_wgmma *wgmma) {
    return wgmma->accumulator_dtype == GROUT_DTYPE_F32;
}

static uint32_t count_registers(const grout_wgmma *wgmma) {
    return grout_emit__count_accumulators((grout_dtype)wgmma->accumulator_dtype,
                                          64 * (int64_t)wgmma->n);
}

grout_gpu_name grout_emit__wgmma_name(const grout_wgmma *wgmma) {
    grout_gpu_name name;
    (void)snprintf(name.text, sizeof name.text,
                   "grout_wgmma_m64n%" PRIu32 "k%" PRIu32 "_%s_%s%s%s%s", wgmma->n, wgmma->k_step,
                   is_f32(wgmma) ? "f32" : "f16", get_operand_type(wgmma),
                   wgmma->a.is_register ? "_ra" : "", wgmma->a.is_transposed ? "_ta" : "",
                   wgmma->b.is_transposed ? "_tb" : "");
    return name;
}

/* "%0, %1, ": a row of operand numbers in the assembly's text. */
static void write_numbers(grout_emitter *e, uint32_t registers) {
    for (uint32_t k = 0; k < registers; k += PER_LINE) {
        grout_emit__begin(e);
        grout_emit__add(e, "    \"%s", k == 0 ? "{" : " ");
        for (uint32_t i = k; i < k + PER_LINE && i < registers; i++) {
            grout_emit__add(e, "%%%" PRIu32 "%s", i, i + 1 < registers ? ", " : "}, ");
        }
        grout_emit__end(e, "\"");
    }
}

static void write_registers(grout_emitter *e, uint32_t registers, const char *constraint) {
    for (uint32_t k = 0; k < registers; k += PER_LINE) {
        grout_emit__begin(e);
        grout_emit__add(e, "    %s ", k == 0 ? ":" : " ");
        for (uint32_t i = k; i < k + PER_LINE && i < registers; i++) {
            grout_emit__add(e, "%s\"%s\"(c[%" PRIu32 "])", i == k ? "" : ", ", constraint, i);
        }
        grout_emit__end(e, k + PER_LINE < registers ? "," : "");
    }
}

/* What comes after the accumulator: A, B, accumulate, signs, and for 16-bit elements which operand
 * in SMEM is MN-major. */
static void write_sources(grout_emitter *e, const grout_wgmma *wgmma, uint32_t first) {
    const bool has_transposes = wgmma->operand_dtype != GROUT_DTYPE_F32;
    grout_emit__begin(e);
    if (wgmma->a.is_register) {
        grout_emit__add(e, "    \"{%%%u, %%%u, %%%u, %%%u}, %%%u", first, first + 1, first + 2,
                        first + 3, first + 4);
    } else {
        grout_emit__add(e, "    \"%%%u, %%%u", first, first + 1);
    }
    grout_emit__add(e, ", 1, 1, 1");
    if (has_transposes && !wgmma->a.is_register) {
        grout_emit__add(e, ", %d", wgmma->a.is_transposed ? 1 : 0);
    }
    if (has_transposes) {
        grout_emit__add(e, ", %d", wgmma->b.is_transposed ? 1 : 0);
    }
    grout_emit__end(e, ";\"");
}

static void write_form(grout_emitter *e, const grout_wgmma *wgmma, const char *name) {
    const uint32_t registers = count_registers(wgmma);
    const char *type = get_operand_type(wgmma);
    const char *accumulator = is_f32(wgmma) ? "f32" : "f16";
    grout_emit__line(e, "// c += a b: 64 x %" PRIu32 " by %" PRIu32 " of K.", wgmma->n,
                     wgmma->k_step);
    grout_emit__begin(e);
    grout_emit__add(e, "GROUT_DEVICE void %s(%s *c, ", name,
                    is_f32(wgmma) ? "grout_f32" : "grout_u32");
    grout_emit__add(e, wgmma->a.is_register ? "const grout_u32 *a" : "grout_u64 a");
    grout_emit__add(e, ", grout_u64 b)");
    grout_emit__open(e);
    grout_emit__line(
        e, "asm volatile(\"wgmma.mma_async.sync.aligned.m64n%" PRIu32 "k%" PRIu32 ".%s.%s.%s \"",
        wgmma->n, wgmma->k_step, accumulator, type, type);
    write_numbers(e, registers);
    write_sources(e, wgmma, registers);
    write_registers(e, registers, is_f32(wgmma) ? "+f" : "+r");
    if (wgmma->a.is_register) {
        grout_emit__line(e, "    : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b));");
    } else {
        grout_emit__line(e, "    : \"l\"(a), \"l\"(b));");
    }
    grout_emit__close(e, "");
    grout_emit__line(e, "%s", "");
}

/* Whether the text, which may hold other kernels, has the function. */
static bool is_written(const grout_emitter *e, const char *name) {
    char head[sizeof(grout_gpu_name) + 32];
    (void)snprintf(head, sizeof head, "GROUT_DEVICE void %s(", name);
    return e->out->data != NULL && strstr(e->out->data, head) != NULL;
}

static bool visit(void *payload, grout_op_id id, const grout_op *op) {
    grout_emitter *e = payload;
    grout_wgmma wgmma;
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL || sync->object != GROUT_SYNC_OBJECT_WGMMA ||
        sync->mode != GROUT_SYNC_MODE_STARTS) {
        return true;
    }
    if (!grout_wgmma_plan(e->module, id, &wgmma, e->diags)) {
        e->failed = true;
        return false;
    }
    const grout_gpu_name name = grout_emit__wgmma_name(&wgmma);
    if (!is_written(e, name.text)) {
        write_form(e, &wgmma, name.text);
    }
    return true;
}

void grout_emit__wgmma_forms(grout_emitter *e) {
    (void)grout_gpu__walk(e->module, e->kernel->body, visit, e);
}
