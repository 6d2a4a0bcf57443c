/* check_parser.c - each fault of a text: its code, line, column, length, and its sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

typedef struct fault_case {
    const char *text;
    grout_diag_code code;
    uint32_t line, column, length;
    const char *message;
    const char *note; /* of the first note or help, or NULL */
} fault_case;

#define HEAD       "kernel @k(%a: in gmem f32[4], %n: i32) grid(x = 2)\n{\n"
#define BODY(line) HEAD line "\n}\n"
#define FAULT(text, code, line, column, length, message, note) \
    { text, GROUT_DIAG_##code, line, column, length, message, note }

// clang-format off
static const fault_case faults[] = {
    /* the file */
    FAULT("grout 2\n", TEXT_VERSION, 1, 7, 1, "this grout reads version 1 of the text format, not 2", NULL),
    FAULT("grout x\n", SYNTAX, 1, 7, 1, "expected the version of the text format, found 'x'", NULL),
    FAULT("konst A = 1\n", SYNTAX, 1, 1, 5, "expected 'const', 'require', 'kernel', 'launch' or 'check', found 'konst'", "did you mean 'const'?"),
    FAULT("}\n", SYNTAX, 1, 1, 1, "expected 'const', 'require', 'kernel', 'launch' or 'check', found '}'", NULL),
    /* launches */
    FAULT("launch a()\n", SYNTAX, 1, 8, 1, "expected '@' and the name of the kernel to launch, found 'a'", NULL),
    FAULT("launch @a\n", SYNTAX, 2, 1, 0, "expected '(' and what the kernel is given, found the end of the file", NULL),
    FAULT("launch @a(x)\n", SYNTAX, 1, 11, 1, "expected the name of an array or scalar, found 'x'", "values are written with %: '%x'"),
    FAULT("launch @a(%x %y)\n", SYNTAX, 1, 14, 2, "expected ',' or ')', found '%y'", NULL),
    FAULT("launch @a() dependant\n", SYNTAX, 1, 13, 9, "expected 'const', 'require', 'kernel', 'launch' or 'check', found 'dependant'", NULL),
    /* consts */
    FAULT("const add = 1\n", RESERVED_NAME, 1, 7, 3, "'add' is a word of the language and cannot name a const", NULL),
    FAULT("const f32 = 1\n", RESERVED_NAME, 1, 7, 3, "'f32' is a word of the language and cannot name a const", NULL),
    FAULT("const A = 1, A = 2\n", DUPLICATE_NAME, 1, 14, 1, "'A' is defined twice", "first defined here"),
    FAULT("const A = B\n", UNKNOWN_NAME, 1, 11, 1, "there is no const 'B'", "a value is written '%B'; a const is defined by 'const B = ..'"),
    FAULT("const A = WIDHT, WIDTH = 2\n", UNKNOWN_NAME, 1, 11, 5, "there is no const 'WIDHT'", "did you mean 'WIDTH'?"),
    FAULT("const A : f16 = 1.0\n", SYNTAX, 1, 11, 3, "expected 'f32', found 'f16'", NULL),
    FAULT("const A 1\n", SYNTAX, 1, 9, 1, "expected '=' and the value of the const, found '1'", NULL),
    FAULT("const A = \nconst B = 1\n", SYNTAX, 1, 10, 1, "expected a constant, found the end of the line", NULL),
    FAULT("const A = 9223372036854775808\n", BAD_NUMBER, 1, 11, 19, "the number does not fit 64 bits with a sign", NULL),
    FAULT("const A = 1e999\n", BAD_NUMBER, 1, 11, 5, "the number is too large for a 64-bit float", NULL),
    FAULT("const A = f32:0x100000000\n", BAD_NUMBER, 1, 15, 11, "the pattern has more than the 32 bits of 'f32'", NULL),
    FAULT("const A = i32:0x80000000\n", BAD_NUMBER, 1, 15, 10, "the number does not fit 'i32'", NULL),
    FAULT("const A = i8:-129\n", BAD_NUMBER, 1, 15, 3, "the number does not fit 'i8'", NULL),
    FAULT("const A = i8:128\n", BAD_NUMBER, 1, 14, 3, "the number does not fit 'i8'", NULL),
    FAULT("const A = u16:65536\n", BAD_NUMBER, 1, 15, 5, "the number does not fit 'u16'", NULL),
    FAULT("const A = u8:-1\n", BAD_NUMBER, 1, 15, 1, "the number does not fit 'u8'", NULL),
    FAULT("const A = u64:18446744073709551616\n", BAD_NUMBER, 1, 15, 20, "the number does not fit 'u64'", NULL),
    FAULT("const A = i64:-9223372036854775809\n", BAD_NUMBER, 1, 16, 19, "the number does not fit 'i64'", NULL),
    FAULT("const A = i8:1.0\n", SYNTAX, 1, 14, 3, "expected an integer, as in i8:-3, found '1.0'", NULL),
    FAULT("const A = bool:1\n", BAD_NUMBER, 1, 11, 4, "a literal of 'bool' is true or false", NULL),
    FAULT("const A = mun(1, 2)\n", UNKNOWN_NAME, 1, 11, 3, "there is no function 'mun'", "did you mean 'min'?"),
    FAULT("const A = min(1)\n", SYNTAX, 1, 16, 1, "expected ',' and a second argument, found ')'", NULL),
    FAULT("const A = (1 + 2\nconst B = 1\n", SYNTAX, 1, 17, 1, "expected ')', found the end of the line", NULL),
    FAULT("require 1 < 2 < 3, \"x\"\n", SYNTAX, 1, 15, 1, "comparisons do not chain: put one in parentheses", NULL),
    FAULT("require 1 < 2\n", SYNTAX, 2, 1, 0, "expected ',' and the text of the require, found the end of the file", NULL),
    FAULT("require 1 < 2, x\n", SYNTAX, 1, 16, 1, "expected a string, found 'x'", NULL),
    /* kernel headers */
    FAULT("kernel k() {\n}\n", SYNTAX, 1, 8, 1, "expected '@' and the kernel's name, found 'k'", "write 'kernel @k'"),
    FAULT("kernel @k {\n}\n", SYNTAX, 1, 11, 1, "expected '(' and the parameters, found '{'", NULL),
    FAULT("kernel @k() {\n}\nkernel @k() {\n}\n", DUPLICATE_NAME, 3, 8, 2, "'@k' is defined twice", "first defined here"),
    FAULT("kernel @k(%a: gmem f32[4]) {\n}\n", SYNTAX, 1, 15, 4, "expected 'in', 'out' or 'inout', found 'gmem'", "an array says what the kernel does to it: 'in gmem f32[..]'"),
    FAULT("kernel @k(%a: in smem f32[4]) {\n}\n", SYNTAX, 1, 18, 4, "expected 'gmem', found 'smem'", NULL),
    FAULT("kernel @k(%a: in gmem f33[4]) {\n}\n", UNKNOWN_TYPE, 1, 23, 3, "there is no element type 'f33'", "did you mean 'f32'?"),
    FAULT("kernel @k(%a: in gmem f32) {\n}\n", SYNTAX, 1, 26, 1, "expected '[' and the dimensions of the array, found ')'", NULL),
    FAULT("kernel @k(%a: f32, %a: f32) {\n}\n", DUPLICATE_NAME, 1, 20, 2, "'%a' is defined a second time in its block", "first defined here"),
    FAULT("kernel @k(x: in gmem f32[4]) {\n}\n", SYNTAX, 1, 11, 1, "expected the name of a parameter, found 'x'", "values are written with %: '%x'"),
    FAULT("kernel @k() grid(2) {\n}\n", SYNTAX, 1, 18, 1, "expected the name of an axis, found '2'", "axes have names: grid(x = 2)"),
    FAULT("kernel @k() threads(2) {\n}\n", SYNTAX, 1, 21, 1, "expected the name of an axis, found '2'", "axes have names: threads(wg = 2)"),
    FAULT("kernel @k(%a f32) {\n}\n", SYNTAX, 1, 14, 3, "expected ':' and the type of the parameter, found 'f32'", NULL),
    FAULT("kernel @k() gird(x = 1) {\n}\n", SYNTAX, 1, 13, 4, "expected 'grid', 'cluster', 'threads', 'attr' or '{', found 'gird'", "did you mean 'grid'?"),
    FAULT("kernel @k() cluster(x = 1) cluster(y = 1) {\n}\n", SYNTAX, 1, 28, 7, "'cluster' stands twice", NULL),
    FAULT("kernel @k() cluster(2) {\n}\n", SYNTAX, 1, 21, 1, "expected the name of an axis, found '2'", "axes have names: cluster(cx = 2)"),
    FAULT("kernel @k() cluster(a = 1, b = 1, c = 1, d = 1, e = 1) {\n}\n", LIMIT, 1, 49, 1, "more than 4 cluster axes", NULL),
    FAULT("kernel @k() cluster(a = 1) grid(a = 1) {\n}\n", DUPLICATE_NAME, 1, 33, 1, "'a' is defined twice", NULL),
    FAULT("kernel @k() devices(x = 1) {\n}\n", SYNTAX, 1, 13, 7, "'devices' needs several GPUs, which is not supported yet", NULL),
    FAULT("kernel @k() attr x = 1 {\n}\n", UNKNOWN_ATTRIBUTE, 1, 18, 1, "a kernel has no attribute 'x'", "there are: attr arch = \"sm_100a\", attr cluster_exit = sync, attr auto_fence = 1, attr partition_warps = [4, 1]"),
    FAULT("kernel @k() attr arch = sm_100a {\n}\n", SYNTAX, 1, 25, 7, "expected a string, found 'sm_100a'", NULL),
    FAULT("kernel @k() attr arch = \"any\" {\n}\n", BAD_ATTRIBUTE, 1, 25, 5, "there is no arch \"any\"", "there are \"sm_90a\", \"sm_100a\", \"sm_103a\" and \"sm_110a\""),
    FAULT("kernel @k() attr arch = \"\" {\n}\n", BAD_ATTRIBUTE, 1, 25, 2, "there is no arch \"\"", "there are \"sm_90a\", \"sm_100a\", \"sm_103a\" and \"sm_110a\""),
    FAULT("kernel @k() attr arch = \"sm_110\" {\n}\n", BAD_ATTRIBUTE, 1, 25, 8, "there is no arch \"sm_110\"", "did you mean \"sm_110a\"?"),
    FAULT("kernel @k() attr arch = \"sm_121a\" {\n}\n", BAD_ATTRIBUTE, 1, 25, 9, "there is no arch \"sm_121a\"", "sm_120a and its kin have no tensor memory, no tcgen05 and no wgmma: their tensor core is that of 'mma'"),
    FAULT("kernel @k() attr auto_fense = 1 {\n}\n", UNKNOWN_ATTRIBUTE, 1, 18, 10, "a kernel has no attribute 'auto_fense'", "did you mean 'auto_fence'?"),
    FAULT("kernel @k() attr auto_fence {\n}\n", SYNTAX, 1, 29, 1, "expected '=' and the attribute's value, found '{'", NULL),
    FAULT("kernel @k() attr auto_fence = 18446744073709551616 {\n}\n", SYNTAX, 1, 31, 20, "expected 0 or 1, found '18446744073709551616'", NULL),
    FAULT("kernel @k() attr cluster_exit = 1 {\n}\n", SYNTAX, 1, 33, 1, "expected 'sync' or 'none', found '1'", NULL),
    FAULT("kernel @k() attr cluster_exit = syncs {\n}\n", SYNTAX, 1, 33, 5, "expected 'sync' or 'none', found 'syncs'", "did you mean 'sync'?"),
    FAULT("kernel @k() attr auto_fence = 1 attr auto_fence = 1 {\n}\n", BAD_ATTRIBUTE, 1, 38, 10, "attribute 'auto_fence' stands twice", NULL),
    FAULT("kernel @k() attr partition_warps = 4 {\n}\n", SYNTAX, 1, 36, 1, "expected '[' and the warps of each thread, found '4'", NULL),
    FAULT("kernel @k() attr partition_warps = [] {\n}\n", SYNTAX, 1, 37, 1, "expected the warps of a thread: 1, 2 or 4, found ']'", NULL),
    FAULT("kernel @k() attr partition_warps = [4, 4294967296] {\n}\n", SYNTAX, 1, 40, 10, "expected the warps of a thread: 1, 2 or 4, found '4294967296'", NULL),
    FAULT("kernel @k() attr partition_warps = [4 1] {\n}\n", SYNTAX, 1, 39, 1, "expected ',' or ']', found '1'", NULL),
    FAULT("kernel @k() attr partition_warps = [4, 1, 1, 1, 1, 1, 1, 1, 1] {\n}\n", BAD_ATTRIBUTE, 1, 61, 1, "more than 8 threads in 'partition_warps'", NULL),
    FAULT("kernel @k() attr partition_warps = [4] partition_warps = [4] {\n}\n", BAD_ATTRIBUTE, 1, 40, 15, "attribute 'partition_warps' stands twice", NULL),
    FAULT("kernel @k() attr = 1 {\n}\n", SYNTAX, 1, 18, 1, "expected the name of an attribute, found '='", NULL),
    FAULT("kernel @k() threads(wg = 1) of 128 {\n}\n", SYNTAX, 1, 29, 2, "'of' is not supported yet", NULL),
    FAULT("kernel @k() grid(x = 1) grid(y = 1) {\n}\n", SYNTAX, 1, 25, 4, "'grid' stands twice", NULL),
    FAULT("kernel @k() grid(x = 1, x = 2) {\n}\n", DUPLICATE_NAME, 1, 25, 1, "'x' is defined twice", "first defined here"),
    FAULT("kernel @k() grid(load = 1) {\n}\n", RESERVED_NAME, 1, 18, 4, "'load' is a word of the language and cannot name an axis", NULL),
    FAULT("kernel @k()\nkernel @l() {\n}\n", SYNTAX, 2, 1, 6, "expected 'grid', 'cluster', 'threads', 'attr' or '{', found 'kernel'", NULL),
    FAULT("kernel @k() {\n  commit_smem\n", SYNTAX, 3, 1, 0, "expected an operation or '}', found the end of the file", "the block starts here"),
    FAULT("kernel @k() {\n  if true {\nkernel @l() {\n}\n", SYNTAX, 3, 1, 6, "expected an operation or '}', found 'kernel'", "the block starts here"),
    /* statements */
    FAULT(BODY("  %x = lod %a"), UNKNOWN_OP, 3, 8, 3, "there is no operation 'lod'", "did you mean 'load'?"),
    FAULT(BODY("  frobnicate_everything"), UNKNOWN_OP, 3, 3, 21, "there is no operation 'frobnicate_everything'", "'grout ops' lists the operations"),
    FAULT(BODY("  %x add %n, 1"), SYNTAX, 3, 6, 3, "expected '=' after the names of results, found 'add'", NULL),
    FAULT(BODY("  %x = 3"), SYNTAX, 3, 8, 1, "expected an operation, found '3'", "only an operation has a result; use the constant where it is needed"),
    FAULT(BODY("  %x = %n"), SYNTAX, 3, 8, 2, "expected an operation, found '%n'", "only an operation has a result; use the value where it is needed"),
    FAULT(BODY("  %x = %n * 2"), SYNTAX, 3, 8, 2, "expected an operation, found '%n'", "name the operation: 'mul %n, ..'"),
    FAULT(BODY("  %x = neg %n # twice, in 3 words"), BAD_CHARACTER, 3, 15, 1, "no token starts with '#'", "comments begin with '//'"),
    FAULT("# a comment: f32[4]\nconst A = 1\n", BAD_CHARACTER, 1, 1, 1, "no token starts with '#'", "comments begin with '//'"),
    FAULT(BODY("  commit_smem;\n  commit_smem"), BAD_CHARACTER, 3, 14, 1, "no token starts with ';'", "no mark ends a line: leave it out"),
    FAULT(BODY("  %x = warpgroup_mma %a, %a"), UNKNOWN_OP, 3, 8, 13, "there is no operation 'warpgroup_mma'", "did you mean 'wgmma_async'?"),
    FAULT(BODY("  %x = sum %a"), UNKNOWN_OP, 3, 8, 3, "there is no operation 'sum'", "did you mean 'reduce_sum'?"),
    FAULT(BODY("  tcgen05_shift %a, %a"), UNKNOWN_OP, 3, 3, 13, "'tcgen05_shift' is of Blackwell (sm_100a), and grout does not have it yet", "copy the rows where they are to lie with async_copy_smem_to_tmem"),
    FAULT(BODY("  %x = wgmma %a, %a, %a"), RESULT_COUNT, 3, 8, 5, "'wgmma' has no result to give a name to", "it is written: wgmma acc, a, b, use_acc; attributes: saturate"),
    FAULT(BODY("  semaphore_signal_multicast %n"), UNKNOWN_OP, 3, 3, 26, "'semaphore_signal_multicast' needs several GPUs, which is not supported yet", NULL),
    FAULT(BODY("  semaphore_signal %n"), OPERAND_COUNT, 3, 3, 16, "'semaphore_signal' takes 2 operands, found 1", "it is written: semaphore_signal semaphore, n; attributes: order(..), scope(..)"),
    FAULT(BODY("  thread_barrier"), UNKNOWN_OP, 3, 3, 14, "there is no operation 'thread_barrier'", "did you mean 'block_barrier'?"),
    FAULT(BODY("  partition {\n  }"), SYNTAX, 3, 3, 9, "expected an operation, found 'partition'", "a partition directly follows a body of a warp_specialize: 'warp_specialize { .. } partition { .. }'"),
    FAULT(BODY("  warp_specialize {\n  } partition"), SYNTAX, 4, 14, 1, "expected '{', found the end of the line", NULL),
    FAULT(BODY("  warp_specialize wait(1) {\n  }"), UNKNOWN_ATTRIBUTE, 3, 19, 4, "'warp_specialize' has no attribute 'wait'", "'warp_specialize' takes no attributes"),
    FAULT(BODY("  warp_map() {\n  }"), SYNTAX, 3, 12, 1, "expected a name for the warp's index, found ')'", NULL),
    FAULT(BODY("  warp_map(%w, %x) {\n  }"), SYNTAX, 3, 14, 1, "expected ')', found ','", NULL),
    FAULT(BODY("  warp_map(%w) {\n    yield 1\n  }"), BAD_REGION, 4, 5, 5, "'yield' in a body of 'warp_map', which has no results", NULL),
    FAULT(BODY("  warp_specialize {\n  } partition {\n    yield 1\n  }"), BAD_REGION, 5, 5, 5, "'yield' in a partition of 'warp_specialize': its results are those of the first body", NULL),
    FAULT(BODY("  copy_gmem_to_smem %a, %a, %a collective_axes(x)"), UNKNOWN_NAME, 3, 48, 1, "'x' is a grid axis, and a cluster axis is needed here", NULL),
    FAULT(BODY("  copy_gmem_to_smem %a, %a, %a multicast(y)"), UNKNOWN_NAME, 3, 42, 1, "the kernel has no cluster axis 'y'", "axes are named in the kernel's header: 'cluster(y = ..)'"),
    FAULT(BODY("  copy_gmem_to_smem %a, %a, %a multicast"), SYNTAX, 3, 41, 1, "expected '(' and cluster axes, found the end of the line", NULL),
    FAULT(BODY("  barrier_wait %a order(3)"), SYNTAX, 3, 25, 1, "expected a choice, found '3'", "it is one of: relaxed, acquire, release, acq_rel"),
    FAULT(BODY("  barrier_wait %a order(acq)"), BAD_ATTRIBUTE, 3, 25, 3, "attribute 'order' has no choice 'acq'", "it is one of: relaxed, acquire, release, acq_rel"),
    FAULT(BODY("  barrier_wait %a scope(clusters)"), BAD_ATTRIBUTE, 3, 25, 8, "attribute 'scope' has no choice 'clusters'", "did you mean 'cluster'?"),
    FAULT(BODY("  load %a.cluster(0, 0, 0, 0, 0)"), LIMIT, 3, 31, 1, "more than 4 cluster axes", NULL),
    FAULT(BODY("  load %a.cluster()"), SYNTAX, 3, 19, 1, "expected an operand, found ')'", NULL),
    FAULT(BODY("  load %a.cluster(ds(0, 1))"), SYNTAX, 3, 19, 2, "expected an operand, found 'ds'", NULL),
    FAULT(BODY("  load %a.clutser(0)"), SYNTAX, 3, 11, 7, "expected 'transpose', 'cluster', 'bitcast' or 'reshape', found 'clutser'", "did you mean 'cluster'?"),
    FAULT(BODY("  %x, 3 = add %n, 1"), SYNTAX, 3, 7, 1, "expected the name of a value, found '3'", NULL),
    FAULT(BODY("  %x = commit_smem"), RESULT_COUNT, 3, 8, 11, "'commit_smem' has no result to give a name to", "it is written: commit_smem; attributes: cluster"),
    FAULT(BODY("  %x, %y = add %n, 1"), RESULT_COUNT, 3, 12, 3, "'add' has 1 result, and 2 names stand before it", "it is written: %r = add a, b"),
    FAULT(BODY("  %x = neg %n\n  %x = neg %n"), DUPLICATE_NAME, 4, 3, 2, "'%x' is defined a second time in its block", "first defined here"),
    FAULT(BODY("  %a = neg %n"), DUPLICATE_NAME, 3, 3, 2, "'%a' is defined a second time in its block", "first defined here"),
    /* operands */
    FAULT(BODY("  %x = add %n"), OPERAND_COUNT, 3, 8, 3, "'add' takes 2 operands, found 1", "it is written: %r = add a, b"),
    FAULT(BODY("  %x = add"), OPERAND_COUNT, 3, 8, 3, "'add' takes 2 operands, found 0", "it is written: %r = add a, b"),
    FAULT(BODY("  %x = neg\n  %y = neg %n"), OPERAND_COUNT, 3, 8, 3, "'neg' takes 1 operand, found 0", "it is written: %r = neg a"),
    FAULT(BODY("  %x = neg %n, %n"), OPERAND_COUNT, 3, 16, 2, "'neg' takes 1 operand, found at least 2", "it is written: %r = neg a"),
    FAULT(BODY("  wgmma %a, %a"), OPERAND_COUNT, 3, 3, 5, "'wgmma' takes at least 3 operands, found 2", "it is written: wgmma acc, a, b, use_acc; attributes: saturate"),
    FAULT(BODY("  wgmma_wait"), OPERAND_COUNT, 3, 3, 10, "'wgmma_wait' takes 1 operand, found 0", "it is written: wgmma_wait n"),
    FAULT(BODY("  wgmma_wait %n"), SYNTAX, 3, 14, 2, "a constant is needed here, and '%n' is a run-time value", NULL),
    FAULT(BODY("  set_max_registers increase"), OPERAND_COUNT, 3, 3, 17, "'set_max_registers' takes 1 operand, found 0", "it is written: set_max_registers n; attributes: increase, decrease"),
    FAULT(BODY("  %x = layout_cast wgmma"), OPERAND_COUNT, 3, 8, 11, "'layout_cast' takes 1 operand, found 0", "it is written: %r = layout_cast a layout; attributes: wgmma, wgmma_8bit, wgmma_row, wgmma_col, wg_strided, layout(..)"),
    FAULT(BODY("  commit_smem %n"), OPERAND_COUNT, 3, 15, 2, "'commit_smem' takes no operands", NULL),
    FAULT(BODY("  wait_smem_to_gmem read_only"), OPERAND_COUNT, 3, 3, 17, "'wait_smem_to_gmem' takes 1 operand, found 0", "it is written: wait_smem_to_gmem n; attributes: read_only"),
    FAULT(BODY("  wait_smem_to_gmem %n"), SYNTAX, 3, 21, 2, "a constant is needed here, and '%n' is a run-time value", NULL),
    FAULT(BODY("  %x = add %n 1"), SYNTAX, 3, 15, 1, "expected ',', found '1'", NULL),
    FAULT(BODY("  %x = add load %a, 1"), SYNTAX, 3, 12, 4, "expected an operand, found 'load'", "an operation inside an operand stands in parentheses: '(load ..)'"),
    FAULT(BODY("  %x = neg (lod %a)"), UNKNOWN_OP, 3, 13, 3, "there is no operation 'lod'", "did you mean 'load'?"),
    FAULT(BODY("  %x = neg (load %a"), SYNTAX, 3, 20, 1, "expected ')', found the end of the line", NULL),
    FAULT(BODY("  %x = neg (commit_smem)"), RESULT_COUNT, 3, 13, 11, "'commit_smem' has no value, so it cannot be an operand", NULL),
    FAULT(BODY("  %x = neg (if true)"), RESULT_COUNT, 3, 13, 2, "'if' has no value, so it cannot be an operand", NULL),
    FAULT(BODY("  %x = neg \"s\""), SYNTAX, 3, 12, 3, "expected an operand, found a string", NULL),
    FAULT(BODY("  %x = add %n, %m"), UNKNOWN_NAME, 3, 16, 2, "no value '%m' is visible here", "define it first, by '%m = ..' in this block or one around"),
    FAULT(BODY("  %x = neg %y\n  %y = neg %n"), UNKNOWN_NAME, 3, 12, 2, "no value '%y' is visible here", "'%y' is defined here, after its use"),
    FAULT(BODY("  if true {\n    %y = neg %n\n  }\n  %x = neg %y"), UNKNOWN_NAME, 6, 12, 2, "no value '%y' is visible here", "'%y' is defined here, in a block that has ended"),
    FAULT(BODY("  %x = neg %x"), UNKNOWN_NAME, 3, 12, 2, "no value '%x' is visible here", "'%x' is defined here, in a block that has ended"),
    FAULT(BODY("  %x = axis_index y"), UNKNOWN_NAME, 3, 19, 1, "the kernel has no axis 'y'", "axes are named in the kernel's header: 'grid(y = ..)'"),
    FAULT(BODY("  %x = axis_index %n"), SYNTAX, 3, 19, 2, "expected the name of an axis, found '%n'", NULL),
    FAULT(BODY("  debug_print %n"), SYNTAX, 3, 15, 2, "expected a string, found '%n'", NULL),
    FAULT(BODY("  if %n < 3 {\n  }"), SYNTAX, 3, 9, 1, "'<' takes constants, and one side is a run-time value", "compare values with an operation: eq, ne, lt, le, gt or ge"),
    FAULT(BODY("  %x = add align_up(%n, 4), 1"), SYNTAX, 3, 12, 8, "'align_up' takes constants, and one side is a run-time value", NULL),
    FAULT(BODY("  %x = add log2(%n), 1"), SYNTAX, 3, 12, 4, "'log2' takes a constant, and this is a run-time value", "the operation of this name stands in front: (log2 ..)"),
    FAULT(BODY("  %x = add %a[0] + 1, 1"), OPERAND_KIND, 3, 18, 1, "a reference stands where a scalar is needed", "read the element: '(load ..)'"),
    /* references */
    FAULT(BODY("  %x = load %a[0"), SYNTAX, 3, 17, 1, "expected ',' or ']', found the end of the line", NULL),
    FAULT(BODY("  %x = load %a[]"), SYNTAX, 3, 16, 1, "expected an operand, found ']'", NULL),
    FAULT(BODY("  %x = load %a[%a[0]]"), OPERAND_KIND, 3, 16, 2, "a reference stands where a scalar is needed", "read the element: '(load ..)'"),
    FAULT(BODY("  %x = load %a[ds(0)]"), SYNTAX, 3, 20, 1, "expected ',' and the size of the slice, found ')'", NULL),
    FAULT(BODY("  %x = load %a[ds(0, %n)]"), SYNTAX, 3, 22, 2, "a constant is needed here, and '%n' is a run-time value", NULL),
    FAULT(BODY("  %x = load %a[0:4]"), SYNTAX, 3, 17, 1, "expected ',' or ']', found ':'", "a slice is ds(start, size): ds(0, 64)"),
    FAULT(BODY("  %x = load %a[:4]"), SYNTAX, 3, 17, 1, "expected ',' or ']', found '4'", "a slice is ds(start, size): ds(0, 64)"),
    FAULT(BODY("  %x = load %a[ds(%n:4)]"), SYNTAX, 3, 21, 1, "expected ',' and the size of the slice, found ':'", "a slice is ds(start, size): ds(0, 64)"),
    FAULT(BODY("  %x = load %a.squeeze(4)"), SYNTAX, 3, 16, 7, "expected 'transpose', 'cluster', 'bitcast' or 'reshape', found 'squeeze'", NULL),
    FAULT(BODY("  %x = load %a[0, 0, 0, 0, 0, 0, 0, 0, 0]"), LIMIT, 3, 40, 1, "more than 8 indices", NULL),
    /* attributes and types */
    FAULT(BODY("  wait_smem_to_gmem 0 readonly"), UNKNOWN_ATTRIBUTE, 3, 23, 8, "'wait_smem_to_gmem' has no attribute 'readonly'", "did you mean 'read_only'?"),
    FAULT(BODY("  %x = neg %n dim(0)"), UNKNOWN_ATTRIBUTE, 3, 15, 3, "'neg' has no attribute 'dim'", "'neg' takes no attributes"),
    FAULT(BODY("  wait_smem_to_gmem 0 read_only read_only"), BAD_ATTRIBUTE, 3, 33, 9, "attribute 'read_only' stands twice", NULL),
    FAULT(BODY("  %x = load %a wait(0)"), UNKNOWN_ATTRIBUTE, 3, 16, 4, "'load' has no attribute 'wait'", "'load' takes no attributes"),
    FAULT(BODY("  %x = acc_load %a wait"), SYNTAX, 3, 24, 1, "expected '(' and the attribute's value, found the end of the line", NULL),
    FAULT(BODY("  %x = layout_cast %n wgma_row"), UNKNOWN_ATTRIBUTE, 3, 23, 8, "'layout_cast' has no attribute 'wgma_row'", "did you mean 'wgmma_row'?"),
    FAULT(BODY("  %x = layout_cast %n wgmma wgmma"), BAD_ATTRIBUTE, 3, 29, 5, "attribute 'wgmma' stands twice", NULL),
    FAULT(BODY("  %x = neg %n wgmma_row"), UNKNOWN_ATTRIBUTE, 3, 15, 9, "'neg' has no attribute 'wgmma_row'", "'neg' takes no attributes"),
    FAULT(BODY("  set_max_registers 24 decreased"), UNKNOWN_ATTRIBUTE, 3, 24, 9, "'set_max_registers' has no attribute 'decreased'", "did you mean 'decrease'?"),
    FAULT(BODY("  wait_smem_to_gmem 0 read_only(1)"), SYNTAX, 3, 32, 1, "attribute 'read_only' takes no value", NULL),
    FAULT(BODY("  %x = iota dim : i32[4]"), SYNTAX, 3, 17, 1, "expected '(' and the attribute's value, found ':'", NULL),
    FAULT(BODY("  %x = cast %n"), SYNTAX, 3, 15, 1, "expected ':' and a type, found the end of the line", "it is written: %r = cast a : dtype"),
    FAULT(BODY("  %x = neg %n : i32"), SYNTAX, 3, 15, 1, "'neg' is written without a type", NULL),
    FAULT(BODY("  %x = cast %n : int"), UNKNOWN_TYPE, 3, 18, 3, "there is no element type 'int'", "did you mean 'i32'?"),
    FAULT(BODY("  %x = cast %n : bfloat16"), UNKNOWN_TYPE, 3, 18, 8, "there is no element type 'bfloat16'", "did you mean 'bf16'?"),
    FAULT(BODY("  scratch %s : smem float32[4]"), UNKNOWN_TYPE, 3, 21, 7, "there is no element type 'float32'", "did you mean 'f32'?"),
    FAULT(BODY("  %x = cast %n : 32"), SYNTAX, 3, 18, 2, "expected an element type, found '32'", NULL),
    FAULT(BODY("  %x = iota dim(0) : i32[1, 1, 1, 1, 1, 1, 1, 1, 1]"), LIMIT, 3, 50, 1, "more than 8 dimensions", NULL),
    /* objects */
    FAULT(BODY("  scratch %s : smen f32[4]"), UNKNOWN_TYPE, 3, 16, 4, "expected 'smem', 'acc', 'tmem', 'gmem', 'barrier', 'mbarrier' or 'semaphore', found 'smen'", "did you mean 'smem'?"),
    FAULT(BODY("  scratch %s : accu f32[4]"), UNKNOWN_TYPE, 3, 16, 4, "expected 'smem', 'acc', 'tmem', 'gmem', 'barrier', 'mbarrier' or 'semaphore', found 'accu'", "did you mean 'acc'?"),
    FAULT(BODY("  scratch %s : 3"), SYNTAX, 3, 16, 1, "expected 'smem', 'acc', 'tmem', 'gmem', 'barrier', 'mbarrier' or 'semaphore', found '3'", NULL),
    FAULT(BODY("  scratch %s : devices f32[4]"), SYNTAX, 3, 16, 7, "'devices' needs several GPUs, which is not supported yet", NULL),
    FAULT(BODY("  scratch %s : acc f32"), SYNTAX, 3, 23, 1, "expected '[' and the dimensions of the array, found the end of the line", NULL),
    FAULT(BODY("  scratch %s : acc f32[64, 64] tile(8, 32)"), BAD_TRANSFORM, 3, 32, 4, "an accumulator has no 'tile': it lies in registers as the tensor core wants it", NULL),
    FAULT(BODY("  scratch %s : acc f32[64, 64] swizzle(128)"), BAD_TRANSFORM, 3, 32, 7, "an accumulator has no 'swizzle': it lies in registers as the tensor core wants it", NULL),
    FAULT(BODY("  scratch %s : gmem f32[4] tile(4)"), BAD_TRANSFORM, 3, 28, 4, "an array in gmem has no 'tile': it lies in rows", NULL),
    FAULT(BODY("  scratch %s : gmem f32"), SYNTAX, 3, 24, 1, "expected '[' and the dimensions of the array, found the end of the line", NULL),
    FAULT(BODY("  scratch %s : semaphore[]"), SYNTAX, 3, 26, 1, "expected a constant, found ']'", NULL),
    FAULT(BODY("  scratch %s : mbarrier[2] arrivals(1)"), SYNTAX, 3, 28, 8, "expected the end of the object, found 'arrivals'", "mbarrier_init says how many arrivals a phase of an mbarrier takes"),
    FAULT(BODY("  scratch %s : mbarrier[2] cluster(x)"), SYNTAX, 3, 28, 7, "expected the end of the object, found 'cluster'", "an mbarrier of another CTA is named by .cluster(..) where it is used; only a 'barrier' is one of the cluster"),
    FAULT(BODY("  scratch %s : barrier[2] cluster(x)"), UNKNOWN_NAME, 3, 35, 1, "'x' is a grid axis, and a cluster axis is needed here", NULL),
    FAULT(BODY("  scratch %s : barrier[2"), SYNTAX, 3, 25, 1, "expected ',' or ']', found the end of the line", NULL),
    FAULT(BODY("  scratch %s : mbarrier[2] orders_tensor_core"), SYNTAX, 3, 28, 18, "expected the end of the object, found 'orders_tensor_core'", "leave it out: an mbarrier always orders the tensor core"),
    FAULT(BODY("  scratch %s : mbarrier[2] two_ctas two_ctas"), SYNTAX, 3, 37, 8, "'two_ctas' stands twice", NULL),
    FAULT(BODY("  scratch %s : barrier[2] orders_tensor_core orders_tensor_core"), SYNTAX, 3, 46, 18, "'orders_tensor_core' stands twice", NULL),
    FAULT(BODY("  scratch %s : smem f32[4] swizzle(32) swizzle(64)"), SYNTAX, 3, 40, 7, "'swizzle' stands twice", NULL),
    FAULT(BODY("  %s = scratch : smem f32[4]"), RESULT_COUNT, 3, 8, 7, "'scratch' has no result to give a name to", "it is written: scratch %r : object"),
    FAULT(BODY("  scratch : smem f32[4]"), SYNTAX, 3, 11, 1, "expected the name of the object, found ':'", NULL),
    /* regions */
    FAULT(BODY("  for i in 0..4 {\n  }"), SYNTAX, 3, 7, 1, "expected the name of the loop's index, found 'i'", "values are written with %: '%i'"),
    FAULT(BODY("  for %i = 0..4 {\n  }"), SYNTAX, 3, 10, 1, "expected 'in', found '='", NULL),
    FAULT(BODY("  for %i in 4 {\n  }"), SYNTAX, 3, 15, 1, "expected '..' and the end of the range, found '{'", NULL),
    FAULT(BODY("  for %i in 0..4 stp 2 {\n  }"), UNKNOWN_ATTRIBUTE, 3, 18, 3, "'for' has no attribute 'stp'", "did you mean 'step'?"),
    FAULT(BODY("  for %i in 0..4 step %n {\n  }"), SYNTAX, 3, 23, 2, "a constant is needed here, and '%n' is a run-time value", NULL),
    FAULT(BODY("  for %i in 0..4 carry(%c) {\n  }"), SYNTAX, 3, 26, 1, "expected '=' and the first value, found ')'", NULL),
    FAULT(BODY("  for %i in 0..4 carry(%i = 1) {\n    yield 1\n  }"), DUPLICATE_NAME, 3, 24, 2, "'%i' is defined a second time in its block", "first defined here"),
    FAULT(BODY("  %r = for %i in 0..4 carry(%c = 1) {\n  }"), BAD_REGION, 4, 3, 1, "this body of 'for' ends without 'yield', and the operation has results", "the operation is here"),
    FAULT(BODY("  for %i in 0..4 {\n    yield 1\n  }"), BAD_REGION, 4, 5, 5, "'yield' in a body of 'for', which has no results", NULL),
    FAULT(BODY("  %r = if true {\n    yield 1\n  } else {\n  }"), BAD_REGION, 6, 3, 1, "this body of 'if' ends without 'yield', and the operation has results", "the operation is here"),
    FAULT(BODY("  if true {\n    yield\n  }"), OPERAND_COUNT, 4, 5, 5, "'yield' takes at least 1 operand, found 0", "it is written: yield a, ..."),
    FAULT(BODY("  %r = if true {\n    yield 1\n    commit_smem\n  } else {\n    yield 1\n  }"), SYNTAX, 4, 5, 5, "'yield' is not the last operation of its block", NULL),
    FAULT(BODY("  yield %n"), SYNTAX, 3, 3, 5, "'yield' stands in the body of a for, while, if, scoped or warp_specialize only", NULL),
    FAULT(BODY("  while {\n  } do {\n  }"), BAD_REGION, 4, 3, 1, "the first body of 'while' ends without 'cond'", "the operation is here"),
    FAULT(BODY("  while {\n    cond true\n  }"), SYNTAX, 5, 4, 1, "expected 'do' and the second body of the while, found the end of the line", "it is written: %r, ... = while carry(%c = init, ...) { ... cond a } do { ... yield a, ... }"),
    FAULT(BODY("  while {\n    cond true\n  } else {\n  }"), SYNTAX, 5, 5, 4, "expected 'do' and the second body of the while, found 'else'", NULL),
    FAULT(BODY("  while {\n    cond true\n  } {\n    commit_smem\n  }"), SYNTAX, 5, 5, 1, "expected 'do' and the second body of the while, found '{'", NULL),
    FAULT(BODY("  while {\n    cond true\n  } do\n  commit_smem"), SYNTAX, 5, 7, 1, "expected '{', found the end of the line", NULL),
    FAULT(BODY("  while true {\n    commit_smem\n  }"), UNKNOWN_ATTRIBUTE, 3, 9, 4, "'while' has no attribute 'true'", "it is written: %r, ... = while carry(%c = init, ...) { ... cond a } do { ... yield a, ... }"),
    FAULT(BODY("  while (lt %n, 3) {\n    commit_smem\n  }"), SYNTAX, 3, 9, 1, "expected 'carry' or '{', found '('", "it is written: %r, ... = while carry(%c = init, ...) { ... cond a } do { ... yield a, ... }"),
    FAULT(BODY("  while cary(%c = 1) {\n    cond true\n  } do {\n    yield 1\n  }"), UNKNOWN_ATTRIBUTE, 3, 9, 4, "'while' has no attribute 'cary'", "did you mean 'carry'?"),
    FAULT(BODY("  while {\n    cond\n  } do {\n  }"), OPERAND_COUNT, 4, 5, 4, "'cond' takes 1 operand, found 0", "it is written: cond a"),
    FAULT(BODY("  while {\n    cond true, false\n  } do {\n  }"), OPERAND_COUNT, 4, 16, 5, "'cond' takes 1 operand, found at least 2", "it is written: cond a"),
    FAULT(BODY("  while {\n    cond %a[0]\n  } do {\n  }"), OPERAND_KIND, 4, 10, 2, "a reference stands where a scalar is needed", "read the element: '(load ..)'"),
    FAULT(BODY("  while {\n    cond true\n    commit_smem\n  } do {\n  }"), SYNTAX, 4, 5, 4, "'cond' is not the last operation of its block", NULL),
    FAULT(BODY("  cond true"), SYNTAX, 3, 3, 4, "'cond' stands at the end of the first body of a while only", NULL),
    FAULT(BODY("  while {\n    cond true\n  } do {\n    cond true\n  }"), SYNTAX, 6, 5, 4, "'cond' stands at the end of the first body of a while only", NULL),
    FAULT(BODY("  while {\n    if true {\n      cond true\n    }\n    cond true\n  } do {\n  }"), SYNTAX, 5, 7, 4, "'cond' stands at the end of the first body of a while only", NULL),
    FAULT(BODY("  %r = while carry(%c = 1) {\n    yield true\n  } do {\n    yield 1\n  }"), BAD_REGION, 4, 5, 5, "'yield' in the first body of a while, which ends with 'cond'", "the second body, which follows do, yields the next carries"),
    FAULT(BODY("  %r = while carry(%c = 1) {\n    cond true\n  } do {\n  }"), BAD_REGION, 6, 3, 1, "this body of 'while' ends without 'yield', and the operation has results", "the operation is here"),
    FAULT(BODY("  while {\n    cond true\n  } do {\n    yield 1\n  }"), BAD_REGION, 6, 5, 5, "'yield' in a body of 'while', which has no results", NULL),
    FAULT(BODY("  while carry(%c = 1) {\n    %m = neg %c\n    cond true\n  } do {\n    yield %m\n  }\n  %x = neg %m"), UNKNOWN_NAME, 9, 12, 2, "no value '%m' is visible here", "'%m' is defined here, in a block that has ended"),
    FAULT(BODY("  while carry(%c = 1) {\n    cond (lt %m, 3)\n  } do {\n    %m = neg %c\n    yield %m\n  }"), UNKNOWN_NAME, 4, 14, 2, "no value '%m' is visible here", "'%m' is defined here, after its use"),
    FAULT(BODY("  do {\n  }"), SYNTAX, 3, 3, 2, "expected an operation, found 'do'", NULL),
    FAULT(BODY("  if true {\n  } else if true {\n  }"), SYNTAX, 4, 10, 2, "expected '{', found 'if'", "write 'else { if .. { .. } }'"),
    FAULT(BODY("  if true\n  }"), SYNTAX, 3, 10, 1, "expected '{', found the end of the line", NULL),
    FAULT(BODY("  scoped() {\n  }"), SYNTAX, 3, 10, 1, "expected the name of an object, found ')'", NULL),
    FAULT(BODY("  scoped(%s : smem f32[4]) together {\n  }"), UNKNOWN_ATTRIBUTE, 3, 28, 8, "'scoped' has no attribute 'together'", NULL),
};
// clang-format on

static bool is_place(const grout_diag *diag, const fault_case *c) {
    return diag->place.line == c->line && diag->place.column == c->column &&
           diag->place.length == c->length && strcmp(diag->place.file, "t.grout") == 0;
}

TEST_EACH(each_fault_is_named_where_it_stands, COUNT_OF(faults)) {
    const fault_case *c = &faults[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    grout_module *module = grout_parse("t.grout", c->text, strlen(c->text), diags);
    grout_diags_render(diags, NULL, &text);
    ck_assert_msg(module == NULL, "accepted:\n%s", c->text);
    ck_assert_uint_ge(grout_diags_count(diags), 1);
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_msg(diag->code == c->code && is_place(diag, c), "%s\nlength %u\n%s", c->text,
                  (unsigned)diag->place.length, text.data);
    ck_assert_str_eq(diag->message, c->message);
    if (c->note != NULL) {
        ck_assert_uint_ge(diag->note_count, 1);
        ck_assert_str_eq(diag->notes[0].message, c->note);
    }
    grout_text_free(&text);
    grout_diags_free(diags);
}

/* One fault in a text is one diagnostic: the parser finds its way back. */
TEST_EACH(each_fault_is_named_once, COUNT_OF(faults)) {
    const fault_case *c = &faults[_i];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    (void)grout_parse("t.grout", c->text, strlen(c->text), diags);
    grout_diags_render(diags, NULL, &text);
    ck_assert_msg(grout_diags_count(diags) == 1, "%s\n%s", c->text, text.data);
    grout_text_free(&text);
    grout_diags_free(diags);
}

TEST(all_faults_of_a_text_are_named_in_its_order) {
    const char text[] = "const A = WRONG\n"
                        "kernel @k(%a: in gmem f31[A]) grid(x = 1)\n"
                        "{\n"
                        "  %x = lod %a\n"
                        "  %y = add %x, %z\n"
                        "  for %i on 0..4 {\n"
                        "    store %a[%i], %w\n"
                        "  }\n"
                        "  %z = neg %y\n"
                        "}\n"
                        "requires 1 == 1, \"x\"\n";
    static const uint32_t lines[] = {1, 2, 4, 5, 6, 7, 11};
    grout_diags *diags = grout_diags_new();
    ck_assert_ptr_null(grout_parse("t.grout", text, sizeof text - 1, diags));
    ck_assert_uint_eq(grout_diags_count(diags), sizeof lines / sizeof lines[0]);
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        ck_assert_uint_eq(grout_diags_get(diags, i)->place.line, lines[i]);
    }
    grout_diags_free(diags);
}

TEST(twenty_faults_are_kept) {
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    grout_text_add(&text, "kernel @k() {\n");
    for (int i = 0; i < 1000; i++) {
        grout_text_add(&text, "  frob %%x%d, wrong\n", i);
    }
    grout_text_add(&text, "}\n");
    ck_assert_ptr_null(grout_parse("t.grout", text.data, text.size, diags));
    ck_assert_uint_eq(grout_diags_count(diags), GROUT_DIAGS_MAX);
    ck_assert_uint_eq(grout_diags_total(diags), 1000);
    grout_text_free(&text);
    grout_diags_free(diags);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The code of the first fault of a text, or NONE if it parses. Frees the text. */
static grout_diag_code parse_code(grout_text *text) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text->data, text->size, diags);
    grout_diag_code code = GROUT_DIAG_NONE;
    if (module == NULL) {
        code = grout_diags_get(diags, 0)->code;
    }
    grout_module_free(module);
    grout_diags_free(diags);
    grout_text_free(text);
    return code;
}

