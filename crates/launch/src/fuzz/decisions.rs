//! Bytes as decisions, one after the other.

/// Bytes of which each decides something; when there are no more, all decisions are 0.
pub struct Decisions<'a> {
    rest: &'a [u8],
}

impl<'a> Decisions<'a> {
    /// All decisions that these bytes make.
    pub fn new(bytes: &'a [u8]) -> Decisions<'a> {
        Decisions { rest: bytes }
    }

    /// Returns true if all bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        byte
    }

    /// One of so many things.
    pub fn one_of(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    /// A number of two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// A small number, one near the highest, or any.
    pub fn number(&mut self) -> u32 {
        match self.byte() {
            small @ 0..0xe0 => small.into(),
            near @ 0xe0..0xf0 => u32::MAX - u32::from(near - 0xe0),
            _ => u32::from(self.short()) << 16 | u32::from(self.short()),
        }
    }

    /// So many of the next bytes, or as many as there are.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        bytes
    }
}
