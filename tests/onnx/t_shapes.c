/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_shapes.c - shapes of the results of single operators, by hand, in tables (onnx/docs/Operators.md). */
#include "tests/onnx/shape_rows.h"

static void windows(void **state)
{
    static const struct row rows[] = {
        { "Conv", "2,4,9,7 w6,2,3,2", "group=2", "2x6x7x6" },
        { "Conv", "2,4,9,7 w6,4,3,2", "strides=2,3 pads=1,0,2,3", "2x6x5x3" },          /* (9+3-3)/2+1, (7+3-2)/3+1 */
        { "Conv", "2,4,9,7 w6,4,3,2", "dilations=3,2", "2x6x3x5" },                     /* 9-7+1, 7-3+1 */
        { "Conv", "2,4,9,7 w6,4,3,2", "strides=2,3 auto_pad=SAME_UPPER", "2x6x5x3" },
        { "Conv", "2,4,11 w6,4,3", "strides=3", "2x6x3" },
        { "Conv", "2,4,9,7 w6,3,3,2", "", "1 groups of 3 channels on an input of 4" },
        { "Conv", "2,4,9,7 w5,2,3,2", "group=2", "2 groups of 2 channels on an input of 4" },
        { "Conv", "2,4,9,7 w6,2,3,2", "group=0", "0 groups of 2 channels on an input of 4" },
        { "Conv", "?2,0,9,7 w6,2,3,2", "group=0", "0 groups of 2 channels on an input of 0" },
        { "Conv", "2,4 w6,4", "", "its input has 2 dimensions; want 3 to 5" }, { "ConvTranspose", "2,4 w4,6", "", "its input has 2 dimensions; want 3 to 5" },
        { "Conv", "2 w6", "", "its input has 1 dimensions; want 3 to 5" }, { "ConvTranspose", "2 w6", "", "its kernel does not fit its input of 0 channels" },
        { "Conv", "2,4,9,7 w6,4,3", "", "its kernel has 3 dimensions and its input 4" },
        { "Conv", "2,4,9,7 w6,4,3,8", "", "a window of 8 on 7 elements" },
        { "Conv", "2,4,9,7 w6,4,9,7", "", "2x6x1x1" },
        { "MaxPool", "2,4,9,7", "kernel_shape=3,2 strides=2,2", "2x4x4x3" },
        { "MaxPool", "2,4,9,8", "kernel_shape=2,3 strides=2,2 ceil_mode=1", "2x4x5x4" },     /* 7/2 up + 1, 5/2 up + 1 */
        { "AveragePool", "2,4,5,5", "kernel_shape=1,1 strides=3,3 pads=0,0,2,2 ceil_mode=1", "2x4x2x2" },   /* no window starts past the end */
        { "AveragePool", "2,4,6,6", "kernel_shape=1,1 strides=3,3 pads=0,0,1,1 ceil_mode=1", "2x4x2x2" },   /* nor right at the end */
        { "AveragePool", "2,4,6,6", "kernel_shape=1,1 strides=3,3 pads=1,1,1,1 ceil_mode=1", "2x4x3x3" },   /* starts 0, 3, 6 of one zero and six */
        { "MaxPool", "2,4,5,4", "kernel_shape=3,2 strides=2,3 pads=1,1,0,1 ceil_mode=1", "2x4x3x2" },       /* from -1, 1, 3 of five; -1, 2 and not 5 of four */
        { "MaxPool", "2,4,4,9", "kernel_shape=2,3 strides=2,4 pads=1,2,1,2 ceil_mode=1", "2x4x3x3" },       /* -1, 1, 3 of four; -2, 2, 6 and not 10 of nine */
        { "AveragePool", "2,4,8", "kernel_shape=2 strides=3 pads=2,0 ceil_mode=1", "2x4x4" },               /* -2, 1, 4, 7: the last one of eight, and one beyond */
        { "AveragePool", "2,4,3,7", "kernel_shape=2,3 strides=1,2 pads=1,2,1,2 dilations=2,1", "2x4x3x5" }, /* whole windows alone: -1..1; -2, 0, 2, 4, 6 */
        { "MaxPool", "2,4,9,7", "", "kernel_shape is missing" },
        { "MaxPool", "2,4,9,7", "kernel_shape=3,0", "kernel_shape of 0; want 1 to 65535" }, { "MaxPool", "2,4,9,7", "kernel_shape=65536,1", "kernel_shape of 65536; want 1 to 65535" },
        { "Conv", "2,4,9,7 w6,4,3,2", "strides=0,1", "strides of 0; want 1 to 65535" }, { "Conv", "2,4,9,7 w6,4,3,2", "strides=1,65536", "strides of 65536; want 1 to 65535" },
        { "Conv", "2,4,9,7 w6,4,3,2", "strides=65535,65535", "2x6x1x1" },               { "Conv", "2,4,9,7 w6,4,3,2", "dilations=-1,1", "dilations of -1; want 1 to 65535" },
        { "Conv", "2,4,9,7 w6,4,3,2", "pads=0,-1,0,0", "pads of -1; want 0 to 65535" }, { "Conv", "2,4,9,7 w6,4,3,2", "pads=0,0,65536,0", "pads of 65536; want 0 to 65535" },
        { "Conv", "2,4,9,7 w6,4,3,2", "pads=0,0,65535,0", "2x6x65542x6" },
        { "MaxPool", "2,4,9,7,5", "kernel_shape=3,2", "kernel_shape is missing" },
        { "MaxPool", "2,4,9,7,5", "kernel_shape=3,2,1 strides=2,1,3", "2x4x4x6x2" },
        { "MaxPool", "2,4,9,7,5,3", "kernel_shape=3,2", "its input has 6 dimensions; want 3 to 5" },
        { "MaxPool", "2,4", "kernel_shape=3,2", "its input has 2 dimensions; want 3 to 5" },
        { "GlobalAveragePool", "2,4,9,7", "", "2x4x1x1" },
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "strides=2,3", "2x3x11x17" },             /* 4*2+3, 5*3+2 */
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "strides=2,3 group=2 output_padding=1,2 pads=1,0,1,3", "2x6x10x16" },
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "strides=2,3 dilations=2,4", "2x3x13x20" },
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "strides=2,3 output_shape=10,18", "2x3x10x18" },
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "strides=2,3 auto_pad=SAME_LOWER", "2x3x10x17" },
        { "ConvTranspose", "2,4,1,6 w4,3,3,2", "pads=2,0,1,0", "its padding is as large as its result" },
        { "ConvTranspose", "2,4,5,6 w3,4,3,2", "", "its kernel does not fit its input of 4 channels" },
        { "ConvTranspose", "2,4,5,6 w4,3,3,2", "group=3", "its kernel does not fit its input of 4 channels" },
    };
    (void)state;
    CHECK(rows);
}

