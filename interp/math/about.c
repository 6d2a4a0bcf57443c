/*
 * about.c - with which libraries the interpreter computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gemm.h"
#include "grout-internal/interp.h"

#include <sleef.h>
#if GROUT_HAS_LIBXSMM
#include <libxsmm_version.h>
#define LIBXSMM LIBXSMM_CONFIG_VERSION
#else
#define LIBXSMM "not built in"
#endif

void grout_interp_describe(grout_text *out) {
    /* The smallest product there is: whether LIBXSMM's code can be made and run is known only so.
     */
    grout_gemm gemm = {.m = 64, .n = 8, .k = 8};
    grout_text_add(out, "SLEEF: %d.%d.%d\nLIBXSMM: %s\n", SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR,
                   SLEEF_VERSION_PATCHLEVEL, LIBXSMM);
    grout_gemm__init(&gemm, GROUT_GEMM_LIBXSMM);
    grout_text_add(out, "products of tiles by: %s\n",
                   grout_gemm__get_text((grout_gemm_kind)gemm.kind));
    grout_gemm__deinit(&gemm);
}
