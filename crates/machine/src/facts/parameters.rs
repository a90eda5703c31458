//! The parameters of the kernel's command line that can change a figure.
//!
//! The rest is nobody's business: after `--` stand init's arguments, and elsewhere addresses, keys and labels of disks.

/// Parameters that can change a figure. One that ends in `*` stands for all that begin so.
const KEPT: &[&str] = &[
    // Mitigations and hardening.
    "mitigations",
    "spectre*",
    "spec_*",
    "nospec*",
    "l1tf",
    "mds",
    "tsx*",
    "mmio_stale_data",
    "retbleed",
    "srbds",
    "gather_data_sampling",
    "reg_file_data_sampling",
    "indirect_target_selection",
    "tsa",
    "vmscape",
    "pti",
    "nopti",
    "kpti",
    "ssbd",
    "kvm-intel.*",
    "kvm.*",
    "nosmep",
    "nosmap",
    "nokaslr",
    "kaslr",
    "init_on_alloc",
    "init_on_free",
    "slub_debug",
    "slab_nomerge",
    "page_poison",
    "page_alloc.shuffle",
    "randomize_kstack_offset",
    "vsyscall",
    "kasan*",
    "kfence.*",
    "debug_pagealloc",
    // Isolation, processors and interrupts.
    "isolcpus",
    "nohz",
    "nohz_full",
    "rcu_nocbs",
    "rcu_nocb_poll",
    "rcutree.*",
    "rcupdate.*",
    "irqaffinity",
    "skew_tick",
    "threadirqs",
    "nosmt",
    "maxcpus",
    "nr_cpus",
    "possible_cpus",
    "noapic",
    "nox2apic",
    "workqueue.*",
    "sched_*",
    "schedstats",
    "preempt",
    "psi",
    "nowatchdog",
    "nmi_watchdog",
    "nosoftlockup",
    // Auditing and security modules.
    "audit",
    "audit_backlog_limit",
    "lsm",
    "security",
    "apparmor",
    "selinux",
    "enforcing",
    "lockdown",
    "seccomp",
    // Memory.
    "transparent_hugepage*",
    "thp_*",
    "hugepages",
    "hugepagesz",
    "default_hugepagesz",
    "hugetlb*",
    "mem",
    "numa",
    "numa_balancing",
    "movablecore",
    "kernelcore",
    "zswap.*",
    "swapaccount",
    "cgroup_disable",
    "cgroup_no_v1",
    "systemd.unified_cgroup_hierarchy",
    "swiotlb",
    "iommu",
    "iommu.*",
    "intel_iommu",
    "amd_iommu",
    "page_reporting.*",
    "deferred_init",
    // Clocks, idle states and frequencies.
    "clocksource",
    "tsc",
    "hpet",
    "nohpet",
    "highres",
    "no-kvmclock",
    "xen_nopv",
    "nopv",
    "nopvspin",
    "idle",
    "processor.*",
    "intel_idle.*",
    "cpuidle*",
    "haltpoll.*",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.*",
    "pcie_aspm",
    "nvme.*",
    "scsi_mod.*",
    "elevator",
    // What the kernel prints, and where.
    "quiet",
    "debug",
    "loglevel",
    "ignore_loglevel",
    "printk.*",
];

/// Returns the parameters of a command line that can change a figure, and how many others there are.
pub fn relevant(line: &str) -> String {
    let line = line.trim();
    let kernel = line.split_once(" -- ").map_or(line, |(kernel, _)| kernel);
    let words: Vec<&str> = kernel.split_whitespace().take_while(|word| *word != "--").collect();
    let mut kept: Vec<&str> = words.iter().copied().filter(|word| is_kept(word)).collect();
    let others = line.split_whitespace().filter(|word| *word != "--").count() - kept.len();
    let count = if others == 0 { String::new() } else { format!("({others} more)") };
    kept.extend((!count.is_empty()).then_some(count.as_str()));
    kept.join(" ")
}

/// Whether a parameter is of the list, and its value nothing but names and numbers.
fn is_kept(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let is_named = |known: &&str| match known.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *known,
    };
    KEPT.iter().any(is_named) && value.chars().all(|c| c.is_ascii_alphanumeric() || "_,.:+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_change_a_figure() {
        assert_eq!(
            relevant(
                "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro mitigations=off isolcpus=2-3 console=ttyS0 quiet -- --key s3cret\n"
            ),
            "mitigations=off isolcpus=2-3 quiet (6 more)"
        );
        assert_eq!(relevant("audit=1 lsm=landlock,yama"), "audit=1 lsm=landlock,yama");
        assert_eq!(relevant("rd.luks.key=/k ip=10.0.0.1 -- quiet"), "(3 more)");
        assert_eq!(relevant("audit=/etc/passwd"), "(1 more)");
        assert_eq!(relevant(""), "");
    }
}
