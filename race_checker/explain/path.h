/*
 * path.h - a finding as a picture's steps and edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_PATH_H
#define GROUT_RACE_CHECKER_PATH_H

#include "grout/race.h"

/* NULL: the finding is not about an order, or without memory. Free it with grout_path__free. */
grout_finding_path *grout_path__new(const grout_checker *checker, const grout_finding *finding);
void grout_path__free(grout_finding_path *path);

#endif
