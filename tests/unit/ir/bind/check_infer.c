/* check_infer.c - the type of every value: literals, shapes, regions; and what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* A statement that defines %r, and the type of %r; or the code that refuses it. */
typedef struct infer_case {
    const char *statement;
    const char *type; /* NULL: refused */
    grout_diag_code code;
} infer_case;

#define MISMATCH GROUT_DIAG_TYPE_MISMATCH
#define CLASS    GROUT_DIAG_TYPE_CLASS
#define CAST     GROUT_DIAG_BAD_CAST
#define SHAPE    GROUT_DIAG_SHAPE_MISMATCH
#define KIND     GROUT_DIAG_OPERAND_KIND
#define REGION   GROUT_DIAG_BAD_REGION
#define INDEX    GROUT_DIAG_BAD_INDEX
#define LITERAL  GROUT_DIAG_BAD_LITERAL
#define ATTR     GROUT_DIAG_BAD_ATTRIBUTE

static const infer_case infer_cases[] = {
    /* literals take the type of the other operand */
    {"%r = add %n, 1", "i32", 0},
    {"%r = add 1, %n", "i32", 0},
    {"%r = add %x, 1", "f32", 0},
    {"%r = add %x, 1.5", "f32", 0},
    {"%r = add %u, 4294967295", "u32", 0},
    {"%r = add 1, 2", "i32", 0},
    {"%r = add 1, 2.5", "f32", 0},
    {"%r = and %p, true", "bool", 0},
    {"%r = eq true, false", "bool", 0},
    {"%r = lt true, false", NULL, CLASS},
    {"%r = add %n, i32:-3", "i32", 0},
    {"%r = add %n, i64:-3", NULL, MISMATCH},
    {"%r = add %u, u32:4294967295", "u32", 0},
    {"%r = add u64:18446744073709551615, 1", "u64", 0},
    {"%r = add i8:-128, 127", "i8", 0},
    {"%r = add i8:-128, 128", NULL, LITERAL},
    {"%r = mul f64:0.1, 2", "f64", 0},
    {"%r = mul f16:65504.0, 2", "f16", 0},
    {"%r = mul f16:65520.0, 2", NULL, LITERAL},
    {"%r = mul f8e4m3:1.0, 2", NULL, CLASS},
    {"%r = cast f64:nan : f16", "f16", 0},
    {"%r = cast f8e4m3:inf : f16", NULL, LITERAL},
    {"%r = add %x, f32:0x7fc00001", "f32", 0},
    {"%r = fma %row, %x, 1", "f32[64]", 0},
    {"%r = add %n, 1.5", NULL, MISMATCH},
    {"%r = and %p, 1", NULL, MISMATCH},
    {"%r = add %n, f32:0x7fc00001", NULL, MISMATCH},
    {"%r = add %u, -1", NULL, LITERAL},
    {"%r = add %n, 2147483648", NULL, LITERAL},
    {"%r = add %x, 1e39", NULL, LITERAL},
    /* no implicit casts */
    {"%r = add %n, %x", NULL, MISMATCH},
    {"%r = add %n, %u", NULL, MISMATCH},
    {"%r = fma %x, %x, %n", NULL, MISMATCH},
    /* classes */
    {"%r = rem %n, 3", "i32", 0},
    {"%r = rem %x, 3.0", NULL, CLASS},
    {"%r = fma %n, %n, %n", NULL, CLASS},
    {"%r = not %p", "bool", 0},
    {"%r = not %x", NULL, CLASS},
    {"%r = add %h, %h", "bf16", 0},
    {"%r = select %p, %h, %h", "bf16", 0},
    {"%r = mul %h, 1.5", "bf16", 0},
    {"%r = mul 3, %h", "bf16", 0},
    {"%r = max %h, -inf", "bf16", 0},
    {"%r = max %row, -inf", "f32[64]", 0},
    {"%r = add %h, bf16:0x3f80", "bf16", 0},
    {"%r = add %h, f16:0x3c00", NULL, MISMATCH},
    {"%r = add f16:0x3c00, 1.5", "f16", 0},
    {"%r = add f16:0x3c00, bf16:0x3f80", NULL, MISMATCH},
    {"%r = add (cast %x : f16), 65504", "f16", 0},
    {"%r = add (cast %x : f16), 65520", NULL, LITERAL},
    {"%r = add %h, %x", NULL, MISMATCH},
    {"%r = lt %h, 0", "bool", 0},
    {"%r = sign %h", "bf16", 0},
    {"%r = fma %h, 2, 1", "bf16", 0},
    {"%r = rem %h, 2", NULL, CLASS},
    {"%r = add %e, %e", NULL, CLASS},
    {"%r = add %e, 1.0", NULL, CLASS},
    {"%r = select %p, %e, %e", "f8e5m2", 0},
    {"%r = layout_cast (broadcast %e : f8e5m2[128]) wg_strided", "f8e5m2[128]", 0},
    /* every arithmetic type */
    {"%r = add (cast %n : i8), 127", "i8", 0},
    {"%r = add (cast %n : i8), 128", NULL, LITERAL},
    {"%r = cdiv (cast %n : u16), 65535", "u16", 0},
    {"%r = shr (cast %n : u64), 63", "u64", 0},
    {"%r = fma (cast %x : f64), 0.5, 1", "f64", 0},
    {"%r = and (cast %x : f64), 1", NULL, CLASS},
    {"%r = clz (cast %n : i16)", "i16", 0},
    {"%r = clz %x", NULL, CLASS},
    {"%r = is_finite %h", "bool", 0},
    {"%r = is_finite %n", NULL, CLASS},
    {"%r = clamp %n, 0, 7", "i32", 0},
    {"%r = clamp %x, %n, 7", NULL, MISMATCH},
    {"%r = copysign %h, -1", "bf16", 0},
    {"%r = atan2 %x, 1 approx", "f32", 0},
    {"%r = pow %n, 2", NULL, CLASS},
    {"%r = reduce_and (gt %row, 0)", "bool", 0},
    {"%r = reduce_and %row", NULL, CLASS},
    {"%r = reduce_prod (gt %row, 0)", NULL, CLASS},
    /* bits */
    {"%r = bitcast %x : u32", "u32", 0},
    {"%r = bitcast %row : i32", "i32[64]", 0},
    {"%r = bitcast %h : f16", "f16", 0},
    {"%r = bitcast 1.0 : u32", "u32", 0},
    {"%r = bitcast u64:1 : f64", "f64", 0},
    {"%r = bitcast %x : u16", NULL, CAST},
    {"%r = bitcast %x : f64", NULL, CAST},
    {"%r = bitcast %p : u8", NULL, CLASS},
    {"%r = bitcast %e : bool", NULL, CLASS},
    {"%r = bitcast %row : u32[64]", NULL, CAST},
    /* math */
    {"%r = exp %x", "f32", 0},
    {"%r = exp2 %row approx", "f32[64]", 0},
    {"%r = logistic %h", "bf16", 0},
    {"%r = erf 1.5", "f32", 0},
    {"%r = sqrt %all", "f32[8, 64]", 0},
    {"%r = round %n", NULL, CLASS},
    {"%r = tanh %u", NULL, CLASS},
    {"%r = log2 2", NULL, CLASS},
    {"%r = rsqrt %a", NULL, KIND},
    {"%r = sign %n", "i32", 0},
    {"%r = sign %p", NULL, CLASS},
    {"%r = neg %p", NULL, CLASS},
    {"%r = lt %p, %p", NULL, CLASS},
    /* shapes */
    {"%r = add %row, %row", "f32[64]", 0},
    {"%r = add %row, %x", "f32[64]", 0},
    {"%r = mul 2, %row", "f32[64]", 0},
    {"%r = lt %row, 0", "bool[64]", 0},
    {"%r = add %row, %all", NULL, SHAPE},
    {"%r = neg %n + 1", "i32", 0},
    {"%r = neg %row + 1.0", NULL, KIND},
    {"%r = neg (%row + 1.0) * %row", NULL, KIND},
    {"%r = neg min(2.0, %row)", NULL, KIND},
    {"%r = neg -%row", NULL, KIND},
    {"%r = select (lt %row, 0), %row, 0", "f32[64]", 0},
    {"%r = select %p, %row, 0", "f32[64]", 0},
    {"%r = select (lt %row, 0), 1, 2", "i32[64]", 0},
    {"%r = select (lt %row, 0), %all, %all", NULL, SHAPE},
    {"%r = select %n, 1, 2", NULL, MISMATCH},
    {"%r = select true, 1.0, 2", "f32", 0},
    /* written types */
    {"%r = cast %row : bf16", "bf16[64]", 0},
    {"%r = cast %n : f32", "f32", 0},
    {"%r = cast 3 : bf16", "bf16", 0},
    {"%r = cast %row : bf16[64]", NULL, GROUT_DIAG_BAD_CAST},
    {"%r = broadcast %x : f32[3, 4]", "f32[3, 4]", 0},
    {"%r = broadcast %row : f32[3, 64]", "f32[3, 64]", 0},
    {"%r = broadcast %h : bf16[4]", "bf16[4]", 0},
    {"%r = broadcast 1 : bf16[4]", "bf16[4]", 0},
    {"%r = broadcast 256 : u8[4]", NULL, LITERAL},
    {"%r = broadcast 0.5 : u8[4]", NULL, MISMATCH},
    {"%r = broadcast %row : f32[64, 3]", NULL, SHAPE},
    {"%r = broadcast %all : f32[64]", NULL, SHAPE},
    {"%r = broadcast %row dim(0) : f32[64, 3]", "f32[64, 3]", 0},
    {"%r = broadcast %row dim(1) : f32[2, 64, 3]", "f32[2, 64, 3]", 0},
    {"%r = broadcast %row dim(2) : f32[2, 3, 64]", "f32[2, 3, 64]", 0},
    /* in a square it has to be said which way */
    {"%r = broadcast %row : f32[64, 64]", NULL, SHAPE},
    {"%r = broadcast %row : f32[64, 3, 64]", NULL, SHAPE},
    {"%r = broadcast %row dim(1) : f32[64, 64]", "f32[64, 64]", 0},
    {"%r = broadcast %row : f32[1, 64]", "f32[1, 64]", 0},
    {"%r = broadcast (broadcast 1.0 : f32[1]) : f32[1, 1]", "f32[1, 1]", 0},
    {"%r = broadcast %all dim(0) : f32[8, 64, 3]", "f32[8, 64, 3]", 0},
    {"%r = broadcast (load %a[ds(0, 1)]) dim(1) : f32[2, 5, 64]", "f32[2, 5, 64]", 0},
    {"%r = broadcast %row dim(0) : f32[3, 64]", NULL, SHAPE},
    {"%r = broadcast %row dim(2) : f32[64, 3]", NULL, ATTR},
    {"%r = broadcast %row dim(-1) : f32[3, 64]", NULL, ATTR},
    {"%r = broadcast %all dim(1) : f32[8, 64]", NULL, ATTR},
    {"%r = broadcast %all dim(0) : f32[64]", NULL, SHAPE},
    {"%r = broadcast %x dim(0) : f32[3]", NULL, ATTR},
    {"%r = broadcast 1.0 dim(0) : f32[3]", NULL, ATTR},
    {"%r = broadcast %row dim(0.5) : f32[64, 3]", NULL, GROUT_DIAG_CONST_TYPE},
    {"%r = broadcast %x : i32[3]", NULL, MISMATCH},
    {"%r = broadcast %x : f32[0]", NULL, GROUT_DIAG_BAD_DIMENSION},
    {"%r = broadcast %x : f32[1024, 1024]", "f32[1024, 1024]", 0},
    {"%r = broadcast %x : f32[1024, 1025]", NULL, GROUT_DIAG_BAD_DIMENSION},
    {"%r = broadcast %x : f32[1 << 30, 1 << 30, 1 << 30]", NULL, GROUT_DIAG_BAD_DIMENSION},
    {"%r = iota dim(1) : i32[3, 4]", "i32[3, 4]", 0},
    {"%r = iota dim(0) : bf16[4]", "bf16[4]", 0},
    {"%r = iota dim(0) : bool[4]", NULL, CLASS},
    /* reductions and layouts */
    {"%r = reduce_sum %all", "f32", 0},
    {"%r = reduce_sum %all dim(0)", "f32[64]", 0},
    {"%r = reduce_max %all dim(1)", "f32[8]", 0},
    {"%r = reduce_min %row dim(0)", "f32", 0},
    {"%r = reduce_min %row", "f32", 0},
    /* slice, reshape, concatenate */
    {"%r = slice %all[ds(0, 8), ds(63, 1)]", "f32[8, 1]", 0},
    {"%r = slice %all[7]", "f32[64]", 0},
    {"%r = slice %all[:, 63]", "f32[8]", 0},
    {"%r = slice %all[7, 63]", "f32", 0},
    {"%r = slice (cast %all : bf16)[:]", "bf16[8, 64]", 0},
    {"%r = slice %all[8]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[-1]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[:, 64]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(0, 9)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(1, 8)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(-1, 8)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(0, 0)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(1 << 40, 1)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[ds(1, (1 << 62) * 2 - 1)]", NULL, GROUT_DIAG_CONST_OVERFLOW},
    {"%r = slice %all[ds(1, 1 << 62)]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[0, 0, 0]", NULL, GROUT_DIAG_BAD_INDEX},
    {"%r = slice %all[0.5]", NULL, GROUT_DIAG_CONST_TYPE},
    {"%r = slice %x[:]", NULL, SHAPE},
    {"%r = slice %a[0]", NULL, KIND},
    {"%r = reshape %all : f32[512]", "f32[512]", 0},
    {"%r = reshape %row : f32[1, 64, 1]", "f32[1, 64, 1]", 0},
    {"%r = reshape (slice %row[ds(3, 1)]) : f32[]", "f32[]", 0},
    {"%r = reshape %row : f32[63]", NULL, SHAPE},
    {"%r = reshape %row : f32[65]", NULL, SHAPE},
    {"%r = reshape %row : f32", NULL, SHAPE},
    {"%r = reshape %row : i32[64]", NULL, MISMATCH},
    {"%r = reshape %row : f32[0]", NULL, GROUT_DIAG_BAD_DIMENSION},
    {"%r = reshape %x : f32[1]", NULL, SHAPE},
    {"%r = reshape 1.0 : f32[1]", NULL, SHAPE},
    {"%r = concatenate %row, %row dim(0)", "f32[128]", 0},
    {"%r = concatenate %all, (slice %all[ds(0, 3)]), %all dim(0)", "f32[19, 64]", 0},
    {"%r = concatenate %all, (slice %all[:, ds(0, 3)]) dim(1)", "f32[8, 67]", 0},
    {"%r = concatenate %all dim(1)", "f32[8, 64]", 0},
    {"%r = concatenate %all, %all", NULL, ATTR},
    {"%r = concatenate %all, %all dim(2)", NULL, ATTR},
    {"%r = concatenate %all, %all dim(-1)", NULL, ATTR},
    {"%r = concatenate %all, %row dim(0)", NULL, SHAPE},
    {"%r = concatenate %all, (slice %all[:, ds(0, 3)]) dim(0)", NULL, SHAPE},
    {"%r = concatenate %row, (cast %row : bf16) dim(0)", NULL, MISMATCH},
    {"%r = concatenate %row, %x dim(0)", NULL, SHAPE},
    {"%r = concatenate %x, %row dim(0)", NULL, SHAPE},
    {"%r = concatenate %row, 1.0 dim(0)", NULL, SHAPE},
    {"%w = broadcast %x : f32[512, 1024]\n  %r = concatenate %w, %w dim(1)", "f32[512, 2048]", 0},
    {"%w = broadcast %x : f32[512, 1025]\n  %r = concatenate %w, %w dim(1)", NULL,
     GROUT_DIAG_BAD_DIMENSION},
    {"%r = extern_elementwise \"f\" : i8", "i8", 0},
    {"%r = extern_elementwise \"f\", %row, %n, 1.5, true : bf16", "bf16[64]", 0},
    {"%r = extern_elementwise \"f\", %n, (broadcast %h : bf16[64]), %row : bool", "bool[64]", 0},
    {"%r = extern_elementwise \"f\", %all, %row : f32", NULL, SHAPE},
    {"%r = extern_elementwise \"f\", %all : f32[8, 64]", NULL, GROUT_DIAG_BAD_CAST},
    {"%r = extern_elementwise \"f\", %a : f32", NULL, KIND},
    {"%r = inline_ptx \"f\", \"t\", %row, %n, 1.5 : bf16", "bf16[64]", 0},
    {"%r = inline_ptx \"f\", \"t\", %all, %row : f32", NULL, SHAPE},
    {"%r = inline_ptx \"f\", \"t\", %a : f32", NULL, KIND},
    {"%r = reduce_sum (broadcast %h : bf16[4, 5, 6]) dim(1)", "bf16[4, 6]", 0},
    {"%r = reduce_max (broadcast %n : i32[4])", "i32", 0},
    {"%r = reduce_max (broadcast %n : i32[])", "i32", 0},
    {"%r = reduce_max (broadcast %n : i32[]) dim(0)", NULL, ATTR},
    {"%r = reduce_sum %all dim(2)", NULL, ATTR},
    {"%r = reduce_sum %all dim(-1)", NULL, ATTR},
    {"%r = reduce_sum %x", NULL, SHAPE},
    {"%r = reduce_sum 1.0", NULL, SHAPE},
    {"%r = reduce_sum %a", NULL, KIND},
    {"%r = reduce_max (lt %row, 0)", NULL, CLASS},
    {"%r = layout_cast %all wgmma", "f32[8, 64]", 0},
    {"%r = layout_cast (lt %row, 0) wgmma_col", "bool[64]", 0},
    {"%r = layout_cast %x wgmma", NULL, SHAPE},
    {"%r = layout_cast %a wgmma", NULL, KIND},
    /* memory */
    {"%r = load %a", "f32[8, 64]", 0},
    {"%r = load %a[3]", "f32[64]", 0},
    {"%r = load %a[%n, %n + 1]", "f32", 0},
    {"%r = load %a[ds(%n, 4), ds(0, 16)]", "f32[4, 16]", 0},
    {"%r = load %a[:, 3]", "f32[8]", 0},
    {"%r = load %a.transpose(1, 0)", "f32[64, 8]", 0},
    {"%r = load %a.transpose(1, 0)[3]", "f32[8]", 0},
    {"%r = load %a[ds(0, 4)][1][ds(2, 8)]", "f32[8]", 0},
    {"%r = load %a[0, 0, 0]", NULL, INDEX},
    {"%r = load %a[ds(0, 0)]", NULL, INDEX},
    {"%r = load %a[%x]", NULL, MISMATCH},
    {"%r = load %a[%u]", NULL, MISMATCH},
    {"%r = load %a.transpose(1)", NULL, INDEX},
    {"%r = load %a.transpose(0, 2)", NULL, INDEX},
    {"%r = load %x", NULL, KIND},
    {"%r = load %row[0]", NULL, KIND},
    {"%r = load %bar", NULL, KIND},
    {"%r = add %a, 1.0", NULL, KIND},
    {"%r = axis_index g", "i32", 0},
    {"%r = load %acc", "f32[64, 64]", 0},
    {"%r = acc_load %acc wait(0)", "f32[64, 64]", 0},
    {"%r = acc_load %acc[:, ds(8, 16)]", "f32[64, 16]", 0},
    {"%r = acc_load %x", NULL, KIND},
    {"%r = add %acc, 1.0", NULL, KIND},
    /* regions */
    {"%r = for %i in 0..%n carry(%c = 0.0) {\n yield (add %c, 1)\n }", "f32", 0},
    {"%r = for %i in 0..4 carry(%c = 0) {\n yield %i\n }", "i32", 0},
    {"%r = for %i in 0..4 carry(%c = %row) {\n yield (add %c, %row)\n }", "f32[64]", 0},
    {"%r = for %i in 0..4 carry(%c = 0) {\n yield %x\n }", NULL, REGION},
    {"%r = for %i in 0..4 carry(%c = %row) {\n yield %all\n }", NULL, REGION},
    {"%r = for %i in 0..4 carry(%c = 0, %d = 0) {\n yield 1, 2\n }", NULL, REGION},
    {"%r = for %i in 0..%x carry(%c = 0) {\n yield %c\n }", NULL, MISMATCH},
    {"%r = while carry(%c = 0) {\n cond (lt %c, 5)\n } do {\n yield (add %c, 1)\n }", "i32", 0},
    {"%r = while carry(%c = 1.0) {\n cond (lt %c, 5)\n } do {\n yield 3\n }", "f32", 0},
    {"%r, %s = while carry(%c = %row, %d = %p) {\n %m = neg %c\n cond %d\n } do {\n"
     " yield %m, (not %d)\n }",
     "f32[64]", 0},
    {"%r = while carry(%c = 0) {\n cond %c\n } do {\n yield %c\n }", NULL, MISMATCH},
    {"%r = while carry(%c = 0) {\n cond 1\n } do {\n yield %c\n }", NULL, MISMATCH},
    {"%r = while carry(%c = %row) {\n cond (lt %c, 0)\n } do {\n yield %c\n }", NULL, MISMATCH},
    {"%r = while carry(%c = 0) {\n cond %p\n } do {\n yield %x\n }", NULL, REGION},
    {"%r = while carry(%c = 0, %d = 1) {\n cond %p\n } do {\n yield %c, %d\n }", NULL, REGION},
    {"%r = while carry(%c = 0) {\n cond %p\n } do {\n yield %c, %c\n }", NULL, REGION},
    {"%r = while {\n cond %p\n } do {\n yield 1\n }", NULL, REGION},
    {"%r = while carry(%c = %acc) {\n cond %p\n } do {\n yield %c\n }", NULL, KIND},
    {"%r = if %p {\n yield %n\n } else {\n yield 3\n }", "i32", 0},
    {"%r = if %p {\n yield 3\n } else {\n yield %x\n }", "f32", 0},
    {"%r = if %p {\n yield 3\n } else {\n yield 4.5\n }", "f32", 0},
    {"%r = if %p {\n yield %row\n } else {\n yield %all\n }", NULL, REGION},
    {"%r = if %p {\n yield %row\n } else {\n yield 0.0\n }", NULL, REGION},
    {"%r = if %n {\n yield 3\n } else {\n yield 4\n }", NULL, MISMATCH},
    {"%r = if %p {\n yield 3\n }", NULL, REGION},
    {"%r = if %p {\n yield %a\n } else {\n yield %a\n }", NULL, KIND},
    {"%r = scoped(%t : smem f32[4]) {\n yield (load %t)\n }", "f32[4]", 0},
    {"%r = scoped(%t : acc f32[64, 8]) {\n yield (load %t)\n }", "f32[64, 8]", 0},
    {"%r = scoped(%t : acc f32[64, 8]) {\n yield %t\n }", NULL, GROUT_DIAG_USE_AFTER_SCOPE},
};

