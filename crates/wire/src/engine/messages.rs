//! What messengers want, and what becomes of envelopes and short messages.

use crosstie_protocol::message::{self, Envelope, PostId, RequestId};
use crosstie_protocol::{Input, Machine, MessageId, NodeId, PeId, RailId, RankId};
use crosstie_units::Time;
use slotmap::{Key as _, KeyData, SlotMap};

use super::request::{Request, State};
use super::{Buffer, Engine, Failure, Loss, Peer, Place, RequestKey, Status, place_number};
use crate::envelope::{self, Context};

/// Something posted.
#[derive(Debug)]
pub(super) struct Post {
    pub context: Context,
    pub post: PostId,
    pub to: u16,
    pub load: Load,
    /// The place that its receiver has for it, if it is the data of a long message.
    pub place: Option<u32>,
}

/// The bytes of something posted.
#[derive(Debug)]
pub(super) enum Load {
    /// An envelope, and a short message behind it.
    Own(Vec<u8>),
    /// Those of a send.
    Of(RequestKey),
}

/// What the messenger posts.
struct Posting {
    context: Context,
    post: PostId,
    to: u16,
    envelope: Envelope,
    bytes: u64,
    of: Option<RequestKey>,
    rail: Option<RailId>,
    whole: bool,
}

impl Post {
    /// Returns true if it is a message of which the program was told that it is sent.
    pub fn is_sent(&self) -> bool {
        matches!(&self.load, Load::Own(bytes) if is_message(bytes))
    }
}

impl Load {
    /// Its bytes; none if those of a send are not ours any more.
    pub fn bytes<'a>(&'a self, requests: &'a SlotMap<RequestKey, Request>) -> &'a [u8] {
        match self {
            Load::Own(bytes) => bytes,
            Load::Of(key) => requests.get(*key).map_or(&[], |request| request.buffer.bytes()),
        }
    }
}

/// Buffers that are kept for later, and the longest of these.
const SPARE: usize = 64;
const SPARE_BYTES: usize = 32 << 10;

impl Engine {
    /// Does what a messenger wants.
    pub(super) fn serve_messenger(&mut self, now: Time, context: Context) {
        while let Some(action) = self.messengers[context as usize].poll_action(now) {
            match action {
                message::Action::Post { post, to, envelope, bytes, of, rail, whole } => {
                    let of = of.map(request_key);
                    let to = to.0 as u16;
                    let posting = Posting { context, post, to, envelope, bytes, of, rail, whole };
                    self.post(now, posting);
                }
                message::Action::Sent { request } => {
                    self.finish(request_key(request), State::Done(self.sent()));
                }
                message::Action::Place { receive, from, request, bytes, .. } => {
                    let place = Place {
                        context,
                        receive,
                        from: from.0 as u16,
                        request: request_key(request),
                        length: bytes as u32,
                        coming: None,
                    };
                    let number = place_number(context, receive) as usize;
                    if self.places.len() <= number {
                        self.places.resize_with(number + 1, || None);
                    }
                    self.places[number] = Some(place);
                }
                message::Action::Received { request, from, tag, bytes, envelope } => {
                    let key = request_key(request);
                    self.handed_out.take_if(|foreseen| *foreseen == key);
                    let status = Status { from: from.0 as u16, tag, bytes };
                    if let Some(number) = envelope {
                        self.hand_out(key, context, status.from, number);
                    }
                    self.finish(key, State::Done(status));
                }
                message::Action::Failed { request, peer } => {
                    let (key, rank) = (request_key(request), peer.0 as u16);
                    if let Some(Request { buffer: Buffer::Copy(_), .. }) = self.requests.get(key) {
                        // Nobody waits for it.
                        *self.undelivered.entry(rank).or_default() += 1;
                    }
                    let cause = self.loss(rank);
                    self.finish(key, State::Failed(Failure::Unreachable { rank, cause }));
                }
                message::Action::Left { peer, failed } => {
                    let loss = if failed { Loss::Left } else { Loss::Departed };
                    self.lose(now, peer.0 as u16, loss);
                }
            }
        }
        self.stirred.messengers[context as usize] = false;
    }

    /// Puts the bytes of a short message where they were asked for.
    fn hand_out(&mut self, key: RequestKey, context: Context, from: u16, number: u32) {
        let Peer { kept, kept_bytes, .. } = &mut self.peers[usize::from(from)];
        let is_it = |&(of, other, _): &(Context, u32, Vec<u8>)| (of, other) == (context, number);
        let Some(place) = kept.iter().position(is_it) else { return };
        let (.., bytes) = kept.remove(place).expect("it is there");
        *kept_bytes -= bytes.len();
        if let Some(Request { buffer: Buffer::In(buffer), .. }) = self.requests.get_mut(key) {
            buffer.put(0, &bytes[envelope::ENVELOPE..]);
        }
        self.put_back(bytes);
    }

    /// Puts the bytes of a short message where they were asked for, and says that they are there.
    pub(super) fn hand_out_to(&mut self, key: RequestKey, status: Status, bytes: &[u8]) {
        if let Some(Request { buffer: Buffer::In(buffer), .. }) = self.requests.get_mut(key) {
            buffer.put(0, bytes);
        }
        self.finish(key, State::Done(status));
    }

