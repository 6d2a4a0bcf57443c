/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h - a kernel as a plain C function, which runs it on the CPU.
 *
 *     kernel @scale(%x: in gmem f32[N], %by: f32, %y: out gmem f32[N]) ...
 *
 *     typedef bool scale_function(const grout_array *x, float by, const grout_array *y);
 *
 *     grout_kernel_function *function = grout_kernel_function_new(bound, kernel, options, diags);
 *     scale_function *scale = (scale_function *)grout_kernel_function_get(function);
 *     bool is_done = scale(&x, 2.0f, &y);
 *
 * And a C function that kernels call, for each element of their arrays:
 *
 *     %y = extern_elementwise "clip", %x, 4 : f32
 *
 *     static float clip(float x, int32_t most) { return x < most ? x : most; }
 *
 *     grout_extern_function functions[] = {{"clip", (grout_any_function *)clip}};
 *     grout_externs *externs = grout_externs_new(bound, functions, 1, NULL, diags);
 *     grout_function_options_use_externs(options, externs);
 */
#ifndef GROUT_FUNCTION_H
#define GROUT_FUNCTION_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array of the caller's, row-major. A kernel writes the data of 'out' and 'inout' arrays; the
 * struct itself is only read. */
typedef struct grout_array {
    grout_dtype dtype;
    uint32_t rank;
    int64_t dims[GROUT_RANK_MAX];
    void *data; /* aligned for one element */
} grout_array;

/* The type that a function pointer is converted to and from. */
typedef void grout_any_function(void);

/* ---- C functions that kernels call ----------------------------------------------------------- */

/*
 * A function that 'extern_elementwise' calls, for one element: arguments[i] points to an element of
 * the i-th operand's type, result_out to room for one of the written type; it is written whole. It
 * depends on its arguments alone: it may be called again for the same element, in another order,
 * and from several OS threads at once where a launch or an exploration has several. It is not
 * called for an element of which an argument is undefined, if the launch follows undefined values,
 * as under the checker: the result is undefined then. grout_externs_new makes one of any C
 * function.
 *
 * False says stop: there is no result. The run ends at once, interrupted, and an exploration with
 * it; it is called for no further element. Where a launch has several workers, the others may be in
 * a call meanwhile, and come to one more each.
 */
typedef struct grout_extern {
    const char *name;
    bool (*call)(void *payload, const void *const *arguments, void *result_out);
    void *payload;
} grout_extern;

/* An element as a number, and back: as 'cast' converts. */
GROUT_API double grout_element_to_double(grout_dtype dtype, const void *element);
GROUT_API void grout_element_from_double(grout_dtype dtype, double value, void *element_out);

/*
 * A C function by the name that an extern_elementwise says. Its parameters are the elements of the
 * operands, in order, and its result the written type, as scalars are below: f32 is float, i32 is
 * int32_t, f16 and bf16 are uint16_t with the bits, bool is bool. That the function is of this
 * signature, nobody can check.
 */
typedef struct grout_extern_function {
    const char *name;
    grout_any_function *function;
} grout_extern_function;

typedef struct grout_externs grout_externs;

/*
 * What launches of a module need to call these functions, through libffi: those that the module
 * names; the others are left out. bound: bound and verified, and read here only. allocator may be
 * NULL. NULL: reasons in diags.
 */
GROUT_API grout_externs *grout_externs_new(const grout_module *bound,
                                           const grout_extern_function *functions, size_t count,
                                           const grout_allocator *allocator, grout_diags *diags);
GROUT_API void grout_externs_free(grout_externs *externs);
/*
 * Has the launches that call these functions end, interrupted, at the next of their calls, or after
 * the one that is under way: a C function itself has no way to say that it cannot go on. For good;
 * from any OS thread, also from within one of the functions.
 */
GROUT_API void grout_externs_stop(grout_externs *externs);
/* A function that a module calls: the element types of the operands and of the result. */
typedef struct grout_extern_signature {
    const char *name; /* borrowed from the module */
    uint32_t operand_count;
    grout_dtype operands[GROUT_EXTERN_OPERANDS_MAX];
    grout_dtype result;
} grout_extern_signature;
/* The functions that a bound module calls, in the order of the text; the types are those of the
 * first call. False: there are not that many. */
