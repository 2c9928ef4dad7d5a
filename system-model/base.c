/*
 * base.c - errors, the arena, numbers, files. The two file formats are in base_csv.c and base_ini.c.
 */
#include "system-model/base.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errors ------------------------------------------------------------------ */

bool fail(struct err *err, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->msg, sizeof err->msg, format, args);
        va_end(args);
    }
    return false;
}

/* ---- arena: a chain of blocks, each at least as large as all before it together -- */

struct arena_block { struct arena_block *next; size_t used, size; _Alignas(16) unsigned char data[]; };

enum { FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 8 << 20 };

static void out_of_memory(size_t n_bytes)
{
    fprintf(stderr, "podbench: out of memory (%zu more bytes wanted)\n", n_bytes);
    exit(EXIT_OUT_OF_MEMORY);
}

static struct arena_block *arena_add_block(struct arena *a, size_t n_bytes)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < n_bytes)
        size = n_bytes;
    struct arena_block *b = calloc(1, sizeof *b + size);
    if (!b)
        out_of_memory(n_bytes);
    b->size = size;
    b->next = a->head;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n_bytes)
{
    if (n_bytes > SIZE_MAX / 2)
        out_of_memory(n_bytes);
    n_bytes = (n_bytes + 15) & ~(size_t)15;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < n_bytes)
        b = arena_add_block(a, n_bytes);
    void *p = b->data + b->used;
    b->used += n_bytes;
    a->used_bytes += n_bytes;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t item_bytes)
{
    if (item_bytes && n > SIZE_MAX / 2 / item_bytes)
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, n * item_bytes);
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(arena_alloc(a, n), text, n);
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void arena_free(struct arena *a)
{
    struct arena_block *b = a->head;
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    *a = (struct arena){0};
}

/* Blocks only grow, so the newest is the largest. */
void arena_reset(struct arena *a)
{
    struct arena_block *kept = a->head;
    if (!kept)
        return;
    a->head = kept->next;
    arena_free(a);
    memset(kept->data, 0, kept->used);
    kept->next = NULL;
    kept->used = 0;
    a->head = kept;
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes)
{
    if (n < *cap)
        return items;
    size_t wider = *cap ? *cap * 2 : 16;
    void *moved = arena_array(a, wider, item_bytes);
    if (n)
        memcpy(moved, items, n * item_bytes);
    *cap = wider;
    return moved;
}

/* ---- numbers and strings ------------------------------------------------------- */

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

