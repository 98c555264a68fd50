//! The send queues of a node's NICs.

use std::collections::{BTreeMap, VecDeque};

use crate::{MessageId, Parcel, PeId, RailId};

/// One NIC's queue.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Parcel>,
    under_way: u32,
}

/// Stripes on their way out: waiting at a NIC, or being transmitted.
#[derive(Debug)]
pub(crate) struct Outbox {
    queues: Vec<Queue>,
    transfers: u32,
    /// Who sends a message, and how many of its stripes have not left yet.
    messages: BTreeMap<MessageId, (PeId, u32)>,
}

impl Outbox {
    /// Empty queues for so many NICs, each with so many stripes under way at most.
    pub fn new(rails: u32, transfers: u32) -> Outbox {
        let queues = (0..rails).map(|_| Queue::default()).collect();
        Outbox { queues, transfers, messages: BTreeMap::new() }
    }

    /// Puts a stripe into the queue of its NIC.
    pub fn push(&mut self, pe: PeId, parcel: Parcel) {
        self.messages.entry(parcel.message).or_insert((pe, 0)).1 += 1;
        self.queues[parcel.stripe.rail.0 as usize].waiting.push_back(parcel);
    }

    /// The next stripe to transmit on a rail, if its NIC has room.
    pub fn start(&mut self, rail: RailId) -> Option<Parcel> {
        let queue = &mut self.queues[rail.0 as usize];
        if queue.under_way == self.transfers {
            return None;
        }
        let parcel = queue.waiting.pop_front()?;
        queue.under_way += 1;
        Some(parcel)
    }

    /// A stripe has left. The sender of the message, if that was the last one; an error if no such
    /// stripe was under way.
    pub fn sent(&mut self, rail: RailId, message: MessageId) -> Result<Option<PeId>, Stray> {
        let queue = self.queues.get_mut(rail.0 as usize).ok_or(Stray)?;
        let (pe, stripes) = self.messages.get_mut(&message).ok_or(Stray)?;
        queue.under_way = queue.under_way.checked_sub(1).ok_or(Stray)?;
        *stripes -= 1;
        let done = (*stripes == 0).then_some(*pe);
        if done.is_some() {
            self.messages.remove(&message);
        }
        Ok(done)
    }

    /// Whether nothing waits or is under way.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

/// Something that does not fit what is known: whoever reports it is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stray;
