/* check_verify_sync.c - rules of clusters, barriers of both styles, semaphores, atomics, warps and
 * partitions: the limits from both sides, and legal kernels that stay silent.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

typedef struct sync_case {
    const char *header; /* after the parameters */
    const char *body;
    grout_diag_code code; /* NONE: nothing is said */
} sync_case;

#define LAUNCH    GROUT_DIAG_BAD_LAUNCH
#define ATTRIBUTE GROUT_DIAG_BAD_ATTRIBUTE
#define KIND      GROUT_DIAG_BARRIER_KIND
#define ARRIVALS  GROUT_DIAG_BARRIER_ARRIVALS
#define SPACE     GROUT_DIAG_BAD_SPACE
#define INDEX     GROUT_DIAG_BAD_INDEX
#define SCOPE     GROUT_DIAG_COLLECTIVE_SCOPE
#define REGION    GROUT_DIAG_BAD_REGION
#define TYPE      GROUT_DIAG_TYPE_CLASS
#define PIECES    GROUT_DIAG_ASYNC_PIECES
#define BOX       GROUT_DIAG_TMA_BOX

#define T    "scratch %t : smem f32[64, 64]\n"
#define BAR  "scratch %bar : barrier[2]\n"
#define MBAR "scratch %m : mbarrier[2]\n"
#define SEM  "scratch %s : semaphore[2]\n"
#define TWO  "cluster(cx = 2)"

/* %a: in f32[64, 64], %h: inout f16[64, 64], %i: inout i32[64], %u: inout u32[64], %b: out f32[64,
 * 64] */
