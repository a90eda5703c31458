# Two targets do everything: `make run` measures this machine, `make test` is what CI runs. `make dist` makes what is handed out.
# All install the Debian packages that are missing, where they may.

TOOL = target/release/unixmark

# What the tool needs to build and its programs to run, and what only the tests need.
RUN_TOOLS   = cc:build-essential ld:binutils grep:grep od:coreutils
TEST_TOOLS  = $(RUN_TOOLS) gcc:build-essential clang:clang dc:dc setpriv:util-linux python3:python3 pip3:python3-pip \
              sqlite3:sqlite3 Xvfb:xvfb x11perf:x11-apps eglinfo:mesa-utils weston:weston \
              slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge sshd:openssh-server ssh:openssh-client ip:iproute2
# Where every test must run: kernel auditing is switched on, which leaves its mark until the machine starts again.
TEST_TOOLS += $(if $(filter 1,$(UNIXMARK_TEST_ALL)),auditctl:auditd strace:strace bpftrace:bpftrace perf:linux-perf)
BENCH_TOOLS = $(RUN_TOOLS) python3:python3 pip3:python3-pip java:default-jre-headless time:time cyclictest:rt-tests hackbench:rt-tests fio:fio mbw:mbw sysbench:sysbench perf:linux-perf \
              memtester:memtester stressapptest:stressapptest sqlite3:sqlite3 Xvfb:xvfb glxgears:mesa-utils
DIST_TOOLS  = $(RUN_TOOLS) dpkg-deb:dpkg git:git ldd:libc-bin unshare:util-linux

.PHONY: run test build bench dist clean run-tools test-tools bench-tools dist-tools

run: run-tools build
	$(TOOL) run index

test: test-tools
	tests/all

build:
	cargo build --locked --release --workspace

bench: bench-tools build
	bench/all

dist: dist-tools
	dist/all

clean:
	cargo clean

run-tools:
	@sh tests/tools.sh $(RUN_TOOLS)

test-tools:
	@sh tests/tools.sh $(TEST_TOOLS)

bench-tools:
	@sh tests/tools.sh $(BENCH_TOOLS)

dist-tools:
	@sh tests/tools.sh $(DIST_TOOLS)
