/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminal.c - text on a terminal: lines that are broken at its width, and labels that stand out.
 */
#include "system-model/output/output.h"
#include <sys/ioctl.h>
#include <unistd.h>

bool takes_escapes(FILE *f)
{
    return isatty(fileno(f)) && !text_is(getenv("TERM"), "dumb");
}

bool in_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return takes_escapes(f) && !(no && *no);
}

/* ---- one line ------------------------------------------------------------------------------------------- */

/* Bytes of an escape sequence such as "\033[1m" at the start of a text; 0 where it is none. */
static size_t escape_bytes(const char *text)
{
    if (text[0] != '\033' || text[1] != '[')
        return 0;
    size_t n = 2 + strspn(text + 2, "0123456789;");
    return text[n] ? n + 1 : n;
}

/* Columns that n bytes take: escapes, and bytes of UTF-8 that continue a character, take none. */
static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0, escape; i < n; i += escape ? escape : 1) {
        escape = escape_bytes(text + i);
        columns += !escape && ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* The column at which the rest of a broken line goes on. If the line is a row of a table whose last cell begins in the left half, that cell's
   column; otherwise two more than the line's own. */
static size_t hanging_indent(const char *line, size_t width)
{
    size_t own = strspn(line, " "), indent = own + 2;
    for (size_t i = own; line[i]; i++)
        if (line[i] != ' ' && i >= own + 2 && line[i - 1] == ' ' && line[i - 2] == ' ' && columns_of(line, i) <= width / 2)
            indent = columns_of(line, i);
    return indent;
}

/* How many bytes to print before a break: up to the last blank within the width or, if there is none, up to the first blank. */
static size_t bytes_that_fit(const char *text, size_t width)
{
    size_t fits = 0, start = strspn(text, " ");
    for (size_t i = start; ; i++) {
        if (text[i] && text[i] != ' ')
            continue;
        if (fits && columns_of(text, i) > width)
            return fits;
        fits = i;
        if (!text[i])
            return fits;
    }
}

void text_wrap(FILE *f, const char *line, size_t width)
{
    if (width == SIZE_MAX) {
        fprintf(f, "%s\n", line);
        return;
    }
    size_t indent = hanging_indent(line, width), taken = width, margin = 0;
    for (const char *at = line; ; taken = width - indent, margin = indent) {
        size_t n = bytes_that_fit(at, taken);
        size_t shown = n;
        while (at[n] && at[shown - 1] == ' ')
            shown--;                    /* blanks before the break */
        fprintf(f, "%*s%.*s\n", (int)margin, "", (int)shown, at);
        at += n + strspn(at + n, " ");
        if (!*at)
            return;
    }
}

/* Two blanks between cells make a line a row of a table, which is easier to read in one piece than prose of the same length. */
static bool is_table_row(const char *line)
{
    return strstr(line + strspn(line, " "), "  ") != NULL;
}

/* Bytes of "label" where the line begins with "label: "; 0 where it does not. */
static size_t label_bytes(const char *line)
{
    enum { LONGEST_LABEL = 24 };
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz, ");
    return n <= LONGEST_LABEL && *line != ' ' && line[n] == ':' && line[n + 1] == ' ' ? n : 0;
}

/* ---- a stream --------------------------------------------------------------------------------------------- */

struct terminal { FILE *to; size_t width; bool colour; char *line; size_t n, cap; };

static void write_terminal_line(struct terminal *t)
{
    enum { WIDEST_PROSE = 100 };
    char *marked = NULL;
    size_t n, label = t->colour ? label_bytes(t->line) : 0;
    FILE *f = text_stream(&marked, &n);
    fprintf(f, label ? "\033[1m%.*s\033[0m%s" : "%.*s%s", (int)label, t->line, t->line + label);
    fclose(f);
    text_wrap(t->to, marked, is_table_row(t->line) ? t->width : min_u64(t->width, WIDEST_PROSE));
    free(marked);
    t->n = 0;
}

static void add_byte(struct terminal *t, char c)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 256;
        t->line = realloc(t->line, t->cap);
        if (!t->line)
            out_of_memory(t->cap);
    }
    t->line[t->n++] = c;
}

static ssize_t terminal_write(void *user, const char *bytes, size_t n)
{
    struct terminal *t = user;
    for (size_t i = 0; i < n; i++) {
        add_byte(t, bytes[i] == '\n' ? '\0' : bytes[i]);
        if (bytes[i] == '\n')
            write_terminal_line(t);
    }
    return ferror(t->to) ? 0 : (ssize_t)n;
}

static int terminal_close(void *user)
{
    struct terminal *t = user;
    if (t->n) {
        add_byte(t, '\0');
        write_terminal_line(t);
    }
    free(t->line);
    free(t);
    return 0;
}

FILE *terminal_stream(FILE *to)
{
    enum { LEAST_WIDTH = 40 };
    struct winsize size;
    if (!isatty(fileno(to)))
        return NULL;
    bool has_width = ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH;
    struct terminal *t = malloc(sizeof *t);
    if (!t)
        out_of_memory(sizeof *t);
    *t = (struct terminal){ .to = to, .width = has_width ? size.ws_col : SIZE_MAX, .colour = in_colour(to) };
    FILE *f = fopencookie(t, "w", (cookie_io_functions_t){ .write = terminal_write, .close = terminal_close });
    if (!f)
        out_of_memory(sizeof *t);
    return f;
}
