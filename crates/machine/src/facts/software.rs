//! The software the tests are made of, read from files; nothing is run to find out.

use super::super::userland;
use super::{Row, text};

pub(super) const ROWS: &[Row] = &[
    text("software.libc", "C library", |m, _| userland::c_library(m)),
    text("software.shell", "/bin/sh", |m, _| userland::shell(m)),
    text("software.lang", "LANG", |_, _| variable("LANG")),
    text("software.lc_all", "LC_ALL", |_, _| variable("LC_ALL")),
    text("software.locale", "Locale en_US.utf8", |m, _| {
        let is_known = userland::has_locales(m) && m.exists("/usr/lib");
        let state = if userland::locale_installed(m) { "installed" } else { "missing" };
        is_known.then(|| state.to_string())
    }),
];

/// A variable of this process's environment; empty is the same as unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
