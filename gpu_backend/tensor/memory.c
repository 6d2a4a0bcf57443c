/* memory.c - loads and stores of tensor memory, and the waits for them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each of a thread's warps reaches a quarter of the lanes. An array of 128 rows gives each lane its
 * own row (32x32b); one of 64 rows, whose quarters lie in 16 lanes each, gives a warp what it
 * has of them as a wgmma has it: cells of 32 bits by 16x256b, packed elements by 16x128b, so that
 * two or four neighbours of a row come together. Other numbers of columns, and the rows of a pair's
 * array of 64, go through SMEM: there each lane finds the cells of its own lane of tensor memory.
 *
 * The registers of a load may not be touched before a wait. It is written where the kernel waits,
 * or before the first operation that uses a value, whatever comes first: loads that follow each
 * other have one wait.
 */
#include "tensor.h"

#include "invariant.h"
#include "lanes.h"
#include "places.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PER_LINE = 8, QUARTER_BITS = 21 /* 32 lanes, in the lanes' bits of an address */ };

/* A shape of tcgen05.ld and tcgen05.st: what one of 'x1' takes of each lane. An instruction has up
 * to 64 registers: ptxas wants those of one side by side, and finds no 128 where a lane starts with
 * this many (CUDA 13). */
typedef struct shape {
    const char *text;
    uint32_t registers, columns, count_max;
} shape;

static const shape SHAPE_ROW = {"32x32b", 1, 1, 64};
static const shape SHAPE_CELLS = {"16x256b", 4, 8, 16};
static const shape SHAPE_PACKED = {"16x128b", 2, 4, 32};

/* How an array of registers and an array in tensor memory meet. */
typedef struct transfer {
    const grout_op *op;
    grout_view view;
    grout_dtype dtype;
    const shape *shape;
    uint32_t per_register; /* elements of one */
    bool is_paired;        /* columns of 16 bits come or go two in a register (pack::16b) */
    uint32_t half_count;   /* halves of the columns, each in lanes of its own */
    uint32_t registers;    /* of all */
    int64_t columns;       /* of 32 bits, of a half */
    bool is_exchanged;     /* a lane moves its own lane of tensor memory, all halves at once */
} transfer;

static bool is_store(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_STORE;
}

/* False if no instruction has the columns. */
static bool describe(const grout_module *module, const grout_op *op, transfer *out) {
    if (!grout_module_get_view(module, grout_module_get_operand(module, op, 0), &out->view)) {
        return false;
    }
    const grout_object_id object = out->view.object;
    const grout_type *type = grout_object_get_type(module, object);
    const int64_t extent = out->view.extent[out->view.rank - 1];
    const uint32_t packing = grout_tensor__get_packing(module, object);
    const bool has_halves = grout_tensor__has_halves(module, object);
    out->op = op;
    out->dtype = (grout_dtype)type->dtype;
    out->half_count = has_halves && extent == type->dims[type->rank - 1] ? 2 : 1;
    out->columns = extent / packing / out->half_count;
    out->is_paired = !has_halves && packing == 1 && out->columns % 2 == 0 &&
                     grout_dtype_get_info(out->dtype)->bits == 16;
    out->per_register = out->is_paired ? 2 : packing;
    out->shape = packing > 1 ? &SHAPE_PACKED : &SHAPE_CELLS;
    out->is_exchanged = has_halves && (grout_module_get_object(module, object)->is_collective ||
                                       out->columns % out->shape->columns != 0);
    if (!has_halves || out->is_exchanged) {
        out->shape = &SHAPE_ROW;
    }
    if (out->is_exchanged) {
        const bool is_whole = out->half_count == 2;
        out->half_count = 1;
        out->registers = (uint32_t)out->columns;
        return is_whole;
    }
    const int64_t step = (int64_t)out->shape->columns * (out->is_paired ? 2 : 1);
    out->registers = (uint32_t)(out->columns / step * out->shape->registers * out->half_count);
    return out->columns % step == 0;
}

/* The largest count of an instruction that is left. */
static uint32_t get_count(const transfer *t, int64_t left) {
    const int64_t step = (int64_t)t->shape->columns * (t->is_paired ? 2 : 1);
    uint32_t count = t->shape->count_max;
    while (count * step > left) {
        count /= 2;
    }
    GROUT_ASSERT(count > 0);
    return count;
}

static bool is_f32(const transfer *t) {
    return t->dtype == GROUT_DTYPE_F32 && !t->is_exchanged;
}