/* The program never calls setlocale, so strtod reads the C locale's decimal point. */
bool parse_f64(const char *text, double *out)
{
    size_t n = strspn(text, "0123456789.eE+-");
    if (!*text || text[n])
        return false;               /* no spaces, hexadecimal, inf or nan */
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

bool text_is(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
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

bool is_utf8(const char *text, size_t n)
{
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_length((const unsigned char *)text + i, n - i);
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

uint64_t ceil_div_u64(uint64_t n, uint64_t d)
{
    assert(d > 0);
    return n / d + (n % d != 0);
}

size_t first_repeated(size_t *earlier, const char *const *names, size_t n)
{
    struct arena scratch = {0};
    size_t n_slots = 1, found = n;
    while (n_slots < 2 * n)
        n_slots *= 2;
    size_t *slots = ARENA_ARRAY(&scratch, size_t, n_slots);     /* index + 1; 0: free */
    for (size_t i = 0; i < n && found == n; i++) {
        size_t at = hash_bytes(names[i], strlen(names[i]), 0) & (n_slots - 1);
        while (slots[at] && strcmp(names[slots[at] - 1], names[i]) != 0)
            at = (at + 1) & (n_slots - 1);
        if (slots[at]) {
            *earlier = slots[at] - 1;
            found = i;
        }
        slots[at] = i + 1;
    }
    arena_free(&scratch);
    return found;
}

uint64_t hash_bytes(const void *data, size_t n_bytes, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = 14695981039346656037u ^ seed;
    for (size_t i = 0; i < n_bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

const char *names_list(const char *const *names, size_t n, struct arena *a)
{
    enum { WIDTH = 300 };
    char *text = arena_alloc(a, WIDTH + 8);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t more = strlen(names[i]) + (i ? 2 : 0);
        if (used + more > WIDTH) {
            strcpy(text + used, ", ...");
            break;
        }
        used += (size_t)sprintf(text + used, "%s%s", i ? ", " : "", names[i]);
    }
    return text;
}

/* ---- field tables ---------------------------------------------------------------- */

const struct field *field_find(const struct field *fields, size_t n_fields, const char *name)
{
    for (size_t i = 0; i < n_fields; i++)
        if (text_is(fields[i].name, name))
            return &fields[i];
    return NULL;
}

static bool in_range(const struct field *f, double v, const char *text, const char *where, struct err *err)
{
    if (v < f->min || v > f->max)
        return fail(err, "%s: %s is outside %.15g to %.15g", where, text, f->min, f->max);
    return true;
}

static bool field_set_number(void *at, const struct field *f, const char *text, const char *where, struct err *err)
{
    double v;
    uint64_t u;
    if (f->type == FIELD_F64) {
        if (!parse_f64(text, &v))
            return fail(err, "%s: '%.60s' is not a number", where, text);
        *(double *)at = v;
        return in_range(f, v, text, where, err);
    }
    if (!parse_u64(text, &u))
        return fail(err, "%s: '%.60s' is not a whole number from 0 up", where, text);
    if (f->type == FIELD_U32 && u > UINT32_MAX)
        return fail(err, "%s: %s is outside 0 to %u", where, text, UINT32_MAX);
    if (f->type == FIELD_U32)
        *(uint32_t *)at = (uint32_t)u;
    else
        *(uint64_t *)at = u;
    return in_range(f, (double)u, text, where, err);
}

static bool field_set_choice(void *at, const struct field *f, const char *text, const char *where, struct err *err)
{
    char known[256] = "";
    for (int i = 0; f->choices[i]; i++) {
        if (text_is(f->choices[i], text)) {
            *(int *)at = i;
            return true;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", f->choices[i]);
    }
    return fail(err, "%s: '%.60s' is not one of: %s", where, text, known);
}

bool field_set(void *record, const struct field *f, const char *text, const char *where, struct err *err)
{
    void *at = (char *)record + f->offset;
    switch (f->type) {
    case FIELD_U64:
    case FIELD_U32:
    case FIELD_F64:
        return field_set_number(at, f, text, where, err);
    case FIELD_CHOICE:
        return field_set_choice(at, f, text, where, err);
    case FIELD_TEXT:
        *(const char **)at = text;
        return *text ? true : fail(err, "%s: is empty", where);
    case FIELD_BOOL:
        if (!text_is(text, "yes") && !text_is(text, "no"))
            return fail(err, "%s: '%.60s' is not one of: yes, no", where, text);
        *(bool *)at = text_is(text, "yes");
        return true;
    }
    assert(false && "a field type");
    return false;
}

/* ---- files --------------------------------------------------------------------- */

static bool read_open(FILE **f, size_t *size, const char *path, size_t max_bytes, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(err, "%s: is not a regular file", path);
    if ((uintmax_t)st.st_size > max_bytes)
        return fail(err, "%s: %jd bytes, more than the %zu that such a file may have", path, (intmax_t)st.st_size, max_bytes);
    *f = fopen(path, "rb");
    if (!*f)
        return fail(err, "%s: %s", path, strerror(errno));
    *size = (size_t)st.st_size;
    return true;
}

bool read_text_file(char **out, size_t *n_bytes, const char *path, size_t max_bytes, struct arena *a, struct err *err)
{
    FILE *f;
    size_t size = 0;
    if (!read_open(&f, &size, path, max_bytes, err))
        return false;
    char *text = arena_alloc(a, size + 1);
    size_t n = fread(text, 1, size, f);
    bool broken = ferror(f) || n != size;
    fclose(f);
    if (broken)
        return fail(err, "%s: could not be read whole", path);
    if (memchr(text, 0, n))
        return fail(err, "%s: is binary (a zero byte at offset %zu), want text", path, strlen(text));
    *out = (char *)utf8_text(text, a);
    if (n_bytes)
        *n_bytes = strlen(*out);
    return true;
}

bool make_folders(const char *path, struct err *err)
{
    char part[4096];
    if (strlen(path) >= sizeof part)
        return fail(err, "%.100s...: path is too long", path);
    strcpy(part, path);
    for (char *p = part + 1; ; p++) {
        char c = *p;
        if (c != '/' && c)
            continue;
        *p = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(err, "%s: cannot be made: %s", part, strerror(errno));
        *p = c;
        if (!c)
            return true;
    }
}

static char *joined(const char *path, const char *suffix)
{
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *text = malloc(n);
    if (!text)
        out_of_memory(n);
    snprintf(text, n, "%s%s", path, suffix);
    return text;
}

static bool is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

bool new_file_open(struct new_file *out, const char *path, struct err *err)
{
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%ld.new", (long)getpid());
    out->path = joined(path, "");
    out->temp_path = joined(path, is_device(path) ? "" : suffix);
    out->f = fopen(out->temp_path, "wb");
    if (out->f)
        return true;
    fail(err, "%s: cannot be written: %s", path, strerror(errno));
    free(out->path);
    free(out->temp_path);
    return false;
}

static void new_file_forget(struct new_file *file)
{
    free(file->path);
    free(file->temp_path);
    *file = (struct new_file){0};
}

bool new_file_save(struct new_file *file, struct err *err)
{
    bool good = !ferror(file->f);
    good = fclose(file->f) == 0 && good;
    bool renames = !text_is(file->temp_path, file->path);
    good = good && (!renames || rename(file->temp_path, file->path) == 0);
    if (!good)
        fail(err, "%s: could not be written whole: %s", file->path, strerror(errno));
    if (!good && renames)
        unlink(file->temp_path);
    new_file_forget(file);
    return good;
}

void new_file_drop(struct new_file *file)
{
    if (!file->f)
        return;
    fclose(file->f);
    if (!text_is(file->temp_path, file->path))
        unlink(file->temp_path);
    new_file_forget(file);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *path_beside(const char *file, const char *path, struct arena *a)
{
    const char *slash = strrchr(file, '/');
    const char *beside = arena_printf(a, "%.*s%s", slash ? (int)(slash - file) + 1 : 0, file, path);
    struct stat st;
    return *path != '/' && stat(beside, &st) == 0 && S_ISREG(st.st_mode) ? beside : path;
}

bool list_folder(char ***names, size_t *n, const char *path, const char *suffix, struct arena *a, struct err *err)
{
    DIR *d = opendir(path);
    if (!d)
        return fail(err, "%s: %s", path, strerror(errno));
    size_t cap = 0, end = strlen(suffix);
    char **found = NULL;
    *n = 0;
    for (struct dirent *e; (e = readdir(d)); ) {
        size_t length = strlen(e->d_name);
        if (e->d_name[0] == '.' || length <= end || !text_is(e->d_name + length - end, suffix))
            continue;
        found = arena_grow(a, found, *n, &cap, sizeof *found);
        found[*n] = arena_strdup(a, e->d_name);
        found[(*n)++][length - end] = 0;
    }
    closedir(d);
    if (*n)
        qsort(found, *n, sizeof *found, compare_names);
    *names = found;
    return true;
}
