/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * golden_text.h - a printed artefact against tests/golden/NAME; PODBENCH_GOLDEN=write writes the file instead. Read the diff.
 */
#ifndef GOLDEN_TEXT_H
#define GOLDEN_TEXT_H
#include "tests/check.h"
#include "system-model/base/base.h"

static inline void assert_golden(const char *text, const char *path, struct arena *a)
{
    struct err err;
    char *want;
    if (text_is(getenv("PODBENCH_GOLDEN"), "write")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
    }
    assert_true(read_text_file(&want, NULL, path, 1 << 20, a, &err));
    size_t same = 0, line = 1;
    for (; text[same] && text[same] == want[same]; same++)
        line += text[same] == '\n';
    if (text[same] != want[same])
        print_error("%s:%zu: differs: '%.80s', printed '%.80s'\n", path, line, want + same, text + same);
    assert_true(text_is(text, want));
}
#endif
