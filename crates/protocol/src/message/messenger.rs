//! One rank's end of its virtual channels.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crosstie_units::Time;

use super::envelope::ENVELOPE;
use super::order::Order;
use super::{Body, Envelope, Tag};
use crate::slab::Slab;
use crate::{Machine, Matching, RailId, RailSet, RankId};

/// How ranks exchange messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSpec {
    /// The longest message that is sent without asking.
    pub eager: u64,
    /// Bytes of eager messages that each rank keeps for each other rank before somebody asks for
    /// them; at least 4 KiB and twice the longest eager message with its envelope. A sender
    /// without credit asks first (RTS), which takes none.
    pub credit: u64,
    /// Whether CTS and FIN are numbered and opened in order like all others, as Liu has it.
    /// Otherwise they are opened as they come: order matters for what is matched only.
    pub strict: bool,
    /// Whether FINs tell that data are in place, as where a receiver does not see them come
    /// (RDMA). Otherwise the driver's word is enough.
    pub fins: bool,
    /// True if no message is sent without asking, however short it is: a send is done when there
    /// is a receive for it, and receivers keep no bytes.
    pub synchronous: bool,
    /// The number of the first envelope between two ranks.
    pub first: u32,
    /// How often a rank that is waited for, and to which nothing is under way, is probed: who only
    /// waits would never learn that it cannot be reached. `None`: never.
    pub probe: Option<Time>,
}

impl MessageSpec {
    /// Returns true if a message of this length is sent without an RTS, if there is credit for it.
    fn is_eager(&self, bytes: u64) -> bool {
        bytes <= self.eager && !self.synchronous
    }

    /// Messages of up to so many bytes are eager.
    pub fn new(eager: u64) -> MessageSpec {
        let credit = (eager.saturating_add(ENVELOPE)).saturating_mul(32).max(1 << 16);
        MessageSpec {
            eager,
            credit,
            strict: true,
            fins: true,
            synchronous: false,
            first: 0,
            probe: None,
        }
    }
}

/// A send or a receive, as the application numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Something that was posted, as its messenger numbers what is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostId(pub u32);

/// What can happen to a messenger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The application sends a message.
    Send {
        /// The send.
        request: RequestId,
        /// The receiver; a rank may send to itself.
        to: RankId,
        /// What tells it apart.
        tag: Tag,
        /// Its length.
        bytes: u64,
    },
    /// The application asks for a message.
    Receive {
        /// The receive.
        request: RequestId,
        /// From whom; `None`: from anybody.
        from: Option<RankId>,
        /// Which; `None`: any.
        tag: Option<Tag>,
        /// The bytes there is room for.
        room: u64,
    },
    /// An envelope has come, whole.
    Arrived {
        /// From whom.
        from: RankId,
        /// The envelope.
        envelope: Envelope,
        /// The bytes that came with it.
        bytes: u64,
    },
    /// The last piece of something posted has been handed to a rail.
    HandedOver {
        /// What.
        post: PostId,
        /// The rails that it has taken.
        rails: RailSet,
    },
    /// The other rank has all of something posted.
    Landed {
        /// What.
        post: PostId,
    },
    /// Another rank cannot be reached any more.
    Unreachable {
        /// Which.
        peer: RankId,
    },
    /// This rank leaves, and says so to another.
    Leave {
        /// To whom.
        to: RankId,
        /// As in [`Body::Left`].
        failed: bool,
    },
}

