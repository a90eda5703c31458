//! Degrees of auditing: rule sets of the tool's own making, written as administrators write them.

use std::fs;

use crate::syntax::{Line, RuleSet, Unknown, parse};

/// What is watched on any machine: who may log in, and as whom.
const IDENTITY: &str = "
-w /etc/passwd -p wa -k unixmark
-w /etc/group -p wa -k unixmark
-w /etc/shadow -p wa -k unixmark
-w /etc/gshadow -p wa -k unixmark
-w /etc/sudoers -p wa -k unixmark
-w /etc/sudoers.d -p wa -k unixmark
";

/// Whatever changes a directory or who may do what with a file.
const FILES: &str = "
-a always,exit -F arch=b64 -S creat,link,linkat,symlink,symlinkat,mkdir,mkdirat,mknod,mknodat -k unixmark
-a always,exit -F arch=b64 -S unlink,unlinkat,rmdir,rename,renameat,renameat2 -k unixmark
-a always,exit -F arch=b64 -S chmod,fchmod,fchmodat,fchmodat2,chown,fchown,lchown,fchownat -k unixmark
-a always,exit -F arch=b64 -S setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr -k unixmark
-a always,exit -F arch=b64 -S truncate,ftruncate -k unixmark
";

/// Every program that is started: the commonest rule there is.
const EXEC: &str = "-a always,exit -F arch=b64 -S execve,execveat -k unixmark";

/// Every file that is opened.
const OPEN: &str = "-a always,exit -F arch=b64 -S open,openat,openat2,creat,open_by_handle_at -k unixmark";

/// Every system call.
const ALL: &str = "-a always,exit -S all -k unixmark";

/// What guides for hardened systems ask for, and how they write it: refused accesses, changed rights, deletions, mounts,
/// modules, the clock, the network's name, programs that change who one is, and the files of accounts and logins.
const STIG_LIKE: &str = "
-a always,exit -F arch=b64 -S open,openat,openat2,creat,truncate,ftruncate -F exit=-EACCES -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S open,openat,openat2,creat,truncate,ftruncate -F exit=-EPERM -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S chmod,fchmod,fchmodat -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S chown,fchown,lchown,fchownat -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S unlink,unlinkat,rename,renameat,rmdir -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S mount,umount2 -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S init_module,finit_module,delete_module -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F arch=b64 -S adjtimex,settimeofday,clock_settime -k unixmark
-a always,exit -F arch=b64 -S sethostname,setdomainname -k unixmark
-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -k unixmark
-a always,exit -F arch=b64 -S execve -C gid!=egid -F egid=0 -k unixmark
-a always,exit -F path=/usr/bin/su -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F path=/usr/bin/sudo -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F path=/usr/bin/passwd -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F path=/usr/bin/chage -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F path=/usr/bin/crontab -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-a always,exit -F path=/usr/bin/newgrp -F perm=x -F auid>=1000 -F auid!=unset -k unixmark
-w /etc/passwd -p wa -k unixmark
-w /etc/group -p wa -k unixmark
-w /etc/shadow -p wa -k unixmark
-w /etc/gshadow -p wa -k unixmark
-w /etc/sudoers -p wa -k unixmark
-w /etc/hosts -p wa -k unixmark
-w /var/log/lastlog -p wa -k unixmark
-w /var/log/wtmp -p wa -k unixmark
-w /var/run/utmp -p wa -k unixmark
";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing, and nothing was ever done.
    NeverOn,
    /// The measured programs are not audited, whatever else is.
    Off,
    /// Auditing is off, as it is after it was on.
    OffAfterOn,
    /// Auditing is on, with these rules for the measured programs.
    On(RuleSet),
}

/// Reads a level of `catalogue/conditions.toml`.
///
/// # Errors
/// There is no such level, or its file cannot be read or understood.
pub(crate) fn level(name: &str) -> Result<Level, String> {
    let own = |text: &str| parse(text, name, Unknown::Skip);
    Ok(Level::On(match name {
        "never-on" => return Ok(Level::NeverOn),
        "off" => return Ok(Level::Off),
        "off-after-on" => return Ok(Level::OffAfterOn),
        "on" => RuleSet::default(),
        "identity" => own(IDENTITY)?,
        "files" => own(FILES)?,
        "exec" => own(EXEC)?,
        "open" => own(OPEN)?,
        "all" => own(ALL)?,
        "stig-like" => stig_like(name)?,
        other => {
            let file = other.strip_prefix("rules:").ok_or_else(|| format!("there is no level '{other}'"))?;
            let text = fs::read_to_string(file)
                .map_err(|error| format!("the rules of {file} cannot be read ({error}); try an absolute path"))?;
            parse(&text, file, Unknown::Refuse)?
        }
    }))
}

/// The set with each rule about system calls twice where the machine also runs programs of half its width: the guides ask
/// for both, and the second is tried for the numbers that it names as well.
fn stig_like(name: &str) -> Result<RuleSet, String> {
    let mut set = parse(STIG_LIKE, name, Unknown::Skip)?;
    if crate::names::arch("b32").is_some() {
        let twins: Vec<Line> = parse(&STIG_LIKE.replace("arch=b64", "arch=b32"), name, Unknown::Skip)?
            .rules
            .into_iter()
            .filter(|twin| !set.rules.iter().any(|line| line.rule == twin.rule))
            .collect();
        set.rules.splice(0..0, twins);
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(name: &str) -> Vec<Line> {
        match level(name).unwrap() {
            Level::On(text) => text.rules,
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn own_sets_are_understood() {
        assert_eq!(level("off"), Ok(Level::Off));
        let counts = ["on", "identity", "files", "exec", "open", "all"].map(|name| rules(name).len());
        assert_eq!(counts, [0, 6, 5, 1, 1, 1]);
        assert!(rules("stig-like").len() >= 27);
        let calls = |name: &str| rules(name)[0].rule.mask.iter().map(|word| word.count_ones()).sum::<u32>();
        assert!(calls("exec") == 2 && calls("open") >= 3 && calls("all") == 2016);
    }

    #[test]
    fn files_of_rules() {
        let why = level("rules:/no/such").unwrap_err();
        assert!(why.contains("/no/such cannot be read"), "{why}");
        assert!(level("everything").is_err());
    }
}
