/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_layouts.c - an operator gives the same numbers whether its inputs are plain, images after an identity convolution,
 * or constants of the file. Its operations are in tests/golden/onnx_operators.txt.
 */
#include "tests/golden_text.h"
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* Operands as in operands.h; also "n2,3", an input of integers, and "t2,3", one of booleans. op: "Split 3" has three
 * results, "Softmax@12" is that of opset 12. */
struct row { const char *op, *operands, *attributes; };
static const struct row rows[] = {
    { "Conv", "2,6,5,7 w4,3,3,2", "group=2 strides=2,1 pads=1,0,2,1" },     { "Conv", "2,6,5,7 w8,6,3,2 w8", "dilations=2,2" },
    { "Conv", "2,6,9 w4,6,3 w4", "strides=2 pads=1,0 dilations=2" },        { "Conv", "2,6,5,7 w6,1,1,3", "group=6 dilations=3,2" },
    { "Conv", "2,6,5,7 w6,6,3,1", "dilations=2,3" },                        { "Conv", "2,6,5,7 2,6,1,1", "" },
    { "Conv", "2,3,5,7 w4,3,3,2", "auto_pad=SAME_LOWER strides=2,2" },
    { "ConvTranspose", "2,6,3,4 w6,4,3,2 w4", "strides=2,1 pads=1,0,0,1" }, { "ConvTranspose", "2,6,3,4 w6,2,2,2", "group=2 strides=2,2" },
    { "MaxPool", "2,6,5,7", "kernel_shape=2,3 strides=2,1 pads=1,0,0,1" },  { "MaxPool", "2,6,5,8", "kernel_shape=2,2 strides=2,3 ceil_mode=1" },
    { "AveragePool", "2,6,5,7", "kernel_shape=3,2 strides=2,2 pads=1,1,1,0 count_include_pad=1" },
    { "AveragePool", "2,6,5,7", "kernel_shape=3,2 strides=3,2 pads=1,1,1,0" }, { "AveragePool", "2,6,9", "kernel_shape=3 strides=2 ceil_mode=1" },
    { "GlobalAveragePool", "2,6,5,7", "" }, { "GlobalMaxPool", "2,6,5", "" },
    { "BatchNormalization", "2,6,3,4 w6 w6 w6 ~1,2,3,4,5,6", "epsilon=0.25" }, { "BatchNormalization", "2,6 w6 w6 w6 ~1,2,3,4,5,6", "" },
    { "BatchNormalization", "2,6,4 w6 w6 w6 ~1,2,3,4,5,6", "" },
    { "InstanceNormalization", "2,6,3,4 w6 w6", "epsilon=0.25" },           { "GroupNormalization", "2,6,3,4 w6 w6", "num_groups=3 epsilon=0.125" },
    { "GroupNormalization", "2,6,3,4 w6 w6", "num_groups=4" },              { "GroupNormalization", "2,6,3,4 w3 w3", "num_groups=3" },
    { "InstanceNormalization", "2,6,1,3,2,2 w6 w6", "" },
    { "GroupNormalization", "2,6 w6 w6", "num_groups=3" },                  { "InstanceNormalization", "2,6,3 w6 w6", "" },
    { "LayerNormalization", "2,6,3,4 w4 w4", "epsilon=0.25" },              { "LayerNormalization", "2,6,3,4 w3,4", "axis=2" },
    { "LayerNormalization", "2,6,3,4 w4 w4", "axis=4" },                    { "LayerNormalization", "2,6 6", "" },
    { "RMSNormalization", "2,6,3,4 w4", "epsilon=0.25" },                   { "RMSNormalization", "2,6,3,4 w3,4", "axis=2" },
    { "RMSNormalization", "2,6,3,4 w4", "axis=4" },                         { "SimplifiedLayerNormalization", "2,6 w6", "" },
    { "LRN", "2,6,3,4", "size=3 alpha=0.5 beta=0.25 bias=2.0" },            { "LRN", "2,6,3,4", "size=0" }, { "LRN", "2,6,3,4", "size=5" },
    { "LRN", "2,6,3,4", "size=1" }, { "LRN", "2,6,3,4", "size=1024" },      { "LRN", "2,6,3,4", "size=1025" },
    { "Resize", "2,6,3,4 - ~1,1,2,3", "mode=linear" },                      { "Resize", "2,6,3,4 - ~1,1,2,2", "" },
    { "Resize", "2,6,3,4 - - =2,6,7,8", "mode=cubic" },                     { "Resize", "2,6,3,4 - ~1,2,2,2", "" },
    { "Resize", "2,6,2,3,4 - ~1,1,2,2,1", "mode=linear" },
    { "Resize", "2,6,4 - ~1,1,2", "" },                                     { "Resize", "2,6 - ~1,2", "" }, { "Upsample@7", "2,6,3,4", "scales=1.0,1.0,2.0,3.0" }, { "Upsample@7", "2,6,3,4", "scales=1.0,2.0" },
    { "Upsample@9", "2,6,3,4 ~1,1,2,2", "mode=linear" }, { "BatchNormalization@7", "2,6,3,4 w6 w6 w6 ~1,2,3,4,5,6", "spatial=0" },
    { "DepthToSpace", "2,12,3,4", "blocksize=2" },                          { "DepthToSpace", "2,12,3,4", "blocksize=2 mode=CRD" },
    { "SpaceToDepth", "2,6,4,6", "blocksize=2" },
    { "Relu", "2,6,3,4", "" }, { "Sigmoid", "2,6,3,4", "" }, { "Tanh", "2,6,3", "" }, { "Gelu", "2,6", "" }, { "Erf", "2,6,3,4", "" },
    { "Exp", "2,6,3,4", "" }, { "Neg", "2,6,3,4", "" }, { "LeakyRelu", "2,6,3,4", "" }, { "LeakyRelu", "2,6,3,4", "alpha=0.25" },
    { "Elu", "2,6,3,4", "" }, { "Elu", "2,6,3,4", "alpha=0.5" }, { "HardSigmoid", "2,6,3,4", "" }, { "HardSigmoid", "2,6,3,4", "alpha=0.5 beta=0.25" },
    { "HardSwish", "2,6,3,4", "" }, { "Softplus", "2,6,3,4", "" }, { "Reciprocal", "2,6,3,4", "" }, { "Not", "t2,6,3,4", "" },
    { "IsNaN", "2,6,3,4", "" }, { "IsInf", "2,6,3,4", "" }, { "Sign", "2,6,3,4", "" }, { "Floor", "2,6,3,4", "" }, { "Ceil", "2,6,3,4", "" },
    { "Sqrt", "2,6,3,4", "" }, { "Log", "2,6,3,4", "" }, { "Abs", "2,6,3,4", "" }, { "Sin", "2,6,3,4", "" }, { "Cos", "2,6,3,4", "" },
    { "Round", "2,6,3,4", "" }, { "Acos", "2,6,3,4", "" }, { "Acosh", "2,6,3,4", "" }, { "Asin", "2,6", "" }, { "Asinh", "2,6,3", "" },
    { "Atan", "2,6,3,4", "" }, { "Atanh", "2,6,3,4", "" }, { "Cosh", "2,6,3,4", "" }, { "Sinh", "2,6,3,4", "" }, { "Tan", "2,6,3,4", "" },
    { "Selu", "2,6,3,4", "" }, { "Selu", "2,6,3,4", "alpha=2.0 gamma=0.5" }, { "Celu", "2,6,3,4", "alpha=0.5" }, { "Celu", "2,6,3,4", "" },
    { "Mish", "2,6,3,4", "" }, { "Swish@24", "2,6,3,4", "" }, { "Swish@24", "2,6,3,4", "alpha=0.5" }, { "Softsign", "2,6,3,4", "" }, { "ThresholdedRelu", "2,6,3,4", "alpha=0.125" }, { "ThresholdedRelu", "2,6,3,4", "" },
    { "Cast", "2,6,3,4", "to=6" }, { "Cast", "n2,6,3", "to=1" }, { "Cast", "2,6", "to=10" }, { "Cast", "2,6", "to=9" },
    { "Dropout", "2,6,3,4 ~0.25", "" }, { "Dropout", "2,6,3,4", "" }, { "Dropout", "2,6,3,4 ~0", "" }, { "Dropout", "2,6,3,4 ~1", "" },
    { "Clip", "2,6,3,4 ~0", "" }, { "Clip", "2,6,3,4 ~0 ~3.4028235e38", "" }, { "Clip", "2,6,3,4 ~0 ~3e38", "" }, { "Clip", "2,6,3,4 ~0 ~6", "" }, { "Clip", "2,6,3,4 - ~0.25", "" }, { "Clip", "2,6,3,4 ~-0.25 ~0.25", "" },
    { "Clip", "2,6,3,4 w6,1,1 w4", "" }, { "Clip", "2,6,3,4 - 1", "" }, { "Clip", "2,6,3,4 6,1,1", "" }, { "Clip", "2,6,3,4 5", "" },
    { "PRelu", "2,6,3,4 w6,1,1", "" }, { "PRelu", "2,6,3,4 w1", "" }, { "PRelu", "2,6,3,4 w6", "" }, { "PRelu", "2,6,2,3,4 w6", "" }, { "PRelu", "2,6,1,3,2,2 w6", "" },
    { "PRelu", "2,6,3,4 2,6,3,4", "" }, { "PRelu", "2,1,3,4 w6,1,1", "" },
    { "Add", "2,6,3,4 2,6,3,4", "" }, { "Add", "2,6,3,4 6,1,1", "" }, { "Add", "2,6,3,4 w4", "" }, { "Add", "2,6,3,4 w6,1,1", "" },
    { "Add", "w6,1,1 2,6,3,4", "" }, { "Add", "w4 2,6,3,4", "" }, { "Add", "2,6,3,4 w6,3,4", "" }, { "Add", "2,6,3,4 w1,6,3,1", "" }, { "Add", "2,6,2,4 w6,2,1", "" },
    { "Add", "2,1,3,4 2,6,3,1", "" }, { "Add", "2,6,3,1 2,1,3,4", "" }, { "Add", "2,6,3,4 ~0.5", "" }, { "Add", "~0.5 2,6,3,4", "" },
    { "Add", "2,3,4 2,6,3,4", "" }, { "Add", "2,6,3,4 2,3,4", "" }, { "Add", "2,6,4 w6,1", "" }, { "Add", "2,6,3,4 w1,1,1,1", "" },
    { "Add", "2,6 w6", "" }, { "Add", "2,6 6", "" }, { "Add", "6 2,6", "" }, { "Add", "2,6,3,4 ~1x1x1x1x1:0.5", "" }, { "Add", "2 2,6,3,4", "" },
    { "Mul", "2,6,3,4 2,6,3,4", "" }, { "Mul", "2,6,3,4 2,6,1,1", "" }, { "Mul", "2,6,1,1 2,6,3,4", "" }, { "Mul", "2,6,3,4 ~0.5", "" },
    { "Mul", "~0.5 2,6,3,4", "" }, { "Mul", "2,6,3,4 w6,1,1", "" }, { "Mul", "w6,1,1 2,6,3,4", "" }, { "Mul", "2,6,4 2,6,1", "" },
    { "Sub", "2,6,3,4 2,6,3,4", "" }, { "Sub", "2,6,1,1 2,6,3,4", "" }, { "Sub", "2,6,3,4 ~0.5", "" }, { "Sub", "~0.5 2,6,3,4", "" },
    { "Sub", "w6,1,1 2,6,3,4", "" }, { "Sub", "2,6,3,4 w6,1,1", "" }, { "Sub", "2,1,3,4 2,6,1,4", "" },
    { "Div", "2,6,3,4 2,6,3,4", "" }, { "Div", "2,6,3,4 ~0.5", "" }, { "Div", "~0.5 2,6,3,4", "" }, { "Div", "2,6,3,4 ~0", "" },
    { "Div", "~2 2,6,3,4", "" }, { "Div", "~1 2,6,3,4", "" }, { "Div", "2,6,3,4 ~2", "" }, { "Mul", "2,6,3,4 ~1", "" }, { "Mul", "2,6,3,4 ~2", "" }, { "Mul", "2,6,3,4 ~0", "" },
    { "Div", "2,6,1,1 2,6,3,4", "" }, { "Div", "n2,6 =3", "" }, { "Div", "2,6,1,4 2,1,3,4", "" },
    { "Pow", "2,6,3,4 ~2", "" }, { "Pow", "2,6,3,4 ~3", "" }, { "Pow", "2,6,3,4 ~0.5", "" }, { "Pow", "2,6,3,4 ~1.5", "" },
    { "Pow", "~1.5 2,6,3,4", "" }, { "Pow", "2,6,3,4 2,6,3,4", "" },
    { "Max", "2,6,3,4 ~0", "" }, { "Max", "~0.25 2,6,3,4", "" }, { "Min", "2,6,3,4 ~0.25", "" }, { "Min", "2,6,3,4 ~0", "" },
    { "Max", "2,6,3,4 2,6,3,4 2,6,3,4", "" }, { "Min", "2,6,3,4 2,6,3,4", "" }, { "Max", "2,6,3,4", "" }, { "Max", "2,6,3,4 2,6,3,4 2,3,4", "" },
    { "Sum", "2,6,3,4 2,6,1,1 2,6,3,4", "" }, { "Mean", "2,6,3,4 2,6,3,4 2,6,3,4", "" }, { "Mean", "2,6 2,6", "" }, { "Sum", "2,6", "" },
    { "Greater", "2,6,3,4 ~0.25", "" }, { "Less", "~0.25 2,6,3,4", "" }, { "Equal", "n2,6 =2", "" }, { "GreaterOrEqual", "2,6,1,1 2,6,3,4", "" },
    { "LessOrEqual", "2,6,3,4 2,6,3,4", "" }, { "And", "t2,6 t2,6", "" }, { "Or", "t2,6 t2,1", "" }, { "Xor", "t2,6 t2,1", "" }, { "Less", "2,6,3,4 2,6,1,1", "" },
    { "Where", "t2,6,3,4 2,6,3,4 2,6,3,4", "" }, { "Where", "t2,6,3,4 ~0.5 2,6,3,4", "" }, { "Where", "t2,6,3,4 2,6,3,4 ~0.5", "" },
    { "Where", "t2,6,3,4 ~0.5 ~2", "" }, { "Where", "t2,6 ~0.5 ~-1e999", "" }, { "Where", "t2,6 ~1e999 ~2", "" },
    { "Where", "t2,1,3,4 2,6,3,4 2,6,1,4", "" }, { "Where", "t2,6,3,4 2,6,1,1 2,6,3,4", "" }, { "Where", "t2,6,3,4 6,1,1 ~0.5", "" },
    { "MatMul", "2,6,3,4 2,6,4,5", "" }, { "MatMul", "2,6,3,4 w4,5", "" }, { "MatMul", "2,6,3,4 4,5", "" }, { "MatMul", "2,6 w6,5", "" },
    { "MatMul", "3,4 2,6,4,5", "" }, { "MatMul", "2,1,3,4 2,6,4,5", "" }, { "MatMul", "2,6,3,4 2,1,4,5", "" }, { "MatMul", "6 w6,5", "" },
    { "MatMul", "2,6 w6", "" }, { "MatMul", "6 6", "" }, { "MatMul", "6 2,6,5", "" }, { "MatMul", "2,6,3,4 w1,1,4,5", "" },
    { "MatMul", "2,6,3,4 w6,4,5", "" }, { "MatMul", "2,3,2,4,5 2,1,2,5,3", "" }, { "MatMul", "2,1,2,4,5 2,3,1,5,3", "" },
    { "Gemm", "2,6 w6,5", "" }, { "Gemm", "2,6 w5,6 w5", "transB=1" }, { "Gemm", "6,2 w6,5", "transA=1" }, { "Gemm", "2,6 5,6 5", "transB=1" },
    { "Gemm", "2,6 6,5 2,5", "alpha=0.5 beta=0.25" }, { "Gemm", "2,6 w6,5 w5", "beta=0.0" }, { "Gemm", "2,6 6,5 2,1", "" },
    { "Gemm", "2,6 w6,5 w1,5", "beta=2.0" }, { "Gemm", "2,6 w6,5 w1", "" }, { "Gemm", "1,6 w6,5 w2,5", "" },
    { "Softmax", "2,6,3,4", "" }, { "Softmax", "2,6,3,4", "axis=1" }, { "Softmax", "2,6,3,4", "axis=2" }, { "Softmax", "2,6,3,4", "axis=0" },
    { "LogSoftmax", "2,6,3,4", "axis=1" }, { "LogSoftmax", "2,6,3,4", "axis=-2" }, { "Softmax", "2,6,4", "axis=1" }, { "Softmax", "2,6", "axis=2" },
    { "ReduceMean", "2,6,3,4", "axes=2,3" }, { "ReduceMean", "2,6,3,4", "axes=2,3 keepdims=0" }, { "ReduceSum", "2,6,3,4 =1", "" },
    { "ReduceMax", "2,6,3,4", "axes=0,2" }, { "ReduceMin", "2,6,3,4", "axes=1,3 keepdims=0" }, { "ReduceL1", "2,6,3,4", "axes=3" },
    { "ReduceL2", "2,6,3,4", "axes=1,2" }, { "ReduceSumSquare", "2,6,4", "axes=2" }, { "ReduceLogSum", "2,6,3,4", "axes=0" },
    { "ReduceLogSumExp", "2,6,3,4", "" }, { "ReduceSum", "2,6,3,4", "noop_with_empty_axes=1" }, { "ReduceMean", "2,6,3", "axes=2" },
    { "ReduceMean", "2,6", "axes=1" }, { "ReduceMean", "2,6,3,4", "axes=1,2,3" },
    { "ArgMax", "2,6,3,4", "axis=1" }, { "ArgMin", "2,6,3,4", "axis=3 keepdims=0" }, { "ArgMax", "2,6,3,4", "axis=0 select_last_index=1" },
    { "ArgMax", "2,6,3,4", "" },
    { "ReduceProd", "2,6,3,4", "axes=1,2" }, { "ReduceProd", "2,7", "axes=-1 keepdims=0" }, { "ArgMin", "2,6,3", "axis=1 select_last_index=1" },
    { "GridSample", "2,6,3,4 2,2,5,2", "align_corners=1" }, { "GridSample", "1,6,3,4 1,2,5,2", "mode=nearest padding_mode=border" },
    { "GridSample", "2,6,3,4 2,2,5,3", "" }, { "GridSample", "2,6,3,4 3,2,5,2", "" }, { "RoiAlign", "2,6,3,4 3,3 =0,1,1", "sampling_ratio=2" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1", "sampling_ratio=2" }, { "ScatterElements", "2,6 =2x1:5,-1 2,2", "axis=1" },
    { "SoftmaxCrossEntropyLoss", "2,6 =1,3 w5", "" }, { "NegativeLogLikelihoodLoss", "2,6,3 =1,3", "" },
    { "GridSample", "2,6,3,4 2,2,5,2", "mode=bicubic" }, { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=0" },
    { "TopK 2", "2,6,3,4 =2", "axis=1" }, { "TopK 2", "2,6,3,4 =4", "largest=0" }, { "TopK", "2,6 =1", "sorted=0" },
    { "ScatterElements", "2,6,3,4 =2x1x3x4:0,1,2,3,4,5,0,1,2,3,4,5,5,4,3,2,1,0,5,4,3,2,1,0 2,1,3,4", "axis=1" },
    { "ScatterElements", "2,6 =2x1:5,-1 2,1", "axis=1 reduction=add" }, { "ScatterElements", "2,6 =2x1:5,-1 2,1", "axis=1 reduction=mul" },
    { "ScatterElements", "2,6 =1x1:5 1,1", "axis=1" }, { "ScatterND", "2,6,3 =2x2:0,5,1,2 2,3", "reduction=max" }, { "ScatterND", "2,6,3 =2x1:0,1 2,6,3", "" },
    { "LSTM 3", "3,2,4 w1,20,4 w1,20,5", "hidden_size=5 direction=reverse" }, { "Pad", "2,6,3,4 =0,1,2,1,0,1,1,2", "mode=reflect" },
    { "CumSum", "2,6,3,4 ='1", "" }, { "CumSum", "2,6,3,4 ='-1", "exclusive=1 reverse=1" }, { "CumSum", "n2,6 ='1", "" }, { "CumSum", "2,6,3,4 n1", "" },
    { "CumSum", "2,6,3,4 ='4", "" },
    { "Trilu", "2,6,3,4", "" }, { "Trilu", "2,6,3,4 ='1", "upper=0" }, { "Trilu", "2,6,4 ='-1", "" }, { "Trilu", "6", "" },
    { "Reshape", "2,6,3,4 =2,6,12", "" }, { "Reshape", "2,6,3,4 =2,6,4,3", "" }, { "Reshape", "2,6,3,4 =2,-1", "" }, { "Reshape", "2,6,12 =2,6,3,4", "" },
    { "Reshape", "2,6,3,4 =2,2,3,3,4", "" }, { "Flatten", "2,6,3,4", "" }, { "Flatten", "2,6,3,4", "axis=2" }, { "Squeeze", "2,6,1,4", "axes=2" },
    { "Unsqueeze", "2,6,4 =3", "" }, { "Unsqueeze", "2,6,4 =2", "" }, { "Unsqueeze", "2,6,3,4 =0", "" },
    { "Transpose", "2,6,3,4", "perm=0,2,3,1" }, { "Transpose", "2,6,3,4", "perm=0,3,1,2" }, { "Transpose", "2,6,3,4,5", "perm=0,2,3,4,1" }, { "Transpose", "2,6,3,4,5", "perm=0,4,1,2,3" }, { "Transpose", "2,6,3,4", "perm=3,2,1,0" },
    { "Transpose", "2,6,3,4", "" }, { "Transpose", "2,6,4", "perm=0,2,1" }, { "Transpose", "2,6,4", "perm=2,0,1" }, { "Transpose", "2,6,4", "" },
    { "Transpose", "2,1,3,4", "perm=0,2,3,1" }, { "Transpose", "2,1,3,1", "perm=3,0,1,2" }, { "Transpose", "2,6,3,4", "perm=0,1,3,2" },
    { "Transpose", "2,6,3,4", "perm=2,3,0,1" }, { "Transpose", "2,3,2,3,2", "perm=4,2,0,1,3" }, { "Transpose", "2,6", "" },
    { "Transpose", "2,1,3,1,2,4", "perm=5,1,4,2,0,3" }, { "Transpose", "2,1,3,1,2,4", "perm=0,3,2,4,1,5" },
    { "Concat", "2,6,3,4 2,2,3,4", "axis=1" }, { "Concat", "2,6,3,4 2,6,3,4 2,6,3,4", "axis=0" }, { "Concat", "2,6,3,4 2,6,3,5", "axis=-1" },
    { "Concat", "2,6,4 w2,6,4", "axis=1" }, { "Concat", "2,6 2,5", "axis=1" }, { "Concat", "2,6", "axis=1" }, { "Concat", "2,6,3,4 2,6,5,4", "axis=2" },
    { "Split 3", "2,6,3,4", "axis=1" }, { "Split 2", "2,6,3,4 =1,5", "axis=1" }, { "Split 2", "2,6,3,4", "axis=3" }, { "Split 3", "2,6,4 =1,3,2", "axis=1" },
    { "Split 1", "2,6,3,4", "axis=1" }, { "Split 3", "2,7 =2,4,1", "axis=1" }, { "Split 3", "3,2,3,4", "" }, { "Split 4", "2,7", "axis=1" },
    { "Slice", "2,6,3,4 =1 =5 =1", "" }, { "Slice", "2,6,3,4 =-4,1 =6,9 =1,3", "" }, { "Slice", "2,6,3,4 =1 =6 =1 =2", "" },
    { "Slice", "2,6,3,4 =0 =4 =1 =3", "" }, { "Slice", "2,6,7 =1 =7 =2 =4", "" }, { "Slice", "2,6,3,4 =5 =0 =1 =-1", "" }, { "Slice", "2,6 =0 =6 =1 =1", "" },
    { "Slice", "2,6,3,4 =0,1", "" }, { "Slice", "2,6,7,4 =0,0 =7,4 =2,3 =3,2", "" }, { "Slice", "2,6,3,4 =3 =3 =1", "" }, { "Slice", "2,6 =-9 =4 =1", "" },
    { "Slice", "2,6 =0 =1 =1 =1", "" }, { "Slice", "2,6,3,4 =1 =6 =1 =9223372036854775807", "" }, { "Slice", "2,6,3,4 =3 =0 =1 =-9223372036854775808", "" },
    { "Gather", "2,6,3,4 ='2", "axis=1" }, { "Gather", "2,6,3,4 =2", "axis=1" }, { "Gather", "2,6,3,4 ='-1", "axis=2" }, { "Gather", "2,6,3,4 =4,-1,0", "axis=1" },
    { "Gather", "2,6,3,4 =2x2:0,1,3,2", "axis=3" }, { "Gather", "w7,6 n2,3", "" }, { "Gather", "7,6 n2,3", "" }, { "Gather", "w7,2,3 n2,3", "" },
    { "Gather", "2,6,3,4 ='6", "axis=1" }, { "Gather", "2,6,3,4 ='-7", "axis=1" }, { "Gather", "2,6,3,4 ='-6", "axis=1" }, { "Gather", "7,2,3 n2,3", "" },
    { "Gather", "2,6,5,4 n2,3", "axis=2" }, { "Gather", "7 n2,3", "" }, { "Gather", "w7,6 ='3", "" },
    { "GatherElements", "2,6,5 n2,6,3", "axis=2" }, { "GatherElements", "2,6,5 n2,6,3", "axis=1" }, { "GatherElements", "2,6,3,5 n2,6,3,2", "axis=-1" },
    { "GatherElements", "2,6,5 n2,4,3", "axis=2" },
    { "Pad", "2,6,3,4 =0,0,1,2,0,0,3,0", "" }, { "Pad", "2,6,3,4 =0,1,0,0,0,2,0,0 ~0.5", "" }, { "Pad", "2,6,3,4 =0,0,-1,0,0,0,0,0", "" },
    { "Pad", "2,6,3,4 =0,0,0,0,0,0,0,-1", "" }, { "Pad", "2,6,4 =0,0,1,0,0,0", "" }, { "Pad", "2,6,3,4 =1,0,0,0,0,0,0,1", "" }, { "Pad", "2,6 =0,0,0,0", "" },
    { "Expand", "2,6,1,1 =2,6,3,4", "" }, { "Expand", "2,1,3,4 =1,6,1,1", "" }, { "Expand", "2,6,1 =2,6,4", "" }, { "Expand", "6,1,1 =2,6,3,4", "" },
    { "Expand", "2,6 =3,2,6", "" }, { "Expand", "2,6,3,4 =2,6,3,4", "" }, { "Expand", "2,1 =2,6", "" }, { "Expand", "2,1,4 =2,6,4", "" },
    { "Tile", "2,6,3,4 =1,2,1,1", "" }, { "Tile", "2,1,3,4 =1,5,2,3", "" }, { "Tile", "2,6 =1,32", "" }, { "Tile", "2,6 =1,33", "" }, { "Tile", "2,1 =2,33", "" },
    { "Einsum", "2,6,3,4 2,6,5,4", "equation=bhqd,bhkd->bhqk" }, { "Einsum", "2,6,3,4 2,6,4,5", "equation=bhqk,bhkd->bqhd" },
    { "Einsum", "2,6,3,4", "equation=abcd->bd" }, { "Einsum", "2,6 w6,5", "equation=ab,bc->ca" }, { "Einsum", "2,6,3,4 w6,5", "equation=abcd,be->acde" },
    { "Einsum", "2,6,3 2,6", "equation=abc,ab->c" }, { "Einsum", "2,6,3 w3,4,5", "equation=...c,cde->...de" },
    { "GRU", "3,2,4 w2,15,4 w2,15,5 w2,30", "hidden_size=5 direction=bidirectional" }, { "LSTM", "3,2,4 w1,20,4 w1,20,5", "hidden_size=5" },
    { "GRU", "3,2,4 w1,15,4 w1,15,5", "hidden_size=5 linear_before_reset=1" }, { "LSTM", "3,2,4 w1,20,4 w1,20,5 w1,40", "hidden_size=5 layout=1" },
    { "LSTM 2", "3,2,4 w1,20,4 w1,20,5 w1,40", "hidden_size=5" }, { "LSTM", "3,2,4 1,20,4 w1,20,5", "hidden_size=5" }, { "LSTM", "3,2,4 w1,20,4", "hidden_size=5" },
    { "Hardmax", "2,6,3,4", "" }, { "Identity", "2,6,3,4", "" },
    /* too many dimensions, empty tensors, inputs left out */
    { "Add", "2,1,3,1,2,4 w2,3,2,3,2,4", "" }, { "Add", "2,3 w2,3,2,1,2,3", "" }, { "Reshape", "w2,3,2,3,2,2 =4,36", "" }, { "MatMul", "4,6 w2,3,2,3,6,5", "" },
    { "Concat", "2,0,4 2,3,4 2,0,4", "axis=1" }, { "Concat", "2,0,4 2,0,4", "axis=1" }, { "Add", "2,0 2,0", "" }, { "Relu", "2,0,4", "" },
    { "Sum", "2,6,3,4 2,6,3", "" }, { "Mean", "2,6 2,6,1", "" }, { "Slice", "2,40 =39 =0 =1 =-1", "" }, { "Slice", "2,6 =2 =2 =1 =2", "" },
    { "Split 3", "2,6 =2,0,4", "axis=1" }, { "Split 3", "2,6,3,4 =0,6,0", "axis=1" }, { "Conv", "2,6,4,5,7 w4,3,2,3,2", "group=2" },
    { "Conv", "2,2,3,5,4 w4,2,2,3,2 w4", "strides=1,2,1 pads=1,0,1,0,1,0" }, { "ConvTranspose", "2,6,3,4,3 w6,4,3,2,2", "" }, { "ConvTranspose", "2,6,1,4,3 w6,4,3,2,2", "pads=2,0,0,0,0,0" }, { "AveragePool", "2,6,4,5,4", "kernel_shape=2,3,2" },
    { "MaxPool", "2,3,4,5,4", "kernel_shape=2,3,2 strides=2,1,1" }, { "BatchNormalization", "6 w6 w6 w6 ~1,2,3,4,5,6", "" },
    { "GroupNormalization", "2,6,3,4 w6 w6", "" }, { "SoftmaxCrossEntropyLoss 2", "2,5 n2", "" }, { "SoftmaxCrossEntropyLoss 2", "2,5,2 n2,2", "" }, { "SoftmaxCrossEntropyLoss 2", "2,5,4 n2,4", "reduction=none" },
    { "OneHot", "n2,3 =5 ~0,1", "" }, { "OneHot", "n2,3 =5 ~0.25,2", "axis=0" }, { "OneHot", "n2,3 =5 2", "" }, { "GatherND", "5,6,4 n3,1", "" },
    { "GatherND", "5,6,4 n5,1", "batch_dims=1" }, { "GatherND", "5,6,4 n3,2", "" }, { "TopK 2", "2,6,4 =3", "" }, { "TopK 2", "2,6,4 =1", "axis=1" },
    { "Compress", "2,6,4 =1,0,1,1,0,1", "axis=1" }, { "Softmax", "2,6,3,4", "axis=-3" }, { "ScatterND", "2,6,4 =2x1:1,0 2,6,4", "" },
    { "Where", "t2,6 2,6", "" }, { "CumSum", "2,6,3,4 ='-4", "reverse=1" }, { "ReduceSum", "2,6,3,4 n1", "" }, { "Mod", "n2,6 =4", "" },
    { "GRU", "3,2,4 w1,15,4", "hidden_size=5" }, { "LSTM 3", "3,2,4 w1,20,4 w1,20,5", "hidden_size=5" }, { "GRU 2", "3,2,4 w2,15,4 w2,15,5", "hidden_size=5 direction=bidirectional" },
    { "GRU", "3,2,4 w1,15,4 w1,15,5", "hidden_size=5 direction=reverse" },
    { "Attention@23", "2,3,4,5 2,3,6,5 2,3,6,2", "is_causal=1" }, { "Attention@23 4", "2,4,3,5 2,2,6,5 2,2,6,5 3,7 2,2,1,5 2,2,1,5", "" },
    { "Attention@23", "2,3,12 2,6,12 2,6,6 t3,6", "q_num_heads=3 kv_num_heads=3 softcap=2.0 scale=0.5" }, { "Attention@23", "2,3,12 2,6,5 2,6,5", "q_num_heads=3" },
    { "Attention@23", "2,3,4,5 2,3,6,5 2,3,6,2 w3,5", "" }, { "Attention@24", "2,3,4,5 2,3,6,5 2,3,6,2 - - - n2", "" },
    { "RotaryEmbedding@23", "2,3,4,6 w2,4,3 w2,4,3", "" }, { "RotaryEmbedding@23", "2,4,12 w7,2 w7,2 n2,4", "num_heads=2 interleaved=1 rotary_embedding_dim=4" },
    { "RotaryEmbedding@23", "2,4,12 w7,2 w7,2 n2,4", "" }, { "RotaryEmbedding@23", "2,3,4,6 w2,4,2 w2,4,2", "" }, { "RotaryEmbedding@23", "2,3,4,6 w2,4,3 w2,4,3", "rotary_embedding_dim=8" },
    { "LSTM 3", "3,2,4 w1,20,4 w1,20,5 - - 1,2,5 1,2,5", "hidden_size=5" }, { "LSTM", "3,2,4 w1,20,4 w1,20,5 - - 1,2,5", "hidden_size=5" },
    { "GRU", "3,2,4 w2,15,4 w2,15,5 - - 2,2,5", "hidden_size=5 direction=bidirectional" }, { "GRU", "3,2,4 w1,15,4 w1,15,5 - - 2,2,5", "hidden_size=5" },
    { "Softmax@13", "2,6,3,4", "" }, { "Hardmax@13", "2,6,3,4", "" }, { "RoiAlign@15", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=1" },
    { "RoiAlign@16", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=1" }, { "Softmax@12", "2,6,3,4", "" }, { "Softmax@12", "2,6,1,1", "" }, { "Softmax@12", "2,6,3,4", "axis=2" }, { "LogSoftmax@12", "2,6,3,4", "axis=3" },
    { "Hardmax@12", "2,6,3,4", "" }, { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=1" },
    { "RNN", "3,2,4 w1,5,4 w1,5,5", "hidden_size=5 direction=reverse" }, { "RNN 2", "3,2,4 w2,5,4 w2,5,5 w2,10", "hidden_size=5 direction=bidirectional" },
    { "LSTM", "3,2,4 w1,20,4 1,20,5", "hidden_size=5" }, { "LSTM", "3,2,4 w1,20,4 w1,20,5 1,40", "hidden_size=5" },
    { "GRU", "3,2,4 w3,15,4 w3,15,5", "hidden_size=5" },
    { "Conv", "2,3,4,5,6 w4,3,2,3,2", "" }, { "Concat", "2,6,3,4,5 2,6,2,4,5", "axis=2" }, { "Concat", "2,6,3,4,5 2,2,3,4,5", "axis=1" },
    { "Slice", "2,6,3,4,5 =1 =3 =2", "" }, { "Slice", "2,6,3,4,5 =1 =3 =1", "" }, { "BatchNormalization", "2,6,3,4 6 w6 w6 ~1,2,3,4,5,6", "" }, { "BatchNormalization", "2,6,3,4 w6 w6 w6 6", "" }, { "LRN", "2,6", "" },
    { "LRN", "2,6,1,2,3,2", "" }, { "InstanceNormalization", "2,6 w6 w6", "" },
    { "ThresholdedRelu", "2,3,2,3,2", "alpha=0.125" }, { "ScatterND", "2,3 =2x2:0,1,1,2 2", "" },
    { "OneHot", "n2,3 =1 ~0,1", "" },
    { "Mul", "2,6,3,4,5 2,6,3,4,5", "" }, { "Mul", "2,6,3,4,5 2,6,1,1,1", "" }, { "Mul", "2,6,3,4,5 2,6,3,1,1", "" }, { "Mul", "2,6,3,4,5 2,6,1,4,5", "" },
    { "Mul", "2,6,3,4,5 w3,1,5", "" }, { "Mul", "2,6,3,4,5 w1,4,5", "" }, { "Mul", "2,6,3,4,5 w4,5", "" }, { "Mul", "2,6,3,4,5 w3,4,1", "" }, { "Trilu", "2,3,2,4,5", "" },
    { "GatherElements", "5,6,4 n3,6,4", "" }, { "ScatterElements", "6,2 =1x2:5,-1 1,2", "" }, { "Concat", "3,6 2,6", "" }, { "ArgMin", "5,6,4", "keepdims=0" },
    { "Reshape", "2,6,3,4 =2,6,3,1,2,2", "" },
    { "Sub", "2,6,3,4 ~1x1x1x1:0.5", "" }, { "Sub", "~1x1x1x1:0.5 2,6,3,4", "" }, { "Pad", "2,6,3,4,5 =0,0,1,0,2,0,0,0,3,0", "" },
    { "Pad", "2,6,3,4,5 =0,0,0,1,0,0,0,0,0,2 ~0.25", "" }, { "Expand", "2,6,3,1,5 =2,6,3,4,5", "" }, { "QuantizeLinear", "2,6,3,4 ~0.0625", "" },
    { "DequantizeLinear", "2,6,3,4 ~0.25 ~3", "" }, { "DequantizeLinear", "2,6,3,4 ~1 ~1", "" }, { "DequantizeLinear", "2,6,3,4 ~0.25", "" }, { "DequantizeLinear", "2,6,3,4 ~0", "" },
    { "OneHot", "n2,3 =5 ~1,3", "" }, { "Gemm", "2,6 w6,5 w5", "alpha=2.0" },
    { "Mul", "2,6,3,4,5 w6,1,1,1", "" }, { "Add", "2,6,3,4,5 w5", "" }, { "Relu", "2,6,3,4,5", "" }, { "ReduceMean", "2,6,3,4,5", "axes=2,3,4" },
};

/* ---- one operator drafted -------------------------------------------------------------------------------------- */

enum way { AS_INPUTS, AS_IMAGES, FIRST_IMAGE, LAST_IMAGE, FIRST_CONSTANT, LAST_CONSTANT, TRAINED, N_WAYS };
static const char *const way_names[N_WAYS] = { "inputs", "images", "first an image", "last an image", "first a constant", "last a constant", "trained" };

static bool is_floats(const char *text) { return *text >= '0' && *text <= '9'; }

/* Three to five dimensions can pass through an identity convolution. */
static bool can_be_image(const char *text)
{
    size_t n_commas = 0;
    for (const char *c = text; *c; c++)
        n_commas += *c == ',';
    return is_floats(text) && n_commas >= 2 && n_commas <= 4;
}

static void through_convolution(struct draft *d, const char *name, const char *from, const char *text)
{
    uint64_t n = strtoull(strchr(text, ',') + 1, NULL, 10);
    const char *eye = arena_printf(&d->arena, "eye-%s", name);
    size_t n_dims = 1;
    for (const char *c = text; *c; c++)
        n_dims += *c == ',';
    draft_weight(d, eye, n_dims, (uint64_t[]){ n, n, 1, 1, 1 });
    Onnx__TensorProto *t = d->weights[d->graph.n_initializer - 1];
    for (uint64_t i = 0; i < n * n; i++)
        t->float_data[i] = i / n == i % n;
    draft_node(d, "Conv", arena_printf(&d->arena, "%s %s", from, eye), name, "");
}

static bool is_chosen(enum way way, size_t i, size_t first, size_t last)
{
    return way == AS_IMAGES || way == TRAINED || ((way == FIRST_IMAGE || way == FIRST_CONSTANT) && i == first) ||
           ((way == LAST_IMAGE || way == LAST_CONSTANT) && i == last);
}

static const char *draft_one(struct draft *d, char *text, size_t i, enum way way, bool chosen)
{
    const char *name = arena_printf(&d->arena, "%c", (int)('a' + i));
    bool constant = chosen && (way == FIRST_CONSTANT || way == LAST_CONSTANT);
    if (!*text)
        return "-";
    if (*text == 'n' || *text == 't') {
        draft_input(d, name, *text == 'n' ? ONNX_INT64 : ONNX_BOOL, text + 1);
        return name;
    }
    if (chosen && !constant && can_be_image(text)) {
        draft_input(d, name, ONNX_FLOAT, text);
        const char *image = arena_printf(&d->arena, "%s-image", name);
        through_convolution(d, image, name, text);
        return image;
    }
    draft_operand(d, name, constant ? arena_printf(&d->arena, "w%s", text) : text);
    return name;
}

static int64_t opset_of(const struct row *r)
{
    const char *at = strchr(r->op, '@');
    return at ? strtol(at + 1, NULL, 10) : strstr(r->attributes, "axes=") ? 12 : 18;
}

/* NULL: this way equals another one, or leaves nothing to compute. */
static struct draft *drafted(const struct row *r, enum way way, uint64_t n_outputs, uint64_t *batch)
{
    struct draft *d = draft_start(opset_of(r));
    size_t n, first = SIZE_MAX, last = SIZE_MAX, n_floats = 0;
    char **words = draft_words(d, r->operands, &n);
    bool constant = way == FIRST_CONSTANT || way == LAST_CONSTANT;
    for (size_t i = 0; i < n; i++) {
        bool counts = constant ? is_floats(words[i]) : can_be_image(words[i]);
        first = counts && first == SIZE_MAX ? i : first;
        last = counts ? i : last;
        n_floats += is_floats(words[i]) || *words[i] == 'n' || *words[i] == 't';
    }
    bool alone = first == last, double_way = way == LAST_CONSTANT || way == LAST_IMAGE || way == FIRST_IMAGE;
    if ((way != AS_INPUTS && way != TRAINED && first == SIZE_MAX) || (alone && double_way) || (constant && n_floats < 2)) {
        draft_end(d);
        return NULL;
    }
    const char *names = "", *made = "y0";
    for (size_t i = 0; i < n; i++)
        names = arena_printf(&d->arena, "%s%s%s", names, i ? " " : "", draft_one(d, words[i], i, way, is_chosen(way, i, first, last)));
    for (uint64_t i = 1; i < n_outputs; i++)
        made = arena_printf(&d->arena, "%s y%ju", made, (uintmax_t)i);
    draft_node(d, arena_printf(&d->arena, "%.*s", (int)strcspn(r->op, " @"), r->op), names, made, r->attributes);
    *batch = d->graph.n_input ? (uint64_t)d->inputs[0]->type->tensor_type->shape->dim[0]->dim_value : 1;
    draft_text(d, "work: 1,1; work-w = 1,1; MatMul work work-w > work-y");
    return d;
}

/* Imports the operator with result k as the first output. */
static struct imported *imported(const struct row *r, enum way way, uint64_t k)
{
    uint64_t n_outputs = strchr(r->op, ' ') ? strtoull(strchr(r->op, ' '), NULL, 10) : 1, batch;
    struct draft *d = k < n_outputs ? drafted(r, way, n_outputs, &batch) : NULL;
    if (!d)
        return NULL;
    const char *names = arena_printf(&d->arena, "y%ju", (uintmax_t)k);
    for (uint64_t i = 0; i < n_outputs; i++)
        names = i == k ? names : arena_printf(&d->arena, "%s y%ju", names, (uintmax_t)i);
    return import(d, arena_printf(&d->arena, "%s work-y", names), (struct onnx_options){ .inference = way != TRAINED, .batch = batch });
}

/* ---- what became of it ------------------------------------------------------------------------------------------ */

static void print_dims(FILE *f, const char *name, const uint64_t *dims, uint32_t n)
{
    fprintf(f, " %s", name);
    for (uint32_t i = 0; i < n && dims[i]; i++)
        fprintf(f, "%s%ju", i ? "x" : "", (uintmax_t)dims[i]);
}

static void print_attributes(FILE *f, enum op_kind kind, const struct op_attributes *at)
{
    const struct { const char *name; double x; } numbers[] = {
        { "height", at->kernel_h }, { "width", at->kernel_w }, { "stride", at->stride }, { "stride-w", at->stride_w }, { "groups", at->groups },
        { "dilation", at->dilation }, { "counts-padding", at->counts_padding }, { "hidden", at->hidden }, { "reset-before", at->reset_before },
        { "from-last", at->from_last }, { "with-cell", at->with_cell }, { "border", at->border },
        { "low", at->low }, { "high", at->high }, { "inverted", at->inverted }, { "linear", at->linear },
        { "rate", at->rate }, { "norm-groups", at->norm_groups }, { "epsilon", at->epsilon }, { "axis", at->axis }, { "pieces", at->pieces },
        { "begin", (double)at->begin }, { "length", (double)at->length }, { "transpose-b", at->transpose_b }, { "to", at->to_type },
    };
    if (kind == OP_MAP || kind == OP_COMBINE)
        fprintf(f, " %s", op_function_name(at->function));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].x != 0)
            fprintf(f, " %s=%.9g", numbers[i].name, numbers[i].x);
    if (at->zeros[0] | at->zeros[1] | at->zeros[2] | at->zeros[3])
        fprintf(f, " zeros=%u,%u,%u,%u", at->zeros[0], at->zeros[1], at->zeros[2], at->zeros[3]);
    if (at->view[0])
        print_dims(f, "view=", at->view, MAX_DIMS);
    if (at->order[0] | at->order[1])
        fprintf(f, " order=%u,%u,%u,%u,%u", at->order[0], at->order[1], at->order[2], at->order[3], at->order[4]);
}

static void print_op(FILE *f, const struct graph *g, const struct op *op)
{
    static const char *const roles[] = { [ROLE_INPUT] = "", [ROLE_WEIGHT] = "weight ", [ROLE_STATE] = "state " };
    fprintf(f, "    %s", op_kind_names[op->kind]);
    print_attributes(f, op->kind, op->at);
    fputs(":", f);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct tensor *t = &g->tensors[op->inputs[i]];
        const char *role = t->producer_op == NO_ID ? roles[t->role] : "";
        print_dims(f, role, t->dims, t->n_dims);
    }
    fputs(" ->", f);
    for (uint32_t i = 0; i < op->n_outputs; i++)
        print_dims(f, "", g->tensors[op->outputs[i]].dims, g->tensors[op->outputs[i]].n_dims);
    fputc('\n', f);
}

/* Operations of the operator alone, without the identity convolutions, the added product and the loss. */
static char *described(struct imported *r)
{
    const struct op *first = r->g.ops, *end = r->g.ops + r->g.n_forward_ops;
    char *text;
    for (const struct op *op = first; op < end; op++)
        if (op->kind == OP_CONV && strncmp(r->g.tensors[op->inputs[1]].name, "eye", 3) == 0)
            first = op + 1;
    PRINTED(text,
        for (const struct op *op = first; op + 1 < end; op++)
            print_op(f, &r->g, op);
        for (size_t i = 0; i < r->im.n_counts; i++)
            if (!text_is(r->im.counts[i].op, "MatMul") && !text_is(r->im.counts[i].op, "Conv"))
                fprintf(f, "    %s: %s, %s\n", onnx_fate_names[r->im.counts[i].fate], r->im.counts[i].into, r->im.output_is_image ? "an image" : "plain"));
    return text;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------------- */

/* Inputs of one name have the same contents in all ways. */
static double *numbers(struct imported *r)
{
    double **v = onnx_values(&r->g, &r->im, &r->arena);
    for (size_t i = 0; i < r->im.n_inputs; i++) {
        const struct tensor *t = &r->g.tensors[r->im.inputs[i]];
        for (uint64_t k = 0; k < tensor_elements(t); k++)
            v[r->im.inputs[i]][r->im.input_is_image[i] ? channels_last(k, t) : k] =
                t->type == TYPE_INT32 ? (double)(k * 7 % 5) : t->type == TYPE_UINT8 ? k * 7 % 3 > 0 : (double)(float)draft_noise(t->name, k);
    }
    return executed(r, v);
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(1, fabs(a)); }

/* The first, the last, and two others. */
static void print_numbers(FILE *f, const double *y, uint64_t n)
{
    const uint64_t at[] = { 0, n / 3, n / 2, n - 1 };
    fprintf(f, "    y");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        fprintf(f, " %.6g", y[at[i]] + 0.0);
    fputc('\n', f);
}

static void compare(const struct row *row, enum way way, struct imported *first, struct imported *r)
{
    double *want = numbers(first), *found = numbers(r);
    uint64_t n = tensor_elements(&first->g.tensors[first->im.output]);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), n);
    for (uint64_t i = 0; i < n; i++) {
        if (!is_same(want[i], found[i]))
            print_error("%s %s %s, %s: element %ju of %ju is %g, want %g\n", row->op, row->operands, row->attributes, way_names[way], (uintmax_t)i,
                        (uintmax_t)n, found[i], want[i]);
        assert_true(is_same(want[i], found[i]));
    }
}

/* The operation that each layout becomes; equal ones are joined. */
static void print_ways(FILE *f, char *const text[N_WAYS])
{
    for (enum way way = 0; way < N_WAYS; way++) {
        bool said = !text[way];
        for (enum way k = 0; k < way && !said; k++)
            said = text[k] && strcmp(text[k], text[way]) == 0;
        for (enum way k = way; k < N_WAYS && !said; k++)
            if (text[k] && strcmp(text[k], text[way]) == 0)
                fprintf(f, "%s%s", k == way ? "  " : ", ", way_names[k]);
        if (!said)
            fprintf(f, "\n%s", text[way]);
    }
}

/* Prints the first way that is not refused, and compares the others with it. */
static void print_result(FILE *f, const struct row *row, uint64_t k, char *text[N_WAYS])
{
    struct imported *first = NULL;
    for (enum way way = 0; way < N_WAYS; way++) {
        struct imported *r = imported(row, way, k);
        if (!r)
            continue;
        const char *at = r->good ? NULL : strstr(r->err.msg, "': ");
        if (k == 0)
            text[way] = r->good ? described(r) : strdup(arena_printf(&r->arena, "    refused: %s\n", at ? at + 3 : strchr(r->err.msg, ':') + 2));
        bool runs = r->good && way != TRAINED;
        if (runs && !first) {
            print_numbers(f, numbers(r), tensor_elements(&r->g.tensors[r->im.output]));
            first = r;
            continue;
        }
        if (runs)
            compare(row, way, first, r);
        done(r);
    }
    if (first)
        done(first);
}

static void print_row(FILE *f, const struct row *row)
{
    char *text[N_WAYS] = { NULL };
    fprintf(f, "%s %s %s\n", row->op, row->operands, row->attributes);
    for (uint64_t k = 0; k < 4; k++)
        print_result(f, row, k, text);
    print_ways(f, text);
    for (enum way way = 0; way < N_WAYS; way++)
        free(text[way]);
}

static void operators(void **state)
{
    struct arena a = { 0 };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            print_row(f, &rows[i]));
    assert_digests(text, "", "tests/golden/onnx_operators.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(operators) };
TAP_MAIN(tests)
