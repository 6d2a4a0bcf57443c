/*
 * engine_table.c - the engines, one line each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine.h"

#define READ_ONE(text) NULL
#define READ_TWO(text) grout_engine__read_##text
#define IS_IN_ORDER    true
#define IS_ANY         false

const grout_engine_info grout_engines[] = {
#define GROUT_ENGINE(NAME, text_, QUEUE, STAGES, ORDER, DOC) \
    {.text = #text_,                                         \
     .queue = GROUT_QUEUE_##QUEUE,                           \
     .is_in_order = IS_##ORDER,                              \
     .land = grout_engine__land_##text_,                     \
     .read = READ_##STAGES(text_),                           \
     .stamps = grout_engine__stamps_##text_,                 \
     .bytes = grout_engine__bytes_##text_},
#include "grout-internal/engines.def"
};