static void products(void **state)
{
    static const struct row rows[] = {
        { "MatMul", "3,5,4,6 w6,7", "", "3x5x4x7" },        { "MatMul", "3,1,4,6 w5,6,7", "", "3x5x4x7" },
        { "MatMul", "5,4,6 w3,1,6,7", "", "3x5x4x7" },      { "MatMul", "6 w2,6,7", "", "2x7" },
        { "MatMul", "3,4,6 w6", "", "3x4" },                { "MatMul", "3,4,6 w5,7", "", "inner sizes 6 and 5 differ" },
        { "MatMul", "3,4,6 w2,6,7", "", "stacks of 3 and 2 matrices" },
        { "MatMul", "3,4 ='2", "", "a product with a single number" },
        { "Gemm", "3,5 w5,7", "", "3x7" },                  { "Gemm", "3,5 w7,5", "transB=1", "3x7" },
        { "Gemm", "5,3 w5,7", "transA=1", "3x7" },          { "Gemm", "5,3 w7,5", "transA=1 transB=1", "3x7" },
        { "Gemm", "3,5 w7,5", "", "its matrices do not fit each other: inner sizes 5 and 7" },
        { "Gemm", "2,3,5 w5,7", "", "its matrices do not fit each other: inner sizes 3 and 5" },
        { "LSTM 3", "9,3,5 w2,28,5 w2,28,7", "", "9x2x3x7; 2x3x7; 2x3x7" },
        { "GRU 2", "9,3 w2,28,5 w2,28,7", "", "its input has 2 dimensions, want 3" },
    };
    (void)state;
    CHECK(rows);
}

static void elementwise(void **state)
{
    static const struct row rows[] = {
        { "Add", "2,3,1,5 w7,1", "", "2x3x7x5" },           { "Add", "2,3 w4", "", "its inputs have 3 and 4 in one dimension" },
        { "Sum", "2,3,1 w4 w3,4", "", "2x3x4" },            { "Greater", "2,3,1 w4", "", "2x3x4 truth" },
        { "Where", "2,1 w3 =5", "", "2x3" },                { "Where", "2,1 =5 w3", "", "2x3 whole" },
        { "Cast", "2,3", "to=7", "2x3 whole" },             { "Cast", "2,3", "to=8", "makes strings; want numbers" },
        { "CastLike", "2,3 =1", "", "2x3 whole" },          { "Relu", "2,3", "", "2x3" },
        { "IsNaN", "2,3", "", "2x3 truth" },                { "IsInf", "2,3", "", "2x3 truth" },
        { "Sub", "2,3 2,3 2,3", "", "has 3 inputs, want 2" }, { "Equal", "2,3 2,3 2,3", "", "has 3 inputs, want 2" }, { "Max", "2,3 2,1 3", "", "2x3" }, { "Mean", "2,3", "", "2x3" },
        { "IsInf", "2,3", "detect_negative=0", "2x3 truth" },
        { "IsInf", "2,3", "detect_positive=0", "2x3 truth" },
    };
    (void)state;
    CHECK(rows);
}

static void moves(void **state)
{
    static const struct row rows[] = {
        { "Reshape", "2,3,4 =0,-1", "", "2x12" },           { "Reshape", "2,3,4 =-1,6", "", "4x6" },
        { "Reshape", "2,3,4 =4,0,2", "", "4x3x2" },
        { "Reshape", "2,3,4 =5,-1", "", "24 elements do not fit the shape it asks for; was it exported for one batch size? use a symbolic one" },
        { "Reshape", "2,3,4 =4,5", "", "24 elements do not fit the shape it asks for; was it exported for one batch size? use a symbolic one" },
        { "Reshape", "2,3,4 2", "", "its shape is computed while the model runs; export with fixed or symbolic sizes" },
        { "Flatten", "2,3,4", "", "2x12" },                 { "Flatten", "2,3,4", "axis=2", "6x4" },
        { "Flatten", "2,3,4", "axis=3", "24x1" },           { "Flatten", "2,3,4", "axis=0", "1x24" },
        { "Flatten", "2,3,4", "axis=4", "axis is out of range" },
        { "Transpose", "2,3,4", "", "4x3x2" },              { "Transpose", "2,3,4", "perm=1,2,0", "3x4x2" },
        { "Transpose", "2,3,4", "perm=1,2,3", "perm names dimension 3 of 3" },
        { "Transpose", "2,3,4", "perm=1,0", "perm names 2 dimensions of 3" },
        { "Transpose", "2,3,4", "perm=1,2,1", "perm does not name each dimension once" },
        { "Squeeze", "2,1,3,1", "", "2x3" },                { "Squeeze", "2,1,3,1 =-1", "", "2x1x3" },
        { "Squeeze", "2,1,3,1 =0", "", "axis 0 is not of size 1" }, { "Squeeze", "2,1,3 1", "", "its axes are not known" },
        { "Unsqueeze", "2,3 =1,-1", "", "2x1x3x1" },        { "Unsqueeze", "2,3 =4", "", "axis 4 is out of range" },
        { "Unsqueeze", "2,3,4,5,6,7,8 =0,1", "", "its axes are not known, or make more than 8 dimensions" },
        { "Unsqueeze", "2,3,4,5,6,7,8 =0", "", "1x2x3x4x5x6x7x8" },
        { "Expand", "2,3,1 =4", "", "2x3x4" },              { "Expand", "3,1 =2,1,4", "", "2x3x4" },
        { "Expand", "3,4 =5,1,1", "", "5x3x4" },            { "Tile", "2,3 =5,7", "", "10x21" },
        { "Tile", "2,3 =5", "", "its repeats are not known" }, { "Tile", "2,3 =65535,1", "", "131070x3" },
        { "Tile", "2,3 =65536,1", "", "repeats of 65536; want 1 to 65535" }, { "Tile", "2,3 =1,0", "", "repeats of 0; want 1 to 65535" },
        { "DepthToSpace", "2,12,3,5", "blocksize=2", "2x3x6x10" },
        { "DepthToSpace", "2,10,3,5", "blocksize=2", "blocksize does not divide its input" },
        { "SpaceToDepth", "2,3,6,10", "blocksize=2", "2x12x3x5" },
        { "SpaceToDepth", "2,3,6,9", "blocksize=2", "blocksize does not divide its input" },
        { "SpaceToDepth", "2,1,1024,2048", "blocksize=1024", "2x1048576x1x2" },
        { "SpaceToDepth", "2,1,1025,2050", "blocksize=1025", "blocksize does not divide its input" },
        { "SpaceToDepth", "2,3,6,10", "", "blocksize does not divide its input" },
        { "SpaceToDepth", "2,3,6,10", "blocksize=0", "blocksize does not divide its input" }, { "SpaceToDepth", "2,3,6", "blocksize=2", "blocksize does not divide its input" },
        { "SpaceToDepth", "2,3,9,6", "blocksize=2", "blocksize does not divide its input" },
    };
    (void)state;
    CHECK(rows);
}

