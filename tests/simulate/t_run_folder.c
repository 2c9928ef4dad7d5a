/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_run_folder.c - runs on disk: written, checked, copied; and what a killed program leaves.
 */
#include "tests/test_folder.h"
#include "results/simulate/run_folder.h"
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct arena a;
static struct err err;

static void write_text(FILE *f, const void *text) { fputs(text, f); }

static const char *path_of(const char *folder, const char *name) { return arena_printf(&a, "%s/%s/%s", top, folder, name); }

static const char *run_of(const char *name) { return arena_printf(&a, "%s/%s", top, name); }

/* Two tables, the second of them `text`. */
static void write_run(const char *folder, const char *text)
{
    const struct run_table tables[] = { { "rows.csv", write_text, "id,x\na,1\n" }, { "check.csv", write_text, text } };
    json_t *manifest = json_pack("{s:s, s:f}", "podbench", "9.9", "third_s", 1 / 3.0);
    assert_true(run_folder_write(run_of(folder), tables, 2, "id,x", manifest, &err));
    json_decref(manifest);
}

static bool is_whole(const char *folder, const char *schema)
{
    err.msg[0] = '\0';
    return run_folder_check(run_of(folder), schema, &err);
}

static bool is_there(const char *folder, const char *name) { return access(path_of(folder, name), F_OK) == 0; }

static const char *text_in(const char *folder, const char *name)
{
    char *text;
    assert_true(read_text_file(&text, NULL, path_of(folder, name), 1 << 16, &a, &err));
    return text;
}

/* A run is whole as it was written, with its schema or without asking for one; otherwise it is refused with what to do. */
static void checked(void **state)
{
    (void)state;
    write_run("checked", "k\n1\n");
    const char *folder = run_of("checked");
    assert_true(is_whole("checked", "id,x") && is_whole("checked", NULL));
    assert_non_null(strstr(text_in("checked", "manifest.json"), "\"third_s\": 0.333333333333333,"));      /* to 15 digits */
    assert_false(is_whole("checked", "id,y"));
    assert_string_equal(err.msg, arena_printf(&a, "%s: podbench 9.9 wrote this run with other columns; simulate again with 'podbench bench --out %s'", folder, folder));
    FILE *f = fopen(path_of("checked", "check.csv"), "a");
    fputs("2\n", f);
    fclose(f);
    assert_false(is_whole("checked", "id,x"));
    assert_string_equal(err.msg, arena_printf(&a, "%s/check.csv: is not the file that manifest.json lists: the run is incomplete or was edited; simulate again with "
                                                  "'podbench bench --out %s', or name the table itself", folder, folder));
    f = fopen(path_of("checked", "manifest.json"), "w");        /* it is not known which of the two is meant */
    fputs("{\"schema\": \"1\", \"schema\": \"2\"}", f);
    fclose(f);
    assert_false(is_whole("checked", NULL));
    assert_non_null(strstr(err.msg, "duplicate object key"));
    assert_int_equal(unlink(path_of("checked", "manifest.json")), 0);
    assert_false(is_whole("checked", NULL));
    assert_string_equal(err.msg, arena_printf(&a, "%s/manifest.json: cannot be read: the run is incomplete; simulate again with 'podbench bench --out %s'", folder, folder));
    assert_false(is_whole("nowhere", NULL));
    assert_string_equal(err.msg, arena_printf(&a, "%s: no such run folder", run_of("nowhere")));
    arena_free(&a);
}

/* A second run replaces the first. Killed before the old manifest is removed, it is the first; after that there is none. */
static void killed_between_renames(void **state)
{
    (void)state;
    write_run("killed", "k\n7\n");
    write_run("next", "k\n8\n");
    assert_int_equal(rename(path_of("next", "manifest.json"), path_of("killed", "manifest.json.podbench-00000000.new")), 0);
    assert_true(is_whole("killed", "id,x"));
    assert_int_equal(unlink(path_of("killed", "manifest.json")), 0);
    assert_false(is_whole("killed", "id,x"));
    assert_non_null(strstr(err.msg, "the run is incomplete; simulate again"));
    write_run("killed", "k\n9\n");
    assert_true(is_whole("killed", "id,x"));
    arena_free(&a);
}

