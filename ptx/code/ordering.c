/* ordering.c - the order and scope of an instruction, written or not. PTX ISA 9.1, 'ld', 'st',
 * 'atom', 'red', 'mbarrier', 'barrier.cluster', 'membar'. SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

typedef struct ptx_default {
    ptx_op op;
    ptx_ordering ordering;
} ptx_default;

/* What a family means where it does not say it; others are weak. The scope is also that of
 * .volatile. */
static const ptx_default defaults[] = {
    {PTX_OP_LD, {PTX_SEM_WEAK, PTX_SCOPE_SYS}},
    {PTX_OP_ST, {PTX_SEM_WEAK, PTX_SCOPE_SYS}},
    {PTX_OP_ATOM, {PTX_SEM_RELAXED, PTX_SCOPE_GPU}},
    {PTX_OP_RED, {PTX_SEM_RELAXED, PTX_SCOPE_GPU}},
    {PTX_OP_MBARRIER_EXPECT, {PTX_SEM_RELAXED, PTX_SCOPE_CTA}},
    {PTX_OP_MBARRIER_COMPLETE, {PTX_SEM_RELAXED, PTX_SCOPE_CTA}},
    {PTX_OP_MBARRIER_ARRIVE, {PTX_SEM_RELEASE, PTX_SCOPE_CTA}},
    {PTX_OP_MBARRIER_ARRIVE_DROP, {PTX_SEM_RELEASE, PTX_SCOPE_CTA}},
    {PTX_OP_MBARRIER_TEST, {PTX_SEM_ACQUIRE, PTX_SCOPE_CTA}},
    {PTX_OP_MBARRIER_TRY, {PTX_SEM_ACQUIRE, PTX_SCOPE_CTA}},
    {PTX_OP_CLUSTER_ARRIVE, {PTX_SEM_RELEASE, PTX_SCOPE_CLUSTER}},
    {PTX_OP_CLUSTER_WAIT, {PTX_SEM_ACQUIRE, PTX_SCOPE_CLUSTER}},
    {PTX_OP_FENCE, {PTX_SEM_ACQ_REL, PTX_SCOPE_SYS}},
    {PTX_OP_MEMBAR, {PTX_SEM_ACQ_REL, PTX_SCOPE_SYS}},
};

static ptx_sem get_sem(uint16_t word, ptx_sem unwritten) {
    switch (word) {
    case PTX_WORD_WEAK:
        return PTX_SEM_WEAK;
    case PTX_WORD_RELAXED:
    case PTX_WORD_VOLATILE:
    case PTX_WORD_MMIO:
        return PTX_SEM_RELAXED;
    case PTX_WORD_ACQUIRE:
        return PTX_SEM_ACQUIRE;
    case PTX_WORD_RELEASE:
        return PTX_SEM_RELEASE;
    case PTX_WORD_ACQ_REL:
    case PTX_WORD_SC:
        return PTX_SEM_ACQ_REL;
    default:
        return unwritten;
    }
}

static ptx_scope get_scope(uint16_t word, ptx_scope unwritten) {
    switch (word) {
    case PTX_WORD_CTA:
        return PTX_SCOPE_CTA;
    case PTX_WORD_CLUSTER:
        return PTX_SCOPE_CLUSTER;
    case PTX_WORD_GPU:
    case PTX_WORD_GL:
        return PTX_SCOPE_GPU;
    case PTX_WORD_SYS:
        return PTX_SCOPE_SYS;
    default:
        return unwritten;
    }
}

ptx_ordering grout_ptx__decode_ordering(const ptx_decoder *decoder) {
    ptx_ordering unwritten = {PTX_SEM_WEAK, PTX_SCOPE_CTA};
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (defaults[i].op == decoder->inst->op) {
            unwritten = defaults[i].ordering;
        }
    }
    return (ptx_ordering){
        get_sem(grout_ptx__word(decoder, PTX_CLASS_ORDER, 0).id, unwritten.sem),
        get_scope(grout_ptx__word(decoder, PTX_CLASS_SCOPE, 0).id, unwritten.scope)};
}
