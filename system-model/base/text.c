/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - reading numbers, UTF-8, lists of names. Nothing depends on the locale.
 */
#include "system-model/base/base.h"
#include "system-model/base/hash_table.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_u64(const char *text, uint64_t *out)
{
    if (!*text)
        return false;
    uint64_t v = 0;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9')
            return false;
        uint64_t digit = (uint64_t)(*p - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

bool source_date(uint64_t *out_s, uint64_t otherwise_s, struct err *err)
{
    static const uint64_t last_s = 253402300799;        /* 9999-12-31T23:59:59Z */
    const char *text = getenv("SOURCE_DATE_EPOCH");
    *out_s = otherwise_s;
    if (text && (!parse_u64(text, out_s) || *out_s > last_s)) {
        *out_s = otherwise_s;
        return fail(err, "SOURCE_DATE_EPOCH: '%.40s' is not a whole number of seconds from 0 to %" PRIu64, text, last_s);
    }
    return true;
}

const char *why_no_u64(const char *text)
{
    bool digits_alone = *text && text[strspn(text, "0123456789")] == 0;
    return digits_alone ? "is more than the largest number allowed, 18446744073709551615" : "is not a whole number from 0 up";
}

int compare_texts(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

const char **texts_of(const void *items, size_t n, size_t item_bytes, size_t offset, struct arena *a)
{
    const char **texts = ARENA_ARRAY(a, const char *, n), *at = items;
    for (size_t i = 0; i < n; i++, at += item_bytes)
        texts[i] = *(const char *const *)(at + offset);
    return texts;
}

const void *find_text(const void *items, size_t n, size_t item_bytes, size_t offset, const char *text)
{
    for (const char *at = items; n > 0; n--, at += item_bytes)
        if (text_is(*(const char *const *)(at + offset), text))
            return at;
    return NULL;
}

bool check_printable(const char *text, struct err *err)
{
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return fail(err, "'%.200s' holds a control character", text);
    return true;
}

locale_t plain_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));     /* the C library's own object, never freed */
}

/* Reads digits with at most one point. A double holds 15 digits and their power of ten exactly, so that one division rounds as strtod() does. */
static bool parse_short_decimal(const char *text, double *out)
{
    enum { MOST_EXACT_DIGITS = 15 };
    double whole = 0, power = 1;
    bool has_point = false;
    const char *at = text;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++)
        if (*at == '.') {
            has_point = true;
        } else {
            whole = 10 * whole + (*at - '0');
            power *= has_point ? 10 : 1;
        }
    *out = whole / power;
    return !*at && at - text > has_point && at - text - has_point <= MOST_EXACT_DIGITS;
}

/* Callers use plain_locale(), so that strtod() reads a decimal point. */
bool parse_f64(const char *text, double *out)
{
    double v;
    if (parse_short_decimal(text, &v)) {
        *out = v;
        return true;
    }
    if (!*text || text[strspn(text, "0123456789.eE+-")])
        return false;               /* no blanks, hexadecimal, inf or nan */
    char *end;
    v = strtod(text, &end);
    if (end == text || *end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

/* The decimal prefix becomes an exponent, so that 1.5 ms is read exactly as 1.5e-3 is. */
bool parse_quantity(const char *text, const char *unit, double *out)
{
    static const struct { const char *prefix, *exponent; double factor; } prefixes[] = {
        { "", "", 1 }, { "n", "e-9", 1 }, { "u", "e-6", 1 }, { "m", "e-3", 1 }, { "k", "e3", 1 }, { "M", "e6", 1 }, { "G", "e9", 1 }, { "T", "e12", 1 },
        { "P", "e15", 1 }, { "Ki", "", 0x1p10 }, { "Mi", "", 0x1p20 }, { "Gi", "", 0x1p30 }, { "Ti", "", 0x1p40 },
    };
    enum { MOST_DIGITS = 60 };
    char number[MOST_DIGITS + 8];
    size_t n = strspn(text, "0123456789.+-"), n_unit = unit ? strlen(unit) : 0;
    const char *after = text + n + strspn(text + n, " ");
    size_t n_after = strlen(after);
    if (n_unit == 0 || n_after < n_unit || strcmp(after + n_after - n_unit, unit) != 0 || n > MOST_DIGITS)
        return parse_f64(text, out);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strlen(prefixes[i].prefix) != n_after - n_unit || strncmp(after, prefixes[i].prefix, n_after - n_unit) != 0)
            continue;
        snprintf(number, sizeof number, "%.*s%s", (int)n, text, prefixes[i].exponent);
        if ((prefixes[i].factor > 1 && *unit != 'B') || !parse_f64(number, out))
            return false;
        *out *= prefixes[i].factor;
        return true;
    }
    return false;
}

