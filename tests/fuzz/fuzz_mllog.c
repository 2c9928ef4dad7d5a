/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_mllog.c - any bytes as an MLPerf log: read line by line, folded into a run, and judged by the rules of the edition it names or 2.0.0. */
#include "tests/fuzz/fuzz.h"
#include "results/mlperf/mlperf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct arena kept;
    static struct judge judge;
    static const struct judge_options options = { .data_dir = "workloads/convergence" };
    struct arena a = {0};
    struct err err = {0};
    struct log_judgement j;
    if (!judge.a && !judge_load(&judge, &options, &kept, &err))
        abort();
    const char *path = fuzz_file(data, n, ".txt");
    bool judged = log_judge(&j, &judge, path, false, NULL, NULL, &a, &err)
               || log_judge(&j, &judge, path, false, edition_find(&judge.rounds, "2.0.0"), NULL, &a, &err);
    if (judged && j.run.has_bad_line && j.compliance.passed)
        abort();                        /* a line that cannot be read fails the file */
    arena_free(&a);
    unlink(path);
    return 0;
}