    /// A request is done.
    pub(super) fn finish(&mut self, key: RequestKey, state: State) {
        self.done = true;
        let Some(request) = self.requests.get_mut(key) else { return };
        request.state = match (state, &request.buffer) {
            (State::Done(Status { from, tag, bytes }), Buffer::In(room))
                if bytes > room.len() as u64 =>
            {
                let room = room.len();
                State::Failed(Failure::Truncated { from, tag, bytes, room })
            }
            (state, _) => state,
        };
        // It is not ours any more.
        request.buffer = match request.buffer {
            Buffer::None | Buffer::Copy(_) => {
                self.requests.remove(key);
                return;
            }
            _ => Buffer::Returned,
        };
    }

    /// Takes an envelope to its receiver.
    fn post(&mut self, now: Time, posting: Posting) {
        let Posting { context, post, to, envelope, bytes, of, rail, whole } = posting;
        let (load, place) = match envelope.body {
            message::Body::Data { receive } => {
                let of = of.expect("data are those of a send");
                (Load::Of(of), Some(place_number(context, receive)))
            }
            _ => {
                let gone = self.advance.as_mut();
                let own = match gone.and_then(|gone| gone.posted(context, &envelope)) {
                    Some(own) => own,
                    None => self.enclose(context, &envelope, of.filter(|_| bytes > 0)),
                };
                (Load::Own(own), None)
            }
        };
        let post = Post { context, post, to, load, place };
        if to == self.rank {
            self.own.push_back(post);
        } else if self.is_local(to) {
            self.post_locally(now, post);
        } else {
            let bytes = post.load.bytes(&self.requests).len() as u64;
            let message = MessageId(self.posts.insert(post).data().as_ffi());
            let (pe, to) = (PeId(0), NodeId(to.into()));
            self.tell_node(now, Input::Send { pe, message, to, bytes, rail, whole });
        }
    }

    /// The bytes of an envelope, and those of a send behind it.
    pub(super) fn enclose(
        &mut self,
        context: Context,
        envelope: &Envelope,
        of: Option<RequestKey>,
    ) -> Vec<u8> {
        let mut own = self.buffer();
        own.extend_from_slice(&envelope::encode(context, envelope));
        if let Some(request) = of.and_then(|of| self.requests.get(of)) {
            own.extend_from_slice(request.buffer.bytes());
        }
        own
    }

    /// Takes envelopes of this rank to itself.
    pub(super) fn serve_own(&mut self, now: Time) {
        while let Some(Post { context, post, load, place, .. }) = self.own.pop_front() {
            match (load, place) {
                (Load::Own(bytes), _) => self.open(now, self.rank, bytes),
                (Load::Of(send), Some(place)) => {
                    self.copy_own(send, place);
                    self.place_filled(now, place);
                }
                (Load::Of(_), None) => {}
            }
            self.tell(now, context, message::Input::Landed { post });
        }
    }

    /// Copies what a rank has sent to itself.
    fn copy_own(&mut self, send: RequestKey, place: u32) {
        let Some(Some(place)) = self.places.get(place as usize) else { return };
        if let Some([from, into]) = self.requests.get_disjoint_mut([send, place.request])
            && let Buffer::In(into) = &mut into.buffer
        {
            into.put(0, from.buffer.bytes());
        }
    }

    /// All data of a long message are in their place.
    pub(super) fn place_filled(&mut self, now: Time, place: u32) {
        let Some(place) = self.places.get_mut(place as usize).and_then(Option::take) else {
            return;
        };
        let Place { context, receive, from, length, .. } = place;
        let envelope = Envelope { number: None, body: message::Body::Data { receive } };
        let (from, bytes) = (RankId(from.into()), length.into());
        self.tell(now, context, message::Input::Arrived { from, envelope, bytes });
    }

    /// An envelope has come, with what is behind it.
    pub(super) fn open(&mut self, now: Time, from: u16, bytes: Vec<u8>) {
        let Some((context, envelope, rest)) = envelope::decode(&bytes) else {
            self.put_back(bytes);
            return;
        };
        let length = rest.len() as u64;
        if let (message::Body::Eager { .. }, Some(number)) = (envelope.body, envelope.number) {
            let most = self.most_kept_of_a_peer();
            let peer = &mut self.peers[usize::from(from)];
            if peer.kept_bytes + bytes.len() > most {
                // More than it has credit for.
                self.put_back(bytes);
                return;
            }
            peer.kept_bytes += bytes.len();
            peer.kept.push_back((context, number, bytes));
        } else {
            self.put_back(bytes);
        }
        let from = RankId(from.into());
        self.tell(now, context, message::Input::Arrived { from, envelope, bytes: length });
    }

    /// The bytes of short messages that are kept for one peer at most: what it has credit for, in
    /// each context.
    pub(super) fn most_kept_of_a_peer(&self) -> usize {
        Context::ALL.len() * self.credit as usize
    }

    /// An empty buffer.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps a buffer for later.
    pub(super) fn put_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// Returns true if an envelope has a short message in it.
pub(super) fn is_message(bytes: &[u8]) -> bool {
    let body = envelope::decode(bytes).map(|(_, envelope, _)| envelope.body);
    matches!(body, Some(message::Body::Eager { .. }))
}

pub(super) fn request_key(request: RequestId) -> RequestKey {
    RequestKey::from(KeyData::from_ffi(request.0))
}