static void repeat(grout_text *text, const char *part, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        grout_text_add_bytes(text, part, strlen(part));
    }
}

/* count times before, then middle, then count times after, inside head and tail. */
typedef struct nest_case {
    const char *head, *before, *middle, *after, *tail;
    uint32_t max; /* the largest count that is taken */
} nest_case;

static const nest_case nests[] = {
    {"const A = ", "(", "1", ")", "\n", GROUT_NESTING_MAX},
    {"const A = ", "- -", "B", "", ", B = 1\n", GROUT_NESTING_MAX / 2 - 1},
    {"const A = ", "1 + ", "1", "", "\n", GROUT_NESTING_MAX - 1},
    {"const A = ", "min(1, ", "1", ")", "\n", GROUT_NESTING_MAX - 1},
    {"kernel @k() {\n", "if true {\n", "", "}\n", "}\n", GROUT_NESTING_MAX - 1},
    {"kernel @k() {\n", "while { cond true } do {\n", "", "}\n", "}\n", GROUT_NESTING_MAX / 2 - 1},
    {"kernel @k() {\n", "while {\n", "", "cond true } do { }\n", "}\n", GROUT_NESTING_MAX - 2},
    {"kernel @k(%n: i32) {\n%x = neg ", "(neg ", "%n", ")", "\n}\n", GROUT_NESTING_MAX - 1},
    {"kernel @k(%n: i32) {\n%x = neg %n", " + %n", "", "", "\n}\n", GROUT_NESTING_MAX - 1},
    {"kernel @k(%n: i32, %a: in gmem i32[4]) {\n%x = load ", "%a[(load ", "%a[0]", ")]", "\n}\n",
     GROUT_NESTING_MAX / 2 - 1},
};

