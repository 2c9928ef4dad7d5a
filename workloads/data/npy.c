/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * npy.c - NumPy's files of one array, in C order: little-endian float or 32-bit integer (numpy.lib.format, versions 1 and 2).
 */
#include "workloads/data/data_internal.h"
#include <errno.h>

static uint64_t little(const uint8_t *b, int n)
{
    uint64_t x = 0;
    while (n-- > 0)
        x = x << 8 | b[n];
    return x;
}

/* The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), } */
static bool read_shape(struct data_rows *out, const char *header, struct err *err)
{
    const char *shape = strstr(header, "'shape': (");
    if (!shape || !strstr(header, "'fortran_order': False"))
        return fail(err, "%s: has no shape in C order; save it by numpy.save(numpy.ascontiguousarray(x))", out->path);
    for (char *at = (char *)shape + strlen("'shape': ("); *at && *at != ')'; ) {
        char *end;
        uint64_t dim = strtoull(at, &end, 10);
        if (end == at || out->n_dims == MAX_DIMS || dim == 0)
            return fail(err, "%s: its shape must have 1 to %d dimensions, each above 0", out->path, MAX_DIMS);
        out->dims[out->n_dims++] = dim;
        at = end + strspn(end, ", ");
    }
    return out->n_dims > 0 || fail(err, "%s: holds one number, and no rows", out->path);
}

static bool read_npy_elements(struct data_rows *out, FILE *f, uint64_t n_left, const struct data_source *s)
{
    out->row_elements = 1;
    for (uint32_t i = 1; i < out->n_dims; i++)
        out->row_elements = out->row_elements <= UINT32_MAX / out->dims[i] ? out->row_elements * out->dims[i] : 0;
    out->n = out->dims[0];
    if (out->row_elements == 0 || out->n > UINT64_MAX / 4 / out->row_elements || out->n * out->row_elements * 4 != n_left)
        return fail(s->err, "%s: is torn: its shape is not that of the %ju bytes that follow; write it again", out->path, (uintmax_t)n_left);
    float *x = ARENA_ROOM(s->a, float, out->n * out->row_elements);
    if (fread(x, 4, out->n * out->row_elements, f) != out->n * out->row_elements)
        return fail(s->err, "%s: cannot be read to its end", out->path);
    if (out->counts)
        out->counts = (const int32_t *)(const void *)x;
    else
        out->floats = x;
    return true;
}

static bool read_npy(struct data_rows *out, FILE *f, size_t n_bytes, const struct data_source *s)
{
    uint8_t start[12];
    static const int32_t whole;
    if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 2)
        return fail(s->err, "%s: does not begin as a file of numpy.save", out->path);
    bool long_header = start[6] == 2 && fread(start + 10, 1, 2, f) == 2;
    uint64_t n_header = little(start + 8, long_header ? 4 : 2), before = n_header + (long_header ? 12 : 10);
    char *header = before <= n_bytes ? ARENA_ARRAY(s->a, char, n_header + 1) : NULL;
    if (!header || fread(header, 1, n_header, f) != n_header)
        return fail(s->err, "%s: ends within its header; write it again", out->path);
    if (!strstr(header, "'descr': '<f4'") && !strstr(header, "'descr': '<i4'"))
        return fail(s->err, "%s: is neither of float32 nor of int32; save it by numpy.save(x.astype('f4'))", out->path);
    out->counts = strstr(header, "'<i4'") ? &whole : NULL;
    return read_shape(out, header, s->err) && read_npy_elements(out, f, n_bytes - before, s);
}

bool rows_read_npy(struct data_rows *out, const char *path, const struct data_source *s)
{
    size_t n_bytes;
    *out = (struct data_rows){ .path = path };
    FILE *f = open_regular(&n_bytes, path, NULL);
    if (!f)
        return data_missing(path, "'make build/data/digits' speaks and writes such files, with Debian's espeak-ng and python3-numpy", s->err);
    bool good = read_npy(out, f, n_bytes, s);
    fclose(f);
    return good;
}