/// What a messenger wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Take an envelope to another rank.
    Post {
        /// By this the messenger is told what has become of it.
        post: PostId,
        /// The receiver.
        to: RankId,
        /// The envelope.
        envelope: Envelope,
        /// How many bytes of a message go with it.
        bytes: u64,
        /// The send that it begins, or whose bytes these are.
        of: Option<RequestId>,
        /// The rail that it must take, if that is up.
        rail: Option<RailId>,
        /// Whether it must not be cut.
        whole: bool,
    },
    /// A send is done: its bytes are needed no longer.
    Sent {
        /// The send.
        request: RequestId,
    },
    /// There is a place for the data of a long message: whatever comes for this receive of this
    /// rank goes there.
    Place {
        /// The receive, as in [`Body::Data`].
        receive: u32,
        /// From whom.
        from: RankId,
        /// The receive, as the application numbers it.
        request: RequestId,
        /// The bytes there is room for.
        room: u64,
        /// The length of the message.
        bytes: u64,
    },
    /// A receive is done.
    Received {
        /// The receive.
        request: RequestId,
        /// The sender.
        from: RankId,
        /// The tag.
        tag: Tag,
        /// The length of the message; more than there was room for if it was cut off.
        bytes: u64,
        /// The number of the eager envelope whose bytes are to be put in place; `None`: they are
        /// there.
        envelope: Option<u32>,
    },
    /// A send or a receive will not be done: the other rank cannot be reached.
    Failed {
        /// Which.
        request: RequestId,
        /// The other rank.
        peer: RankId,
    },
    /// Another rank has left: it sends and receives nothing any more.
    Left {
        /// Which.
        peer: RankId,
        /// As in [`Body::Left`].
        failed: bool,
    },
}

/// A message that nobody has asked for yet.
#[derive(Debug, Clone, Copy)]
enum Unexpected {
    Eager { number: u32, bytes: u64 },
    Rts { send: u32, bytes: u64 },
}

/// A receive that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    request: RequestId,
    room: u64,
}

/// A long message that is being sent.
#[derive(Debug)]
struct Sending {
    request: RequestId,
    to: RankId,
    bytes: u64,
    /// The receive at the other end, once there is one.
    receive: Option<u32>,
}

/// A long message that is being received.
#[derive(Debug)]
struct Receiving {
    request: RequestId,
    from: RankId,
    tag: Tag,
    bytes: u64,
    /// Whether its data are there.
    whole: bool,
    finished: u32,
    of: Option<u32>,
}

/// RTS to one rank that may be unanswered at once: what bounds the memory that a peer can fill. It
/// is far more than programs have under way; a send beyond it waits until an earlier one is
/// answered.
const MOST_ASKED: u32 = 1 << 20;

/// What became of a request that was [cancelled](Messenger::cancel).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It has had no effect: no message was taken, and none will be delivered.
    Withdrawn,
    /// A send that the other rank knows of: it is delivered if that asks for it. Its bytes are
    /// needed until then.
    GoesOn,
    /// A receive whose message is coming: the message is dropped when it is there.
    Taken {
        /// The sender.
        from: RankId,
        /// The tag.
        tag: Tag,
        /// The length of the message.
        bytes: u64,
    },
}

/// What was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Posted {
    to: RankId,
    /// The send whose data it is.
    data: Option<u32>,
}

/// What is kept of another rank.
#[derive(Debug)]
struct Peer {
    order: Order<(Body, u64)>,
    /// Bytes that may be sent before somebody has asked for them.
    credit: u64,
    /// RTS that were sent and not answered.
    asked: u32,
    /// Sends that wait because there are too many of these.
    stalled: VecDeque<(RequestId, Tag, u64)>,
    /// Credit to be given back, and what the other still has kept here: bytes of eager messages,
    /// and RTS.
    owed: u64,
    kept: u64,
    kept_asked: u32,
    unreachable: bool,
}

impl Peer {
    /// Whether a message of so many bytes would be posted at once, whole.
    fn sends_at_once(&self, spec: &MessageSpec, bytes: u64) -> bool {
        let eager = spec.is_eager(bytes) && ENVELOPE.saturating_add(bytes) <= self.credit;
        eager && !self.unreachable && self.stalled.is_empty()
    }

    /// Whether the envelope with this number would be opened at once, with an eager message in it,
    /// and nothing would have to be said to that.
    fn opens_at_once(&self, spec: &MessageSpec, bytes: u64, number: u32) -> bool {
        let (price, most) = (ENVELOPE.saturating_add(bytes), spec.credit);
        let fits = spec.is_eager(bytes) && self.kept + self.owed + price <= most;
        let silent = !is_repaid(self.owed + price, most);
        fits && silent && !self.unreachable && self.order.awaits(number)
    }
}

