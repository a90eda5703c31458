//! How shells ask for completions, by clap's protocol: the shell runs the tool with [`VARIABLE`]
//! set to its own name.

use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::env::{Bash, CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use super::with_completers;

/// The variable that makes the tool answer a shell.
const VARIABLE: &str = "UNIXMARK_COMPLETE";

/// The tool as a shell finds it.
const TOOL: &str = "unixmark";

const SHELLS: Shells<'static> = Shells(&[
    &Rewritten { shell: &Bash, script: |_| BASH.to_owned() },
    &Elvish,
    &Fish,
    &Powershell,
    &Rewritten { shell: &Zsh, script: |clap| clap + LOADED },
]);

/// Answers a shell and ends the process, if one asks.
pub(crate) fn answer(command: fn() -> Command) {
    CompleteEnv::with_factory(|| with_completers(command()))
        .var(VARIABLE)
        .bin(TOOL)
        .shells(SHELLS)
        .complete();
}

/// Returns the script by which a shell asks.
///
/// # Errors
/// There is none for such a shell.
pub(crate) fn registration(shell: &str) -> Result<String> {
    let completer =
        SHELLS.completer(shell).with_context(|| format!("there are no completions for {shell}"))?;
    let mut text = Vec::new();
    completer.write_registration(VARIABLE, TOOL, TOOL, TOOL, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// For bash, words as they are typed: it takes them apart at `=` and `:`, and clap's script leaves
/// it at that.
const BASH: &str = r#"_unixmark() {
    local line="${COMP_LINE:0:COMP_POINT}" current="" reply words=()
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current="${words[${#words[@]} - 1]}"
    COMPREPLY=()
    while IFS= read -r reply; do
        # What readline takes for the word begins after the last of its breaks.
        COMPREPLY+=("${reply#"${current%"$2"}"}")
    done < <(_CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) VARIABLE=bash TOOL -- "${words[@]}" && echo)
    [[ -n ${COMPREPLY[*]} ]] || COMPREPLY=()
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o nosort -F _unixmark unixmark 2>/dev/null || complete -F _unixmark unixmark
"#;

/// The addition to clap's script for zsh: it completes at the first TAB even if its file is loaded
/// by that TAB.
const LOADED: &str = r#"[ "$funcstack[1]" != _unixmark ] || _clap_dynamic_completer_unixmark "$@"
"#;

/// A shell of clap's with another script.
struct Rewritten<S: 'static> {
    shell: &'static S,
    /// Returns the script, given clap's.
    script: fn(String) -> String,
}

impl<S: EnvCompleter> EnvCompleter for Rewritten<S> {
    fn name(&self) -> &'static str {
        self.shell.name()
    }

    fn is(&self, name: &str) -> bool {
        self.shell.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let mut clap = Vec::new();
        self.shell.write_registration(variable, name, bin, completer, &mut clap)?;
        let script = (self.script)(String::from_utf8_lossy(&clap).into_owned());
        out.write_all(script.replace("VARIABLE", variable).replace("TOOL", completer).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        self.shell.write_complete(command, words, here, out)
    }
}