TEST_EACH(nesting_has_a_limit, COUNT_OF(nests)) {
    const nest_case *c = &nests[_i];
    for (uint32_t count = c->max; count <= c->max + 1; count++) {
        grout_text text = {0};
        repeat(&text, c->head, 1);
        repeat(&text, c->before, count);
        repeat(&text, c->middle, 1);
        repeat(&text, c->after, count);
        repeat(&text, c->tail, 1);
        grout_diag_code code = parse_code(&text);
        ck_assert_msg(code == (count == c->max ? GROUT_DIAG_NONE : GROUT_DIAG_LIMIT),
                      "%s%s..., %u times: %s", c->head, c->before, (unsigned)count,
                      grout_diag_get(code)->text);
    }
}

/* Far past the limit nothing overflows, whatever the shape. */
TEST_EACH(deep_texts_are_refused, COUNT_OF(nests)) {
    const nest_case *c = &nests[_i];
    grout_text text = {0};
    repeat(&text, c->head, 1);
    repeat(&text, c->before, 100000);
    ck_assert_int_ne(parse_code(&text), GROUT_DIAG_NONE);
}

TEST(axes_have_a_limit) {
    for (int count = GROUT_AXES_MAX; count <= GROUT_AXES_MAX + 1; count++) {
        grout_text text = {0};
        grout_text_add(&text, "kernel @k() grid(a0 = 1");
        for (int i = 1; i < count; i++) {
            grout_text_add(&text, ", a%d = 1", i);
        }
        grout_text_add(&text, ") {\n}\n");
        ck_assert_int_eq(parse_code(&text),
                         count == GROUT_AXES_MAX ? GROUT_DIAG_NONE : GROUT_DIAG_LIMIT);
    }
}