struct reader { const char *folder; bool whole; atomic_bool done; };

static void *look(void *user)
{
    struct reader *r = user;
    struct err why;
    r->whole = run_folder_check(r->folder, "id,x", &why);
    atomic_store(&r->done, true);
    return NULL;
}

/* The holder of the folder's lock is still writing, so a reader waits, however long. */
static void readers_wait_for_writers(void **state)
{
    (void)state;
    write_run("locked", "k\n2\n");
    struct reader r = { .folder = run_of("locked") };
    int fd = open(r.folder, O_RDONLY | O_DIRECTORY);
    pthread_t thread;
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(pthread_create(&thread, NULL, look, &r), 0);
    usleep(50000);
    assert_false(atomic_load(&r.done));
    assert_int_equal(close(fd), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(r.done && r.whole);
    arena_free(&a);
}

/* Ends the program when a file may not grow further. */
static bool write_limited(const char *folder, size_t n_bytes)
{
    struct rlimit before, least;
    char *text = ARENA_ARRAY(&a, char, n_bytes + 1);
    const struct run_table tables[] = { { "rows.csv", write_text, "id,x\na,1\n" }, { "check.csv", write_text, text } };
    json_t *manifest = json_pack("{s:s}", "podbench", "9.9");
    memset(text, 'k', n_bytes);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    least = before, least.rlim_cur = 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &least), 0);
    bool good = run_folder_write(run_of(folder), tables, 2, "id,x", manifest, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    json_decref(manifest);
    return good;
}

/* A full disk cuts a table short, written at once or in pieces: the old run stays. */
static void a_full_disk_leaves_the_old_run(void **state)
{
    (void)state;
    write_run("full", "k\n6\n");
    static const size_t sizes[] = { 17, 300000 };
    for (size_t i = 0; i < 2; i++) {
        assert_false(write_limited("full", sizes[i]));
        assert_string_equal(err.msg, arena_printf(&a, "%s: cannot be written completely: File too large", path_of("full", "check.csv")));
        assert_true(is_whole("full", "id,x"));
        assert_string_equal(text_in("full", "check.csv"), "k\n6\n");
    }
    arena_free(&a);
}

static bool note(void *what, struct err *why)
{
    (void)why;
    ++*(int *)what;
    return true;
}

static bool refuse(void *what, struct err *why) { return fail(why, "%s", (const char *)what); }

/* A copy is as whole as its source. Its record is written once, and without the record there is no copy. */
static void copied(void **state)
{
    int n_noted = 0;
    (void)state;
    write_run("from", "k\n5\n");
    const struct run_record noted = { note, &n_noted }, refused = { refuse, "no record" };
    assert_true(run_folder_copy(run_of("to/here"), run_of("from"), &noted, &err));
    assert_int_equal(n_noted, 1);
    assert_true(is_whole("to/here", "id,x"));
    assert_string_equal(text_in("to/here", "check.csv"), "k\n5\n");
    assert_string_equal(text_in("to/here", "manifest.json"), text_in("from", "manifest.json"));
    assert_true(run_folder_copy(run_of("plain"), run_of("from"), NULL, &err) && is_whole("plain", "id,x"));
    assert_false(run_folder_copy(run_of("never"), run_of("from"), &refused, &err));
    assert_string_equal(err.msg, "no record");
    assert_false(is_there("never", "manifest.json") || is_there("never", "rows.csv"));
    assert_false(run_folder_copy(run_of("never"), run_of("nowhere"), NULL, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: is not the folder of a run", run_of("nowhere")));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(checked), cmocka_unit_test(killed_between_renames), cmocka_unit_test(readers_wait_for_writers),
    cmocka_unit_test(a_full_disk_leaves_the_old_run), cmocka_unit_test(copied),
};

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
