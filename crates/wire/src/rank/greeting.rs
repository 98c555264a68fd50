//! The first words on a rail: a rank proves that it is there now and knows the secret before it is
//! sent data.

pub(super) use crosstie_protocol::Greeting;

use crate::datagram::{HEAD, Head, TAG_BITS};
use crate::key::{Course, Key};

/// Numbers that were not used before and that cannot be guessed without the secret.
pub(super) struct Nonces {
    rank: u16,
    key: Key,
    count: u64,
}

impl Nonces {
    pub fn new(rank: u16, key: Key) -> Nonces {
        Nonces { rank, key, count: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.count += 1;
        let course = Course { to: self.rank, rail: u8::MAX };
        // No datagram has such a head.
        let head = Head::read(&[u8::MAX; HEAD]);
        self.count << TAG_BITS | self.key.tag(course, &head, [&self.count.to_le_bytes(), &[]])
    }
}
