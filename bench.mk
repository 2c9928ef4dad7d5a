# bench.mk - build, tests and benchmark targets; includable from another project's makefile.
B      ?= build
CFLAGS ?= -O2 -g
# Ours, apart from CFLAGS: a command-line CFLAGS would wipe out any "+=".
flags  := -std=c11 -D_GNU_SOURCE -I. -MMD -MP -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
libs   := -lgsl -lgslcblas -lcsv -linih -ljansson -lm

rooms   := system-model workloads results
sources := $(foreach r,$(rooms),$(wildcard $r/*.c))
objects := $(sources:%.c=$B/%.o)
program := $(patsubst %.c,$B/%.o,$(wildcard harness/*.c))
tests   := $(patsubst tests/%.c,$B/tests/%,$(wildcard tests/t_*.c))

all: $B/podbench                        ## build the program

$B/podbench: $(program) $(objects)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

$B/tests/%: $B/tests/%.o $(objects)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(libs)

$B/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(flags) $(CFLAGS) -c -o $@ $<

test: $B/podbench $(tests)              ## run every test under prove
	prove -e '' $(tests) $(wildcard tests/t_*.sh)

clean:                                  ## remove what was built
	rm -rf $B

help:                                   ## this list
	@sed -n 's/^\([a-z-]*\):.*##/\1 -/p' $(MAKEFILE_LIST)

.PHONY: all test clean help
.SECONDARY:
-include $(objects:.o=.d) $(program:.o=.d) $(tests:=.d)
