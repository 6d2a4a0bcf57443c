/* check_ptx_run.c - single instructions and short programs on the machine: values worked out by
 * hand from PTX ISA 9.1, and what no GPU could run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "tests/tests.h"

#include <string.h>

/* 64 threads in two warps. What a program leaves in %r0 (or %rd0 for the upper half too) is stored
 * by each thread: 8 bytes. */
#define HEAD                                            \
    ".version 9.0\n.target sm_100a\n.address_size 64\n" \
    ".visible .entry k(.param .u64 out)"
#define BEGINNING                                                                     \
    "\n{\n"                                                                           \
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>;\n"         \
    ".reg .b64 %rd<16>; .reg .f64 %fd<8>; .shared .align 16 .b8 s[1024];\n"           \
    "mov.u32 %r15, %tid.x; mov.b64 %rd0, 0; mov.b32 %r0, 0; mov.u32 %r14, %laneid;\n" \
    "mov.u32 %r13, s; mul.wide.u32 %rd15, %r15, 8; ld.param.u64 %rd14, [out];\n"      \
    "add.s64 %rd14, %rd14, %rd15;\n"
#define END                                                                              \
    "\ncvt.u64.u32 %rd15, %r0; or.b64 %rd0, %rd0, %rd15; st.global.u64 [%rd14], %rd0;\n" \
    "ret;\n}\n"

enum { THREADS = 64 };

/* A product of ones. In lanes 28 to 31 nothing has set %r1: row 7 of A, or column 7 of B. */
#define ONES                                                                            \
    "setp.lt.u32 %p0, %r14, 28; @%p0 mov.b32 %r1, 0x3C003C00; mov.b32 %r2, 0x3C003C00;" \
    " mov.b32 %f4, 0f00000000; "
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "

/* How an entry runs; directives: of the entry, or "". */
typedef struct manner {
    const char *directives;
    uint64_t seed;
    bool finds_races;
} manner;

static bool run_with(manner how, const char *body, uint64_t *values, grout_diags *diags) {
    grout_text text = {0};
    grout_text_add(&text, "%s%s%s%s%s", HEAD, how.directives, BEGINNING, body, END);
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text.data, text.size, diags);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    uint64_t address = grout_ptx_memory_add(memory, NULL, THREADS * sizeof *values);
    grout_ptx_launch launch = {.module = module,
                               .memory = memory,
                               .block = {THREADS, 1, 1},
                               .parameters = &address,
                               .parameter_bytes = sizeof address,
                               .seed = how.seed,
                               .max_steps = 100000,
                               .finds_races = how.finds_races};
    size_t undefined = 0;
    bool is_done = module != NULL && grout_ptx_launch_run(&launch, NULL, diags);
    is_done = is_done &&
              grout_ptx_memory_read(memory, address, values, THREADS * sizeof *values, &undefined);
    ck_assert(!is_done || undefined == 0);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    return is_done;
}

static bool run(const char *body, uint64_t seed, uint64_t *values, grout_diags *diags) {
    return run_with((manner){"", seed, false}, body, values, diags);
}

