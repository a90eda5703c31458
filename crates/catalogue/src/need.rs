//! The needs of a row.

use anyhow::{Result, bail};
use serde::Deserialize;

/// A need of a test or a condition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Need {
    /// `linux`: that system. Programs of rows without it build on others too (docs/porting.md).
    Linux,
    /// `root`: the rights of root.
    Root,
    /// `tracefs`: the kernel's tracing file system, mounted or not.
    Tracefs,
    /// `tool:NAME`, or `tool:NAME:PACKAGE` if Debian's package has another name: a command.
    Tool {
        /// The command.
        name: String,
        /// The package.
        package: Option<String>,
    },
    /// `file:PATH`: something at an absolute path.
    File(String),
}

impl TryFrom<String> for Need {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Need> {
        let is_name = |name: &str| {
            !name.is_empty() && !name.contains([':', '/']) && !name.contains(char::is_whitespace)
        };
        Ok(match text.split(':').collect::<Vec<_>>()[..] {
            ["linux"] => Need::Linux,
            ["root"] => Need::Root,
            ["tracefs"] => Need::Tracefs,
            ["tool", name] if is_name(name) => Need::Tool { name: name.to_owned(), package: None },
            ["tool", name, package] if is_name(name) && is_name(package) => {
                Need::Tool { name: name.to_owned(), package: Some(package.to_owned()) }
            }
            ["file", path, ..] if path.starts_with('/') => {
                Need::File(text["file:".len()..].to_owned())
            }
            _ => bail!(
                "'{text}' is not a need; there are linux, root, tracefs, tool:NAME, tool:NAME:PACKAGE and file:/PATH"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_understood_or_refused() {
        let tool = |name: &str, package: Option<&str>| Need::Tool {
            name: name.to_owned(),
            package: package.map(str::to_owned),
        };
        for (text, need) in [
            ("linux", Need::Linux),
            ("root", Need::Root),
            ("tracefs", Need::Tracefs),
            ("tool:dc", tool("dc", None)),
            ("tool:x11perf:x11-apps", tool("x11perf", Some("x11-apps"))),
            ("file:/sys/a:b", Need::File("/sys/a:b".to_owned())),
        ] {
            assert_eq!(Need::try_from(text.to_owned()).unwrap(), need, "{text}");
        }
        for wrong in [
            "",
            "rot",
            "root:",
            "root:x",
            "tool",
            "tool:",
            "tool:a:",
            "tool:a:b:c",
            "tool:/a",
            "file:a",
            "Root",
        ] {
            assert!(Need::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        let why = Need::try_from("rt".to_owned()).unwrap_err().to_string();
        assert!(why.starts_with("'rt' is not a need; there are linux, root, "), "{why}");
    }
}
