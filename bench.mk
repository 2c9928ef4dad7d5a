# bench.mk - build, tests and benchmark targets. Another project's makefile includes it too, and gets harness/project.mk.
home := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ifneq ($(home),.)
include $(home)/harness/project.mk
else
B      ?= build
CFLAGS ?= -O2 -g
# Ours, apart from CFLAGS: a command-line CFLAGS would wipe out any "+=".
# A kind that a switch leaves out, and a row without its last members, don't compile.
flags  := -std=c11 -fPIC -fno-semantic-interposition -D_GNU_SOURCE -I. -I$B -Iresults/simulate -MMD -MP -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion \
          -Werror=switch -Werror=switch-enum -Werror=missing-field-initializers
libs   := -lgsl -lgslcblas -lcsv -ljansson -lprotobuf-c -lxxhash -lz -lpthread -lm

folders := system-model workloads results
sources := $(foreach f,$(folders),$(wildcard $f/*/*.c))
schemas := $(wildcard workloads/onnx/*.proto)
objects := $(sources:%.c=$B/%.o) $(schemas:%.proto=$B/%.pb-c.o)
program := $(patsubst %.c,$B/%.o,$(wildcard harness/*.c))
# The library is the program without its main.
library := $(objects) $(filter-out $B/harness/main.o,$(program))
tests   := $(patsubst %.c,$B/%,$(wildcard tests/*/t_*.c))
shell   := $(wildcard tests/cli/t_*.sh)
# Runs lie in results/runs; with a build folder of another name, in that: the source may be read-only.
run     := $(if $(filter build,$B),results/runs/latest,$B/runs/latest)
# V=1 shows the commands.
quiet   := $(if $(V),,@)
say     := $(if $(V),@:,@echo >&2 '  ')
export PODBENCH ?= $(abspath $B/podbench)
# The reason reaches the shell as a variable, as it was given: make does not expand it.
export PODBENCH_REASON := $(value REASON)
unexport REASON

all: $B/podbench                        ## build the program

# What git says of the folder, or what git archive wrote into it. The file changes only when the commit does.
commit = $(or $(shell git -C $(CURDIR) describe --always --abbrev=12 --dirty --exclude='*' 2>/dev/null),$(filter-out $$Format%,$(shell cat harness/commit.txt)),unknown)
$B/commit.c: always
	@mkdir -p $(@D)
	@printf '%s\n' 'extern const char podbench_commit[]; const char podbench_commit[] = "$(commit)";' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$B/commit.o: $B/commit.c
	$(quiet)$(CC) $(CFLAGS) -c -o $@ $<

bench: $B/podbench                      ## simulate every published run, print the comparison, write results/runs/latest and its figures
	$B/podbench bench --out $(run)
	$B/podbench plot $(run)
	$B/podbench report $(run)

