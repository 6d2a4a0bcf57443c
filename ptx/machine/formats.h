/* formats.h - types of PTX as formats of the tensor cores.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_FORMATS_H
#define GROUT_PTX_FORMATS_H

#include "number.h"

/* False if the tensor cores have no such type. */
bool grout_ptx__get_number_format(uint16_t word, grout_ptx_format *format_out);

#endif
