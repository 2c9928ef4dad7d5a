/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.c - an ONNX file's bytes as protobuf messages in the arena.
 *
 * Weights may be missing, or lie in another file, which is never read: only shapes count.
 */
#include "workloads/onnx/model.h"
#include <inttypes.h>

enum { MAX_FILE_BYTES = INT32_MAX };        /* what protobuf can hold */

static void *arena_for_protobuf(void *arena, size_t n_bytes)
{
    return arena_alloc(arena, n_bytes);
}

static void keep_until_the_arena_goes(void *arena, void *data)
{
    (void)arena;
    (void)data;
}

static ProtobufCAllocator allocator_in(struct arena *a)
{
    return (ProtobufCAllocator){ arena_for_protobuf, keep_until_the_arena_goes, a };
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

const Onnx__ModelProto *onnx_unpack_model(const char *path, bool contents, struct arena *a, struct err *err)
{
    struct arena raw = { 0 };
    uint8_t *bytes = NULL;
    size_t n = 0;
    const Onnx__ModelProto *model = NULL;
    ProtobufCAllocator allocator = allocator_in(a);
    if (read_bytes(&bytes, &n, path, contents, &raw, err)) {
        model = onnx__model_proto__unpack(&allocator, n, bytes);
        if (!model)
            refuse_bytes(path, n, err);
        else if (!model->graph)
            fail(err, "%s: a model without a graph", path);
    }
    arena_free(&raw);
    return model && model->graph ? model : NULL;
}
