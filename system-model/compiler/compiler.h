/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiler.h - what the operations of a graph cost on the tiles of one IPU, layer by layer, and what collectives and
 * copies cost on its links.
 *
 * Read in order: parts of time, the plan of one operation, work outside the graph, layers, the compiler. A plan splits
 * one operation over the tiles and counts its supersteps: compute on the slowest tile, sync, exchange. Cycles are
 * those of the chip's clock, bytes are bytes, and counts are of one micro-batch unless said otherwise. The numbers
 * behind the cycles are PopLibs' (compiler_internal.h, vertex_cost.c); what no source gives is in base/assumed.h.
 *
 * Functions that return a plan or a cost cannot fail: one that needs more memory than there is says so in its
 * temp_bytes_per_tile, and the plan of the whole step then does not fit. Results live in the arena or the cache that
 * is given, and never change once made.
 */
#ifndef COMPILER_H
#define COMPILER_H
#include "system-model/base/memo.h"
#include "system-model/compiler/optimizers.h"
#include "system-model/graph/types.h"
#include "system-model/network/collective.h"

/* ---- layer_costs.c: cycles by what they are spent on ----------------------------------------------------------- */

enum part {
    PART_MATMUL, PART_CONV, PART_NORM, PART_ELEMENTWISE, PART_SOFTMAX, PART_EMBEDDING, PART_POOLING, PART_LSTM, PART_LOSS,
    PART_REARRANGE,
    PART_EXCHANGE, PART_SYNC,
    PART_STAGE_COPY,                    /* activations and gradients between the replica's IPUs */
    PART_BUBBLE,                        /* waiting: fill, drain, uneven stages, slower chips */
    PART_ACCUMULATE,
    PART_ALL_REDUCE, PART_OPTIMIZER,
    PART_STREAMING,                     /* optimizer state to and from streaming memory */
    PART_HOST,                          /* input that is not hidden, barriers */
    N_PARTS
};
extern const char *const part_names[N_PARTS];

/* The resource that a part occupies, and by which a step can be bound. */
enum part_class { CLASS_COMPUTE, CLASS_EXCHANGE, CLASS_SYNC, CLASS_LINKS, CLASS_WAITING, CLASS_MEMORY, CLASS_HOST, N_PART_CLASSES };
extern const char *const part_class_names[N_PART_CLASSES];
extern const enum part_class part_classes[N_PARTS];

struct cycles { uint64_t part[N_PARTS]; };
uint64_t cycles_total(const struct cycles *c);
uint64_t cycles_of_class(const struct cycles *c, enum part_class class);
void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times);     /* to += times * c, part by part */

/* Seconds as cycles of this chip's clock, rounded up; MOST_CYCLES if they are more or not a number. plan_build()
 * refuses a step that long (2^53 cycles are 56 days at 1.85 GHz), so that sums of cycles are exact in 64 bits and in a
 * double. */
#define MOST_CYCLES ((uint64_t)1 << 53)
uint64_t cycles_of(const struct topology *t, double time_s);

/* ---- energy.c: what work costs besides time ------------------------------------------------------------------- */

enum energy_cause { ENERGY_RUNNING, ENERGY_MAC, ENERGY_VECTOR, ENERGY_EXCHANGE, ENERGY_LINKS, N_ENERGY_CAUSES };
struct energy { double j[N_ENERGY_CAUSES]; };
void energy_add(struct energy *to, const struct energy *e, double times);       /* to += times * e, cause by cause */
double energy_total(const struct energy *e);
double energy_error_j(const struct energy *e, const struct chip *chip);         /* how far it may be off, by what the chip's sheet leaves open */

/* ---- op_plan.c: one pass of one operation ---------------------------------------------------------------------- */

enum partials_type { PARTIALS_FP16, PARTIALS_FP32 };
/* A unit of the AMP multiplies a chain of four operands of 8 bytes, one a cycle, and adds up their products and a partial sum. Its weights for them are 32
 * bytes: 8 floats, 16 halves or 32 quarters (weights per conv unit in PopLibs' target). The width of the vector unit is independent of that. */
