/*
 * layout.h - which lane holds which element of a register array, and how wide memory is accessed.
 *
 * Two layouts of the catalogue: WG_SPLAT, one value that every lane holds, and WG_STRIDED, runs of
 * vec neighbouring elements dealt out to the 128 lanes in turn. In a strided array of a lane,
 * register r holds the element with the row-major index (r / vec * 128 + lane) * vec + r % vec.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_LAYOUT_H
#define GROUT_GPU_LAYOUT_H

#include "grout/ir.h"

#define GROUT_GPU_LANES            128u /* CUDA threads of a thread of the kernel */
#define GROUT_GPU_ARRAY_BYTES_MAX  4096 /* of one array in one lane's registers */
#define GROUT_GPU_ACCESS_BYTES_MAX 16u  /* of one load or store instruction */

typedef enum grout_gpu_layout_kind {
    GROUT_GPU_LAYOUT_NONE,  /* no array */
    GROUT_GPU_LAYOUT_SPLAT, /* a scalar variable */
    GROUT_GPU_LAYOUT_STRIDED
} grout_gpu_layout_kind;

typedef struct grout_gpu_layout {
    uint8_t kind; /* grout_gpu_layout_kind */
    uint8_t vec;
    bool is_guarded; /* some lanes hold registers behind the last element */
    uint32_t registers;
    int64_t count; /* elements */
} grout_gpu_layout;

/* The strided layout of count elements in runs of at most vec_max. */
grout_gpu_layout grout_gpu__make_strided(int64_t count, uint32_t vec_max);

/*
 * The layouts of a kernel's values, by value id; free with free(). Values that element-wise ops,
 * carries and yields connect share one. exchange_bytes_out: SMEM that a thread needs for broadcasts
 * that cross lanes. NULL: the reason is in diags.
 */
grout_gpu_layout *grout_gpu__infer_layouts(const grout_module *module, grout_kernel_id kernel,
                                           int64_t *exchange_bytes_out, grout_diags *diags);

/*
 * How many neighbouring elements of a reference one access can take: the largest power of two such
 * that every run of so many, from a multiple of it on, is contiguous and aligned in memory for
 * every value of the indices.
 */
uint32_t grout_gpu__get_access_width(const grout_module *module, const grout_view *view);

/* The largest power of two, at most 2^20, that divides a scalar in every run of the kernel. */
int64_t grout_gpu__get_known_divisor(const grout_module *module, grout_value_id value);

/* Whether a broadcast has to pass through SMEM: its elements change lanes. */
bool grout_gpu__is_exchange(const grout_gpu_layout *from, const grout_gpu_layout *to);

#endif
