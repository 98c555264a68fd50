//! One rank's end of its virtual channels.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crosstie_units::Time;

use super::envelope::ENVELOPE;
use super::inboxes::{Inbox, Inboxes};
use super::order::Order;
use super::{Body, Class, Context, Envelope, Tag};
use crate::slab::Slab;
use crate::{Machine, RailId, RailSet, RankId};

/// How ranks exchange messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSpec {
    /// The longest message that is sent without asking.
    pub eager: u64,
    /// Bytes of eager messages that each rank keeps for each other rank before somebody asks for
    /// them, in each [`Class`]; at least 4 KiB and twice the longest eager message with its
    /// envelope. A sender without credit asks first (RTS), which takes none.
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

/// A message that was taken out of matching, as its messenger numbers those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub u32);

/// What can happen to a messenger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The application sends a message.
    Send {
        /// The send.
        request: RequestId,
        /// Only receives of this context take it.
        context: Context,
        /// The receiver; a rank may send to itself.
        to: RankId,
        /// What tells it apart.
        tag: Tag,
        /// Its length.
        bytes: u64,
        /// True if the send is not done before a receive has taken the message.
        synchronous: bool,
    },
    /// The application asks for a message.
    Receive {
        /// The receive.
        request: RequestId,
        /// It takes messages of this context only.
        context: Context,
        /// From whom; `None`: from anybody.
        from: Option<RankId>,
        /// Which; `None`: any.
        tag: Option<Tag>,
        /// The bytes there is room for.
        room: u64,
    },
    /// The application receives a message that it has [claimed](Messenger::claim).
    ReceiveClaimed {
        /// The receive.
        request: RequestId,
        /// The message.
        claim: ClaimId,
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
    /// The application asks for nothing more: messages that wait for that are refused.
    Close,
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
        /// The eager envelope whose bytes are to be put in place, by its class and number; `None`:
        /// they are there.
        envelope: Option<(Class, u32)>,
    },
    /// A send or a receive will not be done: the other rank cannot be reached, or is closed.
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
pub(super) enum Unexpected {
    /// `send`: the send at the other end, if that waits for the match.
    Eager {
        number: u32,
        bytes: u64,
        send: Option<u32>,
    },
    Rts {
        send: u32,
        bytes: u64,
    },
}

impl Unexpected {
    fn bytes(&self) -> u64 {
        match *self {
            Unexpected::Eager { bytes, .. } | Unexpected::Rts { bytes, .. } => bytes,
        }
    }

    /// The send at the other end that waits until a receive asks for it.
    fn send(&self) -> Option<u32> {
        match *self {
            Unexpected::Eager { send, .. } => send,
            Unexpected::Rts { send, .. } => Some(send),
        }
    }
}

/// A message that was taken out of matching, and that no receive has yet.
#[derive(Debug, Clone, Copy)]
struct Claimed {
    context: Context,
    /// Where it stood.
    age: u64,
    from: RankId,
    tag: Tag,
    message: Unexpected,
}

/// A receive that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub request: RequestId,
    pub room: u64,
}

/// A message that is being sent, and of which something is still to be heard.
#[derive(Debug)]
struct Sending {
    request: RequestId,
    class: Class,
    to: RankId,
    bytes: u64,
    stage: Stage,
}

/// What a send waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// An answer to its RTS.
    Asked,
    /// That its data are there: they go to this receive of the other end.
    Granted { receive: u32 },
    /// That its eager message is matched.
    Unmatched,
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

/// RTS to one rank in a class that may be unanswered at once: this bounds the memory that a peer
/// can fill. It is far more than programs have under way; a send beyond it waits until an earlier
/// one is answered.
const MOST_ASKED: u32 = 1 << 18;

/// Bytes that an unexpected message takes besides its own, at most: its place in a line, and a line
/// and an inbox of its own.
const STANDING: u64 = 2048;

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

