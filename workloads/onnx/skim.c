/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skim.c - an ONNX file without the numbers of its large tensors, of which the sizes alone count: hundreds of megabytes are passed over.
 *
 * Protobuf's format is a row of fields: a tag (number and kind), then a number, 4 or 8 bytes, or a length and so many bytes. Messages that
 * may hold tensors are entered; the numbers in a tensor are left out where they are many. A length that shrinks is written in five bytes.
 */
#include "workloads/onnx/model.h"
#include <string.h>

enum { MOST_BYTES = 10 * MOST_KNOWN, LENGTH_BYTES = 5 };
enum message { MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, FUNCTION, OTHER };
enum wire { WIRE_NUMBER, WIRE_8_BYTES, WIRE_BYTES, WIRE_4_BYTES = 5 };     /* the last three bits of a tag */

static const struct inner { enum message of; uint64_t field; enum message is; } inners[] = {
    { MODEL, 7, GRAPH }, { MODEL, 25, FUNCTION }, { GRAPH, 1, NODE }, { GRAPH, 5, TENSOR }, { FUNCTION, 7, NODE }, { NODE, 5, ATTRIBUTE },
    { ATTRIBUTE, 5, TENSOR },
};

struct skim { FILE *f; struct arena *a; uint8_t *out; size_t n, room; };

static uint8_t *place(struct skim *s, size_t more)
{
    if (s->n + more > s->room) {
        s->room = 2 * (s->n + more);
        uint8_t *wider = arena_alloc(s->a, s->room);
        if (s->n)
            memcpy(wider, s->out, s->n);
        s->out = wider;
    }
    s->n += more;
    return s->out + s->n - more;
}

static bool copy(struct skim *s, uint64_t n, uint64_t *left)
{
    if (n > *left || fread(place(s, n), 1, n, s->f) != n)
        return false;
    *left -= n;
    return true;
}

static bool pass_over(struct skim *s, uint64_t n, uint64_t *left)
{
    if (n > *left || fseeko(s->f, (off_t)n, SEEK_CUR) != 0)
        return false;
    *left -= n;
    return true;
}

/* Seven bits a byte, the lowest first. */
static bool read_number(struct skim *s, uint64_t *x, uint64_t *left)
{
    *x = 0;
    for (unsigned shift = 0; shift < 64 && *left > 0; shift += 7) {
        int byte = getc(s->f);
        if (byte == EOF)
            return false;
        --*left;
        *x |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static void write_number(struct skim *s, uint64_t x)
{
    for (; x > 127; x >>= 7)
        *place(s, 1) = (uint8_t)(x & 127) | 128;
    *place(s, 1) = (uint8_t)x;
}

/* All of its bytes say that another follows, but the last. */
static void write_length(uint8_t *at, uint64_t x)
{
    for (int i = 0; i < LENGTH_BYTES; i++, x >>= 7)
        at[i] = (uint8_t)(x & 127) | (i + 1 < LENGTH_BYTES ? 128 : 0);
}

static enum message entered(enum message of, uint64_t field)
{
    for (size_t i = 0; i < sizeof inners / sizeof *inners; i++)
        if (inners[i].of == of && inners[i].field == field)
            return inners[i].is;
    return OTHER;
}

/* Of a tensor: floats, integers of both sizes, raw bytes, doubles, unsigned ones. */
static bool holds_numbers(uint64_t field)
{
    return field == 4 || field == 5 || field == 7 || field == 9 || field == 10 || field == 11;
}

static bool skim_message(struct skim *s, enum message is, uint64_t left);

static bool skim_bytes(struct skim *s, enum message of, uint64_t tag, uint64_t *left)
{
    uint64_t n;
    enum message is = entered(of, tag >> 3);
    if (!read_number(s, &n, left) || n > *left)
        return false;
    if (of == TENSOR && holds_numbers(tag >> 3) && n > MOST_BYTES)
        return pass_over(s, n, left);
    write_number(s, tag);
    if (is == OTHER) {
        write_number(s, n);
        return copy(s, n, left);
    }
    size_t at = s->n + LENGTH_BYTES;
    place(s, LENGTH_BYTES);
    if (!skim_message(s, is, n))
        return false;
    write_length(s->out + at - LENGTH_BYTES, s->n - at);
    *left -= n;
    return true;
}

static bool skim_message(struct skim *s, enum message is, uint64_t left)
{
    uint64_t tag, x;
    bool good = true;
    while (good && left > 0) {
        good = read_number(s, &tag, &left);
        if (good && (tag & 7) == WIRE_BYTES) {
            good = skim_bytes(s, is, tag, &left);
            continue;
        }
        if (good)
            write_number(s, tag);
        if (good && (tag & 7) == WIRE_NUMBER) {
            good = read_number(s, &x, &left);
            write_number(s, x);
        } else if (good) {
            good = ((tag & 7) == WIRE_8_BYTES && copy(s, 8, &left)) || ((tag & 7) == WIRE_4_BYTES && copy(s, 4, &left));
        }
    }
    return good;
}

bool onnx_skim(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a)
{
    struct skim s = { .f = f, .a = a };
    bool good = skim_message(&s, MODEL, file_bytes);
    *bytes = s.out;
    *n = s.n;
    return good;
}