static bound_text bind_statement(const char *statement) {
    char source[1024];
    snprintf(
        source, sizeof source,
        "kernel @k(%%a: in gmem f32[8, 64], %%h0: in gmem bf16[1], %%n: i32, %%x: f32, %%u: u32,\n"
        "    %%b: out gmem f32[8, 64], %%p: bool, %%e0: in gmem f8e5m2[1]) grid(g = 2)\n"
        "{\n  scratch %%bar : barrier[2]\n  %%row = load %%a[0]\n  %%all = load %%a\n"
        "  scratch %%acc : acc f32[64, 64]\n  %%e = load %%e0[0]\n"
        "  %%h = load %%h0[0]\n  %s\n}\n",
        statement);
    return bind_text(source, NULL, 0);
}

TEST_EACH(results, COUNT_OF(infer_cases)) {
    const infer_case *c = &infer_cases[_i];
    bound_text text = bind_statement(c->statement);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->statement, get_said(text.diags));
    ck_assert_msg(grout_diags_count(text.diags) <= 1, "%s: %s", c->statement, get_said(text.diags));
    if (c->type != NULL) {
        grout_text type = {0};
        grout_type_print(grout_module_get_type(text.bound, find_value(text.bound, "r")), &type);
        ck_assert_str_eq(type.data, c->type);
        grout_text_free(&type);
    }
    free_text(&text);
}

