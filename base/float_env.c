/* SPDX-License-Identifier: Apache-2.0 */
#include "float_env.h"

#include <string.h>

/*
 * What fesetenv(FE_DFL_ENV) takes some hundred nanoseconds for is most often so already. On x86-64
 * SSE computes all floats and doubles, and one register has its settings; on another processor
 * they are set each time.
 */
#if defined(__x86_64__) && defined(__SSE2__)
#include <immintrin.h>
#define GROUT_FLOAT_ENV_IS_SSE 1
#else
#define GROUT_FLOAT_ENV_IS_SSE 0
#endif

#if GROUT_FLOAT_ENV_IS_SSE
/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 10.2.3: bits 0 to 5 are
 * flags, 0x1f80 are the settings after a reset: all traps masked, to the nearest. */
static bool is_default(uint32_t sse) {
    return (sse & ~UINT32_C(0x3f)) == 0x1f80;
}
#endif

grout_float_env grout_float_env__enter(void) {
    grout_float_env caller;
    memset(&caller, 0, sizeof caller);
#if GROUT_FLOAT_ENV_IS_SSE
    caller.sse = _mm_getcsr();
    if (is_default(caller.sse)) {
        return caller;
    }
#endif
    caller.is_changed = true;
    (void)fegetenv(&caller.all);
    (void)fesetenv(FE_DFL_ENV);
    return caller;
}

void grout_float_env__leave(const grout_float_env *caller) {
    if (caller->is_changed) {
        (void)fesetenv(&caller->all);
        return;
    }
#if GROUT_FLOAT_ENV_IS_SSE
    _mm_setcsr(caller->sse); /* the flags as they were */
#endif
}