/* What threads 0, 5 and 40 have; the last is lane 8 of the second warp. */
static const struct value_case {
    const char *body;
    uint64_t expected[3];
} value_cases[] = {
    /* integers */
    {"add.s32 %r0, %r15, -1;", {0xffffffff, 4, 39}},
    {"mul.lo.s32 %r0, %r15, -3;", {0, 0xfffffff1, 0xffffff88}},
    {"mul.hi.u32 %r0, %r15, 0x80000000;", {0, 2, 20}},
    {"mul.hi.s32 %r0, -1, %r15;", {0, 0xffffffff, 0xffffffff}},
    {"mul.wide.s32 %rd0, %r15, -2;", {0, 0xfffffffffffffff6, 0xffffffffffffffb0}},
    {"mad.lo.s32 %r0, %r15, %r15, 7;", {7, 32, 1607}},
    {"mad.wide.u32 %rd0, %r15, 0xffffffff, 1;", {1, 0x4fffffffc, 0x27ffffffd9}},
    {"div.s32 %r0, -7, 2;", {0xfffffffd, 0xfffffffd, 0xfffffffd}},
    {"rem.s32 %r0, -7, 4;", {0xfffffffd, 0xfffffffd, 0xfffffffd}},
    {"div.u32 %r0, %r15, 3;", {0, 1, 13}},
    {"min.s32 %r0, %r15, -4;", {0xfffffffc, 0xfffffffc, 0xfffffffc}},
    {"min.u32 %r0, %r15, -4;", {0, 5, 40}},
    {"abs.s32 %r0, -2147483648;", {0x80000000, 0x80000000, 0x80000000}},
    {"shl.b32 %r0, 1, %r15;", {1, 32, 0}},
    {"shr.s32 %r0, -64, %r15;", {0xffffffc0, 0xfffffffe, 0xffffffff}},
    {"shr.u64 %rd0, 0x8000000000000000, %r15;", {UINT64_C(1) << 63, UINT64_C(1) << 58, 1 << 23}},
    {"shf.l.wrap.b32 %r0, 0x80000000, 1, %r15;", {1, 0x30, 0x180}},
    {"popc.b32 %r0, %r15;", {0, 2, 2}},
    {"clz.b32 %r0, %r15;", {32, 29, 26}},
    {"bfind.u32 %r0, %r15;", {0xffffffff, 2, 5}},
    {"bfind.shiftamt.u32 %r0, %r15;", {0xffffffff, 29, 26}},
    {"brev.b32 %r0, %r15;", {0, 0xa0000000, 0x14000000}},
    {"bfe.s32 %r0, %r15, 0, 3;", {0, 0xfffffffd, 0}},
    {"bfe.u32 %r0, %r15, 2, 8;", {0, 1, 10}},
    {"bfi.b32 %r0, %r15, 0xff, 4, 8;", {0x00f, 0x05f, 0x28f}},
    {"prmt.b32 %r0, 0x33221180, 0x77665544, 0x8765;", {0xff776655, 0xff776655, 0xff776655}},
    {"lop3.b32 %r0, %r15, 6, 0xf, 0x96;", {9, 12, 33}},
    {"add.cc.u32 %r1, -1, %r15; addc.u32 %r0, 7, 0;", {7, 8, 8}},
    {"sub.cc.u32 %r1, 5, %r15; subc.u32 %r0, 7, 0;", {7, 7, 6}},
    {"mad.lo.cc.u32 %r1, %r15, 0x80000000, 0x80000000; madc.hi.u32 %r0, %r15, 0x80000000, 0;",
     {0, 3, 20}},
    /* floats, by their bits */
    {"cvt.rn.f32.u32 %f0, %r15; add.rn.f32 %f1, %f0, 0f3F800000; mov.b32 %r0, %f1;",
     {0x3f800000, 0x40c00000, 0x42240000}},
    {"fma.rn.f32 %f0, 0f3F800001, 0f3F800001, 0fBF800002; mov.b32 %r0, %f0;",
     {0x28800000, 0x28800000, 0x28800000}},
    {"fma.rm.f32 %f0, 0f3F800000, 0f3F800000, 0f2F800000; mov.b32 %r0, %f0;",
     {0x3f800000, 0x3f800000, 0x3f800000}},
    {"add.rp.f32 %f0, 0f3F800000, 0f2F800000; mov.b32 %r0, %f0;",
     {0x3f800001, 0x3f800001, 0x3f800001}},
    {"max.NaN.f32 %f0, 0f7FC00000, 0f3F800000; mov.b32 %r0, %f0;",
     {0x7fffffff, 0x7fffffff, 0x7fffffff}},
    {"max.f32 %f0, 0f7FC00000, 0f3F800000; mov.b32 %r0, %f0;",
     {0x3f800000, 0x3f800000, 0x3f800000}},
    {"min.f32 %f0, 0f00000000, 0f80000000; mov.b32 %r0, %f0;",
     {0x80000000, 0x80000000, 0x80000000}},
    {"ex2.approx.ftz.f32 %f0, 0fC2FE0000; mov.b32 %r0, %f0;", {0, 0, 0}},
    {"mov.b32 %r1, 0x3C003C00; add.rn.f16x2 %r0, %r1, 0xC0003800;",
     {0xbc003e00, 0xbc003e00, 0xbc003e00}},
    /* Nothing has set %r9: of the words put together the lower one alone is used. */
    {"mov.b32 %r1, 0x12345678; mov.b64 %rd1, {%r1, %r9}; mov.b64 %rd2, %rd1; cvt.u32.u64 %r0, "
     "%rd2; cvt.u16.u64 %h1, %rd1; mov.b64 {%r2, %r3}, %rd2; cvt.u32.u16 %r4, %h1; add.u32 %r0, "
     "%r0, %r4; sub.u32 %r0, %r0, %r2;",
     {0x5678, 0x5678, 0x5678}},
    {"mov.b64 %rd1, {0f3F800001, 0f40400000}; mov.b64 %rd2, {0fBF800002, 0f80000000};"
     " fma.rn.f32x2 %rd0, %rd1, %rd1, %rd2;",
     {0x4110000028800000, 0x4110000028800000, 0x4110000028800000}},
    {"mov.b64 %rd1, {0f3F800000, 0fFF800000}; mov.b64 %rd2, {0f33800000, 0f7F800000};"
     " add.rn.f32x2 %rd0, %rd1, %rd2;",
     {0x7fffffff3f800000, 0x7fffffff3f800000, 0x7fffffff3f800000}},
    {"mov.b64 %rd1, {0f40400000, 0f00000000}; mov.b64 %rd2, {0f3F800000, 0f00000000};"
     " sub.rn.f32x2 %rd1, %rd1, %rd2; mul.rn.f32x2 %rd0, %rd1, %rd2;",
     {0x40000000, 0x40000000, 0x40000000}},
    /* conversions */
    {"cvt.rni.s32.f32 %r0, 0f40200000;", {2, 2, 2}},
    {"cvt.rzi.u32.f32 %r0, 0fBFC00000;", {0, 0, 0}},
    {"cvt.rzi.s32.f32 %r0, 0f7F800000;", {0x7fffffff, 0x7fffffff, 0x7fffffff}},
    {"cvt.rzi.s32.f32 %r0, 0f7FC00000;", {0, 0, 0}},
    {"cvt.rn.bf16x2.f32 %r0, 0f3F808000, 0f3F818000;", {0x3f803f82, 0x3f803f82, 0x3f803f82}},
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, 0f44000000, 0fC3E00000; cvt.u32.u16 %r0, %h0;",
     {0x7efe, 0x7efe, 0x7efe}},
    {"cvt.s64.s8 %rd0, %r15; cvt.s32.s8 %r1, 0x85; cvt.s64.s32 %rd0, %r1;",
     {0xffffffffffffff85, 0xffffffffffffff85, 0xffffffffffffff85}},
    {"mov.b64 %rd1, {%r15, 7}; mov.b64 {_, %r0}, %rd1;", {7, 7, 7}},
    {"setp.eq.u32 %p0, %r15, 0; @!%p0 bra E; mbarrier.init.shared::cta.b64 [%r13], 1;"
     " mbarrier.inval.shared::cta.b64 [%r13]; mbarrier.init.shared::cta.b64 [%r13], 2;"
     " mbarrier.init.shared::cta.b64 [%r13+8], 2; mov.b32 %r0, 3; E:",
     {3, 0, 0}},
    /* choices and branches */
    {"setp.lt.u32 %p0|%p1, %r15, 6; selp.b32 %r0, 1, 2, %p0; @%p1 add.s32 %r0, %r0, 8;",
     {1, 1, 10}},
    {"setp.neu.f32 %p0, 0f7FC00000, 0f7FC00000; selp.b32 %r0, 1, 2, %p0;", {1, 1, 1}},
    {"setp.ne.f32 %p0, 0f7FC00000, 0f7FC00000; selp.b32 %r0, 1, 2, %p0;", {2, 2, 2}},
    {"mov.b32 %r1, %r15; L: setp.eq.u32 %p0, %r1, 0; @%p0 bra M; add.s32 %r0, %r0, 2;"
     " sub.s32 %r1, %r1, 1; bra L; M:",
     {0, 10, 80}},
    {"t: .branchtargets A, B, C; rem.u32 %r1, %r15, 3; brx.idx %r1, t; A: mov.b32 %r0, 10; bra D;"
     " B: mov.b32 %r0, 11; bra D; C: mov.b32 %r0, 12; D:",
     {10, 12, 11}},
    /* lanes together */
    {"shfl.sync.bfly.b32 %r0, %r14, 3, 31, -1;", {3, 6, 11}},
    {"shfl.sync.idx.b32 %r0|%p0, %r14, 9, 0x1807, -1; selp.b32 %r1, 100, 0, %p0;"
     " add.s32 %r0, %r0, %r1;",
     {101, 101, 109}},
    {"shfl.sync.up.b32 %r0|%p0, %r14, 2, 0, -1; selp.b32 %r1, 100, 0, %p0;"
     " add.s32 %r0, %r0, %r1;",
     {0, 103, 106}},
    {"setp.gt.u32 %p0, %r14, 28; vote.sync.ballot.b32 %r0, %p0, -1;",
     {0xe0000000, 0xe0000000, 0xe0000000}},
    {"redux.sync.add.s32 %r0, %r14, -1;", {496, 496, 496}},
    {"and.b32 %r1, %r14, 1; match.any.sync.b32 %r0, %r1, -1;",
     {0x55555555, 0xaaaaaaaa, 0x55555555}},
    {"elect.sync %r0|%p0, -1; @%p0 mov.b32 %r0, 77;", {77, 0, 0}},
    /* what an element without a value is no part of */
    {ONES MMA "{%r1, %r2, %r1, %r2}, {%r2, %r2}, {%f4, %f4, %f4, %f4};"
              " @%p0 mov.b32 %r0, %f0; @!%p0 mov.b32 %r0, %f2;",
     {0x41800000, 0x41800000, 0x41800000}},
    {ONES MMA "{%r2, %r2, %r2, %r2}, {%r1, %r2}, {%f4, %f4, %f4, %f4}; mov.b32 %r0, %f2;",
     {0x41800000, 0x41800000, 0x41800000}},
    /* memory of a CTA: the other warp's values after a barrier */
    {"mad.lo.u32 %r1, %r15, 4, %r13; st.shared.u32 [%r1], %r15; bar.sync 0; xor.b32 %r2, %r15, 32;"
     " mad.lo.u32 %r1, %r2, 4, %r13; ld.shared.u32 %r0, [%r1];",
     {32, 37, 8}},
    {"setp.eq.u32 %p0, %r15, 0; @%p0 st.shared.u32 [%r13], 0; bar.sync 1, 64;"
     " atom.shared.add.u32 %r1, [%r13], %r15; bar.sync 1, 64; ld.shared.u32 %r0, [%r13];",
     {2016, 2016, 2016}},
    {"setp.eq.u32 %p0, %r15, 3; bar.red.popc.u32 %r0, 0, %p0;", {1, 1, 1}},
    {"st.shared.u32 [%r13+4], 5; atom.shared.cas.b32 %r1, [%r13+4], 5, 6; bar.sync 0;"
     " ld.shared.u32 %r0, [%r13+4];",
     {6, 6, 6}},
    {"cvt.u64.u32 %rd1, %r13; cvta.shared.u64 %rd2, %rd1; mad.lo.u32 %r1, %r15, 4, %r13;"
     " st.shared.u32 [%r1], 9; ld.shared.u32 %r2, [%r1]; mul.wide.u32 %rd3, %r15, 4;"
     " add.s64 %rd2, %rd2, %rd3; ld.u32 %r0, [%rd2];",
     {9, 9, 9}},
    /* an mbarrier: one warp arrives, the other waits */
    {"setp.eq.u32 %p0, %r15, 0; @%p0 mbarrier.init.shared::cta.b64 [%r13], 32; bar.sync 0;"
     " setp.lt.u32 %p1, %r15, 32; @%p1 bra W;"
     " st.shared.u32 [%r13+16], 123; mbarrier.arrive.shared::cta.b64 _, [%r13]; bra E;"
     " W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], 0; @!%p2 bra W;"
     " ld.shared.u32 %r0, [%r13+16]; E:",
     {123, 123, 0}},
    /* lanes of one warp that wait for one another in different branches */
    {"setp.eq.u32 %p0, %r15, 0; @%p0 st.shared.u32 [%r13], 0; bar.sync 0;"
     " setp.ne.u32 %p1, %r14, 7; @%p1 bra S; atom.shared.add.u32 %r1, [%r13], 1; bra E;"
     " S: ld.volatile.shared.u32 %r1, [%r13]; setp.lt.u32 %p2, %r1, 2; @%p2 bra S; E:"
     " mov.b32 %r0, 4;",
     {4, 4, 4}},
    /* copies that are awaited */
    {"add.u32 %r1, %r13, 512; setp.ne.u32 %p0, %r15, 0; @%p0 bra E;"
     " st.global.u64 [%rd14], 0x1122334455667788; st.global.u64 [%rd14+8], 5;"
     " cp.async.ca.shared.global [%r1], [%rd14], 16; cp.async.commit_group;"
     " cp.async.wait_group 0; ld.shared.u64 %rd0, [%r1]; E:",
     {0x1122334455667788, 0, 0}},
    {"mad.lo.u32 %r1, %r15, 16, %r13; add.s64 %rd1, %rd14, 0; setp.ne.u32 %p0, %r15, 0; @%p0 bra E;"
     " st.shared.u64 [%r1], 42; st.shared.u64 [%r1+8], 43;"
     " cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16; cp.async.bulk.commit_group;"
     " cp.async.bulk.wait_group 0; ld.global.u64 %rd0, [%rd1]; E:",
     {42, 0, 0}},
};

