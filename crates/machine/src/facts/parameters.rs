//! The parameters of the kernel's command line that can change a figure.
//!
//! The rest is private: init's arguments come after `--`, and elsewhere there are addresses, keys
//! and labels of disks.

/// Names of parameters that can change a figure; `*` stands for any end.
const KEPT_PARAMETERS: &str = include_str!("parameters.txt");

/// The parameters of a command line that can change a figure, and the number of the others.
pub fn relevant(line: &str) -> String {
    let mut kept: Vec<String> = line
        .split_whitespace()
        .take_while(|word| *word != "--")
        .filter(|word| is_kept(word))
        .map(str::to_owned)
        .collect();
    let count = line.split_whitespace().filter(|word| *word != "--").count();
    if count > kept.len() {
        kept.push(format!("({} more)", count - kept.len()));
    }
    kept.join(" ")
}

/// True if a parameter is listed, and its value consists of names and numbers.
fn is_kept(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    is_listed(name)
        && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_,.:+-".contains(letter))
}

fn is_listed(name: &str) -> bool {
    KEPT_PARAMETERS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == known,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_change_a_figure() {
        assert_eq!(
            relevant(
                "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro mitigations=off isolcpus=2-3 console=ttyS0 quiet -- --key s3cret\n"
            ),
            "mitigations=off isolcpus=2-3 quiet (6 more)"
        );
        assert_eq!(relevant("audit=1 lsm=landlock,yama"), "audit=1 lsm=landlock,yama");
        assert_eq!(relevant("rd.luks.key=/k ip=10.0.0.1 -- quiet"), "(3 more)");
        assert_eq!(relevant("audit=/etc/passwd"), "(1 more)");
        assert_eq!(relevant(""), "");
    }
}