const char *plain_number(const char *text, const char *unit, struct arena *a)
{
    double x, plain;
    return !unit || !*unit || parse_f64(text, &plain) || !parse_quantity(text, unit, &x) ? text : arena_printf(a, "%.15g", x);
}

static size_t utf8_length(const unsigned char *s, size_t n)
{
    static const struct { unsigned char mask, lead; uint32_t least; } kinds[] = {
        { 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if ((s[0] & kinds[k].mask) != kinds[k].lead || k >= n)
            continue;
        uint32_t code = s[0] & (unsigned char)~kinds[k].mask;
        for (size_t i = 1; i <= k; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code < kinds[k].least || code > 0x10ffff || surrogate ? 0 : k + 1;
    }
    return 0;
}

size_t byte_order_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static bool are_ascii(const char *eight)
{
    uint64_t word;
    memcpy(&word, eight, sizeof word);
    return !(word & 0x8080808080808080);
}

bool is_utf8(const char *text, size_t n)
{
    for (size_t i = 0, step; i < n; i += step) {
        if (n - i >= 8 && are_ascii(text + i)) {
            step = 8;
            continue;
        }
        step = (unsigned char)text[i] < 0x80 ? 1 : utf8_length((const unsigned char *)text + i, n - i);
        if (!step)
            return false;
    }
    return true;
}

const char *utf8_text(const char *text, struct arena *a)
{
    size_t n = strlen(text);
    if (is_utf8(text, n))
        return text;
    char *out = arena_alloc(a, 2 * n + 1), *p = out;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s >= 0x80)
            *p++ = (char)(0xc0 | *s >> 6);
        *p++ = (char)(*s >= 0x80 ? 0x80 | (*s & 0x3f) : *s);
    }
    return out;
}

size_t first_repeated(size_t *earlier, const char *const *names, size_t n)
{
    struct arena scratch = {0};
    struct hash_table seen = {0};
    size_t i = 0;
    for (const size_t *at; i < n; i++) {
        size_t length = strlen(names[i]);
        at = hash_table_find(&seen, names[i], length);
        if (at) {
            *earlier = *at;
            break;
        }
        *(size_t *)hash_table_add(&seen, names[i], length, sizeof i, &scratch) = i;
    }
    arena_free(&scratch);
    return i;
}

char *text_item(const char **list, char separator, struct arena *a)
{
    const char *start = *list, *end = start ? strchrnul(start, separator) : NULL;
    if (!start)
        return NULL;
    *list = *end ? end + 1 : NULL;
    start += strspn(start, " \t");
    while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t n = end > start ? (size_t)(end - start) : 0;
    return memcpy(arena_alloc(a, n + 1), start, n);
}

const char *names_joined(const char *const *names, size_t n, const char *separator, struct arena *a)
{
    const char *text = n ? names[0] : "";
    for (size_t i = 1; i < n; i++)
        text = arena_printf(a, "%s%s%s", text, separator, names[i]);
    return text;
}

const char *names_list(const char *const *names, size_t n, struct arena *a)
{
    enum { LINE_COLUMNS = 300 };
    char *text = arena_alloc(a, LINE_COLUMNS + 8);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t more = strlen(names[i]) + (i ? 2 : 0);
        if (used + more > LINE_COLUMNS) {
            strcpy(text + used, ", ...");
            break;
        }
        used += (size_t)sprintf(text + used, "%s%s", i ? ", " : "", names[i]);
    }
    return text;
}

void write_xml_text(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc((unsigned char)*text <= 0x1f ? ' ' : *text, f);
        }
}

const char *xml_text(const char *text, struct arena *a)
{
    char *escaped = NULL;
    size_t n;
    FILE *f = text_stream(&escaped, &n);
    write_xml_text(f, text);
    return text_close(f, &escaped, a);
}
