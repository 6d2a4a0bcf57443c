/* formats.h - element types as the numbers that they hold: read off the definitions of the formats,
 * with nothing of grout/num.h. SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_FORMATS_H
#define GROUT_TESTS_RANDOM_FORMATS_H

#include "reference.h"

bool formats_is_float(grout_dtype dtype);
bool formats_is_signed(grout_dtype dtype);
/* Whether its numbers are followed as integers, because a double does not hold them all. */
bool formats_is_wide(grout_dtype dtype);
uint32_t formats_get_bits(grout_dtype dtype);
/* The largest number of a float type. */
double formats_get_largest(grout_dtype dtype);
/* Distance of the neighbours of a value of a float type. */
double formats_get_quantum(grout_dtype dtype, double value);

reference_number formats_make(double value, double bound);
/* The low bits of a whole number, as an exact number of the integer type. */
reference_number formats_make_whole(grout_dtype dtype, uint64_t whole);
/* An exact number of an integer type, with its sign or zeros above it. */
uint64_t formats_get_whole(grout_dtype dtype, reference_number number);

/* The number of an element's bits, which stand in the low end; and back, if the bits of an exact
 * number are known: those of NaN and of a zero are not. */
reference_number formats_decode(grout_dtype dtype, uint64_t bits);
bool formats_encode(grout_dtype dtype, reference_number number, uint64_t *bits_out);

/* To a float type, as a cast rounds. */
double formats_round(grout_dtype dtype, double value);
/* The same of a whole number with a sign; magnitude may have 64 bits. */
double formats_round_whole(grout_dtype dtype, bool is_negative, uint64_t magnitude);

#endif
