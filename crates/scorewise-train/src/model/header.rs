//! The outer shell of a model file: where its tensors lie and the text that came with them.
//!
//! ```text
//! 8 bytes: n, lowest first        n bytes: JSON        the rest: the tensors, end to end
//! ```
//!
//! This is the format of the safetensors library, which reads our files. It does not read them here: its check of the length adds
//! offsets from the header without looking for an overflow. Here every size is compared with the bytes that are there before anything
//! is kept, and a message can say whether a file is cut off, foreign or damaged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use xxhash_rust::xxh3::Xxh3;

/// The key of the header under which the description stands.
pub(super) const KEY: &str = "scorewise";
/// The key of the header under which the checksum stands.
pub(super) const CHECKSUM: &str = "checksum";
/// Hexadecimal digits of a checksum.
pub(super) const DIGITS: usize = 16;
/// Headers beyond this are refused, as the safetensors library does.
pub(super) const LONGEST: u64 = 100_000_000;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Contents<'a> {
    /// The text under [`KEY`].
    pub description: Option<Cow<'a, str>>,
    /// The text under [`CHECKSUM`].
    pub checksum: Option<Cow<'a, str>>,
    /// Whether there are other texts beside these two.
    pub has_more: bool,
    /// By name.
    pub tensors: BTreeMap<Cow<'a, str>, Tensor<'a>>,
}

/// A tensor in a file.
#[derive(Debug)]
pub(super) struct Tensor<'a> {
    pub kind: Cow<'a, str>,
    pub shape: Vec<u64>,
    pub bytes: &'a [u8],
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is something else.
    Foreign,
    /// Its end is missing.
    Cut(String),
    /// It contradicts itself.
    Damaged(String),
}

/// Takes a file apart.
pub(super) fn read(bytes: &[u8]) -> Result<Contents<'_>, Fault> {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return Err(Fault::Foreign) };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST || rest.first().is_some_and(|first| *first != b'{') {
        return Err(Fault::Foreign);
    }
    if length > rest.len() as u64 {
        return Err(cut(bytes.len(), length.saturating_add(8)));
    }
    let (header, data) = rest.split_at(length as usize);
    let header = str::from_utf8(header).map_err(|error| Fault::Damaged(format!("the header is no text: {error}")))?;
    let header: Header<'_> = serde_json::from_str(header)
        .map_err(|error| Fault::Damaged(format!("the header is no JSON of tensors: {error}")))?;
    let end = header.tensors.values().map(|place| place.data_offsets.1).max().unwrap_or(0);
    if end > data.len() as u64 {
        return Err(cut(bytes.len(), end.saturating_add(length).saturating_add(8)));
    }
    if end < data.len() as u64 {
        return Err(Fault::Damaged(format!("{} bytes follow its last tensor", data.len() as u64 - end)));
    }
    let mut tensors = BTreeMap::new();
    for (name, place) in header.tensors {
        let (start, end) = place.data_offsets;
        // Both ends are at most the length of the data, so they fit.
        let bytes = data.get(start as usize..end as usize);
        let bytes = bytes
            .ok_or_else(|| Fault::Damaged(format!("the tensor `{}` ends before it starts", name.escape_debug())))?;
        tensors.insert(name, Tensor { kind: place.dtype, shape: place.shape, bytes });
    }
    let Notes { description, checksum, has_more } = header.notes;
    Ok(Contents { description, checksum, has_more, tensors })
}

/// Where in a file the digits of a checksum stand that [`read`] found there; `None` where they are written in another way than we do.
pub(super) fn place_of_digits(bytes: &[u8], digits: &str) -> Option<usize> {
    // A text without escapes was borrowed from these bytes, so the distance is its place; any other lies outside of them.
    let at = (digits.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    (digits.len() == DIGITS && bytes.get(at..)?.starts_with(digits.as_bytes())).then_some(at)
}

/// The checksum of a file: XXH3 with 64 bits of all its bytes, the digits of the checksum itself taken as zeros.
pub(super) fn checksum(bytes: &[u8], digits: usize) -> String {
    let mut hash = Xxh3::new();
    hash.update(&bytes[..digits]);
    hash.update(&[b'0'; DIGITS]);
    hash.update(&bytes[digits + DIGITS..]);
    format!("{:016x}", hash.digest())
}

fn cut(got: usize, expected: u64) -> Fault {
    Fault::Cut(format!("is cut off: {got} of at least {expected} bytes are there"))
}

/// The header as it is written. Each entry is kept in a few words, whatever it says.
struct Header<'a> {
    notes: Notes<'a>,
    tensors: BTreeMap<Cow<'a, str>, Entry<'a>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    dtype: Cow<'a, str>,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// A text that is borrowed where nothing in it is escaped.
#[derive(Deserialize, PartialEq, Eq)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What we read of `__metadata__`.
#[derive(Default)]
struct Notes<'a> {
    description: Option<Cow<'a, str>>,
    checksum: Option<Cow<'a, str>>,
    has_more: bool,
}