TEST(inits_have_a_limit) {
    for (uint32_t count = GROUT_INIT_MAX; count <= GROUT_INIT_MAX + 1; count++) {
        grout_text text = {0};
        grout_text_add(&text, "kernel @k(%%a: in gmem i8[%u] init([0", (unsigned)count);
        repeat(&text, ", 1", count - 1);
        grout_text_add(&text, "])) {\n}\n");
        ck_assert_int_eq(parse_code(&text),
                         count == GROUT_INIT_MAX ? GROUT_DIAG_NONE : GROUT_DIAG_LIMIT);
    }
}

TEST(files_have_a_limit) {
    size_t size = GROUT_FILE_MAX;
    char *bytes = malloc(size + 1);
    memset(bytes, ' ', size + 1);
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", bytes, size, diags);
    ck_assert_ptr_nonnull(module);
    grout_module_free(module);
    ck_assert_ptr_null(grout_parse("t.grout", bytes, size + 1, diags));
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_LIMIT);
    grout_diags_free(diags);
    free(bytes);
}

/* ---- what is parsed -------------------------------------------------------------------------- */

TEST(places_and_uses_are_kept) {
    const char text[] = BODY("  %x = add (mul (axis_index x), 2), %n * 3\n"
                             "  store %a[%x], (load %a[%x + 1])");
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text, sizeof text - 1, diags);
    ck_assert_ptr_nonnull(module);
    const grout_kernel *kernel = grout_module_get_kernel(module, 1);
    ck_assert_uint_eq(grout_module_find_kernel(module, "k"), 1);
    ck_assert_uint_eq(grout_module_find_param(module, kernel, "n"), 1);
    ck_assert_uint_eq(grout_module_find_param(module, kernel, "x"), UINT32_MAX);
    /* axis_index, mul, mul (infix), add, add (infix), load, store: in the order of evaluation. */
    static const grout_opcode order[] = {GROUT_OP_AXIS_INDEX, GROUT_OP_MUL, GROUT_OP_MUL,
                                         GROUT_OP_ADD,        GROUT_OP_ADD, GROUT_OP_LOAD,
                                         GROUT_OP_STORE};
    grout_op_id id = grout_module_get_block(module, kernel->body)->first;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const grout_op *op = grout_module_get_op(module, id);
        ck_assert_int_eq(op->opcode, order[i]);
        ck_assert_int_eq(op->flags, i == 2 || i == 4 ? GROUT_OP_FLAG_INFIX : 0);
        id = op->next;
    }
    ck_assert_uint_eq(id, 0);
    grout_op_id add = 4;
    const grout_op *op = grout_module_get_op(module, add);
    const grout_value *x = grout_module_get_value(module, op->first_result);
    ck_assert_uint_eq(x->use_count, 2);
    grout_place place = grout_module_get_place(module, op->loc);
    ck_assert(place.line == 3 && place.column == 8 && place.length == 3);
    place = grout_module_get_place(module, x->loc);
    ck_assert(place.line == 3 && place.column == 3 && place.length == 2);
    const grout_op *store = grout_module_get_op(module, 7);
    place = grout_module_get_place(module, grout_module_get_operand(module, store, 0)->loc);
    ck_assert(place.line == 4 && place.column == 9 && place.length == 6);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST_EACH(texts_that_look_odd_are_taken, 27) {
    static const char *const texts[] = {
        "",
        "\n\n",
        "// only a comment",
        "grout 1",
        "const A = B, B = 2",
        "const A = - 5, B = -9223372036854775808, C = 0x7fffffffffffffff, D = "
        "f64:0xffffffffffffffff\n",
        BODY("  %x = add\n    %n,\n    1"),
        BODY("  commit_smem commit_smem"),
        BODY("  %x = neg(%n)"),
        BODY("  %x = add min(%n, 2), (min %n, 2)"),
        BODY("  %x = neg ((((%n))))"),
        BODY("  load %a"),
        BODY("  if true { } else { }"),
        BODY("  %n2 = neg %n\n  if true {\n    %n2 = neg %n2\n    %n3 = neg %n2\n  }"),
        BODY("  for %i in -%n..%n - 1 step 2 * 3 unroll(2) { }"),
        BODY("  %r = for %i in 0..4 carry(%c = %n) { yield %c }"),
        BODY("  for %i in 0..4 carry(%c = %n) { yield %c }"),
        BODY("  %0 = neg %n\n  %12 = neg %0"),
        BODY("  while { cond true } do { }"),
        BODY("  while {\n  cond true\n  }\n  do\n  {\n  }"),
        BODY("  %r = while carry(%c = 1) { %m = neg %c cond true } do { %c = neg %m yield %c }"),
        BODY("  %x = layout_cast %n\n  wgmma %a, %a, %a"),
        BODY("  commit_smem wgmma %a, %a, %a"),
        BODY("  %x = add (layout_cast %n wgmma), log2(8)"),
        BODY("  %x = log2 %n\n  %y = neg (log2 %n)"),
        BODY("  scratch %acc : acc f32[64, 64]"),
        "kernel @grid() threads(wg = 1) grid(x = 2) {}",
    };
    const char *text = texts[_i];
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text, strlen(text), diags);
    ck_assert_msg(module != NULL, "%s: %s", text,
                  module == NULL ? grout_diags_get(diags, 0)->message : "");
    grout_module_free(module);
    grout_diags_free(diags);
}

