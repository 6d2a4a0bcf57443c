/* scope.c - names in blocks: a table by name, and a stack of what to restore.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

typedef struct name_binding {
    grout_value_id value;
    uint32_t depth;
} name_binding;

typedef struct hidden_binding {
    grout_string_id name;
    name_binding before;
} hidden_binding;

bool grout_scope__init(grout_scope *scope, const grout_allocator *allocator) {
    *scope = (grout_scope){0};
    bool ok = grout_table__init(&scope->bindings, allocator, sizeof(name_binding));
    return grout_table__init(&scope->hidden, allocator, sizeof(hidden_binding)) && ok;
}

void grout_scope__deinit(grout_scope *scope) {
    grout_table__deinit(&scope->bindings);
    grout_table__deinit(&scope->hidden);
}

uint32_t grout_scope__enter(grout_scope *scope) {
    scope->depth++;
    return scope->hidden.count;
}

void grout_scope__leave(grout_scope *scope, uint32_t mark) {
    GROUT_ASSERT(scope->depth > 0 && mark <= scope->hidden.count);
    scope->depth--;
    while (scope->hidden.count > mark) {
        const hidden_binding *hidden =
            GROUT_TABLE_AT(scope->hidden, hidden_binding, --scope->hidden.count);
        *GROUT_TABLE_AT(scope->bindings, name_binding, hidden->name) = hidden->before;
    }
}

grout_value_id grout_scope__find(const grout_scope *scope, grout_string_id name) {
    return name < scope->bindings.count ? GROUT_TABLE_AT(scope->bindings, name_binding, name)->value
                                        : 0;
}

bool grout_scope__is_in_block(const grout_scope *scope, grout_string_id name) {
    return grout_scope__find(scope, name) != 0 &&
           GROUT_TABLE_AT(scope->bindings, name_binding, name)->depth == scope->depth;
}

void grout_scope__bind(grout_scope *scope, grout_string_id name, grout_value_id value) {
    if (name >= scope->bindings.count) {
        uint32_t missing = name + 1 - scope->bindings.count;
        if (grout_table__add(&scope->bindings, missing) == 0) {
            scope->failed = true;
            return;
        }
    }
    name_binding *binding = GROUT_TABLE_AT(scope->bindings, name_binding, name);
    hidden_binding hidden = {name, *binding};
    if (grout_table__push(&scope->hidden, &hidden) == 0) {
        scope->failed = true;
        return;
    }
    *binding = (name_binding){value, scope->depth};
}