GROUT_API bool grout_externs_find(const grout_module *bound, uint32_t index,
                                  grout_extern_signature *signature_out);

/* ---- kernels as C functions ------------------------------------------------------------------ */

/* How the calls of a function run, by options: opaque, so that a new option changes no struct. */
typedef struct grout_function_options grout_function_options;

/* The defaults of 'grout run'. allocator: of the functions that are made with these options, and of
 * what their calls need (alloc.h); NULL: libc. NULL without memory. */
GROUT_API grout_function_options *grout_function_options_new(const grout_allocator *allocator);
/* NULL is allowed. What was made with them stays. */
GROUT_API void grout_function_options_free(grout_function_options *options);
/*
 * Sets an option, by the name that it has in the command, and value as a word of the command; NULL
 * for a flag. docs/cli.md says what each does:
 *
 *     schedule (but not replay), timing, numerics, seed, sms, resident, threads, max-steps,
 *     max-memory (a number of bytes), non-finite, full-arrays
 *
 * and the flag checked: each call runs under the race checker, too. What that finds goes to report
 * (grout_function_options_set_callbacks), and an error makes the call false. A call that is true is
 * clean under the schedule and timing of these options.
 *
 * Numbers are decimal digits. False: a bad-argument says what is wrong, unless diags is NULL, and
 * nothing was set.
 */
GROUT_API bool grout_function_options_set(grout_function_options *options, const char *option,
                                          const char *value, grout_diags *diags);
/* The functions that the kernel calls; borrowed until what is made with the options is freed. */
GROUT_API void grout_function_options_use_externs(grout_function_options *options,
                                                  const grout_externs *externs);

/* Whom a call tells what, in its OS thread. Each may be NULL. */
typedef struct grout_function_callbacks {
    /* Gets what a call has to say, at its end, if that is anything: why it failed, and warnings of
     * the checker. The list belongs to the call, and is NULL if there was no memory for one. */
    void (*report)(void *payload, const grout_diags *diags);
    /* Asked every some operations; false ends the call, interrupted. */
    bool (*progress)(void *payload, const grout_progress *progress);
    /* Gets each line of debug_print. */
    void (*print)(void *payload, const char *line);
    void *payload;
} grout_function_callbacks;
GROUT_API void grout_function_options_set_callbacks(grout_function_options *options,
                                                    const grout_function_callbacks *callbacks);

typedef struct grout_kernel_function grout_kernel_function;

/* Makes the function of a kernel of a bound and verified module, which is borrowed until the
 * function is freed. The options are copied; NULL: the defaults. NULL: reasons in diags. */
GROUT_API grout_kernel_function *grout_kernel_function_new(const grout_module *bound,
                                                           grout_kernel_id kernel,
                                                           const grout_function_options *options,
                                                           grout_diags *diags);
/* Ends it: the C function must not be called any more, nor be running. */
GROUT_API void grout_kernel_function_free(grout_kernel_function *function);

/*
 * The C function, which belongs to function. To be converted to the kernel's own signature, with
 * one argument for each parameter, in order, and the result bool:
 *
 *     an array         const grout_array *, with exactly the parameter's type and shape
 *     i8 .. i64        int8_t .. int64_t, u8 .. u64 likewise
 *     f32, f64         float, double
 *     bool             bool
 *     f16, bf16        uint16_t, the bits; the 8-bit floats: uint8_t, the bits
 *
 * A call runs the whole launch and returns true when that has come to its end (and no error was
 * found, if it is checked). It returns false and reports why if an argument is NULL or of another
 * type or shape, if arrays have bytes in common one of which the kernel writes, if the launch
 * deadlocks, is interrupted or reaches its limit of steps, and without memory. Nothing is written
 * if the arguments are wrong.
 *
 * Several OS threads may call it at once if the allocator may be used so, and if the callbacks may
 * be called so; the calls' arrays are apart, or only read.
 */
GROUT_API grout_any_function *grout_kernel_function_get(const grout_kernel_function *function);

#ifdef __cplusplus
}
#endif
#endif
