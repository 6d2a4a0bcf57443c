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
    bool is_late;         /* a slot of SMEM is handed back one step later */
    bool is_told;         /* commits for TMA stand after the wait; else before the arrive */
    uint32_t issuer, carrier, user, threads; /* the first thread of each role; in all */
} tensors;

/* width: columns of a tile, and of the unit matrix. */
typedef struct tensor_form {
    const char *operand, *accumulator;
    uint32_t bytes, width;
    bool is_held_turned; /* b lies as [N, K] */
} tensor_form;

enum { TENSOR_FORM_COUNT = 6, TENSOR_FORM_F32 = 3 };

const tensor_form *draw_tensors_get_form(const tensors *t);
/* Steps of a CTA, each with a slot of SMEM. */
uint32_t draw_tensors_get_total(const tensors *t);
/* commit_smem, or what the explicit face has for it. */
void draw_tensors_add_commit_smem(tensors *t);
/* What one of the kernel's threads does. */
void draw_tensors_add_thread(tensors *t, uint32_t thread);

#endif
