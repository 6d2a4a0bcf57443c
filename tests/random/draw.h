/* draw.h - kernels drawn at random, as text: right and race-free by construction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A drawn kernel is a function of its seed. Each kind ends in a text that parses, binds and
 * verifies; what does not is a fault of the generator or of grout, and fails the test.
 */
#ifndef GROUT_TESTS_RANDOM_DRAW_H
#define GROUT_TESTS_RANDOM_DRAW_H

#include "grout-internal/ir.h"

typedef struct draw {
    uint64_t state; /* of the generator */
    grout_text body;
    grout_text params; /* "%x0: in gmem f32[64, 8], ..." */
    uint32_t param_count;
    uint32_t value_count; /* names given so far */
    uint32_t indent;
} draw;

/* 0 .. limit - 1 */
uint32_t draw_below(draw *d, uint32_t limit);
/* A parameter array; returns its number: the text names it %p<number>. */
uint32_t draw_param(draw *d, const char *direction, const char *type);
/* An input "%<style><number>": inputs.h says what the styles are. */
uint32_t draw_input(draw *d, char style, const char *type);
/* A line of the body. */
__attribute__((format(printf, 2, 3))) void draw_line(draw *d, const char *format, ...);

/* The types of a tensor core's products that both architectures have: of a and b, and of the sums;
 * bytes of an element of a and b, and the step of K. Integers come last. */
typedef struct draw_product_type {
    const char *operands[2], *accumulator;
    uint32_t bytes, k_step;
} draw_product_type;
enum { DRAW_PRODUCT_TYPES = 12, DRAW_FIRST_INTEGER = 8 };
extern const draw_product_type draw_product_types[DRAW_PRODUCT_TYPES];

/* The kinds: each appends the whole text of one kernel to out. */
void draw_table(uint64_t seed, grout_text *out);   /* each operation for each of its types */
void draw_values(uint64_t seed, grout_text *out);  /* ops of the table, reductions, loops */
void draw_copies(uint64_t seed, grout_text *out);  /* SMEM layouts, TMA both ways, rings */
void draw_wgmma(uint64_t seed, grout_text *out);   /* a matrix product of a form drawn at random */
void draw_tcgen05(uint64_t seed, grout_text *out); /* products, arrays in tensor memory */
void draw_mma(uint64_t seed, grout_text *out);     /* products of arrays in registers */
void draw_groups(uint64_t seed, grout_text *out);  /* wgmmas in flight among other accesses */
void draw_updates(uint64_t seed, grout_text *out); /* atomics, copies that reduce */
/* The number-th of all legal combinations of types, swizzles, transpositions and N; false: past the
 * last one. */
bool draw_wgmma_form(uint64_t number, grout_text *out);

/*
 * What a kernel of the kinds below computes. %p0 and %p1 are arrays of tiles; each tile of %p1 is a
 * sum of tiles of %p0, all of whole numbers, so in every order the same.
 */
typedef struct draw_sums {
    uint32_t elements;     /* of a tile */
    uint32_t width, pitch; /* columns of a result, and of a source, of which it takes the first */
    uint32_t sources, results;
    int32_t *weights;  /* of each source in each result, by result; the caller frees them */
    bool is_certified; /* the verdict has to hold for every schedule */
    /* CTAs, if they wait in grid order, so that any number of clusters may fit; else 0 */
    uint32_t resident_max, cluster_size;
    uint32_t steps_max; /* what a mistake may make endless ends sooner; 0: as late as usual */
} draw_sums;

/* Threads of a CTA that hand slots to each other: barriers of both styles, TMA, cp.async, wgmma. */
void draw_rings(uint64_t seed, grout_text *out, draw_sums *sums);
/* CTAs of a cluster: shared copies, cluster barriers, stores and loads in each other's SMEM. */
void draw_clusters(uint64_t seed, grout_text *out, draw_sums *sums);
/* CTAs of a grid: semaphores, atomics, reductions by TMA. */
void draw_grids(uint64_t seed, grout_text *out, draw_sums *sums);
/* Threads and warps that meet in every way, within and without warp_specialize. */
void draw_meetings(uint64_t seed, grout_text *out, draw_sums *sums);
/* Threads that hand tensor memory to each other: MMAs of Blackwell, loads, stores. */
void draw_tensors(uint64_t seed, grout_text *out, draw_sums *sums);
/* The same by the two CTAs of a pair. */
void draw_pairs(uint64_t seed, grout_text *out, draw_sums *sums);
/* Clusters that go on with the tiles of others, which they take off the launch. */
void draw_cancels(uint64_t seed, grout_text *out, draw_sums *sums);
/* Rows that TMA gathers for slots and scatters from them, on Blackwell. */
void draw_rows(uint64_t seed, grout_text *out, draw_sums *sums);

/* Result += weight * source. */
void draw_sum(draw_sums *sums, uint32_t result, uint32_t source);
/* Sizes sums; without memory the test ends. */
void draw_sums_init(draw_sums *sums, uint32_t elements, uint32_t sources, uint32_t results);

/* One of the synchronising operations of a drawn kernel dropped, moved or changed: the seed says
 * which and how. A note of what was done is put in front. false: there is none to change. */
bool draw_mistake(const grout_text *right, uint64_t seed, grout_text *out);

/* Puts a kernel around body and parameters, and frees both. */
void draw_finish(draw *d, const char *scratch, const char *axes, grout_text *out);
/* The same of a kernel of one thread. Where it has 1 or 2 warps, it is a partition beside a thread
 * that does nothing; a body that takes the tensor core's accumulators has 4 in any case. */
void draw_finish_thread(draw *d, const char *scratch, uint32_t warps, grout_text *out);
/* 4, or in a few kernels 1 or 2: of the seed alone, so that nothing else is drawn in another way.
 */
uint32_t draw_warps(uint64_t seed);

#endif
