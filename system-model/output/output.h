/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.h - everything that podbench prints as data: tables, documents and judgements, with one writer for each
 * format.
 *
 * A table has columns, which name members of a struct, and rows, which are such structs. One description gives the text
 * table, the CSV columns, the JSON members and the Markdown table. A document is a sequence of tables and lines of
 * text, with the judgements that a CI system asks for. Each format escapes in one function. A value that is unknown (a
 * number that is not finite, a text that is NULL) is a dash in text and Markdown, an empty cell in CSV, and null in
 * JSON.
 *
 * In CSV a text that begins with = + - or @ and is no number has an apostrophe before it, so that no spreadsheet
 * computes it. csv_load() takes it away.
 */
#ifndef OUTPUT_H
#define OUTPUT_H
#include "system-model/base/base.h"

enum output_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_TAP, FORMAT_JUNIT, FORMAT_MARKDOWN, FORMAT_ANNOTATIONS, FORMAT_DOT,
                     N_OUTPUT_FORMATS };
extern const char *const format_names[N_OUTPUT_FORMATS];
#define FORMAT_BIT(format) (1u << (format))
enum { IN_TEXT = FORMAT_BIT(FORMAT_TEXT), IN_CSV = FORMAT_BIT(FORMAT_CSV), IN_JSON = FORMAT_BIT(FORMAT_JSON), IN_MARKDOWN = FORMAT_BIT(FORMAT_MARKDOWN) };
#define JUDGING_FORMATS (FORMAT_BIT(FORMAT_TAP) | FORMAT_BIT(FORMAT_JUNIT) | FORMAT_BIT(FORMAT_MARKDOWN) | FORMAT_BIT(FORMAT_ANNOTATIONS))

struct json_t;

/* ---- table.c ------------------------------------------------------------------------------------------ */

enum cell_type { CELL_TEXT, CELL_REAL, CELL_U64, CELL_U32, CELL_I64, CELL_BOOL, CELL_JSON };

struct table_column {
    const char *name;                   /* the CSV column and JSON member; NULL: left out of both */
    enum cell_type type;
    size_t offset;
    const char *heading;                /* heading in text and Markdown; "": a column without heading; NULL: these formats lack the column */
    const char *format;                 /* the format in CSV and JSON, as printf's for a double; NULL: "%.6g" */
    double scale;                       /* text and Markdown show a real number times this, so that 100 shows a share in per cent; 0: times 1 */
    unsigned formats;                   /* FORMAT_BITs of the formats that have the column; 0: all that its name and heading say */
    int csv_digits;                     /* 0 means 10, enough to see any change and few enough to hide rounding */
    bool zero_is_unknown;               /* a real number or 32-bit count that is 0, or an empty text, is not known */
    bool aligns_right, is_code;         /* aligns_right: a text that holds numbers; is_code: Markdown sets it in backticks */
    int digits;                         /* number of digits with which text and Markdown show a real number or a 64-bit count, as a quantity with a prefixed unit */
    bool shows_sign;                    /* the quantity is a change, shown with its sign, + or - */
    const char *unit, *help;            /* printed in lists of columns; in a table only a quantity shows its unit */
};

/* On 32-bit machines size_t differs from all types of fixed size, so it needs a case of its own. */
#if SIZE_MAX == UINT32_MAX
#define CELL_OF_SIZE size_t: CELL_U32,
#else
#define CELL_OF_SIZE
#endif

/* A column of a member: its type is the member's own. Further members of the column may follow in the braces around
 * it. */
#define COLUMN(record, member) COLUMN_AS(record, member, #member)
#define COLUMN_AS(record, member, csv_name) .name = csv_name, .offset = offsetof(record, member), \
    .type = _Generic(((record *)0)->member, CELL_OF_SIZE const char *: CELL_TEXT, char *: CELL_TEXT, double: CELL_REAL, uint64_t: CELL_U64, \
                     uint32_t: CELL_U32, int64_t: CELL_I64, bool: CELL_BOOL, struct json_t *: CELL_JSON)