/* Statements without a result. */
static const infer_case statement_cases[] = {
    {"store %b[0], %row", "", 0},
    {"store %b[0, 0], %x", "", 0},
    {"store %b[0, 0], 1", "", 0},
    {"store %b[0], 1.0", NULL, SHAPE},
    {"store %b[0], %all", NULL, SHAPE},
    {"store %b[0, 0], %n", NULL, MISMATCH},
    {"store %b[0, 0], 1e39", NULL, LITERAL},
    {"store %x, 1.0", NULL, KIND},
    {"store %bar[0], 1.0", NULL, KIND},
    {"barrier_wait %bar[1]", "", 0},
    {"barrier_wait %bar", NULL, INDEX},
    {"barrier_wait %a", NULL, KIND},
    {"barrier_wait %x", NULL, KIND},
    {"barrier_wait %bar[0, 0]", NULL, INDEX},
    {"for %i in 0..4 {\n store %b[%i, 0], 1.0\n }", "", 0},
    {"for %i in 0..4294967296 {\n store %b[%i, 0], 1.0\n }", NULL, LITERAL},
    {"debug_print \"{} {} {}\", %n, 1.5, %row", "", 0},
    {"debug_print \"{}\", %h", "", 0},
    {"debug_print \"{}\", %e", "", 0},
    {"store %b[0, 0], f32:1.5", "", 0},
    {"store %b[0, 0], f64:1.5", NULL, MISMATCH},
    {"acc_store %acc, (broadcast 0.0 : f32[64, 64])", "", 0},
    {"acc_store %acc[:, ds(0, 8)], (broadcast 0.0 : f32[64, 8])", "", 0},
    {"acc_store %acc, 0.0", NULL, SHAPE},
    {"acc_store %acc, (broadcast 0 : i32[64, 64])", NULL, MISMATCH},
    {"acc_store %x, 0.0", NULL, KIND},
    {"wgmma %acc, %a, %b", "", 0},
    {"wgmma_async %acc[:, ds(0, 8)], %all, %b.transpose(1, 0)", "", 0},
    {"wgmma %x, %a, %b", NULL, KIND},
    {"wgmma %acc, %x, %b", NULL, KIND},
    {"wgmma %acc, 1.0, %b", NULL, KIND},
    {"wgmma %acc, %bar, %b", NULL, KIND},
    {"wgmma %acc, %a[0, 0, 0], %b", NULL, INDEX},
    {"wgmma %acc, %a, %all", NULL, KIND},
    {"wgmma %bar[0], %a, %b", NULL, KIND},
    {"wgmma_wait 1", "", 0},
    {"wgmma_wait 1.5", NULL, MISMATCH},
    {"set_max_registers 24 decrease", "", 0},
    {"set_max_registers 24.0 decrease", NULL, MISMATCH},
    {"while {\n cond %p\n } do {\n store %b[0, 0], 1.0\n }", "", 0},
    {"while {\n %m = neg %x\n cond (lt %m, 0)\n } do {\n store %b[0, 0], %m\n }", "", 0},
    {"debug_print \"{}\", %a", NULL, KIND},
};