enum { AMP_CHAIN = 4, AMP_UNIT_BYTES = 32 };
enum vertex_kind { VERTEX_NONE, VERTEX_AMP_1X1, VERTEX_AMP_NX1, VERTEX_SLIC, VERTEX_HMAC, VERTEX_OUTER_PRODUCT, N_VERTEX_KINDS };
extern const char *const vertex_kind_names[N_VERTEX_KINDS];

struct op_plan_options {
    enum partials_type partials;
    double available_memory;            /* share of tile memory that temporaries may take: 0..1 */
    bool inference;                     /* norms fold into fewer passes */
    uint64_t n_tiles;                   /* tiles that compute: the chip's, less I/O tiles */
    const struct chip *splits_of;       /* convolutions take the splits that are best on that chip, and are priced here; NULL: searched */
};

/* How often each dimension of a convolution is split. The product of the first six is the number of tiles in use. */
struct conv_split {
    uint32_t batch, field, kernel, conv_groups, in_chans, out_chans;
    uint32_t serial_in, serial_out;     /* steps one after the other */
    uint32_t in_grain, out_grain;       /* channels of one grain, which is never split */
};

/* The needs of a plan on a tile besides data. The body of a serial loop counts once. */
struct op_code {
    uint32_t supersteps, exchanges;     /* compute sets; exchange phases */
    uint32_t pieces;                    /* runs of bytes that the fullest tile receives, each from one other tile */
    uint32_t worklist_bytes;            /* read by vertices besides their operands' addresses */
};

/* Must not hold padding: plans are compared as bytes. */
struct op_plan {
    uint64_t compute_cycles, exchange_cycles, sync_cycles;  /* over all supersteps; their sum is the time of the pass */
    uint32_t n_supersteps;
    uint32_t n_tiles_used;
    uint64_t mac, padded_mac;           /* multiply-accumulates of the operation, without and with padded channels and kernel rows */
    uint64_t exchanged_bytes;           /* received by all tiles together */
    uint64_t temp_bytes_per_tile;       /* fullest tile, while the operation runs */
    uint64_t interleaved_bytes;         /* part of them that must lie in interleaved memory: the sums that the AMP writes */
    struct op_code code;
    enum vertex_kind vertex;
    enum partials_type partials;
    struct conv_split split;            /* convolutions and matmuls; else zeros */
    uint64_t rearrange_cycles;          /* part of the above: changes of layout, compute and exchange */
    double imbalance;                   /* bytes of the results on the fullest tile over an even share; at least 1 */
    uint32_t code_id;                   /* set by compile_graph(): operations with the same number share their code (outlining) */
    uint32_t together;                  /* 1: its operands have the same layout, so that none was moved to another */
};

static inline uint64_t op_plan_cycles(const struct op_plan *p)
{
    return p->compute_cycles + p->exchange_cycles + p->sync_cycles;
}
/* Adds computing to the part given, exchange and sync to parts of their own, times over. */
void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times);

/* Plans of convolutions by shape, chip and options. One cache may serve many graphs and simulations; {0} is an empty
 * one. */
struct plan_cache { struct arena arena; struct hash_table plans; uint64_t hits, misses; };
void plan_cache_free(struct plan_cache *c);

/* How the operands of an operation are laid out by those that made them. Vector operations run where an operand is
 * and leave their results there; products fetch their operands. */
struct operands {
    double imbalance;                   /* the most even operand's bytes on the fullest tile over an even share, at least 1 */
    bool together;                      /* all operands of the largest size have one layout, element by element */
};
static const struct operands even_operands = { 1, false };
void op_plan_build(struct op_plan *out, const struct graph *g, uint32_t op_id, struct operands operands, const struct chip *chip,
                   const struct op_plan_options *opt, struct plan_cache *cache);
