/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base.h - what every folder uses: errors, the arena, numbers, text, files, CSV, INI, field tables, statistics.
 *
 * A function that can fail on its input returns false and leaves one line in *err: file, line, key, what was found, what is wanted. It takes
 * its result first and err last; err may be NULL. What it returns lives in the arena that it was given. Running out of host memory ends the
 * program with status 3, so no caller checks for it. A broken invariant is an assert, which is on in every build.
 */
#ifndef BASE_H
#define BASE_H
#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PODBENCH_VERSION "0.3"          /* every answer and every file that is written has the version */

/* ---- errors ------------------------------------------------------------------ */

struct err { char msg[768]; };

/* Writes the message, cut to the buffer and with control characters replaced, and returns false. */
bool fail(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "where: " before the message, unless the message begins with it already. Returns false. */
bool fail_at(struct err *err, const char *where);
/* Puts `text` in place of the message's first n characters. */
void fail_replace(struct err *err, size_t n, const char *text);
/* Adds a line of a file that the user is to write below the message, if there is room for the whole line. */
void fail_line(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum exit_status { EXIT_DONE = 0, EXIT_OUT_OF_TOLERANCE = 1, EXIT_BAD_INPUT = 2, EXIT_OUT_OF_MEMORY = 3 };

/* ---- arena: memory that is freed as a whole -------------------------------------- */

/* An arena begins as {0}. */
struct arena { struct arena_block *head; size_t used_bytes; };
enum { ARENA_BLOCK_BYTES = 4 << 10 };                  /* size of an arena's first block */

void out_of_memory(size_t n_bytes) __attribute__((noreturn));
void *arena_alloc(struct arena *a, size_t n_bytes);     /* zeroed, aligned to 16 bytes, never NULL */
void *arena_array(struct arena *a, size_t n, size_t item_bytes);    /* arena_alloc(n * item_bytes), checked for overflow */
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);                       /* frees everything; the arena can be used again */
void arena_reset(struct arena *a);                      /* empties the arena but keeps its largest block, for loops */
size_t arena_held_bytes(const struct arena *a);         /* the bytes of all its blocks, used or not */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))

/* An array that the caller fills before reading it. Its contents are undefined. */
void *arena_room(struct arena *a, size_t n, size_t item_bytes);
#define ARENA_ROOM(a, type, n) ((type *)arena_room((a), (n), sizeof(type)))

/* Makes room for one more item at the end of a growing array, and returns the array, which may have moved. `items` is the array (NULL at
 * first), n the number of items in use, *cap its capacity (0 at first, or after a load of n items). */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes);
/* Adds an item to a growing array, and to a list: a struct with the members items, n and cap. */
#define ARENA_APPEND(a, items, n, cap, ...) \
    do { (items) = arena_grow((a), (items), (n), &(cap), sizeof *(items)); (items)[(n)++] = __VA_ARGS__; } while (0)
#define LIST_ADD(list, a, ...) ARENA_APPEND(a, (list)->items, (list)->n, (list)->cap, __VA_ARGS__)

/* ---- progress of long work -------------------------------------------------------- */

/* report() is called as the work goes on; it may be NULL. `done` of `of` parts of the work are done; `of` is 0 if the number of parts is unknown.
 * `what` names the current part, or is "" for the work as a whole. A NULL `what` ends the report, before another message is printed. */
struct watch { void (*report)(void *user, const char *what, size_t done, size_t of); void *user; };
static inline void watch_report(const struct watch *w, const char *what, size_t done, size_t of)
{
    if (w && w->report)
        w->report(w->user, what, done, of);
}

/* ---- threads ------------------------------------------------------------------------ */

/* Calls work(user, piece, worker) for the pieces 0 to n_pieces - 1, on the calling thread, which is worker 0, and up to n_threads - 1 others. Pieces
 * must not depend on each other. */
enum { MOST_THREADS = 64 };
typedef void piece_work(void *user, size_t piece, uint32_t worker);
void work_in_pieces(piece_work *work, void *user, size_t n_pieces, uint32_t n_threads);

/* ---- numbers ----------------------------------------------------------------------- */

