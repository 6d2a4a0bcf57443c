/* names.c - identifiers of the emitted CUDA: what a kernel's names may not be, and what types are
 * called.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Words of C++, of CUDA, and the emitter's own locals. Sorted. */
static const char *const reserved[] = {
    "EOF",          "NULL",          "abs",         "address",   "alignas",   "alignof",
    "and",          "and_eq",        "asm",         "assert",    "at_col",    "at_row",
    "atomicAdd",    "atomicExch",    "auto",        "band",      "bitand",    "bitor",
    "blockDim",     "blockIdx",      "bool",        "break",     "case",      "catch",
    "char",         "char16_t",      "char32_t",    "char8_t",   "chunk",     "class",
    "cluster",      "co_await",      "co_return",   "co_yield",  "compl",     "concept",
    "const",        "const_cast",    "consteval",   "constexpr", "constinit", "continue",
    "decltype",     "default",       "delete",      "do",        "dog",       "double",
    "dynamic_cast", "else",          "enum",        "errno",     "exchange",  "explicit",
    "export",       "extern",        "false",       "flat",      "float",     "for",
    "friend",       "goto",          "gridDim",     "i386",      "if",        "inline",
    "int",          "is_turned",     "lane",        "linux",     "long",      "main",
    "max",          "memcpy",        "memset",      "min",       "mutable",   "namespace",
    "new",          "noexcept",      "not",         "not_eq",    "nullptr",   "operator",
    "or",           "or_eq",         "panel",       "part",      "printf",    "private",
    "protected",    "public",        "rank",        "reg",       "register",  "reinterpret_cast",
    "requires",     "return",        "short",       "signed",    "sizeof",    "smem",
    "static",       "static_assert", "static_cast", "stderr",    "stdin",     "stdout",
    "struct",       "switch",        "template",    "this",      "thread",    "threadIdx",
    "thread_local", "throw",         "tmem",        "true",      "try",       "typedef",
    "typeid",       "typename",      "uint4",       "union",     "unix",      "unsigned",
    "using",        "virtual",       "void",        "volatile",  "warp",      "warpSize",
    "wchar_t",      "while",         "xor",         "xor_eq",
};

/* Functions that a kernel, being one itself, must not be called. Sorted. */
static const char *const functions[] = {
    "acos",
    "acosf",
    "acosh",
    "acoshf",
    "asin",
    "asinf",
    "asinh",
    "asinhf",
    "atan",
    "atan2",
    "atan2f",
    "atanf",
    "atanh",
    "atanhf",
    "cbrt",
    "cbrtf",
    "ceil",
    "ceilf",
    "clock",
    "clockf",
    "copysign",
    "copysignf",
    "cos",
    "cosf",
    "cosh",
    "coshf",
    "cospi",
    "cospif",
    "cyl_bessel_i0",
    "cyl_bessel_i0f",
    "erf",
    "erfc",
    "erfcf",
    "erfcinv",
    "erfcinvf",
    "erfcx",
    "erfcxf",
    "erff",
    "erfinv",
    "erfinvf",
    "exit",
    "exitf",
    "exp",
    "exp10",
    "exp10f",
    "exp2",
    "exp2f",
    "expf",
    "expm1",
    "expm1f",
    "fabs",
    "fabsf",
    "fdim",
    "fdimf",
    "floor",
    "floorf",
    "fma",
    "fmaf",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "fmod",
    "fmodf",
    "free",
    "freef",
    "frexp",
    "frexpf",
    "hypot",
    "hypotf",
    "ilogb",
    "ilogbf",
    "isfinite",
    "isfinitef",
    "isinf",
    "isinff",
    "isnan",
    "isnanf",
    "j0",
    "j0f",
    "j1",
    "j1f",
    "jn",
    "jnf",
    "labs",
    "labsf",
    "ldexp",
    "ldexpf",
    "lgamma",
    "lgammaf",
    "llabs",
    "llabsf",
    "llrint",
    "llrintf",
    "llround",
    "llroundf",
    "log",
    "log10",
    "log10f",
    "log1p",
    "log1pf",
    "log2",
    "log2f",
    "logb",
    "logbf",
    "logf",
    "lrint",
    "lrintf",
    "lround",
    "lroundf",
    "malloc",
    "mallocf",
    "memcmp",
    "memcmpf",
    "memmove",
    "memmovef",
    "modf",
    "modff",
    "nan",
    "nanf",
    "nearbyint",
    "nearbyintf",
    "nextafter",
    "nextafterf",
    "norm",
    "norm3d",
    "norm3df",
    "norm4d",
    "norm4df",
    "normcdf",
    "normcdff",
    "normf",
    "pow",
    "powf",
    "puts",
    "putsf",
    "rcbrt",
    "rcbrtf",
    "remainder",
    "remainderf",
    "remquo",
    "remquof",
    "rhypot",
    "rhypotf",
    "rint",
    "rintf",
    "rnorm",
    "rnormf",
    "round",
    "roundf",
    "rsqrt",
    "rsqrtf",
    "scalbn",
    "scalbnf",
    "select",
    "selectf",
    "sin",
    "sincos",
    "sincosf",
    "sincospi",
    "sincospif",
    "sinf",
    "sinh",
    "sinhf",
    "sinpi",
    "sinpif",
    "sqrt",
    "sqrtf",
    "strlen",
    "strlenf",
    "system",
    "systemf",
    "tan",
    "tanf",
    "tanh",
    "tanhf",
    "tgamma",
    "tgammaf",
    "time",
    "timef",
    "trunc",
    "truncf",
    "y0",
    "y0f",
    "y1",
    "y1f",
    "yn",
    "ynf",
};

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "t12" and "x12": names that the emitter gives to values without one, and to coordinates. */
static bool is_numbered(const char *name) {
    if (name[0] != 't' && name[0] != 'x') {
        return false;
    }
    return name[1] != '\0' && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static bool is_listed(const char *const *list, size_t count, const char *name) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, list[middle]);
        if (order == 0) {
            return true;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return false;
}

