# `make run` measures this machine. `make test` is what a newcomer runs: Cargo, a C compiler and Python are enough. `make check` is about form,
# `make test-all`, which CI runs, is everything. `make dist` makes what is handed out.
# All install what is missing, where they may: a Rust toolchain in the home directory, and Debian packages.

# Where rustup puts a toolchain, whether or not the caller's shell knows of it.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

# What the tool needs to build and its programs to run, what fake programs need, what only checks need, and what only some tests need.
RUN_TOOLS   = cc:build-essential ld:binutils grep:grep od:coreutils
FAKE_TOOLS  = python3:python3
CHECK_TOOLS = $(RUN_TOOLS) git:git shellcheck:shellcheck
TEST_TOOLS  = $(CHECK_TOOLS) $(FAKE_TOOLS) gcc:build-essential clang:clang dc:dc setpriv:util-linux pip3:python3-pip \
              sqlite3:sqlite3 Xvfb:xvfb x11perf:x11-apps eglinfo:mesa-utils \
              dpkg-deb:dpkg chromium:chromium unshare:util-linux \
              rpmspec:rpm rpmlint:rpmlint lintian:lintian python3:python3-venv nix-instantiate:nix-bin ruby:ruby \
              bash:bash zsh:zsh fish:fish man:man-db mandoc:mandoc slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge sshd:openssh-server ssh:openssh-client ip:iproute2 \
              auditctl:auditd strace:strace valgrind:valgrind $(ROW_TOOLS)
BENCH_TOOLS = $(RUN_TOOLS) hyperfine:hyperfine python3:python3 pip3:python3-pip java:default-jre-headless time:time cyclictest:rt-tests hackbench:rt-tests fio:fio mbw:mbw sysbench:sysbench perf:linux-perf \
              memtester:memtester stressapptest:stressapptest sqlite3:sqlite3 Xvfb:xvfb glxgears:mesa-utils $(KERNEL_TOOLS)
DIST_TOOLS  = $(RUN_TOOLS) dpkg-deb:dpkg rpmbuild:rpm python3:python3 git:git ldd:libc-bin unshare:util-linux $(if $(TARGETS),$(CROSS_TOOLS))
# Compilers, C libraries and an emulator of user programs for other architectures than this machine's.
CROSS_TOOLS = qemu-s390x-static:qemu-user-static unshare:util-linux \
              $(foreach pair,aarch64-linux-gnu:arm64 riscv64-linux-gnu:riscv64 powerpc64le-linux-gnu:ppc64el s390x-linux-gnu:s390x arm-linux-gnueabihf:armhf,$(call cross,$(subst :, ,$(pair))))
# What rows of the catalogue need: they run, or say why not.
ROW_TOOLS   = bpftrace:bpftrace perf:linux-perf bwrap:bubblewrap podman:podman runc:runc systemd-nspawn:systemd-container laurel:laurel \
              /usr/share/containers/seccomp.json:golang-github-containers-common
# What starts another architecture's kernel, and boots this one's again and again.
KERNEL_TOOLS = qemu-system-aarch64:qemu-system-arm fdtput:device-tree-compiler cpio:cpio dpkg-deb:dpkg \
               qemu-system-x86_64:qemu-system-x86 grub-mkimage:grub-common /usr/lib/grub/i386-pc/boot.img:grub-pc-bin mke2fs:e2fsprogs
cross       = $(word 1,$(1))-gcc:gcc-$(word 1,$(1)) /usr/$(word 1,$(1))/include/stdio.h:libc6-dev-$(word 2,$(1))-cross

.PHONY: run test check test-all test-arch build bench dist clean run-tools fake-tools check-tools test-tools arch-tools bench-tools dist-tools

# Built for the shortest wait: the tool alone, hardly optimised and without `export`. What is measured is not: its C programs are
# compiled as ever.
run: run-tools
	cargo build --locked --profile fast-build --no-default-features
	target/fast-build/unixmark run index

test: fake-tools
	tests/pool

check: check-tools
	tests/check

# Kernel auditing is switched on, which leaves its mark until the machine starts again.
test-all: export UNIXMARK_TEST_ALL = 1
test-all: test-tools arch-tools
	tests/check
	tests/pool
	tests/rest

# The programs, the tool and its reports on every architecture, under emulation.
test-arch: arch-tools
	UNIXMARK_TEST_ALL=1 cargo test --locked --workspace --test programs architectures -- --ignored --nocapture
	tests/arch build
	tests/arch run

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

fake-tools: run-tools
	@sh tests/tools.sh $(FAKE_TOOLS)

check-tools:
	@sh tests/tools.sh $(CHECK_TOOLS)
	@sh tests/toolchain.sh fmt:rustfmt clippy:clippy

test-tools:
	@sh tests/tools.sh $(TEST_TOOLS)
	@sh tests/toolchain.sh fmt:rustfmt clippy:clippy

arch-tools:
	@sh tests/tools.sh $(RUN_TOOLS) $(CROSS_TOOLS) $(KERNEL_TOOLS) $(ROW_TOOLS)
	@sh tests/toolchain.sh

bench-tools:
	@sh tests/tools.sh $(BENCH_TOOLS)
	@sh tests/toolchain.sh

dist-tools:
	@sh tests/tools.sh $(DIST_TOOLS)
	@sh tests/toolchain.sh
