/*
 * keep.c - blocks that live as long as the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

/* Before each block; of the size that the heap aligns to. */
typedef struct grout_kept {
    struct grout_kept *next;
    size_t size; /* of both */
    uint64_t reserved[6];
} grout_kept;

static void *keep(grout_machine *machine, grout_kept *block, size_t size) {
    if (block == NULL) {
        return NULL;
    }
    block->next = machine->kept;
    block->size = sizeof *block + size;
    machine->kept = block;
    return block + 1;
}

void *grout_machine__keep(grout_machine *machine, size_t size) {
    return keep(machine, grout_heap__take(&machine->heap, sizeof(grout_kept) + size), size);
}

void *grout_machine__keep_unset(grout_machine *machine, size_t size) {
    return keep(machine, grout_heap__take_unset(&machine->heap, sizeof(grout_kept) + size), size);
}

void grout_machine__free_kept(grout_machine *machine) {
    while (machine->kept != NULL) {
        grout_kept *block = machine->kept;
        machine->kept = block->next;
        grout_heap__give(&machine->heap, block, block->size);
    }
}
