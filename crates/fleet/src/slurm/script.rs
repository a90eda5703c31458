//! The scripts that Slurm starts.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use archive::hash;

/// The body of a node's job, between its names and its arguments.
const BEGIN: &str = r#"export UNIXMARK_NODE="$SLURMD_NODENAME" UNIXMARK_TASK=0 UNIXMARK_ATTEMPT="${SLURM_RESTART_COUNT:-0}"
child= here=
trap '[ -z "$child" ] || kill "$child"' TERM INT
trap '[ -z "$here" ] || rm -rf "$here"' EXIT
# The tool, its programs and its results are on the node: measuring does not run over a file system that nodes share.
for base in "${TMPDIR:-/tmp}" /var/tmp; do
	here=$(mktemp -d "$base/unixmark-XXXXXX") || continue
	cp "$place/unixmark" "$here/unixmark" && "$here/unixmark" --version >/dev/null && break
	rm -rf "$here"
	here=
done
if [ -z "$here" ]; then
	echo "no directory on this node can hold the tool: make room in /tmp and allow executables there" >&2
	exit 3
fi
export XDG_CACHE_HOME="$here/cache" UNIXMARK_RESULTS="$here/results"
"#;

/// The rest of it after them.
const END: &str = r#" >"$place/journals/$UNIXMARK_NODE.$UNIXMARK_ATTEMPT.jsonl" &
child=$!
# A signal ends the waiting, and is handed on to the tool, which ends a moment later.
while wait "$child"; status=$?; [ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null; do :; done
exit "$status"
"#;

/// The script of a node's job, whose files are in `place`.
pub(super) fn node(place: &Path, run: &str, words: &[OsString]) -> Vec<u8> {
    let mut text =
        b"#!/bin/sh\n# One node's part of a fleet run, as `unixmark fleet slurm` submitted it.\nplace=".to_vec();
    quote(place.as_os_str(), &mut text);
    text.extend(b"\nexport UNIXMARK_FLEET=");
    quote(OsStr::new(run), &mut text);
    text.push(b'\n');
    text.extend(BEGIN.as_bytes());
    text.extend(b"\"$here/unixmark\"");
    let (verb, rest) = words.split_at(words.len().min(1));
    for word in verb
        .iter()
        .map(OsString::as_os_str)
        .chain([OsStr::new("--emit")])
        .chain(rest.iter().map(|word| word.as_os_str()))
    {
        text.push(b' ');
        quote(word, &mut text);
    }
    text.extend(END.as_bytes());
    text
}

/// The script of the collector.
pub(super) fn collector(place: &Path, directory: &Path, run: &str) -> Vec<u8> {
    let mut text = b"#!/bin/sh\n# Makes one fleet run of what the nodes wrote, when all have ended.\nexec".to_vec();
    let (tool, journals) = (place.join("unixmark"), place.join("journals"));
    for word in
        [tool.as_os_str(), OsStr::new("collect"), journals.as_os_str(), OsStr::new("--into"), directory.as_os_str()]
    {
        text.push(b' ');
        quote(word, &mut text);
    }
    let mut name = OsString::from("--run=");
    name.push(run);
    text.push(b' ');
    quote(&name, &mut text);
    text.push(b'\n');
    text
}

/// Appends a word as a shell reads it back, whatever is in it.
fn quote(word: &OsStr, text: &mut Vec<u8>) {
    text.push(b'\'');
    for byte in word.as_encoded_bytes() {
        if *byte == b'\'' {
            text.extend(b"'\\''");
        } else {
            text.push(*byte);
        }
    }
    text.push(b'\'');
}

/// A name for the jobs of one submission, and no others: `seed` must differ from that of any other.
pub(super) fn job_name(run: &str, seed: &str) -> String {
    let plain: String = run.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("unixmark-{plain}-{:08x}", hash(&format!("{run}\0{seed}")) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_any_word() {
        for word in ["", "a b", "it's", "'", "$(reboot)`x`\\", "two\nlines", "--", "\u{1}\u{e9}*?"] {
            let mut text = b"printf %s ".to_vec();
            quote(OsStr::new(word), &mut text);
            let output = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&text)).output().unwrap();
            assert_eq!(output.stdout, word.as_bytes(), "{word}");
        }
    }

    #[test]
    fn a_name_of_jobs_is_one_word_of_a_list() {
        let name = job_name("a, b;c/é", "1");
        assert!(name.starts_with("unixmark-a--b-c---") && name != job_name("a, b;c/é", "2"), "{name}");
    }
}