bool parse_u64(const char *text, uint64_t *out);        /* the whole text is decimal digits, without overflow */
const char *why_no_u64(const char *text);               /* "is not a whole number ...", to follow a text that parse_u64() refused */
/* Makes this thread read and write text as the C locale does. Returns the locale to restore with uselocale(). The program never calls setlocale(),
 * but a program that uses the library may have, and a new thread begins with that program's locale. */
locale_t plain_locale(void);
bool parse_f64(const char *text, double *out);          /* the whole text is a finite decimal number */
/* Reads a number, which may be followed by its unit with an SI prefix (n, u, m, k, M, G, T, P) or, for bytes, Ki, Mi, Gi or Ti: 32GB, 1.5 ms.
 * False for another unit. If `unit` is NULL or "", no unit may follow. */
bool parse_quantity(const char *text, const char *unit, double *out);
/* f64_text() writes a number with n significant digits as printf's %g does, u64_text() a whole number. The returned text lies in `room`, but need
 * not begin at its start. */
enum { NUMBER_ROOM = 32 };
const char *f64_text(char room[NUMBER_ROOM], double x, int n);
const char *u64_text(char room[NUMBER_ROOM], uint64_t x);
/* The number of a quantity such as "32 GB", without the unit. A text without this unit is returned as it is. */
const char *plain_number(const char *text, const char *unit, struct arena *a);
/* The seconds since 1970 in SOURCE_DATE_EPOCH, or otherwise_s if it is not set. Fails if that is not a time up to
 * the year 9999. */
bool source_date(uint64_t *out_s, uint64_t otherwise_s, struct err *err);
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint64_t ceil_div(uint64_t n, uint64_t d) { return n / d + (n % d != 0); }    /* d > 0; cannot overflow */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)    /* the greatest one; b may be 0 */
{
    for (uint64_t rest; b; b = rest) {
        rest = a % b;
        a = b;
    }
    return a;
}

/* Statistics of n > 0 values. The median of an even number of values is the mean of the middle two. */
double statistics_mean(const double *x, size_t n);
double statistics_median(const double *x, size_t n, struct arena *scratch);
/* 1.4826 x median |x|: the standard deviation of a normal distribution about zero. A few outliers hardly move it; a bias does. */
double statistics_spread_about_zero(const double *x, size_t n, struct arena *scratch);

/* ---- text -------------------------------------------------------------------------- */

/* True if two texts are equal. NULL equals nothing, not even NULL. */
static inline bool text_is(const char *a, const char *b) { return a && b && *a == *b && strcmp(a, b) == 0; }
/* The first of n items whose member, a const char *, is this text; NULL if there is none. FIND_TEXT(items, n, struct thing, name, "x") */
const void *find_text(const void *items, size_t n, size_t item_bytes, size_t offset, const char *text);
#define FIND_TEXT(items, n, record, member, text) find_text(items, n, sizeof(record), offsetof(record, member), text)
/* That member of each of n items, as an array. TEXTS_OF(items, n, struct thing, name, a) */
const char **texts_of(const void *items, size_t n, size_t item_bytes, size_t offset, struct arena *a);
#define TEXTS_OF(items, n, record, member, a) texts_of(items, n, sizeof(record), offsetof(record, member), a)
/* True if the text is one of those listed: TEXT_IS_ONE_OF(word, "a", "b"). NULL is none. */
#define TEXT_IS_ONE_OF(text, ...) \
    (find_text((const char *const[]){ __VA_ARGS__ }, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *), sizeof(char *), 0, text) != NULL)
int compare_texts(const void *a, const void *b);        /* takes pointers to texts, as sort_items() and bsearch() do */
static inline const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }     /* "s" unless n is 1: the plural ending of a noun */
bool check_printable(const char *text, struct err *err);        /* refuses control characters, which a terminal would obey */
size_t byte_order_mark(const char *text);               /* length of the mark that spreadsheets put before a text, or 0 */
bool is_utf8(const char *text, size_t n);
const char *utf8_text(const char *text, struct arena *a);   /* the text itself if it is UTF-8, else converted from Latin-1 */
void write_xml_text(FILE *f, const char *text);         /* escaped; control characters become spaces */
const char *xml_text(const char *text, struct arena *a);
uint64_t hash_bytes(const void *data, size_t n_bytes, uint64_t seed);   /* XXH3 */
/* qsort(), but an empty array may be NULL. */
static inline void sort_items(void *items, size_t n, size_t item_bytes, int (*compare)(const void *, const void *))
{
    if (n)
        qsort(items, n, item_bytes, compare);
}