/// What is kept of another rank, for one class of messages.
#[derive(Debug)]
struct Flow {
    order: Order<(Body, u64)>,
    /// Bytes that may be sent before somebody has asked for them.
    credit: u64,
    /// RTS that were sent and not answered.
    asked: u32,
    /// Sends that wait because there are too many of these.
    stalled: VecDeque<Stalled>,
    /// Credit to be given back, and what the other still has kept here: bytes of eager messages,
    /// and RTS.
    owed: u64,
    kept: u64,
    kept_asked: u32,
}

/// A send that has not begun.
#[derive(Debug, Clone, Copy)]
struct Stalled {
    request: RequestId,
    context: Context,
    tag: Tag,
    bytes: u64,
    synchronous: bool,
}

impl Flow {
    fn new(&MessageSpec { first, credit, .. }: &MessageSpec) -> Flow {
        Flow {
            order: Order::new(first),
            credit,
            asked: 0,
            stalled: VecDeque::new(),
            owed: 0,
            kept: 0,
            kept_asked: 0,
        }
    }

    /// Takes the credit for an eager message of this length; returns false if there is too little.
    fn charge(&mut self, bytes: u64) -> bool {
        let left = self.credit.checked_sub(ENVELOPE.saturating_add(bytes));
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }

    /// Returns true if there is credit for an eager message of this length that has come.
    fn has_room(&self, spec: &MessageSpec, bytes: u64) -> bool {
        self.kept + self.owed + ENVELOPE.saturating_add(bytes) <= spec.credit
    }
}

