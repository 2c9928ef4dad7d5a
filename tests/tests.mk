# tests.mk - what is done to the tests themselves: fuzzing, coverage, mutation. Included by the Makefile after bench.mk.
FUZZ_SECONDS ?= 20
fuzzers := $(patsubst %.c,$B/%,$(wildcard tests/fuzz/fuzz_*.c))

fuzz: | $B/needs-lint                   ## fuzz each target for FUZZ_SECONDS (20), guided by coverage; inputs that reach new code go into tests/corpus.tar.xz
	$(MAKE) B=$B/fuzz CC=clang CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined" fuzz_link="-fsanitize=fuzzer" \
	    FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz-run
	$(MAKE) fuzz-coverage

seeds_fuzz_recipe := workloads/recipes
seeds_fuzz_sheet  := system-model/specs system-model/specs/sdk system-model/specs/frameworks
seeds_fuzz_mllog  := tests/bad/mllog
seeds_fuzz_table  := results/published results/baselines
made_fuzz_onnx    := $(if $(wildcard $(ONNX_NODES)),$B/onnx-seeds)
# libFuzzer's own choice of what to try next counts each feature against all rare ones: until each was seen 256 times, that takes longer
# than a slow target itself.
$(foreach f,command diff fit model package search series sweep,$(eval schedule_fuzz_$f := -entropic=0))
fuzz-run: $(fuzzers) $B/keys.dict $(made_fuzz_onnx) $B/corpus.unpacked
	@mkdir -p $B/finds
	set -e; $(foreach f,$(notdir $(fuzzers)),mkdir -p $B/found/$f $B/corpus/$f; \
	    $B/tests/fuzz/$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=60 -max_len=8192 -verbosity=0 -print_final_stats=1 \
	        -dict=$B/keys.dict -artifact_prefix="$(abspath $B)/finds/$f-" $B/found/$f $B/corpus/$f $(wildcard $(seeds_$f)) $(made_$f); \
	    $B/tests/fuzz/$f -merge=1 -use_counters=0 -verbosity=0 $B/corpus/$f $B/found/$f;)
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C $B -cf - corpus | xz -9e > tests/corpus.tar.xz

# The inputs that reached new code, a folder for each target, are kept as one archive.
$B/corpus.unpacked: tests/corpus.tar.xz | $B/needs-lint
	@rm -rf $B/corpus && mkdir -p $B
	$(quiet)tar -C $B -xJf $< && touch $@

# The fuzzers' words: every recipe key, and what it may be.
$B/keys.dict: $B/podbench
	$B/podbench list keys | sed -nE 's/^\[([a-z]+)\].*/@\1/p; s/^  ([a-z_0-9]+) \(([^)]*)\).*/\1 \2/p' | \
	    awk 'BEGIN { print "\"open.\"" } /^@/ { s = substr($$0, 2); next } \
	         { print "\"" s "." $$1 "=\""; if (split($$2, v, "|") > 1) for (i in v) print "\"" v[i] "\"" }' | sort -u > $@

# The ONNX project's tests of single operators, each behind the byte of options that fuzz_onnx reads: inference, priced roughly.
$B/onnx-seeds:
	@mkdir -p $@.new
	for d in $(ONNX_NODES)/*/; do { printf '\024'; cat "$${d}model.onnx"; } >$@.new/$$(basename "$$d") || exit 1; done
	mv $@.new $@

fuzz-replay: $(fuzzers:%=%-replayed)    ## run the corpus again, without a fuzzer

asan-replay:                            ## the same under the sanitizers, with what make asan built
	ASAN_OPTIONS=$(asan_options) $(MAKE) B=$B/asan CFLAGS="$(sanitizers)" fuzz-replay

$(fuzzers:%=%-replayed): %-replayed: %-replay $B/corpus.unpacked
	$< $B/corpus/$(notdir $*)

# Lines of the product that corpus and seeds reach, by clang's own counters.
fuzz-coverage: | $B/needs-lint
	$(MAKE) B=$B/coverage CC=clang CFLAGS="-O1 -g -fprofile-instr-generate -fcoverage-mapping" fuzz-coverage-run

fuzz-coverage-run: $(fuzzers:%=%-replay) $(made_fuzz_onnx) $B/corpus.unpacked
	rm -f $B/*.profraw
	set -e; $(foreach f,$(notdir $(fuzzers)),LLVM_PROFILE_FILE="$B/$f.profraw" \
	    $B/tests/fuzz/$f-replay $B/corpus/$f $(wildcard $(seeds_$f)) $(made_$f) >/dev/null;)
	llvm-profdata merge -o $B/fuzz.profdata $B/*.profraw
	llvm-cov report $(firstword $(fuzzers))-replay $(foreach f,$(wordlist 2,99,$(fuzzers)),-object $f-replay) \
	    -instr-profile=$B/fuzz.profdata $(folders) > $B/fuzz-coverage.txt
	@awk '$$1 == "TOTAL" { print "fuzzing reaches " $$10 " of the lines of $(folders)" }' $B/fuzz-coverage.txt

$B/tests/fuzz/fuzz_%: $B/tests/fuzz/fuzz_%.o $(objects)
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(fuzz_link) $(LDFLAGS) -o $@ $^ $(libs)

$B/tests/fuzz/fuzz_%-replay: $B/tests/fuzz/fuzz_%.o $B/tests/fuzz/replay.o $(objects)
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

# The program's commands, without its main.
of_command := $B/tests/fuzz/box.o $B/commit.o $B/tests/fuzz/commands.o $(filter-out $B/harness/main.o,$(program))
$(foreach f,fuzz_command fuzz_model fuzz_package,$B/tests/fuzz/$f $B/tests/fuzz/$f-replay): $(of_command)
$B/tests/fuzz/fuzz_command $B/tests/fuzz/fuzz_command-replay: LDFLAGS += -Wl,--wrap=simulator_pool_open

$B/tests/fuzz/commands.o: harness/main.c | $B/needs
	@mkdir -p $(@D)
	$(say) cc $@
	$(quiet)$(CC) $(flags) -Dmain=podbench_main $(CFLAGS) -c -o $@ $<

.PHONY: fuzz fuzz-run fuzz-replay asan-replay fuzz-coverage fuzz-coverage-run $(fuzzers:%=%-replayed)
-include $(fuzzers:=.d) $(addprefix $B/tests/fuzz/,replay.d box.d commands.d)

# ---- training: three small models on data of Debian's packages, their answers, logs and figures in $B/train. TRAIN_OPTIONS: --seeds 5
TRAIN_OPTIONS ?=
trained := fashion kjv digits
train: $(trained:%=$B/train/%.txt)      ## train three small models for some minutes each: images, text, speech
train_data_fashion := /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz
train_data_kjv     := build/data/kjv.txt
train_data_digits  := build/data/digits/eval-labels.npy
.SECONDEXPANSION:
$B/train/%.txt: $B/podbench workloads/recipes/trained/%.ini $$(train_data_$$*)
	@mkdir -p $(@D)
	$< train workloads/recipes/trained/$*.ini $(TRAIN_OPTIONS) --plot $B/train/$*.svg --mllog $B/train/$*-log > $@ || [ $$? -eq 1 ]
	cat $@

/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz:
	@sh harness/needs.sh train
build/data/kjv.txt:
	@sh harness/needs.sh train && mkdir -p $(@D)
	bible -f Gen1:1-Rev22:21 | cut -d' ' -f2- | sed 's/\([.;:?!]\)  */\1\n/g' > $@.new && mv $@.new $@
