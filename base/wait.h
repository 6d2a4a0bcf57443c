/*
 * wait.h - waiting for another OS thread, with a look round now and then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_WAIT_H
#define GROUT_BASE_WAIT_H

#include <pthread.h>

/* Waits for the condition, a fiftieth of a second at most, so that the caller can ask now and then
 * whether to go on. The lock is held, as for pthread_cond_wait. */
void grout_wait__briefly(pthread_cond_t *condition, pthread_mutex_t *lock);

#endif
