/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * product.c - products by oneDNN.
 *
 * The library is opened when the first product asks for it, not linked: commands that execute nothing do not load 39 MB. On one thread of a Xeon with
 * AVX-512, oneDNN 2.6.3 made 55 to 82 GFLOP/s on seven products of ResNet-50 and BERT-Large, OpenBLAS 0.3.21 31 to 75; the fewer columns, the further
 * behind. A product is cut into blocks of rows if it is large enough to share, and threads take the blocks in order.
 */
#include "system-model/execute/product.h"
#include "system-model/base/base.h"

#include <dlfcn.h>
#include <pthread.h>

/* ---- products ---------------------------------------------------------------------------------- */

typedef int sgemm(char turn_a, char turn_b, int64_t rows, int64_t columns, int64_t inner, float alpha, const float *a, int64_t stride_a,
                  const float *b, int64_t stride_b, float beta, float *c, int64_t stride_c);
static sgemm *library_sgemm;
static void (*set_library_threads)(int n);      /* OpenMP's function, for the calling thread */

static void open_library(void)
{
    void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&set_library_threads = dlsym(library, "omp_set_num_threads");
    *(void **)&library_sgemm = set_library_threads ? dlsym(library, "dnnl_sgemm") : NULL;
}

static sgemm *find_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return library_sgemm;
}

const char *product_library(void) { return find_library() ? "oneDNN" : "plain loops"; }

static bool library_product(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns)
{
    sgemm *multiply = find_library();
    if (!multiply)
        return false;
    set_library_threads(1);
    return multiply(a.turned ? 'T' : 'N', b.turned ? 'T' : 'N', (int64_t)rows, (int64_t)columns, (int64_t)inner, 1, a.x, (int64_t)a.stride,
                    b.x, (int64_t)b.stride, 1, c.x, (int64_t)c.stride) == 0;
}

static void plain_product(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns)
{
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < inner; k++) {
            float x = a.turned ? a.x[k * a.stride + i] : a.x[i * a.stride + k];
            for (uint64_t j = 0; j < columns; j++)
                c.x[i * c.stride + j] += x * (b.turned ? b.x[j * b.stride + k] : b.x[k * b.stride + j]);
        }
}

struct product { struct matrix c, a, b; uint64_t rows, inner, columns, rows_of_piece; const struct product_way *way; };

static void multiply_rows(void *user, size_t piece, uint32_t worker)
{
    (void)worker;
    const struct product *p = user;
    uint64_t first = piece * p->rows_of_piece, rows = min_u64(p->rows_of_piece, p->rows - first);
    struct matrix a = p->a, c = p->c;
    a.x += first * (a.turned ? 1 : a.stride);
    c.x += first * c.stride;
    if (p->way->pass_inputs)
        amp_product_add(c, a, p->b, rows, p->inner, p->columns, p->way);
    else if (!library_product(c, a, p->b, rows, p->inner, p->columns))
        plain_product(c, a, p->b, rows, p->inner, p->columns);
}

/* Products of fewer multiplications are not shared: a thread would take longer to start. A piece has an eighth of the rows, and not fewer than
 * the library needs to work at its full rate. */
enum { MAC_WORTH_SHARING = 1 << 22, LEAST_ROWS = 64, PIECES = 8 };

void product_add(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns, const struct product_way *way)
{
    bool shared = rows * inner * columns >= MAC_WORTH_SHARING;
    struct product p = { c, a, b, rows, inner, columns, shared ? max_u64(LEAST_ROWS, ceil_div(rows, PIECES)) : rows, way };
    if (rows && inner && columns)
        work_in_pieces(multiply_rows, &p, ceil_div(rows, p.rows_of_piece), way->n_threads);
}
