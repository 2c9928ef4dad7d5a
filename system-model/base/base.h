/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base.h - what every room stands on: errors, one arena, strings, numbers, files, and the two file formats people edit.
 *
 * Errors: a function that can fail on its input returns false and leaves one line in *err
 * (file, line, key, what was found, what was wanted). Running out of host memory ends the
 * program with status 3; a broken invariant is an assert, kept on in every build.
 */
#ifndef BASE_H
#define BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

/* ---- errors ------------------------------------------------------------------ */

struct err { char msg[512]; };

/* Writes the message (cut at the buffer's end) and returns false. err may be NULL. */
bool fail(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Heads the message with the file or recipe it is about, unless it begins so already. Returns false. */
bool fail_at(struct err *err, const char *where);

enum exit_status { EXIT_DONE = 0, EXIT_OUT_OF_TOLERANCE = 1, EXIT_BAD_INPUT = 2, EXIT_OUT_OF_MEMORY = 3 };

/* ---- arena: everything an artefact owns; zeroed; freed whole ------------------- */

struct arena { struct arena_block *head; size_t used_bytes; };
enum { ARENA_BLOCK_BYTES = 4 << 10 };                  /* an arena's first block, however little of it is used */

void out_of_memory(size_t n_bytes) __attribute__((noreturn));          /* says so and ends the program with status 3 */
void *arena_alloc(struct arena *a, size_t n_bytes);     /* zeroed, aligned to 16; never NULL */
void *arena_array(struct arena *a, size_t n, size_t item_bytes);    /* checks n * item_bytes */
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);                       /* leaves an empty arena, fit for use */
void arena_reset(struct arena *a);                      /* empty, but its largest block stays at hand: for loops */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))

void *arena_room(struct arena *a, size_t n, size_t item_bytes);     /* for items that will be written: zero, or what the guards are */
#define ARENA_ROOM(a, type, n) ((type *)arena_room((a), (n), sizeof(type)))

/* A growing array inside one function or artefact: makes room for one more item in an arena.
 * items: the array now (NULL at first), n: in use, *cap: its capacity. Returns the array. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes);

/* ---- long work tells how far it is ---------------------------------------------- */

/* tell: NULL where nobody listens; what NULL: nothing is under way, whoever tells is about to say something else; of 0: nobody knows how many. */
struct watch { void (*tell)(void *user, const char *what, size_t done, size_t of); void *user; };
static inline void watch_tell(const struct watch *w, const char *what, size_t done, size_t of)
{
    if (w && w->tell)
        w->tell(w->user, what, done, of);
}

/* ---- numbers and strings: independent of the locale ---------------------------- */

bool parse_u64(const char *text, uint64_t *out);        /* whole text, decimal digits only, no overflow */
/* Seconds since 1970 that SOURCE_DATE_EPOCH gives; `otherwise` where it is not set, or is no time up to the year 9999, which is refused. */
bool source_date(uint64_t *out_s, uint64_t otherwise_s, struct err *err);
const char *why_no_u64(const char *text);               /* what a text that is none is or is not, to stand behind it */
bool parse_f64(const char *text, double *out);          /* whole text, finite */
/* equal; NULL is equal to nothing */
static inline bool text_is(const char *a, const char *b)
{
    return a && b && *a == *b && strcmp(a, b) == 0;
}
/* Refuses a text that a terminal would obey. */
bool check_printable(const char *text, struct err *err);
size_t byte_order_mark(const char *text);      /* bytes of the mark that spreadsheets put before it; 0: none */
bool is_utf8(const char *text, size_t n);
const char *utf8_text(const char *text, struct arena *a);   /* the text itself, or what it is as Latin-1 */
void write_xml_text(FILE *f, const char *text);        /* escaped; control characters become spaces */
/* qsort, which does not take an array of nothing. */
static inline void sort_items(void *items, size_t n, size_t item_bytes, int (*compare)(const void *, const void *))
{
    if (n)
        qsort(items, n, item_bytes, compare);
}
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }     /* behind a noun */
static inline uint64_t ceil_div(uint64_t n, uint64_t d) { return n / d + (n % d != 0); }    /* d > 0; no overflow */
/* Index of the first name that stands before it too, and where; n: each stands once. */
size_t first_repeated(size_t *earlier, const char *const *names, size_t n);
uint64_t hash_bytes(const void *data, size_t n_bytes, uint64_t seed);   /* XXH3: what is remembered by its question, manifests */

/* ---- files --------------------------------------------------------------------- */

/* Opens a regular file to read. Whatever else stands there is refused at once. NULL: refused. *n_bytes, its size, may be NULL. */
FILE *open_regular(size_t *n_bytes, const char *path, struct err *err);

/* Reads a whole text file into the arena (NUL added). Refuses a directory, a file over max_bytes,
 * a NUL byte inside (binary). Bytes that are not UTF-8 are taken for Latin-1. *n_bytes may be NULL. */
enum { LARGEST_FILE_BYTES = 1 << 30 };          /* max_bytes of a file that has no reason to be smaller */
bool read_text_file(char **out, size_t *n_bytes, const char *path, size_t max_bytes,
                    struct arena *a, struct err *err);

/* Whether the text stands in the file. Where that cannot be told it is taken to stand there: who reads the file says what is wrong. */
bool file_has_text(const char *path, const char *text);

