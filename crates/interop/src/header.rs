//! The system in a report, before its scores.

use super::draft::Draft;

/// The lines before the scores, until they are all read.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Model of each processor, in order.
    models: Vec<String>,
    /// Their features; UnixBench prints them below each model.
    features: Option<String>,
    /// True if the line before was a processor's model.
    after_model: bool,
}

impl Header {
    /// Reads one line; what it does not know says nothing of the system, such as the greeting.
    pub fn line(&mut self, line: &str, draft: &mut Draft<'_>) {
        let after_model = std::mem::take(&mut self.after_model);
        let (key, value) = line.split_once(':').map_or(("", line), |(key, value)| (key.trim(), value.trim()));
        match key {
            "System" => {
                let (host, system) = value.split_once(':').unwrap_or((value, ""));
                system_of(host, system, draft);
            }
            "OS" => draft.fact("system.os", "Operating system", "System", value),
            "Machine" => draft.fact("system.architecture", "Architecture", "System", value),
            "Language" => draft.fact("software.lang", "LANG", "Software", value),
            "Graphics" => draft.fact("system.graphics", "Graphics", "System", value),
            _ if is_cpu(key) => {
                self.models.push(value.to_owned());
                self.after_model = true;
            }
            _ if line.contains(" up ") && line.contains("load average") => {
                draft.fact("system.uptime", "Uptime", "System", line.trim().trim_end_matches("; runlevel"));
            }
            // BYTE and UnixBench 4 print `uname -a`, whose second word is the host.
            _ if line.trim_start().starts_with("System ") => {
                let names = line.trim_start().trim_start_matches("System ").trim_start_matches("-- ").trim();
                system_of(names.split_whitespace().nth(1).unwrap_or(""), names, draft);
            }
            _ if after_model && self.features.is_none() && !line.trim().is_empty() => {
                self.features = Some(line.trim().to_owned());
            }
            _ => {}
        }
    }

    /// Notes the processors: those that follow one another and are alike as one.
    pub fn finish(&mut self, draft: &mut Draft<'_>) {
        let mut kinds: Vec<(usize, &str)> = Vec::new();
        for model in &self.models {
            match kinds.last_mut() {
                Some((count, kind)) if kind == model => *count += 1,
                _ => kinds.push((1, model)),
            }
        }
        let kinds: Vec<String> = kinds.iter().map(|(count, kind)| format!("{count} × {kind}")).collect();
        draft.fact("cpu.model", "Model", "Processor", &kinds.join(", "));
        draft.fact("cpu.features", "Features", "Processor", self.features.as_deref().unwrap_or(""));
        if draft.run.cpus == 0 {
            draft.run.cpus = self.models.len();
        }
    }
}

fn system_of(host: &str, system: &str, draft: &mut Draft<'_>) {
    let host = host.trim();
    if !host.is_empty() {
        host.clone_into(&mut draft.run.host);
        draft.fact("system.host", "Host", "System", host);
    }
    draft.fact("system.name", "System", "System", system);
}

/// Returns true if a line's key is `CPU N`.
fn is_cpu(key: &str) -> bool {
    key.strip_prefix("CPU ").is_some_and(|number| number.trim().parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;

    fn read(text: &str) -> (String, usize, Vec<(String, String)>) {
        let catalogue = Catalogue::load().unwrap();
        let mut draft = Draft::new("", &catalogue);
        let mut header = Header::default();
        text.lines().for_each(|line| header.line(line, &mut draft));
        header.finish(&mut draft);
        let journal = draft.finish();
        let facts = journal.facts.into_iter().map(|fact| (fact.name, fact.value)).collect();
        (journal.run.host, journal.run.cpus, facts)
    }

    fn pairs(facts: &[(&str, &str)]) -> Vec<(String, String)> {
        facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn version_six() {
        let text = "   System: box: GNU/Linux\n   OS: GNU/Linux -- 9.9 -- #1 SMP\n   Machine: x86_64 (pc)\n   \
            Language: en_US.utf8 (charmap=\"UTF-8\", collate=\"UTF-8\")\n   CPU 0: Fast One (5000.0 bogomips)\n          \
            x86-64, MMX\n   CPU 1: Fast One (5000.0 bogomips)\n          x86-64, MMX\n   CPU 2: Slow One (1.0 bogomips)\n\n   \
            03:12:55 up 30 min,  0 user,  load average: 0.07, 0.11, 0.09; runlevel \n";
        let facts = pairs(&[
            ("system.host", "box"),
            ("system.name", "GNU/Linux"),
            ("system.os", "GNU/Linux -- 9.9 -- #1 SMP"),
            ("system.architecture", "x86_64 (pc)"),
            ("software.lang", "en_US.utf8 (charmap=\"UTF-8\", collate=\"UTF-8\")"),
            ("system.uptime", "03:12:55 up 30 min, 0 user, load average: 0.07, 0.11, 0.09"),
            ("cpu.model", "2 × Fast One (5000.0 bogomips), 1 × Slow One (1.0 bogomips)"),
            ("cpu.features", "x86-64, MMX"),
        ]);
        assert_eq!(read(text), ("box".to_owned(), 3, facts));
    }

    #[test]
    fn older_versions() {
        for line in ["System HPUX mcsexp B.08.00", "  System -- HPUX mcsexp B.08.00"] {
            let facts = pairs(&[("system.host", "mcsexp"), ("system.name", "HPUX mcsexp B.08.00")]);
            assert_eq!(read(line), ("mcsexp".to_owned(), 0, facts));
        }
        assert_eq!(read("System\nSystem:\nCPU x: y\n:\n"), (String::new(), 0, Vec::new()));
    }
}
