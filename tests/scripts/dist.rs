//! `dist/all` in a directory whose path has a space. Cargo and the tool are played by scripts.

use std::process::Command;

use super::{Sandbox, executable};
use testing::{stderr, stdout};

const COMMANDS: &str = "sh bash sed grep sort head cut cat rm mv mkdir cp chmod install tar gzip xz md5sum date uname dirname realpath \
    sha256sum dpkg dpkg-deb readelf du tr ls cmp true find xargs mktemp wc touch";

/// Builds what the real one would: a script as the tool, some program as the graphics tests. Notes
/// its flags.
const CARGO: &str = r#"case $1 in
build)
	while [ $# -gt 0 ]; do
		case $1 in --target) target=$2 ;; -p) program=$2 ;; esac
		shift
	done
	mkdir -p "target/$target/release"
	case $program in
	unixmark) cp "$ROOT/tool" "target/$target/release/unixmark" ;;
	*) cp "$(realpath "$ROOT/bin/true")" "target/$target/release/$program" ;;
	esac
	printf '%s\n' "$CARGO_ENCODED_RUSTFLAGS" | tr '\037' '\n' >"$ROOT/flags-$program"
	;;
install)
	mkdir -p target/tools/bin
	cp "$ROOT/cyclonedx" target/tools/bin/cargo-cyclonedx
	;;
esac"#;

#[test]
fn a_space_in_the_path_breaks_nothing() {
    let made = Sandbox::new("unixmark dist ", COMMANDS);
    let here = made.path("a b");
    std::fs::create_dir(&here).unwrap();
    let files = [
        "dist",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "Cargo.toml",
    ];
    for file in files {
        let copied =
            Command::new("cp").arg("-R").arg(testing::file(file)).arg(&here).status().unwrap();
        assert!(copied.success(), "{file}");
    }
    executable(&here.join("tests/bare.sh"), "[ -x \"$1\" ]");
    let tool = "echo \"tool $*\"\n[ \"$1 $2\" != 'man --into' ] || { mkdir \"$3/man1\" && echo page >\"$3/man1/unixmark.1\"; }";
    executable(&made.path("tool"), tool);
    executable(
        &made.path("cyclonedx"),
        r#"echo "{$(echo "$PWD" | sed 's/ /%20/g')} {$PWD}" >unixmark-components.json"#,
    );
    made.fake("cargo", CARGO);
    made.fake("rustc", "echo '/opt/rust 1'");
    // What makes a wheel and an RPM is tried by tests/packages.sh.
    made.fake("python3", "touch target/dist/unixmark-0-py3-none-any.whl");
    let rpmbuild = r#"for word; do case $word in _rpmdir*) out=${word#* } ;; esac; done
mkdir -p "$out"
touch "$out/unixmark.rpm""#;
    made.fake("rpmbuild", rpmbuild);
    made.fake("readelf", "echo '.text GLIBC_2.36'");
    made.fake("git", "case $* in *ct*) echo 1700000000 ;; *) echo 'A B <a@b.c>' ;; esac");
    let output = made.run(&here.join("dist/all"), &[], &[]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));

    let flags = std::fs::read_to_string(made.path("flags-unixmark")).unwrap();
    let place = here.display();
    let first = format!("--remap-path-prefix={place}=/unixmark");
    assert_eq!(flags.lines().next(), Some(first.as_str()));
    let rest: Vec<&str> = flags.lines().skip(2).collect();
    assert_eq!(
        rest,
        ["--remap-path-prefix=/opt/rust 1=/rust", "-Ctarget-feature=+crt-static"],
        "{flags}"
    );
    let made_here: Vec<String> = std::fs::read_dir(here.join("target/dist"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for end in [".tar.gz", ".oci.tar", ".whl", ".rpm", ".deb", ".cdx.json", "SHA256SUMS"] {
        assert!(made_here.iter().any(|name| name.ends_with(end)), "{end}: {made_here:?}");
    }
    let list = made_here.iter().find(|name| name.ends_with(".cdx.json")).unwrap();
    let list = std::fs::read_to_string(here.join("target/dist").join(list)).unwrap();
    assert!(
        list.contains("{/unixmark} {/unixmark}")
            && !list.contains("a%20b")
            && !list.contains("a b"),
        "{list}"
    );
}
