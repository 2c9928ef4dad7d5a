/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz.h - bytes in, a file to parse: what the fuzzers share. A parser may refuse; it may not crash, leak or hang.
 */
#ifndef FUZZ_H
#define FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A folder of this process's own. */
static inline const char *fuzz_folder(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/podbench-fuzz-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    mkdir(path, 0777);
    return path;
}

static inline const char *fuzz_file(const uint8_t *data, size_t n, const char *suffix)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/podbench-fuzz-%ld%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(), suffix);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n)
        abort();
    fclose(f);
    return path;
}
#endif
