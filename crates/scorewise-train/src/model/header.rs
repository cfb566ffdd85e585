//! Writes and reads safetensors files that hold a JSON string, tensors and a checksum. Model files have this form, and so have the messages that
//! are sent to workers on other machines.
//!
//! ```text
//! 8 bytes: n, little-endian        n bytes: JSON header        remaining bytes: the tensors, one after the other
//! ```
//!
//! The safetensors library can read these files, but it is not used here: when it checks the length of a file, it adds offsets from the
//! header without checking for overflow. This module compares every size with the length of the file before it allocates memory, and its
//! errors say whether a file is truncated, damaged or not a safetensors file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::json;
use xxhash_rust::xxh3::Xxh3;

/// The metadata key of the JSON string that holds everything except the tensors.
const DESCRIPTION_KEY: &str = "scorewise";
/// The metadata key of the checksum.
const CHECKSUM_KEY: &str = "checksum";
/// Number of hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 16;
/// Maximum length of the JSON header in bytes, the same as in the safetensors library.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The metadata and tensors of a file.
#[derive(Debug)]
pub(crate) struct FileContents<'a> {
    /// The metadata string with the key [`DESCRIPTION_KEY`].
    pub description: Option<Cow<'a, str>>,
    /// The metadata string with the key [`CHECKSUM_KEY`].
    pub checksum: Option<Cow<'a, str>>,
    /// Whether the metadata has keys other than [`DESCRIPTION_KEY`] and [`CHECKSUM_KEY`].
    pub has_more: bool,
    /// The tensors by name.
    pub tensors: BTreeMap<Cow<'a, str>, TensorView<'a>>,
}

/// A tensor, borrowed from the bytes of the file.
#[derive(Debug)]
pub(crate) struct TensorView<'a> {
    pub dtype: Cow<'a, str>,
    pub shape: Vec<u64>,
    pub bytes: &'a [u8],
}

/// A tensor that is to be written to a file.
pub(crate) struct EncodedTensor {
    pub name: String,
    /// The name that the type of the numbers has in the safetensors format, such as `F32`.
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    /// The little-endian bytes of the numbers, row by row.
    pub bytes: Vec<u8>,
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// The file is not a safetensors file.
    Foreign,
    /// The end of the file is missing.
    Truncated(String),
    /// The contents of the file are inconsistent.
    Damaged(String),
}

/// The bytes of a file: the header with the checksum and the JSON string `text`, then the tensors sorted by name. The error describes why
/// the file cannot be written.
pub(crate) fn write(text: &str, mut tensors: Vec<EncodedTensor>) -> Result<Vec<u8>, String> {
    tensors.sort_by(|one, other| one.name.cmp(&other.name));
    let mut header = json!({ "__metadata__": { CHECKSUM_KEY: "0".repeat(CHECKSUM_DIGITS), DESCRIPTION_KEY: text } });
    let mut end = 0;
    for EncodedTensor { name, dtype, shape, bytes } in &tensors {
        let start = end;
        end += bytes.len();
        header[name] = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, end] });
    }
    let mut header = header.to_string();
    // The header is padded with spaces, so that the tensors begin at a multiple of 8 bytes.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    if header.len() as u64 > MAX_HEADER_BYTES {
        return Err(format!("its description has {} bytes, more than {MAX_HEADER_BYTES}", header.len()));
    }
    let mut file = Vec::with_capacity(8 + header.len() + end);
    file.extend((header.len() as u64).to_le_bytes());
    file.extend(header.as_bytes());
    tensors.into_iter().for_each(|tensor| file.extend(tensor.bytes));
    let offset = 8 + format!("{{\"__metadata__\":{{\"{CHECKSUM_KEY}\":\"").len();
    let checksum = checksum(&file, offset);
    file[offset..offset + CHECKSUM_DIGITS].copy_from_slice(checksum.as_bytes());
    Ok(file)
}

