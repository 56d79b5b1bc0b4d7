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
BUILT   := $(patsubst cmd/%.c,%,$(filter $(TOOLS:%=cmd/%.c),$(wildcard cmd/*.c)))

# Libraries of each tool beside the common ones. Nothing links both libnftables and OpenSSL.
LIBS_cell-exec       := -lseccomp
LIBS_cell-proxycheck := -lssl -lcrypto
LIBS_cell-publish    := -lcrypto
LIBS_cell-policy     := -lnftables -lmnl
LIBS_policy          := -lnftables -lmnl
LIBS_cell-watch      := -lnetfilter_log -lmnl -lseccomp -lcap
LIBS                 := -ljansson

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

ifeq ($(V),)
Q := @
say = @printf '  %-7s %s\n' $(1) $(2)
endif

COMMON  := $(patsubst %.c,$(B)/obj/%.o,$(wildcard common/*.c))
ARCHIVE := $(B)/obj/libcell.a

.PHONY: all help test-build check demo sanitize sanitized fuzz bench lint lint-quick coverage install uninstall dist \
        deb bundle clean
all: $(BUILT:%=$(B)/bin/%) $(patsubst cmd/%,$(B)/bin/%,$(wildcard $(SCRIPTS:%=cmd/%)))

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

$(B)/obj/%.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(ARCHIVE): $(COMMON)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(STATIC:%=$(B)/bin/%): $(B)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -static-pie $(FATAL$(if $(filter cell-proxycheck,$*),_$*)) \
		$(ALL_LDFLAGS) -o $@ $< $(ARCHIVE) $(LIBS_$*) $(LIBS)

$(DYNAMIC:%=$(B)/bin/%): $(B)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $< $(ARCHIVE) $(LIBS_$*) $(LIBS)

# run_trial finds its steps beside itself: in the tree during development, under share/ installed.
$(SCRIPTS:%=$(B)/bin/%): $(B)/bin/%: cmd/% Makefile
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)install -m 0755 $< $@

# The same tools, dynamic: for sanitizers and for faults by LD_PRELOAD.
$(TOOLS:%=$(B)/test/%): $(B)/test/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $< $(ARCHIVE) $(LIBS_$*) $(LIBS)

# C unit tests: tests/unit/X_test.c links with common/ and runs as build/unit/X_test.
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/*_test.c))
$(UNIT): $(B)/unit/%: $(B)/obj/tests/unit/%.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -pie $(ALL_LDFLAGS) -o $@ $< $(ARCHIVE) \
		$(LIBS_$(patsubst %_test,%,$*)) -lcap -lseccomp -lcrypto $(LIBS)

# Fuzzers: tests/fuzz/X_fuzz.c with its inputs in tests/fuzz/corpus/X, words in tests/fuzz/X.dict.
# libFuzzer runs build/fuzz/bin/X; the suite takes every input and its neighbours once, as
# build/unit/X_corpus_test. They link what they need of these.
FUZZERS   := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_LIBS := -Wl,--as-needed -lnftables -lmnl -lnetfilter_log -lseccomp -lcap -lssl -lcrypto $(LIBS)
$(FUZZERS:%=$(B)/unit/%_corpus_test): $(B)/unit/%_corpus_test: $(B)/obj/tests/fuzz/%_fuzz.o \
		tests/fuzz/corpus_once.c $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DFUZZER='"$*"' $(ALL_CFLAGS) -pie $(ALL_LDFLAGS) -o $@ \
		tests/fuzz/corpus_once.c $< $(ARCHIVE) $(FUZZ_LIBS)
$(FUZZERS:%=$(B)/bin/%_fuzz): $(B)/bin/%_fuzz: $(B)/obj/tests/fuzz/%_fuzz.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< $(ARCHIVE) $(FUZZ_LIBS)
UNIT += $(FUZZERS:%=$(B)/unit/%_corpus_test)

# Programs and modules that tests run or load: tests/lib/X.c is build/test/lib/X, without the
# common archive; X_module.c a shared object; X_static.c static, to run in an empty root.
, := ,
HELPERS := $(patsubst tests/lib/%.c,$(B)/test/lib/%,$(wildcard tests/lib/*.c))
HELPERS := $(HELPERS:%_module=%_module.so)
define build_helper
$(call say,CC,$<)
@mkdir -p $(@D)
$(Q)$(CC) -D_GNU_SOURCE $(WARN) -O1 -g $(1) -o $@ $<
endef
$(filter %_module.so,$(HELPERS)): $(B)/test/lib/%.so: tests/lib/%.c Makefile
	$(call build_helper,-shared -fPIC)
$(filter %_static,$(HELPERS)): $(B)/test/lib/%: tests/lib/%.c Makefile
	$(call build_helper,-static -Wl$(,)--no-warnings)
$(filter-out %_module.so %_static,$(HELPERS)): $(B)/test/lib/%: tests/lib/%.c Makefile
	$(call build_helper,-pthread)

# Once more as programs of another C library see the world.
$(B)/test/lib/hosts_lookup_musl: tests/lib/hosts_lookup.c Makefile
	$(call say,MUSL,$<)
	@mkdir -p $(@D)
	$(Q)musl-gcc -static -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -O1 -g -o $@ $<
HELPERS += $(B)/test/lib/hosts_lookup_musl

test-build: all bundle $(BUILT:%=$(B)/test/%) $(UNIT) $(HELPERS)

check:  ## install what is missing, build, run every test
	$(Q)tests/run

demo:  ## install what is missing, build, and try a dozen ways out with and without the seal
	$(Q)share/cell/examples/demo

# A directory to bind or copy to /opt/cell in images that are not Debian's: every tool, and for the
# dynamic ones their libraries and the loader. They name that loader, or the image's would be asked.
AT     := /opt/cell
BUNDLE := $(B)/bundle$(AT)
BUNDLED_DYNAMIC := $(patsubst %,$(BUNDLE)/bin/%,$(filter $(DYNAMIC),$(BUILT)))
$(BUNDLED_DYNAMIC): $(BUNDLE)/bin/%: $(B)/obj/cmd/%.o $(ARCHIVE)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)loader=$$(readelf -l /usr/bin/env | sed -n 's/.*interpreter: .*\/\(.*\)]/\1/p') && \
	$(CC) $(ALL_CFLAGS) -pie $(ALL_LDFLAGS) -Wl,-dynamic-linker=$(AT)/lib/$$loader \
		-Wl,-rpath,$(AT)/lib -Wl,--disable-new-dtags -o $@ $< $(ARCHIVE) $(LIBS_$*) $(LIBS)

BUILT_DYNAMIC := $(patsubst %,$(B)/bin/%,$(filter $(DYNAMIC),$(BUILT)))
BUILT_STATIC  := $(patsubst %,$(B)/bin/%,$(filter $(STATIC),$(BUILT)))
$(BUNDLE)/made: $(BUNDLED_DYNAMIC) $(BUILT_STATIC) $(BUILT_DYNAMIC) \
		$(wildcard $(SCRIPTS:%=cmd/%)) $(shell find share/cell -type f)
	$(call say,COPY,$(BUNDLE))
	@mkdir -p $(BUNDLE)/lib
	$(Q)cp $(BUILT_STATIC) $(wildcard $(SCRIPTS:%=cmd/%)) $(BUNDLE)/bin/
	$(Q)ldd $(BUILT_DYNAMIC) | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*\) .*/\1/p' | \
		sort -u | xargs cp -L -t $(BUNDLE)/lib
	$(Q)rm -rf $(BUNDLE)/share && mkdir $(BUNDLE)/share && cp -R share/cell $(BUNDLE)/share/
	$(Q)touch $@

bundle: $(BUNDLE)/made  ## build/bundle/opt/cell: what runs in any image at /opt/cell

# Where things go. run_trial looks for its steps at ../share/cell from where it is.
BINDIR  = $(DESTDIR)$(PREFIX)/bin
DATADIR = $(DESTDIR)$(PREFIX)/share
SHARED  = $(shell find share/cell -type f ! -name '*.pyc' 2>/dev/null)
MANUAL  = $(wildcard share/man/man*/*)
BASHC   = $(wildcard completions/bash/*)
ZSHC    = $(wildcard completions/zsh/*)
FISHC   = $(wildcard completions/fish/*)
mode    = $(if $(shell test -x $(1) && echo x),0755,0644)

install: all  ## copy everything below PREFIX (/usr/local), below DESTDIR if given
	$(Q)install -d $(BINDIR)
	$(Q)install -m 0755 $(TOOLS:%=$(B)/bin/%) $(SCRIPTS:%=$(B)/bin/%) $(BINDIR)
	$(Q)$(foreach f,$(SHARED),install -D -m $(call mode,$(f)) $(f) $(DATADIR)/$(f:share/%=%) &&) :
	$(Q)$(foreach f,$(MANUAL),install -D -m 0644 $(f) $(DATADIR)/$(f:share/%=%) &&) :
	$(Q)$(foreach f,$(BASHC),install -D -m 0644 $(f) $(DATADIR)/bash-completion/completions/$(notdir $(f)) &&) :
	$(Q)$(foreach f,$(ZSHC),install -D -m 0644 $(f) $(DATADIR)/zsh/site-functions/$(notdir $(f)) &&) :
	$(Q)$(foreach f,$(FISHC),install -D -m 0644 $(f) $(DATADIR)/fish/vendor_completions.d/$(notdir $(f)) &&) :

uninstall:  ## remove exactly what install copied
	$(Q)rm -f $(TOOLS:%=$(BINDIR)/%) $(SCRIPTS:%=$(BINDIR)/%) $(MANUAL:share/%=$(DATADIR)/%) \
		$(addprefix $(DATADIR)/bash-completion/completions/,$(notdir $(BASHC))) \
		$(addprefix $(DATADIR)/zsh/site-functions/,$(notdir $(ZSHC))) \
		$(addprefix $(DATADIR)/fish/vendor_completions.d/,$(notdir $(FISHC)))
	$(Q)rm -rf $(DATADIR)/cell

# The whole suite with address and undefined behaviour sanitizers, every tool dynamic.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
            -fno-sanitize-recover=all -U_FORTIFY_SOURCE
sanitized: $(TOOLS:%=$(B)/test/%) $(UNIT) $(HELPERS)
	$(Q)install -m 0755 $(SCRIPTS:%=cmd/%) $(B)/test
sanitize: test-build  ## the whole suite under address and undefined behaviour sanitizers
	$(Q)$(MAKE) B=build/sanitize CC=clang OPT='$(SANITIZE)' sanitized
	$(Q)CELL_BIN=$(CURDIR)/build/sanitize/test CELL_TEST_BIN=$(CURDIR)/build/sanitize/test \
		CELL_UNIT=build/sanitize/unit ASAN_OPTIONS=exitcode=86:detect_leaks=0 \
		UBSAN_OPTIONS=print_stacktrace=1 tests/run

FUZZ_SECONDS ?= 10
.PHONY: fuzzers
fuzzers: $(FUZZERS:%=$(B)/bin/%_fuzz)
fuzz:  ## each fuzzer for FUZZ_SECONDS (10); what it finds goes to build/fuzz
	$(Q)$(MAKE) B=build/fuzz CC=clang OPT='$(SANITIZE) -fsanitize=fuzzer-no-link' CFLAGS=-Wno-error fuzzers
	$(Q)printf '%s\n' $(FUZZERS) | xargs -P $$(nproc) -n 1 tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

COVERAGE := -O0 -g --coverage -fprofile-update=atomic -U_FORTIFY_SOURCE -DCELL_COVERAGE
coverage: test-build  ## line coverage of common/ by the whole suite
	$(Q)$(MAKE) B=build/coverage OPT='$(COVERAGE)' sanitized
	@# Tests run the tools as other users too, who must be able to write their counts.
	$(Q)find build/coverage/obj -name '*.gcno' | sed 's/gcno$$/gcda/' | xargs touch
	$(Q)find build/coverage/obj -name '*.gcda' -exec chmod 0666 {} +
	$(Q)CELL_BIN=$(CURDIR)/build/coverage/test CELL_TEST_BIN=$(CURDIR)/build/coverage/test \
		CELL_UNIT=build/coverage/unit tests/run || :
	$(Q)tests/coverage build/coverage

C_FILES = $(wildcard cmd/*.[ch] common/*.[ch] tests/unit/*.[ch] tests/lib/*.[ch] tests/fuzz/*.[ch])
SHELL_FILES = $(shell grep -rlE '^\#!/bin/sh|^\# shellcheck shell=sh' cmd share/cell tests .ci)
# Words that codespell takes for slips: ans, fo, bu, inh and iif are names in code and of nftables,
# maka is a harness. cppcheck reads no system headers, so it is told what <stdnoreturn.h> says.
# clang-tidy 14 knows va_start only in the first file that it is given.
lint: lint-quick  ## clang-format, clang-tidy, cppcheck, shellcheck, codespell; exceptions carry their reason
	$(Q)printf '%s\n' $(wildcard cmd/*.c common/*.c) | xargs -n 1 -P $$(nproc) \
		clang-tidy --quiet --warnings-as-errors='*'
lint-quick:  ## the same without clang-tidy, which takes minutes
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)shellcheck -x $(SHELL_FILES)
	$(Q)codespell -q 3 -L ans,fo,bu,inh,iif,maka cmd common share tests/*.sh tests/*/*.sh README.md \
		Makefile
	$(Q)cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 --suppress=missingIncludeSystem '-Dnoreturn=__attribute__((noreturn))' \
		-Icommon cmd common

$(B)/bench/%: tests/bench/%.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(WARN) -O2 -o $@ $<
bench: all $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))  ## ratios against what one would use instead
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
