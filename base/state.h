/*
 * state.h - structs that are state: copied whole, and hashed from their first fact to their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Equal states hash alike, however they were reached. A struct therefore has first what two equal
 * states may differ in (places in memory, what is only said), then its facts. A new field goes to
 * the end and needs nothing else: it is copied, and it is hashed. Tests give each struct one more
 * field (tests/unit/trial/check_state_fields.c, check_checker_fields.c), and tools/lint_state.py
 * sees that they know each struct.
 */
#ifndef GROUT_BASE_STATE_H
#define GROUT_BASE_STATE_H

#include "hash.h"

/* Ends a struct. GROUT_NOTE_END: one that is copied and only said, so that no hash has it. */
#ifdef GROUT_TEST_STATE_FIELDS
#define GROUT_STATE_END uint32_t test_field[2];
#define GROUT_NOTE_END  uint32_t test_field[2];
#else
#define GROUT_STATE_END
#define GROUT_NOTE_END
#endif

/* Around structs whose bytes are hashed: padding would make the hashes of equal states differ by
 * luck, so the compiler refuses it. */
#define GROUT_NO_PADDING_BEGIN \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"")
#define GROUT_NO_PADDING_END _Pragma("GCC diagnostic pop")

/* Where the member ends. */
#define GROUT_END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Hashes the facts: from the first to the end of the struct. */
#define GROUT_HASH_FACTS(hash, object, type, first_fact)                            \
    grout_hash__bytes(hash, (const uint8_t *)(object) + offsetof(type, first_fact), \
                      sizeof(type) - offsetof(type, first_fact))

/* The rest: what comes after a member, to the end of the struct. Nothing, as a rule. */
#define GROUT_HASH_REST(hash, object, type, member)                                 \
    grout_hash__bytes(hash, (const uint8_t *)(object) + GROUT_END_OF(type, member), \
                      sizeof(type) - GROUT_END_OF(type, member))
#define GROUT_COPY_REST(copy, object, type, member)                       \
    ((void)memcpy((uint8_t *)(copy) + GROUT_END_OF(type, member),         \
                  (const uint8_t *)(object) + GROUT_END_OF(type, member), \
                  sizeof(type) - GROUT_END_OF(type, member)))
#define GROUT_CLEAR_REST(object, type, member)                         \
    ((void)memset((uint8_t *)(object) + GROUT_END_OF(type, member), 0, \
                  sizeof(type) - GROUT_END_OF(type, member)))

#endif
