/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - what every cmocka test program includes: TAP output, near-equality of doubles, files to read back.
 */
#ifndef CHECK_H
#define CHECK_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#undef fail     /* cmocka takes the name; here it is base.h's */

/* cmocka 1.1.5 compares floats only. */
#define assert_near(got, want, tolerance) \
    do { \
        double got_ = (got), want_ = (want); \
        if (!(fabs(got_ - want_) <= (tolerance))) { \
            print_error("%s is %.17g, want %.17g within %g\n", #got, got_, want_, (double)(tolerance)); \
            _fail(__FILE__, __LINE__); \
        } \
    } while (0)

/* Writes text to a new temporary file; the name is kept until the next call with the same slot. */
static inline const char *temp_file(const char *text, size_t n_bytes, const char *suffix)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/podbench-test-%ld%s", (long)getpid(), suffix);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n_bytes, f), n_bytes);
    fclose(f);
    return path;
}

/* The output of print(f, artefact), as one string; the caller frees it. */
#define PRINTED(text, call) \
    do { \
        size_t size_; \
        FILE *f = open_memstream(&(text), &size_); \
        call; \
        fclose(f); \
    } while (0)

/* Prints the document d, to which `call` adds, to f as text. The test includes output.h. */
#define PRINT_DOCUMENT(f, call) \
    do { \
        struct arena room_ = {0}; \
        struct document document_ = { .arena = &room_ }, *d = &document_; \
        call; \
        document_write(f, FORMAT_TEXT, d); \
        arena_free(&room_); \
    } while (0)
#define DOCUMENTED(text, call) PRINTED(text, PRINT_DOCUMENT(f, call))

/* Ends a test that needs files which are not here. cmocka 1.1.5 prints its own skip() as "not ok", which prove takes for a failure. */
#define SKIP_WITHOUT(path) \
    do { \
        if (access((path), R_OK) != 0) { \
            print_message("# skipped: %s is not here\n", (path)); \
            return; \
        } \
    } while (0)

#define TAP_MAIN(tests) \
    int main(void) \
    { \
        cmocka_set_message_output(CM_OUTPUT_TAP); \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }
#endif