# ROOM=plan: the tests of a room, those that read one of its headers, and what reads all sources or prints answers.
ifdef ROOM
room := $(firstword $(wildcard $(addsuffix /$(ROOM),$(folders)) $(ROOM)))
$(if $(room),,$(error ROOM=$(ROOM): no such room; they are listed in docs/architecture.md))
include_of = $(shell grep -l '^\#include "\($(1)\)' $(2))
space := $(subst ,, )
read_by := $(call include_of,$(room)/,$(wildcard tests/*.h tests/*/*.h))
readers := $(call include_of,$(room)/$(subst $(space),,$(patsubst %,\|%",$(read_by))),$(wildcard tests/*/t_*.c))
tests   := $(filter $(patsubst %.c,$B/%,$(readers)) $B/tests/$(ROOM)/%,$(tests))
shell   := $(wildcard tests/cli/t_$(ROOM).sh tests/cli/t_printed*.sh $(patsubst %,tests/cli/t_%.sh,words docs layers bad_input))
endif

# Those of the shell take longest, and begin.
test: $B/podbench $B/libpodbench.so $(tests)              ## run every test under prove; ROOM=plan: those of a room and its readers, and the printed answers
	prove -j$$(nproc) -e '' $(shell) $(tests)

plots: $(run)/rows.csv                  ## redraw the figures of the last run
	$B/podbench plot $(run)

$(run)/rows.csv: $B/podbench
	$B/podbench bench --out $(run) > $B/bench.txt

baseline: $B/podbench                   ## simulate, and record the predictions that gate compares with; needs REASON="why they moved"
	@[ -n "$$PODBENCH_REASON" ] || { echo 'podbench: make baseline REASON="why the predictions moved"' >&2; exit 2; }
	$B/podbench validate --out results/validity > $B/bench.txt
	sh harness/tables.sh
	$B/podbench bench --out $B/gate > $B/bench.txt
	$B/podbench baseline $B/gate --reason "$$PODBENCH_REASON"
	sh harness/tables.sh
	$B/podbench validate $B/gate --out results/validity >> $B/bench.txt
	sh harness/tables.sh

gate: $B/podbench                       ## compare a fresh simulation with the recorded one: exit 1 when anything moved
	@[ -e results/baselines/rows.csv ] || { echo "podbench: no baseline is recorded in results/baselines; 'make baseline' records one" >&2; exit 2; }
	$B/podbench bench --out $B/gate > $B/bench.txt
	$B/podbench compare results/baselines $B/gate

readme: $B/podbench                     ## simulate, and update the tables and figures of README and docs
	$B/podbench bench --out $(run) > $B/bench.txt
	$B/podbench plot $(run)
	perl harness/readme.pl $B/podbench README.md docs/*.md docs/maintainers/*.md
	$B/podbench audit --format markdown > docs/maintainers/audit.md
	$B/podbench list metrics --format markdown > docs/formats.md
	$B/podbench list words --format markdown > docs/glossary.md
	mkdir -p docs/figures
	cp $(run)/figures/scaling.svg $(run)/figures/kinds.svg $(run)/figures/large.svg docs/figures/

golden: $(tests) $B/podbench            ## rewrite the golden texts; read the diff
	for t in $(tests); do PODBENCH_GOLDEN=write $$t >/dev/null || true; done
	for t in $(wildcard tests/cli/t_printed*.sh); do PODBENCH_GOLDEN=write sh $$t >/dev/null || true; done
	git diff --stat tests/golden

lint: | $B/needs-lint                   ## run cppcheck, and let clang read program and tests with every warning an error
	cppcheck --quiet -j$$(nproc) --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
	    --suppress=missingIncludeSystem --suppress=invalidPointerCast -I. $(folders) harness
	$(MAKE) B=$B/clang CC=clang CFLAGS=-Werror \
	    $(patsubst %.c,$B/clang/%.checked,$(sources) $(wildcard harness/*.c) $(filter-out tests/harness/example.c,$(wildcard tests/*.c tests/*/*.c)))

sanitizers := -O1 -g1 -DARENA_GUARDS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Left out: words, circles, layers and needs run no podbench; docs and readme ask for help, lists and a bench, as t_cli, t_printed_tables and t_bench do;
# ask searches for long what t_search and t_printed_many search in little; killed_writers kills commands that others run whole at a few hundred calls.
unsanitized := $(patsubst %,tests/cli/t_%.sh,killed_writers ask words circles layers needs docs readme)
# The sanitizer keeps few freed blocks and short traces of who allocated, and gives no memory back: that took a quarter of the time.
asan_options := malloc_context_size=4:quarantine_size_mb=16:allocator_release_to_os_interval_ms=-1
asan:                                   ## run the tests under the address and undefined-behaviour sanitizers
	ASAN_OPTIONS=$(asan_options) $(MAKE) B=$B/asan CFLAGS="$(sanitizers)" PODBENCH="$(abspath $B/asan/podbench)" PODBENCH_CHANGES=100 \
	    shell="$(filter-out $(unsanitized),$(shell))" tests="$(filter-out $(unsanitized),$(tests:$B/%=$B/asan/%))" test
# Left to `make asan`, as they take long under sanitizers: of 6,435 functions that tests call (as clang counts calls), 7 are called by these alone.
asan-ci: unsanitized += $(patsubst %,tests/cli/t_%.sh,anywhere bench examples execute framework framework_options full_disk guess import_round killed ledger mlperf models_page \
    numbers printed_explain printed_missing project replaces round_tables search timeline)
asan-ci: unsanitized += $(patsubst %,$B/asan/tests/%,harness/t_warm_cold simulate/t_fits simulate/t_losing_parts execute/t_torch study/t_fit study/t_search)
asan-ci: asan                           ## the same without tests that take long and call next to nothing of their own

ONNX ?= ../shared/onnx
onnx-outputs: $B/tests/onnx/outputs     ## execute the ONNX files of a folder (ONNX=DIR) and compare with the expected outputs beside them
	$B/tests/onnx/outputs $(ONNX)

