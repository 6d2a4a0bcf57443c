/* arguments.h - inputs and results of a kernel: --input, --output, --inout, --expect-output.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_ARGUMENTS_H
#define GROUT_CALL_ARGUMENTS_H

#include "generator_words.h"
#include "npy.h"
#include "session.h"

typedef enum grout_binding_kind {
    GROUT_BINDING_INPUT,
    GROUT_BINDING_OUTPUT,
    GROUT_BINDING_EXPECT
} grout_binding_kind;

/* One P=... of the command line. */
typedef struct grout_binding {
    grout_binding_kind kind;
    char *param;                    /* without '%'; owned */
    char *path;                     /* owned; NULL: generator */
    grout_generator generator;      /* INPUT without a path */
    grout_dtype dtype;              /* OUTPUT: to be converted to; NONE: as it is */
    grout_bytes bytes;              /* of the file, INPUT and EXPECT */
    grout_npy npy;                  /* borrows bytes */
    grout_option_use use;           /* that gives it */
    const grout_given_array *given; /* INPUT in memory, called 'given'; NULL: of a file, or made */
} grout_binding;

typedef struct grout_bindings {
    grout_binding *items;
    size_t count;
} grout_bindings;

/* Its place in a run line; none if the call gives it. */
grout_place grout_binding__get_place(const grout_binding *binding);
/* Parses the options and reads the .npy files. False: diagnostics. Free even then. */
bool grout_bindings__read(grout_session *session, grout_bindings *out);
void grout_bindings__deinit(grout_bindings *bindings);
/* The binding of a parameter, or NULL. */
const grout_binding *grout_bindings__find(const grout_bindings *bindings, grout_binding_kind kind,
                                          const char *param);
/* Whether all inputs of the kernel are small whole numbers (ints, zeros, ones; no file), whose sums
 * are exact in floats. */
bool grout_bindings__are_whole(const grout_bindings *bindings, const grout_module *bound,
                               grout_kernel_id kernel);
/* Whether each binding fits a parameter of the kernels (by name and direction), and no output is
 * written twice. False: diagnostics. */
bool grout_bindings__check(grout_session *session, const grout_bindings *bindings,
                           const grout_module *symbolic, const grout_kernel_id *kernels,
                           size_t kernel_count);

/* The arrays and scalars of one launch. */
typedef struct grout_argument_set {
    grout_argument *arguments; /* in parameter order */
    void **owned;              /* the heap blocks that hold them; NULL where borrowed from a file */
    size_t count;
    uint64_t bytes;
    bool *is_given;     /* by parameter: its contents come of --input */
    bool *is_passed_on; /* by parameter: a later launch of the list writes it: no result; NULL: none
                         */
} grout_argument_set;

/* Makes and fills them; sizes are checked before anything is allocated. False: diagnostics. */
bool grout_argument_set__init(grout_session *session, const grout_bindings *bindings,
                              const grout_module *bound, grout_kernel_id kernel,
                              grout_argument_set *out);
/* Whether arrays of this many bytes fit: the limit for all together is --max-memory, else the
 * machine's memory. A diagnostic if not. */
bool grout_argument_set__check_memory(grout_session *session, uint64_t bytes);
/* Copies of the arguments, with contents of their own. Without memory a diagnostic; deinit the copy
 * all the same. */
bool grout_argument_set__copy(grout_session *session, const grout_argument_set *arguments,
                              grout_argument_set *out);
void grout_argument_set__deinit(grout_argument_set *set);
/* Says on stderr, unless quiet, which files were rounded to the kernel's types. */
void grout_argument_set__note_rounding(grout_session *session, const grout_bindings *bindings,
                                       const grout_module *bound, grout_kernel_id kernel);

/* Writes the --output files. False: diagnostics. */
bool grout_argument_set__write(grout_session *session, const grout_bindings *bindings,
                               const grout_module *bound, grout_kernel_id kernel,
                               const grout_argument_set *set);
/* Whether a run of the kernel has an output to write or to compare. */
bool grout_bindings__have_results(const grout_session *session, const grout_bindings *bindings);
/* Appends "%c, %d", the arrays that a kernel writes. Returns the first one's name, or NULL. */
const char *grout_kernel__describe_outputs(const grout_module *module, grout_kernel_id kernel,
                                           grout_text *out);
/* Appends "%a: ints, %b: b.npy", what the inputs of a kernel are. launch: of the list; 0: none. */
void grout_bindings__describe_inputs(const grout_bindings *bindings, const grout_module *module,
                                     grout_kernel_id kernel, grout_launch_id launch,
                                     grout_text *out);
/* Appends those that nobody gives and that have no init(..), with what they are then: "%a: ints".
 * Returns the name of the first; NULL: there is none. */
const char *grout_bindings__describe_invented(const grout_bindings *bindings,
                                              const grout_module *module, grout_kernel_id kernel,
                                              grout_launch_id launch, grout_text *out);

#endif