build/data/digits: build/data/digits/eval-labels.npy
build/data/digits/eval-labels.npy: workloads/data/speak_digits.py
	@sh harness/needs.sh train
	/usr/bin/python3 $< $(@D)

.PHONY: train build/data/digits

# ---- analysis: gcc's and clang's, file by file; a finding is an error
analyzed := $(patsubst %.c,$B/analyzed/%.ok,$(sources) $(wildcard harness/*.c))
analyze: $(analyzed)                    ## run gcc's -fanalyzer and clang's analyzer over the program

analysis = $(filter-out -M% -W%,$(flags)) $(if $(filter %/arena.c %/onnx/model.c,$<),-DDEFINES_FAIL) -include tests/analyze.h
$B/analyzed/%.ok: %.c tests/analyze.h | $B/needs $B/needs-lint $(schemas:%.proto=$B/%.pb-c.h) $B/workloads/models/families.h
	@mkdir -p $(@D)
	$(say) analyze $<
	$(quiet)gcc $(analysis) -O1 -fanalyzer -Werror -c -o $(@:.ok=.o) $<
	$(quiet)clang --analyze $(analysis) --analyzer-output text -Xclang -analyzer-werror $<
	@touch $@

.PHONY: analyze

# ---- mutation: MUTATE_COUNT (300) random changes of each room, or of the rooms MUTATE="plan compiler", by the seed MUTATE_SEED, and which of them no test
# notices of those that fit into MUTATE_BUDGET_S seconds of processor. It goes on where it was stopped; MUTATE_AGAIN=--again asks changed tests about
# the survivors; `rm -r $B/mutate` draws anew, as a change of the product needs. docs/maintainers/mutants.md gets the table.
MUTATE_COUNT ?= 300
MUTATE_SEED ?= 1
MUTATE_BUDGET_S ?= 20
mutate: $B/podbench                     ## change MUTATE_COUNT (300) operators, constants and bounds of each room, one at a time; list what no test notices
	@sh harness/needs.sh mutate
	CC="$(CC)" nice -n 19 $(PYTHON3) tests/mutate.py --work $B/mutate --count $(MUTATE_COUNT) --seed $(MUTATE_SEED) --budget $(MUTATE_BUDGET_S) \
	    --record docs/maintainers/mutants.md $(MUTATE_AGAIN) $(MUTATE)

# ---- functions that no test calls. gcc counts calls in a build of its own; some tests compile files of the product for themselves.
unexecuted:                             ## run every test, and list the functions of the product that none of them calls
	$(MAKE) B=$B/unexecuted CFLAGS="-O1 --coverage" LDFLAGS=--coverage PODBENCH="$(abspath $B/unexecuted/podbench)" test || true
	$(MAKE) -s B=$B/unexecuted list-unexecuted

list-unexecuted:
	@{ find $B -name '*.gcno' ! -path '$B/tests/*' ! -name '*.pb-c.gcno' -exec gcov -n -f {} \;; echo Tests; \
	    find $B/tests -name '*.gcno' -exec gcov -n -f {} \;; } 2>/dev/null | \
	    awk -F"[':%]" '/^Function/ { f = $$2 } /^Tests/ { in_tests = 1 } /^Lines executed/ && (f in calls || !in_tests && f != "") { calls[f] += $$2 } \
	        !/^Function/ { f = "" } END { for (f in calls) if (!calls[f]) print f }' | sort

.PHONY: mutate unexecuted list-unexecuted
