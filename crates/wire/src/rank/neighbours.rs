//! The layer of shared memory, beside those of rails: envelopes go through rings, and data of long
//! messages are read by their receiver where the system allows it, or go through the rings in
//! pieces.
//!
//! | record | behind its kind |
//! |---|---|
//! | envelope | the envelope and a short message |
//! | address | the place, the post, where the sender has the bytes, where and what the grant is |
//! | piece | the place, whether it is the last, where in the message it begins, and bytes |
//! | landed | the post whose bytes have been read |
//! | again | the post whose bytes could not be read: they are to come in pieces |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use crosstie_protocol::message::{Body, Class, Envelope, PostId};
use crosstie_units::Time;

use super::messages::{Load, Place, Post};
use super::requests::{Loss, RequestKey, Requests};
use crate::envelope;
use crate::lent::put;
use crate::memory::{Bell, Grant, Memory};
use crate::rail::{Capabilities, Driver};

const ENVELOPE: u8 = 0;
const ADDRESS: u8 = 1;
const PIECE: u8 = 2;
const LANDED: u8 = 3;
const AGAIN: u8 = 4;

/// Bytes of a message in a piece.
const PIECE_BYTES: usize = 8 << 10;

/// How often it is looked whether the others live.
const LOOK: Time = Time::from_ns(50_000_000);

/// The other ranks of this machine.
pub(super) struct Neighbours {
    rank: u16,
    memory: Memory,
    /// The place of each rank of the job among those of this machine.
    places: Vec<Option<usize>>,
    ranks: Vec<u16>,
    /// True where nothing is taken from a rank any more, by place.
    gone: Vec<bool>,
    /// What waits for room, by place.
    backlog: Vec<VecDeque<Pending>>,
    /// Where data of long messages go, by receive.
    granted: BTreeMap<u32, Place>,
    /// What others have been told to read, by the rank that reads and the number of the post.
    lent: BTreeMap<(u16, u32), LentOut>,
    /// The number of the last grant.
    grants: u64,
    /// What we have been told to read.
    reads: Vec<Read>,
    /// What has got to its receiver, and of which the layer above has not been told.
    landed: VecDeque<PostId>,
    /// When it is looked next whether all live.
    look: Time,
}

/// What another rank has been told to read.
struct LentOut {
    post: PostId,
    place: u32,
    send: RequestKey,
    grant: Grant,
}

/// What waits for room in a ring.
enum Pending {
    Envelope(Option<PostId>, Vec<u8>),
    Address { post: PostId, place: u32, send: RequestKey },
    Stream { post: PostId, place: u32, send: RequestKey, next: usize },
    Landed(u32),
    Again(u32),
}

/// Something that has come through memory.
pub(super) enum Arrival<'a> {
    /// An envelope, and what is behind it.
    Envelope { from: u16, bytes: &'a [u8] },
    /// All data of a long message are in their place.
    Filled(Place),
    /// The receiver has all of something posted.
    Landed(PostId),
}

/// Bytes in the memory of another rank.
#[derive(Debug, Clone, Copy)]
struct Read {
    from: u16,
    place: u32,
    /// As the sender numbers it.
    post: u32,
    address: u64,
    length: u64,
    /// Where the grant is, and what it says.
    grant: (u64, u64),
}

impl Read {
    /// What a rank has told to read, if it is something.
    fn of(from: u16, record: &[u8]) -> Option<Read> {
        let (place, rest) = word(record)?;
        let (post, rest) = word(rest)?;
        let (address, rest) = long(rest)?;
        let (length, rest) = long(rest)?;
        let (grant, rest) = long(rest)?;
        let (number, _) = long(rest)?;
        Some(Read { from, place, post, address, length, grant: (grant, number) })
    }
}

/// What became of reading the memory of another rank.
enum Reading {
    Done(Place),
    /// It was taken back before.
    Revoked,
    /// There is nothing to read.
    Nothing,
}

impl Neighbours {
    /// Of this rank. `places` are those of all ranks of the job.
    pub fn new(rank: u16, memory: Memory, places: Vec<Option<usize>>) -> Neighbours {
        let Capabilities { reliable, ordered, .. } = memory.capabilities();
        debug_assert!(reliable && ordered, "nothing is numbered or sent again here");
        let mut ranks = vec![0; memory.ranks()];
        for (rank, place) in (0u16..).zip(&places) {
            if let Some(place) = *place {
                ranks[place] = rank;
            }
        }
        let backlog = ranks.iter().map(|_| VecDeque::new()).collect();
        Neighbours {
            rank,
            memory,
            places,
            gone: vec![false; ranks.len()],
            ranks,
            backlog,
            granted: BTreeMap::new(),
            lent: BTreeMap::new(),
            grants: 0,
            reads: Vec::new(),
            landed: VecDeque::new(),
            look: Time::ZERO,
        }
    }

