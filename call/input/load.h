/* load.h - from a file to verified kernels: read, parse, bind with -D and the sizes of .npy files,
 * verify, select.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_LOAD_H
#define GROUT_CALL_LOAD_H

#include "arguments.h"
#include "extern_files.h"
#include "sizes.h"

/* What messages say of a define. */
typedef struct grout_define_note {
    char *name;        /* owned */
    const char *param; /* whose file gave it, borrowed; NULL: -D */
    uint32_t dim;      /* of that parameter */
    bool is_given;     /* which is in memory, in no file */
} grout_define_note;

typedef struct grout_load {
    const char *name; /* of the file, for messages; borrowed */
    grout_module *symbolic, *bound;
    uint32_t *bound_owners; /* how many the bound one has: this load, and kept reports */
    bool is_lent;           /* the symbolic one is the caller's */
    grout_bindings bindings;
    grout_extern_files externs;
    grout_kernel_id *kernels; /* to work on, in file order */
    size_t kernel_count;
    grout_define *defines;           /* from -D, then from files */
    grout_define_note *define_notes; /* of each, in the same order */
    size_t define_count;
    const struct grout_load *whole; /* of what grout_load__take has made; else NULL */
    grout_kernel_id taken;          /* the id that its kernel has there */
} grout_load;

/* "<stdin>" for "-". */
const char *grout_load__get_name(const char *path);
/*
 * Loads a text of the file path for the session's options: everything up to the verifier. False:
 * diagnostics. Deinit even then. needs_one: there must be one kernel, or --kernel.
 */
bool grout_load__init(grout_session *session, const char *path, const grout_bytes *text,
                      bool needs_one, grout_load *out);
/* The same for a module that the caller has, which has to last as long. */
bool grout_load__init_with(grout_session *session, const char *path, grout_module *symbolic,
                           grout_load *out);
void grout_load__deinit(grout_load *load);
/* The bound module for one owner more, who gives it back with its owners. */
grout_module *grout_load__share_bound(const grout_load *load, uint32_t **owners_out);
void grout_module__give_back(grout_module *bound, uint32_t *owners);
/*
 * One kernel of a load that has several, as a load whose modules have no other, and borrows the
 * rest: what a launch looks at is as long as the kernel, not as the file. The load itself, if there
 * is nothing to take out of it. *kernel: its id, before and after. Give it back.
 */
const grout_load *grout_load__take(grout_session *session, const grout_load *load,
                                   grout_kernel_id *kernel, grout_load *own);
void grout_load__give_back(grout_load *own);
/* The id that a kernel has in the whole. */
grout_kernel_id grout_load__get_whole_id(const grout_load *load, grout_kernel_id kernel);
/* Whether the file has more kernels than this one. */
bool grout_load__has_several(const grout_load *load);
/*
 * A kernel says which hardware its code is for: rules of another one make no other code. False,
 * with a diagnostic, if --arch names another than a kernel's own. who_does: "'grout emit' writes".
 */
bool grout_load__check_arch(grout_session *session, const grout_load *load, const char *who_does);
/* Appends "X=4000 (a.npy), Y=120 (-D)"; without those of the sizes, unless these are NULL. */
void grout_load__describe_defines(const grout_load *load, const grout_sizes *without,
                                  grout_text *out);

#endif
