/* identifiers.c - the identifier of each value, while it is in sight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitter.h"

#include "alloc.h"
#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The largest string id among the values' names, plus 1. */
static uint32_t count_strings(const grout_module *module) {
    const uint32_t count = grout_module_get_value_count(module);
    uint32_t strings = 1;
    for (grout_value_id id = 1; id < count; id++) {
        const grout_string_id name = grout_module_get_value(module, id)->name;
        strings = name >= strings ? name + 1 : strings;
    }
    return strings;
}

static void free_names(grout_emit_names *chunk) {
    while (chunk != NULL) {
        grout_emit_names *older = chunk->older;
        grout__free(chunk);
        chunk = older;
    }
}

bool grout_emit__init_names(grout_emitter *e) {
    const size_t value_count = (size_t)grout_module_get_value_count(e->module) + GROUT_EMIT_STARTS;
    const grout_allocator *allocator = grout_module_get_allocator(e->module);
    e->name_of = grout__new(allocator, value_count, sizeof *e->name_of);
    e->is_alias = grout__new(allocator, value_count, sizeof *e->is_alias);
    e->name_uses = grout__new(allocator, count_strings(e->module), sizeof *e->name_uses);
    return (e->name_of != NULL && e->is_alias != NULL && e->name_uses != NULL) ||
           grout_diags_add_oom(e->diags);
}

void grout_emit__deinit_names(grout_emitter *e) {
    grout__free(e->name_of);
    grout__free(e->is_alias);
    grout__free(e->name_uses);
    free_names(e->names);
}

/* Room for a text that stays, or NULL without memory. */
static char *keep_name(grout_emitter *e, const char *name) {
    const size_t size = strlen(name) + 1;
    GROUT_ASSERT(size <= sizeof e->names->bytes);
    if (e->names == NULL || e->names->used + size > sizeof e->names->bytes) {
        grout_emit_names *chunk =
            grout__resize(grout_module_get_allocator(e->module), NULL, sizeof *chunk);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->older = e->names;
        chunk->used = 0;
        e->names = chunk;
    }
    char *kept = e->names->bytes + e->names->used;
    memcpy(kept, name, size);
    e->names->used += size;
    return kept;
}

void grout_emit__alias(grout_emitter *e, grout_value_id value, const char *name) {
    GROUT_ASSERT(value != 0 && value < grout_module_get_value_count(e->module) && name != NULL);
    e->name_of[value] = name;
    e->is_alias[value] = true;
}

grout_value_id grout_emit__make_start(grout_emitter *e, uint32_t which, uint32_t number) {
    const grout_value_id value = grout_module_get_value_count(e->module) + which;
    GROUT_ASSERT(which < GROUT_EMIT_STARTS);
    char name[16];
    (void)snprintf(name, sizeof name, "x%" PRIu32, number);
    e->name_of[value] = keep_name(e, name);
    if (e->name_of[value] == NULL) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
        e->name_of[value] = "";
    }
    return value;
}

const char *grout_emit__name(grout_emitter *e, grout_value_id value) {
    char name[GROUT_NAME_MAX + 32];
    GROUT_ASSERT(value < grout_module_get_value_count(e->module) + GROUT_EMIT_STARTS);
    if (e->name_of[value] != NULL) {
        return e->name_of[value];
    }
    GROUT_ASSERT(value != 0 && value < grout_module_get_value_count(e->module));
    const grout_string_id string = grout_module_get_value(e->module, value)->name;
    if (string == 0) {
        (void)snprintf(name, sizeof name, "t%" PRIu32, e->temp_count++);
    } else {
        const char *text = grout_module_get_string(e->module, string);
        const bool is_number = text[0] >= '0' && text[0] <= '9';
        const bool is_taken = e->name_uses[string] > 0 || grout_gpu__is_reserved_name(text);
        if (is_number || is_taken) {
            (void)snprintf(name, sizeof name, "%s%s__%" PRIu32, is_number ? "v" : "", text,
                           ++e->temp_count);
        } else {
            (void)snprintf(name, sizeof name, "%s", text);
        }
        e->name_uses[string]++;
    }
    e->name_of[value] = keep_name(e, name);
    if (e->name_of[value] == NULL) {
        e->failed = e->failed || !grout_diags_add_oom(e->diags);
        return "";
    }
    return e->name_of[value];
}

/* Its name no longer keeps others from using it. */
static void drop_name(grout_emitter *e, grout_value_id value) {
    const grout_string_id string = grout_module_get_value(e->module, value)->name;
    if (string != 0 && e->name_of[value] != NULL && !e->is_alias[value]) {
        GROUT_ASSERT(e->name_uses[string] > 0);
        e->name_uses[string]--;
    }
}

void grout_emit__leave_block(grout_emitter *e, grout_block_id id) {
    const grout_block *block = grout_module_get_block(e->module, id);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        drop_name(e, block->first_arg + i);
    }
    for (grout_op_id at = block->first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        for (uint32_t i = 0; i < op->result_count; i++) {
            drop_name(e, op->first_result + i);
        }
        at = op->next;
    }
}

static void forget_name(grout_emitter *e, grout_value_id first, uint32_t count) {
    for (grout_value_id value = first; value < first + count; value++) {
        e->name_of[value] = NULL;
        e->is_alias[value] = false;
    }
}

static bool forget_results(void *payload, grout_op_id id, const grout_op *op) {
    grout_emitter *e = payload;
    (void)id;
    forget_name(e, op->first_result, op->result_count);
    for (uint32_t k = 0; k < op->block_count; k++) {
        const grout_block *block = grout_module_get_block(e->module, op->first_block + k);
        forget_name(e, block->first_arg, block->arg_count);
    }
    return true;
}

void grout_emit__forget_names(grout_emitter *e, grout_block_id id) {
    for (grout_op_id at = grout_module_get_block(e->module, id)->first; at != 0;
         at = grout_module_get_op(e->module, at)->next) {
        const grout_op *op = grout_module_get_op(e->module, at);
        for (uint32_t k = 0; k < op->block_count; k++) {
            const grout_block_id nested = op->first_block + k;
            const grout_block *block = grout_module_get_block(e->module, nested);
            forget_name(e, block->first_arg, block->arg_count);
            (void)grout_gpu__walk(e->module, nested, forget_results, e);
        }
    }
}

bool grout_emit__is_nested(const grout_emitter *e, const grout_op *op) {
    if (op->result_count != 1 || op->block_count != 0) {
        return false;
    }
    const grout_value *value = grout_module_get_value(e->module, op->first_result);
    return value->name == 0 && value->use_count == 1;
}
