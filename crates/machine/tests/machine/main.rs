//! The machine module against recorded and invented machines, and against this one.
#![cfg(test)]

extern crate unixmark_machine as machine;

mod doctor;
mod energy;
mod fixture;
mod garbage;
mod sensors;
mod topology;

use ::journal::{Noise, Severity};
use ::machine::{Machine, copies_limit, cpus_online, cpus_usable, facts, noise, sample};
use fixture::{DIR, Fixture, Outcome, assert_absent, assert_facts, assert_findings};
use std::path::Path;

#[test]
fn bare_metal_intel() -> Outcome {
    let fixture = Fixture::unpack("bare-metal-intel")?;
    assert_facts(
        &fixture,
        &[
            ("system.host", "workhorse"),
            ("system.os", "Fedora Linux 41 (Server Edition)"),
            ("system.model", "Dell Inc. PowerEdge R240"),
            ("system.uptime", "3 days 2 h"),
            ("system.user", "uid 1000"),
            ("kernel.preemption", "dynamic: full"),
            ("kernel.hz", "1000"),
            ("kernel.scheduler", "sched_ext: rusty_1.0.4"),
            ("kernel.scheduler.rt_runtime", "95 %"),
            ("kernel.scheduler.autogroup", "on"),
            ("kernel.clock_source", "hpet"),
            ("kernel.debug", "none"),
            ("cpu.model", "Intel(R) Xeon(R) E-2234 CPU @ 3.60GHz"),
            ("cpu.stepping", "6 158 10"),
            ("cpu.topology", "1 socket, 2 cores, 4 threads"),
            ("cpu.smt", "on"),
            ("cpu.cache.l1d", "2 × 32 KiB shared by 2 CPUs"),
            ("cpu.cache.l1i", "2 × 32 KiB shared by 2 CPUs"),
            ("cpu.cache.l3", "1 × 8 MiB shared by 4 CPUs"),
            ("cpu.governor", "performance ×1, powersave ×3"),
            ("cpu.frequency.driver", "intel_pstate"),
            ("cpu.frequency.max", "4800 MHz"),
            ("cpu.frequency.now", "2250 MHz"),
            ("cpu.boost", "on"),
            ("cpu.idle.states", "POLL 0 µs, C1 2 µs, C6 133 µs"),
            ("cpu.numa", "1 node: CPUs 0-3"),
            ("memory.total", "31.2 GiB"),
            ("memory.swap", "8 GiB, 1 GiB used"),
            ("memory.thp", "always"),
            ("memory.zswap", "off"),
            ("memory.ksm", "off"),
            ("memory.numa_balancing", "off"),
            ("memory.overcommit", "heuristic"),
            ("memory.dirty_ratio", "256 MiB"),
            ("memory.dirty_background_ratio", "10 %"),
            ("storage.file_system", "ext4"),
            ("storage.mount_point", "/srv"),
            ("storage.device", "/dev/sda1"),
            ("storage.options", "rw,noatime,data=ordered"),
            ("storage.rotational", "yes"),
            ("storage.scheduler", "mq-deadline"),
            ("storage.model", "ST1000DM003"),
            ("security.audit", "on since boot (audit=1)"),
            ("security.login_id", "1000"),
            ("security.selinux", "enforcing"),
            ("security.apparmor", "off"),
            ("security.lsm", "lockdown,capability,yama,selinux,bpf"),
            (
                "security.mitigations",
                "mitigated: meltdown, spectre_v2; vulnerable: mds; 1 not affected",
            ),
            ("security.vulnerability.meltdown", "Mitigation: PTI"),
            ("limits.cpus", "4 of 4 (mask 0-7)"),
            ("limits.cgroup.version", "v2"),
            ("limits.nproc", "400 (hard limit: unlimited)"),
            ("limits.core", "unlimited"),
            ("software.libc", "glibc 2.40 (GNU libc)"),
            ("software.shell", "/usr/bin/bash"),
            ("software.locale", "installed"),
        ],
    );
    assert_absent(
        &fixture,
        &[
            "system.virtualisation",
            "system.container",
            "limits.cgroup.cpu",
            "kernel.tainted",
            "cpu.nohz_full",
        ],
    );
    Ok(())
}