/* "grout_tensor_load_32x32b_x64_f32" */
static grout_gpu_name get_name(const transfer *t, uint32_t count) {
    grout_gpu_name name;
    (void)snprintf(name.text, sizeof name.text, "grout_tensor_%s_%s_x%" PRIu32 "%s%s",
                   is_store(t->op) ? "store" : "load", t->shape->text, count,
                   t->is_paired ? "_paired" : "", is_f32(t) ? "_f32" : "");
    return name;
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* "%0, %1, ": operand numbers from first on. */
static void write_numbers(grout_emitter *e, uint32_t first, uint32_t registers, const char *end) {
    for (uint32_t k = 0; k < registers; k += PER_LINE) {
        grout_emit__begin(e);
        grout_emit__add(e, "    \"%s", k == 0 ? "{" : " ");
        for (uint32_t i = k; i < k + PER_LINE && i < registers; i++) {
            grout_emit__add(e, "%%%" PRIu32 "%s", first + i, i + 1 < registers ? ", " : end);
        }
        grout_emit__end(e, "\"");
    }
}

static void write_registers(grout_emitter *e, uint32_t registers, const char *constraint,
                            const char *head) {
    for (uint32_t k = 0; k < registers; k += PER_LINE) {
        grout_emit__begin(e);
        grout_emit__add(e, "    %s ", k == 0 ? head : " ");
        for (uint32_t i = k; i < k + PER_LINE && i < registers; i++) {
            grout_emit__add(e, "%s\"%s\"(v[%" PRIu32 "])", i == k ? "" : ", ", constraint, i);
        }
        grout_emit__end(e, k + PER_LINE < registers ? "," : "");
    }
}

/* As the instruction has it: a power of two. */
static uint32_t get_times(uint32_t count) {
    const int64_t power = FIELD(TMEM_COUNT, __builtin_ctz(count));
    GROUT_ASSERT((count & (count - 1)) == 0);
    return power < 0 ? 0 : UINT32_C(1) << power;
}

static void write_form(grout_emitter *e, const transfer *t, uint32_t count, const char *name) {
    const uint32_t registers = count * t->shape->registers;
    const char *type = is_f32(t) ? "grout_f32" : "grout_u32";
    const bool stores = is_store(t->op);
    grout_emit__line(e, "// %s %" PRIu32 " registers of each lane.", stores ? "Stores" : "Loads",
                     registers);
    grout_emit__begin(e);
    grout_emit__add(e, "GROUT_DEVICE void %s(%s%s *v, grout_u32 address)", name,
                    stores ? "const " : "", type);
    grout_emit__open(e);
    if (stores) {
        grout_emit__line(e,
                         "asm volatile(\"tcgen05.st.sync.aligned.%s.x%" PRIu32 "%s.b32 [%%0], \"",
                         t->shape->text, get_times(count), t->is_paired ? ".unpack::16b" : "");
        write_numbers(e, 1, registers, "};");
        write_registers(e, registers, is_f32(t) ? "f" : "r", ":: \"r\"(address),");
        grout_emit__line(e, "    : \"memory\");");
    } else {
        grout_emit__line(e, "asm volatile(\"tcgen05.ld.sync.aligned.%s.x%" PRIu32 "%s.b32 \"",
                         t->shape->text, get_times(count), t->is_paired ? ".pack::16b" : "");
        write_numbers(e, 0, registers, "}, ");
        grout_emit__line(e, "    \"[%%%" PRIu32 "];\"", registers);
        write_registers(e, registers, is_f32(t) ? "=f" : "=r", ":");
        grout_emit__line(e, "    : \"r\"(address) : \"memory\");");
    }
    grout_emit__close(e, "");
    grout_emit__line(e, "%s", "");
}

static bool has_function(const grout_emitter *e, const char *name) {
    char head[sizeof(grout_gpu_name) + 32];
    (void)snprintf(head, sizeof head, "GROUT_DEVICE void %s(", name);
    return e->out->data != NULL && strstr(e->out->data, head) != NULL;
}

/* Whether an op loads or stores tensor memory. */
static bool is_transfer(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS &&
           (sync->object == GROUT_SYNC_OBJECT_TMEM_LOAD ||
            sync->object == GROUT_SYNC_OBJECT_TMEM_STORE);
}

static bool visit(void *payload, grout_op_id id, const grout_op *op) {
    grout_emitter *e = payload;
    transfer t;
    (void)id;
    if (!is_transfer(op) || !describe(e->module, op, &t)) {
        return true;
    }
    const int64_t step = (int64_t)t.shape->columns * (t.is_paired ? 2 : 1);
    for (int64_t at = 0; at < t.columns;) {
        const uint32_t count = get_count(&t, t.columns - at);
        const grout_gpu_name name = get_name(&t, count);
        if (!has_function(e, name.text)) {
            write_form(e, &t, count, name.text);
        }
        at += count * step;
    }
    return true;
}

void grout_tensor__forms(grout_emitter *e) {
    (void)grout_gpu__walk(e->module, e->kernel->body, visit, e);
}

/* ---- both directions ------------------------------------------------------------------------- */

/* Whether lanes hold an array as the instructions move it; a report if not. */
static bool check_layout(grout_emitter *e, const transfer *t, grout_value_id value) {
    const grout_register_layout_kind kind =
        (grout_register_layout_kind)grout_emit__layout(e, value)->kind;
    const bool has_halves = grout_tensor__has_halves(e->module, t->view.object);
    const bool is_byte = grout_dtype_get_info(t->dtype)->bytes == 1;
    const grout_register_layout_kind wanted = !has_halves ? GROUT_LAYOUT_TMEM
                                              : is_byte   ? GROUT_LAYOUT_WGMMA_8BIT
                                                          : GROUT_LAYOUT_WGMMA;
    if (kind == wanted || (!has_halves && kind == GROUT_LAYOUT_TMEM_ROW)) {
        return true;
    }
    grout_emit__unsupported(
        e, t->op, "an array of tensor memory in the register layout '%s', not in %s",
        grout_register_layout_get_text(kind), grout_register_layout_get_text(wanted));
    return false;
}

/* Refuses what has no instructions, by name. */
static bool check(grout_emitter *e, const grout_op *op, transfer *t) {
    if (describe(e->module, op, t)) {
        return true;
    }
    grout_emit__unsupported(e, op,
                            "'%s' of some columns of an array of 64 rows: its lanes have no "
                            "instruction for that number",
                            grout_op_get_info((grout_opcode)op->opcode)->text);
    grout_diags_help(e->diags, "take all columns, and slice the value");
    return false;
}

/* "const grout_u32 x5 = acc + 64 + (warp % 4 << 21);" for each half: numbers from the result on. */
static uint32_t write_addresses(grout_emitter *e, const transfer *t) {
    const uint32_t first = e->temp_count;
    const uint32_t packing = grout_tensor__get_packing(e->module, t->view.object);
    e->temp_count += t->half_count;
    for (uint32_t half = 0; half < t->half_count; half++) {
        grout_emit__begin(e);
        grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", first + half);
        grout_tensor__address(e, &t->view, half * t->columns * packing);
        FIELD_END(e, TMEM_MOVED);
        grout_emit__end(e, " + (warp %% 4 << %d);", (int)FIELD(TMEM_QUARTER, QUARTER_BITS));
    }
    return first;
}

/* The instructions: registers is the name of those of 32 bits. */
static void write_instructions(grout_emitter *e, const transfer *t, const char *registers) {
    const uint32_t first = write_addresses(e, t);
    const int64_t step = (int64_t)t->shape->columns * (t->is_paired ? 2 : 1);
    uint32_t done = 0;
    for (uint32_t half = 0; half < t->half_count; half++) {
        for (int64_t at = 0; at < t->columns;) {
            const uint32_t count = get_count(t, t->columns - at);
            grout_emit__begin(e);
            grout_emit__add(e, "%s(%s", get_name(t, count).text, registers);
            if (done > 0) {
                grout_emit__add(e, " + %" PRIu32, done);
            }
            grout_emit__add(e, ", x%" PRIu32, first + half);
            if (at > 0) {
                grout_emit__add(e, " + %" PRId64, at);
            }
            grout_emit__end(e, ");");
            done += count * t->shape->registers;
            at += count * step;
        }
    }
    GROUT_ASSERT(done == t->registers);
}

/* Whether the registers of a value are those of the instruction. */
static bool is_direct(const transfer *t) {
    return is_f32(t) || t->dtype == GROUT_DTYPE_U32;
}

/* ---- loads ----------------------------------------------------------------------------------- */

void grout_tensor__load(grout_emitter *e, const grout_op *op) {
    const grout_value_id value = op->first_result;
    transfer t;
    if (!check(e, op, &t) || !check_layout(e, &t, value)) {
        return;
    }
    if (e->load_count == GROUT_EMIT_LOADS_MAX) {
        grout_tensor__await(e);
    }
    grout_emit_load *load = &e->loads[e->load_count++];
    *load =
        (grout_emit_load){.value = value, .registers = t.registers, .per_register = t.per_register};
    grout_emit__declare_registers(e, value);
    if (is_direct(&t)) {
        write_instructions(e, &t, grout_emit__name(e, value));
    } else {
        char name[24];
        load->number = e->temp_count++;
        (void)snprintf(name, sizeof name, "x%" PRIu32, load->number);
        grout_emit__line(e, "grout_u32 %s[%" PRIu32 "];", name, t.registers);
        write_instructions(e, &t, name);
    }
    grout_emit__after_access(e, t.view.object, false);
}

/* The elements of a register. */
static void unpack(grout_emitter *e, const grout_emit_load *load) {
    const char *name = grout_emit__name(e, load->value);
    grout_emit__open_registers(e, load->registers, 1);
    if (load->per_register == 1) {
        grout_emit__line(e, "grout_tensor_take(%s[reg], x%" PRIu32 "[reg]);", name, load->number);
    } else {
        grout_emit__line(e, "grout_un%s(%s + %" PRIu32 " * reg, x%" PRIu32 "[reg]);",
                         load->per_register == 4 ? "quad" : "pair", name, load->per_register,
                         load->number);
    }
    grout_emit__close(e, "");
}

void grout_tensor__await(grout_emitter *e) {
    if (e->load_count == 0) {
        return;
    }
    grout_emit__line(e, "grout_tensor_wait_loads();");
    grout_emit__after_tensor_wait(e);
    for (uint32_t k = 0; k < e->load_count; k++) {
        const grout_emit_load *load = &e->loads[k];
        if (load->number == 0) {
            grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(%s);", load->registers,
                             grout_emit__name(e, load->value));
        } else {
            grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(x%" PRIu32 ");", load->registers,
                             load->number);
            unpack(e, load);
        }
    }
    e->load_count = 0;
}