TEST_EACH(values, COUNT_OF(value_cases)) {
    const struct value_case *c = &value_cases[_i];
    static const uint32_t threads[] = {0, 5, 40};
    for (uint64_t seed = 0; seed < 8; seed++) {
        uint64_t results[THREADS];
        grout_text text = {0};
        grout_diags *diags = grout_diags_new();
        bool is_done = run(c->body, seed, results, diags);
        grout_diags_render(diags, &(grout_render_options){0}, &text);
        ck_assert_msg(is_done, "%s", text.data);
        for (uint32_t i = 0; i < 3; i++) {
            ck_assert_msg(results[threads[i]] == c->expected[i],
                          "%s\nthread %u, seed %u: 0x%llx, not 0x%llx", c->body, threads[i],
                          (unsigned)seed, (unsigned long long)results[threads[i]],
                          (unsigned long long)c->expected[i]);
        }
        grout_text_free(&text);
        grout_diags_free(diags);
    }
}

static const struct fault_case {
    const char *body;
    grout_diag_code code;
    const char *message;
} fault_cases[] = {
    {"add.s32 %r0, %r1, 1; setp.eq.s32 %p0, %r0, 0; @%p0 ret;", GROUT_DIAG_PTX_FAULT,
     "the guard of the instruction was never set"},
    {"ld.shared.u32 %r1, [%r13]; add.u32 %r1, %r13, %r1; ld.shared.u32 %r0, [%r1];",
     GROUT_DIAG_PTX_FAULT, "the address of a load was never set"},
    {ONES MMA "{%r1, %r2, %r2, %r2}, {%r2, %r2}, {%f4, %f4, %f4, %f4};"
              " setp.eq.f32 %p1, %f1, 0f00000000; @%p1 ret;",
     GROUT_DIAG_PTX_FAULT, "the guard of the instruction was never set"},
    {ONES MMA "{%r2, %r2, %r2, %r2}, {%r2, %r1}, {%f4, %f4, %f4, %f4};"
              " setp.eq.f32 %p1, %f3, 0f00000000; @%p1 ret;",
     GROUT_DIAG_PTX_FAULT, "the guard of the instruction was never set"},
    {ONES MMA "{%r2, %r2, %r2, %r2}, {%r2, %r2}, {%f4, %f4, %f5, %f4};"
              " setp.eq.f32 %p1, %f2, 0f00000000; @%p1 ret;",
     GROUT_DIAG_PTX_FAULT, "the guard of the instruction was never set"},
    {"ld.shared.u64 %rd0, [%r13+4];", GROUT_DIAG_PTX_FAULT,
     "the address 0x404 is not a multiple of 8"},
    {"ld.shared.u32 %r0, [%r13+1024];", GROUT_DIAG_PTX_FAULT,
     "no memory of the space 'shared' is at 0x800, 4 bytes"},
    {"st.global.u32 [%rd14+65536], 0;", GROUT_DIAG_PTX_FAULT, NULL},
    {"setp.eq.u32 %p0, %r14, 0; @%p0 bra L; bar.sync 0; bra E; L: bra L; E:",
     GROUT_DIAG_LIMIT_REACHED, NULL},
    {"bar.sync 0, 48;", GROUT_DIAG_PTX_FAULT,
     "barrier 0 for 48 threads: there are 16 barriers, for whole warps of the CTA"},
    {"bar.sync %r14;", GROUT_DIAG_PTX_FAULT,
     "the lanes of a warp do not agree on a barrier: 1 here, 0 before"},
    {"mbarrier.arrive.shared::cta.b64 _, [%r13];", GROUT_DIAG_PTX_FAULT, NULL},
    {"setp.eq.u32 %p0, %r15, 0; @%p0 mbarrier.init.shared::cta.b64 [%r13], 1; bar.sync 0;"
     " W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], 0; @!%p2 bra W;",
     GROUT_DIAG_PTX_HANG, NULL},
    {"mov.b32 %r1, s; mbarrier.init.shared::cta.b64 [%r1], 1;", GROUT_DIAG_PTX_FAULT,
     "an mbarrier is here, and no mbarrier.inval came before"},
    {"L: bra L;", GROUT_DIAG_LIMIT_REACHED, NULL},
    {"trap;", GROUT_DIAG_PTX_FAULT, "the kernel has trapped"},
    {"shfl.sync.idx.b32 %r0, %r14, 0, 31, 1;", GROUT_DIAG_PTX_FAULT,
     "lanes 0xffffffff run it, but its mask is 0x1"},
    {"mapa.shared::cluster.u32 %r0, %r13, 1;", GROUT_DIAG_PTX_FAULT, "CTA 1 of a cluster of 1"},
    {"mul24.lo.s32 %r0, %r1, %r2;", GROUT_DIAG_PTX_UNSUPPORTED,
     "the emulator does not run 'mul24' yet"},
    {"ld.shared.v2.u32 {%r0, 5}, [%r13];", GROUT_DIAG_PTX_UNSUPPORTED,
     "the result of 'ld' is not a register"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%tid.x}, [%r13];", GROUT_DIAG_PTX_UNSUPPORTED,
     "the result of 'ldmatrix' is not a register"},
    {"mov.b64 %rd2, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3},"
     " %rd2, %rd2, 0, 1, 1, 0, 0;",
     GROUT_DIAG_PTX_FAULT, "the first wgmma.mma_async of a warp, without a wgmma.fence before"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %rd1}, %rd2, %rd3, 1, 1,"
     " 1, 0, 0;",
     GROUT_DIAG_PTX_UNSUPPORTED, "register 3 of d has not 32 bits"},
    {".local .b8 far[524289]; mov.b32 %r0, 0;", GROUT_DIAG_PTX_FAULT,
     "a thread has at most 512 KiB of local memory and a kernel at most 32764 bytes of parameters,"
     " not 524289 and 8"},
    {".shared .b8 far[4294967296]; mov.b32 %r0, 0;", GROUT_DIAG_BAD_ARGUMENT, NULL},
    {"setmaxnreg.inc.sync.aligned.u32 260;", GROUT_DIAG_PTX_UNSUPPORTED, NULL},
    {"barrier.cluster.wait;", GROUT_DIAG_PTX_FAULT,
     "barrier.cluster.wait without an arrive before"},
};

