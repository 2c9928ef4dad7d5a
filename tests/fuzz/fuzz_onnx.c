/* fuzz_onnx.c - any bytes as an ONNX file, for training and inference, refused or priced roughly: a graph, or a message. */
#include "tests/fuzz/fuzz.h"
#include "workloads/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    struct arena a = {0};
    struct err err = { "" };
    struct graph g;
    struct onnx_import import;
    struct onnx_options o = { .batch = 1 + (data[0] & 3), .inference = data[0] & 4, .byte_images = data[0] & 8, .approximate = data[0] & 16 };
    const char *path = fuzz_file(data + 1, n - 1, ".onnx");
    if (!onnx_build(&g, &import, path, &o, &a, &err) && !*err.msg)
        abort();
    unlink(path);
    arena_free(&a);
    return 0;
}
