//! Footnotes of a whole document.

use indexmap::IndexSet;

/// Numbered remarks: the same remark has the same number wherever it is made.
#[derive(Debug, Default)]
pub struct Notes {
    /// The remarks, by number from 1.
    pub texts: IndexSet<String>,
}

impl Notes {
    /// The number of a remark, from 1; a new remark gets the next.
    pub fn number(&mut self, text: &str) -> usize {
        let index = match self.texts.get_index_of(text) {
            Some(index) => index,
            None => self.texts.insert_full(text.to_owned()).0,
        };
        index + 1
    }

    /// The mark of several remarks in the order of their numbers, `[1,3]`; empty for none.
    pub fn mark(&mut self, texts: &[String]) -> String {
        if texts.is_empty() {
            return String::new();
        }

        let mut numbers: Vec<usize> = texts.iter().map(|text| self.number(text)).collect();
        numbers.sort_unstable();
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        format!("[{}]", numbers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_numbered_once() {
        let mut notes = Notes::default();

        assert_eq!(notes.mark(&["a".to_owned(), "b".to_owned()]), "[1,2]");
        assert_eq!(notes.mark(&["b".to_owned()]), "[2]");
        assert_eq!(notes.mark(&["c".to_owned(), "a".to_owned()]), "[1,3]");
        assert_eq!(notes.mark(&[]), "");
    }
}
