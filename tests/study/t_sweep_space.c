/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_sweep_space.c - lists, ranges and tables become configurations; shards cover each once; parts are merged again.
 */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/sweep.h"
#include <unistd.h>

static const char *const recipes[] = { "one", "two" };

struct world { struct space s; struct arena a; struct err err; };

static void start(struct world *w)
{
    memset(w, 0, sizeof *w);
    space_start(&w->s, recipes, 2);
}

/* A configuration as "recipe key=value key=value". */
static const char *configuration(struct world *w, uint64_t number)
{
    const char *settings[8], *text = space_configuration(settings, &w->s, number);
    for (size_t i = 0; i < w->s.n_keys; i++)
        text = arena_printf(&w->a, "%s %s", text, *settings[i] ? settings[i] : "-");
    return text;
}

static void the_last_axis_varies_fastest(void **state)
{
    (void)state;
    struct world w;
    start(&w);
    const char *const zips[] = { "b.k=7,8", "b.l=x;y,z" };
    assert_true(space_zip(&w.s, zips, 2, &w.a, &w.err) && space_over(&w.s, "a.k=1..3", &w.a, &w.err) && space_close(&w.s, &w.err));
    assert_int_equal(w.s.n, 2 * 2 * 3);
    assert_string_equal(configuration(&w, 0), "one b.k=7 b.l=x a.k=1");
    assert_string_equal(configuration(&w, 1), "one b.k=7 b.l=x a.k=2");
    assert_string_equal(configuration(&w, 5), "one b.k=8 b.l=y,z a.k=3");
    assert_string_equal(configuration(&w, 6), "two b.k=7 b.l=x a.k=1");
    assert_string_equal(configuration(&w, 11), "two b.k=8 b.l=y,z a.k=3");
    arena_free(&w.a);
}

static void values_of(struct world *w, const char *over, const char *want)
{
    start(w);
    assert_true(space_over(&w->s, over, &w->a, &w->err));
    const char *got = "";
    for (size_t i = 0; i < w->s.axes[0].n; i++)
        got = arena_printf(&w->a, "%s%s|", got, strchr(w->s.axes[0].settings[i], '=') + 1);
    assert_string_equal(got, want);
    arena_free(&w->a);
}

static void lists_and_ranges(void **state)
{
    (void)state;
    struct world w;
    values_of(&w, "a.b=1,2,30", "1|2|30|");
    values_of(&w, "a.b=3,7,7;6,6,5;", "3,7,7|6,6,5|");
    values_of(&w, "a.b=3..6", "3|4|5|6|");
    values_of(&w, "a.b=3..10+3", "3|6|9|");
    values_of(&w, "a.b=9.95..10+1", "9.95|");      /* no more digits than tell it from its neighbours */
    values_of(&w, "a.b=3..50*2", "3|6|12|24|48|");
    values_of(&w, "a.b=0.1..0.4+0.1", "0.1|0.2|0.3|0.4|");
    values_of(&w, "a.b=1e9..3e9+1e9", "1000000000|2000000000|3000000000|");
    values_of(&w, "a.b=../x.csv", "../x.csv|");         /* a path, not a range */
    values_of(&w, "a.b=0-1 0.5;0-1 0.25", "0-1 0.5|0-1 0.25|");
    values_of(&w, "recipe.sdk=2.1,2.10", "2.1|2.10|");  /* two releases */
    values_of(&w, "a.b=9007199254740993,9007199254740992", "9007199254740993|9007199254740992|");
}