/* The index of the first name that has occurred before; *earlier is the index of its earlier occurrence. n if all names differ. */
size_t first_repeated(size_t *earlier, const char *const *names, size_t n);
/* The next item of a list, without the blanks around it; NULL after the last. *list moves behind the item's separator, and becomes NULL with the last
 * item. */
char *text_item(const char **list, char separator, struct arena *a);
const char *names_joined(const char *const *names, size_t n, const char *separator, struct arena *a);
/* The names separated by commas, for messages about an unknown name. After 300 bytes "..." ends the list. */
const char *names_list(const char *const *names, size_t n, struct arena *a);
/* Writes the names nearest to `typed`, nearest first, and returns how many: at most `most`, which is at most 8. */
size_t names_nearest(const char **out, size_t most, const char *const *names, size_t n, const char *typed);
/* The nearest name if its distance is at most this, else NULL. A wrong letter counts 4, one that was left out 1. */
const char *names_within(const char *const *names, size_t n, const char *typed, size_t most_distance);
/* "did you mean 'run'? " if a name is near enough, else "". */
const char *names_suggestion(const char *const *names, size_t n, const char *typed, struct arena *a);

/* ---- reading files ------------------------------------------------------------------- */

/* Opens a regular file to read, or returns NULL. n_bytes, which may be NULL, receives its size. */
FILE *open_regular(size_t *n_bytes, const char *path, struct err *err);

/* Reads a whole text file and ends it with a NUL. Refuses anything but a regular file, more than max_bytes, and a NUL byte inside. Bytes that
 * are not UTF-8 are read as Latin-1. n_bytes, which may be NULL, receives the length. */
enum { LARGEST_FILE_BYTES = 1 << 30 };          /* max_bytes of a caller that has no lower limit */
bool read_text_file(char **out, size_t *n_bytes, const char *path, size_t max_bytes,
                    struct arena *a, struct err *err);

/* False only if the file certainly lacks the text. True also for a file that cannot be read. */
bool file_has_text(const char *path, const char *text);

const char *path_name(const char *path);        /* the part after the last slash */
/* A path that a file mentions: relative to the folder of that file if it exists there, else as it is. */
const char *path_beside(const char *file, const char *path, struct arena *a);

/* The sorted names in a folder that end in suffix, without the suffix and without hidden files. Refuses names with control characters. */
bool list_folder(char ***names, size_t *n, const char *path, const char *suffix,
                 struct arena *a, struct err *err);

/* Refuses a list that names one file twice, also by different paths. names[i] is how the user wrote paths[i]. Files that do not exist are
 * compared by name. */
bool files_are_distinct(const char *const *names, const char *const *paths, size_t n, struct err *err);
bool is_missing(const char *path);      /* nothing has this name; false if a file cannot be reached, so that reading it says why */
bool is_device(const char *path);       /* exists and is not a regular file, so it cannot be replaced */

/* ---- writing files and folders --------------------------------------------------------- */

/* A file that appears whole or not at all: open, write to out->f, then save or drop. Until it is saved it has the random name temp_path. A device
 * or pipe is written directly. */
struct new_file { FILE *f; char *path, *temp_path; };
bool new_file_open(struct new_file *out, const char *path, struct err *err);
bool new_file_save(struct new_file *file, struct err *err);
void new_file_drop(struct new_file *file);
bool new_file_end(struct new_file *file, bool good, struct err *err);       /* saves a good file and drops another, whose message is in err */
bool write_text_file(const char *path, const char *text, struct err *err);
const char *write_cause(void);          /* why a write failed, if errno was 0 before it */

