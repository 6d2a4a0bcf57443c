/* schedule_file.c - reads and writes schedules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "schedule_file.h"

#include "comments.h"
#include "files.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((uint64_t)256 << 20)
#define LINE_WIDTH    100

/* What a GPU may answer either way, in an 'actors' line. */
static const char *const ANSWERS[] = {"no", "yes"};

/* Options that decide the run, besides the schedule. Not --extern: reading a file runs no code. The
 * input of an --inout is kept, its output is not: a schedule writes no file. */
static bool is_kept(grout_option_id id) {
    return id == GROUT_OPTION_DEFINE || id == GROUT_OPTION_ARCH || id == GROUT_OPTION_INPUT ||
           id == GROUT_OPTION_INOUT || id == GROUT_OPTION_TIMING || id == GROUT_OPTION_SEED ||
           id == GROUT_OPTION_NUMERICS || id == GROUT_OPTION_SMS || id == GROUT_OPTION_RESIDENT ||
           id == GROUT_OPTION_MAX_STEPS || id == GROUT_OPTION_REPEAT;
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reader {
    grout_session *session;
    grout_schedule_file *file;
    const char *path;
    uint32_t line;
    uint32_t launch; /* whose 'actors' lines come; 0: the kernel's */
} reader;

static bool report(reader *r, const char *what) {
    grout_place place = {.file = r->path, .line = r->line, .column = 1, .length = 1};
    return grout_diags_add(r->session->diags, GROUT_DIAG_BAD_SCHEDULE, place, "%s", what);
}

/* The next word of a line, with a NUL after it; NULL at the end. */
static char *take_word(char **at) {
    *at += strspn(*at, " \t\r");
    if (**at == '\0') {
        return NULL;
    }
    char *word = *at;
    *at += strcspn(*at, " \t\r");
    if (**at != '\0') {
        *(*at)++ = '\0';
    }
    return word;
}

/* What stands before '=', without the sign of a parameter. */
static grout_span get_name(const char *value) {
    value += value[0] == '%' ? 1 : 0;
    return (grout_span){value, strcspn(value, "=")};
}

/* Whether one of the options gives the same const or parameter. */
static bool is_named(const grout_session *session, grout_option_id id, const char *value) {
    const char *given;
    const grout_span name = get_name(value);
    for (size_t i = 0; (given = grout_options__get_use(&session->options, id, i)) != NULL; i++) {
        const grout_span own = get_name(given);
        if (own.size == name.size && memcmp(own.data, name.data, own.size) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the session has the option already, or one of the same const or parameter. */
static bool is_given(const grout_session *session, grout_option_id id, const char *value) {
    if (id == GROUT_OPTION_INPUT) {
        return is_named(session, id, value) || is_named(session, GROUT_OPTION_INOUT, value);
    }
    return id == GROUT_OPTION_DEFINE ? is_named(session, id, value)
                                     : grout_options__has(&session->options, id);
}

static bool add_option(reader *r, grout_option_id id, const char *value) {
    grout_options *options = &r->session->options;
    if (is_given(r->session, id, value)) {
        return true;
    }
    grout_option_use *uses =
        realloc(options->uses, (options->use_count + 1) * sizeof options->uses[0]);
    if (uses == NULL) {
        return grout_diags_add_oom(r->session->diags);
    }
    options->uses = uses;
    uses[options->use_count++] = (grout_option_use){.id = id, .value = value};
    return true;
}

static grout_option_id find_option(const char *name) {
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        grout_text text = {0};
        grout_option__print_name((grout_option_id)i, &text);
        bool is_it =
            text.data != NULL && strcmp(text.data, name) == 0 && is_kept((grout_option_id)i);
        grout_text_free(&text);
        if (is_it) {
            return (grout_option_id)i;
        }
    }
    return GROUT_OPTION_NONE;
}

/* The input of an --inout, P=IN.npy. */
static void cut_output(char *value) {
    value[grout_files__get_npy_size(value)] = '\0';
}

static bool read_option(reader *r, char *at) {
    const char *name = take_word(&at);
    char *value = take_word(&at);
    grout_option_id id = name == NULL ? GROUT_OPTION_NONE : find_option(name);
    if (id == GROUT_OPTION_INOUT && value != NULL) {
        cut_output(value);
        id = GROUT_OPTION_INPUT;
    }
    if (id == GROUT_OPTION_NONE || value == NULL) {
        return report(r, "an 'option' line names an option of a run and its value");
    }
    return (grout_options__is_value_good(id, value) ||
            report(r, "the value of this option is none that it takes")) &&
           add_option(r, id, value);
}

static bool add_actors(reader *r, uint64_t actor, uint64_t count) {
    grout_decisions *decisions =
        r->launch == 0 ? &r->file->decisions : &r->file->launches[r->launch];
    if (actor > UINT32_MAX || count == 0 || count > UINT32_MAX - decisions->count) {
        return report(r, "an 'actors' line has a number out of range");
    }
    if (decisions->count + count > decisions->capacity) {
        size_t capacity = 2 * (decisions->count + (size_t)count);
        uint32_t *actors = realloc(decisions->actors, capacity * sizeof *actors);
        if (actors == NULL) {
            return grout_diags_add_oom(r->session->diags);
        }
        decisions->actors = actors;
        decisions->capacity = capacity;
    }
    GROUT_ASSERT(count <= decisions->capacity - decisions->count);
    for (uint64_t i = 0; i < count; i++) {
        decisions->actors[decisions->count++] = (uint32_t)actor;
    }
    return true;
}

static bool read_actor(reader *r, char *word) {
    char *times = strchr(word, 'x');
    uint64_t actor = GROUT_DECISION_NO, count = 1;
    if (times != NULL) {
        *times++ = '\0';
    }
    if (strcmp(word, ANSWERS[1]) == 0) {
        actor = GROUT_DECISION_YES;
    } else if (strcmp(word, ANSWERS[0]) != 0 &&
               (!grout_read_u64(word, &actor) || actor >= GROUT_DECISION_NO)) {
        return report(r, "an 'actors' line has numbers, N or NxM, and the answers 'no' and 'yes'");
    }
    return (times == NULL || grout_read_u64(times, &count) ||
            report(r, "an 'actors' line has numbers, N or NxM, and the answers 'no' and 'yes'")) &&
           add_actors(r, actor, count);
}

static bool read_actors(reader *r, char *at) {
    char *word;
    bool is_good = true;
    while (is_good && (word = take_word(&at)) != NULL) {
        is_good = read_actor(r, word);
    }
    return is_good;
}

static bool read_line(reader *r, char *line) {
    const char *word = take_word(&line);
    if (word == NULL || word[0] == '#') {
        return true;
    }
    if (strcmp(word, "actors") == 0) {
        return read_actors(r, line);
    }
    if (strcmp(word, "option") == 0) {
        return read_option(r, line);
    }
    if (strcmp(word, "kernel") == 0) {
        const char *name = take_word(&line);
        return name == NULL ? report(r, "a 'kernel' line names a kernel")
                            : add_option(r, GROUT_OPTION_KERNEL, name);
    }
    if (strcmp(word, "launch") == 0) {
        const char *number = take_word(&line);
        uint64_t launch = 0;
        if (number == NULL || !grout_read_u64(number, &launch) || launch == 0 ||
            launch > GROUT_LAUNCHES_MAX) {
            return report(r, "a 'launch' line has the number of a launch of the list, from 1");
        }
        r->launch = (uint32_t)launch;
        r->file->is_of_list = true;
        return true;
    }
    return report(r, "a line begins with 'kernel', 'launch', 'option', 'actors' or '#'");
}

static bool read_text(reader *r, char *text) {
    static const char HEADER[] = "grout-schedule 1";
    char *next = text;
    while (next != NULL && *next != '\0') {
        char *line = next;
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        r->line++;
        line[strcspn(line, "\r")] = '\0';
        if (r->line == 1 && strcmp(line, HEADER) != 0) {
            return report(r, "a schedule starts with the line 'grout-schedule 1'");
        }
        if (r->line > 1 && !read_line(r, line)) {
            return false;
        }
    }
    return r->line > 0 || report(r, "the file is empty");
}

bool grout_schedule_file__init(grout_schedule_file *file, grout_session *session,
                               const char *path) {
    grout_bytes bytes = {0};
    reader r = {.session = session, .file = file, .path = path};
    *file = (grout_schedule_file){0};
    if (!grout_session__read_file(session, path, FILE_SIZE_MAX, &bytes)) {
        return false;
    }
    file->text = malloc(bytes.size + 1);
    if (file->text == NULL) {
        free(bytes.data);
        return grout_diags_add_oom(session->diags);
    }
    if (bytes.size > 0) {
        memcpy(file->text, bytes.data, bytes.size);
    }
    file->text[bytes.size] = '\0';
    free(bytes.data);
    return read_text(&r, file->text);
}

void grout_schedule_file__deinit(grout_schedule_file *file) {
    free(file->text);
    free(file->decisions.actors);
    for (size_t i = 0; i <= GROUT_LAUNCHES_MAX; i++) {
        free(file->launches[i].actors);
    }
    *file = (grout_schedule_file){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

static void print_actors(const grout_decisions *decisions, grout_text *out) {
    GROUT_ASSERT(decisions->count == 0 || decisions->actors != NULL);
    size_t column = LINE_WIDTH;
    for (size_t i = 0; i < decisions->count;) {
        size_t count = 1;
        while (i + count < decisions->count &&
               decisions->actors[i + count] == decisions->actors[i]) {
            count++;
        }
        if (column >= LINE_WIDTH) {
            grout_text_add(out, "%sactors", i == 0 ? "" : "\n");
            column = 6;
        }
        size_t before = out->size;
        if (grout_decision_is_answer(decisions->actors[i])) {
            grout_text_add(out, " %s", ANSWERS[decisions->actors[i] - GROUT_DECISION_NO]);
        } else {
            grout_text_add(out, " %u", decisions->actors[i]);
        }
        if (count > 1) {
            grout_text_add(out, "x%zu", count);
        }
        column += out->size - before;
        i += count;
    }
    grout_text_add(out, "%s", decisions->count > 0 ? "\n" : "");
}

static void print_launches(const grout_schedule_text *what, grout_text *out) {
    for (uint32_t i = 1; i <= what->launch; i++) {
        const grout_decisions *decisions = i == what->launch ? what->decisions : what->before[i];
        if (decisions != NULL && decisions->count > 0) {
            grout_text_add(out, "launch %u\n", i);
            print_actors(decisions, out);
        }
    }
}

static void print_option(const grout_option_use *use, grout_text *out) {
    bool has_output = use->id == GROUT_OPTION_INOUT;
    size_t size = has_output ? grout_files__get_npy_size(use->value) : strlen(use->value);
    grout_text_add(out, "option ");
    grout_option__print_name(has_output ? GROUT_OPTION_INPUT : use->id, out);
    grout_text_add(out, " %.*s\n", (int)size, use->value);
}

static void print_file(const grout_session *session, const grout_schedule_text *what,
                       grout_text *out) {
    const grout_options *options = &session->options;
    grout_text_add(out, "grout-schedule 1\n");
    if (what->is_alone) {
        grout_text_add(out, "kernel @%s\n", what->kernel);
    }
    for (size_t i = 0; i < options->use_count; i++) {
        if (is_kept(options->uses[i].id)) {
            print_option(&options->uses[i], out);
        }
    }
    if (what->launch == 0) {
        print_actors(what->decisions, out);
    } else {
        print_launches(what, out);
    }
}

/* What is at a path, as far as a schedule may replace it. */
typedef enum place_state { PLACE_FREE, PLACE_SAME, PLACE_SCHEDULE, PLACE_OTHER } place_state;

static place_state look_at(const grout_session *session, const char *path, const grout_text *text) {
    static const char start[] = "grout-schedule ";
    const grout_host *host = session->host;
    grout_bytes old = {0};
    grout_text reason = {0};
    const grout_reading what = {.size_max = FILE_SIZE_MAX};
    place_state state = PLACE_FREE;
    /* A device is no file that could be lost, and reading it might not end. */
    bool is_special = !host->is_same_file(host->payload, path, path);
    if (!is_special && host->read_file(host->payload, path, &what, &old, &reason)) {
        bool is_same = old.size == text->size && memcmp(old.data, text->data, old.size) == 0;
        bool is_schedule =
            old.size >= sizeof start - 1 && memcmp(old.data, start, sizeof start - 1) == 0;
        state = is_same ? PLACE_SAME : is_schedule ? PLACE_SCHEDULE : PLACE_OTHER;
    }
    free(old.data);
    grout_text_free(&reason);
    return state;
}

static bool write_text(grout_session *session, const char *path, bool is_named,
                       const grout_text *text) {
    const grout_chunk chunk = {text->data, text->size};
    place_state state = look_at(session, path, text);
    if (!grout_files__may_write(session, path)) {
        return false;
    }
    if (state == PLACE_OTHER && !is_named) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "the schedule would overwrite '%s', which is not a schedule", path);
        grout_diags_help(session->diags, "name another file: --save-schedule FILE");
        return false;
    }
    if (!grout_session__write_file(session, path, &chunk, 1)) {
        return false;
    }
    if (state == PLACE_SCHEDULE && !session->is_quiet) {
        grout_session__note(session, "replaced the schedule in %s\n", path);
    }
    return true;
}

/* A line of a schedule is words: a value of an option is one of them. */
static bool check_values(grout_session *session) {
    const grout_options *options = &session->options;
    for (size_t i = 0; i < options->use_count; i++) {
        const char *value = options->uses[i].value;
        if (is_kept(options->uses[i].id) && value[strcspn(value, " \t\r\n")] != '\0') {
            grout_text name = {0};
            grout_option__print_name(options->uses[i].id, &name);
            grout_diags_add(
                session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                "a schedule cannot keep the value of %s, '%.200s': there is a blank in it",
                name.data == NULL ? "" : name.data, value);
            grout_diags_help(session->diags, "give the file a name without one");
            grout_text_free(&name);
            return false;
        }
    }
    return true;
}

bool grout_schedule_file__write(grout_session *session, const char *path, bool is_named,
                                const grout_schedule_text *what) {
    grout_text text = {0};
    if (!check_values(session)) {
        return false;
    }
    print_file(session, what, &text);
    bool is_good = text.data == NULL || text.failed ? grout_diags_add_oom(session->diags)
                                                    : write_text(session, path, is_named, &text);
    grout_text_free(&text);
    return is_good;
}

void grout_schedule_file__print_path(const char *path, uint32_t number, grout_text *out) {
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    const char *dot = strrchr(name, '.');
    size_t stem = dot == NULL || dot == name ? strlen(path) : (size_t)(dot - path);
    grout_text_add_bytes(out, path, stem);
    if (number > 1) {
        grout_text_add(out, ".%u", number);
    }
    grout_text_add(out, "%s", path + stem);
}
