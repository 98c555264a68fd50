//! Envelopes as bytes: what ranks say to each other besides the data of long messages, and before
//! those of short ones.
//!
//! In network byte order: the kind, whether it has a number, the context, a byte of nothing, the
//! number, and three words of its own.

use crosstie_protocol::message::{Body, Envelope, Tag};

/// Bytes of an envelope, before those of a message in it.
pub const ENVELOPE: usize = 20;

const EAGER: u8 = 0;
const RTS: u8 = 1;
const CTS: u8 = 2;
const DATA: u8 = 3;
const FIN: u8 = 4;
const CREDIT: u8 = 5;
const PROBE: u8 = 6;
const LEFT: u8 = 7;

/// Which messages are matched with each other: those of the program, or those of its collective
/// operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Sends and receives.
    Program,
    /// Collective operations.
    Collective,
}

impl Context {
    /// All there are.
    pub const ALL: [Context; 2] = [Context::Program, Context::Collective];
}

/// Writes an envelope. Lengths beyond 32 bits are cut off: whoever sends refuses longer messages.
pub fn encode(context: Context, envelope: &Envelope) -> [u8; ENVELOPE] {
    let (kind, words) = match envelope.body {
        Body::Eager { tag, bytes } => (EAGER, [tag.0, bytes as u32, 0]),
        Body::Rts { tag, bytes, send } => (RTS, [tag.0, bytes as u32, send]),
        Body::Cts { send, receive } => (CTS, [send, receive, 0]),
        Body::Data { receive } => (DATA, [receive, 0, 0]),
        Body::Fin { receive, of } => (FIN, [receive, of, 0]),
        Body::Credit { bytes } => (CREDIT, [bytes as u32, 0, 0]),
        Body::Probe => (PROBE, [0; 3]),
        Body::Left { failed } => (LEFT, [failed.into(), 0, 0]),
    };
    let mut encoded = [0; ENVELOPE];
    encoded[0] = kind;
    encoded[1] = envelope.number.is_some().into();
    encoded[2] = context as u8;
    let number = envelope.number.unwrap_or(0);
    let all = [number, words[0], words[1], words[2]];
    for (place, word) in encoded[4..].chunks_exact_mut(4).zip(all) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    encoded
}

/// Reads an envelope, and gives what is behind it; `None` if it is none.
pub fn decode(bytes: &[u8]) -> Option<(Context, Envelope, &[u8])> {
    let (front, rest) = bytes.split_first_chunk::<ENVELOPE>()?;
    let word = |at: usize| {
        let at = 4 + 4 * at;
        u32::from_be_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]])
    };
    let [a, b, c] = [word(1), word(2), word(3)];
    let body = match front[0] {
        EAGER => Body::Eager { tag: Tag(a), bytes: b.into() },
        RTS => Body::Rts { tag: Tag(a), bytes: b.into(), send: c },
        CTS => Body::Cts { send: a, receive: b },
        DATA => Body::Data { receive: a },
        FIN => Body::Fin { receive: a, of: b },
        CREDIT => Body::Credit { bytes: a.into() },
        PROBE => Body::Probe,
        LEFT if a <= 1 => Body::Left { failed: a == 1 },
        _ => return None,
    };
    let number = match front[1] {
        0 => None,
        1 => Some(word(0)),
        _ => return None,
    };
    let context = *Context::ALL.get(usize::from(front[2]))?;
    Some((context, Envelope { number, body }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body() -> impl Strategy<Value = Body> {
        let length = 0..=u64::from(u32::MAX);
        prop_oneof![
            (any::<u32>(), length.clone())
                .prop_map(|(tag, bytes)| Body::Eager { tag: Tag(tag), bytes }),
            (any::<u32>(), length.clone(), any::<u32>()).prop_map(|(tag, bytes, send)| Body::Rts {
                tag: Tag(tag),
                bytes,
                send
            }),
            any::<[u32; 2]>().prop_map(|[send, receive]| Body::Cts { send, receive }),
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
            context in prop::sample::select(&Context::ALL[..]), number: Option<u32>, body in body(), rest: Vec<u8>,
        ) {
            let envelope = Envelope { number, body };
            let bytes = [&encode(context, &envelope)[..], &rest].concat();
            prop_assert_eq!(decode(&bytes), Some((context, envelope, &rest[..])));
        }

        #[test]
        fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some((context, envelope, rest)) = decode(&bytes) {
                // All but what means nothing is written again.
                let again = encode(context, &envelope);
                let again = [&again[..], rest].concat();
                prop_assert_eq!(decode(&again), Some((context, envelope, rest)));
            }
        }
    }
}