struct table {
    const char *name;                   /* member of the document's JSON; NULL if the whole JSON is the rows of tables without names */
    const struct table_column *columns;
    size_t n_columns, row_bytes;
    void *rows;
    size_t n, cap;
    unsigned formats;                   /* FORMAT_BITs of the formats that have it; 0: text, CSV, JSON and Markdown */
    bool is_object;                     /* JSON has the first row as one object; without a name the row's members become the document's */
    bool as_lines;                      /* text shows the first row alone, a line for each column: heading, value and unit */
    const char *title, *indent;         /* title: a line above the table, without newline; indent: begins each line of text; NULL if none */
};
/* TABLE: a table without rows. TABLE_OF: a table of n structs that are there already; their type is the columns'
 * record. Further members of the table may follow. */
#define TABLE(column_list, record, ...) \
    (struct table){ .columns = (column_list), .n_columns = sizeof(column_list) / sizeof *(column_list), .row_bytes = sizeof(record), __VA_ARGS__ }
#define TABLE_OF(column_list, items, count, ...) \
    (struct table){ .columns = (column_list), .n_columns = sizeof(column_list) / sizeof *(column_list), .row_bytes = sizeof *(items), \
                    .rows = (void *)(items), .n = (count), __VA_ARGS__ }

void table_add(struct table *t, const void *row, struct arena *a);      /* copies the row */
void table_keep(struct table *t, const void *row, struct arena *a);     /* copies the row and its texts */
/* Text, CSV, JSON or Markdown. The columns of a text table are as wide as their widest cell; a table without rows is
 * left out. */
void table_write(FILE *f, enum output_format format, const struct table *t);
/* Writes one line of CSV, the headings if row is NULL. */
void table_write_csv_row(FILE *f, const struct table *t, const void *row);
/* Like table_write_csv_row(), with a comma at the end instead of a newline: the caller writes further columns. */
void table_write_cells(FILE *f, const struct table *t, const void *row);
/* An array of objects, and one row as an object. JSON cells are moved out of the rows. The caller owns the result. */
struct json_t *table_json(const struct table *t);
struct json_t *table_row_json(const struct table *t, const void *row);
void table_drop_json(const struct table *t);                /* frees JSON cells that were not taken out */

struct json_t *json_number(double x);                       /* null when x is not finite */
struct json_t *json_known(bool known, double x);            /* null when it is not known */
struct json_t *json_words(const char *const *words, size_t n);      /* an array of strings */
/* Prints with two-space indent, real numbers to 15 digits, and a newline; frees `json`. */
void print_json(FILE *f, struct json_t *json);
void write_markdown_text(FILE *f, const char *text);        /* the text on one line, without characters that end a cell or begin an HTML tag */

/* ---- quantity.c: numbers for people -------------------------------------------------------------------------- */

/* "17.2 kW": this many significant digits, and the unit with the prefix that fits where people use one (s, B, B/s, Hz, W, J,
 * flop, flop/s). Returns room, or "-" for a number that is not finite. Machine formats have plain SI units instead. */
enum { QUANTITY_ROOM = 64 };
const char *quantity_text(char room[QUANTITY_ROOM], double x, const char *unit, int digits);
const char *quantity_change_text(char room[QUANTITY_ROOM], double x, const char *unit, int digits);     /* quantity_text() with a sign */
bool unit_takes_prefix(const char *unit);
/* The number of digits of x that an interval of this half width leaves certain: they reach to the second digit of the half width. At least 2 and
   at most 6; 4 where the interval is unknown. */
int digits_within(double x, double half_width);
const char *quantity_kept(double x, const char *unit, int digits, struct arena *a);             /* quantity_text() in the arena */
const char *quantity_change_kept(double x, const char *unit, int digits, struct arena *a);
const char *quantity_within(double x, const char *unit, double half_width, struct arena *a);    /* quantity_kept() with the digits that the interval leaves certain */

