//! Envelopes as bytes: what ranks say to each other besides the data of long messages, and before
//! those of short ones.
//!
//! | bytes | are, in network byte order |
//! |---|---|
//! | 0 | from the lowest bit: kind (4), class (2), 1 if there is a number, bit 40 of a length |
//! | 1 | bits 32 to 39 of a length |
//! | 2, 3 | the number of the context |
//! | 4 to 7 | the number of the envelope |
//! | 8 to 19 | three words of its own |

use crosstie_protocol::Headers;
use crosstie_protocol::message::{Body, Class, Envelope, Tag};

/// Bytes of an envelope, before those of a message in it.
pub const ENVELOPE: usize = Headers::CODEC.envelope as usize;

const EAGER: u8 = 0;
const RTS: u8 = 1;
const CTS: u8 = 2;
const DATA: u8 = 3;
const FIN: u8 = 4;
const CREDIT: u8 = 5;
const PROBE: u8 = 6;
const LEFT: u8 = 7;
const MATCHED: u8 = 8;
const REFUSED: u8 = 9;

const CLASS: u32 = 4;
const NUMBERED: u8 = 1 << 6;
const HIGHEST: u32 = 7;

/// That no send waits for an eager message to be matched.
const NO_SEND: u32 = u32::MAX;

/// Writes an envelope. Lengths beyond 41 bits are cut off: the sender refuses longer messages.
pub fn encode(envelope: &Envelope) -> [u8; ENVELOPE] {
    let &Envelope { class, number, body } = envelope;
    let (kind, context, bytes, words) = match body {
        Body::Eager { context, tag, bytes, send } => {
            (EAGER, context, bytes, [tag.0, bytes as u32, send.unwrap_or(NO_SEND)])
        }
        Body::Rts { context, tag, bytes, send } => {
            (RTS, context, bytes, [tag.0, bytes as u32, send])
        }
        Body::Cts { send, receive } => (CTS, 0, 0, [send, receive, 0]),
        Body::Matched { send } => (MATCHED, 0, 0, [send, 0, 0]),
        Body::Refused { send } => (REFUSED, 0, 0, [send, 0, 0]),
        Body::Data { receive } => (DATA, 0, 0, [receive, 0, 0]),
        Body::Fin { receive, of } => (FIN, 0, 0, [receive, of, 0]),
        Body::Credit { bytes } => (CREDIT, 0, bytes, [bytes as u32, 0, 0]),
        Body::Probe => (PROBE, 0, 0, [0; 3]),
        Body::Left { failed } => (LEFT, 0, 0, [failed.into(), 0, 0]),
    };
    let numbered = if number.is_some() { NUMBERED } else { 0 };
    let first = kind | (class as u8) << CLASS | numbered | ((bytes >> 40) as u8) << HIGHEST;
    let high = (bytes >> 32) as u8;
    let front = u32::from_be_bytes([first, high, (context >> 8) as u8, context as u8]);
    let all = [front, number.unwrap_or(0), words[0], words[1], words[2]];
    let mut encoded = [0; ENVELOPE];
    for (place, word) in encoded.chunks_exact_mut(4).zip(all) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    encoded
}

/// Reads an envelope, and gives what is behind it; `None` if it is none.
#[inline]
pub fn decode(bytes: &[u8]) -> Option<(Envelope, &[u8])> {
    let (front, rest) = bytes.split_first_chunk::<ENVELOPE>()?;
    let word = |at: usize| {
        let at = 4 * at;
        u32::from_be_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]])
    };
    let [a, b, c] = [word(2), word(3), word(4)];
    let context = word(0) as u16;
    let high = u64::from(front[0] >> HIGHEST) << 8 | u64::from(front[1]);
    let bytes = |low: u32| high << 32 | u64::from(low);
    let body = match front[0] & 0xf {
        EAGER => {
            let send = (c != NO_SEND).then_some(c);
            Body::Eager { context, tag: Tag(a), bytes: bytes(b), send }
        }
        RTS => Body::Rts { context, tag: Tag(a), bytes: bytes(b), send: c },
        CTS => Body::Cts { send: a, receive: b },
        DATA => Body::Data { receive: a },
        FIN => Body::Fin { receive: a, of: b },
        CREDIT => Body::Credit { bytes: bytes(a) },
        PROBE => Body::Probe,
        LEFT if a <= 1 => Body::Left { failed: a == 1 },
        MATCHED => Body::Matched { send: a },
        REFUSED => Body::Refused { send: a },
        _ => return None,
    };
    let number = (front[0] & NUMBERED != 0).then_some(word(1));
    let class = *Class::ALL.get(usize::from(front[0] >> CLASS & 3))?;
    Some((Envelope { class, number, body }, rest))
}

/// Returns true if an envelope has a short message in it.
pub fn is_message(bytes: &[u8]) -> bool {
    matches!(decode(bytes), Some((Envelope { body: Body::Eager { .. }, .. }, _)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body() -> impl Strategy<Value = Body> {
        let length = 0..=1u64 << 40;
        let send = any::<u32>().prop_map(|send| (send != NO_SEND).then_some(send));
        prop_oneof![
            (any::<u16>(), any::<u32>(), length.clone(), send).prop_map(
                |(context, tag, bytes, send)| Body::Eager { context, tag: Tag(tag), bytes, send }
            ),
            (any::<u16>(), any::<u32>(), length.clone(), any::<u32>()).prop_map(
                |(context, tag, bytes, send)| Body::Rts { context, tag: Tag(tag), bytes, send }
            ),
            any::<[u32; 2]>().prop_map(|[send, receive]| Body::Cts { send, receive }),
            any::<u32>().prop_map(|send| Body::Matched { send }),
            any::<u32>().prop_map(|send| Body::Refused { send }),
            any::<u32>().prop_map(|receive| Body::Data { receive }),
            any::<[u32; 2]>().prop_map(|[receive, of]| Body::Fin { receive, of }),
            length.prop_map(|bytes| Body::Credit { bytes }),
            Just(Body::Probe),
            any::<bool>().prop_map(|failed| Body::Left { failed }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            class in prop::sample::select(&Class::ALL[..]), number: Option<u32>, body in body(), rest: Vec<u8>,
        ) {
            let envelope = Envelope { class, number, body };
            let bytes = [&encode(&envelope)[..], &rest].concat();
            prop_assert_eq!(decode(&bytes), Some((envelope, &rest[..])));
        }

        #[test]
        fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some((envelope, rest)) = decode(&bytes) {
                // All but what means nothing is written again.
                let again = encode(&envelope);
                let again = [&again[..], rest].concat();
                prop_assert_eq!(decode(&again), Some((envelope, rest)));
            }
        }
    }
}
