/* files.h - a drawn kernel, its inputs and what it has to leave, as files: for runs elsewhere.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_FILES_H
#define GROUT_TESTS_RANDOM_FILES_H

#include "reference.h"

/* Writes FOLDER/NAME as it is. False: it cannot be written. */
bool files_write_text(const char *folder, const char *name, const grout_text *text);
/* An array as FOLDER/NAME.npy; the types that NumPy does not have as their bits. */
bool files_write_array(const char *folder, const char *name, const grout_type *type,
                       const uint8_t *bytes);
/* Values and bounds, one after the other for each element, as f64; elements that nobody has written
 * may be anything. Writes nothing if every number is exact. */
bool files_write_bounds(const char *folder, const char *name, const reference_array *array);

#endif
