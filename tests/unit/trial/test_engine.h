/* test_engine.h - how often the engine of test_engine.c has landed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_TEST_ENGINE_H
#define GROUT_TEST_ENGINE_H

#include <stdint.h>

extern uint32_t test_engine_landed;

#endif
