/*
 * plant.h - the marks of gpu_backend/plan/fields.h with which a field can be one unit off. Compiled
 * in front of the files of gpu_backend for the programs of this folder.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_PLANT_H
#define GROUT_PLANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grout_gpu_plan;
struct grout_text;

typedef enum plant_field {
#define GROUT_BITS(WORD, NAME, FIRST, WIDTH, SECTION, DOC) PLANT_##WORD##_##NAME,
#define GROUT_FIELD(WORD, NAME, UNIT, SECTION, DOC)        PLANT_##WORD##_##NAME,
#include "gpu_backend/plan/bits.def"
#include "tests/differential/planted/fields.def"
    PLANT_COUNT
} plant_field;

/* "WGMMA.START"; number counts from 0. */
const char *plant_get_name(uint32_t number);
/* Reads such a name, with '-' after it for one unit less, and plants it from now on, alone; NULL:
 * nothing. False: no field has the name. */
bool plant(const char *text);

bool plant_is_off(uint32_t field);
/* The number that is written: this one, or one unit more or less. */
int64_t plant_number(uint32_t field, int64_t value);
/* What is written before and after a number that is known at run time: "", or e.g. " + 16"; bytes:
 * of an ELEMENT. */
const char *plant_get_start(uint32_t field);
const char *plant_get_end(uint32_t field);
/* What an address of elements of this many bytes gets: 0, or one of them. */
int64_t plant_get_step(uint32_t field, int64_t bytes);
void plant_launch(struct grout_gpu_plan *plan);
/* The field that stands as text, from there on. */
void plant_texts(struct grout_text *text, size_t from);

#define FIELD(NAME, value)           plant_number(PLANT_##NAME, (int64_t)(value))
#define FIELD_OR(NAME, right, wrong) (plant_is_off(PLANT_##NAME) ? (wrong) : (right))
#define FIELD_START(e, NAME)         grout_emit__add(e, "%s", plant_get_start(PLANT_##NAME))
#define FIELD_END(e, NAME)           grout_emit__add(e, "%s", plant_get_end(PLANT_##NAME))
#define FIELD_STEP(e, NAME, bytes)                                                         \
    do {                                                                                   \
        const long long step = plant_get_step(PLANT_##NAME, (int64_t)(bytes));             \
        if (step != 0) {                                                                   \
            grout_emit__add(e, step < 0 ? " - %lld" : " + %lld", step < 0 ? -step : step); \
        }                                                                                  \
    } while (false)
#define FIELD_LAUNCH(plan)      plant_launch(plan)
#define FIELD_TEXTS(text, from) plant_texts(text, from)

#endif
