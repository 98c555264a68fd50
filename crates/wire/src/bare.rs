//! A rank without start-up, sockets and clock, which keeps the memory of its messages itself: for
//! tests over rails in memory, of this crate and of others, and for fuzzing.
#![allow(unsafe_code)] // It lends memory to a rank.

#[cfg(test)]
mod meddler;
pub mod wing;

use crosstie_protocol::message::Tag;
use crosstie_protocol::{Injection, NodeError, NodeSpec, Policies, Profile};
use crosstie_units::Time;
use slotmap::SlotMap;

use crate::RailStatistics;
use crate::key::Key;
use crate::lent::{Lent, LentMut};
use crate::rail::Rail;
use crate::rank::{Buffer, Failure, Rank, RankSpec, RequestKey, Selection, Send, context};
use crosstie_protocol::message::Class;

/// What a bare rank is made of.
#[derive(Debug, Clone, Copy)]
pub struct BareSpec {
    /// Its number.
    pub rank: u16,
    /// All ranks.
    pub size: u16,
    /// What all ranks know.
    pub secret: [u8; 16],
    /// How it exchanges messages.
    pub profile: Profile,
}

slotmap::new_key_type! {
    /// A send or a receive of a bare rank.
    pub struct BareRequest;
}

/// A message that is under way, in memory with [`GUARD`] bytes on both sides.
struct Held {
    request: RequestKey,
    bytes: Vec<u8>,
}

/// How much memory around a message is looked after, and what is in it.
const GUARD: usize = 64;
const SEAL: u8 = 0xa5;

impl Held {
    /// Memory for a message.
    fn around(message: &[u8]) -> Vec<u8> {
        let mut bytes = vec![SEAL; message.len() + 2 * GUARD];
        bytes[GUARD..GUARD + message.len()].copy_from_slice(message);
        bytes
    }

    fn message(bytes: &mut [u8]) -> &mut [u8] {
        let end = bytes.len() - GUARD;
        &mut bytes[GUARD..end]
    }

    /// Whether nobody wrote beside the message.
    fn is_whole(&self) -> bool {
        let (before, rest) = self.bytes.split_at(GUARD);
        let after = &rest[rest.len() - GUARD..];
        before.iter().chain(after).all(|&byte| byte == SEAL)
    }
}

/// What has become of a request: who sent it, its tag and its bytes, as far as there was room; or
/// the rank that cannot be reached.
pub type BareOutcome = Result<(u16, Tag, Vec<u8>), u16>;

/// A rank without start-up, sockets and clock.
pub struct Bare {
    // It goes first: it uses what is held.
    stack: Rank,
    held: SlotMap<BareRequest, Held>,
}

impl Bare {
    /// A rank on these rails, with the node that the rails ask for.
    pub fn new(
        spec: BareSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
    ) -> Result<Bare, NodeError> {
        let stack = Rank::new(spec.stack(), policies, rails, None)?;
        Ok(Bare { stack, held: SlotMap::with_key() })
    }

    /// One of two ranks of a machine, which share memory and nothing else.
    #[cfg(unix)]
    pub fn beside(
        spec: BareSpec,
        policies: &Policies,
        memory: crate::memory::Memory,
    ) -> Result<Bare, NodeError> {
        let places = (0..spec.size).map(|rank| (rank != spec.rank).then_some(rank.into()));
        let memory = Some((memory, places.collect()));
        let stack = Rank::new(spec.stack(), policies, Vec::new(), memory)?;
        Ok(Bare { stack, held: SlotMap::with_key() })
    }

    /// The same with another node.
    pub fn with_node(
        spec: BareSpec,
        node: NodeSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
    ) -> Result<Bare, NodeError> {
        let stack = Rank::with_node(spec.stack(), node, policies, rails, None)?;
        Ok(Bare { stack, held: SlotMap::with_key() })
    }

    /// Greets all others on all rails, as it would each before it sends the first data.
    pub fn greet_all(&mut self, now: Time) {
        self.stack.greet_all(now);
    }

    /// Begins to send a message.
    pub fn send(&mut self, now: Time, to: u16, tag: Tag, message: &[u8]) -> BareRequest {
        let mut bytes = Held::around(message);
        // SAFETY: the bytes stay where they are until the rank is done with them, or dropped;
        // nobody writes them.
        let lent = unsafe { Lent::new(Held::message(&mut bytes)) };
        let send = Send { context: context(Class::Application), to, tag, synchronous: false };
        let request = self.stack.send(now, &send, Buffer::Out(lent));
        self.held.insert(Held { request, bytes })
    }

    /// Begins to receive a message of up to so many bytes.
    pub fn receive(
        &mut self,
        now: Time,
        from: Option<u16>,
        tag: Option<Tag>,
        room: usize,
    ) -> BareRequest {
        let mut bytes = Held::around(&vec![0; room]);
        // SAFETY: the bytes stay where they are until the rank is done with them, or dropped;
        // nobody else uses them.
        let lent = unsafe { LentMut::new(Held::message(&mut bytes)) };
        let what = Selection { context: context(Class::Application), from, tag };
        let request = self.stack.receive(now, &what, Buffer::In(lent));
        self.held.insert(Held { request, bytes })
    }

    /// What has become of a request, if it is done; then it is forgotten.
    ///
    /// # Panics
    /// If somebody wrote beside its memory.
    pub fn outcome(&mut self, request: BareRequest) -> Option<BareOutcome> {
        let held = self.held.get(request)?;
        let outcome = self.stack.outcome(held.request)?;
        let mut held = self.held.remove(request)?;
        assert!(held.is_whole(), "a message was written outside of its memory");
        Some(match outcome {
            Ok(status) => {
                let mut message = Held::message(&mut held.bytes).to_vec();
                message.truncate(status.bytes as usize);
                Ok((status.from, status.tag, message))
            }
            Err(Failure::Truncated { from, tag, .. }) => {
                Ok((from, tag, Held::message(&mut held.bytes).to_vec()))
            }
            Err(Failure::Unreachable { rank, .. }) => Err(rank),
            Err(Failure::Cancelled) => unreachable!("a bare rank cancels nothing"),
        })
    }

    /// Takes in what has come and does what is due. Whether anything came.
    pub fn progress(&mut self, now: Time) -> bool {
        self.stack.progress(now)
    }

    /// When it wants to be called, if nothing happens before.
    pub fn deadline(&self) -> Option<Time> {
        self.stack.deadline()
    }

    /// Whether a rank has been given up.
    pub fn is_gone(&self, rank: u16) -> bool {
        self.stack.is_gone(rank)
    }

    /// What rails have carried.
    pub fn statistics(&self) -> Vec<RailStatistics> {
        self.stack.statistics()
    }

    /// Bytes of messages that it keeps, and that nobody has asked for yet or that are not whole.
    pub fn kept(&self) -> usize {
        self.stack.kept_bytes().0
    }

    /// How many these are at most, whatever its peers do.
    pub fn most_kept(&self) -> usize {
        self.stack.kept_bytes().1
    }

    /// What waits until others have read what they were told through memory.
    pub fn backlog(&self) -> usize {
        self.stack.backlog()
    }

    /// Whether all that was sent has arrived.
    pub fn has_sent_all(&self) -> bool {
        self.stack.has_sent_all()
    }
}

impl BareSpec {
    fn stack(&self) -> RankSpec {
        let &BareSpec { rank, size, secret, profile } = self;
        RankSpec { rank, size, key: Key::new(secret), profile, injection: Injection::default() }
    }
}
