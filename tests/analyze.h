/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.h - included before each file that `make analyze` looks at: what an analyzer cannot see across files.
 */
#ifndef ANALYZE_H
#define ANALYZE_H
#include "system-model/base/base.h"
#include "workloads/onnx/onnx_model.h"

static inline bool is_false(bool failed)
{
    (void)failed;
    return false;
}

#ifndef DEFINES_FAIL
#define fail(...) is_false(fail(__VA_ARGS__))
#define onnx_refuse(...) is_false(onnx_refuse(__VA_ARGS__))
#define fail_at(...) is_false(fail_at(__VA_ARGS__))
#endif
#endif
