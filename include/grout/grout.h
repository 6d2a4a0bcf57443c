/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grout.h - everything: one include for programs that build, check, run and emit kernels, and that
 * run PTX.
 */
#ifndef GROUT_GROUT_H
#define GROUT_GROUT_H

#include "grout/alloc.h"
#include "grout/binding.h"
#include "grout/build.h"
#include "grout/check.h"
#include "grout/diag.h"
#include "grout/emit.h"
#include "grout/function.h"
#include "grout/ir.h"
#include "grout/launch.h"
#include "grout/module.h"
#include "grout/ptx.h"
#include "grout/report.h"
#include "grout/tables.h"
#include "grout/xla.h"

#define GROUT_VERSION "0.1.0"

#endif
