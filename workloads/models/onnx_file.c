/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * onnx_file.c - a workload that is a file: the options of a recipe as those of the reader.
 */
#include "workloads/models/onnx_file.h"
#include "workloads/models/builders.h"
#include <string.h>

/* "tokens=128,frames=1220,sampling_rate=16000" */
static bool read_dimensions(struct onnx_options *out, const char *text, struct arena *a, struct err *err)
{
    size_t at = 0;
    struct onnx_dimension *all = ARENA_ARRAY(a, struct onnx_dimension, text ? strlen(text) : 0);        /* each takes a character or more */
    for (char *item = text ? arena_strdup(a, text) : NULL, *next; item && *item; item = next) {
        next = item + strcspn(item, ",");
        if (*next)
            *next++ = '\0';
        char *equals = strrchr(item, '=');
        if (!equals)
            return fail(err, "data.%.60s: want NAME=SIZE", item);
        *equals = '\0';
        if (!parse_u64(equals + 1, &all[at].size) || all[at].size > 1u << 24)
            return fail(err, "data.%.60s: '%.40s' is not a size or a number; want a whole number from 0 to 16777216", item, equals + 1);
        all[at++].name = item;
    }
    out->dimensions = all;
    out->n_dimensions = at;
    return true;
}

bool onnx_file_import(struct graph *g, struct onnx_import *import, const struct model_options *o, struct arena *a, struct err *err)
{
    struct onnx_options reader = {
        .batch = o->micro_batch, .inference = o->inference, .byte_images = o->input_type == INPUT_UINT8, .approximate = o->approximate, .output = o->output,
        .batch_norm_span = (uint32_t)o->batch_norm_span, .type = o->compute == COMPUTE_FP32 ? TYPE_FP32 : TYPE_FP16,
    };
    if (o->compute == COMPUTE_FP8)
        return fail(err, "%s: precision.compute: fp8 for an ONNX file is not modelled; want fp16 or fp32", o->where);
    return read_dimensions(&reader, o->dimensions, a, err) && onnx_build(g, import, o->file, &reader, a, err);
}

bool onnx_file_build(struct graph *g, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    struct onnx_import import;
    if (!o->file)
        return fail(err, "%s: no file is given", w->name);
    return onnx_file_import(g, &import, o, a, err);
}