/* ---- page.c: one HTML page that needs no other file ------------------------------------------------------------ */

struct page { FILE *f; const char *assets_dir; struct arena *a; };
/* Writes the head with page.css and NAME.css of the folder of assets, and opens the body. */
bool page_open(const struct page *p, const char *title, const char *name, struct err *err);
void page_add_json(const struct page *p, const char *id, struct json_t *value);        /* data for the page's script; frees the value */
bool page_close(const struct page *p, const char *name, struct err *err);               /* closes the page with page.js and NAME.js */

/* ---- terminal.c ------------------------------------------------------------------------------------------------ */

bool takes_escapes(FILE *f);            /* true for a terminal that understands escape sequences (TERM is not dumb) */
bool in_colour(FILE *f);                /* the stream is a terminal, and NO_COLOR is not set */
/* A stream whose lines are broken at the terminal's width, and whose labels ("fits: ") are bold where it is in colour. NULL
 * where `to` is no terminal: pipes and files get whole lines, as scripts read by line. The caller closes it. */
FILE *terminal_stream(FILE *to);
/* Writes a line, without its newline, as lines of at most width columns, broken at blanks; the rest of a row of a table goes
 * on under its last cell. A word that is longer stays whole. */
void text_wrap(FILE *f, const char *line, size_t width);

/* ---- judgement.c: what a command that judges has found, for people and for CI systems ---------------------- */

enum judged { JUDGED_PASS, JUDGED_FAIL, JUDGED_SKIP, JUDGED_EXPECTED, JUDGED_UNEXPECTED_PASS, N_JUDGED };

struct judgement {
    const char *group, *name;           /* JUnit: classname and name */
    const char *message;                /* the numbers of a pass, the cause of anything else */
    const char *file; uint32_t line;    /* the row or log that is judged; NULL, 0 if none */
    enum judged judged;
    const char *reason;                 /* why the failure is expected; NULL if it is not */
};
struct judgements { const char *suite; struct judgement *items; size_t n, cap; };

void judgements_add(struct judgements *set, struct judgement item, struct arena *a);
bool judgements_pass(const struct judgements *set);     /* nothing failed unexpectedly */
size_t judgements_count(const struct judgements *set, enum judged judged);

/* Marks expected failures by name. The table has the columns id and reason; * in an id matches any text. Refuses an id
 * that matches nothing, and an empty reason. */
bool judgements_expect(struct judgements *set, const char *path, struct arena *a, struct err *err);

/* TAP, one JUnit testsuite (its time is SOURCE_DATE_EPOCH, else 1970), a Markdown comment for a pull request, or
 * annotations as GitHub and GitLab read them. Returns false for any other format. */
bool judgements_write(FILE *f, enum output_format format, const struct judgements *set);

/* ---- document.c ------------------------------------------------------------------------------------------ */

struct document {
    struct judgements judged;           /* printed by the judging formats */
    struct document_part *parts; size_t n, cap;
    struct arena *arena;
};
/* Adds a line to text and Markdown, or to the formats with these FORMAT_BITs. */
void document_line(struct document *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void document_line_for(struct document *d, unsigned formats, const char *format, ...) __attribute__((format(printf, 3, 4)));
FILE *document_stream(struct document *d, unsigned formats);           /* for lines that the caller writes; not to be closed */
void document_gap(struct document *d);                                  /* an empty line */
struct table *document_table(struct document *d, struct table t);       /* the document's copy, to add rows to */
void document_member(struct document *d, const char *name, struct json_t *value);       /* adds to the JSON object; takes the value */
/* Writes a document. That is possible only once, because it uses up the JSON. Formats of judgements print the document's judgements; Markdown prints its
 * parts if the document has no suite of judgements. */
void document_write(FILE *f, enum output_format format, struct document *d);
void document_drop(struct document *d);         /* frees the document without writing it */

#endif