bool op_is_elementwise(const struct op *op);    /* works where its operand is */
bool op_writes_over(const struct op *op);       /* has a form in place, which writes its result over an operand that is not read again */
enum part op_part(const struct op *op);     /* the part that its computing counts as */

/* The energy of one pass, in all tiles, by the chip's law; zeros if it has none. Products are counted with padding and with their operands;
 * all other work by the bytes of its operands and results. Tiles that run are counted apart, whatever they do. */
struct energy op_energy(const struct graph *g, const struct op *op, const struct op_plan *p, const struct chip *chip);

/* Multiply-accumulates of one tile's AMP in a cycle, by which shares of peak are measured; 0: fp8 on a chip without
 * it. */
uint64_t chip_mac_per_cycle(const struct chip *c, enum data_type type, enum partials_type partials);
/* Fails, with `where` at the head of the message, for fp8 on a chip that multiplies none. */
bool chip_multiplies(const struct chip *c, enum data_type type, const char *where, struct err *err);

/* One axis of a convolution. The input follows pad_before elements of padding; whatever is reached beyond it is
 * padding too. Kernel elements are `dilation` apart. */
struct conv_axis { uint64_t positions, kernel, stride, pad_before, in, dilation; };
/* How many of n positions, from `first` on, lie between the first and the last at which one of the kernel elements
 * from_kernel to to_kernel (included) meets the input. Summed over single kernel elements, this is the number of
 * multiplications along the axis. */
uint64_t conv_axis_met(const struct conv_axis *x, uint64_t first, uint64_t n, uint64_t from_kernel, uint64_t to_kernel);

/* ---- vector_passes.c: work that is not in the graph ------------------------------------------------------------ */

/* The elements are spread evenly over the options' tiles. type is that of weight and gradient. moment_bytes is the
 * mean size of an optimizer's moments of a parameter; other work ignores it. */
void vector_work_plan(struct op_plan *out, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                      const struct chip *chip, const struct op_plan_options *opt);

/* The tensors of halves that a micro-batch leaves for its backward pass, kept as they are or cast to fp8. */
struct stash { uint64_t n_bytes, n_tensors; bool fp8; };
void stash_plan(struct op_plan *write, struct op_plan *read, const struct stash *s, const struct chip *chip, const struct op_plan_options *opt);

/* ---- layer_costs.c: operations summed by layer ----------------------------------------------------------------- */

/* One layer, one micro-batch. */
struct layer_cost {
    struct cycles forward, backward;
    uint64_t forward_cycles, backward_cycles;           /* totals of the two */
    uint64_t op_cycles, off_amp_cycles;                 /* all operations once, forward and backward; products among them that do not use the AMP */
    struct energy forward_energy, backward_energy;      /* backward: with the slices that are computed again */
    uint64_t forward_mac, backward_mac, slices_mac;     /* slices_mac: forward work that a repeated layer does again in its backward pass */
    uint64_t n_parameters;                  /* trainable elements */
    uint64_t weight_bytes;
    uint64_t output_bytes;                  /* activations of this and earlier layers that later layers read */
    uint64_t kept_bytes;                    /* activations that backward passes read; without recomputation they live until then */
    uint64_t temp_bytes_per_tile, interleaved_bytes;        /* largest of its operations' plans */
    uint64_t host_bytes, result_bytes;      /* inputs from the host; forward results that no operation reads */
};
/* The costs of all layers as far as no plan is needed: parameters and bytes, which are the same on every chip. */
const struct layer_cost *layer_costs_unplanned(const struct graph *g, struct arena *a);

/* ---- compiler.c: a graph compiled, and everything remembered --------------------------------------------------- */

enum { MAX_STAGES = 64 };

/* A graph compiled for one chip and one set of options. */
struct compiled {
    struct op_plan_options options;
    const struct op_plan **op_plans;        /* by operation of the graph; equal operations share one */
    struct layer_cost *layers;
    const struct tensor_room *tensors;      /* by tensor of the graph */
};
/* Bytes of a tensor, and as they lie: if every tile held as much of it as the fullest tile. Results are where their plan computed them. */
struct tensor_room { uint64_t bytes, lying_bytes; };
const struct tensor_room *tensor_rooms(const struct graph *g, const struct op_plan *const *op_plans, struct arena *a);

