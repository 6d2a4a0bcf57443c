/* pipeline.c - pairs of operations of one warp that happen in the order of their start. PTX ISA
 * 9.4, 'Pipelined tcgen05 Instructions'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

/* What a product's operands may be before it, and after it; its sums are a pipeline of their own.
 */
static bool may_follow_operand(ptx_pipe_kind later) {
    return later == PTX_PIPE_MULTIPLY || later == PTX_PIPE_COPY || later == PTX_PIPE_COPY_4X256B ||
           later == PTX_PIPE_SHIFT;
}

bool grout_ptx__may_bring(const ptx_pipe *pipe) {
    return pipe->kind == PTX_PIPE_COPY || pipe->kind == PTX_PIPE_COPY_4X256B ||
           pipe->kind == PTX_PIPE_SHIFT;
}

static bool is_move(ptx_pipe_kind kind) {
    return kind == PTX_PIPE_LOAD || kind == PTX_PIPE_STORE;
}

bool grout_ptx__is_pipeline(const ptx_pipe *earlier, const ptx_pipe *later) {
    if (earlier->is_operand || later->is_operand) {
        return earlier->is_operand ? !later->is_operand && may_follow_operand(later->kind)
                                   : grout_ptx__may_bring(earlier);
    }
    if (earlier->kind == PTX_PIPE_MULTIPLY || later->kind == PTX_PIPE_MULTIPLY) {
        return earlier->kind == later->kind && earlier->result == later->result;
    }
    return (earlier->kind == PTX_PIPE_SHIFT && later->kind == PTX_PIPE_COPY_4X256B) ||
           (is_move(earlier->kind) && is_move(later->kind));
}

bool grout_ptx__is_pipeline_anywhere(const ptx_pipe *earlier, const ptx_pipe *later) {
    return earlier->is_operand && grout_ptx__may_bring(later);
}

static bool is_same(const ptx_operation *a, const ptx_operation *b) {
    return a->agent == b->agent && a->lane == b->lane && a->time == b->time;
}

/* Those of late are at the end. */
bool grout_ptx__note_brought(const ptx_means *means, ptx_brought_list *list,
                             const ptx_brought *news) {
    for (size_t i = list->count; i > 0; i--) {
        if (!ptx_goes_on(means, 1)) {
            return false;
        }
        ptx_brought *old = &list->items[i - 1];
        if (is_same(&old->by, &news->by) && old->reader.lane == news->reader.lane) {
            const bool is_earlier = news->reader.time < old->reader.time;
            old->reader.time = is_earlier ? news->reader.time : old->reader.time;
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(list, means->allocator, 1)) {
        return false;
    }
    list->items[list->count++] = *news;
    return true;
}

const ptx_operation *grout_ptx__find_reader(const ptx_means *means, const ptx_brought_list *list,
                                            const ptx_operation *by, size_t *below) {
    while (*below > 0 && ptx_goes_on(means, 1)) {
        const ptx_brought *it = &list->items[--*below];
        if (is_same(&it->by, by)) {
            return &it->reader;
        }
    }
    return NULL;
}
