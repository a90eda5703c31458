//! Signs of a virtual machine or a container, and its kind.
//!
//! Each sign is a function that gives the name which it betrays, if any. The first that does counts
//! ([`hypervisor`], [`container`]), so signs that are more exact come first.

use super::{Machine, kernel};

/// The start of /proc/cpuinfo that is read: it has the flags of the first CPU.
const CPUINFO_START_BYTES: u64 = 16_384;

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
const GUEST_CLOCKS: &[(&str, &str)] =
    &[("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen")];

/// The hypervisor below this machine; `None` on bare metal, or where nothing betrays one.
pub fn hypervisor(machine: &Machine) -> Option<String> {
    let signs = [xen, subsystem_for_linux, firmware, device_tree, guest_clock, cpu_flag];
    signs.iter().find_map(|sign| sign(machine))
}

/// The two ends that an emulator of user programs bridges: the tool's architecture and the
/// kernel's; `None` where the processor itself runs the tool, or the kernel does not report its
/// architecture (before Linux 6.1).
pub fn emulation(machine: &Machine) -> Option<String> {
    let kernel = machine.is_live().then(|| machine.read("/proc/sys/kernel/arch"))??;
    let built_for = std::env::consts::ARCH;
    is_foreign(built_for, &kernel).then(|| format!("{built_for} on {kernel}"))
}

/// True if a processor whose kernel calls itself `kernel` runs no programs of the
/// architecture that Rust calls `own`.
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
    let signs = [marker_files, manager, first_process, group_names];
    signs.iter().find_map(|sign| sign(machine))
}

/// Maker and name of the machine, or of the virtual one.
pub fn model(machine: &Machine) -> Option<String> {
    let names: Vec<String> = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|file| machine.read(&format!("/sys/class/dmi/id/{file}")))
        .collect();
    if names.is_empty() {
        return machine.read("/proc/device-tree/model");
    }

    Some(names.join(" "))
}

fn xen(machine: &Machine) -> Option<String> {
    let kind = machine.read("/sys/hypervisor/type")?;
    // The first domain is the host: it runs on Xen, but owns the hardware.
    let is_host = machine
        .read("/proc/xen/capabilities")
        .is_some_and(|capabilities| capabilities.contains("control_d"));
    Some(format!("{kind}{}", if is_host { " (control domain)" } else { "" }))
}

fn device_tree(machine: &Machine) -> Option<String> {
    machine.read("/proc/device-tree/hypervisor/compatible")
}

fn subsystem_for_linux(machine: &Machine) -> Option<String> {
    let release = kernel::release(machine)?.to_lowercase();
    release.contains("microsoft").then(|| "WSL".to_string())
}

fn firmware(machine: &Machine) -> Option<String> {
    let bios = machine.read("/sys/class/dmi/id/bios_vendor").unwrap_or_default();
    let text = format!("{} {bios}", model(machine).unwrap_or_default());
    // An instance of metal is no virtual machine.
    if text.contains("Amazon EC2") {
        return (!text.contains(".metal")).then(|| "Amazon EC2".to_string());
    }

    let (_, name) = FIRMWARE.iter().find(|(word, _)| text.contains(word))?;
    Some(name.to_string())
}

fn guest_clock(machine: &Machine) -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let text = machine.read(path)?;
    let clocks: Vec<&str> = text.split_whitespace().collect();
    let (_, name) = GUEST_CLOCKS
        .iter()
        .find(|(start, _)| clocks.iter().any(|clock| clock.starts_with(start)))?;
    Some(name.to_string())
}

/// x86's flag of a hypervisor, which does not name it.
fn cpu_flag(machine: &Machine) -> Option<String> {
    let text = machine.read_start("/proc/cpuinfo", CPUINFO_START_BYTES)?;
    let mut flags = super::parse::field(&text, "flags")?.split(' ');
    flags.any(|flag| flag == "hypervisor").then(|| "unknown hypervisor".to_string())
}

fn marker_files(machine: &Machine) -> Option<String> {
    let markers = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let marker = markers.iter().find(|(path, _)| machine.exists(path));
    marker.map(|(_, name)| name.to_string())
}

/// The file in which systemd names the container's manager.
fn manager(machine: &Machine) -> Option<String> {
    machine.read("/run/systemd/container")
}

/// Managers name themselves in the environment of a container's first process, which only root may
/// read.
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
        let foreign =
            [("s390x", "x86_64"), ("arm", "x86_64"), ("aarch64", "x86_64"), ("riscv64", "aarch64")];
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
