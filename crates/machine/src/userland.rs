//! The distribution, its C library, its shell and its locales, all from files.

use super::Machine;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The locale UnixBench runs its shell tests in.
pub const LOCALE: &str = "en_US.utf8";

/// First word of /usr/lib/locale/locale-archive (glibc, `AR_MAGIC`).
const ARCHIVE_MAGIC: u32 = 0xde02_0109;

/// More than the names in an archive of every locale have, which is some 30 kB.
const MAX_NAME_BYTES: u32 = 1 << 20;

/// A value of os-release, without its quotes.
pub fn os_release(machine: &Machine, key: &str) -> Option<String> {
    let text = machine.read("/etc/os-release").or_else(|| machine.read("/usr/lib/os-release"))?;
    let value = |line: &str| {
        let value = line.strip_prefix(key)?.strip_prefix('=')?.trim();
        Some(value.trim_matches(['"', '\'']).to_string()).filter(|value| !value.is_empty())
    };
    text.lines().find_map(value)
}

/// Name and version of the distribution's C library.
pub fn c_library(machine: &Machine) -> Option<String> {
    glibc(machine).or_else(|| musl(machine))
}

/// The file /bin/sh really is.
pub fn shell(machine: &Machine) -> Option<String> {
    machine.resolve(Path::new("/bin/sh")).map(|path| path.display().to_string())
}

/// True if the C library is glibc or another that knows installed locales; musl needs none.
pub fn has_locales(machine: &Machine) -> bool {
    musl_loader(machine).is_none()
}

/// True if [`LOCALE`] is installed, as a directory or in the archive.
pub fn locale_installed(machine: &Machine) -> bool {
    let places = ["/usr/lib/locale/en_US.utf8", "/usr/lib/locale/en_US.UTF-8"];
    places.iter().any(|place| machine.exists(place))
        || archived_names(machine).is_some_and(|names| names.contains(&LOCALE.to_string()))
}

/// The names in the locale archive, which may have hundreds of megabytes, so only its head and the
/// names are read. Words 5 and 6 of the head are the names' offset and their number of bytes.
fn archived_names(machine: &Machine) -> Option<Vec<String>> {
    let mut file = File::open(machine.path("/usr/lib/locale/locale-archive")).ok()?;
    let mut head = [0; 28];
    file.read_exact(&mut head).ok()?;
    let word = |index: usize| {
        let bytes = head.get(index * 4..index * 4 + 4)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    };
    if word(0)? != ARCHIVE_MAGIC {
        return None;
    }

    let (offset, used) = (word(5)?, word(6)?.min(MAX_NAME_BYTES));
    file.seek(SeekFrom::Start(offset.into())).ok()?;
    let mut names = Vec::new();
    file.take(used.into()).read_to_end(&mut names).ok()?;
    Some(names.split(|byte| *byte == 0).map(|n| String::from_utf8_lossy(n).into_owned()).collect())
}

/// glibc says its version in a banner inside the library.
fn glibc(machine: &Machine) -> Option<String> {
    let bytes = library_dirs(machine)
        .iter()
        .find_map(|dir| std::fs::read(machine.path(format!("{dir}/libc.so.6"))).ok())?;
    let start = memchr::memmem::find(&bytes, b"GNU C Library (")?;
    let banner = bytes.get(start..)?.split(|byte| *byte == b'\n' || *byte == 0).next()?;
    let banner = std::str::from_utf8(banner).ok()?;
    let (_, version) = banner.split_once("release version ")?;
    let packaged = banner.split_once('(')?.1.split_once(')')?.0;
    Some(format!("glibc {} ({packaged})", version.trim_end_matches('.')))
}

/// The directories where libc.so.6 may lie; the tool's own architecture first, for others
/// may be installed too.
fn library_dirs(machine: &Machine) -> Vec<String> {
    let mut dirs = Vec::new();
    for parent in ["/lib", "/usr/lib"] {
        let names = machine.list(parent).into_iter();
        dirs.extend(names.filter(|n| n.contains("-linux-gnu")).map(|n| format!("{parent}/{n}")));
    }

    dirs.sort_by_key(|dir| !dir.contains(std::env::consts::ARCH));
    dirs.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(String::from));
    dirs
}

/// musl has no banner, so its package tells the version.
fn musl(machine: &Machine) -> Option<String> {
    let loader = musl_loader(machine)?;
    let packages = machine.read("/lib/apk/db/installed").unwrap_or_default();
    let mut lines = packages.lines().skip_while(|line| *line != "P:musl").skip(1);
    let version = lines.find_map(|line| line.strip_prefix("V:"));
    Some(version.map_or(format!("musl ({loader})"), |version| format!("musl {version}")))
}

fn musl_loader(machine: &Machine) -> Option<String> {
    machine.list("/lib").into_iter().find(|name| name.starts_with("ld-musl-"))
}
