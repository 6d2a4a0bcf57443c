/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - all that an observer of a run includes: the events, and their bytes and origins in
 * the words of the text format.
 */
#ifndef GROUT_INTERNAL_OBSERVE_H
#define GROUT_INTERNAL_OBSERVE_H

#include "grout-internal/ir.h"
#include "grout-internal/observer.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Appends the bytes [offset, offset + length) of an object as a box of the object, as the text
 * format writes references: "%as[1, 0:32, 0:64]". Bytes that are no box are enclosed in the
 * smallest one.
 */
void grout_describe_bytes(const grout_module *bound, grout_object_id object, int64_t offset,
                          int64_t length, grout_text *out);
/* Appends "CTA (x=1, y=0)". */
void grout_describe_cta(const grout_module *bound, grout_kernel_id kernel, uint32_t cta,
                        grout_text *out);
/* Appends "CTA (x=1, y=0), thread wg=0, %j=3": where an origin stands in the launch. */
void grout_describe_origin(const grout_module *bound, grout_kernel_id kernel,
                           const grout_origin *origin, grout_text *out);
/* The same, as far as it tells one from another: the CTA where the launch has several, the thread
 * where a CTA has several, the warp if it is one; "the thread" where there is nothing to tell. */
void grout_describe_actor(const grout_module *bound, grout_kernel_id kernel,
                          const grout_origin *origin, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
