/* tilings.h - what 'tile(infer)' became, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_TILINGS_H
#define GROUT_CALL_TILINGS_H

#include "load.h"

/* With --verbose: a line for each array in 'tile(infer)' of the kernels to work on. */
void grout_tilings__note(grout_session *session, const grout_load *load);

#endif
