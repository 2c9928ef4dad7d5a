/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numbers.c - the numbers that a tensor of an ONNX file holds, as doubles, whatever their type and field.
 */
#include "workloads/onnx/model.h"
#include <math.h>
#include <string.h>

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
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_BFLOAT16 || type == ONNX_DOUBLE;
}

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = exponent == 0 ? fraction * 0x1p-24
             : exponent == 31 ? (fraction ? NAN : INFINITY) : (1024 + fraction) * 0x1p-25 * (double)(1u << exponent);
    return bits >> 15 ? -x : x;
}

/* The upper half of a float. */
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

/* Which of the fields holds the numbers depends on the type, or they lie as raw bytes. */
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
