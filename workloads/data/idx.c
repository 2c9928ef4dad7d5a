/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idx.c - IDX files of bytes: two zeros, the type 8, the number of dimensions, each dimension as four bytes, the highest first, then the elements.
 *
 * zlib reads them whether they are compressed or not.
 */
#include "workloads/data/data_internal.h"
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { IDX_BYTES = 8, MOST_IDX_BYTES = INT32_MAX };

static bool read_dims(struct data_rows *out, gzFile f, struct err *err)
{
    uint8_t head[4], d[4];
    if (gzread(f, head, 4) != 4 || head[0] || head[1])
        return fail(err, "%s: does not begin as an IDX file", out->path);
    if (head[2] != IDX_BYTES || head[3] < 1 || head[3] > 4)
        return fail(err, "%s: has elements of type %d in %d dimensions; want bytes (8) in 1 to 4", out->path, head[2], head[3]);
    out->n_dims = head[3];
    for (uint32_t i = 0; i < out->n_dims; i++) {
        if (gzread(f, d, 4) != 4)
            return fail(err, "%s: ends within its dimensions; fetch it again", out->path);
        out->dims[i] = (uint64_t)d[0] << 24 | (uint64_t)d[1] << 16 | (uint64_t)d[2] << 8 | d[3];
    }
    return true;
}

/* The length that a file has when it is unpacked. An archive states it in its last four bytes, as the remainder by 2^32 (RFC 1952). */
static bool says_length(uint64_t *out, const char *path)
{
    uint8_t first[2], last[4];
    size_t n;
    FILE *f = open_regular(&n, path, NULL);
    bool good = f && fread(first, 1, 2, f) == 2 && fseek(f, -4, SEEK_END) == 0 && fread(last, 1, 4, f) == 4;
    bool is_archive = good && first[0] == 0x1f && first[1] == 0x8b;
    *out = !good ? 0 : is_archive ? (uint64_t)last[3] << 24 | (uint64_t)last[2] << 16 | (uint64_t)last[1] << 8 | last[0] : n;
    if (f)
        fclose(f);
    return good;
}

static bool read_idx_bytes(struct data_rows *out, gzFile f, const struct data_source *s)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < out->n_dims; i++)
        n = out->dims[i] && n <= MOST_IDX_BYTES / out->dims[i] ? n * out->dims[i] : 0;
    if (n == 0)
        return fail(s->err, "%s: has a dimension of 0, or more than %d bytes", out->path, MOST_IDX_BYTES);
    uint64_t head = 4 + 4 * (uint64_t)out->n_dims, length;
    if (!says_length(&length, out->path) || length != head + n)     /* the length is checked before memory for the contents is taken */
        return fail(s->err, "%s: is torn: it promises %ju bytes, and has %s; fetch it again", out->path, (uintmax_t)n, length < head + n ? "fewer" : "more");
    uint8_t *bytes = ARENA_ROOM(s->a, uint8_t, n);
    int got = gzread(f, bytes, (unsigned)n), next = gzgetc(f), problem;
    gzerror(f, &problem);
    if (got != (int)n || next != -1 || problem < 0)
        return fail(s->err, "%s: is torn: it promises %ju bytes, and has %s; fetch it again", out->path, (uintmax_t)n,
                    problem < 0 ? "an archive that cannot be unpacked to its end" : got < (int)n ? "fewer" : "more");
    out->n = out->dims[0];
    out->row_elements = n / out->n;
    out->bytes = bytes;
    return true;
}

bool rows_read_idx(struct data_rows *out, const char *path, const struct data_source *s)
{
    const char *packed = arena_printf(s->a, "%s.gz", path);
    *out = (struct data_rows){ .path = access(path, F_OK) == 0 ? path : packed };
    FILE *there = open_regular(NULL, out->path, NULL);
    if (!there)
        return data_missing(packed, "Debian's dataset-fashion-mnist has such files: apt-get install dataset-fashion-mnist", s->err);
    fclose(there);
    gzFile f = gzopen(out->path, "rbe");
    bool good = f ? read_dims(out, f, s->err) && read_idx_bytes(out, f, s) : fail(s->err, "%s: cannot be opened", out->path);
    if (f)
        gzclose(f);
    return good;
}
