# SPDX-License-Identifier: GPL-2.0
# srnic - targets for users; 'make help' lists them

KDIR ?= /lib/modules/$(shell uname -r)/build
RDMA_CORE ?= $(shell pkg-config --modversion libibverbs 2>/dev/null | cut -d. -f3)
MULTIARCH := $(shell $(CC) -print-multiarch)

prefix ?= /usr
libdir ?= $(or $(shell pkg-config --variable=libdir libibverbs 2>/dev/null),\
	$(prefix)/lib/$(MULTIARCH))
mandir ?= $(prefix)/share/man
sysconfdir ?= /etc

PROVIDER := build/provider
# the first that is available
DEMO_KERNELS := debian,uml

all: modules provider

modules:
	@test -e $(KDIR)/Makefile || { \
		echo "no kernel headers in $(KDIR): install them or set KDIR" >&2; \
		exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

provider:
	tools/provider/build --rdma-core "$(RDMA_CORE)" --out $(PROVIDER) \
		$(if $(RDMA_CORE_SRC),--source "$(RDMA_CORE_SRC)")

install: install-modules install-provider install-man install-service install-completion install-tools \
	install-share

install-modules: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install

install-provider: provider
	install -d $(DESTDIR)$(libdir)/libibverbs $(DESTDIR)$(sysconfdir)/libibverbs.d
	install $(PROVIDER)/libsrnic-rdmav*.so $(DESTDIR)$(libdir)/libibverbs
	install -m 644 $(PROVIDER)/srnic.driver $(DESTDIR)$(sysconfdir)/libibverbs.d

install-man:
	install -d $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man7
	install -m 644 Documentation/*.1 $(DESTDIR)$(mandir)/man1
	install -m 644 Documentation/*.7 $(DESTDIR)$(mandir)/man7

install-service:
	install -d $(DESTDIR)$(prefix)/lib/systemd/system $(DESTDIR)$(prefix)/lib/udev/rules.d
	install -m 644 tools/service/srnic@.service $(DESTDIR)$(prefix)/lib/systemd/system
	install -m 644 tools/service/80-srnic.rules $(DESTDIR)$(prefix)/lib/udev/rules.d

install-completion:
	install -d $(DESTDIR)$(prefix)/share/bash-completion/completions
	install -m 644 tools/completion/* $(DESTDIR)$(prefix)/share/bash-completion/completions

install-tools:
	install -d $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/share/srnic/doctor
	install tools/srnic-doctor tools/srnic-top $(DESTDIR)$(prefix)/bin
	install -m 644 tools/doctor/*.py $(DESTDIR)$(prefix)/share/srnic/doctor

install-share:
	install -d $(addprefix $(DESTDIR)$(prefix)/share/srnic/,bpftrace grafana wireshark)
	install tools/bpftrace/*.bt $(DESTDIR)$(prefix)/share/srnic/bpftrace
	install -m 644 tools/grafana/*.json $(DESTDIR)$(prefix)/share/srnic/grafana
	install -m 644 tools/wireshark/*.lua $(DESTDIR)$(prefix)/share/srnic/wireshark

deb:
	tools/package/build build/deb

demo:
	tools/lab/run --kernel $(if $(HOST),host,$(or $(KERNEL),$(DEMO_KERNELS))) -- selftests/demo.sh

check:
	selftests/run

check-all:
	selftests/run --all

soak:
	selftests/run --all --long hunt/

bench:
	tools/bench/all $(if $(HOST),host,$(or $(KERNEL),uml-ulp)) $(or $(ROUNDS),5) build/bench

clean:
	-test ! -e $(KDIR)/Makefile || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	rm -rf build

help:
	@echo 'make            module for the running kernel, provider for its rdma-core'
	@echo 'make modules    the module only (KDIR=<kernel build tree>)'
	@echo 'make provider   the provider only (RDMA_CORE=<version>; without apt also'
	@echo '                RDMA_CORE_SRC=<tar file of its source>)'
	@echo 'make install    module, provider, man pages, service, tools, scripts for bpftrace and a'
	@echo '                dashboard for Grafana (DESTDIR=<root>)'
	@echo 'make deb        Debian packages, in build/deb'
	@echo 'make demo       RDMA between two hosts in a throw-away kernel (KERNEL=uml: another'
	@echo '                kernel, HOST=1: the running one)'
	@echo 'make check      the test suite'
	@echo 'make check-all  the test suite, including slow tests'
	@echo 'make soak       the randomised tests of selftests/hunt, for hours'
	@echo 'make bench      benchmark of srnic, rdma_rxe, siw and TCP: tables and graphs in build/bench'
	@echo '                (KERNEL=debian: under QEMU, HOST=1: running kernel, ROUNDS=<number>)'
	@echo 'make clean      remove build products; kernels stay in ~/.cache/srnic'

.PHONY: all modules provider install install-modules install-provider \
	install-man install-service install-completion install-tools install-share deb demo check check-all soak bench clean help
