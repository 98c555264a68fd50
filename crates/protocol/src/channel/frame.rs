//! What goes over the wire, as a value and as bytes.
//!
//! In network byte order:
//!
//! | bytes | are |
//! |---|---|
//! | 0, 1 | `ct`, which frames of others hardly begin with |
//! | 2 | the version, 1 |
//! | 3 | the kind: 0 data, 1 Pack, 2 Nack, 3 Sack |
//! | 4 to 7 | the number of the packet; 0 in a Pack and a Nack; in a Sack that of the packet that came last |
//! | 8 to 11 | the acknowledgement number |
//! | 12 to 15 | the CRC-32 of all other bytes |
//! | from 16 | what a data packet carries; what a Sack says besides |
//!
//! A Sack says in four bytes each when the last packet came, for how long it has been held since,
//! how many packets have come again, and how many after the one expected it says nothing of; and
//! then in words of eight bytes which have come of the next 512, as many words as are needed: the
//! last is not 0.
//!
//! Where a frame ends is known to the medium.

use super::{Arrivals, Seq};

/// Bytes before what a data packet carries.
pub const HEADER: usize = 16;

/// The most bytes of a frame.
pub const LONGEST: usize = 65_535;

const OURS: [u8; 3] = [b'c', b't', 1];
const DATA: u8 = 0;
const PACK: u8 = 1;
const NACK: u8 = 2;
const SACK: u8 = 3;

/// A frame between the two ends of a channel. Acknowledgement numbers are cumulative: the number of
/// the packet that is expected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<T> {
    /// A packet.
    Data {
        /// Its number.
        seq: Seq,
        /// Acknowledges packets that go the other way.
        ack: Seq,
        /// What it carries.
        item: T,
    },
    /// Pack: everything before this number has arrived.
    Pack(Seq),
    /// Nack: everything before this number has arrived, and after it something else.
    Nack(Seq),
    /// Sack: what has arrived, one by one.
    Sack(Sack),
}

/// What a receiver has, as it tells a sender that sends only again what is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sack {
    /// Everything before this number has arrived.
    pub expected: Seq,
    /// The packet that arrived last.
    pub last: Seq,
    /// When it did, by the clock of this end in nanoseconds; modulo 2^32.
    pub at: u32,
    /// For how many nanoseconds it has been held since; the most there are also if for longer.
    pub held: u32,
    /// How many packets have arrived that had arrived before; modulo 2^32.
    pub repeated: u32,
    /// What has arrived, counted from this number of packets after the expected one, which has
    /// not.
    pub skipped: u32,
    /// See `skipped`.
    pub came: Arrivals,
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It is cut off, or far too long.
    #[error("found a frame of {found} bytes, expected {HEADER} to {LONGEST}")]
    Length {
        /// Its bytes.
        found: usize,
    },
    /// It begins otherwise.
    #[error("found a frame that begins with {found:02x?}, expected {OURS:02x?}")]
    NotOurs {
        /// Its first bytes.
        found: [u8; 3],
    },
    /// Something has changed on the way.
    #[error("found a frame with checksum {found:08x}, expected {expected:08x}")]
    Checksum {
        /// What it says.
        found: u32,
        /// What its bytes say.
        expected: u32,
    },
    /// It is whole, and yet of no kind that there is.
    #[error("found a frame of kind {found}, expected one of 0 to 3")]
    Kind {
        /// Its kind.
        found: u8,
    },
    /// A control packet carries something.
    #[error("found a control packet with a number or a load of its own, expected none")]
    Laden,
    /// A Sack says more or less than it can.
    #[error(
        "found a Sack of {found} bytes that does not say which packets have come, expected sixteen bytes and up to eight words, \
         of which the first has no first bit and the last some bit"
    )]
    Sack {
        /// Its bytes, without those before what it carries.
        found: usize,
    },
}

impl<T> Frame<T> {
    /// What it carries, if it is data.
    pub fn item(&self) -> Option<&T> {
        match self {
            Frame::Data { item, .. } => Some(item),
            Frame::Pack(_) | Frame::Nack(_) | Frame::Sack(_) => None,
        }
    }

    /// The same frame with something else in it.
    pub fn map<U>(self, other: impl FnOnce(T) -> U) -> Frame<U> {
        match self {
            Frame::Data { seq, ack, item } => Frame::Data { seq, ack, item: other(item) },
            Frame::Pack(ack) => Frame::Pack(ack),
            Frame::Nack(ack) => Frame::Nack(ack),
            Frame::Sack(sack) => Frame::Sack(sack),
        }
    }
}

/// The most bytes that a Sack says besides.
const SAID: usize = 16 + Arrivals::COUNT as usize / 8;

