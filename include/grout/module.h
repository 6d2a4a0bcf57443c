/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - kernels in memory: parsed, bound to sizes, verified, printed.
 *
 * A module comes from text or from the builder (build.h) in its *symbolic* form: sizes are constant
 * expressions over the file's consts. grout_module_bind gives the *bound* form: every constant
 * expression has a value, every value a type with plain sizes. What runs a kernel or emits it takes
 * a bound module that is verified.
 *
 * What a module consists of is in ir.h; its parts have ids, 0 is 'none'.
 */
#ifndef GROUT_MODULE_H
#define GROUT_MODULE_H

#include "grout/diag.h"
#include "grout/ids.h"
#include "grout/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_module grout_module;

/* ---- from text to a bound module --------------------------------------------------------------
 */

/*
 * Parses a text into a symbolic module, or returns NULL with up to GROUT_DIAGS_MAX reasons. The
 * text is borrowed for the call and copied; file is its name in diagnostics. No input, however
 * broken, crashes, hangs or leaks. The parser goes on after an error at the next statement.
 */
GROUT_API grout_module *grout_parse(const char *file, const char *text, size_t size,
                                    grout_diags *diags);
/* The same with an allocator of the caller's (alloc.h), for the module and what is made out of it.
 */
GROUT_API grout_module *grout_parse_in(const grout_allocator *allocator, const char *file,
                                       const char *text, size_t size, grout_diags *diags);

/* NULL is allowed. */
GROUT_API void grout_module_free(grout_module *module);

/* A -D, or a size taken from a file. */
typedef struct grout_define {
    const char *name;
    bool is_float;
    int64_t integer;
    double number;
    const char *origin; /* "-D" or a file name, for messages; may be NULL */
} grout_define;

/*
 * Gives every constant expression its value (defines override the file's consts) and every value
 * its type. Returns a new module that owns all it needs (free both), or NULL with the reasons in
 * diags: unknown define, require that fails, inexact division, type and shape errors. A module that
 * binds has types throughout but has not been verified (grout_verify). It has the allocator of the
 * symbolic one.
 */
GROUT_API grout_module *grout_module_bind(const grout_module *symbolic, const grout_define *defines,
                                          size_t define_count, grout_diags *diags);
/* Adds the texts it was parsed from to diags, for carets; false without memory: diags say so. */
GROUT_API bool grout_module_add_sources(const grout_module *module, grout_diags *diags);

/*
 * Appends the module in canonical form; comments are kept. parse(print(m)) is equal to m, and
 * print(parse(t)) equals t for canonical t. Takes symbolic and bound modules (a bound one prints
 * symbolically too).
 */
GROUT_API void grout_module_print(const grout_module *module, grout_text *out);
/* What the author of a module wrote: the text format, or Python with JAX' Pallas. Findings name
 * objects and operations, and say what to write, as it is written there. */
typedef enum grout_surface { GROUT_SURFACE_TEXT, GROUT_SURFACE_PALLAS } grout_surface;
/* Appends a constant expression. */
GROUT_API void grout_expr_print(const grout_module *module, grout_expr_id expr, grout_text *out);

/*
 * Checks every rule of every kernel of a bound module: spaces, directions, transforms, TMA boxes,
 * barriers, launch, SMEM budget. Goes on after a fault. True if there is no error; warnings may
 * have been added. arch: the rules of which hardware; GROUT_ARCH_OWN: of each kernel's own. Another
 * one than a kernel says is a warning, and counts.
 */
GROUT_API bool grout_verify(const grout_module *bound, grout_arch arch, grout_diags *diags);

/* ---- arguments --------------------------------------------------------------------------------
 */

/*
 * An argument, in parameter order. Arrays: data is row-major, size must be exactly the array's
 * bytes; 'in' data is only read, 'out' data is filled with the poison pattern first. Scalars: data
 * points at one element.
 */
typedef struct grout_argument {
    void *data;
    size_t size;
} grout_argument;

struct grout_kernel; /* ir.h */

/* Fills the data of a parameter of a bound and verified module with what it holds unless the caller
 * brings something else: what its init(..) says, 'ints' if it has none. data: the bytes of the
 * array, row-major, or of one element for a scalar. Not of an 'out' array, which
 * starts without values. */
GROUT_API void grout_param_fill_default(const grout_module *bound,
                                        const struct grout_kernel *kernel, uint32_t index,
                                        void *data);

/* ---- types ------------------------------------------------------------------------------------
 */

#define GROUT_RANK_MAX 8 /* dimensions of an array or a reference */

typedef enum grout_type_kind {
    GROUT_TYPE_NONE,
    GROUT_TYPE_SCALAR,
    GROUT_TYPE_ARRAY,     /* register array */
    GROUT_TYPE_REF,       /* array in memory */
    GROUT_TYPE_BARRIER,   /* array of barriers; rank 0: one barrier */
    GROUT_TYPE_SEMAPHORE, /* array of semaphores; rank 0: one */
    GROUT_TYPE_DESCRIPTOR /* TMA descriptor; dims: of its boxes */
} grout_type_kind;

typedef struct grout_type {
    uint8_t kind;  /* grout_type_kind */
    uint8_t dtype; /* NONE for barriers */
    uint8_t space; /* REF and BARRIER */
    uint8_t rank;
    /* REF of less than 8 bits: 16 neighbours of a row are a unit that TMA spreads. In GMEM,
     * 'packed', it has no gaps; in SMEM, 'padded', it fills 16 bytes. All but the host's bytes
     * count one byte for each element. */
    bool is_expanded;
    int64_t dims[GROUT_RANK_MAX];
} grout_type;
/* Bytes of an array in memory, where elements of 4 bits are packed, and those of a 'packed' array.
 */
GROUT_API int64_t grout_type_get_bytes(const grout_type *type);

#ifdef __cplusplus
}
#endif
#endif