static void parts(void **state)
{
    static const struct row rows[] = {
        { "Concat", "2,3,4 w2,5,4", "axis=1", "2x8x4" },    { "Concat", "2,3,4 w2,3,6 w2,3,1", "axis=-1", "2x3x11" },
        { "Concat", "2,3,4 w2,5,4", "axis=2", "its inputs i0 and i1 differ in another dimension than 2" },
        { "Concat", "2,3,4 w2,5", "axis=1", "its inputs i0 and i1 differ in another dimension than 1" },
        { "Concat", "2,3,4 w2,5,4", "axis=3", "axis is out of range" },
        { "Split 2", "2,7", "axis=1", "2x4; 2x3" },        { "Split 3", "2,9 =2,3,4", "axis=-1", "2x2; 2x3; 2x4" },
        { "Split 3", "6,5", "", "2x5; 2x5; 2x5" },         { "Split 3", "2,9 =2,3,3", "axis=1", "its parts leave 1 over" },
        { "Split 18", "2,18 =1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,0", "axis=1", "2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x1; 2x2; 2x0" },
        { "Split 3", "2,8", "axis=1", "2x3; 2x3; 2x2" },
        { "Split 2", "2,9", "axis=2", "its axis is out of range, or its sizes are not known, or not as many as its parts" },
        { "Split 3", "2,9 =4,5", "axis=1", "its axis is out of range, or its sizes are not known, or not as many as its parts" },
        { "Split 2", "2,9", "axis=1 split=4,4,1", "its axis is out of range, or its sizes are not known, or not as many as its parts" },
        { "Split 2", "2,9 =-3,12", "axis=1", "its parts are larger than the 9 it splits" }, { "Split 2", "2,9", "axis=1 split=2,7", "2x2; 2x7" },
        { "Split 2", "2,9 2", "axis=1", "its axis is out of range, or its sizes are not known, or not as many as its parts" },
        { "Split 2", "2,9 =2,8", "axis=1", "its parts are larger than the 9 it splits" },
        { "Slice", "2,6 =0 =-9 =1", "", "2x0" },          { "Slice", "2,6 =9 =9 =1", "", "2x0" },
        { "Slice", "2,6 =-1 =-9 =1 =-1", "", "2x6" },       { "Slice", "9,7 =2 =6", "", "4x7" },                { "Slice", "9,7 =1,-5 =9,-1", "", "8x4" },
        { "Slice", "9,7 =1 =100 =1", "", "9x6" },           { "Slice", "9,7 =0 =7 =1 =3", "", "9x3" },
        { "Slice", "9,7 =1 =7 =1 =3", "", "9x2" },          { "Slice", "9,7 =-1 =-100 =0 =-2", "", "5x7" },
        { "Slice", "9,7 =7 =2 =0 =-2", "", "3x7" },         { "Slice", "9,7 =8 =2 =0 =-2", "", "3x7" },
        { "Slice", "9,7 =-100 =3", "", "3x7" },             { "Slice", "9,7 =1 =4 =2", "", "axis or step out of range or given twice, or not one for each of its ranges" },
        { "Slice", "9,7 =1 =4 =0 =0", "", "axis or step out of range or given twice, or not one for each of its ranges" },
        { "Slice", "9,7 =1 =4 =0 =1,2", "", "axis or step out of range or given twice, or not one for each of its ranges" },
        { "Slice", "9,7 =1,2 =4,5 =0", "", "axis or step out of range or given twice, or not one for each of its ranges" },
        { "Slice", "9,7 =1,2 =4,5 =0,-2", "", "axis or step out of range or given twice, or not one for each of its ranges" },
        { "Slice", "9,7 =1 =7 =1 =9223372036854775807", "", "9x1" }, { "Slice", "9,7 =-1 =-100 =0 =-9223372036854775808", "", "1x7" },
        { "Slice", "9,7 =1,2 =4", "", "its range is computed while the model runs" },
        { "Gather", "9,7,5 =1,2,3,4", "axis=1", "9x4x5" },  { "Gather", "9,7 =2x3:1,2,3,4,5,6", "", "2x3x7" },
        { "Gather", "9,7,5 ='1", "axis=-1", "9x7" },        { "Gather", "9,7 =1", "axis=2", "axis is out of range" },
        { "Pad", "1,2,3,4,5,6,7,8", "pads=0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,9", "2x2x3x4x5x6x7x17" },     /* the longest list */
        { "Pad", "1,2,3,4,5,6,7,8", "pads=0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,9,0", "its pads are not known, or not two for each of 8 dimensions" },
        { "Pad", "2,3 =1,2,3,4", "", "6x9" },               { "Pad", "2,3 =0,-1,0,-1", "", "2x1" },
        { "Pad", "2,3 =0,-1,0,-2", "", "its pads leave nothing" },
        { "Pad", "2,3 =0,1,0", "", "its pads are not known, or not two for each of 2 dimensions" },
        { "Pad", "2,3,4 =1,2,3,4 - =2,-2", "", "2x9x8" },   { "Pad", "2,3,4 =1,2,3 - =1,2", "", "its pads are not known, or not two for each of 3 dimensions" },
        { "Pad", "2,3,4 =1,2 - =3", "", "its pads are not known, or not two for each of 3 dimensions" },
        { "Resize", "2,3,4,5 - ~2,0.5", "axes=3,2", "2x3x2x10" }, { "Resize", "2,3,4,5 - ~2,3,1", "axes=3,2", "its scales or sizes are not known" },
        { "Resize", "2,3,4,5 - - =9,7", "axes=3,2", "2x3x7x9" }, { "Resize", "2,3,4,5 - ~3", "axes=-2", "2x3x12x5" },
        { "Resize", "1,1 - - =1,4294967295", "", "1x4294967295" }, { "Resize", "1,1 - - =1,4294967296", "", "makes 4.29497e+09 of dimension 1" },
        { "Resize", "2,3,4,5 - - =9", "axes=4", "axis is out of range" },
        { "Resize", "2,3,4,5 - ~1,1,2,2.5", "", "2x3x8x12" }, { "Resize", "2,3,4,5 - - =2,3,7,9", "", "2x3x7x9" },
        { "Upsample", "2,3,4,5 ~1,1,2,3", "", "2x3x8x15" }, { "Resize", "2,3,4,5 ~1,1,4,3", "", "2x3x16x15" },
        { "Resize", "2,3,4,5 ~1,1,1,7 ~1,1,2,3", "", "2x3x8x15" }, { "Resize", "2,3,4,5 ~1,1,1,7 ~1,1,2,3 =2,3,7,9", "", "2x3x7x9" },
        { "Resize", "2,3,4,5 ~1,1,1,7 -", "", "its scales or sizes are not known" },
        { "Resize", "2,3,4,5 - ~1,1,2", "", "its scales or sizes are not known" },
        { "Resize", "2,3,4,5 - ~1,1,2,0.1", "", "makes 0.500001 of dimension 3" },
        { "ReduceMean", "2,3,4", "axes=1", "2x1x4" },       { "ReduceSum", "2,3,4 =0,-1", "keepdims=0", "3" },
        { "ReduceMax", "2,3,4", "", "1x1x1" },              { "ReduceMax", "2,3,4", "keepdims=0", "one" },
        { "ReduceSum", "2,3,4", "noop_with_empty_axes=1", "2x3x4" },
        { "ReduceSum", "2,3,4 =3", "", "axis 3 is out of range" },
        { "ArgMax", "2,3,4", "axis=1", "2x1x4 whole" },     { "ArgMin", "2,3,4", "axis=-1 keepdims=0", "2x3 whole" },
        { "ArgMax", "2,3,4", "", "1x3x4 whole" },           { "ArgMax", "2,3,4", "axis=3", "axis is out of range" },
    };
    (void)state;
    CHECK(rows);
}