impl Sack {
    /// What it says besides: its bytes, and how many they are.
    fn said(&self) -> ([u8; SAID], usize) {
        let mut said = [0; SAID];
        let numbers = [self.at, self.held, self.repeated, self.skipped];
        for (bytes, number) in said.chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&number.to_be_bytes());
        }
        for (bytes, word) in said[16..].chunks_exact_mut(8).zip(self.came.words()) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let needed = self.came.last().map_or(0, |last| 1 + last as usize / 64);
        (said, 16 + 8 * needed)
    }

    /// Reads what it says besides.
    fn read(expected: Seq, last: Seq, said: &[u8]) -> Result<Sack, FrameError> {
        let wrong = FrameError::Sack { found: said.len() };
        let (numbers, said) = said.split_first_chunk::<16>().ok_or(wrong)?;
        let &[a0, a1, a2, a3, h0, h1, h2, h3, r0, r1, r2, r3, s0, s1, s2, s3] = numbers;
        let (bytes, rest) = said.as_chunks::<8>();
        let mut words = Arrivals::default().words();
        for (place, &bytes) in bytes.iter().enumerate() {
            *words.get_mut(place).ok_or(wrong)? = u64::from_be_bytes(bytes);
        }
        let came = Arrivals::from_words(words);
        let needed = came.last().map_or(0, |last| 1 + last as usize / 64);
        let skipped = u32::from_be_bytes([s0, s1, s2, s3]);
        if !rest.is_empty() || needed != bytes.len() || skipped == 0 && came.has(0) {
            return Err(wrong);
        }
        let at = u32::from_be_bytes([a0, a1, a2, a3]);
        let held = u32::from_be_bytes([h0, h1, h2, h3]);
        let repeated = u32::from_be_bytes([r0, r1, r2, r3]);
        Ok(Sack { expected, last, at, held, repeated, skipped, came })
    }
}

impl<T: AsRef<[u8]>> Frame<T> {
    /// The first bytes; what it carries, or says besides, follows.
    pub fn header(&self) -> [u8; HEADER] {
        let (kind, seq, ack) = match self {
            Frame::Data { seq, ack, .. } => (DATA, *seq, *ack),
            Frame::Pack(ack) => (PACK, Seq(0), *ack),
            Frame::Nack(ack) => (NACK, Seq(0), *ack),
            Frame::Sack(sack) => (SACK, sack.last, sack.expected),
        };
        let mut header = [0; HEADER];
        header[..3].copy_from_slice(&OURS);
        header[3] = kind;
        header[4..8].copy_from_slice(&seq.0.to_be_bytes());
        header[8..12].copy_from_slice(&ack.0.to_be_bytes());
        let sum = self.with_load(|load| checksum(&header[..12], load));
        header[12..].copy_from_slice(&sum.to_be_bytes());
        header
    }

    /// What follows the first bytes.
    fn with_load<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Frame::Data { item, .. } => then(item.as_ref()),
            Frame::Pack(_) | Frame::Nack(_) => then(&[]),
            Frame::Sack(sack) => {
                let (said, length) = sack.said();
                then(&said[..length])
            }
        }
    }

    /// Appends the whole frame to a buffer. One that is longer than [`LONGEST`] will not be read.
    pub fn encode(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.header());
        self.with_load(|load| buffer.extend_from_slice(load));
    }
}

