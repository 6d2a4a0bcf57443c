/* generator_words.h - generators as --input gives them (docs/cli.md).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_GENERATOR_WORDS_H
#define GROUT_CALL_GENERATOR_WORDS_H

#include "grout-internal/generate.h"

/* Reads "ints", "randn:7", "uniform:7:-1:1", "2.5", ...; false if text is none of them. */
bool grout_generator_read(const char *text, grout_generator *out);
/* Appends "uniform:SEED:LO:HI": how it is given. Not of VALUE and LIST. */
void grout_generator_print_form(grout_generator_kind kind, grout_text *out);
/* Appends all forms: "zeros, .., uniform:SEED:LO:HI or a number". */
void grout_generator_list_forms(grout_text *out);

#endif
