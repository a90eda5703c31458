//! Seccomp filters from the profiles of container engines: the JSON of Docker, Podman and the OCI
//! runtime specification.
//!
//! [`compile`] makes the filter a list, as libseccomp does by default: calls that are decided by
//! their number alone come first, then those that are decided by their arguments, each group from
//! the largest number to the smallest. Calls of other architectures get the profile's default
//! action. A call with several rules for its arguments gets the action of the first that matches:
//!
//! ```text
//! if architecture != own    return DEFAULT
//! if number == 257          return ALLOW
//! if number == 135          { if argument 0 == 0 return ALLOW; if … ; return DEFAULT }
//! …
//! return DEFAULT
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{Context, Proof, Refusal, audit, beside};
use catalogue::Switch;

/// An engine of containers, and where Debian has its profile.
struct Engine {
    name: &'static str,
    profile: &'static str,
    package: &'static str,
}

const ENGINES: [Engine; 2] = [
    Engine {
        name: "podman",
        profile: "/usr/share/containers/seccomp.json",
        package: "golang-github-containers-common",
    },
    Engine {
        name: "docker",
        profile: "/usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json",
        package: "golang-github-docker-docker-dev",
    },
];

/// A profile that is larger is not read.
const MAX_PROFILE_BYTES: u64 = 1 << 20;

/// The kernel's limit for a filter, BPF_MAXINSNS.
const MAX_INSTRUCTIONS: usize = 4096;

/// The capabilities that a container has by default.
const CAPABILITIES: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SeccompProfile {
    default_action: String,
    default_errno_ret: Option<u32>,
    #[serde(default)]
    syscalls: Vec<SeccompRule>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SeccompRule {
    #[serde(default)]
    names: Vec<String>,
    action: String,
    errno_ret: Option<u32>,
    args: Option<Vec<Argument>>,
    #[serde(default)]
    includes: RuleScope,
    #[serde(default)]
    excludes: RuleScope,
}

/// The containers and machines that a rule is for, or is not for.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuleScope {
    caps: Vec<String>,
    arches: Vec<String>,
    min_kernel: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    index: u32,
    value: u64,
    #[serde(default)]
    value_two: u64,
    op: String,
}

/// A `struct sock_filter`: code, jumps if true and if false, and operand. A jump is the number of
/// instructions that are skipped.
type Instruction = (u16, u8, u8, u32);

