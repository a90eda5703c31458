//! The file system and device the file tests use.

use super::super::mounts::{self, Mount};
use super::super::{Machine, link, parse};
use super::{Path, Row, Value, text, value};

pub(super) const ROWS: &[Row] = &[
    text("storage.dir", "Directory under test", |m, dir| {
        Some(mounts::absolute(m, dir).display().to_string())
    }),
    text("storage.file_system", "File system", |m, dir| {
        Some(mounts::containing(m, dir)?.file_system)
    }),
    text("storage.mount_point", "Mounted at", |m, dir| Some(mounts::containing(m, dir)?.point)),
    text("storage.device", "Device", |m, dir| Some(mounts::containing(m, dir)?.source)),
    text("storage.options", "Mount options", |m, dir| Some(options(&mounts::containing(m, dir)?))),
    value("storage.free", "Free space", free),
    text("storage.model", "Device model", |m, dir| device(m, dir, "device/model")),
    value("storage.link", "Device's link", link),
    text("storage.rotational", "Rotational", rotational),
    text("storage.scheduler", "I/O scheduler", scheduler),
    text("storage.write_cache", "Write cache", |m, dir| device(m, dir, "queue/write_cache")),
];

/// The options of the mount, then those of the file system that it does not have already.
fn options(mount: &Mount) -> String {
    let mut options: Vec<&str> = mount.options.split(',').collect();
    for option in mount.super_options.split(',') {
        if !options.contains(&option) {
            options.push(option);
        }
    }

    options.join(",")
}

fn free(machine: &Machine, dir: &Path) -> Option<Value> {
    let (free, total) = mounts::space(machine, dir)?;
    let text = format!("{} of {}", words::bytes(free), words::bytes(total));
    Some(Value { text, ..Value::bytes(free) })
}

fn link(machine: &Machine, dir: &Path) -> Option<Value> {
    let link = link::link(machine, dir)?;
    Some(Value::number(link.payload, "MB/s", format!("{:.0} MB/s ({})", link.payload, link.kind)))
}

fn device(machine: &Machine, dir: &Path, file: &str) -> Option<String> {
    mounts::device_file(machine, &mounts::containing(machine, dir)?, file)
}

fn rotational(machine: &Machine, dir: &Path) -> Option<String> {
    let value = device(machine, dir, "queue/rotational")?;
    Some(if value == "1" { "yes" } else { "no" }.to_string())
}

fn scheduler(machine: &Machine, dir: &Path) -> Option<String> {
    let line = device(machine, dir, "queue/scheduler")?;
    Some(parse::chosen(&line).unwrap_or(&line).to_string())
}
