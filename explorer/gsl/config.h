/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - what GSL's configure would find for WebAssembly: a C99 mathematical library, and no registers of extended precision.
 */
#define HAVE_DECL_EXPM1 1
#define HAVE_DECL_HYPOT 1
#define HAVE_DECL_ISFINITE 1
#define HAVE_DECL_ISINF 1
#define HAVE_DECL_ISNAN 1
#define HAVE_DECL_LDEXP 1
#define HAVE_DECL_LOG1P 1
#define HAVE_PRINTF_LONGDOUBLE 1
#define GSL_COERCE_DBL(x) (x)
#define GSL_RANGE_CHECK 0
#define DISCARD_POINTER(p) do { (void)(p); } while (0)
#define RETURN_IF_NULL(x) if (!(x)) { return; }
