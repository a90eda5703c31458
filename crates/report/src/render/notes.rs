//! Footnotes of a whole document.

use indexmap::IndexSet;

/// Numbered remarks: the same remark has the same number wherever it stands.
#[derive(Debug, Default)]
pub struct Notes {
    /// The remarks, by number from 1.
    pub texts: IndexSet<String>,
}

impl Notes {
    /// Returns the number of a remark, from 1.
    pub fn number(&mut self, text: &str) -> usize {
        let place = self.texts.get_index_of(text).unwrap_or_else(|| self.texts.insert_full(text.to_owned()).0);
        place + 1
    }

    /// Returns the mark of several remarks in the order of their numbers, `[1,3]`; nothing for none.
    pub fn marks(&mut self, texts: &[String]) -> String {
        let mut numbers: Vec<usize> = texts.iter().map(|text| self.number(text)).collect();
        numbers.sort_unstable();
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_numbered_once() {
        let mut notes = Notes::default();
        assert_eq!(notes.marks(&["a".to_owned(), "b".to_owned()]), "[1,2]");
        assert_eq!((notes.marks(&["b".to_owned()]), notes.marks(&[])), ("[2]".to_owned(), String::new()));
        assert_eq!(notes.marks(&["c".to_owned(), "a".to_owned()]), "[1,3]");
    }
}
