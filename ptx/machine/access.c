/* access.c - which bytes an address means. PTX ISA 9.1, 'State Spaces' and 'Generic Addressing'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

bool grout_ptx__find_shared(const ptx_cta *cta, uint64_t address, uint64_t size,
                            ptx_bytes *bytes_out, ptx_cta **cta_out) {
    const ptx_machine *machine = cta->machine;
    uint64_t rank = address >> 24 & 0xff, offset = address & 0xffffff;
    if (address >> 32 != 0 || rank > machine->cluster_size) {
        return false;
    }
    ptx_cta *owner = &cta->cluster[rank > 0 ? rank - 1 : cta->rank];
    if (offset < PTX_SHARED_FIRST || size > machine->shared_bytes ||
        offset - PTX_SHARED_FIRST > machine->shared_bytes - size || owner->shared == NULL) {
        return false;
    }
    bytes_out->data = owner->shared + (offset - PTX_SHARED_FIRST);
    bytes_out->known = owner->known + (offset - PTX_SHARED_FIRST);
    bytes_out->cells = owner->cells == NULL ? NULL : owner->cells + (offset - PTX_SHARED_FIRST);
    bytes_out->owner = owner;
    *cta_out = owner;
    return true;
}

static bool find_local(const ptx_context *context, uint32_t lane, uint64_t address, uint64_t size,
                       ptx_bytes *bytes_out) {
    uint64_t whole = context->machine->code->local_bytes;
    if (size > whole || address > whole - size) {
        return false;
    }
    bytes_out->data = context->warp->local + lane * whole + address;
    bytes_out->known = context->warp->local + (PTX_LANES + lane) * whole + address;
    bytes_out->cells = NULL;
    bytes_out->owner = NULL;
    return true;
}

static bool find_parameter(const ptx_context *context, uint64_t address, uint64_t size,
                           ptx_bytes *bytes_out) {
    uint64_t whole = context->machine->code->parameter_bytes;
    if (size > whole || address > whole - size) {
        return false;
    }
    bytes_out->data = context->machine->parameters + address;
    bytes_out->known = context->machine->parameters + whole + address; /* all of them */
    bytes_out->cells = NULL;
    bytes_out->owner = NULL;
    return true;
}

static bool find_generic(const ptx_context *context, uint32_t lane, uint64_t address, uint32_t size,
                         ptx_bytes *bytes_out) {
    ptx_cta *owner = NULL;
    if (address - PTX_WINDOW_SHARED < PTX_WINDOW_SIZE) {
        return grout_ptx__find_shared(context->cta, address - PTX_WINDOW_SHARED, size, bytes_out,
                                      &owner);
    }
    if (address - PTX_WINDOW_LOCAL < PTX_WINDOW_SIZE) {
        return find_local(context, lane, address - PTX_WINDOW_LOCAL, size, bytes_out);
    }
    if (address - PTX_WINDOW_PARAM < PTX_WINDOW_SIZE) {
        return find_parameter(context, address - PTX_WINDOW_PARAM, size, bytes_out);
    }
    return grout_ptx__find_global(context->machine->memory, address, size, bytes_out);
}

static bool find(const ptx_context *context, uint32_t lane, uint64_t address, uint32_t size,
                 ptx_bytes *bytes_out) {
    ptx_cta *owner = NULL;
    switch (context->step->space) {
    case PTX_WORD_GLOBAL:
    case PTX_WORD_CONST:
        return grout_ptx__find_global(context->machine->memory, address, size, bytes_out);
    case PTX_WORD_SHARED:
    case PTX_WORD_SHARED_CTA:
        return grout_ptx__find_shared(context->cta, address, size, bytes_out, &owner) &&
               owner == context->cta;
    case PTX_WORD_SHARED_CLUSTER:
        return grout_ptx__find_shared(context->cta, address, size, bytes_out, &owner);
    case PTX_WORD_LOCAL:
    case PTX_WORD_PARAM_FUNC:
        return find_local(context, lane, address, size, bytes_out);
    case PTX_WORD_PARAM:
    case PTX_WORD_PARAM_ENTRY:
        return find_parameter(context, address, size, bytes_out);
    default:
        return find_generic(context, lane, address, size, bytes_out);
    }
}

bool grout_ptx__find_bytes(const ptx_context *context, uint32_t lane, uint64_t address,
                           uint32_t size, ptx_bytes *bytes_out) {
    if (size > 0 && address % size != 0) {
        grout_ptx__fault(context, lane, "the address 0x%llx is not a multiple of %u",
                         (unsigned long long)address, size);
        return false;
    }
    if (find(context, lane, address, size, bytes_out)) {
        return true;
    }
    grout_ptx__fault(context, lane, "no memory of the space '%s' is at 0x%llx, %u bytes",
                     context->step->space == PTX_WORD_NONE
                         ? "generic"
                         : grout_ptx__get_word((ptx_word_id)context->step->space)->text,
                     (unsigned long long)address, size);
    return false;
}
