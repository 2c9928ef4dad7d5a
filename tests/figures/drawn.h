/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn.h - what tests of figures share: a simulator, a folder for their tables, and a drawing by name.
 */
#ifndef DRAWN_H
#define DRAWN_H
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/figures/drawings.h"
#include <unistd.h>

static struct arena a;
static struct err err;

static struct simulator *simulator(void)
{
    static struct simulator s;
    if (!s.paths)
        simulator_open(&s, &paths);
    return &s;
}

static const char *folder(void)
{
    static char path[] = "/tmp/podbench-drawings-XXXXXX";
    if (strstr(path, "XXXXXX"))
        assert_non_null(mkdtemp(path));
    return path;
}

static const struct drawing_kind *kind(const char *name)
{
    for (size_t i = 0; i < n_drawing_kinds; i++)
        if (text_is(drawing_kinds[i].name, name))
            return &drawing_kinds[i];
    return NULL;
}

static struct drawing drawn(const char *name, const struct drawing_source *from)
{
    struct drawing d = { .folder = folder(), .from = from, .a = &a };
    if (!drawing_make(&d, kind(name), &err))
        print_error("%s: %s\n", name, err.msg);
    return d;
}

static int end(void **state)
{
    char **left;
    size_t n;
    (void)state;
    if (list_folder(&left, &n, folder(), ".csv", &a, &err))
        for (size_t i = 0; i < n; i++)
            unlink(arena_printf(&a, "%s/%s.csv", folder(), left[i]));
    rmdir(folder());
    simulator_close(simulator());
    arena_free(&a);
    return 0;
}

#endif
