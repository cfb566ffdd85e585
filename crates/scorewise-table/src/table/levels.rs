//! The different texts of a column, in the order in which they first came, found by their bytes.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Texts and their places.
#[derive(Default)]
pub(super) struct Levels {
    texts: Vec<String>,
    places: HashTable<u32>,
    // Its seed differs from run to run, which guards against texts made to collide; the places do not depend on it.
    hasher: DefaultHashBuilder,
}

impl Levels {
    /// The place of a text, if it came before.
    #[inline]
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let same = |place: &u32| self.texts[*place as usize].as_bytes() == text;
        self.places.find(self.hasher.hash_one(text), same).copied()
    }

    /// The place of a text, which is the next one if it did not come before.
    pub(super) fn place(&mut self, text: String) -> u32 {
        if let Some(place) = self.find(text.as_bytes()) {
            return place;
        }
        let place = self.texts.len() as u32;
        let Levels { texts, places, hasher } = self;
        let hash = |text: &str| hasher.hash_one(text.as_bytes());
        places.insert_unique(hash(&text), place, |place| hash(&texts[*place as usize]));
        texts.push(text);
        place
    }

    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_first_coming() {
        let mut levels = Levels::default();
        let texts = (0..1000).map(|i| format!("{}", i * 7919 % 300));
        let places: Vec<u32> = texts.clone().map(|text| levels.place(text)).collect();
        assert_eq!(places[..300], (0..300).collect::<Vec<_>>());
        assert_eq!(places[300..600], places[..300]);
        assert_eq!(levels.find(b"7919"), None);
        assert_eq!(levels.into_texts(), texts.take(300).collect::<Vec<_>>());
    }
}
