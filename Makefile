# Two targets do everything: `make run` measures this machine, `make test` runs all tests. CI runs these, and `make test-arch` for the other
# architectures. `make dist` makes what is handed out.
# All install what is missing, where they may: a Rust toolchain in the home directory, and Debian packages.

# Where rustup puts a toolchain, whether or not the caller's shell knows of it.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

# What the tool needs to build and its programs to run, and what only the tests need.
RUN_TOOLS   = cc:build-essential ld:binutils grep:grep od:coreutils
TEST_TOOLS  = $(RUN_TOOLS) gcc:build-essential clang:clang dc:dc setpriv:util-linux python3:python3 pip3:python3-pip \
              sqlite3:sqlite3 Xvfb:xvfb x11perf:x11-apps eglinfo:mesa-utils weston:weston \
              git:git shellcheck:shellcheck dpkg-deb:dpkg chromium:chromium unshare:util-linux \
              rpmspec:rpm rpmlint:rpmlint nix-instantiate:nix-bin ruby:ruby \
              bash:bash zsh:zsh fish:fish man:man-db mandoc:mandoc slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge sshd:openssh-server ssh:openssh-client ip:iproute2
# Two other architectures, one of them big-endian; `make test-arch` has them all.
TEST_TOOLS += qemu-s390x-static:qemu-user-static $(call cross,aarch64-linux-gnu arm64) $(call cross,s390x-linux-gnu s390x)
# Where every test must run: kernel auditing is switched on, which leaves its mark until the machine starts again.
TEST_TOOLS += $(if $(filter 1,$(UNIXMARK_TEST_ALL)),auditctl:auditd strace:strace $(ROW_TOOLS))
BENCH_TOOLS = $(RUN_TOOLS) python3:python3 pip3:python3-pip java:default-jre-headless time:time cyclictest:rt-tests hackbench:rt-tests fio:fio mbw:mbw sysbench:sysbench perf:linux-perf \
              memtester:memtester stressapptest:stressapptest sqlite3:sqlite3 Xvfb:xvfb glxgears:mesa-utils
DIST_TOOLS  = $(RUN_TOOLS) dpkg-deb:dpkg git:git ldd:libc-bin unshare:util-linux $(if $(TARGETS),$(CROSS_TOOLS))
# Compilers, C libraries and an emulator of user programs for other architectures than this machine's.
CROSS_TOOLS = qemu-s390x-static:qemu-user-static unshare:util-linux \
              $(foreach pair,aarch64-linux-gnu:arm64 riscv64-linux-gnu:riscv64 powerpc64le-linux-gnu:ppc64el s390x-linux-gnu:s390x arm-linux-gnueabihf:armhf,$(call cross,$(subst :, ,$(pair))))
# What rows of the catalogue need: they run, or say why not.
ROW_TOOLS   = bpftrace:bpftrace perf:linux-perf
# What starts another architecture's kernel.
KERNEL_TOOLS = qemu-system-aarch64:qemu-system-arm fdtput:device-tree-compiler cpio:cpio dpkg-deb:dpkg
# What links for Windows, and runs what was linked.
WINDOWS_TOOLS = x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 wine:wine /usr/lib/wine/wine64:wine64
cross       = $(word 1,$(1))-gcc:gcc-$(word 1,$(1)) /usr/$(word 1,$(1))/include/stdio.h:libc6-dev-$(word 2,$(1))-cross

.PHONY: run test test-arch build bench dist clean run-tools test-tools arch-tools bench-tools dist-tools

# Built for the shortest wait: the tool alone, hardly optimised. What is measured is not: its C programs are compiled as ever.
run: run-tools
	cargo build --locked --profile fast-build
	target/fast-build/unixmark run index

test: test-tools
	tests/all

# The programs, the tool and its reports on every architecture, under emulation.
test-arch: arch-tools
	tests/arch

build: run-tools
	cargo build --locked --release --workspace

bench: bench-tools build
	bench/all

# For this machine's architecture; TARGETS=all, or names of dist/targets, for others.
dist: dist-tools
	TARGETS="$(TARGETS)" dist/all

clean:
	cargo clean

run-tools:
	@sh tests/tools.sh $(RUN_TOOLS)
	@sh tests/toolchain.sh

test-tools:
	@sh tests/tools.sh $(TEST_TOOLS)
	@sh tests/toolchain.sh fmt:rustfmt clippy:clippy

arch-tools:
	@sh tests/tools.sh $(RUN_TOOLS) $(CROSS_TOOLS) $(KERNEL_TOOLS) $(WINDOWS_TOOLS) $(ROW_TOOLS)
	@sh tests/toolchain.sh

bench-tools:
	@sh tests/tools.sh $(BENCH_TOOLS)
	@sh tests/toolchain.sh

dist-tools:
	@sh tests/tools.sh $(DIST_TOOLS)
	@sh tests/toolchain.sh
