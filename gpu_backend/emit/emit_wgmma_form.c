/* emit_wgmma_form.c - one function for each form of wgmma.mma_async that a kernel uses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PER_LINE 8 /* operands */

const char *grout_emit__get_ptx_type(uint8_t dtype, bool is_operand) {
    static const char *const texts[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_F16] = "f16",     [GROUT_DTYPE_BF16] = "bf16",   [GROUT_DTYPE_F32] = "f32",
        [GROUT_DTYPE_F8E4M3] = "e4m3", [GROUT_DTYPE_F8E5M2] = "e5m2", [GROUT_DTYPE_I8] = "s8",
        [GROUT_DTYPE_U8] = "u8",       [GROUT_DTYPE_I32] = "s32"};
    return dtype == GROUT_DTYPE_F32 && is_operand ? "tf32" : texts[dtype];
}

bool grout_emit__has_function(const grout_emitter *e, const char *name) {
    char head[sizeof(grout_gpu_name) + 32];
    (void)snprintf(head, sizeof head, "GROUT_DEVICE void %s(", name);
    return e->out->data != NULL && strstr(e->out->data, head) != NULL;
}

static const char *get_accumulator(const grout_wgmma *wgmma) {
    return grout_emit__get_ptx_type(wgmma->accumulator_dtype, false);
}

static bool is_integer(const grout_wgmma *wgmma) {
    return wgmma->accumulator_dtype == GROUT_DTYPE_I32;
}

static uint32_t count_registers(const grout_wgmma *wgmma) {
    return grout_emit__count_accumulators((grout_dtype)wgmma->accumulator_dtype,
                                          64 * (int64_t)wgmma->n);
}

/* K of one instruction. */
static uint32_t get_depth(const grout_wgmma *wgmma) {
    return wgmma->k_step * (wgmma->is_sparse ? 2 : 1);
}

uint32_t grout_emit__count_selectors(const grout_wgmma *wgmma) {
    const bool has_two =
        wgmma->is_sparse && grout_dtype_get_info((grout_dtype)wgmma->a_dtype)->bytes > 1;
    return has_two ? 2 : 1;
}

/* Registers and descriptors after the accumulator, up to use_acc. */
static uint32_t count_sources(const grout_wgmma *wgmma) {
    return (wgmma->a.is_register ? 5u : 2u) + (wgmma->is_sparse ? 1u : 0u);
}

