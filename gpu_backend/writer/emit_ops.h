/*
 * emit_ops.h - one function an op: those of emit/, and of tensor/ for Blackwell's tensor core.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_EMIT_OPS_H
#define GROUT_GPU_EMIT_OPS_H

#include "emitter.h"

grout_emit_op grout_emit__alu;
grout_emit_op grout_emit__math;
grout_emit_op grout_emit__reduce;
grout_emit_op grout_emit__scan;
grout_emit_op grout_emit__atomic;
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION)
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP)
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION)
#define GROUT_SCAN(NAME, text, REDUCE)
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE)
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) grout_emit_op grout_emit__##text;
#include "grout/ops.def"

#endif
