/*
 * exec.h - one function for each operation, and for the steps of control that have no operation of
 * their own. The names come from ops.def: an op without a function does not link.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_EXEC_H
#define GROUT_INTERP_EXEC_H

#include "machine.h"

/* Every ALU and MATH op is this one function, with the loop of its expression in the instruction.
 */
grout_exec grout_exec_alu;
grout_exec grout_exec_reduce; /* the same for REDUCE ops */
grout_exec grout_exec_scan;   /* for SCAN ops */
grout_exec grout_exec_atomic; /* and for ATOMIC ops, with their update in the instruction */

#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION)
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP)
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION)
#define GROUT_SCAN(NAME, text, REDUCE)
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE)
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) grout_exec grout_exec_##text;
#include "grout/ops.def"

grout_exec grout_exec_chain;      /* elementwise ops, strip by strip */
grout_exec grout_exec_traced;     /* makes an integer that may have wrapped */
grout_exec grout_exec_watched;    /* says where by one */
grout_exec grout_exec_next;       /* a for's next turn, or its end */
grout_exec grout_exec_again;      /* the end of a while's second body */
grout_exec grout_exec_leave;      /* the end of a scoped */
grout_exec grout_exec_exit;       /* the end of a thread */
grout_exec grout_exec_partition;  /* the beginning of a partition */
grout_exec grout_exec_join;       /* where they have all ended */
grout_exec grout_exec_end_child;  /* the end of a warp or partition */
grout_exec grout_exec_rendezvous; /* after the last mbarrier_init of the kernel's own block */

#endif
