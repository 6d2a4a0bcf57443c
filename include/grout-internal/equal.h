/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.h - races of two writes that leave the same bytes: judged by running the launch again.
 *
 * Two writes that nothing orders do no harm if both leave the same bytes. Whether they do is asked
 * once with the inputs of the launch and once with other ones, since zeros and small integers are
 * often equal by chance. A launch in which no two writes race is not run again.
 *
 *     grout_writes_judge *judge = grout_writes_judge_new(&launch, NULL, diags);
 *     ... the launch runs, with a checker ...
 *     grout_writes_judge_run(judge, checker, diags);
 *     grout_writes_judge_free(judge);
 */
#ifndef GROUT_EQUAL_H
#define GROUT_EQUAL_H

#include "grout-internal/interp.h"
#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_writes_judge grout_writes_judge;

/*
 * Before the launch runs: keeps what it may overwrite. The module, the arguments' data, progress
 * and payload of the launch are borrowed until the judge is freed. are_given: by parameter, whether
 * somebody chose its contents; NULL: all were. It is copied. NULL without memory.
 */
grout_writes_judge *grout_writes_judge_new(const grout_launch *launch, const bool *are_given,
                                           grout_diags *diags);
/*
 * After it: if two writes race in what the checker has found, runs the launch again on copies, with
 * its inputs, and then with others. Floats are randn then, even given ones. Integers that nobody
 * gave are any integers, those that were given, or that an init(..) says, change their places; if
 * that run has other errors or does not come to the race, integers stay as they are. False: reasons
 * in diags; the findings are then as they were.
 */
bool grout_writes_judge_run(grout_writes_judge *judge, grout_checker *checker, grout_diags *diags);
/* The same for another run of the launch, by what was learnt of the first: nothing runs. A race
 * that the first did not have stays an error. */
bool grout_writes_judge_apply(const grout_writes_judge *judge, grout_checker *checker);
void grout_writes_judge_free(grout_writes_judge *judge);

#ifdef __cplusplus
}
#endif
#endif