grout_gpu_name grout_emit__wgmma_name(const grout_wgmma *wgmma, uint32_t selector) {
    grout_gpu_name name;
    const bool is_mixed = wgmma->a_dtype != wgmma->b_dtype;
    (void)snprintf(name.text, sizeof name.text,
                   "grout_wgmma_m64n%" PRIu32 "k%" PRIu32 "_%s_%s%s%s%s%s%s%s%s%s%s", wgmma->n,
                   get_depth(wgmma), get_accumulator(wgmma),
                   grout_emit__get_ptx_type(wgmma->a_dtype, true), is_mixed ? "_" : "",
                   is_mixed ? grout_emit__get_ptx_type(wgmma->b_dtype, true) : "",
                   wgmma->is_sparse ? "_sp" : "",
                   grout_emit__count_selectors(wgmma) == 1 ? ""
                   : selector == 0                         ? "01"
                                                           : "23",
                   wgmma->a.is_register ? "_ra" : "", wgmma->a.is_transposed ? "_ta" : "",
                   wgmma->b.is_transposed ? "_tb" : "", wgmma->has_use ? "_use" : "",
                   wgmma->is_saturating ? "_saturating" : "");
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

/* What comes after the accumulator: A, B, of a sparse A its metadata and whose lanes have it,
 * whether the accumulator counts, for floats the signs, and for 16-bit elements which operand in
 * SMEM is MN-major. */
static void write_sources(grout_emitter *e, const grout_wgmma *wgmma, uint32_t first,
                          uint32_t selector) {
    const bool has_transposes = grout_dtype_get_info((grout_dtype)wgmma->a_dtype)->bytes == 2;
    grout_emit__begin(e);
    if (wgmma->a.is_register) {
        grout_emit__add(e, "    \"{%%%u, %%%u, %%%u, %%%u}, %%%u", first, first + 1, first + 2,
                        first + 3, first + 4);
    } else {
        grout_emit__add(e, "    \"%%%u, %%%u", first, first + 1);
    }
    if (wgmma->is_sparse) {
        const uint32_t metadata = first + count_sources(wgmma) - 1;
        grout_emit__add(e, ", %%%" PRIu32 ", %d", metadata, (int)FIELD(WGMMA_SELECTOR, selector));
    }
    if (wgmma->has_use) {
        grout_emit__add(e, ", use");
    } else {
        grout_emit__add(e, ", %d", (int)FIELD(WGMMA_USE, 1));
    }
    if (!is_integer(wgmma)) {
        grout_emit__add(e, ", %d, %d", FIELD_OR(WGMMA_A_NEGATED, 1, -1),
                        FIELD_OR(WGMMA_B_NEGATED, 1, -1));
    }
    if (has_transposes && !wgmma->a.is_register) {
        grout_emit__add(e, ", %d", (int)FIELD(WGMMA_A_ALONG_M, wgmma->a.is_transposed ? 1 : 0));
    }
    if (has_transposes) {
        grout_emit__add(e, ", %d", (int)FIELD(WGMMA_B_ALONG_N, wgmma->b.is_transposed ? 1 : 0));
    }
    grout_emit__end(e, wgmma->has_use ? ";}\"" : ";\"");
}

/* The predicate that tells whether the accumulator counts. */
static void write_predicate(grout_emitter *e, const grout_wgmma *wgmma, uint32_t registers) {
    if (wgmma->has_use) {
        grout_emit__line(e, "asm volatile(\"{.reg .pred use; setp.ne.u32 use, %%%" PRIu32 ", 0; \"",
                         registers + count_sources(wgmma));
    }
}

/* "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 " */
static void write_instruction(grout_emitter *e, const grout_wgmma *wgmma) {
    grout_emit__line(
        e, "%s\"wgmma.mma_async%s.sync.aligned.m64n%" PRId64 "k%" PRId64 ".%s.%s.%s%s \"",
        wgmma->has_use ? "    " : "asm volatile(", wgmma->is_sparse ? ".sp" : "",
        FIELD(WGMMA_N, wgmma->n), FIELD(WGMMA_K, get_depth(wgmma)), get_accumulator(wgmma),
        grout_emit__get_ptx_type(wgmma->a_dtype, true),
        grout_emit__get_ptx_type(wgmma->b_dtype, true), wgmma->is_saturating ? ".satfinite" : "");
}

static void write_form(grout_emitter *e, const grout_wgmma *wgmma, const char *name,
                       uint32_t selector) {
    const uint32_t registers = count_registers(wgmma);
    const grout_dtype dtype = (grout_dtype)wgmma->accumulator_dtype;
    grout_emit__line(e, "// c %s a b: 64 x %" PRIu32 " by %" PRIu32 " of K%s.",
                     wgmma->has_use ? "= (use ? c : 0) +" : "+=", wgmma->n, get_depth(wgmma),
                     wgmma->is_sparse ? ", of which a keeps half" : "");
    grout_emit__begin(e);
    grout_emit__add(e, "GROUT_DEVICE void %s(%s *c, ", name,
                    grout_emit__get_accumulator_type(dtype));
    grout_emit__add(e, wgmma->a.is_register ? "const grout_u32 *a" : "grout_u64 a");
    grout_emit__add(e, ", grout_u64 b%s%s)", wgmma->is_sparse ? ", grout_u32 metadata" : "",
                    wgmma->has_use ? ", grout_u32 use" : "");
    grout_emit__open(e);
    write_predicate(e, wgmma, registers);
    write_instruction(e, wgmma);
    write_numbers(e, registers);
    write_sources(e, wgmma, registers, selector);
    write_registers(e, registers, dtype == GROUT_DTYPE_F32 ? "+f" : "+r");
    grout_emit__line(
        e, "    : %s, \"l\"(b)%s%s);",
        wgmma->a.is_register ? "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])" : "\"l\"(a)",
        wgmma->is_sparse ? ", \"r\"(metadata)" : "", wgmma->has_use ? ", \"r\"(use)" : "");
    grout_emit__close(e, "");
    grout_emit__line(e, "%s", "");
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
    for (uint32_t selector = 0; selector < grout_emit__count_selectors(&wgmma); selector++) {
        const grout_gpu_name name = grout_emit__wgmma_name(&wgmma, selector);
        if (!grout_emit__has_function(e, name.text)) {
            write_form(e, &wgmma, name.text, selector);
        }
    }
    return true;
}

void grout_emit__wgmma_forms(grout_emitter *e) {
    (void)grout_gpu__walk(e->module, e->kernel->body, visit, e);
}
