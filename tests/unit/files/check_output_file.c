/* check_output_file.c - what a write leaves: the new file, or the old one, and nothing beside it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "files/output_file.h"
#include "tests/tests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 600, NOBODY = 65534 };

static char folder[64];
static char reason_text[256];
static int named_count, unnamed_count; /* what note_temporary has heard */

static void make_folder(void) {
    (void)snprintf(folder, sizeof folder, "/tmp/grout-check-output-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    named_count = unnamed_count = 0;
}

static void remove_folder(void) {
    char command[256];
    (void)snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", folder, folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *at(const char *name) {
    static char paths[4][PATH_SIZE];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static void note_temporary(int where, const char *name) {
    (void)where;
    named_count += name != NULL;
    unnamed_count += name == NULL;
}

static bool write_to(const char *path, const char *text) {
    grout_text reason = {0};
    size_t half = strlen(text) / 2;
    const grout_output_part parts[] = {{text, half}, {text + half, strlen(text) - half}};
    const grout_output_file file = {.folder = GROUT_OUTPUT_HERE,
                                    .path = path,
                                    .parts = parts,
                                    .count = 2,
                                    .note_temporary = note_temporary};
    bool is_written = grout_output_file__write(&file, &reason);
    (void)snprintf(reason_text, sizeof reason_text, "%s", reason.data == NULL ? "" : reason.data);
    grout_text_free(&reason);
    return is_written;
}

static void expect_text(const char *path, const char *text) {
    static char data[1 << 16];
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    size_t size = fread(data, 1, sizeof data - 1, file);
    (void)fclose(file);
    data[size] = '\0';
    ck_assert_str_eq(data, text);
}

static void put(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static int count_names(void) {
    int count = -2; /* . and .. */
    DIR *names = opendir(folder);
    ck_assert_ptr_nonnull(names);
    while (readdir(names) != NULL) {
        count++;
    }
    (void)closedir(names);
    return count;
}

static mode_t get_mode(const char *path) {
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static bool is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/* What a test of permissions does has no meaning for root: it happens as another user, in a process
 * of its own. */
static void as_nobody(void (*act)(void)) {
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(2);
        }
        act();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child: status %d", status);
}

static void need(bool holds, const char *what) {
    if (!holds) {
        (void)fprintf(stderr, "not so: %s (%s)\n", what, reason_text);
        _exit(1);
    }
}

TEST(new_files_follow_umask) {
    mode_t old = umask(027);
    ck_assert_msg(write_to(at("new"), "text"), "%s", reason_text);
    (void)umask(old);
    expect_text(at("new"), "text");
    ck_assert_uint_eq(get_mode(at("new")), 0640);
    ck_assert_int_eq(count_names(), 1);
    ck_assert_int_eq(named_count, unnamed_count);
}

TEST(old_files_keep_their_rights) {
    struct stat info;
    put(at("old"), "old", 0604);
    bool is_root = chown(at("old"), 1234, 4321) == 0;
    ck_assert(write_to(at("old"), "new text"));
    expect_text(at("old"), "new text");
    ck_assert_uint_eq(get_mode(at("old")), 0604);
    ck_assert_int_eq(stat(at("old"), &info), 0);
    ck_assert(!is_root || (info.st_uid == 1234 && info.st_gid == 4321));
    ck_assert(write_to(at("old"), ""));
    expect_text(at("old"), "");
    ck_assert_int_eq(count_names(), 1);
}

TEST(links_stay) {
    ck_assert_int_eq(mkdir(at("sub"), 0777), 0);
    put(at("sub/target"), "old", 0644);
    ck_assert_int_eq(symlink("sub/target", at("relative")), 0);
    ck_assert_int_eq(symlink(at("relative"), at("absolute")), 0);
    ck_assert_int_eq(symlink("../new", at("sub/dangling")), 0);
    ck_assert_int_eq(symlink("sub/dangling", at("chain")), 0);
    ck_assert(write_to(at("absolute"), "one"));
    expect_text(at("sub/target"), "one");
    ck_assert(is_link(at("absolute")) && is_link(at("relative")));
    ck_assert(write_to(at("chain"), "two"));
    ck_assert(is_link(at("chain")) && is_link(at("sub/dangling")) && !is_link(at("new")));
    expect_text(at("new"), "two");
    ck_assert_int_eq(symlink("gone/file", at("nowhere")), 0);
    ck_assert(!write_to(at("nowhere"), "x"));
    ck_assert_ptr_nonnull(strstr(reason_text, "/gone' does not exist"));
    ck_assert_int_eq(symlink("circle", at("circle")), 0);
    ck_assert(!write_to(at("circle"), "x"));
    ck_assert_str_eq(reason_text, strerror(ELOOP));
    ck_assert_int_eq(symlink("sub", at("folder")), 0);
    ck_assert(!write_to(at("folder"), "x"));
    ck_assert_str_eq(reason_text, "it is a folder");
    ck_assert_int_eq(count_names(), 8);
}

TEST(no_file_is_meant) {
    static const char *const names[] = {"", "sub/", ".", "sub/..", "gone/", "gone/x", "file/x"};
    ck_assert_int_eq(mkdir(at("sub"), 0777), 0);
    put(at("file"), "old", 0644);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ck_assert_msg(!write_to(at(names[i]), "x"), "'%s'", names[i]);
        ck_assert_msg(reason_text[0] != '\0', "'%s'", names[i]);
    }
    ck_assert(!write_to("", "x"));
    expect_text(at("file"), "old");
    ck_assert_int_eq(count_names(), 2);
}

/* A temporary needs no longer name than the file. */
TEST(long_names) {
    char name[300];
    memset(name, 'x', sizeof name);
    name[255] = '\0';
    ck_assert(write_to(at(name), "one"));
    ck_assert(write_to(at(name), "two"));
    expect_text(at(name), "two");
    name[255] = 'x';
    name[256] = '\0';
    ck_assert(!write_to(at(name), "x"));
    ck_assert_str_eq(reason_text, strerror(ENAMETOOLONG));
}

TEST(written_through) {
    char name[64], data[64] = "";
    int ends[2];
    struct stat info;
    ck_assert(write_to("/dev/null", "x"));
    ck_assert(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    ck_assert(!write_to("/dev/full", "x"));
    ck_assert_str_eq(reason_text, strerror(ENOSPC));
    ck_assert_int_eq(mkfifo(at("fifo"), 0666), 0);
    int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert(write_to(at("fifo"), "through"));
    ck_assert_int_eq(read(reader, data, sizeof data), 7);
    ck_assert_str_eq(data, "through");
    (void)close(reader);
    ck_assert(stat(at("fifo"), &info) == 0 && S_ISFIFO(info.st_mode));
    /* A descriptor goes on where it is; a link to one is no other way. */
    int file = open(at("log"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq(write(file, "first ", 6), 6);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ck_assert_int_eq(symlink(name, at("link")), 0);
    ck_assert(write_to(at("link"), "second "));
    (void)snprintf(name, sizeof name, "/dev/fd/%d", file);
    ck_assert(write_to(name, "third"));
    ck_assert(fstat(file, &info) == 0 && info.st_nlink == 1);
    expect_text(at("log"), "first second third");
    (void)close(file);
    ck_assert(!write_to(name, "x"));
    /* A reader that has gone is no fault. */
    ck_assert_int_eq(pipe(ends), 0);
    (void)close(ends[0]);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
    ck_assert(write_to(name, "nobody reads this"));
    (void)close(ends[1]);
    ck_assert_int_eq(count_names(), 3);
}

static void write_without_folder(void) {
    need(write_to(at("shut/file"), "new"), "a file in a folder that is shut is written in place");
    need(!write_to(at("shut/other"), "new"), "no file is made in a folder that is shut");
    need(strcmp(reason_text, strerror(EACCES)) == 0, "the reason is the folder");
    need(!write_to(at("kept"), "new"), "a file that may not be written is not replaced");
    need(write_to(at("foreign"), "new"), "a file of another user that may be written");
}

TEST(others_permissions) {
    struct stat before, after;
    ck_assert_int_eq(mkdir(at("shut"), 0755), 0);
    put(at("shut/file"), "old and longer", 0666);
    put(at("kept"), "old", 0444);
    put(at("foreign"), "old", 0666);
    ck_assert_int_eq(chmod(at("shut"), 0555), 0);
    ck_assert_int_eq(stat(at("foreign"), &before), 0);
    as_nobody(write_without_folder);
    expect_text(at("shut/file"), "new");
    expect_text(at("kept"), "old");
    expect_text(at("foreign"), "new");
    ck_assert_int_eq(stat(at("foreign"), &after), 0);
    ck_assert_uint_eq(after.st_uid, before.st_uid);
    ck_assert_uint_eq(get_mode(at("foreign")), 0666);
    ck_assert_int_eq(count_names(), 3);
}

/* No room: the old bytes stay, whether the file would be replaced or written in place. */
static void write_too_much(void) {
    static char large[5000];
    const struct rlimit most = {.rlim_cur = 4096, .rlim_max = 4096};
    memset(large, 'x', sizeof large - 1);
    (void)signal(SIGXFSZ, SIG_IGN);
    need(setrlimit(RLIMIT_FSIZE, &most) == 0, "the limit is set");
    static const char *const names[] = {"old", "shut/file", "new"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        need(!write_to(at(names[i]), large), names[i]);
        need(strcmp(reason_text, strerror(EFBIG)) == 0, "the reason is the size");
    }
    need(write_to(at("old"), "small"), "less has room");
}

TEST(no_room) {
    ck_assert_int_eq(mkdir(at("shut"), 0755), 0);
    put(at("shut/file"), "the old one", 0666);
    put(at("old"), "old", 0666);
    ck_assert_int_eq(chmod(at("shut"), 0555), 0);
    as_nobody(write_too_much);
    expect_text(at("shut/file"), "the old one");
    expect_text(at("old"), "small");
    ck_assert_int_eq(count_names(), 2);
}

TEST(caches_replace_links) {
    static const char text[] = "cached";
    grout_text reason = {0};
    int where = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const grout_output_part part = {text, sizeof text - 1};
    const grout_output_file file = {
        .folder = where, .path = "entry", .parts = &part, .count = 1, .is_cached = true};
    put(at("victim"), "mine", 0644);
    ck_assert_int_eq(symlink("victim", at("entry")), 0);
    ck_assert(grout_output_file__write(&file, &reason));
    ck_assert(!is_link(at("entry")));
    expect_text(at("entry"), "cached");
    expect_text(at("victim"), "mine");
    ck_assert_uint_eq(get_mode(at("entry")), 0600);
    ck_assert_int_eq(count_names(), 2);
    (void)close(where);
}

static bool can_write(const char *path) {
    grout_text reason = {0};
    bool can = grout_output_file__can_write(path, &reason);
    ck_assert(can == (reason.size == 0));
    grout_text_free(&reason);
    return can;
}

TEST(asked_before) {
    put(at("file"), "old", 0644);
    ck_assert(can_write(at("file")));
    ck_assert(can_write(at("new")));
    ck_assert(can_write("/dev/null"));
    ck_assert(!can_write(at("gone/new")));
    ck_assert(!can_write(folder));
    ck_assert(!can_write(at("new/")));
    ck_assert(!can_write("/dev/fd/9999"));
    ck_assert_int_eq(count_names(), 1);
}

TEST(same_places) {
    put(at("file"), "old", 0644);
    ck_assert_int_eq(link(at("file"), at("hard")), 0);
    ck_assert_int_eq(symlink("file", at("soft")), 0);
    ck_assert_int_eq(symlink("new", at("dangling")), 0);
    ck_assert(grout_output_file__is_same(at("file"), at("hard")));
    ck_assert(grout_output_file__is_same(at("file"), at("./soft")));
    ck_assert(grout_output_file__is_same(at("dangling"), at("new")));
    ck_assert(!grout_output_file__is_same(at("file"), at("new")));
    ck_assert(!grout_output_file__is_same(at("new"), at("newer")));
    ck_assert(!grout_output_file__is_same("/dev/null", "/dev/null"));
    ck_assert(!grout_output_file__is_same("/dev/stdout", "/dev/stdout"));
}

int main(void) {
    return run_tests_between(make_folder, remove_folder);
}
