//! The link of the block device under a directory: what its data must pass, however fast the device
//! is.

use std::path::Path;

use super::{Machine, mounts};

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its capacity without its coding, in MB/s.
    pub payload: f64,
    /// Its kind, such as `PCIe 8.0 GT/s x 4`.
    pub kind: String,
}

/// The link of the device under `dir`; `None` where the machine does not report it.
pub fn link(machine: &Machine, dir: &Path) -> Option<Link> {
    let mount = mounts::containing(machine, dir)?;
    pcie(machine, &mount).or_else(|| sata(machine, &mount))
}

/// An NVMe name space lies below its controller, and that below the PCI function.
fn pcie(machine: &Machine, mount: &mounts::Mount) -> Option<Link> {
    let file = |name: &str| {
        mounts::device_file(machine, mount, &format!("device/device/current_link_{name}"))
    };
    let (speed, width) = (file("speed")?, file("width")?);
    let transfers: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: f64 = width.parse().ok()?;
    // 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on (PCI Express Base Specification, 4.2).
    let coding = if transfers < 8.0 { 0.8 } else { 128.0 / 130.0 };
    let payload = transfers * 1000.0 * coding * lanes / 8.0;
    (payload > 0.0).then(|| Link { payload, kind: format!("PCIe {transfers:.1} GT/s x {width}") })
}

fn sata(machine: &Machine, mount: &mounts::Mount) -> Option<Link> {
    let device = machine.resolve(Path::new(&format!("/sys/dev/block/{}", mount.device)))?;
    let number =
        device.iter().find_map(|part| part.to_str()?.strip_prefix("ata")?.parse::<u32>().ok())?;
    let speed = machine.read(&format!("/sys/class/ata_link/link{number}/sata_spd"))?;
    let gigabits: f64 = speed.split(' ').next()?.parse().ok()?;
    // 8b/10b: ten bits carry a byte.
    (gigabits > 0.0)
        .then(|| Link { payload: gigabits * 100.0, kind: format!("SATA {gigabits:.1} Gbit/s") })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        let machine = Machine::at(root.path());
        (root, machine)
    }

    const MOUNT: (&str, &str) = ("proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/x1 rw\n");

    #[test]
    fn nvme_has_a_pcie_link() {
        let function = "sys/devices/pci0/0000:01:00.0";
        let (root, machine) = machine(&[
            MOUNT,
            (&format!("{function}/current_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{function}/current_link_width"), "4\n"),
            (&format!("{function}/nvme/nvme0/nvme0n1/x1/partition"), "1\n"),
        ]);
        let controller = root.path().join(function).join("nvme/nvme0");
        symlink("../..", controller.join("device")).unwrap();
        symlink("..", controller.join("nvme0n1/device")).unwrap();
        symlink(controller.join("nvme0n1/x1"), root.path().join("sys/dev/block/8:1")).unwrap();
        let found = link(&machine, Path::new("/")).unwrap();
        assert_eq!((found.payload.round(), found.kind.as_str()), (3938.0, "PCIe 8.0 GT/s x 4"));
    }

    #[test]
    fn sata_has_a_port() {
        let disk = "sys/devices/pci0/ata2/host1/target1:0:0/1:0:0:0/block/x/x1";
        let (root, machine) = machine(&[
            MOUNT,
            (&format!("{disk}/partition"), "1\n"),
            ("sys/class/ata_link/link2/sata_spd", "6.0 Gbps\n"),
        ]);
        symlink(root.path().join(disk), root.path().join("sys/dev/block/8:1")).unwrap();
        assert_eq!(
            link(&machine, Path::new("/")),
            Some(Link { payload: 600.0, kind: "SATA 6.0 Gbit/s".to_owned() })
        );
    }

    #[test]
    fn elsewhere_it_is_not_told() {
        assert_eq!(link(&machine(&[MOUNT]).1, Path::new("/")), None);
    }
}