#[test]
fn bare_metal_intel_is_ill() -> Outcome {
    use Severity::{Disturbs, Note, Spoils};
    let fixture = Fixture::unpack("bare-metal-intel")?;
    // 400 allowed, 3 + 7 threads of user 1000 run, and none of root's count; 20 per CPU do not do.
    assert_eq!(copies_limit(&fixture.machine()), Some(390));
    fixture
        .write("/proc/4711/status", "Name:\tsh\nUid:\t1000\t1000\t1000\t1000\nThreads:\t300\n")?;
    assert_eq!(copies_limit(&fixture.machine()), Some(90));
    assert_findings(
        &fixture,
        &[
            ("load.average", Disturbs, "2.50"),
            ("load.battery", Disturbs, "plug"),
            ("cpu.governor", Disturbs, "scaling_governor"),
            ("cpu.boost", Note, "intel_pstate/no_turbo"),
            ("cpu.idle", Note, "133 µs"),
            ("limits.copies", Spoils, "90 more"),
            ("limits.nofile", Spoils, "ulimit -n 160"),
            ("kernel.clock_source", Disturbs, "echo tsc"),
            ("kernel.audit", Disturbs, "auditctl"),
            ("kernel.mitigations", Note, "meltdown, spectre_v2"),
            ("memory.thp", Note, "echo madvise"),
            ("memory.swap", Disturbs, "swapoff"),
        ],
    );
    Ok(())
}

#[test]
fn this_vm() -> Outcome {
    let fixture = Fixture::unpack("this-vm")?;
    assert_facts(
        &fixture,
        &[
            ("system.os", "Debian GNU/Linux 12 (bookworm)"),
            ("system.virtualisation", "KVM"),
            ("system.container", "docker"),
            ("system.user", "root"),
            ("system.steal", "0.09 %"),
            ("kernel.scheduler", "EEVDF"),
            ("kernel.preemption", "dynamic"),
            ("kernel.psi", "on"),
            ("cpu.model", "AMD EPYC"),
            ("cpu.frequency.now", "2596 MHz"),
            ("cpu.idle.governor", "haltpoll"),
            ("storage.file_system", "ext4"),
            ("storage.scheduler", "mq-deadline"),
            ("limits.cgroup.version", "hybrid"),
            ("limits.cgroup.path", "/init/job1"),
            ("security.seccomp", "off"),
            ("software.shell", "/usr/bin/dash"),
            ("software.locale", "missing"),
        ],
    );
    assert_absent(
        &fixture,
        &["cpu.governor", "cpu.boost", "security.lsm", "limits.cgroup.memory", "kernel.hz"],
    );
    assert_findings(
        &fixture,
        &[
            ("cpu.virtual", Severity::Note, "KVM"),
            ("kernel.mitigations", Severity::Note, "spectre_v1, spectre_v2"),
            ("software.locale", Severity::Note, "apt-get install locales"),
        ],
    );
    Ok(())
}

