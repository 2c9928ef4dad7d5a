/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog.c - reads and writes the lines of MLPerf logs; see mllog.h.
 *
 * JSON is parsed by jansson, which is stricter than the Python that wrote the logs. So an event is cleaned first. Infinity, -Infinity, NaN and
 * numbers beyond a double become strings that begin with byte 1, which no log can hold unescaped; integers beyond 18 digits become reals; and
 * a lone surrogate escape becomes U+FFFD.
 */
#include "results/mlperf/mllog.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char token[] = ":::MLLOG ";
enum { TOKEN_LENGTH = sizeof token - 1, EXACT_DIGITS = 18 };
#define MARK "\\u0001"                  /* the first byte of a string that stands for a number */

/* ---- records ------------------------------------------------------------------------------ */

void mllog_open_stream(struct mllog_reader *out, FILE *f, const char *name)
{
    *out = (struct mllog_reader){ .path = name, .f = f, .after_newline = true };
}

static bool check_log(const char *path, const struct stat *s, struct err *err)
{
    if (!S_ISREG(s->st_mode))
        return fail(err, "%s: is %s, want a log file", path, S_ISDIR(s->st_mode) ? "a folder" : "a device, pipe or socket");
    return s->st_size <= MLLOG_LARGEST_BYTES
        || fail(err, "%s: %lld bytes, more than the %d that a log may have", path, (long long)s->st_size, MLLOG_LARGEST_BYTES);
}

bool mllog_open(struct mllog_reader *out, const char *path, bool follow, struct err *err)
{
    struct stat s = { 0 };
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));   /* non-blocking, so that a pipe without a writer does not hang */
    if (fd == -1)
        return fail(err, "%s: %s", path, errno == ELOOP && !follow ? "is a symbolic link, want a file" : strerror(errno));
    (void)fstat(fd, &s);                /* on failure the mode stays 0, which is no regular file */
    if (!check_log(path, &s, err)) {
        close(fd);
        return false;
    }
    FILE *f = fdopen(fd, "rb");
    if (!f)
        out_of_memory(BUFSIZ);
    mllog_open_stream(out, f, path);
    return true;
}

void mllog_close(struct mllog_reader *r)
{
    json_decref(r->event);
    if (r->f)
        fclose(r->f);
    arena_free(&r->arena);
    *r = (struct mllog_reader){ 0 };
}

static bool read_block(struct mllog_reader *r)
{
    enum { BLOCK_BYTES = 32 << 10 };
    if (!r->block)
        r->block = arena_alloc(&r->arena, BLOCK_BYTES);
    r->at = 0;
    r->end = fread(r->block, 1, BLOCK_BYTES, r->f);
    return r->end > 0;
}

static int raw_byte(struct mllog_reader *r)
{
    return r->at < r->end || read_block(r) ? (unsigned char)r->block[r->at++] : EOF;
}

/* The next byte, with every line end as '\n'. A lone '\r' ends a record without counting as a line. */
static int next_byte(struct mllog_reader *r)
{
    int c = raw_byte(r);
    if (r->after_newline && c != EOF) {
        r->line++;
        r->after_newline = false;
    }
    if (c == '\r') {
        int d = raw_byte(r);
        if (d == '\n')
            r->after_newline = true;
        else if (d != EOF)
            r->at--;
        return '\n';
    }
    r->after_newline = c == '\n';
    return c;
}

/* The number of bytes in the block before the next `stop` or '\r'. */
static size_t span_before(const struct mllog_reader *r, int stop)
{
    const char *from = r->block + r->at;
    size_t n = r->end - r->at;
    if (n == 0)
        return 0;
    const char *found = memchr(from, stop, n);
    n = found ? (size_t)(found - from) : n;
    found = n ? memchr(from, '\r', n) : NULL;
    return found ? (size_t)(found - from) : n;
}

/* Skips a span without '\r' and counts its lines, as next_byte() would do byte by byte. */
static void skip_span(struct mllog_reader *r, size_t n)
{
    const char *from = r->block + r->at, *end = from + n;
    if (n == 0)
        return;
    r->line += r->after_newline;
    for (const char *p = from; p < end - 1 && (p = memchr(p, '\n', (size_t)(end - 1 - p))); p++)
        r->line++;
    r->after_newline = end[-1] == '\n';
    r->at += n;
}

