/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * golden_text.h - a printed artefact against tests/golden/NAME; PODBENCH_GOLDEN=write writes the file instead. Read the diff.
 *
 * Texts of thousands of lines that nobody reads are kept as digests, one of each section; PODBENCH_GOLDEN=print prints the whole
 * text, so that two versions of the program can be compared line by line.
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
    if (!read_text_file(&want, NULL, path, 1 << 20, a, &err))
        want = "";
    size_t same = 0, line = 1;
    for (; text[same] && text[same] == want[same]; same++)
        line += text[same] == '\n';
    if (text[same] != want[same]) {
        print_error("%s:%zu: differs: '%.80s', printed '%.80s'\nPODBENCH_GOLDEN=write with this test writes it; read the diff\n", path, line, want + same, text + same);
        _fail(__FILE__, __LINE__);
    }
}

/* Compares the hash, the number of lines and the first line of each section. A section begins at a line that begins with head, or that
 * is not indented if head is "". */
static inline void assert_digests(const char *text, const char *head, const char *path, struct arena *a)
{
    char *digests;
    if (text_is(getenv("PODBENCH_GOLDEN"), "print"))
        fputs(text, stdout);
    PRINTED(digests, for (const char *at = text; *at;) {
        const char *end = at;
        size_t n_lines = 0;
        do {
            end += strcspn(end, "\n");
            end += *end == '\n';
            n_lines++;
        } while (*end && (*head ? strncmp(end, head, strlen(head)) != 0 : *end == ' ' || *end == '\n'));
        fprintf(f, "%016" PRIx64 " %4zu  %.*s\n", hash_bytes(at, (size_t)(end - at), 0), n_lines, (int)min_u64(strcspn(at, "\n"), 100), at);
        at = end;
    });
    assert_golden(digests, path, a);
    free(digests);
}
#endif
