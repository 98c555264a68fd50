//! What goes over a rail, as a value and as bytes.
//!
//! Every datagram begins with a head of 24 bytes, in network byte order:
//!
//! | bytes | are |
//! |---|---|
//! | 0 | the version in the upper four bits, the kind in the lower |
//! | 1 | the lower six bits: which datagram of its packet this is; the eighth marks the last |
//! | 2, 3 | the rank that sends it |
//! | 4 to 7 | the number of the packet, or of an acknowledgement |
//! | 8 to 10 | the serial number of the message |
//! | 11 to 13 | the receive that has a place for the message; all ones: none |
//! | 14 to 18 | where the load begins in the message; in a whole message, an acknowledgement |
//! | 19 to 23 | the tag ([`key`](crate::key)) of all the others |
//!
//! | kind | is | behind the head |
//! |---|---|---|
//! | data | a part of a packet of a long message | its bytes |
//! | whole | a packet that is a message | its bytes |
//! | piece | a part of a short message of several datagrams | its length ([`PIECE`] bytes), bytes |
//! | void | a packet of a message that has arrived otherwise | nothing |
//! | Pack, Nack, Sack | acknowledgements of a channel | of a Sack: which packet came last and when, for how long this was held, how many packets came again, and which have come |
//! | hello, welcome | the first words on a rail, and their answer | a nonce |
//! | farewell | that the receiver has been given up | nothing |
//! | address | where the sender is reached on a rail | 36 bytes, see below |
//! | raw | a frame between [raw endpoints](crate::raw) | its bytes |
//!
//! The 36 bytes of an address are 0, the rail, 1 if the receiver is to tell the same and else 0,
//! the length of the address, and the address with zeroes behind. A raw frame has its number in
//! bytes 4 to 7, and its label in bytes 14 to 18.
//!
//! A datagram of a long message has 24 bytes that are not the message's, so that with a payload of
//! 1,448 bytes in a frame of 1,514 a rail carries 95.6 % of its rate.

mod head;

use crosstie_protocol::channel::{Arrivals, Sack, Seq};
use crosstie_protocol::{Headers, Train};

use crate::key::{Course, Key};
pub use head::{Head, Serial, TAG_BITS};

/// Bytes of a head.
pub const HEAD: usize = Headers::CODEC.datagram as usize;

/// Bytes behind the head of a piece, before what it carries.
pub const PIECE: usize = Headers::CODEC.piece as usize;

/// The most datagrams of a packet.
pub const MOST_PARTS: usize = Train::LIVE.datagrams as usize;

/// The longest message: 1 TiB.
pub const LONGEST: u64 = 1 << 40;

/// That no receive has a place.
const NO_PLACE: u32 = 0xff_ffff;

/// Bytes behind the head of a selective acknowledgement.
const SACK: usize = Headers::SACK as usize;

const VERSION: u8 = 2;

/// A datagram, apart from the bytes of a message in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The rank that sends it.
    pub from: u16,
    /// What it is.
    pub body: Body,
}

/// Which part of a packet a datagram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The number of the packet.
    pub seq: Seq,
    /// The number of the part.
    pub number: u8,
    /// Whether it is the last of its packet.
    pub last: bool,
}

impl Part {
    /// All of a packet.
    pub fn whole(seq: Seq) -> Part {
        Part { seq, number: 0, last: true }
    }
}

/// What a datagram can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Bytes of a long message, for which a receive has a place.
    Data(Data),
    /// A message in one datagram.
    Whole {
        /// The number of its packet.
        seq: Seq,
        /// Acknowledges packets that go the other way.
        ack: Seq,
        /// The message's serial number.
        serial: Serial,
    },
    /// Bytes of a short message of several datagrams.
    Piece {
        /// Of which packet.
        part: Part,
        /// The message's serial number.
        serial: Serial,
        /// Where in the message they begin.
        offset: u32,
        /// The message's length.
        length: u32,
    },
    /// A packet of a message that is there.
    Void {
        /// Its number.
        seq: Seq,
    },
    /// Pack: everything before this number has arrived.
    Pack(Seq),
    /// Nack: everything before this number has arrived, and after it something else.
    Nack(Seq),
    /// What has arrived, one by one.
    Sack(Sack),
    /// The first words on a rail.
    Hello {
        /// To be sent back.
        nonce: u64,
    },
    /// The answer.
    Welcome {
        /// What was sent.
        nonce: u64,
    },
    /// The receiver has been given up: whatever it sends is ignored.
    Farewell,
    /// Where the sender is reached on a rail.
    Address {
        /// The rail.
        rail: u8,
        /// True if the receiver is to tell the same.
        asks: bool,
        /// The address; `None`: the sender has no device there.
        address: Option<Address>,
    },
    /// A frame between raw endpoints, which is never sent again.
    Raw {
        /// Its number among those from this sender to this receiver.
        number: Seq,
        /// What tells it from other frames, for whoever reads it.
        label: u32,
    },
}

