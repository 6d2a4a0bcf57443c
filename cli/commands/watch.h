/* watch.h - --watch: the same call again whenever one of its files changes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_WATCH_H
#define GROUT_CLI_WATCH_H

#include "session.h"

/* One call from the start: files, report, exit code. */
typedef int grout_watched_call(void *payload);

/*
 * Calls once, then again after each change of a file that the call reads. Returns the last exit
 * code when the user presses Ctrl-C, or when nobody reads the answer any more.
 */
int grout_watch__run(grout_session *session, grout_watched_call *call, void *payload);

#endif
