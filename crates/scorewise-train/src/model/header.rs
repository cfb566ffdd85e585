//! The outer shell of a model file: where its tensors lie and the text that came with them.
//!
//! ```text
//! 8 bytes: n, lowest first        n bytes: JSON        the rest: the tensors, end to end
//! ```
//!
//! The safetensors crate writes our files. It does not read them: its check of the length adds offsets from the header without
//! looking for an overflow. Here every size is compared with the bytes that are there before anything is kept, and a message
//! can say whether a file is cut off, foreign or damaged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

/// The key of the header under which the description stands.
pub(super) const KEY: &str = "scorewise";
/// Headers beyond this are refused, as the safetensors library does.
const LONGEST: u64 = 100_000_000;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Contents<'a> {
    /// The text under [`KEY`].
    pub description: Option<Cow<'a, str>>,
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
    Ok(Contents { description: header.description, tensors })
}

fn cut(got: usize, expected: u64) -> Fault {
    Fault::Cut(format!("is cut off: {got} of at least {expected} bytes are there"))
}

/// The header as it is written. Each entry is kept in a few words, whatever it says.
struct Header<'a> {
    description: Option<Cow<'a, str>>,
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
struct Notes<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Header<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header<'de>, A::Error> {
                let mut header = Header { description: None, tensors: BTreeMap::new() };
                while let Some(Text(name)) = map.next_key()? {
                    if name == "__metadata__" {
                        header.description = map.next_value::<Notes<'de>>()?.0;
                    } else {
                        let entry = map.next_value()?;
                        if header.tensors.contains_key(&name) {
                            return Err(A::Error::custom(format!("`{}` comes twice", name.escape_debug())));
                        }
                        header.tensors.insert(name, entry);
                    }
                }
                Ok(header)
            }
        }
        from.deserialize_map(Entries)
    }
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
                let mut notes = Notes(None);
                while let Some(Text(key)) = map.next_key()? {
                    if key == KEY {
                        notes.0 = Some(map.next_value::<Text<'de>>()?.0);
                    } else {
                        map.next_value::<IgnoredAny>()?;
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
    fn a_name_that_comes_twice_is_damage() {
        let entry = r#""a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}"#;
        let fault = read(&file(&format!("{{{entry},{entry}}}"), &[0; 4])).unwrap_err();
        assert!(matches!(fault, Fault::Damaged(text) if text.contains("`a` comes twice")));
    }
}
