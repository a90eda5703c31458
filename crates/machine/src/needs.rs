//! The needs of tests and conditions.

use catalogue::Need;

use super::Machine;
use super::process::find_command;

/// The mount point of the tracing file system.
pub const TRACING: &str = "/sys/kernel/tracing";

/// Why the first of `needs` that is not met is not met; `None` if all are.
pub fn unmet(machine: &Machine, needs: &[Need]) -> Option<String> {
    needs.iter().find_map(|need| match need {
        // Here it is: nothing is measured elsewhere.
        Need::Linux => None,
        Need::Root => (!rustix::process::geteuid().is_root()).then(|| "it needs root".to_owned()),
        Need::Tracefs => (!has_tracing(machine))
            .then(|| "this kernel has no tracing file system (CONFIG_FTRACE)".to_owned()),
        Need::Tool { name, package } => find_command(name).is_none().then(|| {
            let help = package
                .as_ref()
                .map_or_else(String::new, |package| format!("; install the package {package}"));
            format!("it needs `{name}`, which is not installed here{help}")
        }),
        Need::File(path) => (!machine.exists(path)).then(|| format!("there is no {path} here")),
    })
}

/// True if there is the tracing file system, mounted or not.
fn has_tracing(machine: &Machine) -> bool {
    let systems = machine.read("/proc/filesystems").unwrap_or_default();
    let is_known =
        || systems.split_whitespace().any(|word| word == "tracefs") && machine.exists(TRACING);
    machine.exists(&format!("{TRACING}/events")) || is_known()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(machine: &Machine, need: &str) -> Option<String> {
        unmet(machine, &[need.to_owned().try_into().unwrap()])
    }

    #[test]
    fn the_first_unmet_need_is_the_reason() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::at(root.path());
        assert_eq!(why(&machine, "tool:sh"), None);
        let package = why(&machine, "tool:no-such-tool:a-package").unwrap();
        assert!(
            package.contains("`no-such-tool`")
                && package.ends_with("install the package a-package"),
            "{package}"
        );
        assert!(why(&machine, "file:/sys/x").unwrap().contains("there is no /sys/x"));
        assert!(why(&machine, "tracefs").unwrap().contains("CONFIG_FTRACE"));
        std::fs::create_dir_all(root.path().join("sys/kernel/tracing")).unwrap();
        assert!(why(&machine, "tracefs").is_some(), "the kernel does not know it");
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/filesystems"), "nodev\ttracefs\n").unwrap();
        assert_eq!(why(&machine, "tracefs"), None);
        let needs =
            ["tool:sh", "file:/a", "file:/b"].map(|need| need.to_owned().try_into().unwrap());
        assert!(unmet(&machine, &needs).unwrap().contains("/a"));
    }
}
