/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h - a kernel as a plain C function, which runs it on the CPU.
 *
 *     kernel @scale(%x: in gmem f32[N], %by: f32, %y: out gmem f32[N]) ...
 *
 *     typedef bool scale_function(const grout_array *x, float by, const grout_array *y);
 *
 *     grout_kernel_function *function = grout_kernel_function_new(&options, diags);
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
 *     launch.externs = grout_externs_get(externs, &launch.extern_count);
 */
#ifndef GROUT_FUNCTION_H
#define GROUT_FUNCTION_H

#include "grout/interp.h"

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

struct grout_check_summary; /* race.h */

typedef struct grout_kernel_function grout_kernel_function;

typedef struct grout_kernel_function_options {
    /* The kernel, and how it runs. module: bound and verified. Each call gives the arguments: the
     * launch has none. What it points to is borrowed until the function is freed. */
    grout_launch launch;
    /* Each call runs under the race checker, too; what it finds goes to report, and an error makes
     * the call false. Takes one of the launch's observers. A call that is true is clean under the
     * launch's schedule and timing; whether that holds for every other one, judge hears. */
    bool is_checked;
    /*
     * Gets what a call has to say, at its end and in its OS thread, if that is anything: why it
     * failed, and warnings of the checker. The list belongs to the call, and is NULL if there was
     * no memory for one. May be NULL: it is dropped.
     */
    void (*report)(void *payload, const grout_diags *diags);
    /*
     * Gets the verdict of each checked call whose arguments are right, at its end and before
     * report: is_well_synchronised says whether it holds for every schedule and timing of this
     * launch, and not_well_synchronised_because why not. The strings last as long as judge. May be
     * NULL.
     */
    void (*judge)(void *payload, const struct grout_check_summary *summary);
    void *payload;
} grout_kernel_function_options;

/* Makes the function. The options are copied. NULL: reasons in diags. */
GROUT_API grout_kernel_function *grout_kernel_function_new(
    const grout_kernel_function_options *options, grout_diags *diags);
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
 * Several OS threads may call it at once if the launch has no observers and no record, if its
 * allocator may be used so, and if report and the launch's callbacks may be called so; the calls'
 * arrays are apart, or only read.
 */
GROUT_API grout_any_function *grout_kernel_function_get(const grout_kernel_function *function);

/* ---- C functions that kernels call ----------------------------------------------------------- */

/*
 * A C function by the name that an extern_elementwise says. Its parameters are the elements of the
 * operands, in order, and its result the written type, as scalars are above: f32 is float, i32 is
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
/* For launch.externs and launch.extern_count; they belong to externs. One whose function is not
 * given has none: the launch says so (extern-missing). */
GROUT_API const grout_extern *grout_externs_get(const grout_externs *externs, uint32_t *count_out);

#ifdef __cplusplus
}
#endif
#endif
