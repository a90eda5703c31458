//! Signs of a virtual machine or a container, and its kind.

use super::{Machine, kernel};

/// Words of firmware, and the hypervisors they betray.
const FIRMWARE: &[(&str, &str)] = &[
    ("Firecracker", "Firecracker"),
    ("KVM", "KVM"),
    ("QEMU", "QEMU/KVM"),
    // The name of QEMU's board for Arm in its device tree.
    ("linux,dummy-virt", "QEMU/KVM"),
    ("Bochs", "QEMU/KVM"),
    ("OpenStack", "OpenStack"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("Xen", "Xen"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Virtual Machine", "Hyper-V"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("Alibaba Cloud ECS", "Alibaba Cloud"),
    ("Apple Virtualization", "Apple Virtualization"),
];

/// Clock sources that only a guest has.
const GUEST_CLOCKS: &[(&str, &str)] = &[("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen")];

/// The hypervisor below this machine; `None` on bare metal, or where nothing betrays one.
pub fn hypervisor(machine: &Machine) -> Option<String> {
    let device_tree = |machine: &Machine| machine.read("/proc/device-tree/hypervisor/compatible");
    let ways = [xen, subsystem_for_linux, firmware, device_tree, guest_clock, cpu_flag];
    ways.iter().find_map(|way| way(machine))
}

/// Returns the two ends that an emulator of user programs bridges: the tool's architecture and the kernel's; `None`
/// where the processor itself runs the tool, or the kernel does not tell (before Linux 6.1).
pub fn emulation(machine: &Machine) -> Option<String> {
    let kernel = machine.is_live().then(|| machine.read("/proc/sys/kernel/arch"))??;
    let own = std::env::consts::ARCH;
    is_foreign(own, &kernel).then(|| format!("{own} on {kernel}"))
}

/// Returns true if a processor whose kernel calls itself `kernel` runs no programs of the architecture that Rust calls
/// `own`.
fn is_foreign(own: &str, kernel: &str) -> bool {
    let native: &[&str] = match own {
        "x86_64" => &["x86_64"],
        "x86" => &["x86_64", "i386", "i486", "i586", "i686"],
        "aarch64" => &["aarch64"],
        "arm" => &["arm", "aarch64"],
        "powerpc64" => &["ppc64"],
        "riscv64" => &["riscv64"],
        "s390x" => &["s390x"],
        "loongarch64" => &["loongarch64"],
        _ => &[""],
    };
    !native.iter().any(|name| kernel.starts_with(name))
}

/// The kind of container this process is in; `None` outside of one, or where nothing betrays it.
pub fn container(machine: &Machine) -> Option<String> {
    let named_by_manager = |machine: &Machine| machine.read("/run/systemd/container");
    let ways = [marker_files, named_by_manager, first_process, group_names];
    ways.iter().find_map(|way| way(machine))
}

/// Maker and name of the machine, or of the virtual one.
pub fn model(machine: &Machine) -> Option<String> {
    let dmi = |file: &str| machine.read(&format!("/sys/class/dmi/id/{file}"));
    let names: Vec<String> = ["sys_vendor", "product_name"].into_iter().filter_map(dmi).collect();
    if names.is_empty() {
        return machine.read("/proc/device-tree/model");
    }
    Some(names.join(" "))
}

fn xen(machine: &Machine) -> Option<String> {
    let kind = machine.read("/sys/hypervisor/type")?;
    // The first domain is the host: it runs on Xen, but owns the hardware.
    let host = machine.read("/proc/xen/capabilities").is_some_and(|capabilities| capabilities.contains("control_d"));
    Some(format!("{kind}{}", if host { " (control domain)" } else { "" }))
}

fn subsystem_for_linux(machine: &Machine) -> Option<String> {
    let release = kernel::release(machine)?.to_lowercase();
    release.contains("microsoft").then(|| "WSL".to_string())
}

fn firmware(machine: &Machine) -> Option<String> {
    let bios = machine.read("/sys/class/dmi/id/bios_vendor").unwrap_or_default();
    let text = format!("{} {bios}", model(machine).unwrap_or_default());
    if text.contains("Amazon EC2") {
        return (!text.contains(".metal")).then(|| "Amazon EC2".to_string());
    }
    let betrays = |(sign, _): &&(&str, &str)| text.contains(sign);
    FIRMWARE.iter().find(betrays).map(|(_, name)| name.to_string())
}

fn guest_clock(machine: &Machine) -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = machine.read(path)?;
    let betrays = |(sign, _): &&(&str, &str)| clocks.split_whitespace().any(|c| c.starts_with(sign));
    GUEST_CLOCKS.iter().find(betrays).map(|(_, name)| name.to_string())
}

fn cpu_flag(machine: &Machine) -> Option<String> {
    let flags = super::parse::field(&machine.read_start("/proc/cpuinfo", 16_384)?, "flags")?
        .split(' ')
        .any(|flag| flag == "hypervisor");
    flags.then(|| "unknown hypervisor".to_string())
}

fn marker_files(machine: &Machine) -> Option<String> {
    let markers = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let found = markers.iter().find(|(path, _)| machine.exists(path));
    found.map(|(_, name)| name.to_string())
}

/// Managers tell the first process of a container in its environment, which only root may read.
fn first_process(machine: &Machine) -> Option<String> {
    let environment = machine.read("/proc/1/environ")?;
    let mut words = environment.split('\0');
    words.find_map(|word| word.strip_prefix("container=")).map(str::to_string)
}

fn group_names(machine: &Machine) -> Option<String> {
    let groups = machine.read("/proc/1/cgroup")?;
    let names = [("kubepods", "kubernetes"), ("docker", "docker"), ("/lxc", "lxc")];
    names.iter().find(|(sign, _)| groups.contains(sign)).map(|(_, name)| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_another_architecture_is_emulated() {
        let foreign = [("s390x", "x86_64"), ("arm", "x86_64"), ("aarch64", "x86_64"), ("riscv64", "aarch64")];
        assert!(foreign.iter().all(|(own, kernel)| is_foreign(own, kernel)));
        let native = [
            ("arm", "aarch64"),
            ("arm", "armv7l"),
            ("powerpc64", "ppc64le"),
            ("x86", "x86_64"),
            ("sparc64", "sparc64"),
        ];
        assert!(!native.iter().any(|(own, kernel)| is_foreign(own, kernel)));
    }
}
