/* stage.c - what a series of runs is at, in one line of the terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double get_now(const grout_session *session) {
    return session->host->get_seconds(session->host->payload);
}

static grout_stage *get_outermost(const grout_session *session) {
    grout_stage *stage = session->stage;
    while (stage != NULL && stage->outer != NULL) {
        stage = stage->outer;
    }
    return stage;
}

void grout_stage__begin(grout_stage *stage, grout_session *session) {
    const grout_host *host = session->host;
    *stage = (grout_stage){
        .outer = session->stage,
        .is_visible =
            session->stage != NULL
                ? session->stage->is_visible
                : !session->is_quiet && host->is_terminal(host->payload, GROUT_STREAM_ERR),
        .start = get_now(session),
    };
    session->stage = stage;
}

void grout_stage__end(grout_stage *stage, grout_session *session) {
    if (stage->outer == NULL) {
        grout_stage__wipe(session);
    }
    session->stage = stage->outer;
}

void grout_stage__say(grout_stage *stage, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(stage->words, sizeof stage->words, format, arguments);
    va_end(arguments);
}

/* The words of a series, after those of the series around it. */
static void add_words(const grout_stage *stage, grout_text *out) {
    if (stage->outer != NULL) {
        add_words(stage->outer, out);
    }
    if (stage->words[0] != '\0') {
        grout_text_add(out, "%s%s", out->size == 0 ? "" : "; ", stage->words);
    }
}

void grout_stage__draw(const grout_session *session) {
    const grout_host *host = session->host;
    grout_stage *outermost = get_outermost(session);
    double now = get_now(session);
    if (outermost == NULL || !outermost->is_visible ||
        now - outermost->start < GROUT_PROGRESS_QUIET_SECONDS ||
        now - outermost->drawn_at < GROUT_PROGRESS_REDRAW_SECONDS) {
        return;
    }
    grout_text words = {0}, shown = {0}, line = {0};
    add_words(session->stage, &words);
    grout_text_add_visible(&shown, words.data, words.size, GROUT_KEEP_NOTHING);
    /* A line that wraps could not be wiped. */
    uint32_t columns = host->get_columns(host->payload, GROUT_STREAM_ERR);
    size_t most = columns > 1 ? columns - 1 : 79;
    size_t size = shown.size < most ? shown.size : most;
    while (size > 0 && size < shown.size && ((unsigned char)shown.data[size] & 0xc0) == 0x80) {
        size--; /* not within a character */
    }
    grout_text_add(&line, "\r%.*s\x1b[K", (int)size, shown.data == NULL ? "" : shown.data);
    if (line.data != NULL) {
        (void)host->write(host->payload, GROUT_STREAM_ERR, line.data, line.size, NULL);
        outermost->is_drawn = true;
        outermost->drawn_at = now;
    }
    grout_text_free(&words);
    grout_text_free(&shown);
    grout_text_free(&line);
}

void grout_stage__wipe(const grout_session *session) {
    static const char wipe[] = "\r\x1b[K";
    grout_stage *outermost = get_outermost(session);
    if (outermost != NULL && outermost->is_drawn) {
        (void)session->host->write(session->host->payload, GROUT_STREAM_ERR, wipe, strlen(wipe),
                                   NULL);
        outermost->is_drawn = false;
    }
}
