/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * small_json.c - reads small JSON files of a submission, such as descriptions of systems and scaling factors. Larger files and special files
 * are not read.
 */
#include "results/mlperf/mlperf.h"
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_JSON = 1 << 20 };

json_t *load_small_json(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1)
        return NULL;
    json_t *doc = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= LARGEST_JSON ? json_loadfd(fd, 0, NULL) : NULL;
    close(fd);
    return doc;
}