static const sync_case sync_cases[] = {
    /* clusters */
    {"cluster(cx = 16)", "store %b[0, 0], 1.0", 0},
    {"cluster(cx = 17)", "store %b[0, 0], 1.0", LAUNCH},
    {"cluster(cx = 2, cy = 2, cz = 2, cw = 2)", "store %b[0, 0], 1.0", 0},
    {"cluster(cx = 4, cy = 5)", "store %b[0, 0], 1.0", LAUNCH},
    {"cluster(cx = 0)", "store %b[0, 0], 1.0", LAUNCH},
    {"grid(x = 1073741823) cluster(cx = 2)", "store %b[0, 0], 1.0", 0},
    {"grid(x = 1073741824) cluster(cx = 2)", "store %b[0, 0], 1.0", LAUNCH},
    {"cluster(cx = 3, cy = 1)", "store %b[0, 0], 1.0", 0},
    /* places of a cluster */
    {TWO, T "store %t.cluster(1)[0, 0], 1.0\n store %b, (load %t.cluster(0))", 0},
    {TWO, T "store %t.cluster(2)[0, 0], 1.0", INDEX},
    {TWO, T "store %t[0].cluster(-1)[0], 1.0", INDEX},
    {"cluster(cx = 2, cy = 3)", T "store %t.cluster(1, 2)[0, 0], 1.0", 0},
    {"cluster(cx = 2, cy = 3)", T "store %t.cluster(2, 1)[0, 0], 1.0", INDEX},
    {"cluster(cx = 2, cy = 3)", T "store %t.cluster((axis_index cy), 0)[0, 0], 1.0", 0},
    {TWO, "scratch %i4 : smem i32[4]\n atomic_add %i4.cluster(1), (load %i[ds(0, 4)])", 0},
    {TWO, T "copy_smem_to_gmem %t.cluster(1), %b", SPACE},
    {TWO, T BAR "copy_gmem_to_smem %a, %t.cluster(1), %bar[0]", SPACE},
    {TWO, T "async_copy %a, %t.cluster(1)", SPACE},
    /* cluster barriers */
    {TWO, "scratch %p : barrier[1] arrivals(524287) cluster(cx)\n barrier_arrive %p[0]", 0},
    {TWO, "scratch %p : barrier[1] arrivals(524288) cluster(cx)\n barrier_arrive %p[0]", ARRIVALS},
    {"cluster(cx = 2, cy = 4)",
     "scratch %p : barrier[1] arrivals(209715) cluster(cx, cy)\n barrier_arrive %p[0]", 0},
    {"cluster(cx = 2, cy = 4)",
     "scratch %p : barrier[1] arrivals(209716) cluster(cx, cy)\n barrier_arrive %p[0]", ARRIVALS},
    {"cluster(cx = 2, cy = 4)",
     "scratch %p : barrier[1] arrivals(131071) cluster((cx, cy))\n barrier_arrive %p[0]", 0},
    {"cluster(cx = 2, cy = 4)",
     "scratch %p : barrier[1] arrivals(131072) cluster((cx, cy))\n barrier_arrive %p[0]", ARRIVALS},
    {TWO, T "scratch %p : barrier[1] cluster(cx)\n copy_gmem_to_smem %a, %t, %p[0]", KIND},
    {TWO, "scratch %p : barrier[1] cluster(cx)\n async_copy_arrive %p[0]", KIND},
    {TWO, T "scratch %p : barrier[1] cluster(cx)\n async_store_smem (load %a), %t, %p[0]", 0},
    {TWO, "scoped(%p : barrier[1] cluster(cx)) collective {\n barrier_arrive %p[0]\n }", 0},
    {TWO, "scoped(%p : barrier[1] cluster(cx)) {\n barrier_arrive %p[0]\n }", SCOPE},
    /* barrier kinds */
    {TWO, MBAR "mbarrier_arrive %m.cluster(1)[0]\n mbarrier_expect %m[0].cluster(1), 16", 0},
    {TWO, MBAR "mbarrier_wait %m.cluster(1)[0], 0", KIND},
    {TWO, MBAR "mbarrier_init %m.cluster(1)[0], 1", KIND},
    {TWO, MBAR "mbarrier_invalidate %m.cluster(1)[0]", KIND},
    {TWO, MBAR "if (mbarrier_test %m.cluster(1)[0], 0) {\n debug_print \"\"\n }", KIND},
    {TWO, BAR "barrier_arrive %bar.cluster(1)[0]\n barrier_arrive %bar[1].cluster(0) count(1)", 0},
    {TWO, BAR "barrier_arrive %bar.cluster(2)[0]", INDEX},
    {TWO, BAR "barrier_arrive %bar.cluster(-1)[0]", INDEX},
    {TWO, "scratch %p : barrier[1] cluster(cx)\n barrier_arrive %p.cluster(1)[0]", KIND},
    {TWO, "scoped(%p : barrier[1]) {\n barrier_arrive %p[0]\n }", 0},
    {TWO, "scoped(%p : barrier[1]) {\n barrier_arrive %p[0].cluster(1)\n }", KIND},
    {TWO, "scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0].cluster(0)\n }", KIND},
    {TWO, BAR "if (barrier_test %bar.cluster(1)[0]) {\n debug_print \"\"\n }", KIND},
    {TWO, BAR "barrier_wait %bar.cluster(1)[0]", KIND},
    {TWO, BAR "async_copy_arrive %bar.cluster(1)[0]", KIND},
    {"", MBAR "barrier_wait %m[0]", KIND},
    {"", BAR "mbarrier_wait %bar[0], 0", KIND},
    {"", BAR MBAR "async_copy_arrive %bar[0]\n async_copy_arrive %m[0]", 0},
    {"", T BAR MBAR "copy_gmem_to_smem %a, %t, %bar[0]\n copy_gmem_to_smem %a, %t, %m[0]", 0},
    {TWO, T BAR "copy_gmem_to_smem %a, %t, %bar[0] collective_axes(cx)", 0},
    {TWO, T MBAR "copy_gmem_to_smem %a, %t, %m[0] collective_axes(cx)", KIND},
    {TWO, T MBAR "copy_gmem_to_smem %a, %t, %m[0] multicast(cx)", 0},
    {TWO, T BAR "copy_gmem_to_smem %a, %t, %bar[0] multicast(cx)", KIND},
    {"cluster(cx = 1)", T BAR "copy_gmem_to_smem %a, %t, %bar[0] collective_axes(cx)", 0},
    {TWO, T MBAR "copy_gmem_to_smem %a, %t, %m[0] multicast(cx) collective_axes(cx)", ATTRIBUTE},
    /* parts of a collective copy */
    {"cluster(cx = 16)",
     T BAR "copy_gmem_to_smem %a[ds(0, 16)], %t[ds(0, 16)], %bar[0] collective_axes(cx)", 0},
    {"cluster(cx = 3)", T BAR "copy_gmem_to_smem %a, %t, %bar[0] collective_axes(cx)", BOX},
    {"cluster(cx = 3)",
     T BAR "copy_gmem_to_smem %a[ds(0, 24)], %t[ds(0, 24)], %bar[0] collective_axes(cx)", 0},
    {"cluster(cx = 2)",
     "scratch %w : smem f32[8, 32] tile(8, 32) swizzle(128)\n" BAR
     "copy_gmem_to_smem %a[ds(0, 8), ds(0, 32)], %w, %bar[0] collective_axes(cx)",
     BOX},
    {"cluster(cx = 2)",
     "scratch %w : smem f32[16, 32] tile(8, 32) swizzle(128)\n" BAR
     "copy_gmem_to_smem %a[ds(0, 16), ds(0, 32)], %w, %bar[0] collective_axes(cx)",
     0},
    {"cluster(cx = 2, cy = 2)",
     "scratch %w : smem f32[16, 32] tile(8, 32) swizzle(128)\n" BAR
     "copy_gmem_to_smem %a[ds(0, 16), ds(0, 32)], %w, %bar[0] collective_axes(cx, cy)",
     BOX},
    /* the explicit style */
    {"", MBAR "mbarrier_init %m[0], 1\n mbarrier_init %m[1], 1048575", 0},
    {"", MBAR "mbarrier_init %m[0], 0", ARRIVALS},
    {"", MBAR "mbarrier_init %m[0], 1048576", ARRIVALS},
    {"", MBAR "mbarrier_expect %m[0], 0\n mbarrier_expect %m[0], 1048575", 0},
    {"", MBAR "mbarrier_expect %m[0], -1", ATTRIBUTE},
    {"", MBAR "mbarrier_expect %m[0], 1048576", ATTRIBUTE},
    {"", MBAR "mbarrier_arrive %m[0] count(1048575)", 0},
    {"", MBAR "mbarrier_arrive %m[0] count(1048576)", ARRIVALS},
    {"", MBAR "mbarrier_wait %m[0], 0\n mbarrier_wait %m[0], 1", 0},
    {"", MBAR "mbarrier_wait %m[0], 2", ATTRIBUTE},
    {"", MBAR "mbarrier_wait %m[0], -1", ATTRIBUTE},
    {"", MBAR "for %k in 0..4 {\n mbarrier_wait %m[0], %k\n }", 0},
    {"cluster(cx = 4)",
     MBAR "mbarrier_arrive %m[0] from_cta(0)\n mbarrier_arrive %m[0] from_cta(3)", 0},
    {"cluster(cx = 4)", MBAR "mbarrier_arrive %m[0] from_cta(4)", ATTRIBUTE},
    {"cluster(cx = 4)", MBAR "mbarrier_arrive %m[0] from_cta(-1)", ATTRIBUTE},
    {"cluster(cx = 4)", MBAR "mbarrier_arrive %m.cluster(0)[0] from_cta(0)", ATTRIBUTE},
    {"", MBAR "mbarrier_arrive %m[0] from_cta(0)", 0},
    /* who initialises */
    {"threads(wg = 2)", MBAR "mbarrier_init %m[0], 1", SCOPE},
    {"threads(wg = 2)", MBAR "%wg = axis_index wg\n mbarrier_init %m[%wg], 1", 0},
    {"threads(wg = 2)", MBAR "if (eq (axis_index wg), 0) {\n mbarrier_init %m[0], 1\n }", 0},
    {"threads(wg = 2)", MBAR "for %k in 0..2 {\n mbarrier_init %m[%k], 1\n }", 0},
    {"threads(wg = 2)",
     MBAR "mbarrier_init %m[0], 1\n warp_specialize {\n mbarrier_arrive %m[0]\n } partition {\n "
          "mbarrier_wait %m[0], 0\n }",
     0},
    {"", MBAR "warp_map(%w) {\n mbarrier_init %m[0], 1\n }", SCOPE},
    {"", "scratch %m : mbarrier[4]\n warp_map(%w) {\n mbarrier_init %m[%w], 1\n }", 0},
    {"", MBAR "warp_map(%w) {\n if (eq %w, 0) {\n mbarrier_init %m[0], 1\n }\n }", 0},
    /* orders and scopes */
    {TWO, BAR "barrier_arrive %bar[0] order(release) scope(cluster)", 0},
    {"", BAR "barrier_arrive %bar[0] order(relaxed) scope(cta)", 0},
    {"", BAR "barrier_arrive %bar[0] order(acquire)", ATTRIBUTE},
    {"", BAR "barrier_arrive %bar[0] order(acq_rel)", ATTRIBUTE},
    {"", BAR "barrier_wait %bar[0] order(acquire)\n barrier_wait %bar[0] order(relaxed)", 0},
    {"", BAR "barrier_wait %bar[0] order(release)", ATTRIBUTE},
    {"", BAR "barrier_wait %bar[0] scope(gpu)", ATTRIBUTE},
    {"", MBAR "mbarrier_expect %m[0], 16 order(acquire)", ATTRIBUTE},
    {"", MBAR "mbarrier_wait %m[0], 0 scope(sys)", ATTRIBUTE},
    {"", SEM "semaphore_signal %s[0], 1 order(relaxed) scope(sys)", 0},
    {"", SEM "semaphore_signal %s[0], 1 order(acquire)", ATTRIBUTE},
    {"", SEM "semaphore_wait %s[0], 1 order(release)", ATTRIBUTE},
    {"", "cluster_arrive order(relaxed)\n cluster_wait order(relaxed)", 0},
    {"", "cluster_arrive order(acquire)", ATTRIBUTE},
    {"", "cluster_wait order(release)", ATTRIBUTE},
    {"", "cluster_barrier order(acq_rel)\n cluster_barrier order(relaxed)", 0},
    {"", "cluster_barrier order(release)", ATTRIBUTE},
    {"", "%x = atomic_fetch_add %i[0], 1 order(acq_rel) scope(cta)\n store %i[1], %x", 0},
    /* semaphores */
    {"", SEM "semaphore_signal %s[0], 1\n semaphore_wait %s[0], 2147483647", 0},
    {"", SEM "semaphore_signal %s[0], 0", ATTRIBUTE},
    {"", SEM "semaphore_wait %s[0], -1 no_decrement", ATTRIBUTE},
    {"", SEM "for %k in 0..2 {\n semaphore_signal %s[0], %k\n }", 0},
    {"", "scoped(%s : semaphore[1]) {\n semaphore_signal %s[0], 1\n }", 0},
    {"", "scoped(%s : semaphore[1] global) {\n semaphore_signal %s[0], 1\n }",
     GROUT_DIAG_SCRATCH_PLACE},
    {"", "scoped(%g : gmem f32[4]) {\n store %g[0], 1.0\n }", GROUT_DIAG_SCRATCH_PLACE},
    {"threads(wg = 2)", "scoped(%s : semaphore[1]) {\n semaphore_signal %s[0], 1\n }", SCOPE},
    {"threads(wg = 2)", "scoped(%s : semaphore[1]) collective {\n semaphore_signal %s[0], 1\n }",
     0},
    /* block barriers that not every thread comes to */
    {"threads(wg = 2)", "block_barrier", 0},
    {"threads(wg = 2)", "if (eq (axis_index wg), 0) {\n block_barrier\n }", SCOPE},
    {"threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n block_barrier\n } else {\n block_barrier\n }", 0},
    {"threads(wg = 2)", "if (lt (axis_index wg), 2) {\n block_barrier\n }", 0},
    {"threads(wg = 2)", "if (gt (axis_index wg), 5) {\n block_barrier\n }", 0},
    {"grid(x = 2) threads(wg = 2)", "if (eq (axis_index x), 0) {\n block_barrier\n }", 0},
    {"threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n for %k in 0..3 {\n block_barrier\n }\n } else {\n "
     "block_barrier\n block_barrier\n block_barrier\n }",
     0},
    {"threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n for %k in 0..3 {\n block_barrier\n }\n } else {\n "
     "block_barrier\n block_barrier\n }",
     SCOPE},
    {"threads(wg = 2)",
     "%x = load %i[0]\n if (eq (axis_index wg), 0) {\n for %k in 0..%x {\n block_barrier\n }\n } "
     "else {\n block_barrier\n }",
     0},
    {"threads(wg = 3)",
     "%x = load %i[0]\n if (eq (axis_index wg), 0) {\n if (eq %x, 0) {\n block_barrier\n }\n } "
     "else {\n block_barrier\n block_barrier\n }",
     SCOPE},
    {"threads(wg = 2)",
     "%n = axis_index wg\n for %k in 0..(1 << 30) {\n for %l in 0..(1 << 30) {\n for %m in 0..(1 "
     "<< 30) {\n block_barrier\n }\n }\n }\n if (eq %n, 0) {\n block_barrier\n }",
     0},
    /* barriers of several dimensions */
    {"", "scratch %q : barrier[2, 3]\n barrier_arrive %q[1, 2]", 0},
    {"", "scratch %q : barrier[2, 3]\n barrier_arrive %q[1, 3]", INDEX},
    {"", "scratch %q : barrier[2, 3]\n barrier_arrive %q[2, 0]", INDEX},
    {"", "scratch %q : barrier[2, 3]\n barrier_arrive %q[-1, 0]", INDEX},
    {"", "scratch %q : barrier[2, 1]\n barrier_arrive %q[1]", 0},
    {"", "scratch %q : barrier[1]\n barrier_arrive %q", 0},
    {"", "scratch %q : semaphore[1024, 1024] global\n semaphore_signal %q[7, 7], 1", 0},
    /* named barriers */
    {"threads(wg = 2)", "named_barrier_sync 0, 2\n named_barrier_sync 12, 1", 0},
    {"threads(wg = 2)", "named_barrier_sync 13, 2", ATTRIBUTE},
    {"threads(wg = 1)", "named_barrier_sync 13, 1", 0},
    {"threads(wg = 1)", "named_barrier_sync 14, 1", ATTRIBUTE},
    {"threads(wg = 8)", "named_barrier_sync 6, 8", 0},
    {"threads(wg = 8)", "named_barrier_sync 7, 8", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync 0, 256 lanes\n named_barrier_arrive 0, 2", 0},
    {"threads(wg = 2)", "named_barrier_sync 0, 32 lanes\n named_barrier_sync 1, 160 lanes", 0},
    {"threads(wg = 2)", "named_barrier_sync 0, 0 lanes", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync 0, 48 lanes", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync 0, 288 lanes", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync 0, 160 lanes\n named_barrier_arrive 0, 1", ATTRIBUTE},
    {"threads(wg = 2)", "%x = load %i[0]\n named_barrier_sync %x, 2", 0},
    {"threads(wg = 2)", "%x = load %i[0]\n named_barrier_sync %x, 3", ATTRIBUTE},
    {"threads(wg = 2)", "%x = load %i[0]\n named_barrier_sync 1, %x lanes", 0},
    {"threads(wg = 2)", "%x = load %i[0]\n named_barrier_sync 13, %x", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync -1, 2", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_sync 0, 3", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_arrive 0, 0", ATTRIBUTE},
    {"threads(wg = 2)", "named_barrier_arrive 0, 2\n named_barrier_sync 0, 1", ATTRIBUTE},
    /* atomics and reductions */
    {"", "atomic_add %h, (load %h)\n atomic_max %h, (load %h)\n atomic_add %b, (load %a)", 0},
    {"", "atomic_max %b, (load %a)", TYPE},
    {"", "atomic_add %a, (load %a)", GROUT_DIAG_BAD_DIRECTION},
    {"", "scratch %q : smem f16[64, 64]\n atomic_add %q, (load %h)\n atomic_min %q, (load %h)", 0},
    {"", "scratch %q : smem f64[64]\n atomic_add %q, (broadcast 1.0 : f64[64])", TYPE},
    {"", "%x = atomic_fetch_max %i, (load %i)\n %y = atomic_exchange %i, %x order(relaxed)", 0},
    {"", "%x = atomic_fetch_or %i, (load %i) order(acquire)", GROUT_DIAG_SHAPE_MISMATCH},
    {"", "%x = atomic_fetch_xor %i[0], (load %i[1]) order(acquire)", 0},
    {"", "scratch %q : smem i32[64]\n atomic_min %q, (load %i)\n atomic_xor %q, (load %i)", 0},
    {"", T "copy_smem_to_gmem %t, %b reduce(add)", 0},
    {"", T "copy_smem_to_gmem %t, %b reduce(min)", TYPE},
    {"", "scratch %q : smem f16[64, 64]\n copy_smem_to_gmem %q, %h reduce(max)", 0},
    {"", "scratch %q : smem f16[64, 64]\n copy_smem_to_gmem %q, %h reduce(or)", TYPE},
    {"", "scratch %q : smem u32[64]\n copy_smem_to_gmem %q, %u reduce(inc)", 0},
    {"", "scratch %q : smem i32[64]\n copy_smem_to_gmem %q, %i reduce(dec)", TYPE},
    {"", "scratch %q : smem i32[64]\n copy_smem_to_gmem %q, %i reduce(xor)", 0},
    /* async_store_smem */
    {TWO, T BAR "async_store_smem (load %a), %t.cluster(1), %bar[0]", 0},
    {"", T BAR "async_store_smem (load %a), %t, %bar[0]", LAUNCH},
    {TWO, T BAR "async_store_smem (load %a[0, ds(0, 4)]), %t[0, ds(0, 4)], %bar[0]", 0},
    {TWO, T BAR "async_store_smem (load %a[0, ds(0, 6)]), %t[0, ds(0, 6)], %bar[0]", PIECES},
    {TWO, T BAR "async_store_smem (load %a[0, 0]), %t[0, 0], %bar[0]", GROUT_DIAG_OPERAND_KIND},
    {TWO, T BAR "async_store_smem (load %a), %t.cluster(1), %bar.cluster(1)[0]", KIND},
    {TWO, T BAR "async_store_smem (load %a), %t, %bar[0] reduce(add)", TYPE},
    {TWO, "scratch %q : smem i32[64]\n" BAR "async_store_smem (load %i), %q, %bar[0] reduce(max)",
     0},
    {TWO, "scratch %q : smem u32[64]\n" BAR "async_store_smem (load %u), %q, %bar[0] reduce(inc)",
     ATTRIBUTE},
    {TWO,
     "scratch %q : smem f16[64, 64]\n" BAR
     "async_store_smem (load %h), %q.transpose(1, 0), %bar[0]",
     PIECES},
    /* async_copy */
    {"", T "async_copy %a, %t\n async_copy_wait 0", 0},
    {"", T "async_copy %a, %t.transpose(1, 0)", 0},
    {"", T "async_copy %t, %b", SPACE},
    {"", "scratch %q : smem f16[64, 64]\n async_copy %h, %q", 0},
    {"", "scratch %q : smem f16[64, 64]\n async_copy %h.transpose(1, 0), %q", PIECES},
    {"", "scratch %q : smem f16[64, 2]\n async_copy %h[:, ds(2, 2)], %q", 0},
    {"", "scratch %q : smem f16[64, 2]\n async_copy %h[:, ds(1, 2)], %q", PIECES},
    {"", "scratch %q : smem f16[64, 3]\n async_copy %h[:, ds(2, 3)], %q", PIECES},
    {"", "scratch %q : smem f16[64]\n async_copy %h[:, 0], %q", PIECES},
    {"", "async_copy_wait -1", ATTRIBUTE},
    /* descriptors */
    {"", T BAR "%d = tensor_descriptor %a : f32[64, 64]\n copy_gmem_to_smem %d[0, 0], %t, %bar[0]",
     0},
    {"", T BAR "%d = tensor_descriptor %a : f32[64, 64]\n copy_gmem_to_smem %d[9, -4], %t, %bar[0]",
     0},
    {"", T BAR "%d = tensor_descriptor %a : f32[64, 64]\n copy_gmem_to_smem %d[0, 2], %t, %bar[0]",
     INDEX},
    {"", T "%d = tensor_descriptor %b : f32[64, 64]\n copy_smem_to_gmem %t, %d[0, -4]", INDEX},
    {"", T "%d = tensor_descriptor %a : f32[64, 64]\n copy_smem_to_gmem %t, %d[0, 0]",
     GROUT_DIAG_BAD_DIRECTION},
    {"",
     "scratch %q : smem f32[64, 2]\n" BAR
     "%d = tensor_descriptor %a : f32[64, 2]\n copy_gmem_to_smem %d[0, 0], %q, %bar[0]",
     GROUT_DIAG_TMA_INNER_BYTES},
    /* warps */
    {"",
     T BAR MBAR SEM
     "warp_map(%w) {\n if (eq %w, 0) {\n copy_gmem_to_smem %a, %t, %bar[0]\n barrier_wait "
     "%bar[0]\n "
     "commit_smem\n copy_smem_to_gmem %t, %b\n wait_smem_to_gmem 0\n }\n store %t[%w, 0], 1.0\n "
     "commit_gmem\n semaphore_signal %s[0], 1\n mbarrier_wait %m[0], 0\n atomic_add %i[%w], 1\n }",
     0},
    {"", "warp_map(%w) {\n block_barrier\n }", REGION},
    {"", "warp_map(%w) {\n cluster_arrive\n }", REGION},
    {"", "warp_map(%w) {\n named_barrier_arrive 0, 1\n named_barrier_sync %w, 32 lanes\n }", 0},
    {"", "warp_map(%w) {\n if (eq %w, 0) {\n wgmma_wait 0\n }\n }", REGION},
    {"", "warp_map(%w) {\n warp_map(%v) {\n debug_print \"\"\n }\n }", REGION},
    {"", "warp_map(%w) {\n scoped(%q : smem f32[4]) {\n store %q[0], 1.0\n }\n }", REGION},
    {"", "warp_map(%w) {\n set_max_registers 40 decrease\n }", REGION},
    {"", T "warp_map(%w) {\n async_copy %a, %t\n }", REGION},
    {"", "warp_map(%w) {\n store %b[%w], (load %a[%w])\n }", REGION},
    {"", "%v = load %a[0]\n warp_map(%w) {\n store %b[%w], %v\n }", REGION},
    {"", "%v = load %a[0, 0]\n warp_map(%w) {\n store %b[%w, 0], %v\n }", 0},
    /* partitions */
    {"threads(wg = 2)",
     "%v = load %a[0]\n warp_specialize {\n store %b[0], %v\n } partition {\n store %b[1, 0], "
     "1.0\n }",
     0},
    {"threads(wg = 2)",
     "%v = load %a[0]\n warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n store %b[0], "
     "%v\n }",
     REGION},
    {"threads(wg = 2)",
     "%v = load %a[0, 0]\n warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n store %b[0, "
     "0], "
     "%v\n }",
     0},
    {"threads(wg = 2)",
     "warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n %v = load %a[0]\n for %k in 0..2 "
     "{\n "
     "store %b[0], %v\n }\n }",
     0},
    {"", "warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n store %b[0, 0], 1.0\n }",
     LAUNCH},
    {"threads(wg = 3)",
     "warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n store %b[0, 0], 1.0\n }", 0},
    {"threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n "
     "store "
     "%b[0, 0], 1.0\n }\n }",
     REGION},
    {"threads(wg = 2)",
     "warp_specialize {\n block_barrier\n } partition {\n block_barrier\n store %b[0, 0], 1.0\n }",
     0},
    {"threads(wg = 2)",
     "warp_specialize {\n block_barrier\n } partition {\n store %b[0, 0], 1.0\n }", SCOPE},
    {"threads(wg = 3)", "warp_specialize {\n block_barrier\n } partition {\n block_barrier\n }",
     SCOPE},
    {"threads(wg = 2)",
     "block_barrier\n warp_specialize {\n store %b[1, 0], 1.0\n } partition {\n store %b[0, 0], "
     "1.0\n }\n block_barrier",
     0},
    {"threads(wg = 2)",
     "scoped(%q : smem f32[4]) {\n store %q[0], 1.0\n }\n warp_specialize {\n store %b[1, 0], "
     "1.0\n "
     "} partition {\n scoped(%acc : acc f32[64, 64]) {\n store %b, (load %acc)\n }\n }",
     0},
    {"threads(wg = 2)",
     "warp_specialize {\n scoped(%q : smem f32[4]) {\n store %q[0], 1.0\n }\n } partition {\n "
     "store "
     "%b[0, 0], 1.0\n }",
     SCOPE},
    {"threads(wg = 2)",
     "scoped(%q : smem f32[4]) collective {\n store %q[0], 1.0\n }\n warp_specialize {\n store "
     "%b[1, "
     "0], 1.0\n } partition {\n store %b[0, 0], 1.0\n }",
     SCOPE},
    {"threads(wg = 3)",
     "warp_specialize {\n set_max_registers 40 decrease\n } partition {\n set_max_registers 232 "
     "increase\n } partition {\n set_max_registers 232 increase\n }",
     0},
    {"threads(wg = 3)",
     "warp_specialize {\n set_max_registers 40 decrease\n } partition {\n set_max_registers 240 "
     "increase\n } partition {\n set_max_registers 240 increase\n }",
     GROUT_DIAG_REGISTER_BUDGET},
};

TEST_EACH(rules, COUNT_OF(sync_cases)) {
    const sync_case *c = &sync_cases[_i];
    char source[2048];
    snprintf(source, sizeof source,
             "kernel @k(%%a: in gmem f32[64, 64], %%h: inout gmem f16[64, 64], %%i: inout gmem "
             "i32[64], %%u: inout gmem u32[64], %%b: out gmem f32[64, 64]) %s\n{\n %s\n}\n",
             c->header, c->body);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s%s", source, get_said(text.diags));
    bool ok = grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s%s", source, get_said(text.diags));
    ck_assert_int_eq(ok, !grout_diags_has_errors(text.diags));
    free_text(&text);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

typedef struct piece_case {
    const char *body;
    uint32_t bytes;
} piece_case;

static const piece_case piece_cases[] = {
    {"scratch %q : smem f32[64, 64]\n async_copy %a, %q", 16},
    {"scratch %q : smem f32[64, 64]\n async_copy %a.transpose(1, 0), %q", 4},
    {"scratch %q : smem f32[64, 2]\n async_copy %a[:, ds(0, 2)], %q", 8},
    {"scratch %q : smem f32[64, 4]\n async_copy %a[:, ds(2, 4)], %q", 8},
    {"scratch %q : smem f32[64, 4]\n async_copy %a[:, ds(1, 4)], %q", 4},
    {"scratch %q : smem f32[64, 4]\n async_copy %a[:, ds((axis_index x), 4)], %q", 4},
    {"scratch %q : smem f32[4, 64]\n async_copy %a[ds((axis_index x), 4), :], %q", 16},
    {"scratch %q : smem f32[64, 64] tile(8, 32) swizzle(128)\n async_copy %a, %q", 16},
    {"scratch %q : smem f32[64, 64] tile(8, 2)\n async_copy %a, %q", 8},
    {"scratch %q : smem f16[64, 6]\n async_copy %h[:, ds(0, 6)], %q", 4},
    {"scratch %q : smem f16[8, 64]\n async_copy %h[ds(0, 8)], %q", 16},
    {"scratch %q : smem f32[6]\n async_copy %a[0, ds(0, 6)], %q", 8},
    {"scratch %q : smem f32[3]\n async_copy %a[0, ds(0, 3)], %q", 4},
    {"scratch %q : smem f16[6]\n async_copy %h[3, ds(3, 6)], %q", 0},
};

TEST_EACH(pieces, COUNT_OF(piece_cases)) {
    const piece_case *c = &piece_cases[_i];
    char source[1024];
    snprintf(
        source, sizeof source,
        "kernel @k(%%a: in gmem f32[64, 64], %%h: in gmem f16[64, 64]) grid(x = 2)\n{\n %s\n}\n",
        c->body);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s%s", source, get_said(text.diags));
    grout_op_id op = find_op(text.bound, GROUT_OP_ASYNC_COPY, 0);
    uint32_t bytes = grout_get_piece_bytes(text.bound, op);
    ck_assert_msg(bytes == c->bytes, "%sfound %u", source, bytes);
    free_text(&text);
}