/// What a datagram with bytes of a long message says of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Of which packet.
    pub part: Part,
    /// The message's serial number.
    pub serial: Serial,
    /// The receive.
    pub receive: u32,
    /// Where in the message they begin.
    pub offset: u64,
}

/// The most bytes of an address in a datagram.
const ADDRESS: usize = 32;

/// An address of a driver, of 1 to 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    bytes: [u8; ADDRESS],
    len: u8,
}

impl Address {
    /// One that fits.
    pub fn new(address: &[u8]) -> Option<Address> {
        let mut bytes = [0; ADDRESS];
        bytes.get_mut(..address.len())?.copy_from_slice(address);
        (!address.is_empty()).then_some(Address { bytes, len: address.len() as u8 })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Why a datagram is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatagramError {
    /// There is not even a head, or not what must be behind it.
    #[error("found a datagram of {found} bytes, expected {expected} or more")]
    Short {
        /// Its bytes.
        found: usize,
        /// What it should have.
        expected: usize,
    },
    /// Another version, or none of ours.
    #[error("found a datagram of version {found}, expected {VERSION}")]
    Version {
        /// The version.
        found: u8,
    },
    /// It has not been made by whoever knows the secret, or not for here, or has changed on its
    /// way.
    #[error("found a datagram with a wrong tag")]
    Tag,
    /// It has the right tag, and yet is of no kind that there is or says what cannot be.
    #[error("found a datagram of kind {kind} that cannot be")]
    Odd {
        /// Its kind.
        kind: u8,
    },
}

mod kind {
    pub const DATA: u8 = 0;
    pub const WHOLE: u8 = 1;
    pub const PIECE: u8 = 2;
    pub const VOID: u8 = 3;
    pub const PACK: u8 = 5;
    pub const NACK: u8 = 6;
    pub const SACK: u8 = 7;
    pub const HELLO: u8 = 8;
    pub const WELCOME: u8 = 9;
    pub const RAW: u8 = 10;
    pub const FAREWELL: u8 = 11;
    pub const ADDRESS: u8 = 12;
}

/// The most bytes that a datagram has before those of a message.
pub const OVERHEAD: usize = HEAD + SACK;

/// The bytes of a datagram before those of a message.
#[derive(Debug, Clone, Copy)]
pub struct Front {
    bytes: [u8; OVERHEAD],
    len: usize,
}

impl Front {
    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Room for a head, with nothing behind it.
    fn new() -> Front {
        Front { bytes: [0; OVERHEAD], len: HEAD }
    }

    fn word(mut self, word: u32) -> Front {
        self.bytes[self.len..self.len + 4].copy_from_slice(&word.to_be_bytes());
        self.len += 4;
        self
    }

    fn long(self, word: u64) -> Front {
        self.word((word >> 32) as u32).word(word as u32)
    }
}

impl Datagram {
    /// How many bytes a datagram of the kind has before those of the message in it.
    pub fn front(body: &Body) -> usize {
        match body {
            Body::Piece { .. } => HEAD + PIECE,
            _ => HEAD,
        }
    }

    /// Its first bytes, if these are behind them. The tag is of both.
    #[inline]
    pub fn encode(&self, key: &Key, course: Course, load: &[u8]) -> Front {
        let Datagram { from, body } = *self;
        let head = |kind| Head::new(kind, from);
        let front = Front::new();
        let (head, front) = match body {
            Body::Data(data) => (data.head(from), front),
            Body::Whole { seq, ack, serial } => {
                let head = head(kind::WHOLE).seq(seq).serial(serial);
                (head.place(None, ack.0.into()), front)
            }
            Body::Piece { part, serial, offset, length } => {
                let head = head(kind::PIECE).part(part).serial(serial);
                (head.place(None, offset.into()), front.word(length))
            }
            Body::Void { seq } => (head(kind::VOID).seq(seq), front),
            Body::Pack(ack) => (head(kind::PACK).seq(ack), front),
            Body::Nack(ack) => (head(kind::NACK).seq(ack), front),
            Body::Sack(Sack { expected, last, at, held, repeated, skipped, came }) => {
                let behind = [last.0, at, held, repeated, skipped];
                let behind = behind.into_iter().fold(front, Front::word);
                (head(kind::SACK).seq(expected), came.words().into_iter().fold(behind, Front::long))
            }
            Body::Hello { nonce } => (head(kind::HELLO), front.long(nonce)),
            Body::Welcome { nonce } => (head(kind::WELCOME), front.long(nonce)),
            Body::Farewell => (head(kind::FAREWELL), front),
            Body::Address { rail, asks, address } => {
                let (len, bytes) = address.map_or((0, [0; ADDRESS]), |a| (a.len, a.bytes));
                let front = front.word(u32::from_be_bytes([0, rail, asks.into(), len]));
                let word = |word: &[u8]| u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
                (head(kind::ADDRESS), bytes.chunks_exact(4).map(word).fold(front, Front::word))
            }
            Body::Raw { number, label } => {
                (head(kind::RAW).seq(number).place(None, label.into()), front)
            }
        };
        front.sealed(head, key, course, load)
    }

    /// Appends it to others, with these bytes of a message in it.
    #[inline]
    pub fn append(&self, key: &Key, course: Course, load: &[u8], to: &mut Vec<u8>) {
        if let Body::Data(data) = self.body {
            // As most are. The tag is that of the copy, which is at hand.
            let begin = to.len();
            to.extend_from_slice(&[0; HEAD]);
            to.extend_from_slice(load);
            let (place, load) = to[begin..].split_first_chunk_mut().expect("just appended");
            let head = data.head(self.from);
            *place = head.tagged(key.tag(course, &head, [load, &[]])).bytes();
        } else {
            to.extend_from_slice(self.encode(key, course, load).as_bytes());
            to.extend_from_slice(load);
        }
    }

    /// Reads a datagram: what it is, and the bytes of a message in it.
    pub fn decode<'a>(
        bytes: &'a [u8],
        key: &Key,
        course: Course,
    ) -> Result<(Datagram, &'a [u8]), DatagramError> {
        let opened = Opened::new(bytes, key, course)?;
        let (body, load) = opened.body()?;
        Ok((Datagram { from: opened.from(), body }, load))
    }
}

impl Front {
    #[inline]
    fn sealed(mut self, head: Head, key: &Key, course: Course, load: &[u8]) -> Front {
        // What is behind the head has a tag too.
        let tag = key.tag(course, &head, [&self.bytes[HEAD..self.len], load]);
        self.bytes[..HEAD].copy_from_slice(&head.tagged(tag).bytes());
        self
    }
}

/// A datagram with the right tag.
#[derive(Debug, Clone, Copy)]
pub struct Opened<'a> {
    head: Head,
    rest: &'a [u8],
}