/// Parses the header of a file and finds the bytes of every tensor.
pub(crate) fn read(bytes: &[u8]) -> Result<FileContents<'_>, HeaderError> {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return Err(HeaderError::Foreign) };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER_BYTES || rest.first().is_some_and(|first| *first != b'{') {
        return Err(HeaderError::Foreign);
    }
    if length > rest.len() as u64 {
        return Err(truncated_error(bytes.len(), length.saturating_add(8)));
    }
    let (header, data) = rest.split_at(length as usize);
    let header = str::from_utf8(header)
        .map_err(|error| HeaderError::Damaged(format!("the header is not UTF-8 text: {error}")))?;
    let header: FileHeader<'_> = serde_json::from_str(header).map_err(|error| {
        HeaderError::Damaged(format!("the header is not a valid JSON description of tensors: {error}"))
    })?;
    let end = header.tensors.values().map(|entry| entry.data_offsets.1).max().unwrap_or(0);
    if end > data.len() as u64 {
        return Err(truncated_error(bytes.len(), end.saturating_add(length).saturating_add(8)));
    }
    if end < data.len() as u64 {
        return Err(HeaderError::Damaged(format!("{} bytes follow its last tensor", data.len() as u64 - end)));
    }
    let mut tensors = BTreeMap::new();
    for (name, entry) in header.tensors {
        let (start, end) = entry.data_offsets;
        // Slicing cannot panic: `end` is at most the length of the data, and `get` returns `None` if `start` is greater than `end`.
        let bytes = data.get(start as usize..end as usize);
        let bytes = bytes.ok_or_else(|| {
            HeaderError::Damaged(format!(
                "the tensor `{}` has an end offset before its start offset",
                name.escape_debug()
            ))
        })?;
        tensors.insert(name, TensorView { dtype: entry.dtype, shape: entry.shape, bytes });
    }
    let Metadata { description, checksum, has_more } = header.metadata;
    Ok(FileContents { description, checksum, has_more, tensors })
}

impl<'a> FileContents<'a> {
    /// Whether the file has a correct checksum. `bytes` must be the bytes from which these contents were read.
    pub fn has_correct_checksum(&self, bytes: &[u8]) -> bool {
        self.checksum.as_deref().is_some_and(|digits| {
            checksum_offset(bytes, digits).is_some_and(|offset| checksum(bytes, offset) == *digits)
        })
    }

    /// The bytes of the tensor with this name; an error if it is missing or has another type or shape. `size` is the number of bytes of one element.
    pub fn tensor(&self, name: &str, (dtype, size): (&str, u64), shape: &[u64]) -> Result<&'a [u8], String> {
        let tensor = self.tensors.get(name).ok_or_else(|| format!("the tensor `{name}` is missing"))?;
        if tensor.dtype != dtype {
            return Err(format!("the tensor `{name}` has the type `{}`, not `{dtype}`", tensor.dtype.escape_debug()));
        }
        let bytes = shape.iter().try_fold(size, |product: u64, width| product.checked_mul(*width));
        if tensor.shape != shape || bytes != Some(tensor.bytes.len() as u64) {
            let got = FirstFew(&tensor.shape);
            return Err(format!(
                "the tensor `{name}` has shape {got:?} and {} bytes, which do not fit the expected shape {shape:?}",
                tensor.bytes.len()
            ));
        }
        Ok(tensor.bytes)
    }
}

/// The little-endian bytes of a list of numbers. `bytes_of` returns the bytes of one number.
pub(crate) fn to_bytes<const N: usize, T: Copy>(numbers: &[T], bytes_of: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|number| bytes_of(*number)).collect()
}

/// Decodes the bytes that [`to_bytes`] returned; `number_of` decodes one number.
pub(crate) fn from_bytes<const N: usize, T>(bytes: &[u8], number_of: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|bytes| number_of(*bytes)).collect()
}

/// Limits an error message to 300 characters, because it may quote any amount of text from a damaged file.
pub(crate) fn shortened(mut problem: String) -> String {
    if let Some((end, _)) = problem.char_indices().nth(300) {
        problem.truncate(end);
        problem.push('…');
    }
    problem
}

/// A list of which at most the first eight elements are formatted, for error messages.
struct FirstFew<'a, T>(&'a [T]);

