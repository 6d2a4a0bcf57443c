/*
 * watch_posix.c - waiting until files change.
 *
 * What a file is, is asked by stat: its place on the disk, its size, its time. inotify only says
 * when to ask, so that an answer comes at once; where there is none, or where it hears nothing (a
 * file system over the network), the clock says it. The folders are listened to and not the files:
 * most editors write another file and rename it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_posix.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/inotify.h>
#endif

/* Milliseconds: between two looks with inotify and without, and until a writer seems done. */
enum { LOOK_MS = 1000, POLL_MS = 200, QUIET_MS = 50 };

/* A file as it was when it was looked at; all 0: there is none. */
typedef struct file_state {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds; /* of its last change */
} file_state;

struct grout_watch {
    char **paths;
    file_state *states;
    size_t count;
    int events; /* of inotify; -1: there is none */
};

static file_state look_at(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return (file_state){0};
    }
    return (file_state){.device = (uint64_t)info.st_dev,
                        .inode = (uint64_t)info.st_ino,
                        .size = (uint64_t)info.st_size,
                        .seconds = (int64_t)info.st_mtim.tv_sec,
                        .nanoseconds = (int64_t)info.st_mtim.tv_nsec};
}

static bool is_same(const file_state *a, const file_state *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* ---- listening ------------------------------------------------------------------------------ */

#ifdef __linux__
static void listen_to_folder(int events, const char *path) {
    char *folder = strdup(path);
    char *slash = folder == NULL ? NULL : strrchr(folder, '/');
    if (slash != NULL) {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    if (folder != NULL) {
        (void)inotify_add_watch(events, slash == NULL ? "." : folder,
                                IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ATTRIB);
    }
    free(folder);
}

/* The folder of the name, and that of the file which a link leads to. */
static int start_listening(char *const *paths, size_t count) {
    int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (size_t i = 0; i < count && events >= 0; i++) {
        char *target = realpath(paths[i], NULL);
        listen_to_folder(events, paths[i]);
        if (target != NULL) {
            listen_to_folder(events, target);
        }
        free(target);
    }
    return events;
}
#else
static int start_listening(char *const *paths, size_t count) {
    (void)paths;
    (void)count;
    return -1;
}
#endif

/* Takes what inotify has said, which is only that something happened. */
static void drain(int events) {
    char buffer[4096];
    while (events >= 0 && read(events, buffer, sizeof buffer) > 0) {
    }
}

/* Sleeps until the time is over or, if it wakes, something happens in a folder. False: nobody reads
 * stdout any more. */
static bool sleep_for(const grout_watch *watch, int milliseconds, bool wakes) {
    struct pollfd files[2] = {{.fd = wakes ? watch->events : -1, .events = POLLIN},
                              {.fd = STDOUT_FILENO}}; /* tells of its reader's end by itself */
    int count = poll(files, 2, milliseconds);
    if (count > 0 && (files[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        return false;
    }
    drain(watch->events);
    return true;
}

/* ---- the watch ------------------------------------------------------------------------------ */

void grout_watch_posix__close(grout_watch *watch) {
    if (watch == NULL) {
        return;
    }
    for (size_t i = 0; i < watch->count && watch->paths != NULL; i++) {
        free(watch->paths[i]);
    }
    if (watch->events >= 0) {
        (void)close(watch->events);
    }
    free(watch->paths);
    free(watch->states);
    free(watch);
}

grout_watch *grout_watch_posix__open(const char *const *paths, size_t count) {
    grout_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return NULL;
    }
    *watch = (grout_watch){
        .paths = calloc(count + 1, sizeof *watch->paths),
        .states = calloc(count + 1, sizeof *watch->states),
        .count = count,
        .events = -1,
    };
    bool is_good = watch->paths != NULL && watch->states != NULL;
    for (size_t i = 0; i < count && is_good; i++) {
        watch->paths[i] = strdup(paths[i]);
        is_good = watch->paths[i] != NULL;
    }
    if (!is_good) {
        grout_watch_posix__close(watch);
        return NULL;
    }
    watch->events = start_listening(watch->paths, count);
    for (size_t i = 0; i < count; i++) {
        watch->states[i] = look_at(paths[i]);
    }
    return watch;
}

/* Whether a file is another one than before. One that is gone is about to be written again. */
static bool has_changed(const grout_watch *watch) {
    static const file_state gone = {0};
    for (size_t i = 0; i < watch->count; i++) {
        file_state now = look_at(watch->paths[i]);
        if (!is_same(&now, &gone) && !is_same(&now, &watch->states[i])) {
            return true;
        }
    }
    return false;
}

/* Takes the files as they are once a writer has come to its end. */
static bool settle(grout_watch *watch) {
    bool is_quiet = false, is_read = true;
    while (!is_quiet && is_read) {
        is_quiet = true;
        for (size_t i = 0; i < watch->count; i++) {
            file_state now = look_at(watch->paths[i]);
            is_quiet = is_quiet && is_same(&now, &watch->states[i]);
            watch->states[i] = now;
        }
        /* What happens meanwhile does not end the sleep: a writer may be between two of its steps.
         */
        is_read = is_quiet || sleep_for(watch, QUIET_MS, false);
    }
    return is_read;
}

bool grout_watch_posix__wait(grout_watch *watch, bool (*is_interrupted)(void *payload)) {
    int pause = watch->events >= 0 ? LOOK_MS : POLL_MS;
    while (!has_changed(watch)) {
        if (is_interrupted(NULL) || !sleep_for(watch, pause, true)) {
            return false;
        }
    }
    return settle(watch) && !is_interrupted(NULL);
}
