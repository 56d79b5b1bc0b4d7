# SPDX-License-Identifier: GPL-2.0-or-later
# The one build file: no configure. `make help` lists the targets. V=1 shows whole commands.

VERSION := 1.0
PREFIX  ?= /usr/local
B       ?= build

# Static tools run inside the subject's image and load nothing from it; the others are dynamic.
STATIC  := cell-capcheck cell-nsid cell-pinhost cell-probe cell-exec cell-proxycheck
DYNAMIC := cell-publish cell-policy cell-watch
SCRIPTS := run_trial
TOOLS   := $(STATIC) $(DYNAMIC)

# Libraries of each tool beside the common ones. Nothing links both libnftables and OpenSSL.
LIBS_cell-exec       := -lseccomp
LIBS_cell-proxycheck := -lssl -lcrypto
LIBS_cell-publish    := -lcrypto
LIBS_cell-policy     := -lnftables -lmnl
LIBS_cell-watch      := -lnetfilter_log -lmnl -lseccomp -lcap
LIBS                 := -ljansson
# Tests link what they need of all of them.
LIBS_tests := -Wl,--as-needed -lnftables -lmnl -lnetfilter_log -lseccomp -lcap -lssl -lcrypto

CC       ?= cc
OPT      ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -DCELL_VERSION='"$(VERSION)"' -Icommon
WARN     := -std=gnu11 -Wall -Wextra -Werror -Wformat=2 -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wold-style-definition -Wwrite-strings -Wpointer-arith \
            -Wcast-qual -Wundef -Wvla -Wimplicit-fallthrough -Wno-missing-field-initializers
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE -fno-plt
ALL_CFLAGS  = $(WARN) $(HARDEN) $(OPT) $(CFLAGS)
ALL_LDFLAGS = -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
# The OpenSSL archive names dlopen and getaddrinfo, which the linker warns of; a test shows that
# cell-proxycheck calls neither. In every other static tool such a warning is an error.
FATAL    := -Wl,--fatal-warnings
FATAL_cell-proxycheck := -Wl,--no-warnings

Q    := $(if $(V),,@)
make = $(if $(V),,@printf '  %-7s %s\n' $(1) $@)
# One line for people, the directory, the program: $(call link,FLAGS,LIBRARIES).
define link
$(call make,LINK)
@mkdir -p $(@D)
$(Q)$(CC) $(ALL_CFLAGS) $(1) $(ALL_LDFLAGS) -o $@ $^ $(2) $(LIBS)
endef