/* Letters of both operands are summed, of one kept; dots are dimensions without letters, and come first without an
 * arrow. */
static void einsums(void **state)
{
#define WANTS ": want one or two operands, with each letter once"
    static const struct row rows[] = {
        { "Einsum", "2,3 3,4", "equation=ab,bc->ac", "2x4" },               { "Einsum", "2,3 3,4", "equation=ab,bc->cab", "4x2x3" },
        { "Einsum", "2,3 3,4", "equation=ab,bc", "2x4" },                   { "Einsum", "2,3 3,4", "equation=ab,bc->", "one" },
        { "Einsum", "2,3", "equation=za", "3x2" },                          { "Einsum", "2,3", "equation=aA", "3x2" },
        { "Einsum", "2,3", "equation=ba", "3x2" },                          { "Einsum", "2,3", "equation=ab->b", "3" },
        { "Einsum", "2,3,4 2,4,5", "equation=...ab,...bc", "2x3x5" },       { "Einsum", "2,3,4 2,4,5", "equation=...ab,...bc->...", "2" },
        { "Einsum", "2,6,3,4 4,5", "equation=...ab,bc->...ca", "2x6x5x3" }, { "Einsum", "2,3,4 5,4", "equation=a...,b...", "3x4x2x5" },
        { "Einsum", "2,3 3", "equation=ab,b->a", "2" },                     { "Einsum", "1,2,3,4,5,6,7,8", "equation=abcdefgh->ha", "8x1" },
        { "Einsum", "1,2,3,4,5,6,7,8", "equation=...->...", "1x2x3x4x5x6x7x8" },
        { "Einsum", "2,3 4,5", "equation=ab,cb->ac", "its operands differ in dimension b" },
        { "Einsum", "2,3,4 3,4,5", "equation=...ab,...bc", "its operands differ in dimension Z" },
        { "Einsum", "2,3,3", "equation=abb->a", "'abb->a'" WANTS },         { "Einsum", "3,2 2,3,3", "equation=ab,bcc->a", "'ab,bcc->a'" WANTS },
        { "Einsum", "2,3 3,4", "equation=ab,bc->ad", "dimension d of the result is in no operand" },
        { "Einsum", "2,3", "equation=ab->ac", "dimension c of the result is in no operand" },
        { "Einsum", "2,3 3,4", "equation=ab->a", "'ab->a'" WANTS },         { "Einsum", "2,3", "equation=ab,bc->ac", "'ab,bc->ac'" WANTS },
        { "Einsum", "2,3 3,4 4,5", "equation=ab,bc->ac", "'ab,bc->ac'" WANTS },
        { "Einsum", "2,3 3,4 4,5", "equation=ab,bc,cd->ad", "'ab,bc,cd->ad'" WANTS }, { "Einsum", "2,2", "equation=aa->a", "'aa->a'" WANTS },
        { "Einsum", "2,3 3,3", "equation=ab,bb->a", "'ab,bb->a'" WANTS },   { "Einsum", "2,3", "equation=abc->a", "'abc->a'" WANTS },
        { "Einsum", "2,3 3,4", "equation=ab,b->a", "'ab,b->a'" WANTS },     { "Einsum", "2,3 3,4", "equation=ab,bcd->a", "'ab,bcd->a'" WANTS },
        { "Einsum", "2,3", "equation=a..->a", "'a..->a'" WANTS },           { "Einsum", "2,3 3,4", "equation=ab,b..->a", "'ab,b..->a'" WANTS },
        { "Einsum", "1,2,3,4,5,6,7,8", "equation=abcdefghi->a", "'abcdefghi->a'" WANTS }, { "Einsum", "2,3", "equation=...abc->a", "'...abc->a'" WANTS },
    };
#undef WANTS
    (void)state;
    CHECK(rows);
}

/* Two factors joined to the sizes of an image, up to eight numbers in all, are known, in any order; factors alone are
 * parameters. */
