//! Ranks of this machine: envelopes go through rings in shared memory, and data of long messages
//! are read by their receiver where the system allows it, or go through the rings in pieces.
//!
//! | record | behind its kind |
//! |---|---|
//! | envelope | the envelope and a short message |
//! | address | the place, the post and its context, where in the sender's memory the bytes are, and where and what the grant is |
//! | piece | the place, whether it is the last, where in the message it begins, and bytes |
//! | landed | the post whose bytes have been read, and its context |
//! | again | the post whose bytes could not be read, and its context: they are to come in pieces |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use crosstie_protocol::RankId;
use crosstie_protocol::message::{self, Envelope, PostId, Tag};
use crosstie_units::Time;

use super::messages::{is_message, request_key};
use super::{Buffer, Engine, Load, Loss, Post, Request, RequestKey, Status};
use crate::envelope::{self, Context};
use crate::memory::{Grant, Memory};

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
    memory: Memory,
    /// The place of each rank of the job among those of this machine.
    places: Vec<Option<usize>>,
    ranks: Vec<u16>,
    /// What waits for room, by place.
    backlog: Vec<VecDeque<Pending>>,
    /// What others have been told to read: by whom, and the number of the post.
    lent: BTreeMap<(u16, u32), LentOut>,
    /// The number of the last grant.
    grants: u64,
    /// What we have been told to read.
    reads: Vec<Read>,
    /// When it is looked next whether all live.
    look: Time,
}

/// What another rank has been told to read.
struct LentOut {
    post: Which,
    place: u32,
    send: RequestKey,
    grant: Grant,
}

/// A post of a context.
type Which = (Context, PostId);

/// What waits for room in a ring.
enum Pending {
    Envelope(Which, Vec<u8>),
    Address { post: Which, place: u32, send: RequestKey },
    Stream { post: Which, place: u32, send: RequestKey, next: usize },
    Landed(u32),
    Again(u32),
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

impl Neighbours {
    /// `places` are those of all ranks of the job.
    pub fn new(memory: Memory, places: Vec<Option<usize>>) -> Neighbours {
        let mut ranks = vec![0; memory.ranks()];
        for (rank, place) in (0u16..).zip(&places) {
            if let Some(place) = *place {
                ranks[place] = rank;
            }
        }
        let backlog = ranks.iter().map(|_| VecDeque::new()).collect();
        let (lent, reads, look) = (BTreeMap::new(), Vec::new(), Time::ZERO);
        Neighbours { memory, places, ranks, backlog, lent, grants: 0, reads, look }
    }

    /// Whether nothing has come, and nothing waits for room or is to be read.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.memory.is_quiet() && self.reads.is_empty() && !self.has_backlog()
    }

    /// Whether something waits for room in a ring.
    #[inline]
    fn has_backlog(&self) -> bool {
        self.backlog.iter().any(|waiting| !waiting.is_empty())
    }

    fn place(&self, rank: u16) -> Option<usize> {
        self.places[usize::from(rank)]
    }
}

impl Engine {
    /// Whether a rank is reached through memory.
    pub fn is_local(&self, rank: u16) -> bool {
        self.memory.as_ref().is_some_and(|neighbours| neighbours.place(rank).is_some())
    }

    /// The rings, for whoever sleeps.
    #[cfg(unix)]
    pub fn memory(&mut self) -> Option<&mut Memory> {
        self.memory.as_mut().map(|neighbours| &mut neighbours.memory)
    }

    /// What wakes this rank when something comes through memory.
    #[cfg(unix)]
    pub fn bell(&self) -> Option<&crate::memory::Bell> {
        self.memory.as_ref().map(|neighbours| neighbours.memory.bell())
    }

    /// Whether something waits for room in a ring.
    pub(super) fn has_backlog(&self) -> bool {
        self.memory.as_ref().is_some_and(|neighbours| neighbours.has_backlog())
    }

    /// How much that is.
    #[cfg(any(test, feature = "bare"))]
    pub fn backlog(&self) -> usize {
        let backlog = self.memory.as_ref().map(|neighbours| &neighbours.backlog);
        backlog.map_or(0, |backlog| backlog.iter().map(VecDeque::len).sum())
    }

    /// Whether another rank may still read the memory of a send.
    pub(super) fn is_read(&self) -> bool {
        self.memory.as_ref().is_some_and(|neighbours| !neighbours.lent.is_empty())
    }

    /// Takes back the right to read the memory of these sends. A rank that reads it then notices,
    /// says so, and is sent the bytes in pieces.
    pub(super) fn revoke(&mut self, sends: &[RequestKey]) {
        let Some(neighbours) = &self.memory else { return };
        let sends: BTreeSet<&RequestKey> = sends.iter().collect();
        let revoked = neighbours.lent.values().filter(|lent| sends.contains(&lent.send));
        revoked.for_each(|lent| lent.grant.revoke());
    }

