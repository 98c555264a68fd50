//! The layer of messages: eager or rendezvous, matched and in order.
//!
//! Above it are [`Requests`], below it whatever takes envelopes and data to other ranks: rails,
//! memory, or nothing at all where a rank sends to itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crosstie_protocol::message::{
    self, Body, Cancelled, ClaimId, Class, Context, Envelope, MessageSpec, Messenger, PostId,
    RequestId, Tag,
};
use crosstie_protocol::{Machine, RailId, RankId};
use crosstie_units::Time;
use slotmap::{Key as _, KeyData};

use super::requests::{Loss, RequestKey, Requests, State, Status};
use crate::envelope::{self, ENVELOPE};
use crate::lent::put;

/// Something that goes to another rank.
#[derive(Debug)]
pub(super) struct Post {
    /// By this the layer is told that it is there; `None`: it is not told.
    pub post: Option<PostId>,
    pub to: u16,
    pub load: Load,
    /// The place that its receiver has for it, if it is the data of a long message.
    pub place: Option<u32>,
    /// The rail that it must take, if that is up.
    pub rail: Option<RailId>,
    /// True if it must not be cut.
    pub whole: bool,
}

impl Post {
    /// A short message that was sent inline, behind its envelope.
    #[inline]
    pub fn inline(to: u16, bytes: Vec<u8>) -> Post {
        Post { post: None, to, load: Load::Own(bytes), place: None, rail: None, whole: true }
    }
}

/// The bytes of something posted.
#[derive(Debug)]
pub(super) enum Load {
    /// An envelope, and a short message behind it.
    Own(Vec<u8>),
    /// Those of a send.
    Of(RequestKey),
}

impl Load {
    /// Its bytes; none if those of a send are not ours any more.
    #[inline]
    pub fn bytes<'a>(&'a self, requests: &'a Requests) -> &'a [u8] {
        match self {
            Load::Own(bytes) => bytes,
            Load::Of(key) => requests.bytes(*key),
        }
    }

    /// Returns true if it is a short message, of which the program was told that it is sent.
    pub fn is_message(&self) -> bool {
        matches!(self, Load::Own(bytes) if envelope::is_message(bytes))
    }
}

/// Where the data of a long message go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The receive, as the messenger numbers it.
    pub receive: u32,
    pub from: u16,
    pub request: RequestKey,
    pub length: u64,
}

/// What the layer wants done.
#[derive(Debug)]
pub(super) enum Action {
    /// Take this to its receiver.
    Post(Post),
    /// Data of a long message go there.
    Grant(Place),
    /// A rank has left.
    Left { rank: u16, failed: bool },
}

/// A short message that no receive has taken yet, with its envelope.
#[derive(Debug)]
struct Kept {
    class: Class,
    number: u32,
    bytes: Vec<u8>,
}

/// What is kept of another rank.
#[derive(Debug, Default)]
struct Peer {
    kept: VecDeque<Kept>,
    bytes: usize,
}

/// Messages of one rank.
pub(super) struct Messages {
    rank: u16,
    messenger: Messenger,
    peers: Vec<Peer>,
    /// The bytes of short messages that are kept for one peer at most: what it has credit for.
    most_kept: usize,
    /// What this rank has posted for itself, and its places for that.
    own: VecDeque<Post>,
    places: BTreeMap<u32, Place>,
    /// Envelopes that have arrived, but for short messages that a receive waited for.
    arrivals: u64,
}

/// A send, but for its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Send {
    pub context: Context,
    pub to: u16,
    pub tag: Tag,
    /// True if it is not done before a receive has taken the message.
    pub synchronous: bool,
}

/// What a receive or a probe asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    pub context: Context,
    /// `None`: any.
    pub from: Option<u16>,
    pub tag: Option<Tag>,
}

impl Selection {
    fn from(&self) -> Option<RankId> {
        self.from.map(|from| RankId(from.into()))
    }
}

