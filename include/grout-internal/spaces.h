/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces.h - the memory spaces of spaces.def, and the questions that code asks about them. Each
 * answer folds into a comparison with the spaces of which it is true. Needs no other header.
 */
#ifndef GROUT_INTERNAL_SPACES_H
#define GROUT_INTERNAL_SPACES_H

#include "grout/ids.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of bytes: count pieces of length bytes, stride bytes apart, the first at base. */
typedef struct grout_run {
    int64_t base;
    int64_t stride; /* 0 when count is 1 */
    int64_t count;
    int64_t length;
} grout_run;

/* The words of the columns. */
enum { GROUT_OWNER_LAUNCH, GROUT_OWNER_CTA, GROUT_OWNER_THREAD };
enum { GROUT_PEERS_NO, GROUT_PEERS_YES };
enum { GROUT_PLAIN_NONE, GROUT_PLAIN_READ, GROUT_PLAIN_WRITE };
enum { GROUT_LIES_ROWS, GROUT_LIES_TILED, GROUT_LIES_FRAGMENT };
enum {
    GROUT_PUBLISH_NONE,
    GROUT_PUBLISH_COMMIT_SMEM,
    GROUT_PUBLISH_COMMIT_GMEM,
    GROUT_PUBLISH_TENSOR
};

// clang-format off
/* The launch has one of each object: an array of the host's, or a scratch for all CTAs. */
static inline bool grout_space_is_of_launch(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_OWNER_##OWNER == GROUT_OWNER_LAUNCH)
#include "grout/spaces.def"
        ;
}
/* Each CTA has one of each object, in the bytes of its state. */
static inline bool grout_space_is_of_cta(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_OWNER_##OWNER == GROUT_OWNER_CTA)
#include "grout/spaces.def"
        ;
}
/* Each thread has one of each object, in its registers. */
static inline bool grout_space_is_of_thread(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_OWNER_##OWNER == GROUT_OWNER_THREAD)
#include "grout/spaces.def"
        ;
}
/* Other CTAs of the cluster reach an object by '.cluster(..)'. */
static inline bool grout_space_has_peers(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PEERS_##PEERS == GROUT_PEERS_YES)
#include "grout/spaces.def"
        ;
}
/* A plain op may read it. */
static inline bool grout_space_takes_loads(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PLAIN_##PLAIN != GROUT_PLAIN_NONE)
#include "grout/spaces.def"
        ;
}
/* A plain op may write it. */
static inline bool grout_space_takes_stores(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PLAIN_##PLAIN == GROUT_PLAIN_WRITE)
#include "grout/spaces.def"
        ;
}
/* An array may have tile, swizzle and transpose. */
static inline bool grout_space_has_transforms(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_LIES_##LAYOUT == GROUT_LIES_TILED)
#include "grout/spaces.def"
        ;
}
/* The lanes of a thread hold an array as the tensor core wants it. */
static inline bool grout_space_is_fragment(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_LIES_##LAYOUT == GROUT_LIES_FRAGMENT)
#include "grout/spaces.def"
        ;
}
/* An async engine sees plain accesses after a commit_smem. */
static inline bool grout_space_needs_commit_smem(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, COMMIT, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PUBLISH_##COMMIT == GROUT_PUBLISH_COMMIT_SMEM)
#include "grout/spaces.def"
        ;
}
/* An async engine sees plain writes after a commit_gmem. */
static inline bool grout_space_needs_commit_gmem(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, COMMIT, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PUBLISH_##COMMIT == GROUT_PUBLISH_COMMIT_GMEM)
#include "grout/spaces.def"
        ;
}
/* Accesses need edges that order the tensor core. */
static inline bool grout_space_needs_tensor_order(uint32_t space) {
    return false
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, COMMIT, ...) \
        || (space == GROUT_SPACE_##NAME && GROUT_PUBLISH_##COMMIT == GROUT_PUBLISH_TENSOR)
#include "grout/spaces.def"
        ;
}
/* An array may have the bytes of another one: 'alias(..)'. */
static inline bool grout_space_has_aliases(uint32_t space) {
    return grout_space_has_transforms(space) || grout_space_needs_tensor_order(space);
}
// clang-format on

#ifdef __cplusplus
}
#endif
#endif