/// Codes of instructions (linux/bpf_common.h). LOAD puts 32 bits of `struct seccomp_data` into the
/// accumulator; AND masks it; the next three compare it with the operand and jump.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const EQUAL: u16 = 0x15;
const GREATER: u16 = 0x25;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data`.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// The filter of a level, as the kernel takes it; `None` for the levels of which programs have the
/// filter themselves.
///
/// # Errors
/// A sentence: the profile is not there, is none, or has something that cannot be compiled.
pub(super) fn compile_level(level: &str) -> Result<Option<Vec<u8>>, String> {
    let engine = ENGINES.iter().find(|engine| engine.name == level);
    let table = level.strip_prefix("derived:");
    let path = table.or(level.strip_prefix("profile:")).or(engine.map(|engine| engine.profile));
    let Some(path) = path else { return Ok(None) };

    let text = files::read_text(Path::new(path), MAX_PROFILE_BYTES).map_err(|why| {
        let advice =
            engine.map_or(String::new(), |engine| format!(" install {}, or", engine.package));
        format!("{path} cannot be read ({why});{advice} try seccomp=profile:FILE")
    })?;

    let profile = match table {
        Some(_) => SeccompProfile::from_table(&text),
        None => serde_json::from_str::<SeccompProfile>(&text).map_err(|why| why.to_string()),
    };
    let instructions =
        profile.and_then(|profile| compile(&profile)).map_err(|why| format!("{path}: {why}"))?;

    let mut bytes = Vec::new();
    for (code, if_true, if_false, operand) in instructions {
        bytes.extend(code.to_ne_bytes());
        bytes.extend([if_true, if_false]);
        bytes.extend(operand.to_ne_bytes());
    }
    Ok(Some(bytes))
}

/// Gives the programs the filter, which they prove by the mode in /proc/self/status.
pub(super) fn enter(
    switch: &Switch,
    (level, filter): (&str, Option<Vec<u8>>),
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    let Some(filter) = filter else {
        return Ok(beside::enter_argument(switch, level, context));
    };

    let path = context.settings.scratch.join("seccomp.bpf");
    files::write(&path, filter)
        .map_err(|why| format!("{} cannot be written ({why}); make room", path.display()))?;
    Ok(beside::enter_argument(switch, &path.display().to_string(), context))
}

/// Compiles a profile to the instructions of a filter.
///
/// # Errors
/// A sentence: it has something that cannot be compiled, or too much.
fn compile(profile: &SeccompProfile) -> Result<Vec<Instruction>, String> {
    let default = action_value(&profile.default_action, profile.default_errno_ret)?;
    let architecture =
        audit::own_architecture().ok_or("filters of this architecture are not known")?;

    let mut plain = BTreeMap::new();
    let mut conditional = BTreeMap::<u32, Vec<Instruction>>::new();
    for rule in profile.syscalls.iter().filter(|rule| rule.applies()) {
        let action = action_value(&rule.action, rule.errno_ret.or(profile.default_errno_ret))?;
        let arguments = rule.args.as_deref().unwrap_or_default();
        // Profiles name calls that this machine does not have.
        for number in rule.names.iter().filter_map(|name| machine::call_number(name)) {
            if arguments.is_empty() {
                plain.insert(number, action);
            } else {
                let checks = check_arguments(arguments, action)?;
                conditional.entry(number).or_default().extend(checks);
            }
        }
    }
    // A rule without conditions decides its call, whatever rules with conditions say.
    conditional.retain(|number, _| !plain.contains_key(number));

    let mut filter = vec![
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, default),
        (LOAD, 0, 0, NUMBER_OFFSET),
    ];
    for (number, action) in plain.into_iter().rev() {
        filter.extend([(EQUAL, 0, 1, number), (RETURN, 0, 0, action)]);
    }
    for (number, mut checks) in conditional.into_iter().rev() {
        // They end here, since they have overwritten the number in the accumulator.
        checks.push((RETURN, 0, 0, default));
        filter.push((EQUAL, 0, jump_length(checks.len())?, number));
        filter.extend(checks);
    }
    filter.push((RETURN, 0, 0, default));

    if filter.len() > MAX_INSTRUCTIONS {
        return Err(format!(
            "its filter has {} instructions, and the kernel takes {MAX_INSTRUCTIONS}",
            filter.len()
        ));
    }
    Ok(filter)
}

/// The value that a filter returns for an action: SECCOMP_RET_… of linux/seccomp.h.
fn action_value(name: &str, errno: Option<u32>) -> Result<u32, String> {
    Ok(match name {
        "SCMP_ACT_ALLOW" => 0x7fff_0000,
        "SCMP_ACT_LOG" => 0x7ffc_0000,
        "SCMP_ACT_NOTIFY" => 0x7fc0_0000,
        "SCMP_ACT_TRAP" => 0x0003_0000,
        "SCMP_ACT_KILL" | "SCMP_ACT_KILL_THREAD" => 0,
        "SCMP_ACT_KILL_PROCESS" => 0x8000_0000,
        "SCMP_ACT_ERRNO" => 0x0005_0000 | errno.unwrap_or(1) & 0xffff,
        _ => {
            return Err(format!(
                "its action {name} is not supported; leave it out, or try SCMP_ACT_NOTIFY"
            ));
        }
    })
}

/// The instructions that end in an action if all arguments are as wanted, and else lead to
/// what follows them.
fn check_arguments(arguments: &[Argument], action: u32) -> Result<Vec<Instruction>, String> {
    let mut instructions = vec![(RETURN, 0, 0, action)];
    // From the last, since a check skips all that come after it.
    for argument in arguments.iter().rev() {
        let mut check = check_argument(argument, instructions.len())?;
        check.extend(instructions);
        instructions = check;
    }

    Ok(instructions)
}

/// The check of an argument. If it fails, it skips the `rest` instructions that follow it.
///
/// An argument has 64 bits and the accumulator 32: the upper half is compared first, and the lower
/// one only where the upper does not decide.
fn check_argument(argument: &Argument, rest: usize) -> Result<Vec<Instruction>, String> {
    let Argument { index, value, value_two, op } = argument;
    if *index > 5 {
        return Err(format!("it tests argument {index}, and system calls have arguments 0 to 5"));
    }

    let offset = ARGUMENTS_OFFSET + 8 * index;
    let [load_high, load_low] =
        if cfg!(target_endian = "little") { [offset + 4, offset] } else { [offset, offset + 4] }
            .map(|offset| (LOAD, 0, 0, offset));
    let [high, low] = split_halves(*value);

    // The jumps of a failed test to what follows the rest: from the check's last instruction, and
    // over the 2 or 3 instructions of the check that come after the test.
    let [fail, fail_over_2, fail_over_3] =
        [jump_length(rest)?, jump_length(rest + 2)?, jump_length(rest + 3)?];
    Ok(match op.as_str() {
        "SCMP_CMP_EQ" => {
            vec![load_high, (EQUAL, 0, fail_over_2, high), load_low, (EQUAL, 0, fail, low)]
        }
        "SCMP_CMP_NE" => vec![load_high, (EQUAL, 0, 2, high), load_low, (EQUAL, fail, 0, low)],
        "SCMP_CMP_MASKED_EQ" => {
            // The first value is the mask.
            let [wanted_high, wanted_low] = split_halves(*value_two);
            vec![
                load_high,
                (AND, 0, 0, high),
                (EQUAL, 0, fail_over_3, wanted_high),
                load_low,
                (AND, 0, 0, low),
                (EQUAL, 0, fail, wanted_low),
            ]
        }
        "SCMP_CMP_GT" | "SCMP_CMP_GE" => {
            let code = if op == "SCMP_CMP_GT" { GREATER } else { AT_LEAST };
            vec![
                load_high,
                (GREATER, 3, 0, high),
                (EQUAL, 0, fail_over_2, high),
                load_low,
                (code, 0, fail, low),
            ]
        }
        "SCMP_CMP_LT" | "SCMP_CMP_LE" => {
            // The opposite comparison fails.
            let code = if op == "SCMP_CMP_LT" { AT_LEAST } else { GREATER };
            vec![
                load_high,
                (GREATER, fail_over_3, 0, high),
                (EQUAL, 0, 2, high),
                load_low,
                (code, fail, 0, low),
            ]
        }
        _ => return Err(format!("it compares by {op}, which is not known")),
    })
}

/// The upper and the lower 32 bits of a number.
fn split_halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

/// A distance as an instruction can hold it.
fn jump_length(length: usize) -> Result<u8, String> {
    u8::try_from(length).map_err(|_| "it has too many conditions for one system call".to_owned())
}

impl SeccompProfile {
    /// The profile that checks for each call in a table of `strace -c` or `perf trace -s`. It
    /// allows all calls, also those that the table lacks, since whatever starts the command makes
    /// some of those. A filter costs the same whichever action it returns.
    ///
    /// # Errors
    /// A sentence: the text names no call.
    fn from_table(text: &str) -> Result<SeccompProfile, String> {
        let mut names = Vec::new();
        for line in text.lines() {
            // strace has the names in its last column, perf in its first.
            let first = line.split_whitespace().next();
            let last = line.split_whitespace().next_back();
            let words = first.into_iter().chain(last);
            let calls = words.filter(|word| machine::call_number(word).is_some());
            names.extend(calls.map(str::to_owned));
        }

        if names.is_empty() {
            return Err(
                "it names no system call; `strace -f -c -o FILE COMMAND` writes such a file"
                    .to_owned(),
            );
        }

        let [default_action, action] = ["SCMP_ACT_ALLOW"; 2].map(str::to_owned);
        let rule = SeccompRule { names, action, ..SeccompRule::default() };
        Ok(SeccompProfile { default_action, default_errno_ret: None, syscalls: vec![rule] })
    }
}

impl SeccompRule {
    /// True if the rule applies in a container with the usual capabilities on this machine.
    fn applies(&self) -> bool {
        let SeccompRule { includes, excludes, .. } = self;
        let has_capability = |name: &String| CAPABILITIES.contains(&name.as_str());
        let is_own_arch = |name: &String| architecture_names().contains(&name.as_str());

        let is_included = includes.caps.iter().all(has_capability)
            && (includes.arches.is_empty() || includes.arches.iter().any(is_own_arch))
            && includes.min_kernel.as_deref().is_none_or(is_kernel_at_least);
        let is_excluded = excludes.caps.iter().any(has_capability)
            || excludes.arches.iter().any(is_own_arch)
            || excludes.min_kernel.as_deref().is_some_and(is_kernel_at_least);
        is_included && !is_excluded
    }
}

/// The names that profiles have for this machine's architecture.
fn architecture_names() -> &'static [&'static str] {
    match std::env::consts::ARCH {
        "x86_64" => &["amd64", "x86_64"],
        "aarch64" => &["arm64", "aarch64"],
        "powerpc64" => &["ppc64le"],
        "s390x" => &["s390x"],
        "riscv64" => &["riscv64"],
        _ => &["arm"],
    }
}

/// True if this kernel is of a version, such as `4.8`, or newer.
fn is_kernel_at_least(version: &str) -> bool {
    let system = rustix::system::uname();
    version_numbers(&system.release().to_string_lossy()) >= version_numbers(version)
}

/// The first two numbers of a version.
fn version_numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|part| part.parse().ok()).take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: u32 = 0x7fff_0000;

    /// The value that a filter returns for a call with arguments, as the kernel executes it.
    fn verdict(filter: &[Instruction], number: u32, args: [u64; 6]) -> u32 {
        let word = |offset: u32| match offset {
            NUMBER_OFFSET => number,
            ARCHITECTURE_OFFSET => audit::own_architecture().unwrap(),
            _ => {
                let bytes = args[(offset as usize - 16) / 8].to_ne_bytes();
                let half = (offset as usize - 16) % 8;
                u32::from_ne_bytes(bytes[half..half + 4].try_into().unwrap())
            }
        };
        let (mut at, mut value) = (0, 0);
        loop {
            let (code, yes, no, operand) = filter[at];
            let holds = match code {
                RETURN => return operand,
                LOAD => {
                    value = word(operand);
                    at += 1;
                    continue;
                }
                AND => {
                    value &= operand;
                    at += 1;
                    continue;
                }
                EQUAL => value == operand,
                GREATER => value > operand,
                _ => value >= operand,
            };
            at += 1 + usize::from(if holds { yes } else { no });
        }
    }

    fn profile(rules: &str) -> Result<Vec<Instruction>, String> {
        let text = format!(
            "{{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,\"syscalls\":[{rules}]}}"
        );
        compile(&serde_json::from_str(&text).unwrap())
    }

    fn rule(op: &str, value: u64, value_two: u64) -> String {
        let arg = format!(
            "{{\"index\":1,\"value\":{value},\"valueTwo\":{value_two},\"op\":\"SCMP_CMP_{op}\"}}"
        );
        format!("{{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{arg}]}}")
    }

    #[test]
    fn a_rule_without_conditions_leaves_nothing_to_check() {
        const PLAIN: &str = "{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\"}";

        let both = profile(&format!("{},{PLAIN}", rule("EQ", 1, 0)));

        assert!(both.is_ok());
        assert_eq!(both, profile(PLAIN));
    }

    #[test]
    fn arguments_are_compared_in_all_64_bits() {
        let read = machine::call_number("read").unwrap();
        let numbers = [0, 1, 5, 6, 7, 1 << 32, (1 << 32) + 5, (1 << 32) + 6, u64::MAX];
        let limit = (1 << 32) + 5;
        type Holds = fn(u64, u64) -> bool;
        let ops: [(&str, Holds); 6] = [
            ("EQ", |a, b| a == b),
            ("NE", |a, b| a != b),
            ("GT", |a, b| a > b),
            ("GE", |a, b| a >= b),
            ("LT", |a, b| a < b),
            ("LE", |a, b| a <= b),
        ];
        for ((op, holds), value) in ops.into_iter().flat_map(|op| numbers.map(|value| (op, value)))
        {
            let filter = profile(&rule(op, limit, 0)).unwrap();
            let found = verdict(&filter, read, [0, value, 0, 0, 0, 0]) == ALLOWED;
            assert_eq!(found, holds(value, limit), "{value} {op}");
        }

        let masked = profile(&rule("MASKED_EQ", 0x7e02_0000, 0)).unwrap();
        assert_eq!(verdict(&masked, read, [0, 0x1_0000_0011, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(verdict(&masked, read, [0, 0x0002_0000, 0, 0, 0, 0]), 0x0005_0026);
    }

    #[test]
    fn rules_apply_where_they_say_and_any_of_several_suffices() {
        let [read, write] = ["read", "write"].map(|name| machine::call_number(name).unwrap());
        let two = profile(&format!("{},{}", rule("EQ", 3, 0), rule("EQ", 7, 0))).unwrap();
        for (value, action) in [(3, ALLOWED), (7, ALLOWED), (5, 0x0005_0026)] {
            assert_eq!(verdict(&two, read, [0, value, 0, 0, 0, 0]), action);
        }

        let plain = "{\"names\":[\"write\",\"no_such_call\"],\"action\":\"SCMP_ACT_ALLOW\"";
        for (more, action) in [
            ("", ALLOWED),
            (",\"includes\":{\"caps\":[\"CAP_SYS_ADMIN\"]}", 0x0005_0026),
            (",\"excludes\":{\"caps\":[\"CAP_SYS_ADMIN\"]}", ALLOWED),
            (",\"includes\":{\"minKernel\":\"2.6\"}", ALLOWED),
            (",\"includes\":{\"minKernel\":\"99.0\"}", 0x0005_0026),
            (",\"includes\":{\"arches\":[\"mips\"]}", 0x0005_0026),
        ] {
            let filter = profile(&format!("{plain}{more}}}")).unwrap();
            assert_eq!(verdict(&filter, write, [0; 6]), action, "{more}");
            assert_eq!(verdict(&filter, read, [0; 6]), 0x0005_0026);
        }
    }

    #[test]
    fn a_derived_filter_checks_each_call_of_a_table() {
        let table = "% time seconds usecs/call calls errors syscall\n 80.00 0.1 2 50 openat\n 20.00 0.0 1 9 1 read\n";
        let filter = compile(&SeccompProfile::from_table(table).unwrap()).unwrap();
        let tested = filter.iter().filter(|instruction| instruction.0 == EQUAL).count();
        assert_eq!(tested, 3, "the architecture and two calls");
        assert_eq!(verdict(&filter, machine::call_number("write").unwrap(), [0; 6]), ALLOWED);
        assert!(
            SeccompProfile::from_table("total 9")
                .is_err_and(|why| why.contains("it names no system call"))
        );
    }

    #[test]
    fn what_cannot_be_compiled_is_refused_by_its_name() {
        let trace = "{\"names\":[\"read\"],\"action\":\"SCMP_ACT_TRACE\"}";
        assert!(profile(trace).unwrap_err().contains("SCMP_ACT_TRACE is not supported"));
        assert!(profile(&rule("ODD", 1, 1)).unwrap_err().contains("SCMP_CMP_ODD"));
        assert!(
            compile_level("profile:/nonexistent")
                .unwrap_err()
                .contains("/nonexistent cannot be read")
        );
        assert_eq!(compile_level("allow"), Ok(None));
    }
}