/* A folder that appears with all of its files or not at all: open, write into temp_path, then save or drop. new_folder_open() refuses a path
 * that exists; with new_folder_replace() the old folder stays until the new one takes its place. */
struct new_folder { char *path, *temp_path; bool replaces; };
bool new_folder_open(struct new_folder *out, const char *path, struct err *err);
bool new_folder_replace(struct new_folder *out, const char *path, struct err *err);
bool new_folder_save(struct new_folder *folder, struct err *err);
void new_folder_drop(struct new_folder *folder);

bool is_unfinished(const char *name);                   /* true for the temporary name of a file or folder that was never completed, or is not yet */

/* The file that a symbolic link points to, or the path itself, to be freed by the caller. NULL if the link points to nothing. */
char *file_behind_link(const char *path, struct err *err);
bool make_folders(const char *path, struct err *err);   /* mkdir -p */
/* Makes folders that remain only if a command succeeds: made_folders_drop() removes those that were made and are still empty. Paths live in the
 * arena. */
struct made_folders { const char *path; size_t n_there; };      /* n_there: length of the part of the path that existed before */
bool made_folders_make(struct made_folders *out, const char *path, struct arena *a, struct err *err);
void made_folders_drop(const struct made_folders *m);
/* open_memstream() that never returns NULL. After fclose() the caller frees *text. */
FILE *text_stream(char **text, size_t *n_bytes) __attribute__((returns_nonnull));
char *text_close(FILE *f, char **text, struct arena *a);        /* closes the stream and moves its text to the arena */

/* ---- CSV: a header line, then rows of text cells ------------------------------------------ */

struct csv_row { uint32_t line; char **cells; };        /* n_columns cells, never NULL */
struct csv_table {
    const char *path;
    char **columns;
    size_t n_columns, n_rows;
    struct csv_row *rows;
    bool crlf;                          /* the header line ends in \r\n, as spreadsheets write it; no cell contains it */
};

/* Refuses a table without header, an empty or repeated column name, a row with another number of cells, and an unclosed quote. */
bool csv_load(struct csv_table *out, const char *path, struct arena *a, struct err *err);
/* Like csv_load(), but reads n bytes of text, which messages call `path`. */
bool csv_read_text(struct csv_table *out, const char *path, const char *text, size_t n, struct arena *a, struct err *err);
bool csv_column(size_t *out, const struct csv_table *t, const char *name, struct err *err);     /* the index of a column */
bool csv_has_columns(const struct csv_table *t, const char *const *names, struct err *err);     /* names: ends with NULL */
const char *csv_cell(const struct csv_table *t, const struct csv_row *row, const char *column);    /* "" if the table has no such column */
const struct csv_row *csv_row_named(const struct csv_table *t, const char *first_cell);            /* NULL if no row begins with this cell */
/* Writes a cell, quoted if it has to be, and then a comma or, after the last cell of a row, a newline. */
void csv_write_cell(FILE *f, const char *text, bool last);

/* ---- INI: sections of key = value ----------------------------------------------------------- */

struct ini_entry { const char *section, *key, *value; uint32_t line, place; };        /* place: a number that the reader of the file may keep with the entry; 0 at first */
struct ini_file { const char *path; struct ini_entry *entries; size_t n_entries; };

/* Refuses a file without entries, an over-long line, a key outside a section, a repeated key, and a line that is neither entry nor section nor
 * comment. */
bool ini_load(struct ini_file *out, const char *path, struct arena *a, struct err *err);

/* ---- field tables: one row for each member of a struct ---------------------------------------- */

