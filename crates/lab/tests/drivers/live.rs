//! The driver of real rails, with the lines of [`lines`](crate::lines) in place of sockets.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use crosstie_protocol::channel::ChannelSpec;
use crosstie_protocol::message::{MessageSpec, Tag};
use crosstie_protocol::record::{self, Entry};
use crosstie_protocol::{NodeSpec, PolicyKind};
use crosstie_units::Time;
use crosstie_wire::bare::{Bare, BareRequest, BareSpec};
use crosstie_wire::datagram::{Body, Datagram};
use crosstie_wire::key::{Course, Key};
use crosstie_wire::rail::{Rail, Train};

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

struct Air {
    lines: Lines,
    now: Time,
    /// Since the beginning, for whom on which rail.
    flying: BTreeMap<(Time, u64), (u16, u8, Vec<u8>)>,
    count: u64,
}

impl Air {
    fn send(&mut self, from: u16, to: u16, rail: u8, datagram: &[u8]) {
        let read = Datagram::decode(datagram, &Key::new(SECRET), Course { to, rail });
        let (Datagram { body, .. }, load) = read.expect("ranks write what can be read");
        let bytes = load.len().max(1) as u64;
        let at = match body {
            Body::Hello { .. } | Body::Welcome { .. } => Some(self.now),
            _ => {
                let what = match body {
                    Body::Data { part, .. } | Body::Piece { part, .. } if part.number > 0 => {
                        Put::More(bytes)
                    }
                    Body::Data { .. } | Body::Piece { .. } | Body::Whole { .. } => {
                        Put::Packet(bytes)
                    }
                    Body::Control { .. } | Body::Void { .. } => Put::Packet(1),
                    _ => Put::Word,
                };
                self.lines.put(self.now, (from.into(), to.into(), rail.into()), what)
            }
        };
        self.count += 1;
        if let Some(at) = at {
            self.flying.insert((at, self.count), (to, rail, datagram.to_vec()));
        }
    }
}

struct Wing {
    air: Arc<Mutex<Air>>,
    rank: u16,
    rail: u8,
}

impl Rail for Wing {
    fn name(&self) -> &str {
        "wing"
    }

    fn longest(&self) -> usize {
        1472
    }

    fn train(&self) -> (usize, usize) {
        (64, 65_000)
    }

    fn send(&mut self, trains: &[Train<'_>]) -> io::Result<usize> {
        let mut air = self.air.lock().unwrap();
        for train in trains {
            let bytes: Vec<u8> = train.bytes.iter().flat_map(|slice| slice.to_vec()).collect();
            let datagrams = bytes.chunks(train.segment);
            datagrams.for_each(|datagram| air.send(self.rank, train.to, self.rail, datagram));
        }
        Ok(trains.len())
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        loop {
            let mut air = self.air.lock().unwrap();
            let now = air.now;
            let here = |&(&(at, _), &(to, rail, _)): &(&(Time, u64), &(u16, u8, Vec<u8>))| {
                at <= now && (to, rail) == (self.rank, self.rail)
            };
            let Some((&key, _)) = air.flying.iter().take_while(|(key, _)| key.0 <= now).find(here)
            else {
                return Ok(count);
            };
            let (.., datagram) = air.flying.remove(&key).expect("it is there");
            drop(air);
            each(&datagram);
            count += 1;
        }
    }

    #[cfg(unix)]
    fn waits_on(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("nobody sleeps here")
    }
}

/// Lets ranks exchange messages; what the machines of their nodes were told and wanted, and until when.
pub fn play(ranks: &Ranks<'_>, lines: Lines, messages: &[Message]) -> (Vec<Entry>, Time) {
    let air = Air { lines, now: Time::ZERO, flying: BTreeMap::new(), count: 0 };
    let air = Arc::new(Mutex::new(air));
    let policies = ranks.policy.policies(ranks.count.into(), ranks.rails).unwrap();
    let mut all: Vec<Bare> = (0..ranks.count)
        .map(|rank| {
            let spec = BareSpec {
                rank,
                size: ranks.count,
                secret: SECRET,
                channel: ranks.channel,
                message: MessageSpec {
                    strict: false,
                    fins: false,
                    ..MessageSpec::new(ranks.eager)
                },
                patience: None,
                ahead: Time::ZERO,
            };
            let wing = |rail| Box::new(Wing { air: Arc::clone(&air), rank, rail }) as Box<dyn Rail>;
            let wings = (0..ranks.rails as u8).map(wing).collect();
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
            let arrival = air_now.flying.keys().next().map(|key| key.0);
            let program = next.peek().map(|message| message.at);
            let deadlines = all.iter().filter_map(Bare::deadline);
            let Some(now) = deadlines.chain(arrival).chain(program).min() else { break };
            air_now.now = air_now.now.max(now);
            let now = air_now.now;
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
    let end = air.lock().unwrap().now;
    (entries, end)
}
