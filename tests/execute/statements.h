/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statements.h - statements that are tried by execution: each value is printed, and written to a table with the range that was expected. */
#ifndef STATEMENTS_H
#define STATEMENTS_H
#include "tests/execute/planned_model.h"

static struct planned base;
static FILE *file;
static bool all_hold = true;

static void report(const char *id, double value, double low, double high, const char *what)
{
    bool holds = value >= low && value <= high;
    fprintf(file, "%s,%.4g,%g,%g,%s,\"%s\"\n", id, value, low, high, holds ? "yes" : "no", what);
    printf("%-34s %10.4g   expected %g to %g%s\n", id, value, low, high, holds ? "" : "   MISSED");
    fflush(stdout);
    all_hold &= holds;
}

static void statements_open(int argc, char **argv, const char *mode)
{
    if (argc != 2 || !(file = fopen(argv[1], mode))) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        exit(2);
    }
    start(&base, "mlperf-v2.0-closed-bow-pod16-bert-large");
}

static int statements_close(void)
{
    stop(&base);
    fclose(file);
    return !all_hold;
}

#endif