#[test]
fn a_container_of_version_1_with_a_quota() -> Outcome {
    use Severity::{Disturbs, Note, Spoils};
    let fixture = Fixture::unpack("container-v1")?;
    let machine = fixture.machine();
    assert_eq!((cpus_online(&machine), cpus_usable(&machine)), (8, 2));
    assert_eq!(copies_limit(&machine), Some(88), "root's own limit does not count");
    assert_facts(
        &fixture,
        &[
            ("limits.cgroup.version", "v1"),
            ("limits.cgroup.path", "/docker/0123abcd"),
            ("limits.cgroup.cpu", "1.50 CPUs"),
            ("limits.cgroup.memory", "128 MiB"),
            ("limits.cgroup.pids", "100"),
            ("limits.cpus", "2 of 8 (mask 2-3)"),
            ("security.seccomp", "filtered, 1 filters"),
            ("security.no_new_privs", "on"),
            ("system.container", "docker"),
            ("software.libc", "musl 1.2.4-r2"),
            ("kernel.scheduler", "CFS"),
            ("kernel.psi", "off"),
        ],
    );
    assert_absent(&fixture, &["software.locale", "memory.zswap"]);
    assert_findings(
        &fixture,
        &[
            ("limits.quota", Spoils, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"),
            ("limits.affinity", Disturbs, "taskset -pc 0-7"),
            ("limits.copies", Spoils, "pids-limit"),
            ("limits.memory", Spoils, "128 MiB"),
            ("kernel.seccomp", Disturbs, "unconfined"),
            ("storage.file_system", Disturbs, "overlay"),
            ("cpu.virtual", Note, "QEMU/KVM"),
        ],
    );
    Ok(())
}

#[test]
fn a_container_of_version_2_is_bound_by_the_groups_above() -> Outcome {
    use Severity::{Disturbs, Spoils};
    let fixture = Fixture::unpack("container-v2")?;
    assert_facts(
        &fixture,
        &[
            ("limits.cgroup.version", "v2"),
            ("limits.cgroup.path", "/pod/web"),
            ("limits.cgroup.cpu", "2.00 CPUs"),
            ("limits.cgroup.memory", "2 GiB"),
            ("limits.cgroup.pids", "512"),
            ("system.container", "podman"),
            ("system.user", "root of a user namespace"),
            ("kernel.preemption", "full"),
            ("storage.file_system", "tmpfs"),
        ],
    );
    // 512 − 12 in the group, 1000 − 2 threads by the limit of the user outside.
    assert_eq!(copies_limit(&fixture.machine()), Some(500));
    fixture.write("/sys/fs/cgroup/pod/pids.max", "max\n")?;
    fixture.write("/sys/fs/cgroup/pod/web/pids.max", "max\n")?;
    assert_eq!(copies_limit(&fixture.machine()), Some(998));
    assert_findings(
        &fixture,
        &[
            ("limits.quota", Spoils, "echo max | sudo tee /sys/fs/cgroup/pod/cpu.max"),
            ("storage.file_system", Disturbs, "in memory"),
            ("kernel.audit", Severity::Note, "only root can tell"),
            ("software.locale", Severity::Note, "localedef"),
        ],
    );
    Ok(())
}

#[test]
fn that_auditing_was_on_is_known_until_the_next_boot() -> Outcome {
    let fixture = Fixture::unpack("container-v2")?;
    fixture.write("/proc/sys/kernel/random/boot_id", "this-boot\n")?;
    machine::auditing::mark(&fixture.machine())?;
    assert_facts(
        &fixture,
        &[(
            "security.audit",
            "was on earlier in this boot: system calls of new processes stay slower until a reboot",
        )],
    );
    let (severity, text) = fixture.findings().remove("kernel.audit").unwrap();
    assert!(severity == Severity::Disturbs && text.contains("never,task"), "{text}");
    fixture.write("/proc/sys/kernel/random/boot_id", "next-boot\n")?;
    assert_facts(&fixture, &[("security.audit", "auditd is not running; rules unknown")]);
    Ok(())
}

#[test]
fn arm64_without_cpufreq() -> Outcome {
    let fixture = Fixture::unpack("arm64")?;
    assert_facts(
        &fixture,
        &[
            ("cpu.model", "Arm Neoverse N1"),
            ("cpu.revision", "r3p1"),
            ("system.architecture", "aarch64"),
            ("system.model", "Amazon EC2 m6g.metal"),
            ("kernel.preemption", "voluntary"),
            ("kernel.hz", "250"),
            ("kernel.clock_source", "arch_sys_counter"),
            ("cpu.topology", "1 socket, 2 cores, 2 threads"),
            ("storage.file_system", "nfs4"),
        ],
    );
    let absent = [
        "cpu.frequency.now",
        "cpu.governor",
        "cpu.vendor",
        "cpu.clusters",
        "cpu.capacity",
        "system.virtualisation",
    ];
    assert_absent(&fixture, &absent);
    assert_findings(
        &fixture,
        &[
            ("storage.file_system", Severity::Spoils, "network"),
            ("kernel.audit", Severity::Disturbs, "auditd is running"),
            ("kernel.debug", Severity::Spoils, "CONFIG_KASAN_GENERIC, CONFIG_PROVE_LOCKING"),
        ],
    );
    Ok(())
}

#[test]
fn arm64_with_two_clusters() -> Outcome {
    let fixture = Fixture::unpack("arm64-clusters")?;
    assert_facts(
        &fixture,
        &[
            ("system.model", "linux,dummy-virt"),
            ("system.virtualisation", "QEMU/KVM"),
            ("cpu.model", "Arm Cortex-A72"),
            ("cpu.revision", "r0p3"),
            ("cpu.topology", "1 socket, 4 cores, 4 threads"),
            ("cpu.clusters", "2 clusters: CPUs 0-1; 2-3"),
            ("cpu.capacity", "1024 ×2, 512 ×2"),
        ],
    );
    let kinds: Vec<u32> =
        ::machine::topology(&fixture.machine()).cpus.iter().map(|cpu| cpu.kind).collect();
    assert_eq!(kinds, [0, 0, 1, 1]);
    Ok(())
}

#[test]
fn noise_of_an_old_kernel_without_pressure_or_steal() -> Outcome {
    let fixture = Fixture::unpack("old-kernel")?;
    let before = sample(&fixture.machine());
    fixture.write("/proc/stat", "cpu  200 0 100 1000\ncpu0 200 0 100 1000\n")?;
    let noise = noise(&before, &sample(&fixture.machine()));
    let expected =
        Noise { busy_s: Some(1.5), load1: Some(0.25), procs_running: Some(1), ..Noise::default() };
    assert_eq!(noise, expected);
    assert_eq!(cpus_online(&fixture.machine()), 1, "counted in /proc/stat");
    let json = serde_json::to_string(&noise)?;
    assert_eq!(json, r#"{"busy_s":1.5,"procs_running":1,"load1":0.25}"#);
    assert_eq!(serde_json::from_str::<Noise>(&json)?, noise);
    Ok(())
}

#[test]
fn noise_of_a_window() -> Outcome {
    let fixture = Fixture::unpack("bare-metal-intel")?;
    fixture.write("/proc/stat", "cpu  1000 0 0 1000 0 0 0 100 50 0\n")?;
    fixture.write("/proc/pressure/io", "some avg10=0.00 total=1000000\nfull total=9\n")?;
    let before = sample(&fixture.machine());
    fixture.write("/proc/stat", "cpu  1010 20 30 1020 10 40 50 160 90 0\n")?;
    fixture.write("/proc/pressure/io", "some avg10=0.00 total=1250000\nfull total=9\n")?;
    fixture.write("/proc/loadavg", "3.25 1.00 0.50 4/900 12345\n")?;
    let after = sample(&fixture.machine());
    let expected = Noise {
        steal_s: Some(0.6),
        busy_s: Some(1.5),
        procs_running: Some(4),
        psi_cpu_some_s: Some(0.0),
        psi_io_some_s: Some(0.25),
        psi_memory_some_s: Some(0.0),
        frequency_mhz: Some(2250.0),
        load1: Some(3.25),
        // The zone says 45 °C and the chip 61; the one without a sensor says −274.
        temperature_c: Some(61.0),
    };
    assert_eq!(noise(&before, &after), expected);

    let findings = fixture.findings_between(&before, &after);
    let found = |name: &str| findings.get(name).map(|(severity, text)| (*severity, text.as_str()));
    let (severity, text) = found("load.steal").ok_or("no steal was found")?;
    assert_eq!(severity, Severity::Spoils);
    assert!(text.contains("25.0 % of the CPU time"), "{text}");
    let (severity, text) = found("load.busy").ok_or("no load was found")?;
    assert_eq!(severity, Severity::Spoils);
    assert!(text.contains("use 2.5 CPUs"), "{text}");
    Ok(())
}

#[test]
fn groups_are_not_torn() -> Outcome {
    let facts = facts(&Fixture::unpack("bare-metal-intel")?.machine(), Path::new(DIR));
    let mut groups: Vec<&str> = facts.iter().map(|fact| fact.group.as_str()).collect();
    groups.dedup();
    let order =
        ["System", "Kernel", "Processor", "Memory", "Storage", "Security", "Limits", "Software"];
    assert_eq!(groups, order);
    Ok(())
}

/// The head of a locale archive and its names, as `localedef` writes them.
fn locale_archive(magic: u32, names: &[u8]) -> Vec<u8> {
    let offset = 56_u32;
    let head = [magic, 1, 56, 0, 0, offset, names.len() as u32, 0, 0, 0, 0, 0, 0, 0];
    head.iter().flat_map(|word| word.to_ne_bytes()).chain(names.iter().copied()).collect()
}

#[test]
fn the_locale_is_looked_for_in_the_archive() -> Outcome {
    const MAGIC: u32 = 0xde02_0109;
    let fixture = Fixture::unpack("this-vm")?;
    let archive = "/usr/lib/locale/locale-archive";
    let state = || fixture.facts().remove("software.locale");
    fixture.write(archive, locale_archive(MAGIC, b"en_GB.utf8\0en_US.utf8\0"))?;
    assert_eq!(state().as_deref(), Some("installed"));
    assert!(!fixture.findings().contains_key("software.locale"));
    fixture.write(archive, locale_archive(MAGIC, b"en_GB.utf8\0en_US.utf8@x\0"))?;
    assert_eq!(state().as_deref(), Some("missing"), "another name that begins so");
    fixture.write(archive, locale_archive(MAGIC + 1, b"en_US.utf8\0"))?;
    assert_eq!(state().as_deref(), Some("missing"), "not an archive");
    fixture.write(archive, &locale_archive(MAGIC, b"en_US.utf8\0")[..20])?;
    assert_eq!(state().as_deref(), Some("missing"), "cut short");
    Ok(())
}

#[test]
fn this_machine_describes_itself() {
    let machine = Machine::here();
    let facts = facts(&machine, &std::env::temp_dir());
    let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    let everywhere = ["kernel.release", "kernel.hz", "cpu.online", "memory.total", "limits.nofile"];
    // In a chroot the file system of its root is not among the mounts.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let has_root = mounts.lines().any(|mount| mount.split(' ').nth(4) == Some("/"));
    for name in everywhere.into_iter().chain(has_root.then_some("storage.file_system")) {
        assert!(names.contains(&name), "{name} is missing from {names:?}");
    }
    assert!(cpus_usable(&machine) <= cpus_online(&machine));
    // The affinity that is read from files is the one the scheduler tells.
    let scheduler = std::thread::available_parallelism().map_or(1, |count| count.get());
    assert!(cpus_usable(&machine) as usize >= scheduler, "that one respects quotas too");
    ::machine::doctor(&machine, &std::env::temp_dir());
}

#[test]
fn time_goes_on_between_two_samples() {
    let machine = Machine::here();
    let before = sample(&machine);
    let begin = std::time::Instant::now();
    let mut sum = 0_u64;
    while begin.elapsed().as_millis() < 300 {
        sum = sum.wrapping_add(std::hint::black_box(1));
    }
    assert!(sum > 0);
    let busy = noise(&before, &sample(&machine)).busy_s;
    let most = 2.0 * begin.elapsed().as_secs_f64() * cpus_online(&machine) as f64;
    assert!(busy.is_some_and(|busy| busy >= 0.1 && busy <= most), "{busy:?} of at most {most}");
}