    /// Messages that wait for room in the ring of a rank, and of which the program was told that
    /// they are sent.
    pub(super) fn waiting_locally(&self, rank: u16) -> usize {
        let Some(neighbours) = &self.memory else { return 0 };
        let Some(place) = neighbours.place(rank) else { return 0 };
        let is_sent = |pending: &&Pending| match pending {
            Pending::Envelope(_, bytes) => is_message(bytes),
            _ => false,
        };
        neighbours.backlog[place].iter().filter(is_sent).count()
    }

    /// Wakes ranks for which something was written.
    #[inline]
    pub(super) fn wake_neighbours(&mut self) {
        if let Some(neighbours) = &mut self.memory {
            neighbours.memory.wake();
        }
    }

    /// Looks no more whether the others live.
    pub fn stop_watching(&mut self) {
        if let Some(neighbours) = &mut self.memory {
            neighbours.look = Time::from_ps(u64::MAX);
        }
    }

    /// When it is looked whether the others live.
    pub(super) fn next_look(&self) -> Option<Time> {
        self.memory.as_ref().map(|neighbours| neighbours.look)
    }

    /// Nothing more goes to a rank that is gone, nor does it read anything.
    pub(super) fn forget_neighbour(&mut self, rank: u16) {
        if let Some(neighbours) = &mut self.memory
            && let Some(place) = neighbours.place(rank)
        {
            neighbours.backlog[place].clear();
            neighbours.lent.retain(|&(to, _), _| to != rank);
        }
    }

    /// Takes an envelope or data to a rank of this machine.
    pub(super) fn post_locally(&mut self, now: Time, posted: Post) {
        let Post { context, post, to, load, place: target } = posted;
        let post = (context, post);
        let Some(neighbours) = &mut self.memory else { return };
        let Some(place) = neighbours.place(to) else { return };
        let mut pending = match (load, target) {
            (Load::Own(bytes), _) => Pending::Envelope(post, bytes),
            (Load::Of(send), Some(place_there)) if neighbours.memory.can_read(place) => {
                Pending::Address { post, place: place_there, send }
            }
            (Load::Of(send), place) => {
                Pending::Stream { post, place: place.unwrap_or_default(), send, next: 0 }
            }
        };
        let waits = !neighbours.backlog[place].is_empty();
        if waits || !self.try_local(now, place, &mut pending) {
            let neighbours = self.memory.as_mut().expect("it has been asked");
            neighbours.backlog[place].push_back(pending);
        }
    }

    /// Puts a short message into the ring of a rank, if there is no more to it than that. Whether
    /// it is there.
    pub(super) fn send_at_once(
        &mut self,
        now: Time,
        context: Context,
        to: u16,
        tag: Tag,
        bytes: &[u8],
    ) -> bool {
        let Engine { memory: Some(neighbours), messengers, .. } = self else { return false };
        let Some(place) = neighbours.place(to) else { return false };
        if !neighbours.backlog[place].is_empty() {
            return false;
        }
        let messenger = &mut messengers[context as usize];
        let length = bytes.len() as u64;
        let sent = messenger.send_at_once(now, RankId(to.into()), length, |number| {
            let body = message::Body::Eager { tag, bytes: length };
            let envelope = envelope::encode(context, &Envelope { number: Some(number), body });
            neighbours.memory.push_quietly(place, &[&[ENVELOPE], &envelope, bytes])
        });
        self.hurry_for(context);
        sent
    }

    /// Gives a short message that has come to the receive that waits for it, if there is no more to
    /// it than that. Whether it is so.
    fn receive_at_once(&mut self, now: Time, from: u16, record: &[u8]) -> bool {
        let Some((context, envelope, bytes)) = envelope::decode(record) else { return false };
        let message::Body::Eager { tag, bytes: length } = envelope.body else { return false };
        let Some(number) = envelope.number.filter(|_| bytes.len() as u64 == length) else {
            return false;
        };
        let messenger = &mut self.messengers[context as usize];
        let taken = messenger.receive_at_once(now, RankId(from.into()), tag, length, number);
        let Some(request) = taken else { return false };
        self.hurry_for(context);
        self.hand_out_to(request_key(request), Status { from, tag, bytes: length }, bytes);
        true
    }

    /// Sends what waits, as far as there is room. Whether machines are to be asked again.
    pub(super) fn flush_local(&mut self, now: Time) -> bool {
        let places = self.memory.as_ref().map_or(0, |neighbours| neighbours.backlog.len());
        (0..places).fold(false, |any, place| any | self.serve_backlog(now, place))
    }