impl Data {
    #[inline]
    fn head(&self, from: u16) -> Head {
        let &Data { part, serial, receive, offset } = self;
        Head::new(kind::DATA, from).part(part).serial(serial).place(Some(receive), offset)
    }
}

impl<'a> Opened<'a> {
    /// Looks at the tag of a datagram.
    #[inline]
    pub fn new(bytes: &'a [u8], key: &Key, course: Course) -> Result<Opened<'a>, DatagramError> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
            return Err(DatagramError::Short { found: bytes.len(), expected: HEAD });
        };
        let head = Head::read(head);
        if head.version() != VERSION {
            return Err(DatagramError::Version { found: head.version() });
        }
        if !key.fits(course, &head, rest) {
            return Err(DatagramError::Tag);
        }
        Ok(Opened { head, rest })
    }

    /// The rank that sends it.
    #[inline]
    pub fn from(&self) -> u16 {
        self.head.from()
    }

    fn odd(&self) -> DatagramError {
        DatagramError::Odd { kind: self.head.kind() }
    }

    /// What it is if it is of a long message, as most are, and the bytes of that.
    #[inline]
    pub fn data(&self) -> Option<(Data, &'a [u8])> {
        let (part, receive) = (self.head.which_part(), self.head.receive());
        let (serial, offset) = (self.head.which_serial(), self.head.offset());
        let is_data = self.head.kind() == kind::DATA && receive != NO_PLACE;
        (is_data && self.fits(part, offset, self.rest.len()))
            .then_some((Data { part, serial, receive, offset }, self.rest))
    }

    /// What it is, and the bytes of a message in it.
    pub fn body(&self) -> Result<(Body, &'a [u8]), DatagramError> {
        let Opened { head, rest } = *self;
        let (seq, serial, offset) = (head.number(), head.which_serial(), head.offset());
        let body = match head.kind() {
            kind::DATA => {
                return self.data().map(|(data, load)| (Body::Data(data), load)).ok_or(self.odd());
            }
            kind::WHOLE => {
                let ack = Seq(u32::try_from(offset).map_err(|_| self.odd())?);
                return Ok((Body::Whole { seq, ack, serial }, rest));
            }
            kind::PIECE => return self.piece(serial, offset),
            kind::RAW => {
                let label = u32::try_from(offset).map_err(|_| self.odd())?;
                return Ok((Body::Raw { number: seq, label }, rest));
            }
            kind::VOID => Body::Void { seq },
            kind::PACK => Body::Pack(seq),
            kind::FAREWELL => Body::Farewell,
            kind::NACK => Body::Nack(seq),
            kind::SACK => {
                let words = words::<{ SACK / 4 }>(rest).ok_or(self.odd())?;
                let (numbers, pairs) = words.split_first_chunk().expect("5");
                let &[last, at, held, repeated, skipped] = numbers;
                let came = std::array::from_fn(|at| long(pairs[2 * at], pairs[2 * at + 1]));
                let came = Arrivals::from_words(came);
                let (expected, last) = (seq, Seq(last));
                let sack = Sack { expected, last, at, held, repeated, skipped, came };
                return self.nothing_behind(Body::Sack(sack), SACK);
            }
            kind::HELLO | kind::WELCOME => {
                let [high, low] = words::<2>(rest).ok_or(self.odd())?;
                let nonce = long(high, low);
                let body = match head.kind() {
                    kind::HELLO => Body::Hello { nonce },
                    _ => Body::Welcome { nonce },
                };
                return self.nothing_behind(body, 8);
            }
            kind::ADDRESS => {
                let body = self.address().ok_or(self.odd())?;
                return self.nothing_behind(body, 4 + ADDRESS);
            }
            _ => return Err(self.odd()),
        };
        self.nothing_behind(body, 0)
    }

    fn piece(&self, serial: Serial, offset: u64) -> Result<(Body, &'a [u8]), DatagramError> {
        let part = self.head.which_part();
        let [length] = words::<1>(self.rest).ok_or(self.odd())?;
        let load = &self.rest[PIECE..];
        if offset + load.len() as u64 > length.into() || !self.fits(part, offset, load.len()) {
            return Err(self.odd());
        }
        Ok((Body::Piece { part, serial, offset: offset as u32, length }, load))
    }

    fn address(&self) -> Option<Body> {
        let (&[zero, rail, asks, len], bytes) = self.rest.split_first_chunk()?;
        let (address, zeroes) = bytes.get(..ADDRESS)?.split_at_checked(len.into())?;
        let sound = zero == 0 && asks <= 1 && zeroes.iter().all(|&byte| byte == 0);
        sound.then(|| Body::Address { rail, asks: asks == 1, address: Address::new(address) })
    }

    fn fits(&self, part: Part, offset: u64, load: usize) -> bool {
        usize::from(part.number) < MOST_PARTS && offset + load as u64 <= LONGEST
    }

    fn nothing_behind(
        &self,
        body: Body,
        expected: usize,
    ) -> Result<(Body, &'a [u8]), DatagramError> {
        if self.rest.len() != expected {
            return Err(self.odd());
        }
        Ok((body, &[]))
    }
}