/// One rank's end of its virtual channels.
#[derive(Debug)]
pub struct Messenger {
    spec: MessageSpec,
    id: RankId,
    peers: BTreeMap<RankId, Peer>,
    matching: Matching<RankId, Tag, Waiting, Unexpected>,
    sending: Slab<Sending>,
    receiving: Slab<Receiving>,
    posted: Slab<Posted>,
    actions: VecDeque<Action>,
    /// When those are probed next who are waited for.
    next_probe: Option<Time>,
    strays: u64,
}

/// Whether credit is given back if so much of it is owed: half of it.
fn is_repaid(owed: u64, most: u64) -> bool {
    owed >= most / 2
}

impl Messenger {
    /// An idle messenger.
    pub fn new(spec: MessageSpec, id: RankId) -> Messenger {
        let least = spec.eager.saturating_add(ENVELOPE).saturating_mul(2).max(4096);
        Messenger {
            spec: MessageSpec { credit: spec.credit.max(least), ..spec },
            id,
            peers: BTreeMap::new(),
            matching: Matching::default(),
            sending: Slab::new(),
            receiving: Slab::new(),
            posted: Slab::new(),
            actions: VecDeque::new(),
            next_probe: None,
            strays: 0,
        }
    }

    /// Envelopes and reports that cannot be: whoever sent them is wrong.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// Envelopes that this rank has posted, of those that are opened in order.
    pub fn posted(&self) -> u64 {
        self.peers.values().map(|peer| peer.order.assigned()).sum()
    }

    /// Envelopes that had to wait for others before them.
    pub fn deferred(&self) -> u64 {
        self.peers.values().map(|peer| peer.order.deferred()).sum()
    }

    /// The bytes that are kept for messages nobody has asked for.
    pub fn kept(&self) -> u64 {
        self.peers.values().map(|peer| peer.kept).sum()
    }