/* Reads up to the end of the next token. False at the end of the file. */
static bool find_token(struct mllog_reader *r)
{
    size_t matched = 0;
    skip_span(r, span_before(r, ':'));
    for (int c; (c = next_byte(r)) != EOF; ) {
        if (c == token[matched])
            matched++;
        else if (c == ':')
            matched = matched == 3 ? 3 : 1;     /* "::::" still ends in ":::" */
        else
            matched = 0;
        if (matched == TOKEN_LENGTH)
            return true;
        if (matched == 0)
            skip_span(r, span_before(r, ':'));
    }
    return false;
}

static char *buffer_room(struct mllog_reader *r, char *buffer, size_t *cap, size_t wanted)
{
    if (wanted <= *cap)
        return buffer;
    size_t size = *cap ? *cap : 4096;
    while (size < wanted)
        size *= 2;
    char *larger = arena_alloc(&r->arena, size);
    if (*cap)
        memcpy(larger, buffer, *cap);
    *cap = size;
    return larger;
}

/* Keeps the last of several records on a line, as the official parser does. Ranks that write at the same time may produce such lines. */
static void keep_last_record(struct mllog_reader *r)
{
    char *last = NULL;
    for (char *at = r->raw; r->n_raw && (at = memmem(at, r->n_raw - (size_t)(at - r->raw), token, TOKEN_LENGTH)); at++)
        last = at + TOKEN_LENGTH;
    r->lost_record = last != NULL;
    if (!last)
        return;
    while (last < r->raw + r->n_raw && isspace((unsigned char)*last))
        last++;
    r->n_raw -= (size_t)(last - r->raw);
    memmove(r->raw, last, r->n_raw);
}

/* Reads the rest of the record into r->raw, without white space at its ends. False if it is too long. */
static bool read_event(struct mllog_reader *r)
{
    size_t n = 0;
    for (int c; (c = next_byte(r)) != EOF && c != '\n'; ) {
        if (n == MLLOG_LONGEST_EVENT)
            return false;               /* find_token() skips the rest */
        if (n == 0 && isspace(c))
            continue;
        r->raw = buffer_room(r, r->raw, &r->raw_cap, n + 1);
        r->raw[n++] = (char)c;
        size_t more = min_u64(span_before(r, '\n'), MLLOG_LONGEST_EVENT - n);      /* takes the rest of the block at once */
        r->raw = buffer_room(r, r->raw, &r->raw_cap, n + more);
        if (more)
            memcpy(r->raw + n, r->block + r->at, more);
        n += more, r->at += more;
    }
    while (n > 0 && isspace((unsigned char)r->raw[n - 1]))
        n--;
    r->n_raw = n;
    keep_last_record(r);
    return true;
}

/* ---- cleaning ------------------------------------------------------------------------------ */

struct cleaner { const char *in, *end; char *out; bool latin1; };

static void clean_put(struct cleaner *c, const char *text, size_t n)
{
    memcpy(c->out, text, n);
    c->out += n;
}

static void clean_put_byte(struct cleaner *c, char byte)
{
    unsigned char b = (unsigned char)byte;
    if (b >= 0x80 && c->latin1) {
        *c->out++ = (char)(0xc0 | b >> 6);
        *c->out++ = (char)(0x80 | (b & 0x3f));
    } else {
        *c->out++ = byte;
    }
}

/* The code of a \uXXXX escape at s, or -1. The text ends in a zero byte, which no escape contains. */
static long escape_code(const char *s)
{
    if (s[0] != '\\' || s[1] != 'u')
        return -1;
    long code = 0;
    for (int i = 2; i < 6; i++) {
        if (!isxdigit((unsigned char)s[i]))
            return -1;
        code = code * 16 + (isdigit((unsigned char)s[i]) ? s[i] - '0' : tolower((unsigned char)s[i]) - 'a' + 10);
    }
    return code;
}

static void clean_escape(struct cleaner *c)
{
    long code = escape_code(c->in), low = -1;
    size_t n = code >= 0 ? 6 : (size_t)min_u64((uint64_t)(c->end - c->in), 2);
    if (code >= 0xd800 && code < 0xdc00)
        low = escape_code(c->in + 6);
    if (low >= 0xdc00 && low < 0xe000)
        n = 12;
    else if (code >= 0xd800 && code < 0xe000) {
        clean_put(c, "\\ufffd", 6);
        c->in += 6;
        return;
    }
    for (size_t i = 0; i < n; i++)
        clean_put_byte(c, *c->in++);
}

/* The number of bytes before the next quote or backslash, or, in Latin-1, before the next byte above 127. */
static size_t plain_span(const struct cleaner *c)
{
    const char *p = c->in;
    while (p < c->end && *p != '"' && *p != '\\' && !(c->latin1 && (unsigned char)*p >= 0x80))
        p++;
    return (size_t)(p - c->in);
}

