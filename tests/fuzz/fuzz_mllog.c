/* fuzz_mllog.c - any bytes as an MLPerf log: read line by line, folded into a run, and checked by the rules. */
#include "tests/fuzz/fuzz.h"
#include "results/mlperf/lint.h"
#include "results/mlperf/run_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct run_log run;
    struct lint_report report;
    struct lint_options opt = { .ruleset = "2.0.0", .rules_dir = "results/rules" };
    char *path = (char *)fuzz_file(data, n, ".txt");
    if (run_log_read(&run, path, &a, &err) && run.n_bad_lines > run.n_lines)
        abort();
    if (lint_files(&report, &path, 1, &opt, &a, &err) && run.n_bad_lines && report.passed && report.files[0].passed)
        abort();                        /* a line that cannot be read fails the file */
    arena_free(&a);
    unlink(path);
    return 0;
}