/// The first words of something.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (at, word) in words.iter_mut().enumerate() {
        *word = u32::from_be_bytes(bytes.get(4 * at..4 * at + 4)?.try_into().ok()?);
    }
    Some(words)
}

fn long(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HERE: Course = Course { to: 7, rail: 2 };

    fn key() -> Key {
        Key::new([3; 16])
    }

    fn bytes(datagram: &Datagram, load: &[u8]) -> Vec<u8> {
        let front = datagram.encode(&key(), HERE, load);
        [front.as_bytes(), load].concat()
    }

    fn part() -> impl Strategy<Value = Part> {
        (any::<u32>(), 0..64u8, any::<bool>()).prop_map(|(seq, number, last)| Part {
            seq: Seq(seq),
            number,
            last,
        })
    }

    fn serial() -> impl Strategy<Value = Serial> {
        any::<u64>().prop_map(Serial::of)
    }

    /// A body, and whether bytes of a message go with it.
    fn body() -> impl Strategy<Value = (Body, bool)> {
        let seq = || any::<u32>().prop_map(Seq);
        prop_oneof![
            (part(), serial(), 0..NO_PLACE, 0..LONGEST - 4096).prop_map(
                |(part, serial, receive, offset)| {
                    (Body::Data(Data { part, serial, receive, offset }), true)
                }
            ),
            (seq(), seq(), serial())
                .prop_map(|(seq, ack, serial)| (Body::Whole { seq, ack, serial }, true)),
            (part(), serial(), 0..1u32 << 30).prop_map(|(part, serial, offset)| {
                let length = offset + 5003;
                (Body::Piece { part, serial, offset, length }, true)
            }),
            seq().prop_map(|seq| (Body::Void { seq }, false)),
            Just((Body::Farewell, false)),
            seq().prop_map(|seq| (Body::Pack(seq), false)),
            seq().prop_map(|seq| (Body::Nack(seq), false)),
            (seq(), any::<[u32; 5]>(), any::<[u64; 8]>()).prop_map(
                |(expected, [last, at, held, repeated, skipped], came)| {
                    let last = Seq(last);
                    let came = Arrivals::from_words(came);
                    let sack = Sack { expected, last, at, held, repeated, skipped, came };
                    (Body::Sack(sack), false)
                }
            ),
            any::<u64>().prop_map(|nonce| (Body::Hello { nonce }, false)),
            any::<u64>().prop_map(|nonce| (Body::Hello { nonce }, false)),
            (any::<u8>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..=ADDRESS)).prop_map(
                |(rail, asks, address)| {
                    (Body::Address { rail, asks, address: Address::new(&address) }, false)
                }
            ),
            (seq(), any::<u32>()).prop_map(|(number, label)| (Body::Raw { number, label }, true)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            from: u16, (body, laden) in body(), load in prop::collection::vec(any::<u8>(), 0..2000),
        ) {
            let load = if laden { &load[..] } else { &[] };
            let datagram = Datagram { from, body };
            let bytes = bytes(&datagram, load);
            prop_assert_eq!(Datagram::decode(&bytes, &key(), HERE), Ok((datagram, load)));
            prop_assert!(bytes.len() <= OVERHEAD + load.len());
            let mut appended = b"others".to_vec();
            datagram.append(&key(), HERE, load, &mut appended);
            prop_assert_eq!(&appended[b"others".len()..], &bytes);
        }

        #[test]
        fn a_bit_that_flips_or_a_byte_that_lacks_is_noticed(
            from: u16, (body, laden) in body(), load in prop::collection::vec(any::<u8>(), 0..200),
            which: prop::sample::Index, bit in 0..8u32, more: u8,
        ) {
            let load = if laden { &load[..] } else { &[] };
            let whole = bytes(&Datagram { from, body }, load);
            let at = which.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            prop_assert!(Datagram::decode(&flipped, &key(), HERE).is_err());
            prop_assert!(Datagram::decode(&whole[..at], &key(), HERE).is_err());
            let longer = [&whole[..], &[more]].concat();
            prop_assert!(Datagram::decode(&longer, &key(), HERE).is_err());
            let elsewhere = Course { to: HERE.to + 1, ..HERE };
            prop_assert_eq!(Datagram::decode(&whole, &key(), elsewhere), Err(DatagramError::Tag));
        }

        #[test]
        fn bytes_of_strangers_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(Datagram::decode(&bytes, &key(), HERE).is_err());
        }

        /// Whoever has the secret may be wrong, too: nothing that is read is out of bounds.
        #[test]
        fn whatever_is_tagged_is_read_within_bounds(
            mut head in any::<[u8; HEAD]>(), rest in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            head[0] = VERSION << 4 | head[0] & 0xf;
            let head = Head::read(&head);
            let head = head.tagged(key().tag(HERE, &head, [&rest, &[]]));
            let bytes = [&head.bytes()[..], &rest].concat();
            match Datagram::decode(&bytes, &key(), HERE) {
                Ok((Datagram { body: Body::Piece { offset, length, .. }, .. }, load)) => {
                    prop_assert!(offset as usize + load.len() <= length as usize);
                }
                Ok((Datagram { body: Body::Data(Data { offset, .. }), .. }, load)) => {
                    prop_assert!(offset + load.len() as u64 <= LONGEST);
                }
                _ => {}
            }
        }

        #[test]
        fn a_serial_number_is_known_by_those_that_were_near(
            number in 0..u64::MAX / 2, other in -(1i64 << 23) + 1..1 << 23,
        ) {
            let near = number.saturating_add_signed(other);
            prop_assert_eq!(Serial::of(number).nearest_to(near), number);
        }
    }

    #[test]
    fn the_head_of_long_messages_has_24_bytes() {
        let part = Part { seq: Seq(1), number: 0, last: true };
        let body = Body::Data(Data { part, serial: Serial::of(1), receive: 2, offset: 3 });
        assert_eq!(bytes(&Datagram { from: 0, body }, b"").len(), 24);
    }
}
