//! The driver of real rails, with the lines of [`lines`](crate::lines) in place of sockets.

use std::sync::{Arc, Mutex};

use crosstie_protocol::channel::ChannelSpec;
use crosstie_protocol::message::Tag;
use crosstie_protocol::record::{self, Entry};
use crosstie_protocol::{NodeSpec, PolicyKind, Profile};
use crosstie_units::Time;
use crosstie_wire::bare::wing::{Air, Flights, wings};
use crosstie_wire::bare::{Bare, BareRequest, BareSpec};
use crosstie_wire::datagram::{Body, Data, Datagram};
use crosstie_wire::key::{Course, Key};

use crate::lines::{Lines, Put};

/// A message that a program sends at a time.
#[derive(Debug, Clone)]
pub struct Message {
    pub at: Time,
    pub from: u16,
    pub to: u16,
    pub tag: u32,
    pub bytes: Vec<u8>,
}

/// What ranks are made of.
pub struct Ranks<'a> {
    pub count: u16,
    pub rails: u32,
    pub policy: PolicyKind,
    pub channel: ChannelSpec,
    pub eager: u64,
    pub node: &'a dyn Fn(u16) -> NodeSpec,
}

const SECRET: [u8; 16] = [3; 16];

struct Wires {
    lines: Lines,
    flights: Flights,
}

impl Air for Wires {
    fn flights(&mut self) -> &mut Flights {
        &mut self.flights
    }

    fn send(&mut self, from: u16, to: u16, rail: u8, datagram: &[u8]) {
        let read = Datagram::decode(datagram, &Key::new(SECRET), Course { to, rail });
        let (Datagram { body, .. }, load) = read.expect("ranks write what can be read");
        let bytes = load.len().max(1) as u64;
        let at = match body {
            Body::Hello { .. } | Body::Welcome { .. } => Some(self.flights.now),
            _ => {
                let what = match body {
                    Body::Data(Data { part, .. }) | Body::Piece { part, .. } if part.number > 0 => {
                        Put::More(bytes)
                    }
                    Body::Data(_) | Body::Piece { .. } | Body::Whole { .. } => Put::Packet(bytes),
                    Body::Void { .. } => Put::Packet(1),
                    _ => Put::Word,
                };
                self.lines.put(self.flights.now, (from.into(), to.into(), rail.into()), what)
            }
        };
        if let Some(at) = at {
            self.flights.put(at, to, rail, datagram.to_vec());
        }
    }
}

/// Lets ranks exchange messages; what the machines of their nodes were told and wanted, and until
/// when.
pub fn play(ranks: &Ranks<'_>, lines: Lines, messages: &[Message]) -> (Vec<Entry>, Time) {
    let air = Arc::new(Mutex::new(Wires { lines, flights: Flights::default() }));
    let policies = ranks.policy.policies(ranks.count.into(), ranks.rails).unwrap();
    let mut all: Vec<Bare> = (0..ranks.count)
        .map(|rank| {
            let spec = BareSpec {
                rank,
                size: ranks.count,
                secret: SECRET,
                profile: Profile {
                    channel: Some(ranks.channel),
                    ahead: Time::ZERO,
                    ..Profile::live().with_eager(ranks.eager).patient()
                },
            };
            let wings = wings(&air, rank, ranks.rails as u8);
            Bare::with_node(spec, (ranks.node)(rank), &policies, wings).unwrap()
        })
        .collect();
    let run = || {
        let mut requests: Vec<(usize, BareRequest, Option<&Message>)> = Vec::new();
        for message in messages {
            let (to, room) = (usize::from(message.to), message.bytes.len());
            let (from, tag) = (Some(message.from), Some(Tag(message.tag)));
            let request = all[to].receive(Time::ZERO, from, tag, room);
            requests.push((to, request, Some(message)));
        }
        all.iter_mut().for_each(|rank| rank.greet_all(Time::ZERO));
        let mut next = messages.iter().peekable();
        loop {
            let mut air_now = air.lock().unwrap();
            let arrival = air_now.flights.next();
            let program = next.peek().map(|message| message.at);
            let deadlines = all.iter().filter_map(Bare::deadline);
            let Some(now) = deadlines.chain(arrival).chain(program).min() else { break };
            let now = air_now.flights.now.max(now);
            air_now.flights.now = now;
            drop(air_now);
            if let Some(message) = next.next_if(|message| message.at <= now) {
                let (from, tag) = (usize::from(message.from), Tag(message.tag));
                let request = all[from].send(now, message.to, tag, &message.bytes);
                requests.push((from, request, None));
            } else {
                all.iter_mut().for_each(|rank| _ = rank.progress(now));
            }
        }
        for (rank, request, message) in requests {
            let outcome = all[rank].outcome(request).expect("everything is done");
            let (.., bytes) = outcome.expect("everybody is there");
            assert!(message.is_none_or(|message| message.bytes == bytes), "a message has changed");
        }
    };
    let ((), entries) = record::record(run);
    let end = air.lock().unwrap().flights.now;
    (entries, end)
}
