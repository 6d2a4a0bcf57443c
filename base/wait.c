/*
 * wait.c - waiting for another OS thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wait.h"

#include <time.h>

#define INTERVAL 20000000L /* nanoseconds */
#define SECOND   1000000000L

void grout_wait__briefly(pthread_cond_t *condition, pthread_mutex_t *lock) {
    struct timespec until;
    (void)timespec_get(&until, TIME_UTC); /* lint-allow: timespec_get, it decides nothing */
    until.tv_nsec += INTERVAL;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    (void)pthread_cond_timedwait(condition, lock, &until);
}
