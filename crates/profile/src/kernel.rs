//! The kernel's functions, by its list of them (`/proc/kallsyms`): `ADDRESS KIND NAME`.

/// The kernel's functions, in the order of their addresses.
#[derive(Debug, Default)]
pub struct KernelSymbols(Vec<(u64, String)>);

impl KernelSymbols {
    /// Reads the functions of the kernel's list. It has 0 for all addresses if the reader may not
    /// know them; then there are none.
    pub fn from_text(text: &str) -> KernelSymbols {
        let mut symbols = Vec::new();
        for line in text.lines() {
            let mut fields = line.split_ascii_whitespace();
            let address = fields.next().and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let is_code = fields.next().is_some_and(|kind| ["t", "T", "w", "W"].contains(&kind));
            if let (Some(address), Some(name)) = (address, fields.next())
                && is_code
                && address > 0
            {
                symbols.push((address, name.to_owned()));
            }
        }
        symbols.sort_unstable();
        KernelSymbols(symbols)
    }

    pub fn find(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        Some(&self.0.get(after.checked_sub(1)?)?.1)
    }
}