    /// Whether it wants something done.
    pub fn wants(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Whether nothing is under way, nothing waits, and nothing is kept.
    pub fn is_idle(&self) -> bool {
        let rests = |peer: &Peer| peer.order.is_empty() && peer.stalled.is_empty();
        self.sending.is_empty()
            && self.receiving.is_empty()
            && self.posted.is_empty()
            && self.matching.is_empty()
            && self.actions.is_empty()
            && self.peers.values().all(rests)
    }

    /// The oldest message that a receive would take: from whom, its tag and its length.
    pub fn probe(&self, from: Option<RankId>, tag: Option<Tag>) -> Option<(RankId, Tag, u64)> {
        let (from, tag, message) = self.matching.probe(from, tag)?;
        let (Unexpected::Eager { bytes, .. } | Unexpected::Rts { bytes, .. }) = *message;
        Some((from, tag, bytes))
    }

    /// Messages that nobody has asked for: from whom, their tags and their lengths.
    pub fn unexpected(&self) -> impl Iterator<Item = (RankId, Tag, u64)> {
        self.matching.messages().map(|(from, tag, message)| {
            let (Unexpected::Eager { bytes, .. } | Unexpected::Rts { bytes, .. }) = *message;
            (from, tag, bytes)
        })
    }

    /// Sends that the other rank has not asked for yet: how many, and to whom the first is.
    pub fn unanswered(&self) -> Option<(RankId, usize)> {
        let mut unanswered = self.sending.iter().map(|(_, sending)| sending.to);
        Some((unanswered.next()?, unanswered.count() + 1))
    }

    /// The oldest receive that no message has come for: from whom, its tag, and which.
    pub fn awaited(&self) -> Option<(Option<RankId>, Option<Tag>, RequestId)> {
        let (from, tag, Waiting { request, .. }) = self.matching.awaited()?;
        Some((from, tag, request))
    }

    /// The number of the envelope in which a message of so many bytes would be posted, if it were
    /// sent now and would be the first thing that the messenger wants done. `None`: it would
    /// not, or not at once, or it is not known.
    pub fn foresee(&self, to: RankId, bytes: u64) -> Option<u32> {
        let peer = self.peers.get(&to)?;
        let goes = self.actions.is_empty() && peer.sends_at_once(&self.spec, bytes);
        goes.then(|| peer.order.next())
    }

    /// Sends a message where that is all there is to it: `carry` takes the envelope with this
    /// number to its receiver, as through memory. It comes to the same as an [`Input::Send`]
    /// whose post has [landed](Input::Landed). Whether it was sent: not if it was not
    /// [foreseen](Messenger::foresee), and not if it could not be carried.
    pub fn send_at_once(
        &mut self,
        now: Time,
        to: RankId,
        bytes: u64,
        carry: impl FnOnce(u32) -> bool,
    ) -> bool {
        let free = self.actions.is_empty();
        let Some(peer) = self.peers.get_mut(&to) else { return false };
        let goes = free && peer.sends_at_once(&self.spec, bytes);
        if !goes || !carry(peer.order.next()) {
            return false;
        }
        peer.order.assign();
        peer.credit -= ENVELOPE + bytes;
        self.plan_probe(now);
        true
    }

    /// The receive that an eager message would be for if it came now, in an envelope of this
    /// number, if that would be all that the messenger wants done.
    pub fn foresee_arrival(
        &self,
        from: RankId,
        tag: Tag,
        bytes: u64,
        number: u32,
    ) -> Option<RequestId> {
        let peer = self.peers.get(&from)?;
        let opens = self.actions.is_empty() && peer.opens_at_once(&self.spec, bytes, number);
        let Waiting { request, .. } = self.matching.awaiting(from, tag).filter(|_| opens)?;
        Some(request)
    }

    /// Gives an eager message to the receive that it is for, where that is all there is to it: what
    /// [`Messenger::foresee_arrival`] foresees is done with this, as if [`Input::Arrived`] had
    /// told of it.
    pub fn receive_at_once(
        &mut self,
        now: Time,
        from: RankId,
        tag: Tag,
        bytes: u64,
        number: u32,
    ) -> Option<RequestId> {
        let free = self.actions.is_empty();
        let peer = self.peers.get_mut(&from)?;
        if !free || !peer.opens_at_once(&self.spec, bytes, number) {
            return None;
        }
        let Waiting { request, .. } = self.matching.take(from, tag)?;
        peer.order.pass();
        peer.owed += ENVELOPE + bytes;
        self.plan_probe(now);
        Some(request)
    }

    /// Gives up requests that nobody waits for any more; what became of each that was under way. A
    /// receive that waits takes no message from now on.
    pub fn cancel(&mut self, requests: &BTreeSet<RequestId>) -> Vec<(RequestId, Cancelled)> {
        let is_one = |request: &RequestId| requests.contains(request);
        let waiting = self.matching.cancel(|waiting| is_one(&waiting.request));
        let mut cancelled: Vec<(RequestId, Cancelled)> =
            waiting.into_iter().map(|waiting| (waiting.request, Cancelled::Withdrawn)).collect();
        for peer in self.peers.values_mut().filter(|peer| !peer.stalled.is_empty()) {
            peer.stalled.retain(|(request, ..)| {
                let withdrawn = is_one(request);
                cancelled.extend(withdrawn.then_some((*request, Cancelled::Withdrawn)));
                !withdrawn
            });
        }
        let sends = self.sending.iter().map(|(_, sending)| (sending.request, Cancelled::GoesOn));
        let receives = self.receiving.iter().map(|(_, receiving)| {
            let &Receiving { request, from, tag, bytes, .. } = receiving;
            (request, Cancelled::Taken { from, tag, bytes })
        });
        cancelled.extend(sends.chain(receives).filter(|(request, _)| is_one(request)));
        cancelled
    }

    fn peer(&mut self, id: RankId) -> &mut Peer {
        let MessageSpec { credit, first, .. } = self.spec;
        self.peers.entry(id).or_insert_with(|| Peer {
            order: Order::new(first),
            credit,
            asked: 0,
            stalled: VecDeque::new(),
            owed: 0,
            kept: 0,
            kept_asked: 0,
            unreachable: false,
        })
    }

    /// Posts an envelope that must not be cut.
    fn post(
        &mut self,
        to: RankId,
        body: Body,
        (of, bytes): (Option<RequestId>, u64),
        rail: Option<RailId>,
    ) {
        let numbered = body.is_numbered(self.spec.strict);
        let number = numbered.then(|| self.peer(to).order.assign());
        let envelope = Envelope { number, body };
        let post = PostId(self.posted.put(|_| Posted { to, data: None }));
        let whole = true;
        self.actions.push_back(Action::Post { post, to, envelope, bytes, of, rail, whole });
    }

    fn send(&mut self, request: RequestId, to: RankId, tag: Tag, bytes: u64) {
        let peer = self.peer(to);
        if peer.unreachable {
            self.actions.push_back(Action::Failed { request, peer: to });
        } else if !peer.stalled.is_empty() || !self.begin(request, to, tag, bytes) {
            self.peer(to).stalled.push_back((request, tag, bytes));
        }
    }

    /// Begins a send: at once if there is credit for its bytes, otherwise with an RTS.
    fn begin(&mut self, request: RequestId, to: RankId, tag: Tag, bytes: u64) -> bool {
        let eager = self.spec.is_eager(bytes);
        let peer = self.peer(to);
        if eager && ENVELOPE.saturating_add(bytes) <= peer.credit {
            peer.credit -= ENVELOPE + bytes;
            self.post(to, Body::Eager { tag, bytes }, (Some(request), bytes), None);
            self.actions.push_back(Action::Sent { request });
        } else if peer.asked < MOST_ASKED {
            peer.asked += 1;
            let send = self.sending.put(|_| Sending { request, to, bytes, receive: None });
            self.post(to, Body::Rts { tag, bytes, send }, (Some(request), 0), None);
        } else {
            return false;
        }
        true
    }

    /// Begins sends that wait, in order, as far as they can be.
    fn resume(&mut self, to: RankId) {
        while let Some(&(request, tag, bytes)) = self.peer(to).stalled.front()
            && self.begin(request, to, tag, bytes)
        {
            self.peer(to).stalled.pop_front();
        }
    }

    fn receive(&mut self, request: RequestId, from: Option<RankId>, tag: Option<Tag>, room: u64) {
        if let Some(peer) = from
            && self.peers.get(&peer).is_some_and(|peer| peer.unreachable)
            && self.matching.probe(from, tag).is_none()
        {
            self.actions.push_back(Action::Failed { request, peer });
            return;
        }
        let waiting = Waiting { request, room };
        if let Some((from, tag, message)) = self.matching.post(from, tag, waiting) {
            self.take(from, tag, message, waiting);
        }
    }

    /// A receive has its message.
    fn take(&mut self, from: RankId, tag: Tag, message: Unexpected, waiting: Waiting) {
        let Waiting { request, room } = waiting;
        match message {
            Unexpected::Eager { number, bytes } => {
                self.repay(from, ENVELOPE + bytes);
                let envelope = Some(number);
                self.actions.push_back(Action::Received { request, from, tag, bytes, envelope });
            }
            Unexpected::Rts { send, bytes } => {
                self.peer(from).kept_asked -= 1;
                let receive = self.receiving.put(|_| Receiving {
                    request,
                    from,
                    tag,
                    bytes,
                    whole: false,
                    finished: 0,
                    of: None,
                });
                self.actions.push_back(Action::Place { receive, from, request, room, bytes });
                self.post(from, Body::Cts { send, receive }, (None, 0), None);
            }
        }
    }

    /// What another rank had kept here has been asked for.
    fn repay(&mut self, to: RankId, bytes: u64) {
        let most = self.spec.credit;
        let peer = self.peer(to);
        peer.kept -= bytes;
        peer.owed += bytes;
        if is_repaid(peer.owed, most) && !peer.unreachable {
            let bytes = std::mem::take(&mut peer.owed);
            self.post(to, Body::Credit { bytes }, (None, 0), None);
        }
    }

    fn arrived(&mut self, from: RankId, envelope: Envelope, bytes: u64) {
        if self.peers.get(&from).is_some_and(|peer| peer.unreachable) {
            return;
        }
        let numbered = envelope.body.is_numbered(self.spec.strict);
        if envelope.number.is_some() != numbered {
            self.strays += 1;
            return;
        }
        let Some(number) = envelope.number else {
            return self.open(from, envelope.body, bytes, 0);
        };
        if !self.peer(from).order.arrive(number, (envelope.body, bytes)) {
            self.strays += 1;
            return;
        }
        while let Some((number, (body, bytes))) = self.peer(from).order.open() {
            self.open(from, body, bytes, number);
        }
    }

    /// Opens an envelope whose turn it is.
    fn open(&mut self, from: RankId, body: Body, came: u64, number: u32) {
        let fits = match body {
            Body::Eager { tag, bytes } => {
                let message = Unexpected::Eager { number, bytes };
                came == bytes && self.spec.is_eager(bytes) && self.keep(from, tag, message)
            }
            Body::Rts { tag, bytes, send } => self.keep(from, tag, Unexpected::Rts { send, bytes }),
            Body::Cts { send, receive } => self.clear_to_send(from, send, receive),
            Body::Data { receive } => self.data(from, receive, came),
            Body::Fin { receive, of } => self.finish(from, receive, of),
            Body::Credit { bytes } => self.credit(from, bytes),
            Body::Probe => true,
            Body::Left { failed } => {
                self.actions.push_back(Action::Left { peer: from, failed });
                true
            }
        };
        self.strays += u64::from(!fits);
    }

    /// A message has come that somebody may have asked for.
    fn keep(&mut self, from: RankId, tag: Tag, message: Unexpected) -> bool {
        let most = self.spec.credit;
        let peer = self.peer(from);
        match message {
            Unexpected::Eager { bytes, .. } => {
                let price = ENVELOPE + bytes;
                if peer.kept + peer.owed + price > most {
                    // More than it has credit for.
                    return false;
                }
                peer.kept += price;
            }
            Unexpected::Rts { .. } => {
                if peer.kept_asked >= MOST_ASKED {
                    return false;
                }
                peer.kept_asked += 1;
            }
        }
        if let Some((waiting, message)) = self.matching.arrive(from, tag, message) {
            self.take(from, tag, message, waiting);
        }
        true
    }

    fn clear_to_send(&mut self, from: RankId, send: u32, receive: u32) -> bool {
        let fits = |sending: &&mut Sending| sending.to == from && sending.receive.is_none();
        let Some(sending) = self.sending.get_mut(send).filter(fits) else { return false };
        sending.receive = Some(receive);
        let (to, of, bytes) = (from, Some(sending.request), sending.bytes);
        let envelope = Envelope { number: None, body: Body::Data { receive } };
        let post = PostId(self.posted.put(|_| Posted { to, data: Some(send) }));
        let (rail, whole) = (None, false);
        self.actions.push_back(Action::Post { post, to, envelope, bytes, of, rail, whole });
        self.peer(from).asked -= 1;
        self.resume(from);
        true
    }

    fn data(&mut self, from: RankId, receive: u32, came: u64) -> bool {
        let fits = |receiving: &&mut Receiving| {
            receiving.from == from && !receiving.whole && receiving.bytes == came
        };
        let Some(receiving) = self.receiving.get_mut(receive).filter(fits) else { return false };
        receiving.whole = true;
        self.conclude(receive);
        true
    }

    fn finish(&mut self, from: RankId, receive: u32, of: u32) -> bool {
        let fins = self.spec.fins;
        let fits = |receiving: &&mut Receiving| {
            let agrees = receiving.of.is_none_or(|known| known == of);
            fins && receiving.from == from && agrees && receiving.finished < of
        };
        let Some(receiving) = self.receiving.get_mut(receive).filter(fits) else { return false };
        receiving.of = Some(of);
        receiving.finished += 1;
        self.conclude(receive);
        true
    }

    /// A long message is there when its data and all its FINs are.
    fn conclude(&mut self, receive: u32) {
        let Some(receiving) = self.receiving.get_mut(receive) else { return };
        let told = !self.spec.fins || receiving.of == Some(receiving.finished);
        if receiving.whole && told {
            let &mut Receiving { request, from, tag, bytes, .. } = receiving;
            self.receiving.remove(receive);
            let envelope = None;
            self.actions.push_back(Action::Received { request, from, tag, bytes, envelope });
        }
    }

    fn credit(&mut self, from: RankId, bytes: u64) -> bool {
        let most = self.spec.credit;
        let peer = self.peer(from);
        if bytes > most - peer.credit {
            // More than it was ever given.
            return false;
        }
        peer.credit += bytes;
        true
    }

    fn handed_over(&mut self, post: PostId, rails: RailSet) {
        let Some(&Posted { data: Some(send), .. }) = self.posted.get(post.0) else { return };
        let Some(&Sending { to, receive: Some(receive), .. }) = self.sending.get(send) else {
            self.strays += 1;
            return;
        };
        if !self.spec.fins {
            return;
        }
        let of = rails.len();
        for rail in rails.iter() {
            self.post(to, Body::Fin { receive, of }, (None, 0), Some(rail));
        }
    }

    fn landed(&mut self, post: PostId) {
        let Some(&Posted { data, .. }) = self.posted.get(post.0) else {
            self.strays += 1;
            return;
        };
        self.posted.remove(post.0);
        if let Some(send) = data
            && let Some(&Sending { request, .. }) = self.sending.get(send)
        {
            self.sending.remove(send);
            self.actions.push_back(Action::Sent { request });
        }
    }

    /// Ranks that are waited for, and to which nothing is under way.
    fn waited_for(&self) -> BTreeSet<RankId> {
        let sends = self.sending.iter().map(|(_, sending)| sending.to);
        let receives = self.receiving.iter().map(|(_, receiving)| receiving.from);
        let stalled = self.peers.iter().filter(|(_, peer)| !peer.stalled.is_empty());
        let waiting = sends.chain(receives).chain(stalled.map(|(&id, _)| id));
        let mut awaited: BTreeSet<RankId> = waiting.chain(self.matching.awaited_from()).collect();
        awaited.remove(&self.id);
        for (_, posted) in self.posted.iter() {
            awaited.remove(&posted.to);
        }
        awaited
    }

    /// Sets the time of the next probes, if somebody may be waited for.
    fn plan_probe(&mut self, now: Time) {
        let waits =
            !(self.sending.is_empty() && self.receiving.is_empty() && self.matching.is_empty());
        if let Some(probe) = self.spec.probe.filter(|_| waits && self.next_probe.is_none()) {
            self.next_probe = Some(now + probe);
        }
    }

    /// Everything that waits for another rank fails. What has come from it whole, and after nothing
    /// that has not, may still be asked for.
    fn unreachable(&mut self, id: RankId) {
        let is_asked = |message: &Unexpected| matches!(message, Unexpected::Rts { .. });
        let lost = self.matching.withdraw(id, is_asked);
        self.posted.drain(|posted| posted.to == id);
        let peer = self.peer(id);
        peer.unreachable = true;
        peer.asked = 0;
        for (_, message) in lost {
            match message {
                Unexpected::Eager { bytes, .. } => peer.kept -= ENVELOPE + bytes,
                Unexpected::Rts { .. } => peer.kept_asked -= 1,
            }
        }
        peer.order.clear();
        let stalled = std::mem::take(&mut peer.stalled);
        let failed = stalled.into_iter().map(|(request, ..)| request);
        let sends = self.sending.drain(|sending| sending.to == id);
        let receives = self.receiving.drain(|receiving| receiving.from == id);
        let named = self.matching.give_up(id);
        let all: Vec<RequestId> = failed
            .chain(sends.into_iter().map(|sending| sending.request))
            .chain(receives.into_iter().map(|receiving| receiving.request))
            .chain(named.into_iter().map(|waiting| waiting.request))
            .collect();
        let failed = all.into_iter().map(|request| Action::Failed { request, peer: id });
        self.actions.extend(failed);
    }
}

impl Machine for Messenger {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Send { request, to, tag, bytes } => self.send(request, to, tag, bytes),
            Input::Receive { request, from, tag, room } => self.receive(request, from, tag, room),
            Input::Arrived { from, envelope, bytes } => self.arrived(from, envelope, bytes),
            Input::HandedOver { post, rails } => self.handed_over(post, rails),
            Input::Landed { post } => self.landed(post),
            Input::Unreachable { peer } => self.unreachable(peer),
            Input::Leave { to, failed } => self.post(to, Body::Left { failed }, (None, 0), None),
        }
        self.plan_probe(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.next_probe.is_none_or(|at| now < at) {
            return;
        }
        self.next_probe = None;
        let awaited = self.waited_for();
        if !awaited.is_empty() {
            self.plan_probe(now);
        }
        awaited.into_iter().for_each(|to| self.post(to, Body::Probe, (None, 0), None));
    }

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.next_probe
    }
}
