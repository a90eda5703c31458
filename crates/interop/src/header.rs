//! The system in a report, before its scores. UnixBench prints `KEY: VALUE`, with the features of
//! each processor below its model; BYTE and UnixBench 4 print the output of `uname -a` after
//! `System`.

use super::draft::Draft;

/// The processors of a header, while it is read. Everything else goes to the draft at once.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The model of each processor, in order.
    models: Vec<String>,
    /// The features below the first model that has any.
    features: Option<String>,
    /// True if the line before was a processor's model.
    is_after_model: bool,
}

impl Header {
    /// Reads a line. One that is not known, such as the greeting, is passed over.
    pub fn read_line(&mut self, line: &str, draft: &mut Draft<'_>) {
        let is_after_model = std::mem::take(&mut self.is_after_model);
        let (key, value) =
            line.split_once(':').map_or(("", line), |(key, value)| (key.trim(), value.trim()));
        match key {
            "System" => {
                let (host, system) = value.split_once(':').unwrap_or((value, ""));
                add_system(host, system, draft);
            }
            "OS" => draft.add_fact("system.os", "Operating system", "System", value),
            "Machine" => draft.add_fact("system.architecture", "Architecture", "System", value),
            "Language" => draft.add_fact("software.lang", "LANG", "Software", value),
            "Graphics" => draft.add_fact("system.graphics", "Graphics", "System", value),
            _ if is_cpu(key) => {
                self.models.push(value.to_owned());
                self.is_after_model = true;
            }
            _ if line.contains(" up ") && line.contains("load average") => {
                let uptime = line.trim().trim_end_matches("; runlevel");
                draft.add_fact("system.uptime", "Uptime", "System", uptime);
            }
            // BYTE and UnixBench 4 print `uname -a`, whose second word is the host.
            _ if line.trim_start().starts_with("System ") => {
                let line = line.trim_start().trim_start_matches("System ");
                let names = line.trim_start_matches("-- ").trim();
                let host = names.split_whitespace().nth(1).unwrap_or("");
                add_system(host, names, draft);
            }
            _ if is_after_model && self.features.is_none() && !line.trim().is_empty() => {
                self.features = Some(line.trim().to_owned());
            }
            _ => {}
        }
    }

    /// Adds the processors to the draft: equal models that follow one another as one, with their
    /// number.
    pub fn finish(&mut self, draft: &mut Draft<'_>) {
        let models: Vec<String> = self
            .models
            .chunk_by(|a, b| a == b)
            .map(|equal| format!("{} × {}", equal.len(), equal[0]))
            .collect();
        let features = self.features.as_deref().unwrap_or("");
        draft.add_fact("cpu.model", "Model", "Processor", &models.join(", "));
        draft.add_fact("cpu.features", "Features", "Processor", features);
        if draft.run.cpus == 0 {
            draft.run.cpus = self.models.len();
        }
    }
}

fn add_system(host: &str, system: &str, draft: &mut Draft<'_>) {
    let host = host.trim();
    if !host.is_empty() {
        host.clone_into(&mut draft.run.host);
        draft.add_fact("system.host", "Host", "System", host);
    }
    draft.add_fact("system.name", "System", "System", system);
}

/// True if a line's key is `CPU N`.
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
        text.lines().for_each(|line| header.read_line(line, &mut draft));
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