    /// Returns true if a rank is reached through memory.
    #[inline]
    pub fn is_one(&self, rank: u16) -> bool {
        self.place(rank).is_some()
    }

    #[inline]
    fn place(&self, rank: u16) -> Option<usize> {
        self.places[usize::from(rank)]
    }

    /// The rings, for a rank that sleeps.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// What wakes this rank when something comes through memory.
    #[cfg(unix)]
    pub fn bell(&self) -> &Bell {
        self.memory.bell()
    }

    /// Returns true if nothing has come, and nothing waits for room or is to be read.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.memory.is_quiet() && self.reads.is_empty() && !self.has_backlog()
    }

    /// Returns true if something waits for room in a ring.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        self.backlog.iter().any(|waiting| !waiting.is_empty())
    }

    /// How much that is.
    #[cfg(any(test, feature = "bare"))]
    pub fn backlog(&self) -> usize {
        self.backlog.iter().map(VecDeque::len).sum()
    }

    /// Returns true if another rank may still read the memory of a send.
    pub fn is_read(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Takes back the right to read the memory of these sends. A rank that reads it then notices,
    /// says so, and is sent the bytes in pieces.
    pub fn revoke(&mut self, sends: &[RequestKey]) {
        let sends: BTreeSet<&RequestKey> = sends.iter().collect();
        let revoked = self.lent.values().filter(|lent| sends.contains(&lent.send));
        revoked.for_each(|lent| lent.grant.revoke());
    }

    /// Takes back the right to read any memory of this rank: no peer reads it from now on.
    pub fn revoke_all(&mut self) {
        self.lent.values().for_each(|lent| lent.grant.revoke());
    }

    /// Wakes ranks for which something was written.
    #[inline]
    pub fn wake(&mut self) {
        self.memory.wake();
    }

    /// Looks no more whether the others live.
    pub fn stop_watching(&mut self) {
        self.look = Time::from_ps(u64::MAX);
    }

    /// When it is to be called, if nothing happens before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        Some(self.look)
    }

    /// Takes a short message to a rank, behind its envelope.
    #[inline]
    pub fn send_inline(
        &mut self,
        to: u16,
        envelope: &[u8],
        message: &[u8],
        requests: &mut Requests,
    ) {
        let Some(place) = self.place(to) else { return };
        let waits = !self.backlog[place].is_empty();
        if waits || !self.memory.push_quietly(place, &[&[ENVELOPE], envelope, message]) {
            let mut own = requests.buffer();
            own.extend_from_slice(envelope);
            own.extend_from_slice(message);
            self.backlog[place].push_back(Pending::Envelope(None, own));
        }
    }

    /// Takes an envelope or data to a rank of this machine.
    pub fn post(&mut self, posted: Post, requests: &mut Requests) {
        let Post { post, to, load, place: target, .. } = posted;
        let Some(place) = self.place(to) else { return };
        let mut pending = match (load, target, post) {
            (Load::Own(bytes), _, post) => Pending::Envelope(post, bytes),
            (Load::Of(send), Some(place_there), Some(post)) if self.memory.can_read(place) => {
                Pending::Address { post, place: place_there, send }
            }
            (Load::Of(send), Some(place), Some(post)) => {
                Pending::Stream { post, place, send, next: 0 }
            }
            (Load::Of(_), ..) => return,
        };
        if !self.backlog[place].is_empty() || !self.push(place, &mut pending, requests) {
            self.backlog[place].push_back(pending);
        }
    }

    /// Data of a long message go to a place.
    pub fn grant(&mut self, place: Place) {
        self.granted.insert(place.receive, place);
    }

    /// Sends what waits, as far as there is room. Returns true if something went.
    pub fn flush(&mut self, requests: &mut Requests) -> bool {
        let mut any = false;
        for place in 0..self.backlog.len() {
            while let Some(mut pending) = self.backlog[place].pop_front() {
                if !self.push(place, &mut pending, requests) {
                    self.backlog[place].push_front(pending);
                    break;
                }
                any = true;
            }
        }
        any
    }

    /// Something posted that its receiver has, each once.
    #[inline]
    pub fn poll(&mut self) -> Option<PostId> {
        self.landed.pop_front()
    }

    /// Puts something into the ring of a rank. Returns true if there was room for all of it.
    fn push(&mut self, place: usize, pending: &mut Pending, requests: &mut Requests) -> bool {
        let Neighbours { memory, ranks, lent, grants, landed, .. } = self;
        match pending {
            Pending::Envelope(post, bytes) => {
                let room = memory.push_quietly(place, &[&[ENVELOPE], bytes]);
                if room {
                    landed.extend(*post);
                    requests.put_back(std::mem::take(bytes));
                }
                room
            }
            Pending::Landed(post) => memory.push_quietly(place, &[&[LANDED], &post.to_le_bytes()]),
            Pending::Again(post) => memory.push_quietly(place, &[&[AGAIN], &post.to_le_bytes()]),
            &mut Pending::Address { post, place: target, send } => {
                let bytes = requests.bytes(send);
                let (address, length) = (bytes.as_ptr() as u64, bytes.len() as u64);
                *grants += 1;
                let grant = Grant::new(*grants);
                let words = [address, length, grant.address(), grant.number()];
                let [address, length, granted, says] = words.map(u64::to_le_bytes);
                let (there, own) = (target.to_le_bytes(), post.0.to_le_bytes());
                let parts: [&[u8]; 7] =
                    [&[ADDRESS], &there, &own, &address, &length, &granted, &says];
                let room = memory.push_quietly(place, &parts);
                if room {
                    let out = LentOut { post, place: target, send, grant };
                    lent.insert((ranks[place], post.0), out);
                }
                room
            }
            Pending::Stream { post, place: target, send, next } => {
                let bytes = requests.bytes(*send);
                loop {
                    let begin = bytes.len().min(*next);
                    let piece = &bytes[begin..bytes.len().min(*next + PIECE_BYTES)];
                    let last = begin + piece.len() == bytes.len();
                    let (target, offset) = (target.to_le_bytes(), (*next as u64).to_le_bytes());
                    let parts = [&[PIECE][..], &target, &[last.into()], &offset, piece];
                    if !memory.push_quietly(place, &parts) {
                        return false;
                    }
                    *next += piece.len();
                    if last {
                        landed.push_back(*post);
                        return true;
                    }
                }
            }
        }
    }

    /// Gives what arrived through memory, until `each` breaks. Returns true if anything arrived.
    #[inline]
    pub fn receive(
        &mut self,
        requests: &mut Requests,
        each: &mut dyn FnMut(Arrival<'_>, &mut Requests) -> ControlFlow<()>,
    ) -> bool {
        let Neighbours { memory, ranks, gone, reads, granted, lent, backlog, .. } = self;
        let count = memory.poll_turns(&mut |place, record| {
            let Some(&from) = ranks.get(place) else { return ControlFlow::Continue(()) };
            if gone[place] {
                return ControlFlow::Continue(());
            }
            match record.split_first() {
                Some((&ENVELOPE, bytes)) => {
                    return each(Arrival::Envelope { from, bytes }, requests);
                }
                Some((&PIECE, rest)) => {
                    if let Some(place) = put_piece(granted, from, rest, requests) {
                        return each(Arrival::Filled(place), requests);
                    }
                }
                Some((&ADDRESS, rest)) => reads.extend(Read::of(from, rest)),
                Some((&LANDED, rest)) => {
                    let out = word(rest).and_then(|(post, _)| lent.remove(&(from, post)));
                    if let Some(LentOut { post, .. }) = out {
                        return each(Arrival::Landed(post), requests);
                    }
                }
                Some((&AGAIN, rest)) => {
                    let out = word(rest).and_then(|(post, _)| lent.remove(&(from, post)));
                    if let Some(LentOut { post, place: target, send, .. }) = out {
                        let next = 0;
                        let stream = Pending::Stream { post, place: target, send, next };
                        backlog[place].push_back(stream);
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        if !self.reads.is_empty() {
            self.read(requests, each);
        }
        count > 0
    }

    /// Reads what we have been told to read.
    #[cold]
    fn read(
        &mut self,
        requests: &mut Requests,
        each: &mut dyn FnMut(Arrival<'_>, &mut Requests) -> ControlFlow<()>,
    ) {
        for read in std::mem::take(&mut self.reads) {
            // A peer that names a place that was not granted, or no memory, gets no answer: no more
            // answers wait than there were receives.
            let answer = match self.read_one(&read, requests) {
                Reading::Done(place) => {
                    let _ = each(Arrival::Filled(place), requests);
                    Pending::Landed(read.post)
                }
                Reading::Revoked => Pending::Again(read.post),
                Reading::Nothing => continue,
            };
            if let Some(place) = self.place(read.from) {
                self.backlog[place].push_back(answer);
            }
        }
    }

    /// Reads data of a long message out of the memory of their sender, if it was to.
    fn read_one(&mut self, read: &Read, requests: &mut Requests) -> Reading {
        let &Read { from, place: target, address, length, grant, .. } = read;
        let Some(place) = self.place(from) else { return Reading::Nothing };
        let fits = |granted: &&Place| granted.from == from && length <= granted.length;
        let Some(&granted) = self.granted.get(&target).filter(fits) else {
            return Reading::Nothing;
        };
        if let Some(room) = requests.room(granted.request) {
            let most = room.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            let into = &mut room[..most];
            match self.memory.read_granted(place, address, into, grant) {
                Ok(true) => {}
                // Its memory may not even be there any more.
                Ok(false) => return Reading::Revoked,
                Err(_) if self.memory.lives(place) => return Reading::Revoked,
                // It has ended meanwhile, which is noticed soon.
                Err(_) => return Reading::Nothing,
            }
        }
        self.granted.remove(&target);
        Reading::Done(granted)
    }

    /// Looks whether the others live, if it is time for that, and whether what they have written
    /// can be. Returns those that are lost.
    #[inline]
    pub fn lost(&mut self, now: Time) -> Vec<(u16, Loss)> {
        if self.look <= now || self.memory.broken().is_some() {
            return self.look(now);
        }
        Vec::new()
    }

    #[cold]
    fn look(&mut self, now: Time) -> Vec<(u16, Loss)> {
        let mut lost = Vec::new();
        if self.look <= now {
            self.look = now + LOOK;
            let ended = |&(place, &rank): &(usize, &u16)| {
                rank != self.rank && self.is_one(rank) && !self.memory.lives(place)
            };
            let ended = self.ranks.iter().enumerate().filter(ended);
            lost.extend(ended.map(|(_, &rank)| (rank, Loss::Ended)));
        }
        for (place, &rank) in self.ranks.iter().enumerate() {
            let fault = self.memory.fault(place);
            lost.extend(fault.map(|fault| (rank, Loss::Broken(fault))));
        }
        lost.retain(|&(rank, _)| self.place(rank).is_some_and(|place| !self.gone[place]));
        for &(rank, loss) in &lost {
            // If it can still read, it need not wait.
            if let (Loss::Broken(_), Some(place)) = (loss, self.place(rank)) {
                let (class, body) = (Class::FIRST, Body::Left { failed: true });
                let left = envelope::encode(&Envelope { class, number: None, body });
                self.memory.push(place, &[&[ENVELOPE], &left]);
            }
        }
        lost
    }

    /// Nothing more goes to a rank, nor does it read anything, nor is anything taken from it.
    /// Returns how many messages were lost of which the program was told that they are sent.
    pub fn lose(&mut self, rank: u16) -> usize {
        let Some(place) = self.place(rank) else { return 0 };
        self.gone[place] = true;
        let is_sent = |pending: &&Pending| match pending {
            Pending::Envelope(_, bytes) => envelope::is_message(bytes),
            _ => false,
        };
        let lost = self.backlog[place].iter().filter(is_sent).count();
        self.backlog[place].clear();
        self.lent.retain(|&(to, _), _| to != rank);
        self.granted.retain(|_, place| place.from != rank);
        lost
    }
}

/// Puts a piece of a long message where it belongs, if that was granted. Returns the place if it
/// was the last piece.
fn put_piece(
    granted: &mut BTreeMap<u32, Place>,
    from: u16,
    rest: &[u8],
    requests: &mut Requests,
) -> Option<Place> {
    let (number, rest) = word(rest)?;
    let (&last, rest) = rest.split_first()?;
    let (offset, bytes) = long(rest)?;
    let end = offset.checked_add(bytes.len() as u64)?;
    let &place = granted.get(&number)?;
    if place.from != from || end > place.length {
        return None;
    }
    if let Some(room) = requests.room(place.request) {
        put(room, offset as usize, bytes);
    }
    if last == 0 { None } else { granted.remove(&number) }
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*word), rest))
}

fn long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*word), rest))
}
