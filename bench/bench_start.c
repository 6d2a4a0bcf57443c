/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_start.c - how long a whole process takes: 'grout --version' and a check of the smallest
 * kernel, beside /bin/true started the same way.
 */
#include "bench_util.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 51 };

static double start(char *const *argv) {
    double times[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_seconds();
        pid_t child = fork();
        if (child == 0) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
            execv(argv[0], argv);
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        times[i] = bench_seconds() - begin;
        if (status != 0) {
            bench_fail(argv[0], NULL);
        }
    }
    return bench_median(times, RUNS);
}

int main(int argc, char **argv) {
    char *grout = argc > 1 ? argv[1] : "build/release/bin/grout";
    char *kernel = argc > 2 ? argv[2] : "kernels/add_one.grout";
    char *nothing[] = {"/bin/true", NULL};
    char *version[] = {grout, "--version", NULL};
    char *check[] = {grout, "check", kernel, NULL};
    double least = start(nothing);

    printf("process start to end, medians of %d\n", RUNS);
    printf("%-32s %8.2f ms\n", "/bin/true", least * 1e3);
    printf("%-32s %8.2f ms\n", "grout --version", start(version) * 1e3);
    printf("%-32s %8.2f ms\n", "grout check add_one.grout", start(check) * 1e3);
    return EXIT_SUCCESS;
}
