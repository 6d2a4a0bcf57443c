/*
 * invariant.h - assertions: what is true whatever the user does. Mistakes of users are diagnostics.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three tiers, by GROUT_ASSERT_LEVEL (CMake's option of the same name). 0, releases: none is
 * evaluated, and none may have effects. 1: GROUT_ASSERT. 2, the preset dev:
 * GROUT_ASSERT_SLOW too, which may walk a whole structure.
 */
#ifndef GROUT_BASE_INVARIANT_H
#define GROUT_BASE_INVARIANT_H

#include <assert.h>
#include <stdbool.h>

#ifndef GROUT_ASSERT_LEVEL
#define GROUT_ASSERT_LEVEL 0
#endif

/* A condition that is not evaluated is still compiled, so that it stays right. */
#if GROUT_ASSERT_LEVEL >= 1
#define GROUT_ASSERT(condition) assert(condition)
#else
#define GROUT_ASSERT(condition) ((void)(0 && (condition)))
#endif

#if GROUT_ASSERT_LEVEL >= 2
#define GROUT_ASSERT_SLOW(condition) assert(condition)
#else
#define GROUT_ASSERT_SLOW(condition) ((void)(0 && (condition)))
#endif

/* Follows a switch that has a case for every value; in a release the compiler relies on it. */
#if GROUT_ASSERT_LEVEL >= 1
#define GROUT_UNREACHABLE() assert(false && "unreachable")
#else
#define GROUT_UNREACHABLE() __builtin_unreachable()
#endif

#endif