static void sizes_joined_to_factors(void **state)
{
    static const struct { const char *parts, *expected; } cases[] = {
        { "factors sizes", "5 = 1.5 2 2 4 6" }, { "sizes factors", "5 = 2 4 6 1.5 2" }, { "sizes factors sizes", "8 = 2 4 6 1.5 2 2 4 6" },
        { "factors factors sizes", "7 = 1.5 2 1.5 2 2 4 6" }, { "factors sizes factors factors", "9" }, { "factors factors", "4" }, { "sizes sizes sizes", "9 = 2 4 6 2 4 6 2 4 6" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct draft *d = draft_start(15);
        struct onnx_model *m = ARENA_NEW(&a, struct onnx_model);
        const char *path = arena_printf(&a, "/tmp/t_shapes_%d.onnx", (int)getpid());
        draft_input(d, "x", ONNX_FLOAT, "2,4,6");
        draft_constant(d, "factors", "~1.5,2");
        draft_text(d, "Shape x > whole; Cast whole > sizes to=1");
        draft_node(d, "Concat", cases[i].parts, "y0", "axis=0");
        draft_write(d, "y0", path);
        draft_end(d);
        assert_string_equal(results(m, path, 2, false, &a), cases[i].expected);
        unlink(path);
        arena_free(&a);
    }
}

/* A slice along one of eight dimensions keeps the others. */
static void slices_leave_other_dimensions(void **state)
{
    (void)state;
    for (uint32_t whole = 0; whole < ONNX_MAX_DIMS; whole++) {
        struct arena a = { 0 };
        const char *dims = "";
        for (uint32_t i = 0; i < ONNX_MAX_DIMS; i++)
            dims = arena_printf(&a, "%s%s%d", dims, i ? "x" : "", i == whole ? 3 : 1);
        const char *inputs = arena_printf(&a, "=%s:5,7,9 =0 =1 =%u", dims, (whole + 1) % ONNX_MAX_DIMS);
        assert_string_equal(result_of("Slice", inputs, "", 0, &a), arena_printf(&a, "%s whole = 5 7 9", dims));
        arena_free(&a);
    }
}

/* A file for a batch of 2, run with 6: a shape that begins with 2 or 4 means the samples, unless it is of constants. */
#define ONE_SIZE "; was it exported for one batch size? use a symbolic one"
#define NO_BATCH ONE_SIZE ", or --set data.batch=0 if it has none"
static void other_batch(void **state)
{
    static const struct { struct row row; uint64_t batch; } cases[] = {
        { { "Reshape", "2,3,4 =2,12", "", "6x12" }, 6 }, { { "Reshape", "2,3,4 =4,6", "", "12x6" }, 6 }, { { "Reshape", "2,3,4 =8,-1", "", "24x3" }, 6 },
        { { "Reshape", "3,4 =4,4611686018427387907", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },             /* 2^64 + 12 elements */
        { { "Reshape", "2,64 =3,759125270523026816,81", "", "128 elements do not fit the shape it asks for" ONE_SIZE }, 2 },         /* 10 x 2^64 + 128 */
        { { "Reshape", "3,4 =12", "", "12" }, 3 }, { { "Reshape", "3,4 =1,12,1", "", "1x12x1" }, 3 }, { { "Reshape", "2,3,4 =3,-1", "", "3x24" }, 6 },
        { { "Reshape", "3,4 =1,13", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "3,4 =3,-1,-1", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "3,4 =-2,12", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "3,4 =3,4,0", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "3,4 =-1,5", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "3,4 =3,5", "", "12 elements do not fit the shape it asks for" ONE_SIZE }, 3 },
        { { "Reshape", "=0x3:0 =0,-1", "", "0 elements do not fit the shape it asks for" ONE_SIZE }, 1 },
        { { "Add", "2,3 w2,3", "", "its inputs have 6 and 2 in one dimension" NO_BATCH }, 6 }, { { "Sub", "5,3,4 w5,1,1", "", "5x3x4" }, 1 },      /* channels */
        { { "Sub", "1,3,4 w1,1,1", "", "6x3x4" }, 6 }, { { "Sub", "5,3,4 w1,3,1", "", "6x3x4" }, 6 }, { { "Div", "5,5 w1,5", "", "6x5" }, 6 },
        { { "MatMul", "2,3 w2,3", "", "inner sizes 3 and 2 differ" NO_BATCH }, 6 }, { { "MatMul", "2,3 w2,3", "", "inner sizes 3 and 2 differ" }, 2 },
        { { "Einsum", "2,3 w2,4", "equation=ab,ac->bc", "its operands differ in dimension a" NO_BATCH }, 6 },
        { { "Concat", "2,3 w2,3", "axis=1", "its inputs i0 and i1 differ in another dimension than 1" NO_BATCH }, 6 },
        { { "LSTM 3", "5,2,3 w1,16,3 w1,16,4", "hidden_size=4", "its steps are the file's first dimension, so that is not the batch; give --set data.batch=0, or "
            "name the batch's dimension" }, 1 },
        { { "LSTM 3", "5,2,3 w1,16,3 w1,16,4", "hidden_size=4", "5x1x2x4; 1x2x4; 1x2x4" }, 5 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        const struct row *r = &cases[i].row;
        assert_string_equal(result_of(r->op, r->inputs, r->attributes, cases[i].batch, &a), r->expected);
        arena_free(&a);
    }
}

/* Limits: 2^40 elements, 2^32 - 1 along one dimension, 4096 known numbers. */
static void limits(void **state)
{
    static const struct row rows[] = {
        { "Expand", "1,1 =2,1048576,1048576", "", "makes a tensor of more than 2^40 elements; are the symbolic dimensions meant?" },
        { "Tile", "1048576,1 =1,1024", "", "1048576x1024" }, { "Expand", "2,1 =-3,0", "", "2x1" },
        { "Expand", "1,1 =1048576,1048576", "", "1048576x1048576" },
        { "Expand", "1,1 =1,4294967296", "", "makes a tensor of more than 2^40 elements; are the symbolic dimensions meant?" },
        { "Expand", "1,1 =1,4294967295", "", "1x4294967295" },
        { "Pad", "2,3", "pads=0,0,0,9223372036854775807", "makes a tensor of more than 2^40 elements; are the symbolic dimensions meant?" },
        { "Range", "- ='9 ='1", "", "its limits are computed while the model runs" }, { "Range", "='0 - ='1", "", "its limits are computed while the model runs" },
        { "Range", "='0 ='9 -", "", "its limits are computed while the model runs" }, { "Range", "='0 ='9 ='0", "", "its steps are of 0" },
        { "Range", "='9 ='0 ='-4", "", "3 whole = 9 5 1" }, { "Range", "='9 ='0 ='4", "", "0 whole" }, { "Range", "='1 ='9 ='4", "", "2 whole = 1 5" },
        { "Range", "~1 ~4.0005 ~1", "", "4 = 1 2 3 4" }, { "Range", "~0 ~0.3 ~0.1", "", "3 = 0 0.100000001 0.200000003" },
        { "Resize", "2,3,4 - ~1,1,0.25", "", "2x3x1" }, { "Resize", "2,3,4 - ~1,1,0.2", "", "makes 0.800001 of dimension 2" },
        { "Resize", "2,3,4 - - =2,3,4294967295", "", "2x3x4294967295" }, { "Resize", "2,3,4 - - =2,3,4294967296", "", "makes 4.29497e+09 of dimension 2" },
        { "Range", "='0 ='999999999 ='1", "", "999999999 whole" }, { "Range", "='0 ='1000000000 ='1", "", "it has a thousand million elements or more" },
        { "Gather", "2,3,4,5,6,7 =2x1x1x1:1,1", "", "makes 9 dimensions, at most 8" },
    };
    struct arena a = { 0 };
    (void)state;
    CHECK(rows);
    assert_non_null(strstr(result_of("Range", "='0 ='4096 ='1", "", 0, &a), " 4094 4095"));
    assert_string_equal(result_of("Range", "='0 ='4097 ='1", "", 0, &a), "4097 whole");
    arena_free(&a);
}

/* The largest number of dimensions, for each rule that walks them. */
static void eight_dimensions(void **state)
{
#define EIGHT "1,2,3,1,2,1,3,2"
    static const struct row rows[] = {
        { "Relu", EIGHT, "", "1x2x3x1x2x1x3x2" }, { "Add", EIGHT " w4,2,5,3,1", "", "1x2x3x4x2x5x3x2" }, { "Transpose", EIGHT, "", "2x3x1x2x1x3x2x1" },
        { "Transpose", EIGHT, "perm=1,2,3,4,5,6,7,0", "2x3x1x2x1x3x2x1" }, { "Squeeze", EIGHT, "", "2x3x2x3x2" }, { "Squeeze", EIGHT " =3", "", "1x2x3x2x1x3x2" },
        { "Flatten", EIGHT, "axis=8", "72x1" }, { "Flatten", EIGHT, "axis=7", "36x2" }, { "Flatten", EIGHT, "axis=9", "axis is out of range" },
        { "Reshape", EIGHT " =0,0,0,0,0,0,-1,1", "", "1x2x3x1x2x1x6x1" },
        { "Reshape", EIGHT " =1,2,3,1,2,1,3,2,1", "", "its shape is computed while the model runs; export with fixed or symbolic sizes" },
        { "Expand", EIGHT " =5,1,1,4,1,7,1,1", "", "5x2x3x4x2x7x3x2" }, { "Expand", EIGHT " =1,1,1,1,1,1,1,1,1", "", "its shape is computed while the model runs" },
        { "Tile", EIGHT " =3,1,1,2,1,1,1,4", "", "3x2x3x2x2x1x3x8" }, { "Pad", EIGHT " =0,0,0,0,0,0,0,1,2,0,0,0,0,0,0,2", "", "3x2x3x1x2x1x3x5" },
        { "Slice", EIGHT " =0,1 =1,3 =7,6", "", "1x2x3x1x2x1x2x1" }, { "Slice", EIGHT " =0,0,0,0,0,0,1,1 =1,1,2,1,1,1,3,2", "", "1x1x2x1x1x1x2x1" },
        { "Concat", EIGHT " w1,2,3,1,2,1,3,5", "axis=-1", "1x2x3x1x2x1x3x7" }, { "Concat", EIGHT " w4,2,3,1,2,1,3,2", "", "5x2x3x1x2x1x3x2" },
        { "Split 2", EIGHT, "axis=7", "1x2x3x1x2x1x3x1; 1x2x3x1x2x1x3x1" }, { "ReduceMean", EIGHT, "axes=7", "1x2x3x1x2x1x3x1" },
        { "ReduceMean", EIGHT, "axes=0,2 keepdims=0", "2x1x2x1x3x2" }, { "ReduceMax", EIGHT, "", "1x1x1x1x1x1x1x1" }, { "ReduceMax", EIGHT, "keepdims=0", "one" },
        { "ArgMax", EIGHT, "axis=7", "1x2x3x1x2x1x3x1 whole" }, { "ArgMax", EIGHT, "axis=6 keepdims=0", "1x2x3x1x2x1x2 whole" },
        { "Gather", EIGHT " ='1", "axis=7", "1x2x3x1x2x1x3" }, { "Gather", EIGHT " =1,0,1,1", "axis=7", "1x2x3x1x2x1x3x4" },
        { "Gather", EIGHT " =1x1:1", "axis=7", "makes 9 dimensions, at most 8" }, { "GatherElements", EIGHT " =1x2x3x1x2x1x3x5:0", "axis=7", "1x2x3x1x2x1x3x5" },
        { "GatherND", EIGHT " =5x1:0", "", "5x2x3x1x2x1x3x2" }, { "GatherND", EIGHT " =5x8:0", "", "5" }, { "GatherND", EIGHT " =5x4x1:0", "", "makes 9 dimensions, at most 8" },
        { "MatMul", "3,1,1,2,1,2,5,4 w7,6,1,1,1,4,5", "", "3x7x6x2x1x2x5x5" }, { "GlobalAveragePool", "1,2,3,4,5,6,7,8", "", "1x2x1x1x1x1x1x1" },
        { "Compress", EIGHT " =1,0", "axis=7", "1x2x3x1x2x1x3x1" }, { "TopK 2", EIGHT " =1", "", "1x2x3x1x2x1x3x1; 1x2x3x1x2x1x3x1 whole" },
        { "OneHot", "1,2,3,1,2,1,3 =5 ~0,1", "axis=0", "5x1x2x3x1x2x1x3" }, { "OneHot", EIGHT " =5 ~0,1", "", "makes 9 dimensions, at most 8" },
        { "Resize", EIGHT " - ~1,1,1,1,1,1,2,3", "", "1x2x3x1x2x1x6x6" }, { "Shape", EIGHT, "", "8 whole = 1 2 3 1 2 1 3 2" }, { "Size", EIGHT, "", "one whole = 72" },
        { "ConstantOfShape", "=2", "", "2" }, { "ConstantOfShape", "=1", "", "1 = 0" }, { "ConstantOfShape", "=2", "value=7", "2 whole = 7 7" },
        { "ConstantOfShape", "=1,2,1,1,1,1,1,2", "", "1x2x1x1x1x1x1x2" }, { "ConstantOfShape", "=1,2,1,1,1,1,1,2,1", "", "its shape is computed while the model runs" },
        { "NonZero", "=1x2x1x1x1x1x1x2:0,5,0,7", "", "8x2 whole = 0 0 0 1 0 0 0 0 0 0 0 0 0 0 1 1" },
        { "Transpose", "=1x2x1x1x1x1x1x3:1,2,3,4,5,6", "", "3x1x1x1x1x1x2x1 whole = 1 4 2 5 3 6" },
        { "Concat", "=1x1x1x1x1x1x2x2:1,2,3,4 =1x1x1x1x1x1x2x1:5,6", "axis=7", "1x1x1x1x1x1x2x3 whole = 1 2 5 3 4 6" },
        { "Split 2", "=1x1x1x1x1x1x2x3:1,2,3,4,5,6 =1,2", "axis=7", "1x1x1x1x1x1x2x1 whole = 1 4; 1x1x1x1x1x1x2x2 whole = 2 3 5 6" },
        { "Add", "=1x1x1x1x1x1x2x1:1,2 =3x1x1x1x1x1x1x2:10,20,30,40,50,60", "", "3x1x1x1x1x1x2x2 whole = 11 21 12 22 31 41 32 42 51 61 52 62" },
    };
#undef EIGHT
    (void)state;
    CHECK(rows);
}

/* Default axes: the first, the second, or the last, depending on the operator. */
static void usual_axes(void **state)
{
    static const struct row rows[] = {
        { "GatherElements", "2,3,4 =5x3x4:0", "", "5x3x4" }, { "GatherElements", "2,3,4 =2x5x4:0", "", "its indices are larger than its input in dimension 1" },
        { "ArgMax", "2,3,4", "", "1x3x4 whole" }, { "ArgMin", "2,3,4", "keepdims=0", "3x4 whole" }, { "Concat", "2,3 w5,3", "", "7x3" },
        { "Concat", "=1x2:1,2 =2x2:3,4,5,6", "", "3x2 whole = 1 2 3 4 5 6" }, { "Split 2", "=4x1:1,2,3,4", "", "2x1 whole = 1 2; 2x1 whole = 3 4" }, { "Split 2", "=6:0", "", "3 whole; 3 whole" },
        { "Split 2", "4,6", "", "2x6; 2x6" }, { "Gather", "4,6,5 =1,2,3", "", "3x6x5" }, { "Gather", "=5,7,9 =2,0", "", "2 whole = 9 5" },
        { "TopK 2", "4,6 =2", "", "4x2; 4x2 whole" }, { "OneHot", "2,3 =5 ~0,1", "", "2x3x5" }, { "Flatten", "2,3,4", "", "2x12" },
        { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~1,10,100", "", "2x3 = 1 20 300 4 50 600" }, { "DequantizeLinear", "=3x2:1,2,3,4,5,6 ~1,10,100", "axis=0", "3x2 = 1 2 30 40 500 600" },
    };
    (void)state;
    CHECK(rows);
}

/* Sizes that depend on data: known if the file holds the data, else the largest possible, with --approximate. */
static void picked(void **state)
{
    static const struct row rows[] = {
        { "NonZero", "=2x3:1,0,5,0,0,7", "", "2x3 whole = 0 0 1 0 2 2" }, { "NonZero", "2,3", "", UNKNOWN },
        { "Compress", "2,3 =1,0,1", "axis=1", "2x2" },       { "Compress", "2,3 =0,1", "axis=-2", "1x3" },
        { "Compress", "2,3 =1,0,1,1", "", "3" },             { "Compress", "2,3 =0,1", "axis=2", "axis is out of range" },
        { "Compress", "2,3 2", "axis=0", UNKNOWN },          { "Compress", "2,3 =1,0,1,1", "axis=1", "its condition has 4 elements for 3" },
        { "Compress", "2,3 =1,0,1,1,0,1", "", "4" },         { "Compress", "2,3 =1,0,1,1,0,1,1", "", "its condition has 7 elements for 6" },
        { "TopK 2", "2,9 =4", "", "2x4; 2x4 whole" },        { "TopK 2", "9,2 =9", "axis=0", "9x2; 9x2 whole" },
        { "TopK 2", "2,9 =0", "", "2x0; 2x0 whole" },        { "TopK 2", "2,9 =10", "", "wants the largest 10 of 9" },
        { "TopK 2", "2,9 =-1", "", "wants the largest -1 of 9" }, { "TopK 2", "2,9 =1", "axis=2", "axis is out of range" },
        { "TopK 2", "2,9", "k=4", "2x4; 2x4 whole" },         { "TopK 2", "2,9", "k=0", "2x0; 2x0 whole" }, { "TopK 2", "2,9", "k=10", "wants the largest 10 of 9" },
        { "TopK 2", "2,9 1", "", UNKNOWN },                  { "TopK 2", "2,9 =1,2", "", UNKNOWN },
        { "OneHot", "2,3 =5 =0,1", "", "2x3x5 whole" },      { "OneHot", "2,3 =5 ~0,1", "axis=0", "5x2x3" },
        { "OneHot", "2,3 =5 ~0,1", "axis=-2", "2x5x3" },     { "OneHot", "2,3 =5 ~0,1", "axis=3", "axis is out of range" },
        { "OneHot", "2,3 =1 ~0,1", "axis=2", "2x3x1" },      { "OneHot", "2,3 =0 ~0,1", "", "its depth is computed while the model runs, or less than 1" },
        { "OneHot", "2,3 1 ~0,1", "", "its depth is computed while the model runs, or less than 1" },
        { "OneHot", "2,3 =4,5 ~0,1", "", "its depth is computed while the model runs, or less than 1" },
        { "GatherND", "2,3,4 =5x2:0,1,1,2,0,0,1,1,0,2", "", "5x4" }, { "GatherND", "2,3,4 =2x1:0,1", "batch_dims=1", "2x4" },
        { "GatherND", "2,3,4 =0,1,2", "", "one" },           { "GatherND", "2,3,4 =2x5x3:0", "", "2x5" },
        { "GatherND", "2,3,4 =0,1,2,0", "", "its indices name 4 of 3 dimensions" }, { "GatherND", "2,3,4 =2x3:0", "batch_dims=1", "its indices name 3 of 3 dimensions" },
        { "GatherND", "2,3,4 =2x1:0", "batch_dims=2", "its indices name 1 of 3 dimensions" }, { "GatherND", "2,3,4 =2x1:0", "batch_dims=-1", "its indices name 1 of 3 dimensions" },
        { "GatherElements", "2,3,4 =2x5x4:0", "axis=1", "2x5x4" }, { "GatherElements", "2,3,4 =1x3x4:0", "axis=-1", "1x3x4" },
        { "GatherElements", "2,3,4 =2x5x5:0", "axis=1", "its indices are larger than its input in dimension 2" },
        { "GatherElements", "2,3,4 =2x3:0", "axis=1", "axis is out of range, or its indices have 2 dimensions beside 3" },
        { "GatherElements", "2,3 =2x3:0", "axis=2", "axis is out of range, or its indices have 2 dimensions beside 2" },
        { "RoiAlign", "2,3,8,9 5,4 =0,0,0,0,0", "output_height=2 output_width=7", "5x3x2x7" }, { "RoiAlign", "2,3,8,9 5,4 =0,0,0,0,0", "", "5x3x1x1" },
        { "RoiAlign", "2,3,8,9 5,4 =0", "output_height=0", "its input has 4 dimensions, want 4, or its result no elements" },
        { "RoiAlign", "2,3,8,9 5,4 =0", "output_width=0", "its input has 4 dimensions, want 4, or its result no elements" },
        { "RoiAlign", "2,3,8 5,4 =0", "", "its input has 3 dimensions, want 4, or its result no elements" },
        { "GridSample", "2,3,8,9 2,5,6,2", "", "2x3x5x6" },  { "GridSample", "2,3,8,9 2,5,6", "", "its input has 4 dimensions, want 4" },
        { "GridSample", "2,3,8 2,5,6,2", "", "its input has 3 dimensions, want 4" },
        { "NonMaxSuppression", "2,7,4 2,5,7 ='3", "", UNKNOWN },
        { "SoftmaxCrossEntropyLoss 2", "2,5 =1,3", "", "one; 2x5" }, { "NegativeLogLikelihoodLoss 2", "2,5,4 =2x4:0", "reduction=none", "2x4; 2x5x4" },
    };
    static const struct row most[] = {
        { "NonZero", "2,3", "", "2x6 whole" }, { "Compress", "2,3 2", "axis=0", "2x3" }, { "Compress", "2,3 5", "", "5" },
        { "TopK 2", "2,9 1", "", "2x9; 2x9 whole" }, { "NonMaxSuppression", "2,7,4 2,5,7 ='3", "", "30x3 whole" },
        { "NonMaxSuppression", "2,7,4 2,5,7", "", "70x3 whole" }, { "NonMaxSuppression", "2,7,4 2,5,7 ='8", "", "70x3 whole" },
        { "NonMaxSuppression", "2,7,4 2,5,7 ='-1", "", "0x3 whole" }, { "NonMaxSuppression", "2,7,4 2,5,7 ='0", "", "0x3 whole" },
        { "NonMaxSuppression", "2,7,4 2,5,7 ='1", "", "10x3 whole" }, { "NonMaxSuppression", "2,7,4 2,5,7 =1,2", "", "70x3 whole" },
        { "NonMaxSuppression", "2,7,4 5,7", "", "its scores have 2 dimensions, want 3" },
    };
    (void)state;
    CHECK(rows);
    check_rows(true, most, sizeof most / sizeof *most);
}

/* Messages say which input is missing, and how many are needed. */
static void inputs_left_out(void **state)
{
    static const struct { const char *op; uint32_t n; } rules[] = {
        { "MaxPool", 1 }, { "GlobalAveragePool", 1 }, { "Conv", 2 }, { "ConvTranspose", 2 }, { "Gemm", 2 }, { "MatMul", 2 }, { "LSTM", 3 }, { "Relu", 1 },
        { "Add", 2 }, { "Sub", 2 }, { "Mul", 2 }, { "Div", 2 }, { "Pow", 2 }, { "Mod", 2 }, { "Less", 2 }, { "And", 2 }, { "Sum", 1 }, { "Max", 1 }, { "CastLike", 2 }, { "Reshape", 1 }, { "Flatten", 1 }, { "Transpose", 1 }, { "Squeeze", 1 }, { "Unsqueeze", 1 }, { "Concat", 1 },
        { "Split", 1 }, { "Slice", 1 }, { "Gather", 2 }, { "Pad", 1 }, { "Expand", 1 }, { "Tile", 1 }, { "Resize", 1 }, { "DepthToSpace", 1 },
        { "SpaceToDepth", 1 }, { "ReduceMean", 1 }, { "ArgMax", 1 }, { "Shape", 1 }, { "Size", 1 }, { "NonZero", 1 }, { "NonMaxSuppression", 2 },
        { "Compress", 2 }, { "TopK 2", 1 }, { "OneHot", 3 }, { "GatherND", 2 }, { "GatherElements", 2 }, { "RoiAlign", 2 }, { "GridSample", 2 },
        { "SoftmaxCrossEntropyLoss", 2 }, { "Einsum", 1 }, { "ScatterND", 3 }, { "ScatterElements", 3 }, { "QuantizeLinear", 2 }, { "DequantizeLinear", 2 },
    };
    static const char *const given[] = { "-", "2,3,4,5", "2,3,4,5 2,3,4,5" };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct arena a = { 0 };
        for (uint32_t n = 0; n < rules[i].n; n++) {
            const char *found = result_of(rules[i].op, given[n], "kernel_shape=1,1 equation=abcd,abcd->abcd", 1, &a);
            const char *want = arena_printf(&a, "has no input %u; want at least %u", n, rules[i].n);
            if (!text_is(found, want))
                print_error("%s of %s\n", rules[i].op, given[n]);
            assert_string_equal(found, want);
        }
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(windows), cmocka_unit_test(products), cmocka_unit_test(elementwise), cmocka_unit_test(moves), cmocka_unit_test(parts),
    cmocka_unit_test(einsums), cmocka_unit_test(sizes_joined_to_factors), cmocka_unit_test(slices_leave_other_dimensions), cmocka_unit_test(other_batch), cmocka_unit_test(limits),
    cmocka_unit_test(picked), cmocka_unit_test(eight_dimensions), cmocka_unit_test(usual_axes), cmocka_unit_test(inputs_left_out),
};
TAP_MAIN(tests)
