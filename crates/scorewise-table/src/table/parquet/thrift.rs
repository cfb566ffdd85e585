//! A minimal reader for the compact protocol of Thrift, in which Parquet stores its metadata. It reads the integers of a struct and skips
//! everything else.

/// Reads Thrift structs from a byte slice.
pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// Why a struct could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// The bytes end before the struct does; reading may succeed with more bytes.
    Truncated,
    /// The bytes are not a valid struct.
    Invalid,
}

type ThriftResult<T> = Result<T, ThriftError>;

/// The maximum nesting depth of structs and lists; deeper nesting is refused so that recursion cannot overflow the stack.
const MAX_DEPTH: usize = 8;

// Type codes of the compact protocol: 0 end of struct, 1 and 2 booleans, 3 byte, 4 to 6 integers, 7 double, 8 binary, 9 list, 10 set,
// 12 struct.

impl<'a> ThriftReader<'a> {
    /// A reader that begins at the first byte of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        ThriftReader { bytes, position: 0 }
    }

    /// The number of bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Reads a struct and calls `visit` for each integer in it and in the structs that are its fields. For an integer in the struct itself, the
    /// call is `visit(id, 0, integer)`, where `id` is the field id of the integer. For an integer in a struct that is a field, the call is
    /// `visit(outer, inner, integer)`, where `outer` is the id of that field and `inner` the id of the integer in the inner struct.
    pub(super) fn visit_integers(&mut self, mut visit: impl FnMut(i16, i16, i64)) -> ThriftResult<()> {
        self.read_struct(0, 0, &mut visit)
    }

    /// Reads a struct at the given nesting depth and calls `visit` as in [`visit_integers`](Self::visit_integers). If the struct is a field of
    /// another struct, `outer` is the id of that field.
    fn read_struct(&mut self, depth: usize, outer: i16, visit: &mut dyn FnMut(i16, i16, i64)) -> ThriftResult<()> {
        let mut id = 0i16;
        loop {
            let type_code = self.field_header(&mut id)?;
            match type_code {
                0 => return Ok(()),
                4..=6 => {
                    let number = self.read_integer()?;
                    match depth {
                        0 => visit(id, 0, number),
                        1 => visit(outer, id, number),
                        _ => {}
                    }
                }
                12 if depth < MAX_DEPTH => self.read_struct(depth + 1, id, visit)?,
                1 | 2 => {}
                type_code => self.skip(type_code, depth)?,
            }
        }
    }

    /// Reads the header of the next field of a struct and returns the type code of the field. `id` must be the id of the previous field and becomes
    /// that of the next field. Type code 0 ends the struct.
    fn field_header(&mut self, id: &mut i16) -> ThriftResult<u8> {
        let head = self.read_byte()?;
        if head & 15 != 0 {
            *id = match head >> 4 {
                0 => i16::try_from(self.read_integer()?).map_err(|_| ThriftError::Invalid)?,
                delta => id.checked_add(i16::from(delta)).ok_or(ThriftError::Invalid)?,
            };
        }
        Ok(head & 15)
    }

    /// The nesting depth of the schema in the metadata of a file. The schema is stored as a flat list of elements, each with the number of its
    /// children, so even a short file can declare a nesting that is too deep for recursion.
    pub(super) fn schema_depth(&mut self) -> ThriftResult<usize> {
        let mut id = 0i16;
        loop {
            match (self.field_header(&mut id)?, id) {
                (0, _) => return Ok(0),
                (9, 2) => break,
                (1 | 2, _) => {}
                (type_code, _) => self.skip(type_code, 0)?,
            }
        }
        let head = self.read_byte()?;
        let length = if head >> 4 == 15 { self.read_unsigned_integer()? } else { u64::from(head >> 4) };
        let (mut deepest, mut open) = (0, Vec::new());
        for _ in 0..length {
            let mut children = 0;
            self.visit_integers(|outer, inner, number| {
                if (outer, inner) == (5, 0) {
                    children = number;
                }
            })?;
            open.push(children);
            deepest = deepest.max(open.len());
            // For each element that is not complete, `open` holds the number of its children that are still to come. An element is complete as
            // soon as none are to come, and this may complete its parent too.
            while open.last().is_some_and(|remaining| *remaining <= 0) {
                open.pop();
                if let Some(parent) = open.last_mut() {
                    *parent -= 1;
                }
            }
        }
        Ok(deepest)
    }

    /// Skips a value with this type code. `depth` is the number of structs and lists around the value.
    fn skip(&mut self, type_code: u8, depth: usize) -> ThriftResult<()> {
        match type_code {
            1..=3 => self.skip_bytes(1),
            4..=6 => self.read_integer().map(|_| ()),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.read_unsigned_integer()?;
                self.skip_bytes(length)
            }
            9 | 10 if depth < MAX_DEPTH => {
                let head = self.read_byte()?;
                let length = if head >> 4 == 15 { self.read_unsigned_integer()? } else { u64::from(head >> 4) };
                // Every element takes at least one byte, so the list cannot have more elements than there are bytes left.
                if length > (self.bytes.len() - self.position) as u64 {
                    return Err(ThriftError::Truncated);
                }
                (0..length).try_for_each(|_| self.skip(head & 15, depth + 1))
            }
            12 if depth < MAX_DEPTH => self.read_struct(depth + 1, 0, &mut |_, _, _| {}),
            // Maps are not supported, because the metadata of Parquet contains none.
            _ => Err(ThriftError::Invalid),
        }
    }

    pub(super) fn read_byte(&mut self) -> ThriftResult<u8> {
        let byte = self.bytes.get(self.position).copied().ok_or(ThriftError::Truncated)?;
        self.position += 1;
        Ok(byte)
    }

    pub(super) fn skip_bytes(&mut self, length: u64) -> ThriftResult<()> {
        if length > (self.bytes.len() - self.position) as u64 {
            return Err(ThriftError::Truncated);
        }
        self.position += length as usize;
        Ok(())
    }

    /// Reads a variable-length unsigned integer.
    pub(super) fn read_unsigned_integer(&mut self) -> ThriftResult<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(ThriftError::Invalid)
    }

    /// Reads a variable-length signed integer in zigzag encoding.
    pub(super) fn read_integer(&mut self) -> ThriftResult<i64> {
        self.read_unsigned_integer().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_visited_with_their_field_ids() {
        // The struct { 1: 0, 2: 300, 5: { 1: -1, 2: 3 }, 6: "ab" }, in which each field is written as `id: value`, and one byte after the struct.
        let bytes = [0x15, 0, 0x15, 0xd8, 0x04, 0x3c, 0x15, 1, 0x15, 6, 0, 0x18, 2, b'a', b'b', 0, 99];
        let mut seen = Vec::new();
        let mut reader = ThriftReader::new(&bytes);
        assert_eq!(reader.visit_integers(|outer, inner, number| seen.push((outer, inner, number))), Ok(()));
        assert_eq!(seen, [(1, 0, 0), (2, 0, 300), (5, 1, -1), (5, 2, 3)]);
        assert_eq!(reader.position(), bytes.len() - 1);
        for length in 0..bytes.len() - 1 {
            assert_eq!(
                ThriftReader::new(&bytes[..length]).visit_integers(|_, _, _| {}),
                Err(ThriftError::Truncated),
                "{length}"
            );
        }
    }

    #[test]
    fn schema_depth_is_the_depth_of_the_deepest_element() {
        // The struct { 1: 1, 2: [ { 5: 2 }, { 5: 1 }, {}, {} ] }, in which each field is written as `id: value`. Field 2 lists the elements of the
        // schema in depth-first order, and field 5 of an element is the number of its children. The root has two children, and the first of them
        // has one child.
        let bytes = [0x15, 2, 0x19, 0x4c, 0x55, 4, 0, 0x55, 2, 0, 0, 0, 0];
        assert_eq!(ThriftReader::new(&bytes).schema_depth(), Ok(3));
        let mut chain = vec![0x15, 2, 0x19, 0xfc, 200, 1];
        chain.extend([0x55, 2, 0].repeat(200));
        assert_eq!(ThriftReader::new(&chain).schema_depth(), Ok(200));
    }

    #[test]
    fn lists_longer_than_the_input_and_deep_nesting_are_refused() {
        let bytes = [0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(ThriftReader::new(&bytes).visit_integers(|_, _, _| {}), Err(ThriftError::Truncated));
        let nested = [0x1c; 100];
        assert_eq!(ThriftReader::new(&nested).visit_integers(|_, _, _| {}), Err(ThriftError::Invalid));
    }
}