static void clean_string(struct cleaner *c)
{
    clean_put_byte(c, *c->in++);
    while (c->in < c->end && *c->in != '"') {
        size_t n = plain_span(c);
        clean_put(c, c->in, n);
        c->in += n;
        if (n)
            continue;
        if (*c->in == '\\')
            clean_escape(c);
        else
            clean_put_byte(c, *c->in++);
    }
    if (c->in < c->end)
        clean_put_byte(c, *c->in++);
}

static void clean_put_mark(struct cleaner *c, const char *name)
{
    clean_put(c, "\"" MARK, 1 + strlen(MARK));
    clean_put(c, name, strlen(name));
    *c->out++ = '"';
}

static bool clean_word(struct cleaner *c)
{
    static const char *const words[] = { "Infinity", "-Infinity", "NaN" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(c->end - c->in) >= n && !memcmp(c->in, words[i], n)) {
            clean_put_mark(c, words[i]);
            c->in += n;
            return true;
        }
    }
    return false;
}

static void clean_number(struct cleaner *c)
{
    char *stop;
    size_t n = strspn(c->in, "+-0123456789.eE");
    double x = strtod(c->in, &stop);        /* hexadecimal numbers and "inf" never start with these bytes */
    bool whole = stop == c->in + n, integer = strcspn(c->in, ".eE") >= n;
    if (whole && isinf(x)) {
        clean_put_mark(c, signbit(x) ? "-Infinity" : "Infinity");
    } else {
        clean_put(c, c->in, n);
        if (whole && integer && n > EXACT_DIGITS)
            clean_put(c, ".0", 2);
    }
    c->in += n;
}

/* Cleans r->raw into r->clean. "NaN" grows most, to 11 bytes; a run of digits grows by ".0". */
static size_t clean_event(struct mllog_reader *r)
{
    r->raw = buffer_room(r, r->raw, &r->raw_cap, r->n_raw + 1);
    r->raw[r->n_raw] = 0;
    r->clean = buffer_room(r, r->clean, &r->clean_cap, 4 * r->n_raw + 32);
    struct cleaner c = { r->raw, r->raw + r->n_raw, r->clean, !is_utf8(r->raw, r->n_raw) };
    while (c.in < c.end) {
        if (*c.in == '"')
            clean_string(&c);
        else if ((*c.in == '-' || *c.in == 'I' || *c.in == 'N') && clean_word(&c))
            continue;
        else if (*c.in == '-' || isdigit((unsigned char)*c.in))
            clean_number(&c);
        else
            clean_put_byte(&c, *c.in++);
    }
    return (size_t)(c.out - r->clean);
}

/* ---- events --------------------------------------------------------------------------------- */

static bool bad_event(struct mllog_reader *r, const char *what)
{
    snprintf(r->problem, sizeof r->problem, "%s", what);
    return false;
}

static bool parse_event(struct mllog_reader *r, struct mllog_line *out)
{
    json_error_t e;
    size_t n = clean_event(r);
    r->event = json_loadb(r->clean, n, JSON_ALLOW_NUL, &e);
    if (!r->event) {
        snprintf(r->problem, sizeof r->problem, "is not JSON: %.100s", e.text);
        return false;
    }
    if (!json_is_object(r->event))
        return bad_event(r, "is not a JSON object");
    const json_t *key = json_object_get(r->event, "key"), *type = json_object_get(r->event, "event_type");
    out->value = json_object_get(r->event, "value");
    out->metadata = json_object_get(r->event, "metadata");
    if (!json_is_string(key))
        return bad_event(r, "has no 'key' that is a string");
    if (!out->value)
        return bad_event(r, "has no 'value'");
    if (!out->metadata)
        return bad_event(r, "has no 'metadata'");
    if (!mllog_number_loose(json_object_get(r->event, "time_ms"), &out->time_ms))
        return bad_event(r, "has no 'time_ms' that is a number");
    out->key = json_string_value(key);
    out->event_type = json_is_string(type) ? json_string_value(type) : "";
    return true;
}

/* True if the event mentions a key. A key may be written with escapes, so an event with a backslash counts as mentioning all keys. */
static bool event_mentions(const struct mllog_reader *r, const char *const *keys, size_t n)
{
    bool found = n == 0 || memchr(r->raw, '\\', r->n_raw) != NULL;
    for (size_t i = 0; i < n && !found; i++)
        found = memmem(r->raw, r->n_raw, keys[i], strlen(keys[i])) != NULL;
    return found;
}