/// One rank's end of its virtual channels.
#[derive(Debug)]
pub struct Messenger {
    spec: MessageSpec,
    id: RankId,
    flows: BTreeMap<(RankId, Class), Flow>,
    /// Ranks that cannot be reached any more.
    gone: BTreeSet<RankId>,
    inboxes: Inboxes,
    /// True if the application asks for nothing more.
    closed: bool,
    sending: Slab<Sending>,
    receiving: Slab<Receiving>,
    claimed: Slab<Claimed>,
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
            flows: BTreeMap::new(),
            gone: BTreeSet::new(),
            inboxes: Inboxes::default(),
            closed: false,
            sending: Slab::new(),
            receiving: Slab::new(),
            claimed: Slab::new(),
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
        self.flows.values().map(|flow| flow.order.assigned()).sum()
    }

    /// Envelopes that had to wait for others before them.
    pub fn deferred(&self) -> u64 {
        self.flows.values().map(|flow| flow.order.deferred()).sum()
    }

    /// The bytes that are kept for messages nobody has asked for.
    pub fn kept(&self) -> u64 {
        self.flows.values().map(|flow| flow.kept).sum()
    }

    /// Bytes that all unexpected messages take here besides the bytes of eager ones, and the most
    /// that those of one rank can take, whatever it does.
    pub fn standing(&self) -> (u64, u64) {
        let count = self.inboxes.iter().map(|(_, inbox)| inbox.messages().count() as u64);
        // An eager message of no bytes costs the credit of its envelope.
        let eager = self.spec.credit / ENVELOPE;
        let most = Class::ALL.len() as u64 * (u64::from(MOST_ASKED) + eager);
        (STANDING * count.sum::<u64>(), STANDING * most)
    }

    /// Whether nothing is under way, nothing waits, and nothing is kept.
    pub fn is_idle(&self) -> bool {
        let rests = |flow: &Flow| flow.order.is_empty() && flow.stalled.is_empty();
        self.sending.is_empty()
            && self.receiving.is_empty()
            && self.claimed.is_empty()
            && self.posted.is_empty()
            && self.inboxes.is_empty()
            && self.actions.is_empty()
            && self.flows.values().all(rests)
    }

    /// The oldest message of a context that a receive would take: its sender, its tag and its
    /// length.
    pub fn probe(
        &self,
        context: Context,
        from: Option<RankId>,
        tag: Option<Tag>,
    ) -> Option<(RankId, Tag, u64)> {
        let (from, tag, message) = self.inboxes.get(context)?.probe(from, tag)?;
        Some((from, tag, message.bytes()))
    }

    /// Takes the oldest message that a receive would take out of matching: it is for the holder of
    /// its number.
    pub fn claim(
        &mut self,
        context: Context,
        from: Option<RankId>,
        tag: Option<Tag>,
    ) -> Option<(ClaimId, RankId, Tag, u64)> {
        let (age, from, tag, message) =
            self.inboxes.with(context, |inbox| inbox.claim(from, tag))?;
        let claimed = Claimed { context, age, from, tag, message };
        Some((ClaimId(self.claimed.put(|_| claimed)), from, tag, message.bytes()))
    }

    /// Gives back a message that was claimed: it stands where it stood, for any receive.
    pub fn unclaim(&mut self, now: Time, claim: ClaimId) {
        let Some(&claimed) = self.claimed.get(claim.0) else {
            self.strays += 1;
            return;
        };
        self.claimed.remove(claim.0);
        let Claimed { context, age, from, tag, message } = claimed;
        let put_back = |inbox: &mut Inbox| inbox.put_back(age, (from, tag), message);
        if let Some((waiting, _)) = self.inboxes.with(context, put_back) {
            self.take(claimed, waiting);
        } else if self.closed {
            self.refuse(context, from, message);
        }
        self.plan_probe(now);
    }

    /// Messages that no receive has asked for, also those that were claimed: their contexts,
    /// senders, tags and lengths.
    pub fn unexpected(&self) -> impl Iterator<Item = (Context, RankId, Tag, u64)> {
        let all = self.inboxes.iter().flat_map(|(context, inbox)| {
            inbox.messages().map(move |(from, tag, message)| (context, from, tag, message.bytes()))
        });
        let claimed = self.claimed.iter().map(|(_, claimed)| {
            let &Claimed { context, from, tag, message, .. } = claimed;
            (context, from, tag, message.bytes())
        });
        all.chain(claimed)
    }

    /// Returns true if every send is done, also those whose receiver has to ask for them.
    pub fn has_sent_all(&self) -> bool {
        let stalled = |flow: &Flow| !flow.stalled.is_empty();
        self.sending.is_empty() && !self.flows.values().any(stalled)
    }

    /// Sends that the other rank has not asked for yet: how many, and to whom the first is.
    pub fn unanswered(&self) -> Option<(RankId, usize)> {
        let mut unanswered = self.sending.iter().map(|(_, sending)| sending.to);
        Some((unanswered.next()?, unanswered.count() + 1))
    }

    /// The oldest receive of a context that no message has come for: its sender, tag and request.
    pub fn awaited(&self, context: Context) -> Option<(Option<RankId>, Option<Tag>, RequestId)> {
        let (from, tag, Waiting { request, .. }) = self.inboxes.get(context)?.awaited()?;
        Some((from, tag, request))
    }

    /// Begins a send that is done at once: a short message for which there is credit, and that
    /// nothing has to wait for. Returns the number of its envelope, in which the driver takes the
    /// message to its receiver. `None`: the messenger is to be told of an [`Input::Send`].
    #[inline]
    pub fn send_inline(&mut self, now: Time, class: Class, to: RankId, bytes: u64) -> Option<u32> {
        if !self.spec.is_eager(bytes) || !self.actions.is_empty() {
            return None;
        }
        let flow = self.flows.get_mut(&(to, class))?;
        if !flow.stalled.is_empty() || self.gone.contains(&to) || !flow.charge(bytes) {
            return None;
        }
        let number = flow.order.assign();
        self.plan_probe(now);
        Some(number)
    }

    /// Gives an eager message that has come to the receive that waits for it, where nothing more is
    /// to be done. `None`: the messenger is to be told that its envelope has
    /// [arrived](Input::Arrived).
    #[inline]
    pub fn receive_inline(
        &mut self,
        now: Time,
        from: RankId,
        envelope: &Envelope,
        came: u64,
    ) -> Option<RequestId> {
        let Body::Eager { context, tag, bytes, send: None } = envelope.body else { return None };
        let fits = came == bytes && self.spec.is_eager(bytes) && self.actions.is_empty();
        let class = envelope.class;
        let flow = self.flows.get_mut(&(from, class)).filter(|_| fits)?;
        let price = ENVELOPE + bytes;
        let opens = flow.order.awaits(envelope.number?)
            && flow.has_room(&self.spec, bytes)
            && !is_repaid(flow.owed + price, self.spec.credit);
        if !opens || self.gone.contains(&from) {
            return None;
        }
        let Waiting { request, .. } =
            self.inboxes.take(Context { class, id: context }, from, tag)?;
        flow.order.pass();
        flow.owed += price;
        self.plan_probe(now);
        Some(request)
    }

    /// Gives up requests that nobody waits for any more; what became of each that was under way. A
    /// receive that waits takes no message from now on.
    pub fn cancel(&mut self, requests: &BTreeSet<RequestId>) -> Vec<(RequestId, Cancelled)> {
        let is_one = |request: &RequestId| requests.contains(request);
        let mut cancelled: Vec<(RequestId, Cancelled)> = Vec::new();
        self.inboxes.each(|_, inbox| {
            let waiting = inbox.cancel(|waiting| is_one(&waiting.request)).into_iter();
            cancelled.extend(waiting.map(|waiting| (waiting.request, Cancelled::Withdrawn)));
        });
        for flow in self.flows.values_mut().filter(|flow| !flow.stalled.is_empty()) {
            flow.stalled.retain(|&Stalled { request, .. }| {
                let withdrawn = is_one(&request);
                cancelled.extend(withdrawn.then_some((request, Cancelled::Withdrawn)));
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

    fn flow(&mut self, rank: RankId, class: Class) -> &mut Flow {
        let spec = &self.spec;
        self.flows.entry((rank, class)).or_insert_with(|| Flow::new(spec))
    }

    /// Posts an envelope that must not be cut.
    fn post(
        &mut self,
        class: Class,
        to: RankId,
        body: Body,
        (of, bytes): (Option<RequestId>, u64),
        rail: Option<RailId>,
    ) {
        let numbered = body.is_numbered(self.spec.strict);
        let number = numbered.then(|| self.flow(to, class).order.assign());
        let envelope = Envelope { class, number, body };
        let post = PostId(self.posted.put(|_| Posted { to, data: None }));
        let whole = true;
        self.actions.push_back(Action::Post { post, to, envelope, bytes, of, rail, whole });
    }

    fn send(&mut self, to: RankId, send: Stalled) {
        let class = send.context.class;
        if self.gone.contains(&to) {
            self.actions.push_back(Action::Failed { request: send.request, peer: to });
        } else if !self.flow(to, class).stalled.is_empty() || !self.begin(to, send) {
            self.flow(to, class).stalled.push_back(send);
        }
    }

    /// Begins a send: at once if there is credit for its bytes, otherwise with an RTS. Returns
    /// false if there are too many of these.
    fn begin(&mut self, to: RankId, send: Stalled) -> bool {
        let Stalled { request, context: Context { class, id: context }, tag, bytes, .. } = send;
        let eager = self.spec.is_eager(bytes);
        let flow = self.flow(to, class);
        if eager && flow.charge(bytes) {
            let stage = Stage::Unmatched;
            let unmatched = send
                .synchronous
                .then(|| self.sending.put(|_| Sending { request, class, to, bytes, stage }));
            let body = Body::Eager { context, tag, bytes, send: unmatched };
            self.post(class, to, body, (Some(request), bytes), None);
            if !send.synchronous {
                self.actions.push_back(Action::Sent { request });
            }
        } else if flow.asked < MOST_ASKED {
            flow.asked += 1;
            let stage = Stage::Asked;
            let send = self.sending.put(|_| Sending { request, class, to, bytes, stage });
            let body = Body::Rts { context, tag, bytes, send };
            self.post(class, to, body, (Some(request), 0), None);
        } else {
            return false;
        }
        true
    }

    /// Begins sends that wait, in order, as far as they can be.
    fn resume(&mut self, to: RankId, class: Class) {
        while let Some(&send) = self.flow(to, class).stalled.front()
            && self.begin(to, send)
        {
            self.flow(to, class).stalled.pop_front();
        }
    }

    fn receive(
        &mut self,
        request: RequestId,
        context: Context,
        from: Option<RankId>,
        tag: Option<Tag>,
        room: u64,
    ) {
        if let Some(peer) = from
            && self.gone.contains(&peer)
            && self.probe(context, from, tag).is_none()
        {
            self.actions.push_back(Action::Failed { request, peer });
            return;
        }
        let waiting = Waiting { request, room };
        let found = self.inboxes.with(context, |inbox| inbox.post(from, tag, waiting));
        if let Some((from, tag, message)) = found {
            self.take(Claimed { context, age: 0, from, tag, message }, waiting);
        }
    }

    /// A receive has its message.
    fn take(&mut self, taken: Claimed, waiting: Waiting) {
        let Waiting { request, room } = waiting;
        let Claimed { context: Context { class, .. }, from, tag, message, .. } = taken;
        match message {
            Unexpected::Eager { number, bytes, send } => {
                self.repay(from, class, ENVELOPE + bytes);
                let envelope = Some((class, number));
                self.actions.push_back(Action::Received { request, from, tag, bytes, envelope });
                if let Some(send) = send.filter(|_| !self.gone.contains(&from)) {
                    self.post(class, from, Body::Matched { send }, (None, 0), None);
                }
            }
            Unexpected::Rts { .. } if self.gone.contains(&from) => {
                self.actions.push_back(Action::Failed { request, peer: from });
            }
            Unexpected::Rts { send, bytes } => {
                self.flow(from, class).kept_asked -= 1;
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
                self.post(class, from, Body::Cts { send, receive }, (None, 0), None);
            }
        }
    }

    /// What another rank had kept here has been asked for.
    fn repay(&mut self, to: RankId, class: Class, bytes: u64) {
        let most = self.spec.credit;
        let flow = self.flow(to, class);
        flow.kept -= bytes;
        flow.owed += bytes;
        if is_repaid(flow.owed, most) && !self.gone.contains(&to) {
            let bytes = std::mem::take(&mut self.flow(to, class).owed);
            self.post(class, to, Body::Credit { bytes }, (None, 0), None);
        }
    }

    fn arrived(&mut self, from: RankId, envelope: Envelope, bytes: u64) {
        let Envelope { class, number, body } = envelope;
        if self.gone.contains(&from) {
            return;
        }
        if number.is_some() != body.is_numbered(self.spec.strict) {
            self.strays += 1;
            return;
        }
        let Some(number) = number else { return self.open(from, class, body, bytes, 0) };
        if !self.flow(from, class).order.arrive(number, (body, bytes)) {
            self.strays += 1;
            return;
        }
        while let Some((number, (body, bytes))) = self.flow(from, class).order.open() {
            self.open(from, class, body, bytes, number);
        }
    }

    /// Opens an envelope whose turn it is.
    fn open(&mut self, from: RankId, class: Class, body: Body, came: u64, number: u32) {
        let fits = match body {
            Body::Eager { context, tag, bytes, send } => {
                let message = Unexpected::Eager { number, bytes, send };
                let context = Context { class, id: context };
                came == bytes && self.spec.is_eager(bytes) && self.keep(from, context, tag, message)
            }
            Body::Rts { context, tag, bytes, send } => {
                let context = Context { class, id: context };
                self.keep(from, context, tag, Unexpected::Rts { send, bytes })
            }
            Body::Cts { send, receive } => self.clear_to_send(from, send, receive),
            Body::Matched { send } => self.matched(from, send),
            Body::Refused { send } => self.refused(from, send),
            Body::Data { receive } => self.data(from, receive, came),
            Body::Fin { receive, of } => self.finish(from, receive, of),
            Body::Credit { bytes } => self.credit(from, class, bytes),
            Body::Probe => true,
            Body::Left { failed } => {
                self.actions.push_back(Action::Left { peer: from, failed });
                true
            }
        };
        self.strays += u64::from(!fits);
    }

    /// A message has come that somebody may have asked for.
    fn keep(&mut self, from: RankId, context: Context, tag: Tag, message: Unexpected) -> bool {
        let spec = self.spec;
        let flow = self.flow(from, context.class);
        match message {
            Unexpected::Eager { bytes, .. } => {
                if !flow.has_room(&spec, bytes) {
                    // More than it has credit for.
                    return false;
                }
                flow.kept += ENVELOPE + bytes;
            }
            Unexpected::Rts { .. } => {
                if flow.kept_asked >= MOST_ASKED {
                    return false;
                }
                flow.kept_asked += 1;
            }
        }
        let found = self.inboxes.with(context, |inbox| inbox.arrive(from, tag, message));
        if let Some((waiting, message)) = found {
            self.take(Claimed { context, age: 0, from, tag, message }, waiting);
        } else if self.closed {
            self.refuse(context, from, message);
        }
        true
    }

    /// The application asks for nothing more.
    fn close(&mut self) {
        self.closed = true;
        let kept = self.inboxes.iter().flat_map(|(context, inbox)| {
            inbox.messages().map(move |(from, _, &message)| (context, from, message))
        });
        let kept: Vec<_> = kept.collect();
        kept.into_iter().for_each(|(context, from, message)| self.refuse(context, from, message));
    }

    /// No receive will ask for a message: its sender is told, if it waits for that.
    fn refuse(&mut self, context: Context, to: RankId, message: Unexpected) {
        if let Some(send) = message.send().filter(|_| !self.gone.contains(&to)) {
            self.post(context.class, to, Body::Refused { send }, (None, 0), None);
        }
    }

    /// No receive will ask for the message of a send.
    fn refused(&mut self, from: RankId, send: u32) -> bool {
        let waits = |sending: &&Sending| {
            !matches!(sending.stage, Stage::Granted { .. }) && sending.to == from
        };
        let Some(&Sending { request, class, stage, .. }) = self.sending.get(send).filter(waits)
        else {
            return false;
        };
        self.sending.remove(send);
        self.actions.push_back(Action::Failed { request, peer: from });
        if stage == Stage::Asked {
            self.flow(from, class).asked -= 1;
            self.resume(from, class);
        }
        true
    }

    fn clear_to_send(&mut self, from: RankId, send: u32, receive: u32) -> bool {
        let fits = |sending: &&mut Sending| sending.to == from && sending.stage == Stage::Asked;
        let Some(sending) = self.sending.get_mut(send).filter(fits) else { return false };
        sending.stage = Stage::Granted { receive };
        let (class, to, of, bytes) = (sending.class, from, Some(sending.request), sending.bytes);
        let envelope = Envelope { class, number: None, body: Body::Data { receive } };
        let post = PostId(self.posted.put(|_| Posted { to, data: Some(send) }));
        let (rail, whole) = (None, false);
        self.actions.push_back(Action::Post { post, to, envelope, bytes, of, rail, whole });
        self.flow(from, class).asked -= 1;
        self.resume(from, class);
        true
    }

    fn matched(&mut self, from: RankId, send: u32) -> bool {
        let fits = |sending: &&Sending| sending.to == from && sending.stage == Stage::Unmatched;
        let Some(&Sending { request, .. }) = self.sending.get(send).filter(fits) else {
            return false;
        };
        self.sending.remove(send);
        self.actions.push_back(Action::Sent { request });
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

    fn credit(&mut self, from: RankId, class: Class, bytes: u64) -> bool {
        let most = self.spec.credit;
        let flow = self.flow(from, class);
        if bytes > most - flow.credit {
            // More than it was ever given.
            return false;
        }
        flow.credit += bytes;
        true
    }

    fn handed_over(&mut self, post: PostId, rails: RailSet) {
        let Some(&Posted { data: Some(send), .. }) = self.posted.get(post.0) else { return };
        let Some(&Sending { class, to, stage: Stage::Granted { receive }, .. }) =
            self.sending.get(send)
        else {
            self.strays += 1;
            return;
        };
        if !self.spec.fins {
            return;
        }
        let of = rails.len();
        for rail in rails.iter() {
            self.post(class, to, Body::Fin { receive, of }, (None, 0), Some(rail));
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
        let stalled = self.flows.iter().filter(|(_, flow)| !flow.stalled.is_empty());
        let waiting = sends.chain(receives).chain(stalled.map(|(&(id, _), _)| id));
        let asked = self.inboxes.iter().flat_map(|(_, inbox)| inbox.awaited_from());
        let mut awaited: BTreeSet<RankId> = waiting.chain(asked).collect();
        awaited.remove(&self.id);
        for (_, posted) in self.posted.iter() {
            awaited.remove(&posted.to);
        }
        awaited
    }

    /// Sets the time of the next probes, if somebody may be waited for.
    #[inline]
    fn plan_probe(&mut self, now: Time) {
        if let Some(probe) = self.spec.probe.filter(|_| self.next_probe.is_none()) {
            let idle =
                self.sending.is_empty() && self.receiving.is_empty() && self.inboxes.is_empty();
            self.next_probe = (!idle).then_some(now + probe);
        }
    }

    /// Everything that waits for another rank fails. What has come from it whole, and after nothing
    /// that has not, may still be asked for.
    fn unreachable(&mut self, id: RankId) {
        self.gone.insert(id);
        self.posted.drain(|posted| posted.to == id);
        let mut failed = Vec::new();
        for (_, flow) in self.flows.range_mut((id, Class::FIRST)..=(id, Class::LAST)) {
            flow.asked = 0;
            flow.order.clear();
            failed.extend(flow.stalled.drain(..).map(|stalled| stalled.request));
        }
        let sends = self.sending.drain(|sending| sending.to == id);
        failed.extend(sends.into_iter().map(|sending| sending.request));
        let receives = self.receiving.drain(|receiving| receiving.from == id);
        failed.extend(receives.into_iter().map(|receiving| receiving.request));
        let flows = &mut self.flows;
        self.inboxes.each(|context, inbox| {
            let is_asked = |message: &Unexpected| matches!(message, Unexpected::Rts { .. });
            for (_, message) in inbox.withdraw(id, is_asked) {
                let flow = flows.get_mut(&(id, context.class)).expect("it has sent something");
                match message {
                    Unexpected::Eager { bytes, .. } => flow.kept -= ENVELOPE + bytes,
                    Unexpected::Rts { .. } => flow.kept_asked -= 1,
                }
            }
            failed.extend(inbox.give_up(id).into_iter().map(|waiting| waiting.request));
        });
        let failed = failed.into_iter().map(|request| Action::Failed { request, peer: id });
        self.actions.extend(failed);
    }
}

impl Machine for Messenger {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Send { request, context, to, tag, bytes, synchronous } => {
                self.send(to, Stalled { request, context, tag, bytes, synchronous });
            }
            Input::Receive { request, context, from, tag, room } => {
                self.receive(request, context, from, tag, room);
            }
            Input::ReceiveClaimed { request, claim, room } => {
                match self.claimed.get(claim.0).copied() {
                    Some(claimed) => {
                        self.claimed.remove(claim.0);
                        self.take(claimed, Waiting { request, room });
                    }
                    None => self.strays += 1,
                }
            }
            Input::Arrived { from, envelope, bytes } => self.arrived(from, envelope, bytes),
            Input::HandedOver { post, rails } => self.handed_over(post, rails),
            Input::Landed { post } => self.landed(post),
            Input::Unreachable { peer } => self.unreachable(peer),
            Input::Close => self.close(),
            Input::Leave { to, failed } => {
                self.post(Class::FIRST, to, Body::Left { failed }, (None, 0), None);
            }
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
        for to in awaited {
            self.post(Class::FIRST, to, Body::Probe, (None, 0), None);
        }
    }

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.next_probe
    }
}