impl<T: fmt::Debug> fmt::Debug for FirstFew<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = out.debug_list();
        list.entries(self.0.iter().take(8));
        if self.0.len() > 8 { list.finish_non_exhaustive() } else { list.finish() }
    }
}

/// The byte offset of the checksum in the file. `digits` must be the checksum that [`read`] returned for the same `bytes`. `None` if `digits` is not
/// 16 bytes long or is written with JSON escapes, which scorewise never does.
fn checksum_offset(bytes: &[u8], digits: &str) -> Option<usize> {
    // A string without JSON escapes is borrowed from `bytes`, so the distance between the two pointers is its offset in the file. A string
    // with escapes is a copy at another address.
    let offset = (digits.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    (digits.len() == CHECKSUM_DIGITS && bytes.get(offset..)?.starts_with(digits.as_bytes())).then_some(offset)
}

/// The checksum of a file: the 64-bit XXH3 hash of all its bytes, with the digits of the checksum itself, at `offset`, replaced by zeros.
fn checksum(bytes: &[u8], offset: usize) -> String {
    let mut hash = Xxh3::new();
    hash.update(&bytes[..offset]);
    hash.update(&[b'0'; CHECKSUM_DIGITS]);
    hash.update(&bytes[offset + CHECKSUM_DIGITS..]);
    format!("{:016x}", hash.digest())
}

/// The error for a file that has `got` bytes although, according to its header, it should have at least `expected` bytes.
fn truncated_error(got: usize, expected: u64) -> HeaderError {
    HeaderError::Truncated(format!("is truncated: it has {got} of at least {expected} bytes"))
}

/// The parsed JSON header. Even a damaged header takes little memory, because the sizes that it states are not used to allocate memory.
struct FileHeader<'a> {
    metadata: Metadata<'a>,
    tensors: BTreeMap<Cow<'a, str>, TensorEntry<'a>>,
}

/// The description of one tensor in the JSON header.
#[derive(Deserialize)]
struct TensorEntry<'a> {
    #[serde(borrow)]
    dtype: Cow<'a, str>,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// A JSON string, borrowed from the input if it has no escapes.
#[derive(Deserialize, PartialEq, Eq)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// The entries of `__metadata__` that scorewise uses.
#[derive(Default)]
struct Metadata<'a> {
    description: Option<Cow<'a, str>>,
    checksum: Option<Cow<'a, str>>,
    has_more: bool,
}

impl<'de> Deserialize<'de> for FileHeader<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// Reads the JSON header key by key, because the keys are the names of the tensors.
        struct HeaderVisitor;
        impl<'de> Visitor<'de> for HeaderVisitor {
            type Value = FileHeader<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FileHeader<'de>, A::Error> {
                let (mut metadata, mut tensors) = (None, BTreeMap::new());
                while let Some(BorrowedText(name)) = map.next_key()? {
                    if name == "__metadata__" {
                        store_once::<A::Error, _>(&mut metadata, &name, map.next_value()?)?;
                    } else {
                        let entry = map.next_value()?;
                        if tensors.contains_key(&name) {
                            return Err(duplicate_key_error(&name));
                        }
                        tensors.insert(name, entry);
                    }
                }
                Ok(FileHeader { metadata: metadata.unwrap_or_default(), tensors })
            }
        }
        from.deserialize_map(HeaderVisitor)
    }
}

/// Stores the value of a key in `target`; an error if `target` already has a value, because then the key appears twice.
fn store_once<E: serde::de::Error, T>(target: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match target.replace(value) {
        Some(_) => Err(duplicate_key_error(key)),
        None => Ok(()),
    }
}

/// The error for a key that appears twice in the JSON header.
fn duplicate_key_error<E: serde::de::Error>(key: &str) -> E {
    E::custom(format!("`{}` appears twice", key.escape_debug()))
}