static void what_is_no_space_is_refused(void **state)
{
    (void)state;
    static const struct { const char *over, *message; } bad[] = {
        { "a.b", "--over a.b: want SECTION.KEY=VALUES, as in parallel.replicas=1,2,4 or parallel.micro_batch=1..16" },
        { "ab=3", "--over ab=3: want SECTION.KEY=VALUES, as in parallel.replicas=1,2,4 or parallel.micro_batch=1..16" },
        { "a.b=", "--over a.b=: an empty value; take a key away with --set SECTION.KEY=" },
        { "a.b=1,,2", "--over a.b=1,,2: an empty value; take a key away with --set SECTION.KEY=" },
        { "a.b=7;30;9;30", "--over: a.b=30 is named twice; name it once" },
        { "a.b=9,07,x,7.0", "--over: a.b=07 and a.b=7.0 are the same; name it once" },
        { "a.b=9..3", "--over a.b=9..3: no steps lead from 9 up to 3; want FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR, rising" },
        { "a.b=1..3*1", "--over a.b=1..3*1: no steps lead from 1 up to 3; want FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR, rising" },
        { "a.b=0..3*2", "--over a.b=0..3*2: no steps lead from 0 up to 3; want FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR, rising" },
        { "a.b=1..3+x", "--over a.b=1..3+x: '+x' is not a step; want +STEP or *FACTOR, as in 16..256*2" },
        { "a.b=1..1e9", "--over a.b=1..1e9: more than 10000000 values" },
        { "a.b=0..1e7", "--over a.b=0..1e7: more than 10000000 values" },
        { "a.b=1..10*1.0000001", "--over a.b=1..10*1.0000001: more than 10000000 values" },
        { "a.b=0..1+1e-8", "--over a.b=0..1+1e-8: more than 10000000 values" },
    };
    struct world w;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        start(&w);
        assert_false(space_over(&w.s, bad[i].over, &w.a, &w.err));
        assert_string_equal(w.err.msg, bad[i].message);
        arena_free(&w.a);
    }
    start(&w);
    const char *const uneven[] = { "a.b=1,2", "a.c=1,2,3" };
    assert_false(space_zip(&w.s, uneven, 2, &w.a, &w.err));
    assert_string_equal(w.err.msg, "--zip: a.b has 2 values, a.c has 3; want the same number for all keys");
    const char *const same[] = { "a.b=5,6,5", "a.c=7,7,07" };
    assert_false(space_zip(&w.s, same, 2, &w.a, &w.err));
    assert_string_equal(w.err.msg, "--zip: a.b=5 a.c=7 and a.b=5 a.c=07 are the same; name it once");
    arena_free(&w.a);
    start(&w);
    const char *const again[] = { "a.d=5,5", "a.e=6,7" };
    assert_true(space_zip(&w.s, again, 2, &w.a, &w.err));
    assert_true(space_over(&w.s, "a.b=1,2", &w.a, &w.err) && space_over(&w.s, "a.b=3", &w.a, &w.err));
    assert_false(space_close(&w.s, &w.err));
    assert_string_equal(w.err.msg, "a.b is swept twice; name it once, or put its values in parallel with --zip");
    arena_free(&w.a);
}

/* Two recipes of 5e14 each are as many as there may be. */
static void there_are_not_too_many(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct world w;
        start(&w);
        assert_true(space_over(&w.s, "a.b=1", &w.a, &w.err) && space_over(&w.s, "a.c=1", &w.a, &w.err) && space_over(&w.s, "a.d=1", &w.a, &w.err));
        w.s.axes[0].n = w.s.axes[1].n = 10000000;               /* which takes long to write */
        w.s.axes[2].n = more ? 6 : 5;
        assert_int_equal(space_close(&w.s, &w.err), !more);
        if (more)
            assert_string_equal(w.err.msg, "more than 1000000000000000 configurations; sweep fewer keys or values");
        else
            assert_int_equal(w.s.n, 1000000000000000);
        arena_free(&w.a);
    }
}

