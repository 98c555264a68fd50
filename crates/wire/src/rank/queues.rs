//! The layer of transmit queues: what waits in front of each NIC, as datagrams in trains, and what
//! NICs have received.
//!
//! Above it is the layer of links, below it the drivers of rails.

use std::collections::VecDeque;
use std::io;

use crosstie_protocol::channel::Seq;
use crosstie_units::Time;

use super::rails::{Chunk, Item};
use crate::datagram::{Body, Datagram, Opened};
use crate::key::{Course, Key};
use crate::rail::{self, Rail, Train};

/// A packet in front of a NIC.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub to: u16,
    pub seq: Seq,
    pub ack: Seq,
    pub item: Item,
    pub chunk: Chunk,
    /// True if it is sent for the first time.
    pub first: bool,
    /// The most bytes of its datagrams.
    pub longest: usize,
}

/// What makes datagrams of packets.
pub(super) trait Datagrams {
    /// Calls `each` for every datagram of a packet.
    fn datagrams<'a>(&'a self, packet: &Outgoing, each: &mut dyn FnMut(Body, &'a [u8]));
}

/// What has become of NICs and of what waited in front of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// A packet has left for the first time, one way or another.
    Left(Item),
    /// The link of a NIC is down, or up again.
    Switched { rail: u8, up: bool },
}

/// What a rail has carried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RailCount {
    /// Datagrams sent, and their bytes.
    pub sent: u64,
    /// See `sent`.
    pub sent_bytes: u64,
    /// Datagrams that have come and were ours, duplicates among them, and their bytes.
    pub received: u64,
    /// See `received`.
    pub received_bytes: u64,
    /// Datagrams ignored because they had the wrong tag or none: of strangers, of other jobs,
    /// damaged.
    pub strangers: u64,
    /// Datagrams with the right tag that said what cannot be.
    pub odd: u64,
    /// How often the link of this host went down.
    pub downs: u64,
}

/// A NIC, and what waits in front of it.
struct Nic {
    driver: Box<dyn Rail>,
    /// What goes before all packets: greetings and acknowledgements.
    urgent: VecDeque<(u16, Body)>,
    packets: VecDeque<Outgoing>,
    count: RailCount,
    /// While its link is down: when it is tried again.
    down: Option<Time>,
    /// Where the driver tells later what has left.
    departing: Option<Departing>,
}

/// What a driver has taken that has not left.
#[derive(Default)]
struct Departing {
    /// Trains that it has taken, and that have left.
    taken: u64,
    gone: u64,
    /// Packets that leave with the last train that had been taken by then.
    packets: VecDeque<(u64, Item)>,
}

impl Departing {
    /// A packet that has left.
    fn next(&mut self) -> Option<Item> {
        let &(train, item) = self.packets.front()?;
        (train <= self.gone).then(|| {
            self.packets.pop_front();
            item
        })
    }
}

/// How many datagrams and things of the queue a [`Train`] is.
struct Load {
    count: usize,
    things: usize,
}

/// Returns true if others that follow a train can go with it, if one has this number of datagrams
/// and bytes at most.
fn takes(
    (train, load): (&Train, &Load),
    (next, more): (&Train, &Load),
    (most, most_bytes): (usize, usize),
) -> bool {
    let fits =
        load.count + more.count <= most && train.bytes.len() + next.bytes.len() <= most_bytes;
    let is_even = train.bytes.len() == load.count * train.segment;
    let ends = more.count == 1 && next.segment < train.segment;
    fits && train.to == next.to && is_even && (ends || next.segment == train.segment)
}

/// What became of a batch.
struct Sent {
    /// How many trains and things of the queue the driver took, and whether that was all that was
    /// tried.
    trains: usize,
    things: usize,
    all: bool,
    error: Option<io::Error>,
}

/// Datagrams that are made ready at once: as much as caches hold until it is copied, which is about
/// as much as goes in a message.
const BATCH: usize = 45;

/// How long a rail that is down is left alone before it is tried again.
const DOWN: Time = Time::from_ns(10_000_000);

/// How long a rank sleeps at most that no driver wakes.
const POLL: Time = Time::from_ns(50_000);

