/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_files.c - files and folders: whole or not at all, links, devices, limits. */
#include "tests/check.h"
#include "system-model/base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void files_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    struct err err = {0};
    struct new_file f;
    char path[64];
    snprintf(path, sizeof path, "/tmp/podbench-test-%ld.new-file", (long)getpid());
    assert_true(new_file_open(&f, path, &err));
    fputs("half", f.f);
    assert_int_not_equal(access(path, F_OK), 0);
    new_file_drop(&f);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(new_file_open(&f, path, &err));
    fputs("whole", f.f);
    assert_true(new_file_save(&f, &err));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    assert_false(new_file_open(&f, "/nowhere/at/all", &err));
    assert_string_equal(err.msg, "/nowhere/at/all: cannot be written: No such file or directory");
    assert_false(new_file_open(&f, "", &err));
    assert_string_equal(err.msg, "an empty file name; name a file to write");
}

static void folders_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_folder f;
    struct stat st;
    const char *top = arena_printf(&a, "/tmp/podbench-test-%ld.folders", (long)getpid()), *path = arena_printf(&a, "%s/a/b", top);
    assert_true(new_folder_open(&f, arena_printf(&a, "%s//", path), &err));
    assert_string_equal(f.path, path);
    fclose(fopen(arena_printf(&a, "%s/one", f.temp_path), "w"));
    int here = open(".", O_RDONLY);
    assert_true(here >= 0 && chdir(top) == 0 && make_folders("p/q", &err) && access("p/q", F_OK) == 0);     /* paths of one letter */
    new_folder_drop(&f);
    assert_true(new_folder_open(&f, "n//", &err));
    assert_string_equal(f.path, "n");
    new_folder_drop(&f);
    assert_true(fchdir(here) == 0 && close(here) == 0);
    assert_true(is_unfinished("b.podbench-00000000.new") && is_unfinished(".x.podbench-12345678.old") && is_unfinished("b.podbench-1.podbench-abcdef01.new"));
    assert_true(!is_unfinished("b.new") && !is_unfinished("b.podbench-0000000.new") && !is_unfinished(".podbench-00000000.new")
                && !is_unfinished("b.podbench-00000000.newer") && !is_unfinished("b.podbench-0000000g.new"));
    assert_true(new_folder_open(&f, path, &err));
    fclose(fopen(arena_printf(&a, "%s/two", f.temp_path), "w"));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(new_folder_save(&f, &err));
    assert_true(access(arena_printf(&a, "%s/two", path), F_OK) == 0 && access(arena_printf(&a, "%s/one", path), F_OK) != 0);
    assert_false(new_folder_open(&f, path, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: is there already, and is not replaced; name a folder that is not there yet", path));
    assert_int_equal(symlink("nowhere", arena_printf(&a, "%s/link", top)), 0);
    assert_false(new_folder_open(&f, arena_printf(&a, "%s/link", top), &err));
    assert_false(new_folder_open(&f, "/", &err));
    assert_string_equal(err.msg, "/: is there already, and is not replaced; name a folder that is not there yet");
    assert_false(new_folder_open(&f, "", &err));
    assert_string_equal(err.msg, "an empty folder name; name a folder to write to");
    assert_false(new_folder_open(&f, "/dev/null/x", &err));
    assert_string_equal(err.msg, "/dev/null: is there, and is no folder");
    assert_true(lstat(arena_printf(&a, "%s/link", top), &st) == 0 && system(arena_printf(&a, "rm -r %s", top)) == 0);
    arena_free(&a);
}

/* A folder that another program made in the meantime is not replaced: the new one is dropped. */
static void a_folder_made_in_the_meantime_stays(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_folder f;
    const char *path = arena_printf(&a, "/tmp/podbench-test-%ld.between", (long)getpid());
    assert_true(new_folder_open(&f, path, &err) && make_folders(arena_printf(&a, "%s/in", path), &err));
    const char *temp_path = arena_strdup(&a, f.temp_path);
    assert_false(new_folder_save(&f, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: cannot be written completely: Directory not empty", path));
    assert_true(access(temp_path, F_OK) != 0 && access(arena_printf(&a, "%s/in", path), F_OK) == 0);
    assert_int_equal(system(arena_printf(&a, "rm -r %s", path)), 0);
    arena_free(&a);
}

/* The old folder is there, also through a link to it, until the new one takes its place; then nothing is left of the old one. */
static void a_folder_is_replaced_as_one(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_folder f;
    const char *top = arena_printf(&a, "/tmp/podbench-test-%ld.replaced", (long)getpid()), *path = arena_printf(&a, "%s/real", top);
    const char *name = arena_printf(&a, "%s/name", top);
    assert_true(make_folders(arena_printf(&a, "%s/old/inner", path), &err));
    assert_int_equal(symlink("real", name), 0);
    assert_true(new_folder_replace(&f, name, &err));
    const char *temp_path = arena_strdup(&a, f.temp_path);
    assert_true(strncmp(temp_path, path, strlen(path)) == 0 && is_unfinished(temp_path));
    assert_true(make_folders(arena_printf(&a, "%s/new", temp_path), &err));
    assert_true(access(arena_printf(&a, "%s/old/inner", name), F_OK) == 0 && new_folder_save(&f, &err));
    assert_true(access(temp_path, F_OK) != 0 && access(arena_printf(&a, "%s/old", name), F_OK) != 0);
    assert_true(access(arena_printf(&a, "%s/new", name), F_OK) == 0);
    const char *fresh = arena_printf(&a, "%s/fresh", top), *file = arena_printf(&a, "%s/file", top);
    assert_true(new_folder_replace(&f, fresh, &err) && new_folder_save(&f, &err) && access(fresh, F_OK) == 0);
    fclose(fopen(file, "w"));
    assert_true(new_folder_replace(&f, file, &err));
    assert_false(new_folder_save(&f, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: cannot be written completely: Not a directory", file));
    assert_int_equal(system(arena_printf(&a, "test $(ls %s | wc -l) -eq 4 && rm -r %s", top, top)), 0);
    arena_free(&a);
}

/* The names in a folder, sorted, each followed by a blank; "" if there is no folder. */
static const char *names_in(const char *folder, struct arena *a)
{
    char **names;
    size_t n;
    const char *text = "";
    if (list_folder(&names, &n, folder, "", a, NULL))
        for (size_t i = 0; i < n; i++)
            text = arena_printf(a, "%s%s ", text, names[i]);
    return text;
}

/* Folders that were made are removed again, up to one that was there or one that holds something by now. */
static void made_folders_are_dropped(void **state)
{
    struct err err = {0};
    struct arena a = {0};
    struct made_folders made;
    const char *top = arena_printf(&a, "/tmp/podbench-test-%ld.made", (long)getpid());
    const char *deep = arena_printf(&a, "%s/b/c/d", top);
    (void)state;
    assert_int_equal(mkdir(top, 0777), 0);
    assert_true(made_folders_make(&made, deep, &a, &err) && access(deep, F_OK) == 0);
    made_folders_drop(&made);
    assert_true(access(top, F_OK) == 0 && !*names_in(top, &a));
    assert_true(made_folders_make(&made, deep, &a, &err) && mkdir(arena_printf(&a, "%s/b/x.ini", top), 0777) == 0);
    made_folders_drop(&made);
    assert_string_equal(names_in(arena_printf(&a, "%s/b", top), &a), "x.ini ");
    char **names;
    size_t n;
    assert_true(list_folder(&names, &n, arena_printf(&a, "%s/b", top), "x.ini", &a, &err) && n == 0);      /* a suffix alone is no name */
    assert_int_equal(system(arena_printf(&a, "rm -r %s", top)), 0);
    arena_free(&a);
}

/* Two writers of one path, as in two containers with equal process ids: each has a file of its own, which the other leaves alone. */
static void writers_of_one_path_leave_each_other_alone(void **state)
{
    struct err err = {0};
    struct arena a = {0};
    struct new_file f, g;
    struct new_folder d, e;
    char *text;
    const char *path = arena_printf(&a, "/tmp/podbench-test-%ld.both", (long)getpid());
    (void)state;
    assert_true(new_file_open(&f, path, &err) && new_file_open(&g, path, &err));
    assert_string_not_equal(f.temp_path, g.temp_path);
    assert_true(is_unfinished(f.temp_path) && is_unfinished(g.temp_path));
    fputs("first", f.f);
    fputs("second", g.f);
    assert_true(new_file_save(&g, &err) && new_file_save(&f, &err) && read_text_file(&text, NULL, path, 100, &a, &err));
    assert_string_equal(text, "first");
    assert_int_equal(unlink(path), 0);
    assert_true(new_folder_replace(&d, path, &err) && new_folder_replace(&e, path, &err));
    assert_true(make_folders(arena_printf(&a, "%s/d", d.temp_path), &err) && make_folders(arena_printf(&a, "%s/e", e.temp_path), &err));
    assert_true(new_folder_save(&d, &err) && new_folder_save(&e, &err));
    assert_string_equal(names_in(path, &a), "e ");
    assert_int_equal(system(arena_printf(&a, "rm -r %s", path)), 0);
    arena_free(&a);
}

static void files_have_a_largest_size(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    size_t n;
    const char *path = temp_file("seventeen letters", 17, ".txt");
    assert_true(read_text_file(&text, &n, path, 17, &a, &err) && n == 17);
    assert_string_equal(text, "seventeen letters");
    assert_false(read_text_file(&text, &n, path, 16, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 17 bytes, more than the 16 that such a file may have", path));
    unlink(path);
    struct csv_table table;
    struct ini_file ini;
    path = temp_file("", 0, ".txt");
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);    /* a sparse file, which is refused unread */
    assert_false(csv_load(&table, path, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 67108865 bytes, more than the 67108864 that such a file may have", path));
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_false(ini_load(&ini, path, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 1048577 bytes, more than the 1048576 that such a file may have", path));
    assert_int_equal(truncate(path, 0), 0);
    assert_true(read_text_file(&text, NULL, path, 0, &a, &err));
    assert_string_equal(text, "");
    assert_true(file_has_text(path, "one"));            /* an empty file cannot be mapped, so the text counts as found */
    unlink(path);
    arena_free(&a);
}

static void a_text_is_found_in_a_file_or_assumed_to_be(void **state)
{
    (void)state;
    static const char text[] = "one\0two, three";
    const char *path = temp_file(text, sizeof text - 1, ".csv");
    assert_true(file_has_text(path, "one") && file_has_text(path, "two, three") && file_has_text(path, ""));
    assert_false(file_has_text(path, "four") || file_has_text(path, "three."));
    assert_true(file_has_text(path, "\x80") && !file_has_text(path, "\x7f"));
    assert_true(file_has_text(path, "d\xc3\xa9j\xc3\xa0"));      /* the file may be Latin-1 */
    unlink(path);
    assert_true(file_has_text(path, "one") && file_has_text("tests", "one"));       /* no such file; a folder */
}

static void a_device_is_written_directly(void **state)
{
    (void)state;
    struct err err = {0};
    struct new_file f;
    assert_true(new_file_open(&f, "/dev/null", &err));
    assert_string_equal(f.temp_path, "/dev/null");
    assert_true(new_file_save(&f, &err));
}

/* /dev/stdout is such a link, to the file that a shell opened: the file is written anew, and the link stays. */
static void the_target_of_a_link_is_written(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_file f;
    struct stat st;
    char *text;
    const char *path = temp_file("old", 3, ".txt"), *link = arena_printf(&a, "%s.link", path), *again = arena_printf(&a, "%s.again", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(symlink(link, again), 0);
    assert_true(new_file_open(&f, again, &err));
    assert_string_equal(f.path, path);
    fputs("new one", f.f);
    assert_true(new_file_save(&f, &err));
    assert_true(lstat(again, &st) == 0 && S_ISLNK(st.st_mode) && lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(read_text_file(&text, NULL, path, 100, &a, &err));
    assert_string_equal(text, "new one");
    assert_false(is_missing(again) || is_missing(arena_printf(&a, "%s/under", path)));
    unlink(path);
    assert_true(is_missing(path) && is_missing(link));
    assert_false(new_file_open(&f, link, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: cannot be written: it is a link to nothing", link));
    unlink(link);
    unlink(again);
    arena_free(&a);
}

static void a_path_is_relative_to_the_file_that_gives_it(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *path = temp_file("x", 1, ".txt"), *name = strrchr(path, '/') + 1;
    assert_string_equal(path_beside("/tmp/other.csv", name, &a), path);
    assert_string_equal(path_beside("/tmp/other.csv", path, &a), path);
    assert_string_equal(path_beside("here.csv", name, &a), name);
    assert_string_equal(path_beside("/tmp/other.csv", "nothing.ini", &a), "nothing.ini");
    assert_string_equal(path_beside("R", "EADME.md", &a), "EADME.md");      /* "R" has no folder, so "EADME.md" is not README.md */
    assert_string_equal(path_beside("/other.csv", "tmp", &a), "tmp");       /* /tmp is a folder */
    unlink(path);
    arena_free(&a);
}

static void a_folder_or_a_missing_file_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    assert_false(read_text_file(&text, NULL, "/tmp", 10, &a, &err));
    assert_string_equal(err.msg, "/tmp: is not a regular file");
    assert_false(read_text_file(&text, NULL, "/tmp/podbench-no-such", 10, &a, &err));
    assert_string_equal(err.msg, "/tmp/podbench-no-such: No such file or directory");
    const char *path = temp_file("twelve bytes", 12, ".txt");
    assert_false(read_text_file(&text, NULL, path, 11, &a, &err));
    assert_non_null(strstr(err.msg, ": 12 bytes, more than the 11 that such a file may have"));
    unlink(path);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_device_is_written_directly),
    cmocka_unit_test(the_target_of_a_link_is_written), cmocka_unit_test(a_path_is_relative_to_the_file_that_gives_it),
    cmocka_unit_test(files_have_a_largest_size), cmocka_unit_test(a_text_is_found_in_a_file_or_assumed_to_be),
    cmocka_unit_test(files_appear_whole_or_not_at_all), cmocka_unit_test(folders_appear_whole_or_not_at_all),
    cmocka_unit_test(a_folder_made_in_the_meantime_stays), cmocka_unit_test(a_folder_is_replaced_as_one),
    cmocka_unit_test(made_folders_are_dropped), cmocka_unit_test(writers_of_one_path_leave_each_other_alone),
    cmocka_unit_test(a_folder_or_a_missing_file_is_refused),
};
TAP_MAIN(tests)
