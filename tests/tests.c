/* tests.c - runs the tests that a program has entered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"

static entered_test *entries, **last = &entries;

void enter_test(entered_test *entry) {
    *last = entry;
    last = &entry->next;
}

static TCase *make_case(const char *name, void (*set_up)(void), void (*tear_down)(void)) {
    TCase *tcase = tcase_create(name);
    if (set_up != NULL) {
        tcase_add_checked_fixture(tcase, set_up, tear_down);
    }
    for (const entered_test *entry = entries; entry != NULL; entry = entry->next) {
        int range[2];
        entry->get_range(range);
        tcase_add_loop_test(tcase, *entry->test, range[0], range[1]);
    }
    return tcase;
}

int run_tests_between(void (*set_up)(void), void (*tear_down)(void)) {
    const char *name = entries == NULL ? "no tests" : (*entries->test)->file;
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, make_case(name, set_up, tear_down));
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 && entries != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* For programs that have none of their own. */
__attribute__((weak)) int main(void) {
    return run_tests();
}