static bool is_loaded(const grout_emitter *e, const grout_operand *operand) {
    for (uint32_t k = 0; k < e->load_count; k++) {
        if (operand->kind == GROUT_OPERAND_VALUE && operand->id == e->loads[k].value) {
            return true;
        }
    }
    return false;
}

void grout_tensor__await_used(grout_emitter *e, const grout_op *op) {
    bool is_used = op->block_count > 0 ||
                   grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END;
    if (e->load_count == 0) {
        return;
    }
    for (uint32_t k = 0; k < op->operand_count && !is_used; k++) {
        is_used = is_loaded(e, grout_module_get_operand(e->module, op, k));
    }
    if (is_used) {
        grout_tensor__await(e);
    }
}

/* A load that was used has been awaited before. */
void grout_emit__wait_load_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_tensor__await(e);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* "grout_pair(v + 2 * reg)", or of a value that is the same everywhere. */
static void write_packed(grout_emitter *e, const transfer *t, const grout_operand *from,
                         uint32_t number) {
    const bool is_spread = grout_emit__is_spread(e, from);
    const char *packer = t->per_register == 4   ? "grout_quad"
                         : t->per_register == 2 ? "grout_pair"
                                                : "grout_tensor_give";
    if (!is_spread) {
        grout_emit__begin(e);
        grout_emit__add(e, "const %s splat[%" PRIu32 "] = {", grout_gpu__get_type_name(t->dtype),
                        t->per_register);
        for (uint32_t k = 0; k < t->per_register; k++) {
            grout_emit__add(e, k == 0 ? "" : ", ");
            grout_emit__operand(e, from, NULL);
        }
        grout_emit__end(e, "};");
    }
    grout_emit__open_registers(e, t->registers, 1);
    if (is_spread) {
        grout_emit__line(e, "x%" PRIu32 "[reg] = %s(%s + %" PRIu32 " * reg);", number, packer,
                         grout_emit__name(e, from->id), t->per_register);
    } else {
        grout_emit__line(e, "x%" PRIu32 "[reg] = %s(splat);", number, packer);
    }
    grout_emit__close(e, "");
}