enum mllog_status mllog_next_of(struct mllog_reader *r, const char *const *keys, size_t n, struct mllog_line *out)
{
    json_decref(r->event);
    r->event = NULL;
    *out = (struct mllog_line){ 0 };
    do {
        if (!find_token(r))
            return MLLOG_END;
        out->line = r->line;
        if (!read_event(r)) {
            snprintf(r->problem, sizeof r->problem, "is an event longer than %d bytes", MLLOG_LONGEST_EVENT);
            return MLLOG_BAD_LINE;
        }
    } while (r->n_raw == 0 ? n > 0 : !event_mentions(r, keys, n));
    return parse_event(r, out) ? MLLOG_LINE : MLLOG_BAD_LINE;
}

enum mllog_status mllog_next(struct mllog_reader *r, struct mllog_line *out)
{
    return mllog_next_of(r, NULL, 0, out);
}

/* ---- values ----------------------------------------------------------------------------------- */

bool mllog_number(const json_t *v, double *out)
{
    if (json_is_boolean(v)) {
        *out = json_is_true(v) ? 1 : 0;
        return true;
    }
    if (json_is_number(v)) {
        *out = json_number_value(v);
        return true;
    }
    const char *text = json_is_string(v) ? json_string_value(v) : "";
    if (text[0] != 1)
        return false;
    *out = text_is(text + 1, "NaN") ? (double)NAN : text[1] == '-' ? -HUGE_VAL : HUGE_VAL;
    return true;
}

bool mllog_number_loose(const json_t *v, double *out)
{
    if (mllog_number(v, out))
        return true;
    if (json_is_string(v))
        return parse_f64(json_string_value(v), out);
    size_t n = json_array_size(v);
    double sum = 0, x;
    for (size_t i = 0; i < n; i++) {
        if (!mllog_number(json_array_get(v, i), &x))
            return false;
        sum += x;
    }
    *out = n ? sum / (double)n : 0;
    return n > 0;
}

const char *mllog_show(const json_t *v, char out[MLLOG_SHOWN_BYTES])
{
    double x;
    char *text = NULL;
    if (json_is_string(v) && json_string_value(v)[0] == 1)
        snprintf(out, MLLOG_SHOWN_BYTES, "%s", json_string_value(v) + 1);
    else if (json_is_real(v) && mllog_number(v, &x))
        snprintf(out, MLLOG_SHOWN_BYTES, "%.10g", x);
    else if ((text = json_dumps(v, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10))))
        snprintf(out, MLLOG_SHOWN_BYTES, "%.60s", text);
    else
        snprintf(out, MLLOG_SHOWN_BYTES, "?");
    free(text);
    return out;
}

const char *mllog_text(const json_t *v, struct arena *a)
{
    char shown[MLLOG_SHOWN_BYTES];
    char *text = arena_strdup(a, json_is_string(v) && json_string_value(v)[0] != 1 ? json_string_value(v) : mllog_show(v, shown));
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    return text;
}

/* ---- writing ------------------------------------------------------------------------------------ */

void mllog_write(FILE *f, const struct mllog_entry *e)
{
    static const char *const events[] = { "POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END" };
    struct arena a = { 0 };
    fprintf(f, "%s{\"namespace\": %s, \"time_ms\": %lld, \"event_type\": \"%s\", \"key\": %s, \"value\": %s, "
            "\"metadata\": {\"file\": %s, \"lineno\": %d%s%s}}\n", token, mllog_quote(e->name_space ? e->name_space : "", &a),
            (long long)e->time_ms, events[e->event], mllog_quote(e->key, &a), e->value ? e->value : "null",
            mllog_quote(e->file, &a), e->lineno, e->metadata ? ", " : "", e->metadata ? e->metadata : "");
    arena_free(&a);
}

const char *mllog_quote(const char *text, struct arena *a)
{
    json_t *s = json_string(text);
    if (!s)                             /* the text is not UTF-8 */
        return "\"?\"";
    char *quoted = json_dumps(s, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    char *kept = arena_strdup(a, quoted);
    free(quoted);
    json_decref(s);
    return kept;
}

const char *mllog_real(double x, struct arena *a)
{
    if (isnan(x))
        return "NaN";
    if (isinf(x))
        return signbit(x) ? "-Infinity" : "Infinity";
    char *text = NULL;
    for (int digits = 15; digits <= 17; digits++) {
        text = arena_printf(a, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return text;
}
