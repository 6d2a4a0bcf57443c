/* read_posix.c - see read_posix.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SIZE ((size_t)64 << 20) /* read at once: tens of milliseconds */
#define LOOK_EACH 50                 /* milliseconds between two questions */

static bool fail(grout_text *reason) {
    grout_text_add(reason, "%s", strerror(errno));
    return false;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static bool goes_on(const grout_waiting *waiting) {
    return waiting == NULL || waiting->goes_on(waiting->payload);
}

bool grout_read_posix__await(int file, const grout_waiting *waiting) {
    struct pollfd ready = {.fd = file, .events = POLLIN};
    bool is_ended = !goes_on(waiting);
    /* A signal that comes just before poll is seen just after it. */
    while (!is_ended && poll(&ready, 1, LOOK_EACH) <= 0) {
        is_ended = !goes_on(waiting);
    }
    return !is_ended;
}

/* ---- a file --------------------------------------------------------------------------------- */

/* A file that is read: what is known of it, and what has come. */
typedef struct reading {
    int file;
    const grout_reading *what;
    uint64_t end;                  /* more is not read */
    grout_size_function *get_size; /* NULL, or it has been asked */
    bool is_plain;                 /* it has a size of its own */
    size_t plain_size;
    char *data;
    size_t size, capacity;
} reading;

static bool grow(reading *r, size_t capacity) {
    char *larger = realloc(r->data, capacity);
    r->data = larger != NULL ? larger : r->data;
    r->capacity = larger != NULL ? capacity : r->capacity;
    return larger != NULL;
}

/* Asks how long the file is, once its head is there. */
static void look_at_head(reading *r, bool is_at_end) {
    if (r->get_size == NULL || (r->size < GROUT_HEAD_SIZE && !is_at_end)) {
        return;
    }
    uint64_t size = r->get_size(r->data, r->size);
    r->get_size = NULL;
    if (size == 0) {
        r->end = 0;
    } else if (!r->is_plain) {
        r->end = size;
    } else if (r->plain_size + 2 > r->capacity) {
        (void)grow(r, r->plain_size + 2); /* at once; else step by step */
    }
}

/* Reads to the end. Room for a NUL is left. */
static bool read_all(reading *r, grout_text *reason) {
    bool is_at_end = false;
    while (!is_at_end && r->size <= r->end && r->size <= r->what->size_max) {
        if (r->size + 1 >= r->capacity &&
            (r->capacity > SIZE_MAX / 2 - 4096 || !grow(r, r->capacity * 2 + 4096))) {
            grout_text_add(reason, "not enough memory");
            return false;
        }
        size_t room = r->capacity - r->size - 1;
        room = r->get_size != NULL && room > GROUT_HEAD_SIZE ? GROUT_HEAD_SIZE : room;
        room = room > PART_SIZE ? PART_SIZE : room;
        if (!(r->is_plain ? goes_on(r->what->waiting)
                          : grout_read_posix__await(r->file, r->what->waiting))) {
            return false;
        }
        ssize_t got = read(r->file, r->data + r->size, room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got < 0) {
            return fail(reason);
        }
        r->size += (size_t)got;
        is_at_end = got == 0;
        look_at_head(r, is_at_end);
    }
    if (r->size > r->what->size_max) {
        grout_text_add(reason, "it has more than %llu bytes",
                       (unsigned long long)r->what->size_max);
        return false;
    }
    return true;
}

static bool read_open(reading *r, grout_bytes *out, grout_text *reason) {
    struct stat info;
    if (fstat(r->file, &info) != 0) {
        return fail(reason);
    }
    if (S_ISDIR(info.st_mode)) {
        grout_text_add(reason, "it is a folder");
        return false;
    }
    r->is_plain = S_ISREG(info.st_mode);
    uint64_t guess = r->is_plain && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (guess > r->what->size_max) {
        grout_text_add(reason, "it has more than %llu bytes",
                       (unsigned long long)r->what->size_max);
        return false;
    }
    r->plain_size = (size_t)guess;
    /* With a byte to see the end by, and one for the NUL. A head comes before the rest has room. */
    guess = r->get_size != NULL && guess > GROUT_HEAD_SIZE ? GROUT_HEAD_SIZE : guess;
    if (!grow(r, (size_t)guess + 2)) {
        grout_text_add(reason, "not enough memory");
        return false;
    }
    if (!read_all(r, reason)) {
        return false;
    }
    r->data[r->size] = '\0';
    *out = (grout_bytes){.data = r->data, .size = r->size};
    r->data = NULL;
    return true;
}

/* With O_NONBLOCK a pipe is open before it has a writer; a read waits for one all the same (await),
 * and for a pipe only: nothing else is read without waiting. */
int grout_read_posix__open(const char *path, grout_text *reason) {
    struct stat info;
    if (strcmp(path, "-") == 0) {
        return STDIN_FILENO;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        (void)fail(reason);
    } else if (fstat(file, &info) == 0 && !S_ISFIFO(info.st_mode)) {
        (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    }
    return file;
}

bool grout_read_posix__take(int file, const grout_reading *what, grout_bytes *out,
                            grout_text *reason) {
    reading r = {.file = file, .what = what, .end = UINT64_MAX, .get_size = what->get_size};
    bool is_read = read_open(&r, out, reason);
    free(r.data);
    if (file != STDIN_FILENO) {
        (void)close(file);
    }
    return is_read;
}