TEST_EACH(statements, COUNT_OF(statement_cases)) {
    const infer_case *c = &statement_cases[_i];
    bound_text text = bind_statement(c->statement);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->statement, get_said(text.diags));
    free_text(&text);
}

/* One fault, one report: what follows from it is not reported again. */
TEST(one_report_a_fault) {
    bound_text text = bind_statement("%q = add %n, %x\n %r = mul %q, 2\n store %b[0, 0], %r\n"
                                     "%w = if (lt %q, 3) {\n yield %r\n } else {\n yield %q\n }\n"
                                     "store %b[%q, 0], %w");
    ck_assert_msg(grout_diags_count(text.diags) == 1, "%s", get_said(text.diags));
    free_text(&text);
}

/* Where a constant says nothing of its type, the operand's dtype answers. */
TEST(constant_dtypes) {
    bound_text text = bind_statement("%r = add %x, 1\n %s = add 2, 3");
    const grout_op *op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_ADD, 0));
    const grout_operand *operand = grout_module_get_operand(text.bound, op, 1);
    ck_assert_int_eq(grout_module_get_operand_dtype(text.bound, operand), GROUT_DTYPE_F32);
    op = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_ADD, 1));
    operand = grout_module_get_operand(text.bound, op, 0);
    ck_assert_int_eq(grout_module_get_operand_dtype(text.bound, operand), GROUT_DTYPE_I32);
    free_text(&text);
}