impl<'de> Deserialize<'de> for Header<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header<'de>, A::Error> {
                let (mut notes, mut tensors) = (None, BTreeMap::new());
                while let Some(Text(name)) = map.next_key()? {
                    if name == "__metadata__" {
                        once::<A::Error, _>(&mut notes, &name, map.next_value()?)?;
                    } else {
                        let entry = map.next_value()?;
                        if tensors.contains_key(&name) {
                            return Err(twice(&name));
                        }
                        tensors.insert(name, entry);
                    }
                }
                Ok(Header { notes: notes.unwrap_or_default(), tensors })
            }
        }
        from.deserialize_map(Entries)
    }
}

/// Keeps the value of a key that may come once.
fn once<E: serde::de::Error, T>(place: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match place.replace(value) {
        Some(_) => Err(twice(key)),
        None => Ok(()),
    }
}

fn twice<E: serde::de::Error>(key: &str) -> E {
    E::custom(format!("`{}` comes twice", key.escape_debug()))
}

impl<'de> Deserialize<'de> for Notes<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Notes<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Notes<'de>, A::Error> {
                let mut notes = Notes::default();
                while let Some(Text(key)) = map.next_key()? {
                    if key == KEY {
                        once::<A::Error, _>(&mut notes.description, &key, map.next_value::<Text<'de>>()?.0)?;
                    } else if key == CHECKSUM {
                        once::<A::Error, _>(&mut notes.checksum, &key, map.next_value::<Text<'de>>()?.0)?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        notes.has_more = true;
                    }
                }
                Ok(notes)
            }
        }
        from.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn tensors_and_text_are_found() {
        let header = r#"{"__metadata__":{"other":"x","scorewise":"{\"a\":1}"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
        let bytes = file(header, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let contents = read(&bytes).unwrap();
        assert_eq!(contents.description.as_deref(), Some(r#"{"a":1}"#));
        let tensor = &contents.tensors["w"];
        assert_eq!((&*tensor.kind, &*tensor.shape, tensor.bytes), ("F32", &[1, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8][..]));
    }

    #[test]
    fn sizes_that_overflow_are_a_cut_and_no_crash() {
        let entry = |name: &str, start: u64, end: u64| {
            format!(r#""{name}":{{"dtype":"F32","shape":[1],"data_offsets":[{start},{end}]}}"#)
        };
        let header = format!("{{{},{}}}", entry("a", 0, 1 << 63), entry("b", 1 << 63, u64::MAX));
        assert!(matches!(read(&file(&header, &[0; 8])), Err(Fault::Cut(_))));
        let header = format!("{{{},{}}}", entry("a", 4, 0), entry("b", 0, 4));
        assert!(matches!(read(&file(&header, &[0; 4])), Err(Fault::Damaged(_))));
        assert_eq!(read(&u64::MAX.to_le_bytes()).unwrap_err(), Fault::Foreign);
    }

    #[test]
    fn the_checksum_covers_every_byte_but_its_own_digits() {
        let header = r#"{"__metadata__":{"checksum":"0123456789abcdef","scorewise":"{}"}}"#;
        let bytes = file(header, &[]);
        let contents = read(&bytes).unwrap();
        let at = place_of_digits(&bytes, contents.checksum.as_ref().unwrap()).unwrap();
        assert_eq!(&bytes[at..at + DIGITS], b"0123456789abcdef");
        let whole = checksum(&bytes, at);
        for byte in 0..bytes.len() {
            let mut other = bytes.clone();
            other[byte] ^= 1;
            assert_eq!(checksum(&other, at) == whole, (at..at + DIGITS).contains(&byte), "byte {byte}");
        }
        let escaped = file(&header.replace("0123", "012\\u0033"), &[]);
        assert_eq!(place_of_digits(&escaped, read(&escaped).unwrap().checksum.as_ref().unwrap()), None);
    }

    #[test]
    fn a_name_that_comes_twice_is_damage() {
        let entry = r#""a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}"#;
        let fault = read(&file(&format!("{{{entry},{entry}}}"), &[0; 4])).unwrap_err();
        assert!(matches!(fault, Fault::Damaged(text) if text.contains("`a` comes twice")));
        for (keys, name) in [
            (r#""__metadata__":{},"__metadata__":{}"#, "__metadata__"),
            (r#""__metadata__":{"checksum":"0","checksum":"1"}"#, "checksum"),
            (r#""__metadata__":{"scorewise":"0","scorewise":"1"}"#, "scorewise"),
        ] {
            let fault = read(&file(&format!("{{{keys}}}"), &[])).unwrap_err();
            assert!(matches!(fault, Fault::Damaged(text) if text.contains(&format!("`{name}` comes twice"))));
        }
    }
}