# Debian's package libonnx-testdata has them.
ONNX_NODES ?= /usr/share/libonnx-testdata/data/node
onnx-nodes: $B/tests/onnx/nodes         ## run the ONNX project's tests of single operators (ONNX_NODES=DIR): exit 1 when one differs
	$B/tests/onnx/nodes $(ONNX_NODES)

MODULES ?= node_modules
onnx-runtime: $B/podbench $B/tests/onnx/outputs $B/tests/onnx/written     ## ONNX Runtime (MODULES=DIR with onnxruntime-node) runs built-in models and must get the same outputs
	PODBENCH=$B/podbench OUTPUTS=$B/tests/onnx/outputs WRITTEN=$B/tests/onnx/written sh tests/onnx/runtime.sh $(MODULES)

# Debian's python3-torch, for Debian's python3.
PYTHON3 ?= /usr/bin/python3
torch: $B/tests/execute/torch_steps     ## train small models here and in PyTorch, if it is installed, in fp32 and in fp64, and compare losses and gradients
	@mkdir -p $B/torch
	$B/tests/execute/torch_steps $B/torch
	@if $(PYTHON3) -c 'import torch' 2>/dev/null; then $(PYTHON3) tests/execute/torch_modules.py $B/torch tests/execute/torch_losses.csv; \
	else echo "podbench: nothing compared: PyTorch is not installed; apt-get install python3-torch"; fi

tried := results/published/claims/numbers.csv
numbers: $B/tests/execute/number_statements $B/tests/execute/training_statements     ## try statements on formats, norms and batches (docs/maintainers/numerics.md): exit 1 where a verdict is not the recorded one
	@sh harness/needs.sh train
	@for program in $^; do $$program $B/numbers.csv || [ $$? -eq 1 ] || exit 2; done
	@cut -d, -f1,5 $(tried) > $B/numbers.before; cut -d, -f1,5 $B/numbers.csv | diff $B/numbers.before - > $B/numbers.difference || \
	    { echo "podbench: verdicts that are not the recorded ones; $B/numbers.csv is the new table:" >&2; cat $B/numbers.difference >&2; exit 1; }
	@mv $B/numbers.csv $(tried)

mutants: $B/tests/graph/t_execute       ## spoil each backward rule of the kernels, one at a time, and ask whether the tests of gradients notice
	CC="$(CC)" $(PYTHON3) tests/execute/mutants.py $B

MUTANTS ?= 380
SEED ?= 1
onnx-mutants: $B/tests/onnx/mutate $B/tests/onnx/outputs    ## small models at random (MUTANTS=N SEED=S), which ONNX Runtime and podbench must compute alike
	MUTATE=$B/tests/onnx/mutate OUTPUTS=$B/tests/onnx/outputs sh tests/onnx/mutants.sh $(MODULES) $(SEED) $(MUTANTS)

onnx-versions: $B/tests/onnx/mutate     ## ONNX Runtime (MODULES=DIR) computes the numbers of tests/onnx/versions.txt again, opset by opset
	rm -rf $B/onnx-versions && mkdir -p $B/onnx-versions
	$B/tests/onnx/mutate $B/onnx-versions tests/onnx/versions.txt
	NODE_PATH=$(MODULES) node tests/onnx/versions.js $B/onnx-versions tests/onnx/versions.txt 2>/dev/null | diff tests/onnx/versions.txt -

onnx-check: $B/podbench                 ## ONNX's own checker (python3-onnx) accepts the built-in models as written
	$(PYTHON3) tests/onnx/check.py $B/podbench

onnx-torch: $B/podbench                 ## models of PyTorch and torchvision, if they are installed: parameters and multiply-accumulates as torch counts them
	$(PYTHON3) tests/onnx/models.py $B/podbench

assumed: $B/podbench                    ## halve and double each assumed number of the code, and write how far that moves every recipe into docs/maintainers/trust.md
	perl tests/assumed.pl $B/assumed "$(CC)" docs/maintainers/trust.md

warm-cold: $B/tests/harness/t_warm_cold ## compare one process that answers many questions with fresh ones for SECONDS (3600): SEED begins with other draws
	PODBENCH_SECONDS=$(or $(SECONDS),3600) PODBENCH_SEED=$(or $(SEED),1) $<