    /// The same for one rank.
    fn serve_backlog(&mut self, now: Time, place: usize) -> bool {
        let mut any = false;
        while let Some(neighbours) = &mut self.memory
            && let Some(mut pending) = neighbours.backlog[place].pop_front()
        {
            if !self.try_local(now, place, &mut pending) {
                let neighbours = self.memory.as_mut().expect("it has been asked");
                neighbours.backlog[place].push_front(pending);
                break;
            }
            any = true;
        }
        any
    }

    /// Puts something into the ring of a rank, and tells its messenger. Whether there was room for
    /// all of it.
    fn try_local(&mut self, now: Time, place: usize, pending: &mut Pending) -> bool {
        let (room, landed) = self.push_local(place, pending);
        if let Some((context, post)) = landed {
            if let Pending::Envelope(_, bytes) = pending {
                let bytes = std::mem::take(bytes);
                self.put_back(bytes);
            }
            self.tell(now, context, message::Input::Landed { post });
        }
        room
    }

    /// Puts something into the ring of a rank. Whether there was room for all of it, and the post
    /// that is there with it.
    fn push_local(&mut self, place: usize, pending: &mut Pending) -> (bool, Option<Which>) {
        let Engine { memory: Some(neighbours), requests, .. } = self else { return (true, None) };
        let Neighbours { memory, ranks, lent, grants, .. } = &mut **neighbours;
        let bytes =
            |send: RequestKey| requests.get(send).map_or(&[][..], |request| request.buffer.bytes());
        match pending {
            Pending::Envelope(post, bytes) => {
                let room = memory.push_quietly(place, &[&[ENVELOPE], bytes]);
                (room, room.then_some(*post))
            }
            Pending::Landed(post) => {
                (memory.push_quietly(place, &[&[LANDED], &post.to_le_bytes()]), None)
            }
            Pending::Again(post) => {
                (memory.push_quietly(place, &[&[AGAIN], &post.to_le_bytes()]), None)
            }
            &mut Pending::Address { post, place: target, send } => {
                let bytes = bytes(send);
                let (address, length) = (bytes.as_ptr() as u64, bytes.len() as u64);
                let own = number(post);
                *grants += 1;
                let grant = Grant::new(*grants);
                let words = [address, length, grant.address(), grant.number()];
                let [address, length, granted, says] = words.map(u64::to_le_bytes);
                let (there, own_bytes) = (target.to_le_bytes(), own.to_le_bytes());
                let parts: [&[u8]; 7] =
                    [&[ADDRESS], &there, &own_bytes, &address, &length, &granted, &says];
                let room = memory.push_quietly(place, &parts);
                if room {
                    let out = LentOut { post, place: target, send, grant };
                    lent.insert((ranks[place], own), out);
                }
                (room, None)
            }
            Pending::Stream { post, place: target, send, next } => {
                let bytes = bytes(*send);
                loop {
                    let piece = &bytes[*next..bytes.len().min(*next + PIECE_BYTES)];
                    let last = *next + piece.len() == bytes.len();
                    let (target, offset) = (target.to_le_bytes(), (*next as u64).to_le_bytes());
                    let parts = [&[PIECE][..], &target, &[last.into()], &offset, piece];
                    if !memory.push_quietly(place, &parts) {
                        return (false, None);
                    }
                    *next += piece.len();
                    if last {
                        return (true, Some(*post));
                    }
                }
            }
        }
    }

