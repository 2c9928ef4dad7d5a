/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounds_folder.h - folders of rounds with tables by hand; the other tables of a round are those of the project.
 */
#ifndef ROUNDS_FOLDER_H
#define ROUNDS_FOLDER_H
#include "tests/check.h"
#include "workloads/convergence/editions.h"
#include <unistd.h>

/* The rounds of the project. */
static inline const struct round_table *project_rounds(void)
{
    static struct arena a;
    static struct round_table t;
    if (!t.n)
        assert_true(round_table_load(&t, "workloads/convergence", &a, NULL));
    return &t;
}

static inline void rounds_folder_write(const char *path, const char *text)
{
    unlink(path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Writes DIR/rounds/ROUND/NAME. Tables that the round does not have yet become links. */
static inline void rounds_folder_put(const char *dir, const char *round, const char *name, const char *text, struct arena *a)
{
    static const char *const tables[] = { "edition.csv", "benchmarks.csv", "rcp.csv", "rules.csv", "tensors.csv", "system_fields.csv" };
    char here[512];
    const char *folder = arena_printf(a, "%s/rounds/%s", dir, round);
    assert_non_null(getcwd(here, sizeof here));
    assert_true(make_folders(folder, NULL));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *own = arena_printf(a, "%s/%s", folder, tables[i]), *from = arena_printf(a, "%s/workloads/convergence/rounds/%s/%s", here, round, tables[i]);
        if (access(own, F_OK) != 0 && access(from, F_OK) == 0)
            assert_true(symlink(from, own) == 0);
    }
    if (name)
        rounds_folder_write(arena_printf(a, "%s/%s", folder, name), text);
}

/* The same from rows of several rounds: the first cell of a row names its rulesets, "2.0.0 2.1.0". */
static inline void rounds_folder_put_rows(const char *dir, const char *name, const char *header, const char *rows, struct arena *a)
{
    struct { const char *ruleset, *text; } rounds[8] = { { NULL, NULL } };
    char *rest = NULL;
    for (char *row = strtok_r(arena_strdup(a, rows), "\n", &rest); row; row = strtok_r(NULL, "\n", &rest)) {
        char *cells = strchr(row, ','), *words = NULL;
        assert_non_null(cells);
        *cells++ = 0;
        for (char *ruleset = strtok_r(row, " ", &words); ruleset; ruleset = strtok_r(NULL, " ", &words)) {
            size_t i = 0;
            while (rounds[i].ruleset && !text_is(rounds[i].ruleset, ruleset))
                assert_true(++i < 8);
            rounds[i].ruleset = ruleset;
            rounds[i].text = arena_printf(a, "%s%s\n", rounds[i].text ? rounds[i].text : header, cells);
        }
    }
    for (size_t i = 0; i < 8 && rounds[i].ruleset; i++)
        rounds_folder_put(dir, arena_printf(a, "v%.3s", rounds[i].ruleset), name, rounds[i].text, a);
}

static inline void rounds_folder_remove(const char *dir, struct arena *a)
{
    assert_int_equal(system(arena_printf(a, "rm -rf '%s'", dir)), 0);
}
#endif