SEED ?= 1
sample-words:                           ## print 60 comments and 30 messages drawn by SEED=1, to be read by somebody who has not seen the code
	@perl tests/sample_words.pl $(SEED) $(shell find $(folders) harness -name '*.[ch]' | sort)
memo-proof:                             ## in a copy, add keys and forget that plans are remembered: exit 1 if that gives wrong numbers
	perl tests/memo_proof.pl $B/memo-proof "$(CC)"

speed: $B/tests/speed $B/podbench       ## measure how fast the simulator itself is
	$B/tests/speed
	sh tests/counts.sh $B/podbench

counts: $B/podbench                     ## count instructions of some cases, which no machine changes: exit 1 if one takes more than its limit
	sh tests/counts.sh $B/podbench

gate-quality: $B/tests/gate_quality     ## measure how often watch raises a false alarm, and how soon it notices a change
	$B/tests/gate_quality

clean:                                  ## remove what was built
	rm -rf $B

help:                                   ## print this list
	@sed -n 's/^\([a-z-]*\):.*##/\1 -/p' $(MAKEFILE_LIST)

# ---- how things are built

$B/podbench: $(program) $(objects) $B/commit.o
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

$B/tests/gate_quality: $B/tests/gate_quality.o $(objects)
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

$B/tests/speed: $B/tests/speed.o $(objects)
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

# Tests share one library, so that a change of the product links once. They find it beside them, wherever the build folder is.
$B/libpodbench.so: $(library)
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ $(libs)

depth = $(subst $(eval) ,/,$(patsubst %,..,$(subst /, ,$(patsubst $B/%,%,$(@D)))))
$B/tests/%: $B/tests/%.o | $B/libpodbench.so
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< -L$B -lpodbench '-Wl,-rpath,$$ORIGIN/$(depth)' -lcmocka $(libs)

# A file that clang reads without a warning; gcc's build of it is the one that runs.
$B/%.checked: %.c | $B/needs $(schemas:%.proto=$B/%.pb-c.h) $B/workloads/models/families.h
	@mkdir -p $(@D)
	$(say) check $<
	$(quiet)$(CC) $(filter-out -M%,$(flags)) $(CFLAGS) -fsyntax-only $< && touch $@

$B/%.o: %.c | $B/needs
	@mkdir -p $(@D)
	$(say) cc $<
	$(quiet)$(CC) $(flags) $(CFLAGS) $(less) -c -o $@ $<

# A test runs once, mostly in the library: faster code would not repay its compilation.
$(tests:=.o): less := -O0

# Readers of protobuf files are generated from the schema; what includes them waits for it.
$B/%.pb-c.c $B/%.pb-c.h &: %.proto | $B/needs
	@mkdir -p $(@D)
	$(say) protoc-c $<
	$(quiet)protoc-c --proto_path=. --c_out=$B $<

# The families of models: every file that begins a line with WORKLOADS(its name).
$B/workloads/models/families.h: always
	@mkdir -p $(@D)
	@sed -n 's/^WORKLOADS(\(.*\))$$/FAMILY(\1)/p' $(wildcard workloads/models/*.c) > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$B/workloads/models/workload.o: | $B/workloads/models/families.h

$(schemas:%.proto=$B/%.pb-c.o): %.o: %.c
	$(say) cc $<
	$(quiet)$(CC) -std=c11 -fPIC -I$B $(CFLAGS) -c -o $@ $<

$(filter $B/workloads/onnx/%,$(objects)) $(patsubst %.c,$B/%.o,$(wildcard tests/onnx/*.c)): | $(schemas:%.proto=$B/%.pb-c.h)

# Once a build folder: what is missing is installed by name, or named.
$B/needs:
	@CC="$(CC)" sh harness/needs.sh build
	@mkdir -p $B && touch $@

$B/needs-lint:
	@sh harness/needs.sh lint
	@mkdir -p $B && touch $@

.PHONY: always sample-words torch numbers mutants assumed warm-cold memo-proof onnx-outputs onnx-nodes onnx-runtime onnx-mutants onnx-check onnx-versions onnx-torch all bench test plots baseline gate gate-quality readme golden lint asan asan-ci speed counts clean help
.SECONDARY:
-include $(objects:.o=.d) $(program:.o=.d) $(wildcard $B/tests/*.d $B/tests/*/*.d)

include harness/install.mk
endif
