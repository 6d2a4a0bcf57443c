/* draw_tensors.h - what a drawn kernel with tensor memory is made of.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_DRAW_TENSORS_H
#define GROUT_TESTS_RANDOM_DRAW_TENSORS_H

#include "draw.h"

typedef enum start { START_FRESH, START_ZERO, START_SOURCE } start;
/* Who stores what the first tiles start with. */
typedef enum starter { STARTER_EACH, STARTER_FIRST, STARTER_ISSUER } starter;
typedef enum warping { WARP_NONE, WARP_ONE, WARP_TURNS } warping;
/* What the tensor core reads beside its operands. */
typedef enum tables { TABLES_NONE, TABLES_SCALES, TABLES_METADATA } tables;
/* Operands of two types on one accumulator: every second step has another b, or another a and b. */
typedef enum mixing { MIXING_NONE, MIXING_B, MIXING_BOTH } mixing;
/* How the slots of a pair are filled by TMA: each CTA brings what it keeps of one box, or half of a
 * box that both keep, or copies for itself. */
typedef enum filling { FILLING_PARTS, FILLING_SHARED, FILLING_OWN } filling;
/* How the tensor core tells both CTAs of a pair. */
typedef enum telling { TELLING_PAIR, TELLING_ALONG, TELLING_EACH } telling;

typedef struct tensors {
    draw d;
    uint32_t form;                 /* of the table below */
    uint32_t rows;                 /* of a tile */
    uint32_t slots, stages, parts; /* of accumulators, of SMEM, of a in tensor memory */
    uint32_t tiles, steps, ctas;
    uint32_t issuers, users;
    start start; /* what a tile is before its first MMA */
    starter starter;
    warping warping;      /* who of the issuing thread issues */
    bool has_carrier;     /* a thread that brings a to tensor memory */
    bool is_corrected;    /* the users double the sums between two MMAs */
    bool is_met;          /* accumulators are handed on at block barriers */
    bool loads_itself;    /* the issuer fills its slots */
    bool uses_itself;     /* and takes the sums */
    bool is_plain;        /* slots are filled by plain stores; else by TMA */
    bool is_explicit;     /* mbarriers and parities */
    bool is_specialised;  /* warp_specialize; else each thread an if */
    bool is_side_by_side; /* slots of accumulators are columns of one array */
    bool is_renamed; /* threads load and store them by another name, slots as columns or columns as
                        slots */
    bool is_late;    /* a slot of SMEM is handed back one step later */
    bool
        has_one_table; /* tables have one slot: copies of one warp go over what its product reads */
    bool is_hasty;     /* users store over what they have loaded without a wait */
    bool is_told;      /* commits for TMA stand after the wait; else before the arrive */
    mixing mixing;
    bool has_scope; /* tensor memory is that of a scope, after another one */
    /* pairs of CTAs: both load and take sums, the one that leads multiplies */
    bool is_pair;
    filling filling;
    telling telling;
    bool is_shared; /* barriers of the explicit style are the pair's; else named ones of the leader
                     */
    uint32_t issuer, carrier, user, threads; /* the first thread of each role; in all */
} tensors;

/* width: columns of a tile. depth: those of a slot, of which the product takes the first ones. */
typedef struct tensor_form {
    const char *operand, *accumulator;
    uint32_t bytes, width, depth;
    bool is_held_turned; /* b lies as [N, K] */
    tables tables;
    const char *other; /* a type of the same kind, or NULL */
} tensor_form;

const tensor_form *draw_tensors_get_form(const tensors *t);
/* Rows of b: a sparse a keeps half of K. */
uint32_t draw_tensors_get_k(const tensors *t);
/* How often a step's product counts, by its number: what the tables of every second one say. */
uint32_t draw_tensors_get_weight(const tensors *t, uint32_t step);
/* Steps of a CTA, each with a slot of SMEM. */
uint32_t draw_tensors_get_total(const tensors *t);
/* commit_smem, or what the explicit style has for it. */
void draw_tensors_add_commit_smem(tensors *t);
/* What one of the kernel's threads does. */
void draw_tensors_add_thread(tensors *t, uint32_t thread);

/* draw_tensor_pairs.c, which knows what is another in a pair of CTAs, has these. */
/* One arrival on an element of a barrier that the CTA that leads waits on. */
void draw_tensors_add_arrive_at_leader(tensors *t, const char *name, const char *element);
/* The tensor core's arrival, in both CTAs. */
void draw_tensors_add_commit(tensors *t, const char *name, const char *element);
/* The copy of a step into its slot. */
void draw_tensors_add_copy(tensors *t);
/* The rows of %p0 that are the CTA's own, as an index that follows the number of a tile. */
const char *draw_tensors_get_rows(const tensors *t);
/* " collective_axis(pair)" and " collective", or nothing. */
const char *draw_tensors_get_axis(const tensors *t);
const char *draw_tensors_get_collective(const tensors *t);

#endif