void grout_tensor__store(grout_emitter *e, const grout_op *op) {
    const grout_operand *from = grout_module_get_operand(e->module, op, 1);
    const bool is_spread = grout_emit__is_spread(e, from);
    transfer t;
    if (!check(e, op, &t) || (is_spread && !check_layout(e, &t, from->id))) {
        return;
    }
    grout_emit__line(e, "{");
    e->indent++;
    if (is_spread && is_direct(&t)) {
        write_instructions(e, &t, grout_emit__name(e, from->id));
    } else {
        char name[24];
        const uint32_t number = e->temp_count++;
        (void)snprintf(name, sizeof name, "x%" PRIu32, number);
        grout_emit__line(e, "%s %s[%" PRIu32 "];", is_f32(&t) ? "grout_f32" : "grout_u32", name,
                         t.registers);
        if (is_f32(&t)) {
            grout_emit__open_registers(e, t.registers, 1);
            grout_emit__begin(e);
            grout_emit__add(e, "%s[reg] = ", name);
            grout_emit__operand(e, from, NULL);
            grout_emit__end(e, ";");
            grout_emit__close(e, "");
        } else {
            write_packed(e, &t, from, number);
        }
        write_instructions(e, &t, name);
    }
    grout_emit__close(e, "");
    grout_emit__after_access(e, t.view.object, true);
}