static void a_table_is_an_axis(void **state)
{
    (void)state;
    struct world w;
    const char text[] = "a.b,c.d\n1,\"x, y\"\n,z\n", bad[] = "a.b,cd\n1,2\n";
    start(&w);
    assert_true(space_from(&w.s, temp_file(text, sizeof text - 1, ".csv"), &w.a, &w.err) && space_close(&w.s, &w.err));
    assert_int_equal(w.s.n, 4);
    assert_string_equal(configuration(&w, 0), "one a.b=1 c.d=x, y");
    assert_string_equal(configuration(&w, 3), "two - c.d=z");
    const char *path = temp_file(bad, sizeof bad - 1, ".csv");
    assert_false(space_from(&w.s, path, &w.a, &w.err));
    assert_non_null(strstr(w.err.msg, ":1: column 'cd' is not a key; want SECTION.KEY, as in parallel.replicas"));
    static const char twice[] = "a.b,c.d\n1,x\n,\n01,x\n";
    arena_free(&w.a);
    start(&w);
    temp_file(twice, sizeof twice - 1, ".csv");
    assert_false(space_from(&w.s, path, &w.a, &w.err));
    assert_string_equal(w.err.msg, arena_printf(&w.a, "%s:4: every value is the same as in line 2; keep one of the two lines", path));
    unlink(path);
    arena_free(&w.a);
}

/* ---- shards ------------------------------------------------------------------------------------- */