TEST_EACH(faults, COUNT_OF(fault_cases)) {
    const struct fault_case *c = &fault_cases[_i];
    uint64_t results[THREADS];
    grout_diags *diags = grout_diags_new();
    ck_assert(!run(c->body, (uint64_t)_i, results, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_int_eq(diag->code, c->code);
    if (c->message != NULL && diag->code != GROUT_DIAG_PTX_HANG) {
        ck_assert_str_eq(diag->message, c->message);
    }
    ck_assert(diag->place.line > 0 || c->code == GROUT_DIAG_BAD_ARGUMENT);
    grout_diags_free(diags);
}

/* With two warps, seeds 1, 4, 7 have a slow first one, and seeds 2, 5, 8 a slow second one: it
 * takes the later ticket. */
TEST_EACH(slow_warps, 3) {
    static const char body[] =
        "setp.eq.u32 %p0, %r15, 0; @%p0 st.shared.u32 [%r13], 0; bar.sync 0; mov.b32 %r1, 0;"
        " L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 200; @%p1 bra L;"
        " setp.eq.u32 %p2, %r14, 0; @%p2 atom.shared.add.u32 %r0, [%r13], 1;";
    uint64_t results[THREADS];
    grout_diags *diags = grout_diags_new();
    for (uint64_t slow = 0; slow < 2; slow++) {
        ck_assert(run(body, 3 * (uint64_t)_i + 1 + slow, results, diags));
        ck_assert_uint_eq(results[32 * slow], 1);
        ck_assert_uint_eq(results[32 * (1 - slow)], 0);
    }
    grout_diags_free(diags);
}

/* The first warp gives registers back, and the second one takes as many. */
static const struct register_case {
    const char *directives, *given, *taken;
    bool is_enough;
} register_cases[] = {{"\n.maxnreg 64", "24", "104", true},
                      {"\n.maxnreg 64", "24", "112", false},
                      {"\n.maxnreg 64", "32", "104", false},
                      {"\n.maxnreg 64", "64", "64", true},
                      {"\n.maxntid 64\n.minnctapersm 8", "24", "232", true}, /* 128 a lane */
                      {"\n.maxntid 64\n.minnctapersm 8", "24", "240", false},
                      {"\n.maxntid 64\n.minnctapersm 1", "248", "256", true}, /* 256, no more */
                      {"\n.maxntid 64", "24", "256", true}, /* not known: no effect */
                      {"", "24", "256", true}};

TEST_EACH(registers, COUNT_OF(register_cases)) {
    const struct register_case *it = &register_cases[_i];
    uint64_t results[THREADS];
    for (uint64_t seed = 0; seed < 4; seed++) {
        grout_diags *diags = grout_diags_new();
        grout_text body = {0};
        grout_text_add(
            &body,
            "setp.lt.u32 %%p0, %%r15, 32; @%%p0 bra FIRST; setmaxnreg.inc.sync.aligned.u32 "
            "%s; mov.b32 %%r0, 7; bra OVER; FIRST: setmaxnreg.dec.sync.aligned.u32 %s; "
            "mov.b32 %%r0, 7; OVER:",
            it->taken, it->given);
        ck_assert(run_with((manner){it->directives, seed, false}, body.data, results, diags) ==
                  it->is_enough);
        if (it->is_enough) {
            ck_assert_uint_eq(results[40], 7);
        } else {
            ck_assert_uint_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_PTX_HANG);
        }
        grout_text_free(&body);
        grout_diags_free(diags);
    }
}

/* What the search for races does not know is no race, and not right either. */
TEST_EACH(restricted_fences, 4) {
    static const char *const fences[] = {
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"};
    uint64_t results[THREADS];
    grout_text body = {0};
    grout_diags *diags = grout_diags_new();
    grout_text_add(&body, "%s mov.b32 %%r0, 7;", fences[_i]);
    ck_assert(run(body.data, 1, results, diags));
    ck_assert(!run_with((manner){"", 1, true}, body.data, results, diags));
    ck_assert_uint_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_PTX_UNSUPPORTED);
    grout_text_free(&body);
    grout_diags_free(diags);
}
