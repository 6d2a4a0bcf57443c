/*
 * path.h - a finding as a picture's steps and edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_PATH_H
#define GROUT_RACE_CHECKER_PATH_H

#include "checker.h"

/* The path of a record that is shown. NULL: it is not about an order, or without memory. Free it
 * with grout_path__free. */
grout_finding_path *grout_path__new(const grout_checker *checker, const grout_record *record);
void grout_path__free(grout_finding_path *path);

#endif