/* A file that appears whole or not at all: write to out->f, then save (renames) or drop. It is written under a name of the
 * process's own, PATH.PID.new; what killed programs left under such names is removed. A device or pipe is written straight. */
struct new_file { FILE *f; char *path, *temp_path; };
bool new_file_open(struct new_file *out, const char *path, struct err *err);
const char *write_cause(void);          /* of a write that failed since errno was set to 0 */
bool new_file_save(struct new_file *file, struct err *err);
void new_file_drop(struct new_file *file);
/* A folder of files that belong together, there with all of them or not at all: fill temp_path, then save (renames) or drop. open refuses what
 * is there already; with replace it is there until all of the new one takes its place: at once, or, on a file system that cannot exchange two
 * names (NFS), after a moment in which none has the name. What killed programs left is removed. */
struct new_folder { char *path, *temp_path; bool replaces; };
bool new_folder_open(struct new_folder *out, const char *path, struct err *err);
bool new_folder_replace(struct new_folder *out, const char *path, struct err *err);
bool new_folder_save(struct new_folder *folder, struct err *err);
void new_folder_drop(struct new_folder *folder);
void folder_settle(const char *path);   /* a writer killed in that moment has left the new one beside it: it takes the name */
/* open_memstream, but never NULL: a text in memory, free()d by who opened it after fclose(). */
FILE *text_stream(char **text, size_t *n_bytes) __attribute__((returns_nonnull));
/* Refuses a name or a file that stands twice in a list; names: as whoever asked wrote them. Files that are not there are told by their
 * names alone. */
bool files_stand_once(const char *const *names, const char *const *paths, size_t n, struct err *err);
bool is_device(const char *path);       /* is there, and no regular file: nothing can take its place */
/* The file that a symbolic link stands for, or the path itself: what takes its place leaves the link. NULL: a link to nothing. free() it. */
char *behind_link(const char *path, struct err *err);
bool is_leftover(const char *name, const char *of);     /* OF.PID.new of a process that is gone */
bool is_unfinished(const char *name);                   /* ANY.PID.new: its writer is at work, or was killed */
bool make_folders(const char *path, struct err *err);   /* mkdir -p */

/* A path that a file gives: beside that file where it is there, else as it stands (from the current folder). */
const char *path_beside(const char *file, const char *path, struct arena *a);

/* A sorted list of the names in a folder that end in suffix (suffix itself cut off). A name that a terminal would obey is refused. */
bool list_folder(char ***names, size_t *n, const char *path, const char *suffix,
                 struct arena *a, struct err *err);

/* ---- CSV (libcsv): a header line, then rows; each cell a string ---------------- */

struct csv_row { uint32_t line; char **cells; };        /* n_columns cells, never NULL */
struct csv_table {
    const char *path;
    char **columns;
    size_t n_columns, n_rows;
    struct csv_row *rows;
    bool crlf;                          /* its header line ends in \r\n: spreadsheets write so; no cell holds it */
};

/* Refuses: no header, an empty or repeated column name, a row with another number of cells, an unclosed quote. */
bool csv_load(struct csv_table *out, const char *path, struct arena *a, struct err *err);
bool csv_column(size_t *out, const struct csv_table *t, const char *name, struct err *err);
const char *csv_cell(const struct csv_table *t, const struct csv_row *row, const char *column);    /* "" if there is no such column */
const struct csv_row *csv_row_named(const struct csv_table *t, const char *first_cell);            /* NULL if there is none */
void csv_write_cell(FILE *f, const char *text, bool last);  /* quotes where needed; comma or newline after */

/* ---- INI: sections of key = value ------------------------------------- */

struct ini_entry { const char *section, *key, *value; uint32_t line; };
struct ini_file { const char *path; struct ini_entry *entries; size_t n_entries; };

/* Refuses: an over-long line, a key outside a section, a repeated key, a line that is neither. */
bool ini_load(struct ini_file *out, const char *path, struct arena *a, struct err *err);

/* ---- field tables: one row a struct member; loader, checker, printer and help walk it -- */

enum field_type { FIELD_U64, FIELD_U32, FIELD_F64, FIELD_TEXT, FIELD_BOOL, FIELD_CHOICE };
struct field {
    const char *name, *unit;        /* unit "" for a count, NULL for text */
    enum field_type type;
    size_t offset;
    double min, max;                /* inclusive; for numbers */
    const char *const *choices;     /* FIELD_CHOICE: NULL-ended; stored as an enum (int) index */
    bool required;
    const char *help;
};
/* Parses text into record + offset, with range check; where "path:line: key" heads the message. */
bool field_set(void *record, const struct field *f, const char *text, const char *where, struct err *err);
/* As field_set reads it again; numbers to 15 digits; "": a text that is not there. */
const char *field_text(const struct field *f, const void *record, struct arena *a);
const struct field *field_find(const struct field *fields, size_t n_fields, const char *name);
/* "known: a, b, c" - for messages about an unknown name; cut with "..." past 300 bytes. */
const char *names_list(const char *const *names, size_t n, struct arena *a);
/* Up to `most` (8) of the names nearest to what was typed, nearest first; how many. */
size_t names_nearest(const char **out, size_t most, const char *const *names, size_t n, const char *typed);
/* "did you mean 'run'? " where a name is near enough, else "": stands before the list of known names. */
const char *names_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a);

#endif
