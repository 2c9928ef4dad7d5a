# install.mk - installing and packaging: make install PREFIX=/usr/local DESTDIR=; make uninstall; make deb.
PREFIX  ?= /usr/local
DESTDIR ?=
bindir  := $(DESTDIR)$(PREFIX)/bin
datadir := $(DESTDIR)$(PREFIX)/share/podbench
mandir  := $(DESTDIR)$(PREFIX)/share/man/man1
libdir  := $(DESTDIR)$(PREFIX)/lib
version := $(shell sed -n 's/.*PODBENCH_VERSION "\([^"]*\)".*/\1/p' system-model/base/base.h)
commands = $(shell $B/podbench --commands)
help2man := $(shell command -v help2man)
# What the program reads; results/runs is not among it.
data    := $(wildcard system-model/specs/*.csv system-model/specs/*/*.csv workloads/recipes/*.ini workloads/recipes/graphs/*.onnx workloads/recipes/operators/* workloads/convergence/*.csv workloads/convergence/rounds/*/*.csv \
               results/published/*.csv results/published/*/*.csv results/validity/*.csv results/baselines/*.csv plots/*.* plots/single/* harness/project/*)

library: $B/libpodbench.a $B/libpodbench.so.$(version)        ## build the simulator as a library; its header is harness/podbench.h

$B/libpodbench.a: $(library)
	$(say) ar $@
	$(quiet)rm -f $@ && $(AR) rcs $@ $^

# Its name holds the version: struct podbench_result grows with the table of metrics. Only the names of its header are seen from outside.
$B/libpodbench.so.$(version): $(library) harness/podbench.map
	$(say) link $@
	$(quiet)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--disable-new-dtags '-Wl,-rpath,$$ORIGIN' -Wl,--version-script=harness/podbench.map -o $@ $(library) $(libs)

$B/podbench.pc: harness/install.mk
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: podbench' 'Description: simulator of IPU systems' 'Version: $(version)' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lpodbench' 'Libs.private: $(libs)' > $@

install: $B/podbench library $(if $(help2man),man)              ## install under PREFIX (/usr/local), or DESTDIR/PREFIX
	install -d $(bindir) $(mandir) $(libdir)/pkgconfig $(DESTDIR)$(PREFIX)/include $(datadir)/harness \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $B/podbench $(bindir)/podbench
	install -m 644 $B/libpodbench.a $(libdir)/libpodbench.a
	install -m 755 $B/libpodbench.so.$(version) $(libdir)/libpodbench.so.$(version)
	ln -sf libpodbench.so.$(version) $(libdir)/libpodbench.so
	install -m 644 harness/podbench.h results/simulate/podbench_metrics.def $(DESTDIR)$(PREFIX)/include
	rm -f $B/podbench.pc && $(MAKE) --no-print-directory B=$B PREFIX=$(PREFIX) $B/podbench.pc
	install -m 644 $B/podbench.pc $(libdir)/pkgconfig/podbench.pc
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || :       # so that programs find the library
	install -m 644 bench.mk $(datadir)/bench.mk
	install -m 644 harness/project.mk $(datadir)/harness/project.mk
	for f in $(data); do install -D -m 644 "$$f" "$(datadir)/$$f" || exit 1; done
	$(if $(help2man),install -m 644 $B/man/*.1 $(mandir),@echo 'podbench: no man pages: help2man is not installed (make man installs it)' >&2)
	$B/podbench completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/podbench
	$B/podbench completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_podbench
	$B/podbench completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/podbench.fish

# What help does not say is in manual.h2m and examples.txt.
man: $B/podbench                        ## write the man pages to the build folder, by help2man
	@sh harness/needs.sh man
	@rm -rf $B/man && mkdir -p $B/man
	@for c in '' $(commands); do \
	    { cat harness/manual.h2m; awk -F';' -v c="$$c" '$$1 == c { gsub(/-/, "\\-"); printf "%s.TP\n.B %s\n%s\n", n++ ? "" : "[EXAMPLES]\n", $$2, $$3 }' \
	        harness/examples.txt; } > $B/man/extra && \
	    SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-0} help2man --no-info --version-string=$(version) --include=$B/man/extra \
	        --name="$$($B/podbench --complete '' | awk -F'\t' -v c="$$c" '$$1 == c { print $$2; n = 1 } END { if (!n) print "predicts machine-learning runs on Graphcore IPU systems" }')" \
	        "$B/podbench$${c:+ $$c}" | sed "s/^\.TH PODBENCH/&$${c:+-$$c}/; s/^podbench $$c /podbench-$$c /" \
	        > "$B/man/podbench$${c:+-$$c}.1" || exit 1; \
	done; rm $B/man/extra

uninstall: $B/podbench                  ## remove what install has put there
	rm -rf $(datadir)
	rm -f $(bindir)/podbench $(libdir)/libpodbench.a $(libdir)/libpodbench.so $(libdir)/libpodbench.so.$(version) $(libdir)/pkgconfig/podbench.pc $(DESTDIR)$(PREFIX)/include/podbench.h $(DESTDIR)$(PREFIX)/include/podbench_metrics.def \
	    $(mandir)/podbench.1 $(patsubst %,$(mandir)/podbench-%.1,$(commands)) \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/podbench $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_podbench \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/podbench.fish

# A binary package by dpkg-deb; what it depends on is read off the program.
deb: $B/podbench library                  ## build a Debian package in the build folder
	rm -rf $B/deb
	$(MAKE) --no-print-directory B=$B PREFIX=/usr DESTDIR=$B/deb install > $B/deb-install.txt
	[ ! -e $B/deb/usr/share/man/man1/podbench.1 ] || gzip -9n $B/deb/usr/share/man/man1/*.1
	install -D -m 644 LICENSE $B/deb/usr/share/doc/podbench/copyright
	mkdir -p $B/deb/DEBIAN
	CC="$(CC)" sh harness/deb-control.sh $B/deb/usr/bin/podbench $(version) > $B/deb/DEBIAN/control
	dpkg-deb --root-owner-group --build $B/deb $B/podbench_$(version).deb

.PHONY: library install man uninstall deb python-files wheel python-test

# ---- Python: the package holds the library, what it loads, and the data. PYTHON_FILES is the package's folder.
# Debian's own libraries are found beside ours, so that a wheel needs none of them installed.
PYTHON ?= python3
python-files: $B/libpodbench.so.$(version)
	@[ -n "$(PYTHON_FILES)" ] || { echo 'podbench: make python-files wants PYTHON_FILES=DIR; pip install . calls it' >&2; exit 2; }
	rm -rf $(PYTHON_FILES)/lib $(PYTHON_FILES)/data && mkdir -p $(PYTHON_FILES)/lib
	cp $< $(PYTHON_FILES)/lib/
	for l in $$(ldd $< | sed -n 's/.*=> \(\/[^ ]*\/lib\(gsl\|gslcblas\|csv\|jansson\|protobuf-c\|xxhash\|z\)\.so[^ ]*\).*/\1/p'); do cp $$l $(PYTHON_FILES)/lib/ || exit 1; done
	for f in $(data); do install -D -m 644 "$$f" "$(PYTHON_FILES)/data/$$f" || exit 1; done

# The first of these that has what builds a wheel.
wheel_python = $(or $(shell for p in $(PYTHON) /usr/bin/python3; do $$p -c 'import setuptools, wheel, pip' 2>/dev/null && echo $$p && break; done),$(PYTHON))
wheel: $B/libpodbench.so.$(version)     ## build a Python wheel in the build folder
	@$(wheel_python) -c 'import setuptools, wheel, pip' 2>/dev/null || { echo 'podbench: $(PYTHON) lacks pip, setuptools or wheel: apt-get install python3-pip python3-setuptools python3-wheel' >&2; exit 2; }
	$(wheel_python) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $B .

python-test: $B/libpodbench.so.$(version)      ## run the tests of the Python package, and the cells of its notebook
	PYTHONPATH=python PODBENCH_LIBRARY=$(abspath $<) PODBENCH_ROOT=$(abspath .) $(PYTHON) -m unittest discover -s python/tests -t python/tests