/// NICs of one rank.
pub(super) struct Queues {
    rank: u16,
    key: Key,
    nics: Vec<Nic>,
    /// Datagrams that are being sent, one behind the other: drivers copy them from here, or keep it
    /// and leave another.
    buffer: Vec<u8>,
    events: VecDeque<Event>,
    /// True if the layer of rails is to be told what has left.
    departures: bool,
    /// True if a driver does not wake the rank.
    polled: bool,
}

impl Queues {
    pub fn new(rank: u16, key: Key, drivers: Vec<Box<dyn Rail>>, departures: bool) -> Queues {
        let polled = drivers.iter().any(|driver| !driver.capabilities().wakes);
        let nic = |driver: Box<dyn Rail>| Nic {
            departing: driver.capabilities().completions.then(Departing::default),
            driver,
            urgent: VecDeque::new(),
            packets: VecDeque::new(),
            count: RailCount::default(),
            down: None,
        };
        let nics = drivers.into_iter().map(nic).collect();
        let (buffer, events) = (Vec::new(), VecDeque::new());
        Queues { rank, key, nics, buffer, events, departures, polled }
    }

    /// How many NICs there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.nics.len()
    }

    /// Another driver takes the place of a NIC's. What the old one had not sent is lost.
    pub fn replace(&mut self, rail: u8, driver: Box<dyn Rail>) {
        let nic = &mut self.nics[usize::from(rail)];
        nic.departing = driver.capabilities().completions.then(Departing::default);
        nic.driver = driver;
        self.polled = self.nics.iter().any(|nic| !nic.driver.capabilities().wakes);
    }

    /// The driver of a NIC.
    pub fn driver(&mut self, rail: u8) -> &mut dyn Rail {
        &mut *self.nics[usize::from(rail)].driver
    }

    /// The drivers of the NICs, and what they have carried.
    pub fn drivers(&self) -> impl Iterator<Item = (&dyn Rail, &RailCount)> {
        self.nics.iter().map(|nic| (&*nic.driver, &nic.count))
    }

    /// Queues a packet.
    #[inline]
    pub fn packet(&mut self, rail: u8, packet: Outgoing) {
        self.nics[usize::from(rail)].packets.push_back(packet);
    }

    /// Queues something that goes before all packets.
    #[inline]
    pub fn control(&mut self, to: u16, rail: u8, body: Body) {
        self.nics[usize::from(rail)].urgent.push_back((to, body));
    }

    /// Tells a rank that it has been given up, once for all that waits here.
    pub fn bid_farewell(&mut self, to: u16, rail: u8) {
        let urgent = &mut self.nics[usize::from(rail)].urgent;
        if !urgent.contains(&(to, Body::Farewell)) {
            urgent.push_back((to, Body::Farewell));
        }
    }

    /// Nothing more goes to a rank.
    pub fn lose(&mut self, rank: u16) {
        for Nic { urgent, packets, .. } in &mut self.nics {
            urgent.retain(|&(to, _)| to != rank);
            packets.retain(|packet| packet.to != rank);
        }
    }

    /// Returns true if something waits in front of a NIC.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.nics.iter().any(Nic::has_waiting)
    }

    /// What becomes readable when a datagram has come, by NIC, and whether something waits there
    /// until it is writable.
    #[cfg(unix)]
    pub fn waits_on(&self) -> impl Iterator<Item = (std::os::fd::BorrowedFd<'_>, bool)> {
        self.nics.iter().filter_map(|nic| Some((nic.driver.waits_on()?, nic.has_waiting())))
    }

    /// By when a rank that sleeps from now on is to look again, because a driver does not wake it.
    #[inline]
    pub fn looks_again(&self, now: Time) -> Option<Time> {
        self.polled.then(|| now + POLL)
    }

    /// What has happened meanwhile.
    #[inline]
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Gives each datagram that has come and is ours, as far as they are at hand; `each` returns
    /// false if it says what cannot be. Returns how many there were of any kind, and of trains that
    /// have left meanwhile.
    #[inline]
    pub fn receive(&mut self, each: &mut dyn FnMut(u8, Opened<'_>) -> bool) -> usize {
        let mut all = 0;
        for (number, nic) in (0u8..).zip(&mut self.nics) {
            if let Some(departing) = &mut nic.departing {
                let gone = nic.driver.completed();
                departing.gone += gone as u64;
                all += gone;
                self.events.extend(std::iter::from_fn(|| departing.next()).map(Event::Left));
            }
            let course = Course { to: self.rank, rail: number };
            let (count, key) = (&mut nic.count, &self.key);
            let came = nic.driver.receive(&mut |bytes| match Opened::new(bytes, key, course) {
                Ok(opened) if each(number, opened) => {
                    count.received += 1;
                    count.received_bytes += bytes.len() as u64;
                }
                Ok(_) => count.odd += 1,
                Err(_) => count.strangers += 1,
            });
            // What cannot be received has not come.
            all += came.unwrap_or(0);
        }
        all
    }

    /// Sends what waits, as far as NICs take it.
    #[inline]
    pub fn flush(&mut self, now: Time, maker: &impl Datagrams) {
        for rail in 0..self.nics.len() {
            if self.nics[rail].has_waiting() {
                self.flush_nic(now, rail, maker);
            }
        }
    }

    fn flush_nic(&mut self, now: Time, rail: usize, maker: &impl Datagrams) {
        loop {
            let sent = self.send_only(rail, maker);
            let Sent { trains, things, all, error } =
                sent.unwrap_or_else(|| self.send_batch(rail, maker));
            if let Some(departing) = &mut self.nics[rail].departing {
                departing.taken += trains as u64;
            }
            self.leave(rail, things);
            match error {
                Some(error) if rail::is_down(&error) => self.goes_down(now, rail),
                // It cannot be sent. The link that waits for it will notice, and send it again.
                Some(error) if is_serious(&error) => self.leave(rail, 1),
                _ => {}
            }
            if things > 0 && self.nics[rail].down.take().is_some() {
                self.events.push_back(Event::Switched { rail: rail as u8, up: true });
            }
            if !all || !self.nics[rail].has_waiting() {
                return;
            }
        }
    }

    /// The first things in front of a NIC leave it, one way or another: at once, or with what its
    /// driver has taken.
    fn leave(&mut self, rail: usize, things: usize) {
        let Queues { nics, events, departures, .. } = self;
        let Nic { urgent, packets, departing, .. } = &mut nics[rail];
        let controls = things.min(urgent.len());
        urgent.drain(..controls);
        for packet in packets.drain(..things - controls) {
            if *departures && packet.first {
                match departing {
                    None => events.push_back(Event::Left(packet.item)),
                    Some(departing) => departing.packets.push_back((departing.taken, packet.item)),
                }
            }
        }
    }

    /// Sends the only thing in front of a NIC, if it is one datagram: most often there is no more,
    /// and the receiver waits for it.
    fn send_only(&mut self, rail: usize, maker: &impl Datagrams) -> Option<Sent> {
        let Queues { nics, rank, key, buffer, .. } = self;
        let Nic { driver, urgent, packets, count, .. } = &mut nics[rail];
        let (mut datagrams, mut only) = (0, None);
        match (urgent.front(), packets.front()) {
            (Some(&(to, body)), None) if urgent.len() == 1 => {
                (datagrams, only) = (1, Some((to, body, &[][..])));
            }
            (None, Some(packet)) if packets.len() == 1 => {
                maker.datagrams(packet, &mut |body, load| {
                    datagrams += 1;
                    only = Some((packet.to, body, load));
                });
            }
            _ => {}
        }
        let (to, body, load) = only.filter(|_| datagrams == 1)?;
        buffer.clear();
        let course = Course { to, rail: rail as u8 };
        Datagram { from: *rank, body }.append(key, course, load, buffer);
        let bytes = buffer.len();
        let sent = driver.send(buffer, &[Train::one(to, 0..bytes)]);
        let things = *sent.as_ref().unwrap_or(&0);
        count.sent += things as u64;
        count.sent_bytes += (things * bytes) as u64;
        Some(Sent { trains: things, things, all: things == 1, error: sent.err() })
    }

    /// Makes datagrams of what is first in front of a NIC, and sends them.
    fn send_batch(&mut self, rail: usize, maker: &impl Datagrams) -> Sent {
        let Queues { nics, rank, key, buffer, .. } = self;
        let Nic { driver, urgent, packets, count, .. } = &mut nics[rail];
        buffer.clear();
        let (mut trains, mut loads): (Vec<Train>, Vec<Load>) =
            (Vec::with_capacity(4), Vec::with_capacity(4));
        let most = driver.train();
        // Things are not torn apart.
        let mut couple = |train: Train, count: usize| {
            let load = Load { count, things: 1 };
            match trains.last_mut().zip(loads.last_mut()) {
                Some((last, carried)) if takes((last, carried), (&train, &load), most) => {
                    last.bytes.end = train.bytes.end;
                    carried.count += load.count;
                    carried.things += load.things;
                }
                _ => {
                    trains.push(train);
                    loads.push(load);
                }
            }
        };
        let append = |buffer: &mut Vec<u8>, to: u16, body: Body, load: &[u8]| {
            let course = Course { to, rail: rail as u8 };
            Datagram { from: *rank, body }.append(key, course, load, buffer);
        };
        for &(to, body) in &*urgent {
            let begin = buffer.len();
            append(buffer, to, body, &[]);
            couple(Train::one(to, begin..buffer.len()), 1);
        }
        let mut datagrams = urgent.len();
        for packet in &*packets {
            if datagrams >= BATCH {
                break;
            }
            let (to, begin) = (packet.to, buffer.len());
            let (mut count, mut segment) = (0, 0);
            maker.datagrams(packet, &mut |body, load| {
                append(buffer, to, body, load);
                count += 1;
                segment = if count == 1 { buffer.len() - begin } else { segment };
            });
            couple(Train { to, bytes: begin..buffer.len(), segment }, count);
            datagrams += count;
        }
        let (sent, error) = match driver.send(buffer, &trains) {
            Ok(sent) => (sent, None),
            Err(error) => (0, Some(error)),
        };
        for (train, load) in trains[..sent].iter().zip(&loads) {
            count.sent += load.count as u64;
            count.sent_bytes += train.bytes.len() as u64;
        }
        let things = loads[..sent].iter().map(|load| load.things).sum();
        Sent { trains: sent, things, all: sent == trains.len(), error }
    }

    /// The link of a NIC is down. What waited there is lost.
    fn goes_down(&mut self, now: Time, rail: usize) {
        self.leave(rail, self.nics[rail].urgent.len() + self.nics[rail].packets.len());
        let nic = &mut self.nics[rail];
        if nic.down.replace(now + DOWN).is_none() {
            nic.count.downs += 1;
            self.events.push_back(Event::Switched { rail: rail as u8, up: false });
        }
    }

    /// When a NIC that was down is to be tried again.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.nics.iter().filter_map(|nic| nic.down).min()
    }

    /// NICs that were down and are to be tried now: something is to be sent on each.
    pub fn expire(&mut self, now: Time) -> Vec<u8> {
        let is_due = |nic: &mut Nic| {
            let due = nic.down.is_some_and(|at| at <= now);
            if due {
                nic.down = Some(now + DOWN);
            }
            due
        };
        let nics = (0u8..).zip(&mut self.nics);
        nics.filter_map(|(rail, nic)| is_due(nic).then_some(rail)).collect()
    }
}

impl Nic {
    #[inline]
    fn has_waiting(&self) -> bool {
        !self.urgent.is_empty() || !self.packets.is_empty()
    }
}

/// Returns true if an error of a rail is worth to be told.
fn is_serious(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, WouldBlock};
    !matches!(error.kind(), WouldBlock | Interrupted | ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use crosstie_protocol::StripeId;

    use super::*;

    #[test]
    fn packets_leave_with_the_trains_that_carry_them() {
        let mut departing = Departing::default();
        let item = |number| Item { stripe: StripeId(7), number };
        for (taken, number) in [(2, 0), (2, 1), (3, 2)] {
            departing.taken = taken;
            departing.packets.push_back((departing.taken, item(number)));
        }
        let mut gone = |trains: u64| -> Vec<u32> {
            departing.gone += trains;
            std::iter::from_fn(|| departing.next()).map(|item| item.number).collect()
        };
        // What was taken in one call leaves with its last train.
        assert_eq!(
            [gone(0), gone(1), gone(1), gone(0), gone(1)],
            [vec![], vec![], vec![0, 1], vec![], vec![2]]
        );
    }
}
