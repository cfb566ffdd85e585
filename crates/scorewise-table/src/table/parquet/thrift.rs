//! Thrift's compact protocol, as far as the header of a page needs it: sizes are read, the rest is walked over.

/// Numbers by the path of field ids that leads to them.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Why a walk ended early.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// There are no more bytes; more may help.
    Short,
    /// No header looks like this.
    Nonsense,
}

type Walked<T> = Result<T, Stop>;

const DEEPEST: usize = 8;

impl<'a> Walk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Walk { bytes, at: 0 }
    }

    /// How many bytes were walked over.
    pub(super) fn walked(&self) -> usize {
        self.at
    }

    /// Walks over a struct and shows the numbers in it and, one level down, in its structs: `(outer id, inner id, number)`,
    /// the inner id 0 on the first level.
    pub(super) fn fields(&mut self, mut show: impl FnMut(i16, i16, i64)) -> Walked<()> {
        self.structure(0, 0, &mut show)
    }

    fn structure(&mut self, depth: usize, outer: i16, show: &mut dyn FnMut(i16, i16, i64)) -> Walked<()> {
        let mut id = 0i16;
        loop {
            let kind = self.head(&mut id)?;
            match kind {
                0 => return Ok(()),
                4..=6 => {
                    let number = self.number()?;
                    match depth {
                        0 => show(id, 0, number),
                        1 => show(outer, id, number),
                        _ => {}
                    }
                }
                12 if depth < DEEPEST => self.structure(depth + 1, id, show)?,
                1 | 2 => {}
                kind => self.skip(kind, depth)?,
            }
        }
    }

    /// The kind of the next field, and its id; 0 ends the struct.
    fn head(&mut self, id: &mut i16) -> Walked<u8> {
        let head = self.byte()?;
        if head & 15 != 0 {
            *id = match head >> 4 {
                0 => i16::try_from(self.number()?).map_err(|_| Stop::Nonsense)?,
                step => id.checked_add(i16::from(step)).ok_or(Stop::Nonsense)?,
            };
        }
        Ok(head & 15)
    }

    /// How deeply the schema in a file's description is nested. Its elements stand one after the other, each with the number
    /// of its children, so a short file can nest deeper than a recursion can go.
    pub(super) fn schema_depth(&mut self) -> Walked<usize> {
        let mut id = 0i16;
        loop {
            match (self.head(&mut id)?, id) {
                (0, _) => return Ok(0),
                (9, 2) => break,
                (1 | 2, _) => {}
                (kind, _) => self.skip(kind, 0)?,
            }
        }
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        let (mut deepest, mut open) = (0, Vec::new());
        for _ in 0..length {
            let mut children = 0;
            self.fields(|outer, inner, number| {
                if (outer, inner) == (5, 0) {
                    children = number;
                }
            })?;
            open.push(children);
            deepest = deepest.max(open.len());
            // An element without children closes, and so do those whose last child it was.
            while open.last().is_some_and(|left| *left <= 0) {
                open.pop();
                if let Some(parent) = open.last_mut() {
                    *parent -= 1;
                }
            }
        }
        Ok(deepest)
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Walked<()> {
        match kind {
            1..=3 => self.jump(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.jump(8),
            8 => {
                let length = self.unsigned()?;
                self.jump(length)
            }
            9 | 10 if depth < DEEPEST => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
                // Each takes at least a byte.
                if length > (self.bytes.len() - self.at) as u64 {
                    return Err(Stop::Short);
                }
                (0..length).try_for_each(|_| self.skip(head & 15, depth + 1))
            }
            12 if depth < DEEPEST => self.structure(depth + 1, 0, &mut |_, _, _| {}),
            // Headers of pages have no maps.
            _ => Err(Stop::Nonsense),
        }
    }

    pub(super) fn byte(&mut self) -> Walked<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or(Stop::Short)?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn jump(&mut self, length: u64) -> Walked<()> {
        if length > (self.bytes.len() - self.at) as u64 {
            return Err(Stop::Short);
        }
        self.at += length as usize;
        Ok(())
    }

    pub(super) fn unsigned(&mut self) -> Walked<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Stop::Nonsense)
    }

    pub(super) fn number(&mut self) -> Walked<i64> {
        self.unsigned().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_their_ids() {
        // { 1: 0, 2: 300, 5: { 1: -1, 2: 3 }, 6: "ab" }
        let bytes = [0x15, 0, 0x15, 0xd8, 0x04, 0x3c, 0x15, 1, 0x15, 6, 0, 0x18, 2, b'a', b'b', 0, 99];
        let mut seen = Vec::new();
        let mut walk = Walk::new(&bytes);
        assert_eq!(walk.fields(|outer, inner, number| seen.push((outer, inner, number))), Ok(()));
        assert_eq!(seen, [(1, 0, 0), (2, 0, 300), (5, 1, -1), (5, 2, 3)]);
        assert_eq!(walk.walked(), bytes.len() - 1);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(Walk::new(&bytes[..cut]).fields(|_, _, _| {}), Err(Stop::Short), "{cut}");
        }
    }

    #[test]
    fn depth_of_a_schema_is_that_of_its_deepest_element() {
        // { 1: 1, 2: [ { 5: 2 }, { 5: 1 }, {}, {} ] }: a root of two, the first of which has one of its own.
        let bytes = [0x15, 2, 0x19, 0x4c, 0x55, 4, 0, 0x55, 2, 0, 0, 0, 0];
        assert_eq!(Walk::new(&bytes).schema_depth(), Ok(3));
        let mut chain = vec![0x15, 2, 0x19, 0xfc, 200, 1];
        chain.extend([0x55, 2, 0].repeat(200));
        assert_eq!(Walk::new(&chain).schema_depth(), Ok(200));
    }

    #[test]
    fn a_list_longer_than_the_bytes_is_refused_at_once() {
        let bytes = [0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(Walk::new(&bytes).fields(|_, _, _| {}), Err(Stop::Short));
        let nested = [0x1c; 100];
        assert_eq!(Walk::new(&nested).fields(|_, _, _| {}), Err(Stop::Nonsense));
    }
}