impl<'de> Deserialize<'de> for Metadata<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// Reads the metadata key by key, so that a key that appears twice is an error.
        struct MetadataVisitor;
        impl<'de> Visitor<'de> for MetadataVisitor {
            type Value = Metadata<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata<'de>, A::Error> {
                let mut metadata = Metadata::default();
                while let Some(BorrowedText(key)) = map.next_key()? {
                    if key == DESCRIPTION_KEY {
                        store_once::<A::Error, _>(
                            &mut metadata.description,
                            &key,
                            map.next_value::<BorrowedText<'de>>()?.0,
                        )?;
                    } else if key == CHECKSUM_KEY {
                        store_once::<A::Error, _>(
                            &mut metadata.checksum,
                            &key,
                            map.next_value::<BorrowedText<'de>>()?.0,
                        )?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        metadata.has_more = true;
                    }
                }
                Ok(metadata)
            }
        }
        from.deserialize_map(MetadataVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a safetensors file: the length of the header, the header, and the data of the tensors.
    fn file_bytes(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn tensors_and_the_description_are_read() {
        let header = r#"{"__metadata__":{"other":"x","scorewise":"{\"a\":1}"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
        let bytes = file_bytes(header, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let contents = read(&bytes).unwrap();
        assert_eq!(contents.description.as_deref(), Some(r#"{"a":1}"#));
        let tensor = &contents.tensors["w"];
        assert_eq!((&*tensor.dtype, &*tensor.shape, tensor.bytes), ("F32", &[1, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8][..]));
    }

    #[test]
    fn offsets_that_overflow_are_an_error_and_not_a_crash() {
        let entry = |name: &str, start: u64, end: u64| {
            format!(r#""{name}":{{"dtype":"F32","shape":[1],"data_offsets":[{start},{end}]}}"#)
        };
        let header = format!("{{{},{}}}", entry("a", 0, 1 << 63), entry("b", 1 << 63, u64::MAX));
        assert!(matches!(read(&file_bytes(&header, &[0; 8])), Err(HeaderError::Truncated(_))));
        let header = format!("{{{},{}}}", entry("a", 4, 0), entry("b", 0, 4));
        assert!(matches!(read(&file_bytes(&header, &[0; 4])), Err(HeaderError::Damaged(_))));
        assert_eq!(read(&u64::MAX.to_le_bytes()).unwrap_err(), HeaderError::Foreign);
    }

    #[test]
    fn the_checksum_covers_every_byte_except_its_own_digits() {
        let header = r#"{"__metadata__":{"checksum":"0123456789abcdef","scorewise":"{}"}}"#;
        let bytes = file_bytes(header, &[]);
        let contents = read(&bytes).unwrap();
        let offset = checksum_offset(&bytes, contents.checksum.as_ref().unwrap()).unwrap();
        assert_eq!(&bytes[offset..offset + CHECKSUM_DIGITS], b"0123456789abcdef");
        let whole = checksum(&bytes, offset);
        for byte in 0..bytes.len() {
            let mut other = bytes.clone();
            other[byte] ^= 1;
            assert_eq!(
                checksum(&other, offset) == whole,
                (offset..offset + CHECKSUM_DIGITS).contains(&byte),
                "byte {byte}"
            );
        }
        let escaped = file_bytes(&header.replace("0123", "012\\u0033"), &[]);
        assert_eq!(checksum_offset(&escaped, read(&escaped).unwrap().checksum.as_ref().unwrap()), None);
    }

    #[test]
    fn a_duplicate_key_is_an_error() {
        let entry = r#""a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}"#;
        let error = read(&file_bytes(&format!("{{{entry},{entry}}}"), &[0; 4])).unwrap_err();
        assert!(matches!(error, HeaderError::Damaged(text) if text.contains("`a` appears twice")));
        for (keys, name) in [
            (r#""__metadata__":{},"__metadata__":{}"#, "__metadata__"),
            (r#""__metadata__":{"checksum":"0","checksum":"1"}"#, "checksum"),
            (r#""__metadata__":{"scorewise":"0","scorewise":"1"}"#, "scorewise"),
        ] {
            let error = read(&file_bytes(&format!("{{{keys}}}"), &[])).unwrap_err();
            assert!(matches!(error, HeaderError::Damaged(text) if text.contains(&format!("`{name}` appears twice"))));
        }
    }
}