COMMON  := $(patsubst %.c,$(B)/obj/%.o,$(wildcard common/*.c))
ARCHIVE := $(B)/obj/libcell.a

.PHONY: all help test-build check demo sanitize sanitized fuzz fuzzers bench lint lint-quick \
        coverage install uninstall dist deb bundle clean
all: $(TOOLS:%=$(B)/bin/%) $(SCRIPTS:%=$(B)/bin/%)  ## every command into build/bin

help:
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 14

$(B)/obj/%.o: %.c Makefile
	$(call make,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(ARCHIVE): $(COMMON)
	$(call make,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(STATIC:%=$(B)/bin/%): $(B)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call link,-static-pie $(or $(FATAL_$*),$(FATAL)),$(LIBS_$*))
$(DYNAMIC:%=$(B)/bin/%): $(B)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call link,-pie,$(LIBS_$*))
# run_trial finds its steps beside itself: in the tree during development, under share/ installed.
$(SCRIPTS:%=$(B)/bin/%): $(B)/bin/%: cmd/%
	$(call make,COPY)
	$(Q)install -D -m 0755 $< $@

# The same tools, dynamic: for sanitizers and for faults by LD_PRELOAD.
$(TOOLS:%=$(B)/test/%): $(B)/test/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call link,-pie,$(LIBS_$*))
# C unit tests: tests/unit/X_test.c is build/unit/X_test.
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*_test.c))
$(UNIT): $(B)/unit/%: $(B)/obj/tests/unit/%.o $(ARCHIVE)
	$(call link,-pie,$(LIBS_tests))
# Fuzzers: tests/fuzz/X_fuzz.c with its inputs in tests/fuzz/corpus/X, words in tests/fuzz/X.dict.
# The suite takes every input and its neighbours once, as build/unit/X_corpus_test; libFuzzer runs
# build/fuzz/bin/X_fuzz.
FUZZERS := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
CORPUS  := $(FUZZERS:%=$(B)/unit/%_corpus_test)
$(CORPUS): $(B)/unit/%_corpus_test: $(B)/obj/tests/fuzz/%_fuzz.o \
		$(B)/obj/tests/fuzz/corpus_once.o $(ARCHIVE)
	$(call link,-pie,$(LIBS_tests))
$(FUZZERS:%=$(B)/bin/%_fuzz): $(B)/bin/%_fuzz: $(B)/obj/tests/fuzz/%_fuzz.o $(ARCHIVE)
	$(call link,-fsanitize=fuzzer,$(LIBS_tests))

# Programs and modules that tests run or load, without the common archive: tests/lib/X.c is
# build/test/lib/X; X_module.c a shared object; X_static.c static, to run in an empty root.
# hosts_lookup is there once more, as programs of another C library see the world.
HELPERS := $(patsubst tests/lib/%.c,$(B)/test/lib/%,$(wildcard tests/lib/*.c))
HELPERS := $(HELPERS:%_module=%_module.so) $(B)/test/lib/hosts_lookup_musl
BENCHES := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
define helper
$(call make,CC)
@mkdir -p $(@D)
$(Q)$(1) -D_GNU_SOURCE $(WARN) -O2 -g $(2) -o $@ $<
endef
STATIC_HELPER := -static -Wl,--no-warnings
$(B)/test/lib/%.so: tests/lib/%.c
	$(call helper,$(CC),-shared -fPIC)
$(B)/test/lib/%_static: tests/lib/%_static.c
	$(call helper,$(CC),$(STATIC_HELPER))
$(B)/test/lib/%_musl: tests/lib/%.c
	$(call helper,musl-gcc,-static)
$(B)/test/lib/%: tests/lib/%.c
	$(call helper,$(CC),-pthread)
$(BENCHES): $(B)/bench/%: tests/bench/%.c
	$(call helper,$(CC))

test-build: all bundle $(TOOLS:%=$(B)/test/%) $(UNIT) $(CORPUS) $(HELPERS)

check:  ## install what is missing, build, run every test
	$(Q)tests/run

demo:  ## install what is missing, build, and try a dozen ways out with and without the seal
	$(Q)share/cell/examples/demo

# A directory to bind or copy to /opt/cell in images that are not Debian's: every tool, and for the
# dynamic ones their libraries and the loader. They name that loader, or the image's would be asked.
AT      := /opt/cell
BUNDLE  := $(B)/bundle$(AT)
LOADER   = $(shell readelf -l /usr/bin/env | sed -n 's/.*interpreter: .*\/\(.*\)]/\1/p')
BUNDLED  = -pie -Wl,-dynamic-linker=$(AT)/lib/$(LOADER) -Wl,-rpath,$(AT)/lib -Wl,--disable-new-dtags
SHARED  := $(shell find share/cell -type f ! -name '*.pyc' 2>/dev/null)
$(DYNAMIC:%=$(BUNDLE)/bin/%): $(BUNDLE)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call link,$(BUNDLED),$(LIBS_$*))
$(BUNDLE)/made: $(DYNAMIC:%=$(BUNDLE)/bin/%) $(TOOLS:%=$(B)/bin/%) $(SCRIPTS:%=cmd/%) $(SHARED)
	$(call make,COPY)
	$(Q)cp $(STATIC:%=$(B)/bin/%) $(SCRIPTS:%=cmd/%) $(BUNDLE)/bin
	$(Q)mkdir -p $(BUNDLE)/lib && ldd $(DYNAMIC:%=$(B)/bin/%) | \
		sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*\) .*/\1/p' | \
		sort -u | xargs cp -L -t $(BUNDLE)/lib
	$(Q)rm -rf $(BUNDLE)/share && mkdir $(BUNDLE)/share && cp -R share/cell $(BUNDLE)/share/
	$(Q)touch $@

bundle: $(BUNDLE)/made  ## build/bundle/opt/cell: what runs in any image at /opt/cell

# What goes where below PREFIX, as SOURCE:PLACE. run_trial looks for its steps at ../share/cell.
ROOT   = $(DESTDIR)$(PREFIX)
within = $(foreach f,$(wildcard $(1)/*),$(f):$(2)/$(notdir $(f)))
PLACES = $(foreach f,$(SHARED) $(wildcard share/man/man*/*),$(f):$(f)) \
         $(call within,completions/bash,share/bash-completion/completions) \
         $(call within,completions/zsh,share/zsh/site-functions) \
         $(call within,completions/fish,share/fish/vendor_completions.d)
install: all  ## copy everything below PREFIX (/usr/local), below DESTDIR if given
	$(Q)install -d $(ROOT)/bin && install $(TOOLS:%=$(B)/bin/%) $(SCRIPTS:%=$(B)/bin/%) $(ROOT)/bin
	$(Q)for f in $(PLACES); do [ -x "$${f%:*}" ] && mode=0755 || mode=0644; \
		install -D -m $$mode "$${f%:*}" "$(ROOT)/$${f#*:}" || exit; done

uninstall:  ## remove exactly what install copied
	$(Q)rm -f $(TOOLS:%=$(ROOT)/bin/%) $(SCRIPTS:%=$(ROOT)/bin/%)
	$(Q)for f in $(PLACES); do rm -f "$(ROOT)/$${f#*:}"; done
	$(Q)rm -rf $(ROOT)/share/cell

# The whole suite with address and undefined behaviour sanitizers, every tool dynamic.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
            -fno-sanitize-recover=all -U_FORTIFY_SOURCE
sanitized: $(TOOLS:%=$(B)/test/%) $(UNIT) $(CORPUS) $(HELPERS)
	$(Q)install -m 0755 $(SCRIPTS:%=cmd/%) $(B)/test
sanitize: test-build  ## the whole suite under address and undefined behaviour sanitizers, the C tests for leaks too
	$(Q)mkdir -p build/sanitize
	$(Q)clang -D_GNU_SOURCE $(WARN) -O1 -fPIE -c -o build/sanitize/leaks.o tests/leaks.c
	$(Q)$(MAKE) B=build/sanitize CC=clang OPT='$(SANITIZE)' LDFLAGS=build/sanitize/leaks.o sanitized
	$(Q)CELL_BIN=$(CURDIR)/build/sanitize/test CELL_TEST_BIN=$(CURDIR)/build/sanitize/test \
		CELL_UNIT=build/sanitize/unit ASAN_OPTIONS=exitcode=86:detect_leaks=1:disable_coredump=0 \
		UBSAN_OPTIONS=print_stacktrace=1 tests/run

FUZZ_SECONDS ?= 10
fuzzers: $(FUZZERS:%=$(B)/bin/%_fuzz)
fuzz:  ## each fuzzer for FUZZ_SECONDS (10); what it finds goes to build/fuzz
	$(Q)$(MAKE) B=build/fuzz CC=clang OPT='$(SANITIZE) -fsanitize=fuzzer-no-link' CFLAGS=-Wno-error \
		fuzzers
	$(Q)printf '%s\n' $(FUZZERS) | xargs -P $$(nproc) -n 1 tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

COVERAGE := -O0 -g --coverage -fprofile-update=atomic -U_FORTIFY_SOURCE -DCELL_COVERAGE
coverage: test-build  ## line coverage of common/ by the whole suite
	$(Q)$(MAKE) B=build/coverage OPT='$(COVERAGE)' sanitized
	$(Q)tests/coverage build/coverage

lint:  ## clang-format, shellcheck, codespell, cppcheck and clang-tidy find nothing
	$(Q)tests/lint
lint-quick:  ## the same without clang-tidy, which takes minutes
	$(Q)tests/lint quick

bench: all $(BENCHES)  ## ratios against what one would use instead
	$(Q). share/cell/lib/packages.sh && need_packages "$$packages_run $$packages_bench"
	$(Q)tests/bench/run $(BENCH)

# What git knows, as a tree of its own; the package is made from that, never from this directory.
dist:  ## build/cell-VERSION.tar.gz
	$(Q)mkdir -p build
	$(Q)git archive --prefix=cell-$(VERSION)/ -o build/cell-$(VERSION).tar.gz HEAD

deb: dist  ## build/deb/cell_VERSION_ARCH.deb, checked by lintian
	$(Q). share/cell/lib/packages.sh && need_packages "$$packages_build $$packages_deb"
	$(Q)rm -rf build/deb && mkdir -p build/deb && tar -C build/deb -xf build/cell-$(VERSION).tar.gz
	$(Q)cp -r share/debian build/deb/cell-$(VERSION)/debian
	$(Q)cd build/deb/cell-$(VERSION) && dpkg-buildpackage -us -uc -b >../build.log 2>&1 || \
		{ tail -n 30 ../build.log; exit 1; }
	$(Q)lintian --fail-on error,warning build/deb/cell_$(VERSION)_*.deb

clean:  ## remove everything that was built
	$(Q)rm -rf $(B)

-include $(wildcard $(B)/obj/*/*.d $(B)/obj/*/*/*.d)