/* ---- through SMEM ---------------------------------------------------------------------------- */

bool grout_tensor__is_exchanged(const grout_emitter *e, const grout_op *op) {
    transfer t;
    return describe(e->module, op, &t) && t.is_exchanged;
}

/* "const grout_u32 x7 = exchange + ..;": where the array's elements of the own lane begin there,
 * row by row. In one CTA a quarter has 16 rows, and in the lanes beside them their other half; in a
 * pair the first 64 lanes have one half of all rows and the others the other one. */
static uint32_t write_own_cells(grout_emitter *e, const transfer *t) {
    const grout_type *type = grout_object_get_type(e->module, t->view.object);
    const uint32_t bytes = grout_dtype_get_info(t->dtype)->bytes, number = e->temp_count++;
    const int64_t row = type->dims[type->rank - 1] * bytes;
    const bool is_pair = grout_module_get_object(e->module, t->view.object)->is_collective;
    grout_emit__line(e,
                     is_pair ? "const grout_u32 x%" PRIu32 " = exchange + lane %% 64 * %" PRId64
                               " + lane / 64 * %" PRId64 ";"
                             : "const grout_u32 x%" PRIu32
                               " = exchange + (lane / 32 * 16 + lane %% 16) * %" PRId64
                               " + lane / 16 %% 2 * %" PRId64 ";",
                     number, row, row / 2);
    return number;
}

/* The type of a cell in SMEM. */
static const char *get_cell(const transfer *t) {
    const bool is_half = t->per_register == 1 && grout_dtype_get_info(t->dtype)->bytes == 2;
    return is_half ? "grout_u16" : "grout_u32";
}

static uint32_t get_cell_bytes(const transfer *t) {
    return t->per_register * grout_dtype_get_info(t->dtype)->bytes;
}

void grout_tensor__load_cells(grout_emitter *e, const grout_op *op) {
    const uint32_t number = e->temp_count++;
    transfer t;
    char name[24];
    if (!check(e, op, &t)) {
        return;
    }
    (void)snprintf(name, sizeof name, "x%" PRIu32, number);
    grout_emit__line(e, "grout_u32 %s[%" PRIu32 "];", name, t.registers);
    write_instructions(e, &t, name);
    grout_tensor__await(e);
    grout_emit__line(e, "grout_tensor_wait_loads();");
    grout_emit__line(e, "grout_wgmma_hold<%" PRIu32 ">(%s);", t.registers, name);
    grout_emit__before_access(e, 0, true);
    const uint32_t cells = write_own_cells(e, &t);
    grout_emit__open_registers(e, t.registers, 1);
    grout_emit__line(e, "grout_store_smem(x%" PRIu32 " + reg * %" PRIu32 ", (%s)%s[reg]);", cells,
                     get_cell_bytes(&t), get_cell(&t), name);
    grout_emit__close(e, "");
    grout_emit__after_access(e, 0, true);
    grout_emit__after_access(e, t.view.object, false);
}

void grout_tensor__store_cells(grout_emitter *e, const grout_op *op) {
    const uint32_t number = e->temp_count++;
    transfer t;
    char name[24];
    if (!check(e, op, &t)) {
        return;
    }
    (void)snprintf(name, sizeof name, "x%" PRIu32, number);
    grout_emit__before_access(e, 0, false);
    const uint32_t cells = write_own_cells(e, &t);
    grout_emit__line(e, "grout_u32 %s[%" PRIu32 "];", name, t.registers);
    grout_emit__open_registers(e, t.registers, 1);
    grout_emit__line(e, "%s[reg] = grout_load_smem<%s>(x%" PRIu32 " + reg * %" PRIu32 ");", name,
                     get_cell(&t), cells, get_cell_bytes(&t));
    grout_emit__close(e, "");
    grout_emit__after_access(e, 0, false);
    write_instructions(e, &t, name);
    grout_emit__after_access(e, t.view.object, true);
}

void grout_emit__commit_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_tensor_wait_stores();");
    grout_emit__after_tensor_wait(e);
}
