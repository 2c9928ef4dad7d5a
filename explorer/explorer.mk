# explorer.mk - the simulator as WebAssembly, and the page around it. Included by the Makefile after bench.mk.
# It needs Debian's emscripten, node-acorn, dpkg-dev and nodejs with npm, which `make explorer` looks for and names.
W    := $B/wasm
emcc := NODE_PATH=/usr/share/nodejs emcc -O2
# The compiler that emcc calls, with its options: emcc itself takes longer to start than a file to compile.
wasm_cc = $$(cat $W/compiler) -ffp-contract=off

# What commands of the page use, which executes nothing; the linker takes what is reached.
wasm_rooms   := $(filter-out system-model/execute/% workloads/data/% results/train/% results/calibrate/% results/figures/% results/history/%,$(sources))
wasm_harness := $(patsubst %,harness/%.c,answer ask ask_words diff explain fit kernel list list_names list_recipes list_words machine plan run run_table search session submission sweep sweep_table unused words workload)
wasm_objects := $(patsubst %.c,$W/%.o,$(wasm_rooms) $(wasm_harness) explorer/entry.c explorer/progress.c) $(schemas:%.proto=$W/%.pb-c.o)

# GSL's folders that the product may reach, of which the linker takes what is reached, and the other libraries, from Debian's source packages.
gsl_folders := blas block cblas cdf complex err fit linalg matrix multifit multifit_nlinear multimin permutation randist rng sort specfunc statistics sys vector
libraries := $(gsl_folders:%=$W/gsl/%.a) $W/protobuf-c.o $W/libcsv.o $W/xxhash.o \
    $(patsubst %,$W/jansson/%.o,dump error hashtable hashtable_seed load memory pack_unpack strbuffer strconv utf value)

$W/podbench.mjs: $(wasm_objects) $(libraries)
	$(say) link $@
	$(quiet)$(emcc) -o $@ $^ -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=worker -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB \
	    -sTOTAL_STACK=1MB -sFORCE_FILESYSTEM=1 -sEXPORTED_FUNCTIONS=_explorer_open,_explorer_ask,_explorer_output,_explorer_messages \
	    -sEXPORTED_RUNTIME_METHODS=FS,ccall,UTF8ToString --no-entry

$W/%.o: %.c | $W/needs
	@mkdir -p $(@D)
	$(say) wasm $<
	$(quiet)$(wasm_cc) -Werror=format $(filter-out -fPIC -fno-semantic-interposition -W%,$(flags)) -I$W/include -include system-model/base/musl.h -c -o $@ $<

$W/workloads/models/workload.o: | $B/workloads/models/families.h
$(filter $W/workloads/onnx/%,$(wasm_objects)): | $(schemas:%.proto=$B/%.pb-c.h)

$W/workloads/onnx/%.pb-c.o: $B/workloads/onnx/%.pb-c.c | $W/needs
	@mkdir -p $(@D)
	$(quiet)$(wasm_cc) -I$B -I$W/include -c -o $@ $<

# Each source package is complete once $W/needs is there. A folder of GSL takes one call of the compiler; its makefile names the files.
$W/gsl/%.a: | $W/needs
	$(say) wasm gsl/$*
	@mkdir -p $W/gsl/$*
	$(quiet)cc="$(wasm_cc)"; cd $W/gsl/$* && $$cc -w -I$(abspath explorer/gsl) -I$(abspath $W/sources/gsl) -I$(abspath $W/sources/gsl)/$* -I$(abspath $W/include) \
	    -c $$(sed -n ':a;/\\$$/{N;ba};s/^lib.*_la_SOURCES *=//p' $(abspath $W/sources/gsl)/$*/Makefile.am | grep -o '[A-Za-z0-9_]\+\.c' | sed "s,^,$(abspath $W/sources/gsl)/$*/,")
	$(quiet)emar rcs $@ $W/gsl/$*/*.o
$W/jansson/%.o: | $W/needs
	@mkdir -p $(@D)
	$(quiet)$(wasm_cc) -DHAVE_STDINT_H -DHAVE_UNISTD_H -DUSE_URANDOM=0 -I$W/include -c -o $@ $W/sources/jansson/src/$*.c
$W/protobuf-c.o: | $W/needs
	$(quiet)$(wasm_cc) -I$W/sources/protobuf-c -c -o $@ $W/sources/protobuf-c/protobuf-c/protobuf-c.c
$W/libcsv.o: | $W/needs
	$(quiet)$(wasm_cc) -c -o $@ $W/sources/libcsv/libcsv.c
$W/xxhash.o: | $W/needs
	$(quiet)$(wasm_cc) -c -o $@ $W/sources/xxhash/xxhash.c

# The headers are those of the packages that the native program is built with.
$W/needs: explorer/sources.sh | $B/needs
	@sh harness/needs.sh explorer
	@mkdir -p $W/include/protobuf-c
	sh explorer/sources.sh $W/sources
	cp -r /usr/include/gsl /usr/include/jansson.h /usr/include/jansson_config.h /usr/include/csv.h /usr/include/xxhash.h $W/include/
	cp /usr/include/protobuf-c/protobuf-c.h $W/include/protobuf-c/
	: > $W/include/jansson_private_config.h
	: > $W/nothing.c
	$(emcc) -v -c -o $W/nothing.o $W/nothing.c 2>&1 | sed -n '/clang/{s/ -O2 -v .*//;s/"//g;p;q}' > $W/compiler
	touch $@


# ---- the page

page_files := $(wildcard explorer/*.js explorer/*.html explorer/*.css) explorer/build.mjs
page_data  := $(wildcard system-model/specs/*.csv system-model/specs/*/*.csv workloads/recipes/*.ini workloads/recipes/graphs/*.onnx workloads/recipes/operators/* workloads/convergence/*.csv \
    workloads/convergence/*/*/*.csv results/published/*.csv results/published/*/*.csv results/validity/*.csv)

explorer: $B/explorer.html              ## write the explorer, the simulator as one page of HTML, to build/explorer.html; needs Emscripten and npm
$B/explorer.html: $W/podbench.mjs $B/podbench $(page_files) $(page_data) $B/explorer/installed
	node explorer/build.mjs $B

# The versions are those that package.json names.
$B/explorer/installed: explorer/package.json | $W/needs
	@mkdir -p $(@D)
	cp explorer/package.json $(@D)/
	cd $(@D) && npm install --omit=dev --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	touch $@

$B/explorer/installed-tests: $B/explorer/installed
	cd $(@D) && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	touch $@

explorer-test: $B/explorer.html $B/explorer/installed-tests bench   ## try the explorer and the report in headless Chromium
	@sh harness/needs.sh explorer-test
	node explorer/test.mjs $B
	node explorer/test-engine.mjs $B
	node explorer/test-hostile.mjs $B
	node explorer/test-report.mjs $B $(run)/report.html

.PHONY: explorer explorer-test
-include $(wasm_objects:.o=.d)