/* The loader, the checks, the printer and the help of a record walk its table. */
enum field_type { FIELD_U64, FIELD_U32, FIELD_F64, FIELD_TEXT, FIELD_BOOL, FIELD_CHOICE };
struct field {
    const char *name, *unit;        /* unit: "" for a count, NULL for text */
    enum field_type type;
    size_t offset;
    double min, max;                /* the range of numbers, both ends inclusive */
    const char *const *choices;     /* FIELD_CHOICE: names, NULL-ended; the member is an int, their index */
    bool required;
    const char *help;
};
/* A field with the name and the type of a struct's member. Further members of struct field may follow. FIELD_ANY allows any number. */
#define FIELD_OF(record, member, ...) FIELD_AS(record, member, #member, __VA_ARGS__)
#define FIELD_AS(record, member, text, ...) { .name = text, .offset = offsetof(record, member), .type = FIELD_TYPE(record, member), __VA_ARGS__ }
#define FIELD_TYPE(record, member) _Generic(((record *){ 0 })->member, \
    const char *: FIELD_TEXT, double: FIELD_F64, uint64_t: FIELD_U64, uint32_t: FIELD_U32, bool: FIELD_BOOL, int: FIELD_CHOICE)
/* The type and the place of a member, which are neighbours in struct field. A member of another C type does not compile. */
#define FIELD_AT(kind, record, member) _Generic(((record *){ 0 })->member, FIELD_C_##kind: FIELD_##kind), offsetof(record, member)
#define FIELD_C_TEXT const char *
#define FIELD_C_F64 double
#define FIELD_C_U64 uint64_t
#define FIELD_C_BOOL bool
#define FIELD_C_CHOICE int
#define FIELD_ANY .min = -HUGE_VAL, .max = HUGE_VAL
#define N_FIELDS(fields) (sizeof(fields) / sizeof *(fields))
/* Parses text into the member and checks its range. `where` heads the message, as in "path:line: key". */
bool field_set(void *record, const struct field *f, const char *text, const char *where, struct err *err);
size_t field_bytes(const struct field *f);              /* the size of the member */
/* csv_load(), which refuses a table that lacks the column of one of these fields. */
bool fields_load(struct csv_table *out, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err);
/* Reads a record from a row, each field from the column of its name. A field that is not required may have no column or an empty cell: then a
 * FIELD_F64 is NaN and a text is "". */
bool fields_from_row(void *record, const struct field *fields, size_t n_fields, const struct csv_table *t, const struct csv_row *row, struct err *err);
/* Writes the member as a text that field_set() reads back: numbers have 15 digits, a NULL text is "". */
const char *field_text(const struct field *f, const void *record, struct arena *a);
const struct field *field_find(const struct field *fields, size_t n_fields, const char *name);      /* NULL if no field has this name */
/* A whole table as an array of records in the order of its rows, which are t->rows; NULL if the table or a row is refused. */
void *records_load(struct csv_table *t, size_t record_bytes, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err);
/* Loads a table into a list: a pointer to a struct with the members items and n. */
#define LIST_LOAD(list, t, path, fields, a, err) \
    (((list)->items = records_load((t), sizeof *(list)->items, (path), (fields), N_FIELDS(fields), (a), (err))) ? ((list)->n = (t)->n_rows, true) : false)
/* Reads a table that has one row, as 'make baseline' writes it. */
bool record_load(void *record, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err);

/* ---- sorting by members ------------------------------------------------------------------------- */

/* A member by which structs are sorted: texts by their bytes, numbers and flags by size. */
struct sort_key { size_t offset; enum field_type type; bool falls; };
#define RISING(record, member) { offsetof(record, member), FIELD_TYPE(record, member), false }
#define FALLING(record, member) { offsetof(record, member), FIELD_TYPE(record, member), true }
void sort_by_keys(void *items, size_t n, size_t item_bytes, bool are_pointers, const struct sort_key *keys, size_t n_keys);
/* Sorts an array of structs, or of pointers to structs, by keys: SORT_BY(lines, n, RISING(struct line, id), FALLING(struct line, number)). */
#define SORT_BY(items, n, ...) SORT_BY_KEYS(items, n, false, __VA_ARGS__)
#define SORT_POINTERS_BY(items, n, ...) SORT_BY_KEYS(items, n, true, __VA_ARGS__)
#define SORT_BY_KEYS(items, n, are_pointers, ...) sort_by_keys(items, n, sizeof *(items), are_pointers, \
    (const struct sort_key[]){ __VA_ARGS__ }, sizeof(const struct sort_key[]){ __VA_ARGS__ } / sizeof(struct sort_key))

#endif