impl<'a> Frame<&'a [u8]> {
    /// Reads a frame, whatever the bytes are.
    pub fn decode(bytes: &'a [u8]) -> Result<Frame<&'a [u8]>, FrameError> {
        let (header, item) = match bytes.split_first_chunk::<HEADER>() {
            Some(parts) if bytes.len() <= LONGEST => parts,
            _ => return Err(FrameError::Length { found: bytes.len() }),
        };
        let [o0, o1, o2, kind, s0, s1, s2, s3, a0, a1, a2, a3, c0, c1, c2, c3] = *header;
        if [o0, o1, o2] != OURS {
            return Err(FrameError::NotOurs { found: [o0, o1, o2] });
        }
        let found = u32::from_be_bytes([c0, c1, c2, c3]);
        let expected = checksum(&header[..12], item);
        if found != expected {
            return Err(FrameError::Checksum { found, expected });
        }
        let seq = Seq(u32::from_be_bytes([s0, s1, s2, s3]));
        let ack = Seq(u32::from_be_bytes([a0, a1, a2, a3]));
        match kind {
            DATA => Ok(Frame::Data { seq, ack, item }),
            PACK | NACK if seq != Seq(0) || !item.is_empty() => Err(FrameError::Laden),
            PACK => Ok(Frame::Pack(ack)),
            NACK => Ok(Frame::Nack(ack)),
            SACK => Sack::read(ack, seq, item).map(Frame::Sack),
            found => Err(FrameError::Kind { found }),
        }
    }
}

fn checksum(header: &[u8], load: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(header);
    sum.update(load);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any frame at all.
    fn frames() -> impl Strategy<Value = Frame<Vec<u8>>> {
        let seq = || any::<u32>().prop_map(Seq);
        let load = prop::collection::vec(any::<u8>(), 0..100);
        prop_oneof![
            (seq(), seq(), load).prop_map(|(seq, ack, item)| Frame::Data { seq, ack, item }),
            seq().prop_map(Frame::Pack),
            seq().prop_map(Frame::Nack),
            (seq(), seq(), any::<[u32; 4]>(), arrivals()).prop_map(
                |(expected, last, numbers, came)| {
                    let [at, held, repeated, skipped] = numbers;
                    Frame::Sack(Sack { expected, last, at, held, repeated, skipped, came })
                }
            ),
        ]
    }

    /// Any packets after the one expected.
    fn arrivals() -> impl Strategy<Value = Arrivals> {
        prop::collection::vec(1u32..512, 0..20).prop_map(|numbers| {
            let mut came = Arrivals::default();
            numbers.into_iter().for_each(|number| came.insert(number));
            came
        })
    }

    fn bytes(frame: &Frame<Vec<u8>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        bytes
    }

    /// Bytes with their checksum put right, as somebody would who makes frames up.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = checksum(&bytes[..12], &bytes[HEADER..]);
        bytes[12..HEADER].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn the_bytes_are_those_of_the_description() {
        let frame = Frame::Data { seq: Seq(0x0102_0304), ack: Seq(5), item: b"load".to_vec() };
        let bytes = bytes(&frame);
        assert_eq!(bytes[..12], [b'c', b't', 1, 0, 1, 2, 3, 4, 0, 0, 0, 5]);
        assert_eq!(bytes[12..16], 0x54ad_8749_u32.to_be_bytes());
        assert_eq!(bytes[16..], *b"load");
    }

    #[test]
    fn what_is_wrong_is_told() {
        let data = bytes(&Frame::Data { seq: Seq(7), ack: Seq(9), item: vec![1, 2, 3] });
        let tell = |bytes: &[u8]| Frame::decode(bytes).unwrap_err().to_string();
        assert_eq!(tell(&data[..15]), "found a frame of 15 bytes, expected 16 to 65535");
        assert_eq!(tell(&[0; 65_536]), "found a frame of 65536 bytes, expected 16 to 65535");
        let begins = "found a frame that begins with [00, 00, 00], expected [63, 74, 01]";
        assert_eq!(tell(&[0; 60]), begins);
        let cut = Frame::decode(&data[..data.len() - 1]);
        assert!(matches!(cut, Err(FrameError::Checksum { .. })), "{cut:?}");
        let with = |place: usize, value: u8| {
            let mut bytes = data.clone();
            bytes[place] = value;
            sealed(bytes)
        };
        assert_eq!(Frame::decode(&with(3, 4)), Err(FrameError::Kind { found: 4 }));
        assert_eq!(Frame::decode(&with(3, SACK)), Err(FrameError::Sack { found: 3 }));
        assert_eq!(Frame::decode(&with(3, PACK)), Err(FrameError::Laden));
        assert_eq!(Frame::decode(&with(2, 2)), Err(FrameError::NotOurs { found: [b'c', b't', 2] }));
    }

    #[test]
    fn a_sack_is_as_short_as_it_can_be_and_says_nothing_in_two_ways() {
        let sack = |numbers: &[u32]| {
            let (expected, last, at, held, repeated) = (Seq(9), Seq(0x0102_0304), 5, 6, 7);
            let (skipped, came) = (0, Arrivals::default());
            let mut sack = Sack { expected, last, at, held, repeated, skipped, came };
            numbers.iter().for_each(|&number| sack.came.insert(number));
            bytes(&Frame::Sack(sack))
        };
        assert_eq!(sack(&[])[..12], [b'c', b't', 1, 3, 1, 2, 3, 4, 0, 0, 0, 9]);
        assert_eq!(sack(&[])[16..], [0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 0]);
        assert_eq!(sack(&[1, 9])[32..], [0, 0, 0, 0, 0, 0, 2, 2]);
        assert_eq!([sack(&[63]), sack(&[64]), sack(&[511])].map(|bytes| bytes.len()), [40, 48, 96]);
        for wrong in [
            [sack(&[9]), vec![0]].concat(),
            [sack(&[9]), vec![0; 8]].concat(),
            [sack(&[511]), vec![1; 8]].concat(),
            sack(&[0, 9]),
            sack(&[])[..31].to_vec(),
        ] {
            let found = wrong.len() - HEADER;
            assert_eq!(Frame::decode(&sealed(wrong)), Err(FrameError::Sack { found }));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(frame in frames()) {
            let bytes = bytes(&frame);
            prop_assert_eq!(Frame::decode(&bytes).map(|frame| frame.map(<[u8]>::to_vec)), Ok(frame));
        }

        #[test]
        fn flipped_bits_are_noticed(
            frame in frames(), flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            let right = bytes(&frame);
            let mut wrong = right.clone();
            for flip in flips {
                let bit = flip.index(8 * right.len());
                wrong[bit / 8] ^= 1 << (bit % 8);
            }
            prop_assert_eq!(Frame::decode(&wrong).is_err(), wrong != right);
        }

        #[test]
        fn a_cut_frame_is_none(frame in frames(), end: prop::sample::Index) {
            let bytes = bytes(&frame);
            prop_assert!(Frame::decode(&bytes[..end.index(bytes.len())]).is_err());
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_mean_one_frame_only(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80), seal: bool,
        ) {
            if seal && bytes.len() >= HEADER {
                bytes[..3].copy_from_slice(&OURS);
                bytes[3] %= 5;
                bytes = sealed(bytes);
            }
            if let Ok(frame) = Frame::decode(&bytes) {
                let mut again = Vec::new();
                frame.encode(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