struct tied_use { uint32_t layer_id, tensor_id; };      /* a layer that reads a weight of another layer */

/* Compiles on demand and remembers, so that a sweep over configurations of one graph on one machine pays for each
 * layer and each collective once. compiler_start() sets it up; callers may then set what is marked as optional. */
struct compiler {
    /* The caller's, which outlive the compiler. */
    const struct graph *graph;
    const struct topology *topology;
    struct plan_cache *cache;
    struct arena *arena;                        /* owns everything that is compiled */
    const struct chip *splits_of;               /* optional: op_plan_options.splits_of of everything compiled */
    const struct watch *watch;                  /* optional: told of operations as they are planned */
    const uint32_t *alike;                      /* optional: compile_equal_ops() of the graph; NULL: each operation is planned by itself */
    const struct layer_cost *layers;            /* optional: layer_costs_unplanned() of the graph; NULL: made when wanted */
    /* Found in the graph by compiler_start(). */
    uint32_t *weights; uint32_t n_weights;      /* tensors that are weights */
    uint32_t *spanning; uint32_t n_spanning;    /* operations that gather statistics over neighbouring replicas */
    struct tied_use *tied; size_t n_tied, cap_tied;
    /* Everything made so far. The compiler is the world of its memos: one of parts, which many plans share, and one of whole plans. */
    struct memo memo, plans;
    const struct compiled **variants; size_t n_variants, cap_variants;
    struct hash_table codes;
    struct collective_cache collective_cache;
};
void compiler_start(struct compiler *c, const struct graph *g, const struct topology *t, struct plan_cache *cache, struct arena *a);
void compiler_forget(struct compiler *c);       /* artefacts live on, but are not found again */

/* For each operation, the first one that is planned in the same way if operands are laid out alike: the layers of
 * most models repeat. */
const uint32_t *compile_equal_ops(const struct graph *g, struct arena *a);
/* Equal options give the same object. */
const struct compiled *compile_graph(struct compiler *c, const struct op_plan_options *opt);

/* collective_run(), remembered. kind and method are enum collective_kind and collective_method. */
MEMO_INPUT(collective_question, uint32_t kind, method, unfolded, n_in_use; struct rank_pattern ranks; double bytes, port_bytes;);
bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_question *q, struct err *err);

/* Flows that n_replicas make at the same time, remembered. `flows` are those of replica 0; each next replica is
 * `width` IPUs further. */
struct flows_cost { double time_s, busiest_bytes[N_LINK_KINDS]; };
bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err);

/* n compiled layers from `first` on. The ranges of one IPU are summed together. */
MEMO_INPUT(layer_range, struct owned compiled; uint32_t first, n;);
/* The program on a tile besides its data (program_code.c). outlining: operations with equal plans share their code, and call it. */
struct program_bytes { uint64_t vertex_code, vertex_state, control_code, exchange_code; };
struct program_bytes compile_program(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, bool outlining);
void program_bytes_add(struct program_bytes *to, const struct op_code *code, uint64_t n_calls);     /* without vertex code */
uint64_t op_code_bytes(const struct op_code *code);         /* the same of one operation, in all */
uint64_t vector_work_codelet_bytes(enum vector_work work);  /* vertex code */
/* The code of n exchanges in which a tile receives this many pieces. */
uint64_t exchange_code_bytes(uint64_t n_exchanges, uint64_t n_pieces);
/* vector_work_plan(), remembered. */
const struct op_plan *compile_vector_work(struct compiler *c, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                                          const struct op_plan_options *opt);
/* Work over all weights of the layers, tensor by tensor. Computing counts as `part`. Not for optimizers, whose
 * moments are unknown here. */
struct cycles compile_weight_work(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, enum vector_work work,
                                  enum part part);

#endif
