/* verify.c - runs every rule over every kernel of a bound module.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "grout-internal/text.h"

#include "alloc.h"
#include "goes_on.h"
#include "suggest.h"

#include <string.h>

void grout_verifying__suggest_kernel(grout_verifying *verifying, const char *name) {
    const grout_module *module = verifying->module;
    grout_suggestion suggestion = grout_suggest__begin(name, strlen(name));
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(module); id++) {
        grout_suggest__offer(&suggestion, grout_module_get_string(
                                              module, grout_module_get_kernel(module, id)->name));
    }
    if (suggestion.best != NULL) {
        grout_diags_help(verifying->diags, "did you mean '@%s'?", suggestion.best);
    }
}

/* Whose rules hold for a kernel: those asked for, else its own. Others than its own are said. */
static grout_arch choose_arch(const grout_verifying *verifying, grout_arch asked) {
    const grout_module *module = verifying->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, verifying->kernel);
    if (asked == GROUT_ARCH_OWN) {
        return (grout_arch)kernel->arch;
    }
    if (kernel->has_arch && asked != GROUT_ARCH_ANY && asked != (grout_arch)kernel->arch) {
        (void)grout_diags_add(verifying->diags, GROUT_DIAG_ARCH_OVERRIDE,
                              grout_module_get_place(module, kernel->arch_loc),
                              "kernel '@%s' is for %s, and is checked by the rules of %s",
                              grout_module_get_string(module, kernel->name),
                              grout_arch_get_text((grout_arch)kernel->arch),
                              grout_arch_get_text(asked));
        grout_diags_help(verifying->diags, "leave --arch out, or write 'arch = \"%s\"' here",
                         grout_arch_get_text(asked));
    }
    return asked;
}

static const grout_op *find_specialize(const grout_module *module, grout_kernel_id kernel) {
    grout_op_id id = grout_kernel__get_first_op(module, kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_op_get_region_kind(op) == GROUT_REGION_PARTITIONS) {
            return op;
        }
    }
    return NULL;
}

static void verify_op(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    grout_verify__types(verifying, op);
    grout_verify__expansion(verifying, op);
    grout_verify__check(verifying, op);
    grout_verify__order(verifying, op);
    grout_verify__objects(verifying, op);
    grout_verify__inits(verifying, op);
    grout_verify__cluster(verifying, op);
    grout_verify__memory(verifying, id, op);
    grout_verify__sync(verifying, op);
    grout_verify__barrier_kind(verifying, op);
    grout_verify__mbarrier(verifying, op);
    grout_verify__semaphore(verifying, op);
    grout_verify__atomic(verifying, op);
    grout_verify__oob(verifying, op);
    grout_verify__pieces(verifying, id, op);
    grout_verify__descriptor(verifying, op);
    grout_verify__tensor_map(verifying, op);
    grout_verify__im2col(verifying, id, op);
    grout_verify__warps(verifying, op);
    grout_verify__partitions(verifying, op);
    grout_verify__wgmma(verifying, id, op);
    grout_verify__tcgen05(verifying, id, op);
    grout_verify__pair(verifying, op);
    grout_verify__cancel(verifying, op);
    grout_verify__extern(verifying, id, op);
    grout_verify__ptx(verifying, op);
}

static void verify_kernel(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    verifying->is_spread = false;
    verifying->all_differ = 0;
    verifying->specialize = find_specialize(module, verifying->kernel);
    if (!grout_verify__launch(verifying)) {
        return; /* it is said; what counts threads and ranks has none to count */
    }
    grout_verify__partition_warps(verifying);
    grout_verify__params(verifying);
    grout_verify__packed_params(verifying);
    grout_verify__note_slots(verifying);
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0 && grout_verify__goes_on(verifying);
         id = grout_kernel__get_next_op(module, id)) {
        verify_op(verifying, id, grout_module_get_op(module, id));
    }
    grout_verify__named(verifying);
    grout_verify__scopes(verifying);
    grout_verify__meetings(verifying);
    grout_verify__registers(verifying);
}

bool grout_verify(const grout_module *bound, grout_arch arch, grout_diags *diags) {
    grout_verifying verifying = {
        .module = bound, .is_asked = arch != GROUT_ARCH_OWN, .diags = diags};
    verifying.ok = grout_module_add_sources(bound, diags);
    verifying.has_bad_pitch = grout__new(bound->allocator, grout_module_get_object_count(bound),
                                         sizeof *verifying.has_bad_pitch);
    verifying.holds_maps = grout__new(bound->allocator, grout_module_get_object_count(bound),
                                      sizeof *verifying.holds_maps);
    verifying.differs = grout__new(bound->allocator, grout_module_get_value_count(bound),
                                   sizeof *verifying.differs);
    if (verifying.has_bad_pitch == NULL || verifying.holds_maps == NULL ||
        verifying.differs == NULL) {
        verifying.ok = grout_diags_add_oom(diags);
    }
    bool has_tables = verifying.ok;
    for (uint32_t id = 1; has_tables && grout_verify__goes_on(&verifying) &&
                          id < grout_module_get_kernel_count(bound);
         id++) {
        verifying.kernel = id;
        verifying.arch = choose_arch(&verifying, arch);
        verify_kernel(&verifying);
    }
    if (has_tables) {
        grout_verify__launch_list(&verifying);
        grout_verify__check_lines(&verifying);
    }
    grout__free(verifying.has_bad_pitch);
    grout__free(verifying.holds_maps);
    grout__free(verifying.differs);
    return verifying.ok && !grout_diags__has_ended(diags);
}