/* One kernel of a file as a module of its own: its places are those of the file. */
TEST(a_kernel_is_taken_out_of_its_file) {
    const char *file = "grout 1\n// of all\nconst A = B + 1  // late\n"
                       "require A == 4, \"as it is\"\n"
                       "kernel @first(%y: out gmem i32[A])\n{\n  store %y[0], 1\n}\n"
                       "// of the second\n"
                       "  kernel @second(%x: in gmem i32[B], %y: out gmem i32[A])  // here\n{\n"
                       "  store %y[1], (load %x[2])\n}\n"
                       "const B = 3\nlaunch @first(%y)\n";
    grout_diags *diags = grout_diags_new();
    grout_module *whole = grout_parse("t.grout", file, strlen(file), diags);
    ck_assert_ptr_nonnull(whole);
    ck_assert_ptr_null(grout_module_take_kernel(whole, 3, diags)); /* there is none */
    grout_module *taken = grout_module_take_kernel(whole, 2, diags);
    ck_assert_ptr_nonnull(taken);
    ck_assert_uint_eq(grout_module_get_kernel_count(taken), 2);
    ck_assert_uint_eq(grout_module_get_const_count(taken), 3);
    ck_assert_uint_eq(grout_module_get_launch_count(taken), 1);
    const grout_kernel *kernel = grout_module_get_kernel(taken, 1);
    ck_assert_str_eq(grout_module_get_string(taken, kernel->name), "second");
    const grout_place place = grout_module_get_place(taken, kernel->loc);
    const grout_kernel *written = grout_module_get_kernel(whole, 2);
    const grout_place own = grout_module_get_place(whole, written->loc);
    ck_assert_str_eq(place.file, "t.grout");
    ck_assert_uint_eq(place.line, 10);
    ck_assert_uint_eq(place.line, own.line);
    ck_assert_uint_eq(place.column, own.column);
    const grout_op *op =
        grout_module_get_op(taken, grout_module_get_block(taken, kernel->body)->last);
    ck_assert_uint_eq(grout_module_get_place(taken, op->loc).line, 12);
    grout_module *bound = grout_module_bind(taken, NULL, 0, diags);
    ck_assert_ptr_nonnull(bound);
    ck_assert_uint_eq(grout_diags_count(diags), 0);
    grout_module_free(bound);
    grout_module_free(taken);
    grout_module_free(whole);
    grout_diags_free(diags);
}
