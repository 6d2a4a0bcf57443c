/*
 * follow_on.h - findings that another one explains; private to race_checker/.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_FOLLOW_ON_H
#define GROUT_RACE_CHECKER_FOLLOW_ON_H

#include "checker.h"

/* At the end of the run: counts them as suppressed. False without memory. */
bool grout_checker__withhold_follow_ons(grout_checker *checker);

#endif