/* Whether a list can be searched by halves. */
static bool is_sorted(const char *const *list, size_t count) {
    for (size_t k = 1; k < count; k++) {
        if (strcmp(list[k - 1], list[k]) >= 0) {
            return false;
        }
    }
    return true;
}

bool grout_gpu__is_reserved_name(const char *name) {
    GROUT_ASSERT_SLOW(is_sorted(reserved, sizeof reserved / sizeof reserved[0]));
    return is_listed(reserved, sizeof reserved / sizeof reserved[0], name) ||
           has_prefix(name, "grout_") || has_prefix(name, "GROUT_") || has_prefix(name, "_") ||
           strstr(name, "__") != NULL || strstr(name, "_map") != NULL ||
           strstr(name, "_phases") != NULL || strstr(name, "_space_") != NULL || is_numbered(name);
}

grout_gpu_name grout_gpu__get_map_name(const grout_module *module, const grout_gpu_map *map) {
    grout_gpu_name name;
    const char *array = grout_gpu__get_object_name(module, map->object);
    if (map->number == 1) {
        (void)snprintf(name.text, sizeof name.text, "%s_map", array);
    } else {
        (void)snprintf(name.text, sizeof name.text, "%s_map_%" PRIu32, array, map->number);
    }
    return name;
}

grout_gpu_name grout_gpu__get_workspace_name(const grout_module *module, const grout_gpu_plan *plan,
                                             uint32_t workspace) {
    grout_gpu_name name;
    GROUT_ASSERT(workspace < plan->workspace_count);
    (void)snprintf(name.text, sizeof name.text, "%s_space_%" PRIu32,
                   grout_gpu__get_object_name(module, plan->workspaces[workspace].object),
                   workspace);
    return name;
}

void grout_gpu__get_symbol(const char *kernel_name, char symbol_out[GROUT_GPU_SYMBOL_MAX]) {
    const bool is_taken = grout_gpu__is_reserved_name(kernel_name) ||
                          is_listed(functions, sizeof functions / sizeof functions[0], kernel_name);
    GROUT_ASSERT_SLOW(is_sorted(functions, sizeof functions / sizeof functions[0]));
    (void)snprintf(symbol_out, GROUT_GPU_SYMBOL_MAX, "%s%s", kernel_name,
                   is_taken ? "_kernel" : "");
}

const char *grout_gpu__get_type_name(grout_dtype dtype) {
    static const char *const names[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_NONE] = "void",
#define GROUT_DTYPE(NAME, TEXT, BITS, CLASS, USE, POISON, DOC) [GROUT_DTYPE_##NAME] = "grout_" TEXT,
#include "grout/types.def"
    };
    GROUT_ASSERT(dtype < GROUT_DTYPE_COUNT);
    return dtype == GROUT_DTYPE_BOOL ? "bool" : names[dtype];
}
