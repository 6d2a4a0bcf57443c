/* SPDX-License-Identifier: Apache-2.0 */
/* grout.h - the public interface, and what engines and tests of this tree need beside it. */
#ifndef GROUT_INTERNAL_GROUT_H
#define GROUT_INTERNAL_GROUT_H

#include "grout/grout.h"

#include "grout-internal/advice.h"
#include "grout-internal/compare.h"
#include "grout-internal/equal.h"
#include "grout-internal/explore.h"
#include "grout-internal/function.h"
#include "grout-internal/generate.h"
#include "grout-internal/gpu.h"
#include "grout-internal/interp.h"
#include "grout-internal/ir.h"
#include "grout-internal/past.h"
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"
#include "grout-internal/xla.h"

#endif