impl Messages {
    pub fn new(rank: u16, size: u16, spec: MessageSpec) -> Messages {
        Messages {
            rank,
            messenger: Messenger::new(spec, RankId(rank.into())),
            peers: (0..size).map(|_| Peer::default()).collect(),
            most_kept: Class::ALL.len() * spec.credit as usize,
            own: VecDeque::new(),
            places: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Counts envelopes that have arrived, but for short messages that a receive waited for.
    #[inline]
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Begins a send that is done at once, if nothing is in its way. Returns the envelope: behind
    /// that, the bytes go to the receiver now.
    #[inline]
    pub fn send_inline(&mut self, now: Time, send: &Send, bytes: u64) -> Option<[u8; ENVELOPE]> {
        let &Send { context: Context { class, id: context }, to, tag, synchronous } = send;
        if synchronous || to == self.rank {
            return None;
        }
        let number = Some(self.messenger.send_inline(now, class, RankId(to.into()), bytes)?);
        let body = Body::Eager { context, tag, bytes, send: None };
        Some(envelope::encode(&Envelope { class, number, body }))
    }

    /// Begins a send of `bytes` bytes.
    pub fn send(&mut self, now: Time, send: &Send, request: RequestKey, bytes: u64) {
        let &Send { context, to, tag, synchronous } = send;
        let (request, to) = (request_id(request), RankId(to.into()));
        let input = message::Input::Send { request, context, to, tag, bytes, synchronous };
        self.messenger.handle(now, input);
    }

    /// Begins a receive.
    pub fn receive(&mut self, now: Time, what: &Selection, request: RequestKey, room: u64) {
        let (request, from) = (request_id(request), what.from());
        let &Selection { context, tag, .. } = what;
        self.messenger.handle(now, message::Input::Receive { request, context, from, tag, room });
    }

    /// Begins to receive a message that has been claimed.
    pub fn receive_claimed(&mut self, now: Time, claim: ClaimId, request: RequestKey, room: u64) {
        let request = request_id(request);
        self.messenger.handle(now, message::Input::ReceiveClaimed { request, claim, room });
    }

    /// The oldest message that a receive would take.
    pub fn probe(&self, what: &Selection) -> Option<Status> {
        let (from, tag, bytes) = self.messenger.probe(what.context, what.from(), what.tag)?;
        Some(Status { from: from.0 as u16, tag, bytes })
    }

    /// The same, which is taken out of matching.
    pub fn claim(&mut self, what: &Selection) -> Option<(ClaimId, Status)> {
        let (claim, from, tag, bytes) =
            self.messenger.claim(what.context, what.from(), what.tag)?;
        Some((claim, Status { from: from.0 as u16, tag, bytes }))
    }

    /// Gives back a message that was claimed.
    pub fn unclaim(&mut self, now: Time, claim: ClaimId) {
        self.messenger.unclaim(now, claim);
    }

    /// Nothing more is asked for: messages that wait for that are refused.
    pub fn close(&mut self, now: Time) {
        self.messenger.handle(now, message::Input::Close);
    }

    /// Gives up requests; what becomes of those that were under way.
    pub fn cancel(&mut self, requests: &[RequestKey]) -> Vec<(RequestKey, Cancelled)> {
        let requests: BTreeSet<RequestId> = requests.iter().copied().map(request_id).collect();
        let cancelled = self.messenger.cancel(&requests).into_iter();
        cancelled.map(|(request, what)| (request_key(request), what)).collect()
    }

    /// Tells a rank that this one leaves.
    pub fn leave(&mut self, now: Time, to: u16, failed: bool) {
        self.messenger.handle(now, message::Input::Leave { to: RankId(to.into()), failed });
    }

    /// An envelope has come, with what is behind it.
    #[inline]
    pub fn arrived(&mut self, now: Time, from: u16, bytes: &[u8], requests: &mut Requests) {
        let Some((envelope, rest)) = envelope::decode(bytes) else { return };
        let (peer, length) = (RankId(from.into()), rest.len() as u64);
        if let Some(request) = self.messenger.receive_inline(now, peer, &envelope, length) {
            let Body::Eager { tag, .. } = envelope.body else { return };
            let key = request_key(request);
            if let Some(room) = requests.room(key) {
                put(room, 0, rest);
            }
            return requests.finish(key, State::Done(Status { from, tag, bytes: length }));
        }
        self.arrivals += 1;
        if let (Body::Eager { .. }, Some(number)) = (envelope.body, envelope.number) {
            let peer = &mut self.peers[usize::from(from)];
            if peer.bytes + bytes.len() > self.most_kept {
                // More than it has credit for.
                return;
            }
            peer.bytes += bytes.len();
            let mut kept = requests.buffer();
            kept.extend_from_slice(bytes);
            peer.kept.push_back(Kept { class: envelope.class, number, bytes: kept });
        }
        let input = message::Input::Arrived { from: peer, envelope, bytes: length };
        self.messenger.handle(now, input);
    }

    /// All data of a long message are in their place.
    pub fn filled(&mut self, now: Time, place: &Place) {
        let &Place { receive, from, length, .. } = place;
        let body = Body::Data { receive };
        let envelope = Envelope { class: Class::FIRST, number: None, body };
        let from = RankId(from.into());
        self.messenger.handle(now, message::Input::Arrived { from, envelope, bytes: length });
    }

    /// The receiver has all of something posted.
    #[inline]
    pub fn landed(&mut self, now: Time, post: PostId) {
        self.messenger.handle(now, message::Input::Landed { post });
    }

    /// A rank cannot be reached any more: everything that waits for it fails.
    pub fn lose(&mut self, now: Time, rank: u16) {
        let peer = RankId(rank.into());
        self.messenger.handle(now, message::Input::Unreachable { peer });
    }

    /// When it is to be called, if nothing happens before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.messenger.poll_timeout()
    }

    /// Does what is due.
    pub fn expire(&mut self, now: Time) {
        self.messenger.handle_timeout(now);
    }

    /// What is to be done next; requests that are done are told so. `lost` says why a rank cannot
    /// be reached.
    pub fn poll(
        &mut self,
        now: Time,
        requests: &mut Requests,
        lost: impl Fn(u16) -> Loss,
    ) -> Option<Action> {
        loop {
            let Some(action) = self.messenger.poll_action(now) else {
                if self.deliver_own(now, requests) {
                    continue;
                }
                return None;
            };
            match action {
                message::Action::Post { post, to, envelope, bytes, of, rail, whole } => {
                    let (to, of) = (to.0 as u16, of.map(request_key));
                    let (load, place) = match envelope.body {
                        Body::Data { receive } => {
                            (Load::Of(of.unwrap_or(RequestKey::null())), Some(receive))
                        }
                        _ => {
                            let of = of.filter(|_| bytes > 0);
                            (Load::Own(enclose(requests, &envelope, of)), None)
                        }
                    };
                    let post = Post { post: Some(post), to, load, place, rail, whole };
                    match to == self.rank {
                        true => self.own.push_back(post),
                        false => return Some(Action::Post(post)),
                    }
                }
                message::Action::Sent { request } => {
                    let status = Status { from: self.rank, tag: Tag(0), bytes: 0 };
                    requests.finish(request_key(request), State::Done(status));
                }
                message::Action::Place { receive, from, request, bytes, .. } => {
                    let (from, request) = (from.0 as u16, request_key(request));
                    let place = Place { receive, from, request, length: bytes };
                    if from != self.rank {
                        return Some(Action::Grant(place));
                    }
                    self.places.insert(receive, place);
                }
                message::Action::Received { request, from, tag, bytes, envelope } => {
                    let (key, from) = (request_key(request), from.0 as u16);
                    if let Some(envelope) = envelope {
                        self.hand_out(key, from, envelope, requests);
                    }
                    requests.finish(key, State::Done(Status { from, tag, bytes }));
                }
                message::Action::Failed { request, peer } => {
                    let rank = peer.0 as u16;
                    requests.fail(request_key(request), rank, lost(rank));
                }
                message::Action::Left { peer, failed } => {
                    return Some(Action::Left { rank: peer.0 as u16, failed });
                }
            }
        }
    }

    /// Takes what this rank has posted for itself to where it belongs. Returns true if there was
    /// something.
    fn deliver_own(&mut self, now: Time, requests: &mut Requests) -> bool {
        let Some(Post { post, load, place, .. }) = self.own.pop_front() else { return false };
        match (load, place) {
            (Load::Own(bytes), _) => {
                self.arrived(now, self.rank, &bytes, requests);
                requests.put_back(bytes);
            }
            (Load::Of(send), Some(receive)) => {
                if let Some(place) = self.places.remove(&receive) {
                    requests.copy(send, place.request);
                    self.filled(now, &place);
                }
            }
            (Load::Of(_), None) => {}
        }
        if let Some(post) = post {
            self.landed(now, post);
        }
        true
    }

    /// Puts the bytes of a short message where they were asked for.
    fn hand_out(
        &mut self,
        key: RequestKey,
        from: u16,
        (class, number): (Class, u32),
        requests: &mut Requests,
    ) {
        let Peer { kept, bytes: count } = &mut self.peers[usize::from(from)];
        let is_it = |kept: &Kept| (kept.class, kept.number) == (class, number);
        let Some(place) = kept.iter().position(is_it) else { return };
        let Kept { bytes, .. } = kept.remove(place).expect("it is there");
        *count -= bytes.len();
        if let Some(room) = requests.room(key) {
            put(room, 0, &bytes[ENVELOPE..]);
        }
        requests.put_back(bytes);
    }

    /// Messages that were sent and that no receive has asked for: to which rank, and how many.
    pub fn unanswered(&self) -> Option<(u16, usize)> {
        self.messenger.unanswered().map(|(to, count)| (to.0 as u16, count))
    }

    /// Messages that have arrived and that no receive has asked for.
    pub fn unexpected(&self) -> impl Iterator<Item = (Context, Status)> {
        let all = self.messenger.unexpected();
        all.map(|(context, from, tag, bytes)| (context, Status { from: from.0 as u16, tag, bytes }))
    }

    /// Returns true if it has nothing posted for itself.
    pub fn has_sent_all(&self) -> bool {
        self.own.is_empty()
    }

    /// Returns true if every message that has to be asked for was, or was refused.
    pub fn is_answered(&self) -> bool {
        self.messenger.has_sent_all()
    }

    /// Bytes of messages that no receive has asked for, and how many these are at most.
    #[cfg(any(test, feature = "bare"))]
    pub fn kept_bytes(&self) -> (usize, usize) {
        let bytes: usize = self.peers.iter().map(|peer| peer.bytes).sum();
        let (standing, most) = self.messenger.standing();
        (bytes + standing as usize, self.peers.len() * (self.most_kept + most as usize))
    }

    /// Inputs that cannot be.
    #[cfg(test)]
    pub fn strays(&self) -> u64 {
        self.messenger.strays()
    }
}

/// The bytes of an envelope, and those of a send behind it.
fn enclose(requests: &mut Requests, envelope: &Envelope, of: Option<RequestKey>) -> Vec<u8> {
    let mut own = requests.buffer();
    own.extend_from_slice(&envelope::encode(envelope));
    if let Some(request) = of {
        own.extend_from_slice(requests.bytes(request));
    }
    own
}

fn request_id(key: RequestKey) -> RequestId {
    RequestId(key.data().as_ffi())
}

fn request_key(request: RequestId) -> RequestKey {
    RequestKey::from(KeyData::from_ffi(request.0))
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages").field("messenger", &self.messenger).finish_non_exhaustive()
    }
}
