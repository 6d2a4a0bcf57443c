/* SPDX-License-Identifier: Apache-2.0 */
/*
 * written.h - what a repair writes of an op: the columns MEANT and WRITTEN of sync.def.
 */
#ifndef GROUT_WRITTEN_H
#define GROUT_WRITTEN_H

#include "grout-internal/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One form of an op's column WRITTEN. */
typedef struct grout_written {
    const char *text;         /* what follows the mnemonic, or that of the op that comes next */
    uint16_t next;            /* grout_opcode on the line after it, or GROUT_OP_NONE */
    uint8_t cost;             /* how unusual it is, from 1 */
    bool is_only_in_clusters; /* of a kernel that is launched in clusters */
} grout_written;

/* The forms in which a repair writes the op where it is missing; NULL, and 0 in count_out:
 * never. */
const grout_written *grout_op_get_written(grout_opcode opcode, size_t *count_out);
/* The op that is most often meant where this one is wrong; GROUT_OP_NONE: no other one is. */
grout_opcode grout_op_get_meant(grout_opcode opcode);

#ifdef __cplusplus
}
#endif

#endif
