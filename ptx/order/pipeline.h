/* pipeline.h - operations of the tensor core on tensor memory that one warp starts, and that happen
 * in the order of their start: PTX ISA 9.4, 'Pipelined tcgen05 Instructions'.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_PTX_PIPELINE_H
#define GROUT_PTX_PIPELINE_H

#include "array.h"
#include "means.h"

/* What an operation of the tensor core is in its pipeline. */
typedef enum ptx_pipe_kind {
    PTX_PIPE_NONE,
    PTX_PIPE_MULTIPLY,
    PTX_PIPE_COPY,
    PTX_PIPE_COPY_4X256B,
    PTX_PIPE_SHIFT,
    PTX_PIPE_LOAD, /* tcgen05.ld and st, of a warp */
    PTX_PIPE_STORE
} ptx_pipe_kind;

typedef struct ptx_pipe {
    ptx_pipe_kind kind;
    bool is_operand; /* of a multiplication: it reads A, metadata or scales; else its sums */
    uint64_t result; /* of a multiplication: where d is, and its shape */
} ptx_pipe;

/* Whether the tensor core performs the later one after the earlier one, of which one writes, if the
 * same warp has started it after that and both are at one place. */
bool grout_ptx__is_pipeline(const ptx_pipe *earlier, const ptx_pipe *later);
/* The same wherever the two are: what products read, and copies and shifts after them. */
bool grout_ptx__is_pipeline_anywhere(const ptx_pipe *earlier, const ptx_pipe *later);

/* Whether an operation may bring a product's operand. */
bool grout_ptx__may_bring(const ptx_pipe *pipe);

/* An operation of a lane; a time is a number of them. */
typedef struct ptx_operation {
    uint64_t agent;
    uint32_t lane, time;
} ptx_operation;

/* A copy or a shift, and the first product of a lane of the same warp that has read of it. */
typedef struct ptx_brought {
    ptx_operation by, reader;
} ptx_brought;

typedef GROUT_ARRAY(ptx_brought) ptx_brought_list;

/* A product has read what a copy or a shift has brought; false without memory, and where the means'
 * time is over. */
bool grout_ptx__note_brought(const ptx_means *means, ptx_brought_list *list,
                             const ptx_brought *news);
/* The next product that has read of an operation, counting down from below; below is where it was
 * then. NULL: none is left, or the means' time is over. */
const ptx_operation *grout_ptx__find_reader(const ptx_means *means, const ptx_brought_list *list,
                                            const ptx_operation *by, size_t *below);

#endif