/* 7 configurations on 3 shards: 3, 2, 2. More shards than configurations: some have none. */
static void shards_take_each_configuration_once(void **state)
{
    (void)state;
    static const struct { uint64_t n; uint32_t shards; } cases[] = { { 7, 3 }, { 1, 1 }, { 3, 8 }, { 1000003, 17 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t expected = 0, first, end, most = 0, least = UINT64_MAX;
        for (uint32_t k = 1; k <= cases[i].shards; k++) {
            struct shard shard = { k, cases[i].shards, "" };
            shard_range(&first, &end, &shard, cases[i].n);
            assert_int_equal(first, expected);
            expected = end;
            most = max_u64(most, end - first);
            least = min_u64(least, end - first);
        }
        assert_int_equal(expected, cases[i].n);
        assert_true(most - least <= 1);
    }
}

/* A made environment: name, value, ... */
static const char *const *variables;
static const char *made(const char *name)
{
    for (const char *const *v = variables; *v; v += 2)
        if (strcmp(*v, name) == 0)
            return v[1];
    return NULL;
}

static void shards_from_the_environment(void **state)
{
    (void)state;
    static const struct { const char *variables[16], *text; uint32_t index, n; const char *by; } cases[] = {
        { { NULL }, NULL, 1, 1, "" },
        { { "OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "5" }, NULL, 3, 5, "Open MPI" },
        { { "PMI_RANK", "0", "PMI_SIZE", "4" }, NULL, 1, 4, "MPICH" },
        { { "SLURM_PROCID", "3", "SLURM_STEP_NUM_TASKS", "4", "SLURM_STEP_ID", "0" }, NULL, 4, 4, "srun" },
        { { "SLURM_PROCID", "0", "SLURM_NTASKS", "4" }, NULL, 1, 1, "" },                  /* the batch script itself: one process */
        { { "SLURM_ARRAY_TASK_ID", "14", "SLURM_ARRAY_TASK_MIN", "2", "SLURM_ARRAY_TASK_STEP", "4", "SLURM_ARRAY_TASK_COUNT", "9" }, NULL, 4, 9,
          "Slurm's array" },
        { { "SLURM_ARRAY_TASK_ID", "1", "SLURM_ARRAY_TASK_MIN", "0", "SLURM_ARRAY_TASK_COUNT", "3", "PMI_RANK", "1", "PMI_SIZE", "2" }, NULL, 4, 6,
          "Slurm's array and the launcher" },
        { { "OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "5" }, "1/1", 1, 1, "--shard" },
        { { "PARALLEL_SEQ", "3" }, "/7", 3, 7, "GNU parallel" },
        { { "PMI_RANK", "1" }, NULL, 1, 1, "" }, { { "SLURM_ARRAY_TASK_ID", "4", "SLURM_ARRAY_TASK_MIN", "2" }, NULL, 1, 1, "" },
        { { "PMI_RANK", "999999", "PMI_SIZE", "1000000" }, NULL, 1000000, 1000000, "MPICH" },
        { { "PARALLEL_SEQ", "3" }, NULL, 1, 1, "" },                /* its jobs may be anything */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shard shard;
        struct err err = { "" };
        variables = cases[i].variables;
        assert_true(shard_find(&shard, cases[i].text, made, &err));
        assert_int_equal(shard.index, cases[i].index);
        assert_int_equal(shard.n, cases[i].n);
        assert_string_equal(shard.by, cases[i].by);
    }
}

static void ranks_that_name_no_part(void **state)
{
    (void)state;
    static const struct { const char *variables[16], *message; } torn[] = {
        { { "OMPI_COMM_WORLD_RANK", "5", "OMPI_COMM_WORLD_SIZE", "5" },
          "OMPI_COMM_WORLD_RANK=5 is not below OMPI_COMM_WORLD_SIZE=5; name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "9", "SLURM_ARRAY_TASK_MIN", "1", "SLURM_ARRAY_TASK_COUNT", "3" },        /* --array=1,5,9 */
          "SLURM_ARRAY_TASK_ID=9 is not one of 3 tasks from 1 in steps of 1; number the array evenly, or name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "5", "SLURM_ARRAY_TASK_MIN", "2", "SLURM_ARRAY_TASK_STEP", "2", "SLURM_ARRAY_TASK_COUNT", "3" },
          "SLURM_ARRAY_TASK_ID=5 is not one of 3 tasks from 2 in steps of 2; number the array evenly, or name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "1", "SLURM_ARRAY_TASK_MIN", "2", "SLURM_ARRAY_TASK_COUNT", "3" },
          "SLURM_ARRAY_TASK_ID=1 is not one of 3 tasks from 2 in steps of 1; number the array evenly, or name the part with --shard I/N" },
        { { "OMPI_COMM_WORLD_RANK", "one", "OMPI_COMM_WORLD_SIZE", "5" }, "OMPI_COMM_WORLD_RANK=one is not a number; name the part with --shard I/N" },
        { { "PMI_RANK", "1", "PMI_SIZE", "" }, "PMI_SIZE= is not a number; name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "x" }, "SLURM_ARRAY_TASK_ID=x is not a number; name the part with --shard I/N" },
        { { "OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "4294967296" },
          "1 x 4294967296 parts, by Slurm's array and the launcher, are more than 1000000; name the part with --shard I/N" },
        { { "PMI_RANK", "0", "PMI_SIZE", "1000001" }, "1 x 1000001 parts, by Slurm's array and the launcher, are more than 1000000; name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "0", "SLURM_ARRAY_TASK_MIN", "0", "SLURM_ARRAY_TASK_COUNT", "18446744073709551615" },
          "18446744073709551615 x 1 parts, by Slurm's array and the launcher, are more than 1000000; name the part with --shard I/N" },
        { { "SLURM_ARRAY_TASK_ID", "0", "SLURM_ARRAY_TASK_MIN", "0", "SLURM_ARRAY_TASK_COUNT", "1001", "PMI_RANK", "0", "PMI_SIZE", "1000" },
          "1001 x 1000 parts, by Slurm's array and the launcher, are more than 1000000; name the part with --shard I/N" },
    };
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        struct shard shard;
        struct err err = { "" };
        variables = torn[i].variables;
        assert_false(shard_find(&shard, NULL, made, &err));
        assert_string_equal(err.msg, torn[i].message);
    }
}

static void texts_that_name_no_shard(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } bad[] = {
        { "3", "--shard: '3' is not a shard; want I/N, as in 3/8, or /N under GNU parallel" },
        { "0/4", "--shard: 0 is outside 1 to 4" }, { "5/4", "--shard: 5 is outside 1 to 4" },
        { "/4", "--shard: '/4' has no number before the slash, and PARALLEL_SEQ, which GNU parallel sets, is not there" },
        { "x/4", "--shard: 'x/4' has no number before the slash" },
    };
    static const char *const none[] = { NULL };
    variables = none;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shard shard;
        struct err err = { "" };
        assert_false(shard_find(&shard, bad[i].text, made, &err));
        assert_string_equal(err.msg, bad[i].message);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------- */

#define HEAD "configuration,of,sweep,recipe\n"
#define ROW(number, of, sweep) #number "," #of ",00000000000000" #sweep ",r\n"

/* Merges up to three parts, given in any order. */
static char *joined(const char *const *texts, struct err *err)
{
    char names[3][64], *out = NULL;
    const char *parts[3];
    size_t n = 0;
    struct arena a = {0};
    bool good;
    for (; n < 3 && texts[n]; n++) {
        snprintf(names[n], sizeof names[n], "part%zu", n);
        parts[n] = names[n];
        FILE *f = fopen(names[n], "w");
        assert_non_null(f);
        fputs(texts[n], f);
        fclose(f);
    }
    PRINTED(out, good = parts_merge(f, "all.csv", parts, n, &a, err));
    for (size_t i = 0; i < n; i++)
        unlink(names[i]);
    arena_free(&a);
    if (good)
        return out;
    free(out);
    return NULL;
}

static void parts_are_joined_or_refused(void **state)
{
    (void)state;
    static const struct { const char *parts[4], *out, *message; } cases[] = {
        { { HEAD ROW(3, 3, aa), HEAD ROW(1, 3, aa) ROW(2, 3, aa), HEAD }, HEAD ROW(1, 3, aa) ROW(2, 3, aa) ROW(3, 3, aa), NULL },
        { { "{\"configuration\":2,\"of\":2,\"sweep\":\"00000000000000aa\",\"x\":1}\n", "{\"configuration\":1,\"of\":2,\"sweep\":\"00000000000000aa\",\"x\":1}\n" },
          "{\"configuration\":1,\"of\":2,\"sweep\":\"00000000000000aa\",\"x\":1}\n{\"configuration\":2,\"of\":2,\"sweep\":\"00000000000000aa\",\"x\":1}\n", NULL },
        { { HEAD ROW(1, 4, aa), HEAD ROW(3, 4, aa) ROW(4, 4, aa) }, NULL, "configurations 2 to 2 are missing between part0 and part1" },
        { { HEAD ROW(2, 2, aa) }, NULL, "configurations 1 to 1 are missing between the beginning and part0" },
        { { HEAD ROW(1, 3, aa) }, NULL, "configurations 2 to 3 are missing after part0" },
        { { HEAD ROW(1, 2, aa) ROW(2, 2, aa), HEAD ROW(2, 2, aa) }, NULL, "part1: holds configuration 2, as part0 does" },
        { { HEAD ROW(1, 2, aa), HEAD ROW(2, 2, ab) }, NULL,
          "part1: sweep 00000000000000ab, and part0 is of sweep 00000000000000aa: a recipe, a value, a sheet or the version differs" },
        { { HEAD ROW(1, 2, aa), "configuration,of,sweep,other\n" ROW(2, 2, aa) }, NULL,
          "part1:1: other columns than part0: parts of different sweeps or versions" },
        { { HEAD "1,1,00000000000000aa,r" }, NULL, "part0: no part has a row" },
        { { HEAD ROW(1, 2, aa) "2,2,000" }, NULL, "part0: its last row is cut short; finish it with --resume" },
        { { HEAD "what is this\n" }, NULL, "part0: is not a part of a sweep" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = { "" };
        char *out = joined(cases[i].parts, &err);
        if (cases[i].out) {
            assert_non_null(out);
            assert_string_equal(out, cases[i].out);
        } else {
            assert_null(out);
            assert_string_equal(err.msg, cases[i].message);
        }
        free(out);
    }
}

static int to_temporary_folder(void **state)
{
    static char folder[] = "/tmp/podbench-space-XXXXXX";
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

/* Every entry of a recipe counts, by name and value; comments do not. */
static void a_sweep_is_known_by_its_recipes(void **state)
{
    static const char *const texts[] = { "[a]\nb = 1\nc = 2\n[d]\ne = 3\n", "[a]\nb = 4\nc = 2\n[d]\ne = 3\n", "[a]\nb = 1\nc = 4\n[d]\ne = 3\n",
                                         "[a]\nb = 1\nc = 2\n[d]\ne = 4\n", "[a]\nb = 1\nc = 2\n[d]\nf = 3\n", "[a]\nb = 1\nc = 2\ne = 3\n" };
    enum { N = sizeof texts / sizeof *texts };
    struct world w;
    uint64_t known[N], again;
    (void)state;
    start(&w);
    const char *one = temp_file(texts[0], strlen(texts[0]), ".ini");
    const char *const written[] = { one };
    struct track_record record = { .spread = { 0 } };
    const struct sweep sweep = { .space = &w.s, .paths = &paths, .record = &record };
    space_start(&w.s, written, 1);
    for (size_t i = 0; i < N; i++) {
        temp_file(texts[i], strlen(texts[i]), ".ini");
        assert_true(sweep_identity(&known[i], &sweep, &w.a, &w.err));
        for (size_t k = 0; k < i; k++)
            assert_true(known[i] != known[k]);
    }
    const char *spaced = "# as the first\n[a]\nb = 1\n\nc=2\n[d]\ne = 3\n";
    temp_file(spaced, strlen(spaced), ".ini");
    assert_true(sweep_identity(&again, &sweep, &w.a, &w.err));
    assert_true(again == known[0]);
    unlink(one);
    arena_free(&w.a);
}

/* So does everything else that rows depend on: each recipe, setting, key and value, and each error behind the
 * intervals, by name and size. */
static void a_sweep_is_known_by_all_that_it_is(void **state)
{
    struct variant { const char *recipes[2], *sets[2], *overs[2], *names[2]; double errors[2]; };
    static const struct variant first = { { "none", "two" }, { "a.b=1", "c.d=2" }, { "e.f=1,2", "g.h=3,4" }, { "p", "q" }, { 0.1, 0.2 } };
    struct variant all[17];
    uint64_t known[17];
    (void)state;
    for (size_t i = 0; i < 17; i++)
        all[i] = first;
    for (size_t k = 0; k < 2; k++) {
        all[1 + k].recipes[k] = "other";
        all[3 + k].sets[k] = "a.c=1";
        all[5 + k].overs[k] = k ? "g.i=3,4" : "e.i=1,2";
        all[7 + k].overs[k] = k ? "g.h=5,4" : "e.f=5,2";
        all[9 + k].overs[k] = k ? "g.h=3,5" : "e.f=1,5";
        all[11 + k].names[k] = "r";
        all[13 + k].errors[k] = 0.3;
    }
    all[15].sets[0] = "c.d=2", all[15].sets[1] = "a.b=1";
    all[16].recipes[0] = "two", all[16].recipes[1] = "none";
    for (size_t i = 0; i < 17; i++) {
        struct world w;
        struct reference errors[2] = { { .configuration = all[i].names[0], .left_out = all[i].errors[0] },
                                       { .configuration = all[i].names[1], .left_out = all[i].errors[1] } };
        struct track_record record = { .references = { .items = errors, .n = 2 } };
        const struct sweep sweep = { .space = &w.s, .paths = &paths, .record = &record, .sets = all[i].sets, .n_sets = 2 };
        start(&w);
        space_start(&w.s, all[i].recipes, 2);
        assert_true(space_over(&w.s, all[i].overs[0], &w.a, &w.err) && space_over(&w.s, all[i].overs[1], &w.a, &w.err) && space_close(&w.s, &w.err));
        assert_true(sweep_identity(&known[i], &sweep, &w.a, &w.err));
        for (size_t k = 0; k < i; k++)
            assert_true(known[i] != known[k]);
        arena_free(&w.a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_last_axis_varies_fastest), cmocka_unit_test(lists_and_ranges), cmocka_unit_test(what_is_no_space_is_refused),
    cmocka_unit_test(there_are_not_too_many), cmocka_unit_test(a_table_is_an_axis), cmocka_unit_test(shards_take_each_configuration_once),
    cmocka_unit_test(shards_from_the_environment), cmocka_unit_test(ranks_that_name_no_part), cmocka_unit_test(texts_that_name_no_shard),
    cmocka_unit_test(a_sweep_is_known_by_its_recipes), cmocka_unit_test(a_sweep_is_known_by_all_that_it_is),
    cmocka_unit_test_setup_teardown(parts_are_joined_or_refused, to_temporary_folder, leave_folder),
};
TAP_MAIN(tests)
