//! A rank whose only peer knows the secret and keeps to no rule.
//!
//! It must not make the rank panic, write beside the memory of a message, or keep more than a
//! bounded number of bytes for it.

use crosstie_protocol::channel::{Arrivals, Sack, Seq};
use crosstie_protocol::message::{self, Class, Envelope, Tag};
use crosstie_units::Time;

use super::Decisions;
use super::air::{self, Air};
use super::pair::{SECRET, choose, ms, rank};
use super::parsers::seal;
use crate::bare::BareRequest;
use crate::datagram::{Body, Data, Datagram, LONGEST, Part, Serial};
use crate::envelope;
use crate::key::{Course, Key};

const MOST_HAPPENINGS: usize = 400;

/// Runs a rank against what the bytes send it.
pub fn peer(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let rails = 1 + decisions.one_of(2);
    let chosen = choose(&mut decisions, rails);
    let air = Air::new(rails);
    let mut rank = rank(chosen, 0, &air, rails);
    let key = Key::new(SECRET);
    air::lock(&air).bury(1);
    let mut requests: Vec<BareRequest> = Vec::new();
    for rail in 0..rails as u8 {
        let hello = Datagram { from: 1, body: Body::Hello { nonce: 5 } };
        let hello = hello.encode(&key, Course { to: 0, rail }, &[]);
        air::lock(&air).put(0, rail, hello.as_bytes().to_vec(), Time::ZERO);
    }
    for _ in 0..MOST_HAPPENINGS {
        if decisions.is_empty() {
            break;
        }
        let now = air::lock(&air).flights.now;
        match decisions.byte() {
            0..24 => {
                let size = usize::from(decisions.byte()) * usize::from(decisions.byte());
                requests.push(rank.send(now, 1, tag(&mut decisions), &vec![7; size]));
            }
            24..48 => {
                let size = usize::from(decisions.byte()) * usize::from(decisions.byte());
                let tag = Some(tag(&mut decisions)).filter(|tag| tag.0 < 2);
                requests.push(rank.receive(now, Some(1), tag, size));
            }
            48..64 => air::lock(&air).flights.now = now + ms(1 + u64::from(decisions.byte())),
            choice => {
                let course = Course { to: 0, rail: decisions.one_of(rails) as u8 };
                let datagram = match choice {
                    64..80 => seal(decisions.bytes(64), &key, course),
                    _ => {
                        let (body, load) = body(&mut decisions);
                        let front = Datagram { from: 1, body }.encode(&key, course, &load);
                        [front.as_bytes(), &load].concat()
                    }
                };
                air::lock(&air).put(0, course.rail, datagram, Time::ZERO);
            }
        }
        let mut air = air::lock(&air);
        air.flights.now = air.flights.now + Time::from_ns(20_000);
        let now = air.flights.now;
        drop(air);
        rank.progress(now);
        requests.retain(|&request| rank.outcome(request).is_none());
        let most = rank.most_kept();
        assert!(rank.kept() <= most, "{} bytes are kept, not {most}", rank.kept());
    }
}

fn tag(decisions: &mut Decisions<'_>) -> Tag {
    Tag(decisions.one_of(3) as u32)
}

/// Something that a datagram can say, and what it carries.
fn body(decisions: &mut Decisions<'_>) -> (Body, Vec<u8>) {
    let (kind, seq) = (decisions.one_of(12), Seq(decisions.number()));
    let number = decisions.number();
    let serial = Serial::of(number.into());
    let part = |decisions: &mut Decisions<'_>| {
        let byte = decisions.byte();
        Part { seq, number: byte & 0x3f, last: byte & 0x80 != 0 }
    };
    let load = |decisions: &mut Decisions<'_>| match decisions.byte() {
        short @ 0..200 => vec![short; usize::from(short)],
        long => vec![long; usize::from(long - 199) * 25],
    };
    match kind {
        0 | 1 => {
            let (part, receive, offset) = (part(decisions), decisions.number(), decisions.number());
            // Small numbers, and those at the other end.
            let offset = if kind == 0 { offset.into() } else { LONGEST - u64::from(offset) };
            (Body::Data(Data { part, serial, receive, offset }), load(decisions))
        }
        2 | 4 => {
            let length = decisions.number();
            let (part, offset) = (part(decisions), decisions.number());
            (Body::Piece { part, serial, offset, length }, load(decisions))
        }
        3 => (Body::Void { seq }, Vec::new()),
        5 => (Body::Pack(seq), Vec::new()),
        6 => (Body::Nack(seq), Vec::new()),
        7 => {
            let mut came = Arrivals::default();
            (0..decisions.one_of(9))
                .for_each(|_| came.insert(decisions.number() % Arrivals::COUNT));
            let [last, at, held, repeated] = [(); 4].map(|()| decisions.number());
            let (expected, last) = (seq, Seq(last));
            let skipped = if decisions.byte() > 64 { 0 } else { decisions.number() };
            let sack = Sack { expected, last, at, held, repeated, skipped, came };
            (Body::Sack(sack), Vec::new())
        }
        8 => (Body::Welcome { nonce: decisions.number().into() }, Vec::new()),
        _ => {
            let whole = |decisions: &mut Decisions<'_>| {
                let body = words(decisions);
                let numbered = decisions.byte() > 64;
                let class = Class::ALL[decisions.one_of(Class::ALL.len())];
                let envelope = Envelope { class, number: Some(number).filter(|_| numbered), body };
                let load = load(decisions);
                [&envelope::encode(&envelope)[..], &load].concat()
            };
            let load = whole(decisions);
            (Body::Whole { seq, ack: Seq(decisions.number()), serial }, load)
        }
    }
}

/// Something that an envelope can say.
pub(super) fn words(decisions: &mut Decisions<'_>) -> message::Body {
    let [a, b, c] = [(); 3].map(|()| decisions.number());
    let context = u16::from(c % 5 == 0);
    match decisions.one_of(9) {
        0 => {
            let send = (c % 4 == 0).then_some(c);
            message::Body::Eager { context, tag: Tag(a % 3), bytes: b.into(), send }
        }
        1 => message::Body::Rts { context, tag: Tag(a % 3), bytes: b.into(), send: c },
        7 => message::Body::Matched { send: a },
        8 => message::Body::Refused { send: a },
        2 => message::Body::Cts { send: a, receive: b },
        3 => message::Body::Data { receive: a },
        4 => message::Body::Fin { receive: a, of: b },
        5 => message::Body::Credit { bytes: a.into() },
        _ => message::Body::Probe,
    }
}
