/*
 * device_header.h - the headers of emitted kernels (device/), embedded by CMake (grout_embed).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_DEVICE_HEADER_H
#define GROUT_GPU_DEVICE_HEADER_H

#include <stddef.h>

/* Emitted kernels include "grout_cluster.cuh" and others beside it, which include
 * "grout_values.cuh", which includes "grout_device.cuh", which includes "grout_num.cuh", which
 * includes "grout/num.h". Each text has a final NUL, which its size does not count. */
extern const unsigned char grout_gpu__values_header[];
extern const size_t grout_gpu__values_header_size;
extern const unsigned char grout_gpu__device_header[];
extern const size_t grout_gpu__device_header_size;
extern const unsigned char grout_gpu__num_header[];
extern const size_t grout_gpu__num_header_size;
extern const unsigned char grout_gpu__arithmetic[];
extern const size_t grout_gpu__arithmetic_size;
extern const unsigned char grout_gpu__cluster_header[];
extern const size_t grout_gpu__cluster_header_size;
extern const unsigned char grout_gpu__sync_header[];
extern const size_t grout_gpu__sync_header_size;
extern const unsigned char grout_gpu__atomic_header[];
extern const size_t grout_gpu__atomic_header_size;
extern const unsigned char grout_gpu__tensor_header[]; /* of kernels for Blackwell alone */
extern const size_t grout_gpu__tensor_header_size;

#endif
