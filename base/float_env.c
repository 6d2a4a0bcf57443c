/* SPDX-License-Identifier: Apache-2.0 */
#include "float_env.h"

#include <string.h>

fenv_t grout_float_env__enter(void) {
    fenv_t caller;
    memset(&caller, 0, sizeof caller);
    (void)fegetenv(&caller);
    (void)fesetenv(FE_DFL_ENV);
    return caller;
}

void grout_float_env__leave(const fenv_t *caller) {
    (void)fesetenv(caller);
}
