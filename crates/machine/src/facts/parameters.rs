//! The parameters of the kernel's command line that can change a figure.
//!
//! The rest is nobody's business: after `--` stand init's arguments, and elsewhere addresses, keys and labels of disks.

/// Parameters that can change a figure.
const KEPT: &str = include_str!("parameters.txt");

/// Returns the parameters of a command line that can change a figure, and how many others there are.
pub fn relevant(line: &str) -> String {
    let line = line.trim();
    let kernel = line.split_once(" -- ").map_or(line, |(kernel, _)| kernel);
    let words: Vec<&str> = kernel.split_whitespace().take_while(|word| *word != "--").collect();
    let mut kept: Vec<&str> = words.iter().copied().filter(|word| is_kept(word)).collect();
    let others = line.split_whitespace().filter(|word| *word != "--").count() - kept.len();
    let count = if others == 0 { String::new() } else { format!("({others} more)") };
    kept.extend((!count.is_empty()).then_some(count.as_str()));
    kept.join(" ")
}

/// Returns true if a parameter is listed, and its value nothing but names and numbers.
fn is_kept(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let lines = KEPT.lines().filter(|line| !line.starts_with('#'));
    let is_named = lines.flat_map(str::split_whitespace).any(|known| match known.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == known,
    });
    is_named && value.chars().all(|c| c.is_ascii_alphanumeric() || "_,.:+-".contains(c))
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
