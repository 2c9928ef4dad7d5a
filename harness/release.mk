# release.mk - a release: make release writes everything that is published of a version to build/release, from the last commit alone. Included by
# the Makefile after bench.mk. Made twice, from the same commit and with the same tools, the files are the same to the byte.
release_name  := podbench-$(version)
release       := $B/release
release_src   := $B/release-source/$(release_name)
release_parts ?= source deb wheel page report
release_source := $(release)/$(release_name).tar.gz
release_deb    := $(release)/podbench_$(version).deb
release_wheel  := $(release)/$(release_name)-py3-none-linux_$(shell uname -m).whl
release_page   := $(release)/$(release_name)-explorer.html
release_report := $(release)/$(release_name)-report.html
release_wanted := $(foreach p,$(release_parts),$(release_$p))
# Times in archives are the commit's, and no path of this machine is in the programs.
release_make   = env -u MAKEFLAGS -u MAKELEVEL -u PODBENCH SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(MAKE) --no-print-directory -C $(release_src) B=build \
    CFLAGS="-O2 -g -ffile-prefix-map=$(abspath $(release_src))=."

release: $(release_wanted)              ## write source archive, .deb, wheel, page, report and their checksums to build/release; release_parts="source deb" makes some
	@git diff --quiet HEAD || echo 'podbench: there are changes that are not committed; the release is of the last commit' >&2
	@awk '/^## /{ inside = index($$0, "$(version)") == 4 } inside' CHANGELOG.md > $(release)/CHANGES-$(version).md
	cd $(release) && sha256sum $(notdir $(release_wanted)) CHANGES-$(version).md > SHA256SUMS && cat SHA256SUMS

$(release_source): always
	@mkdir -p $(@D)
	git archive --format=tar --prefix=$(release_name)/ HEAD | gzip -9n > $@

# The archive that is published is what everything else is built from.
$(release_src)/Makefile: $(release_source)
	rm -rf $(release_src) && mkdir -p $(dir $(release_src))
	tar -C $(dir $(release_src)) -xzf $<

$(release_deb): $(release_src)/Makefile
	$(release_make) man
	$(release_make) deb
	cp $(release_src)/build/$(@F) $@

$(release_wheel): $(release_src)/Makefile | $(filter %.deb,$(release_wanted))
	$(release_make) wheel
	cp $(release_src)/build/$(@F) $@

$(release_report): $(release_src)/Makefile | $(filter %.deb %.whl,$(release_wanted))
	$(release_make) bench > $B/release-bench.txt
	cp $(release_src)/results/runs/latest/report.html $@

page_make = $(MAKE) --no-print-directory explorer
# Emscripten builds for minutes, so the page comes from this folder's objects.
$(release_page): always
	@if command -v emcc >/dev/null 2>&1; then $(page_make) && cp $B/explorer.html $@; \
	else echo 'podbench: no page: emcc is not installed; release_parts="source deb wheel report" makes the others' >&2; exit 2; fi

release-test:                           ## install each part of build/release on a bare system, and ask one question
	sh tests/release.sh $(release) $(version)

.PHONY: release release-test
