/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - an ONNX file's bytes as protobuf messages in the arena, and the numbers that its tensors hold.
 *
 * Only shapes count unless the contents are asked for, so the numbers of large tensors are skipped, which may be
 * hundreds of megabytes, in the file or in others that it names (external data: a location in the model's folder, an offset, a length).
 * A missing file of weights is no error until contents are asked for. Protobuf's format is a sequence of fields: a tag
 * (number and wire type), then a varint, 4 or 8 bytes, or a length and as many bytes. Messages that may hold tensors
 * are entered; a length that shrinks is written in five bytes.
 */
#include "workloads/onnx/onnx_model.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_BYTES = 10 * MOST_KNOWN, LENGTH_BYTES = 5 };
enum message { MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR, FUNCTION, OTHER };
enum wire { WIRE_NUMBER, WIRE_8_BYTES, WIRE_BYTES, WIRE_4_BYTES = 5 };     /* low three bits of a tag */

static const struct inner { enum message of; uint64_t field; enum message is; } inners[] = {
    { MODEL, 7, GRAPH }, { MODEL, 25, FUNCTION }, { GRAPH, 1, NODE }, { GRAPH, 5, TENSOR }, { FUNCTION, 7, NODE }, { NODE, 5, ATTRIBUTE },
    { ATTRIBUTE, 5, TENSOR },
};

struct skim { FILE *f; struct arena *a; uint8_t *out; size_t n, room; };

static uint8_t *skim_reserve(struct skim *s, size_t more)
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

static bool skim_copy(struct skim *s, uint64_t n, uint64_t *left)
{
    if (n > *left || fread(skim_reserve(s, n), 1, n, s->f) != n)
        return false;
    *left -= n;
    return true;
}

static bool skim_over(struct skim *s, uint64_t n, uint64_t *left)
{
    if (n > *left || fseeko(s->f, (off_t)n, SEEK_CUR) != 0)
        return false;
    *left -= n;
    return true;
}

/* Varint: seven bits a byte, the lowest first. */
static bool skim_number(struct skim *s, uint64_t *x, uint64_t *left)
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

static void skim_write(struct skim *s, uint64_t x)
{
    for (; x > 127; x >>= 7)
        *skim_reserve(s, 1) = (uint8_t)(x & 127) | 128;
    *skim_reserve(s, 1) = (uint8_t)x;
}

/* A varint padded to LENGTH_BYTES: the high bit of each byte but the last announces another. */
static void skim_write_length(uint8_t *at, uint64_t x)
{
    for (int i = 0; i < LENGTH_BYTES; i++, x >>= 7)
        at[i] = (uint8_t)(x & 127) | (i + 1 < LENGTH_BYTES ? 128 : 0);
}

static enum message inner_message(enum message of, uint64_t field)
{
    for (size_t i = 0; i < sizeof inners / sizeof *inners; i++)
        if (inners[i].of == of && inners[i].field == field)
            return inners[i].is;
    return OTHER;
}

/* The fields of TensorProto that hold numbers: float, int32, int64, raw, double, uint64. */
static bool holds_numbers(uint64_t field)
{
    return field == 4 || field == 5 || field == 7 || field == 9 || field == 10 || field == 11;
}

static bool skim_message(struct skim *s, enum message is, uint64_t left);

static bool skim_bytes(struct skim *s, enum message of, uint64_t tag, uint64_t *left)
{
    uint64_t n;
    enum message is = inner_message(of, tag >> 3);
    if (!skim_number(s, &n, left) || n > *left)
        return false;
    if (of == TENSOR && holds_numbers(tag >> 3) && n > MOST_BYTES)
        return skim_over(s, n, left);
    skim_write(s, tag);
    if (is == OTHER) {
        skim_write(s, n);
        return skim_copy(s, n, left);
    }
    size_t at = s->n + LENGTH_BYTES;
    skim_reserve(s, LENGTH_BYTES);
    if (!skim_message(s, is, n))
        return false;
    skim_write_length(s->out + at - LENGTH_BYTES, s->n - at);
    *left -= n;
    return true;
}

static bool skim_message(struct skim *s, enum message is, uint64_t left)
{
    uint64_t tag, x;
    bool good = true;
    while (good && left > 0) {
        good = skim_number(s, &tag, &left);
        if (good && (tag & 7) == WIRE_BYTES) {
            good = skim_bytes(s, is, tag, &left);
            continue;
        }
        if (good)
            skim_write(s, tag);
        if (good && (tag & 7) == WIRE_NUMBER) {
            good = skim_number(s, &x, &left);
            skim_write(s, x);
        } else if (good) {
            good = ((tag & 7) == WIRE_8_BYTES && skim_copy(s, 8, &left)) || ((tag & 7) == WIRE_4_BYTES && skim_copy(s, 4, &left));
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

/* ---- messages ------------------------------------------------------------------------------------ */

enum { MAX_FILE_BYTES = INT32_MAX };        /* protobuf's own limit */

static void *protobuf_alloc(void *arena, size_t n_bytes) { return arena_alloc(arena, n_bytes); }

static void protobuf_free_nothing(void *arena, void *data)
{
    (void)arena;
    (void)data;
}

static ProtobufCAllocator allocator_in(struct arena *a)
{
    return (ProtobufCAllocator){ protobuf_alloc, protobuf_free_nothing, a };
}

const Onnx__GraphProto *onnx_unpack_graph(const ProtobufCBinaryData *bytes, struct arena *a)
{
    ProtobufCAllocator allocator = allocator_in(a);
    return onnx__graph_proto__unpack(&allocator, bytes->len, bytes->data);
}

static bool refuse_bytes(const char *path, uint64_t n, struct err *err)
{
    return fail(err, "%s: not an ONNX file: its %" PRIu64 " bytes are not a model in protobuf's format", path, n);
}

static bool read_all(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a)
{
    *n = file_bytes;
    *bytes = arena_alloc(a, *n + 1);
    return fread(*bytes, 1, *n, f) == *n;
}

static bool read_bytes(uint8_t **bytes, size_t *n, const char *path, bool contents, struct arena *a, struct err *err)
{
    size_t size;
    struct err why;
    FILE *f = open_regular(&size, path, &why);
    if (!f)
        return fail(err, "%s; give the path of an ONNX file", why.msg);
    bool good = size <= MAX_FILE_BYTES || fail(err, "%s: %zu bytes, at most %d; export with external data: weights are not read", path, size,
                                               MAX_FILE_BYTES);
    if (good && !(contents ? read_all : onnx_skim)(bytes, n, f, size, a))
        good = contents || ferror(f) ? fail(err, "%s: cannot be read to its end", path) : refuse_bytes(path, size, err);
    fclose(f);
    return good;
}

/* ---- external data: numbers in another file ----------------------------------------------------------- */

struct external { const char *location; uint64_t offset, length; };

static bool read_external(struct external *out, const Onnx__TensorProto *t)
{
    *out = (struct external){ 0 };
    bool good = true;
    for (size_t i = 0; i < t->n_external_data; i++) {
        const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
        if (text_is(key, "location"))
            out->location = value;
        else if (text_is(key, "offset"))
            good &= parse_u64(value, &out->offset);
        else if (text_is(key, "length"))
            good &= parse_u64(value, &out->length);
    }
    /* a file outside the model's folder is never read */
    return good && out->location && *out->location != '/' && !strstr(out->location, "..") && out->offset < INT64_MAX;
}

/* Reads the numbers of a tensor from its file, if it is small or contents are wanted. Numbers that cannot be read stay unknown. */
static void fetch_numbers(Onnx__TensorProto *t, const char *path, bool contents, struct arena *a)
{
    struct external e;
    struct err none = { "" };
    size_t size;
    if (t->data_location != 1 || !read_external(&e, t) || (!contents && e.length > MOST_BYTES) || e.length > MAX_FILE_BYTES)
        return;
    FILE *f = open_regular(&size, arena_printf(a, "%.*s%s", (int)(path_name(path) - path), path, e.location), &none);
    if (!f)
        return;
    uint8_t *bytes = e.offset <= size && e.length <= size - e.offset ? arena_alloc(a, e.length + 1) : NULL;
    if (bytes && fseeko(f, (off_t)e.offset, SEEK_SET) == 0 && fread(bytes, 1, e.length, f) == e.length) {
        t->has_raw_data = true;
        t->raw_data = (ProtobufCBinaryData){ e.length, bytes };
    }
    fclose(f);
}

const Onnx__ModelProto *onnx_unpack_model(const char *path, bool contents, struct arena *a, struct err *err)
{
    struct arena raw = { 0 };
    uint8_t *bytes = NULL;
    size_t n = 0;
    Onnx__ModelProto *model = NULL;
    ProtobufCAllocator allocator = allocator_in(a);
    if (read_bytes(&bytes, &n, path, contents, &raw, err)) {
        model = onnx__model_proto__unpack(&allocator, n, bytes);
        if (!model)
            refuse_bytes(path, n, err);
        else if (!model->graph)
            fail(err, "%s: the model has no graph", path);
    }
    for (size_t i = 0; model && model->graph && i < model->graph->n_initializer; i++)
        fetch_numbers(model->graph->initializer[i], path, contents, a);
    arena_free(&raw);
    return model && model->graph ? model : NULL;
}

/* ---- numbers of a tensor, as doubles whatever their type ---------------------------------------------- */

static size_t number_bytes(int type)
{
    switch (type) {
    case ONNX_FLOAT: case ONNX_INT32: case ONNX_UINT32: return 4;
    case ONNX_DOUBLE: case ONNX_INT64: case ONNX_UINT64: return 8;
    case ONNX_FLOAT16: case ONNX_BFLOAT16: case ONNX_INT16: case ONNX_UINT16: return 2;
    case ONNX_UINT8: case ONNX_INT8: case ONNX_BOOL: return 1;
    default: return 0;
    }
}

bool onnx_is_whole(int type)
{
    return number_bytes(type) && type != ONNX_FLOAT && type != ONNX_DOUBLE && type != ONNX_FLOAT16 && type != ONNX_BFLOAT16 && type != ONNX_BOOL;
}

bool onnx_is_float(int type)
{
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_BFLOAT16 || type == ONNX_DOUBLE || (type >= ONNX_FLOAT8_FIRST && type <= ONNX_FLOAT8_LAST);
}

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = exponent == 0 ? fraction * 0x1p-24
             : exponent == 31 ? (fraction ? NAN : INFINITY) : (1024 + fraction) * 0x1p-25 * (double)(1u << exponent);
    return bits >> 15 ? -x : x;
}

/* bfloat16: the upper half of a float. */
static double brain_float(uint16_t bits)
{
    uint32_t whole = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &whole, sizeof x);
    return (double)x;
}

static double raw_number(const uint8_t *p, int type)
{
    union { float f; double d; uint16_t h; int16_t s; int32_t i; uint32_t u; int64_t l; uint64_t v; } x;
    memcpy(&x, p, number_bytes(type));
    switch (type) {
    case ONNX_FLOAT: return (double)x.f;
    case ONNX_DOUBLE: return x.d;
    case ONNX_INT16: return x.s;
    case ONNX_UINT16: return x.h;
    case ONNX_INT32: return x.i;
    case ONNX_UINT32: return x.u;
    case ONNX_INT64: return (double)x.l;
    case ONNX_UINT64: return (double)x.v;
    case ONNX_FLOAT16: return half(x.h);
    case ONNX_BFLOAT16: return brain_float(x.h);
    case ONNX_INT8: return (int8_t)*p;
    default: return *p;
    }
}

/* The numbers are raw bytes, or in the field that their type selects. */
static bool number_at(double *out, const Onnx__TensorProto *t, size_t i)
{
    size_t size = number_bytes(t->data_type);
    if (t->has_raw_data && size && t->raw_data.len >= (i + 1) * size)
        *out = raw_number(t->raw_data.data + i * size, t->data_type);
    else if (i < t->n_float_data)
        *out = (double)t->float_data[i];
    else if (i < t->n_int64_data)
        *out = (double)t->int64_data[i];
    else if (i < t->n_int32_data)
        *out = t->data_type == ONNX_FLOAT16 ? half((uint16_t)t->int32_data[i])
             : t->data_type == ONNX_BFLOAT16 ? brain_float((uint16_t)t->int32_data[i]) : t->int32_data[i];
    else if (i < t->n_double_data)
        *out = t->double_data[i];
    else if (i < t->n_uint64_data)
        *out = (double)t->uint64_data[i];
    else
        return false;
    return true;
}

double *onnx_tensor_contents(const Onnx__TensorProto *t, uint64_t most, struct arena *a)
{
    uint64_t n = 1;
    double x;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 0 || (t->dims[i] && n > most / (uint64_t)t->dims[i]))
            return NULL;
        n *= (uint64_t)t->dims[i];
    }
    if (n > most || (n && !number_at(&x, t, n - 1)))
        return NULL;
    double *out = ARENA_ARRAY(a, double, n);
    for (uint64_t i = 0; i < n; i++)
        if (!number_at(&out[i], t, i))
            return NULL;
    return out;
}
