/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_folder.h - the name of a folder of the test program's own, and its end: the test makes it.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H
#include "tests/check.h"

static char top[64];

static inline int set_up(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/podbench-test-XXXXXX");
    return mkdtemp(top) ? rmdir(top) : -1;          /* a name that no earlier test has left behind */
}

static inline int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

#endif