    /// Takes in what has come through memory. Whether there was anything.
    pub(super) fn take_local(&mut self, now: Time) -> bool {
        debug_assert!(self.untold.is_none(), "a receive may seem to wait that has its message");
        let Some(mut neighbours) = self.memory.take() else { return false };
        let Neighbours { memory, ranks, reads, lent, backlog, .. } = &mut *neighbours;
        let count = memory.poll_turns(&mut |place, record| {
            let Some(&from) = ranks.get(place) else { return ControlFlow::Continue(()) };
            if self.peers[usize::from(from)].gone {
                return ControlFlow::Continue(());
            }
            match record.split_first() {
                Some((&ENVELOPE, bytes)) => {
                    if self.receive_at_once(now, from, bytes) {
                        // Whoever waits for it may have something to answer.
                        return ControlFlow::Break(());
                    }
                    let mut own = self.buffer();
                    own.extend_from_slice(bytes);
                    self.open(now, from, own);
                }
                Some((&PIECE, rest)) => self.local_piece(now, from, rest),
                Some((&ADDRESS, rest)) => reads.extend(Read::of(from, rest)),
                Some((&LANDED, rest)) => {
                    let out = word(rest).and_then(|(post, _)| lent.remove(&(from, post)));
                    if let Some(LentOut { post: (context, post), .. }) = out {
                        self.tell(now, context, message::Input::Landed { post });
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
        let broken = neighbours.memory.broken().is_some();
        let more = !neighbours.reads.is_empty() || neighbours.look <= now || broken;
        self.memory = Some(neighbours);
        if more {
            self.read_and_look(now);
        }
        count > 0
    }

    /// Reads what we have been told to read, and looks whether the others live.
    #[cold]
    fn read_and_look(&mut self, now: Time) {
        let Some(mut neighbours) = self.memory.take() else { return };
        for read in std::mem::take(&mut neighbours.reads) {
            // Who names a place that was not granted, or no memory, gets no answer: no more of them
            // wait than there were receives.
            let answer = match self.read_local(now, &neighbours, &read) {
                Reading::Done => Pending::Landed(read.post),
                Reading::Revoked => Pending::Again(read.post),
                Reading::Nothing => continue,
            };
            if let Some(place) = neighbours.place(read.from) {
                neighbours.backlog[place].push_back(answer);
            }
        }
        let mut dead = Vec::new();
        if neighbours.look <= now {
            neighbours.look = now + LOOK;
            let lives = |rank: u16| {
                let place = neighbours.place(rank);
                rank == self.rank || place.is_none_or(|place| neighbours.memory.lives(place))
            };
            let gone = neighbours.ranks.iter().copied().filter(|&rank| !lives(rank));
            dead.extend(gone.map(|rank| (rank, Loss::Ended)));
        }
        if neighbours.memory.broken().is_some() {
            for (place, &rank) in neighbours.ranks.iter().enumerate() {
                let fault = neighbours.memory.fault(place);
                dead.extend(fault.map(|fault| (rank, Loss::Broken(fault))));
            }
        }
        dead.retain(|&(rank, _)| !self.peers[usize::from(rank)].gone);
        for &(rank, loss) in &dead {
            // If it can still read, it need not wait.
            if let (Loss::Broken(_), Some(place)) = (loss, neighbours.place(rank)) {
                let left = Envelope { number: None, body: message::Body::Left { failed: true } };
                let left = envelope::encode(Context::Program, &left);
                neighbours.memory.push(place, &[&[ENVELOPE], &left]);
            }
        }
        self.memory = Some(neighbours);
        dead.into_iter().for_each(|(rank, loss)| self.lose(now, rank, loss));
    }

    /// A receive whose memory a rank has been granted for a message that ends no earlier.
    fn granted(&mut self, from: u16, place: u32, end: u64) -> Option<&mut Request> {
        let place = self.places.get(place as usize)?.as_ref()?;
        let fits = place.from == from && end <= u64::from(place.length);
        if fits { self.requests.get_mut(place.request) } else { None }
    }

    fn local_piece(&mut self, now: Time, from: u16, rest: &[u8]) {
        let Some((place, rest)) = word(rest) else { return };
        let Some((&last, rest)) = rest.split_first() else { return };
        let Some((offset, bytes)) = long(rest) else { return };
        let Some(end) = offset.checked_add(bytes.len() as u64) else { return };
        let Some(request) = self.granted(from, place, end) else { return };
        if let Buffer::In(buffer) = &mut request.buffer {
            buffer.put(offset as usize, bytes);
        }
        if last != 0 {
            self.place_filled(now, place);
        }
    }

    /// Reads data of a long message out of the memory of their sender, if it was to.
    fn read_local(&mut self, now: Time, neighbours: &Neighbours, read: &Read) -> Reading {
        let &Read { from, place: target, address, length, grant, .. } = read;
        let Some(place) = neighbours.place(from) else { return Reading::Nothing };
        let Some(request) = self.granted(from, target, length) else { return Reading::Nothing };
        if let Buffer::In(buffer) = &mut request.buffer {
            let room = buffer.len().min(length as usize);
            let into = &mut buffer.get()[..room];
            match neighbours.memory.read_granted(place, address, into, grant) {
                Ok(true) => {}
                // Its memory may not even be there any more.
                Ok(false) => return Reading::Revoked,
                Err(_) if neighbours.memory.lives(place) => return Reading::Revoked,
                // It has ended meanwhile, which is noticed soon.
                Err(_) => return Reading::Nothing,
            }
        }
        self.place_filled(now, target);
        Reading::Done
    }
}

/// What became of reading the memory of another rank.
enum Reading {
    Done,
    /// It was taken back before.
    Revoked,
    /// There is nothing to read.
    Nothing,
}

/// A post of a context as a number.
fn number((context, post): Which) -> u32 {
    super::place_number(context, post.0)
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*word), rest))
}

fn long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*word), rest))
}
