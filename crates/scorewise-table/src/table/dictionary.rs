//! Dictionary encoding of strings: each distinct string gets a code, in order of first appearance.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The distinct strings of a column and their codes.
#[derive(Default)]
pub(super) struct Dictionary {
    strings: Vec<String>,
    codes: HashTable<u32>,
    // The seed of the hash is different each time the program runs, so that nobody can prepare a file of strings with equal hashes, which
    // would take very long to read. The codes do not depend on the seed.
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// The code of a string; `None` if the dictionary does not contain the string.
    #[inline]
    pub(super) fn code(&self, string: &[u8]) -> Option<u32> {
        let is_same = |code: &u32| self.strings[*code as usize].as_bytes() == string;
        self.codes.find(self.hasher.hash_one(string), is_same).copied()
    }

    /// The code of a string. Adds the string if the dictionary does not contain it.
    pub(super) fn code_or_insert(&mut self, string: String) -> u32 {
        if let Some(code) = self.code(string.as_bytes()) {
            return code;
        }
        let code = self.strings.len() as u32;
        let Dictionary { strings, codes, hasher } = self;
        let hash = |string: &str| hasher.hash_one(string.as_bytes());
        codes.insert_unique(hash(&string), code, |code| hash(&strings[*code as usize]));
        strings.push(string);
        code
    }

    /// The strings in the order of their codes.
    pub(super) fn into_levels(self) -> Vec<String> {
        self.strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_order_of_first_appearance() {
        let mut dictionary = Dictionary::default();
        let strings = (0..1000).map(|i| format!("{}", i * 7919 % 300));
        let codes: Vec<u32> = strings.clone().map(|string| dictionary.code_or_insert(string)).collect();
        assert_eq!(codes[..300], (0..300).collect::<Vec<_>>());
        assert_eq!(codes[300..600], codes[..300]);
        assert_eq!(dictionary.code(b"7919"), None);
        assert_eq!(dictionary.into_levels(), strings.take(300).collect::<Vec<_>>());
    }
}
