//! Collective operations: schedules of `crosstie-collective`, played with the bytes that they move.
//!
//! A schedule says who sends which blocks to whom, after what; its cargo says what becomes of them.
//! Here blocks get their places: those of the caller's buffer, and others for what is only passed
//! on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use crosstie_collective::player::{Action, Player, Turn};
use crosstie_collective::{
    Access, Collective, Op, OpId, Operation, Purpose, Rank, Step, algorithm,
};
use crosstie_protocol::message;
use crosstie_units::{Bytes, Time};

use super::{Comm, CommError};
use crate::lent::{Lent, LentMut};
use crate::rank::RequestKey;
use crosstie_protocol::message::Class;

/// Schedules that were used of late.
#[derive(Default)]
pub(super) struct Schedules {
    all: Vec<(Operation, Arc<Whole>)>,
}

/// A collective operation, ready to be played.
pub(super) struct Whole {
    schedule: Arc<crosstie_collective::Schedule>,
    cargo: crosstie_collective::Cargo,
    purpose: Purpose,
}

/// As many schedules are kept.
const KEPT: usize = 16;

impl Schedules {
    fn get(&mut self, operation: Operation, ranks: usize) -> Result<Arc<Whole>, CommError> {
        if let Some(at) = self.all.iter().position(|(kept, _)| *kept == operation) {
            self.all[..=at].rotate_right(1);
            return Ok(Arc::clone(&self.all[0].1));
        }
        let Collective { schedule, cargo, purpose } = operation.collective(ranks as u32)?;
        let whole = Arc::new(Whole { schedule: Arc::new(schedule), cargo, purpose });
        self.all.truncate(KEPT - 1);
        self.all.insert(0, (operation, Arc::clone(&whole)));
        Ok(whole)
    }
}

/// From so many bytes on, an algorithm is taken that moves less in more steps.
const LONG: usize = 64 << 10;

/// With this many ranks per core or more, a rank that waits for a message waits until all others
/// have had their turn: the algorithm with the fewest messages is the fastest.
const OVERSUBSCRIBED: u32 = 4;

/// Returns the algorithm of an all-reduce of vectors of `bytes`, with `ranks_per_core`.
fn all_reduce_of(bytes: usize, ranks_per_core: u32) -> algorithm::AllReduce {
    match bytes >= LONG {
        true => algorithm::AllReduce::Ring {},
        false if ranks_per_core >= OVERSUBSCRIBED => algorithm::AllReduce::Linear {},
        false => algorithm::AllReduce::RecursiveDoubling {},
    }
}

/// Returns the algorithm of a barrier, with `ranks_per_core`.
fn barrier_of(ranks_per_core: u32) -> algorithm::Barrier {
    match ranks_per_core >= OVERSUBSCRIBED {
        true => algorithm::Barrier::Linear {},
        false => algorithm::Barrier::Dissemination {},
    }
}

impl Comm {
    /// Waits until all ranks have come here.
    pub fn barrier(&self) -> Result<(), CommError> {
        let operation = Operation::Barrier { algorithm: barrier_of(self.ranks_per_core) };
        self.collective::<u8>(operation, &mut [], &mut |_, _| ())
    }

    /// Everybody gets what the root has.
    pub fn broadcast<T: Pod>(&self, root: usize, data: &mut [T]) -> Result<(), CommError> {
        let size = self.elements(root, data.len())?;
        let algorithm = algorithm::Broadcast::default();
        let operation = Operation::Broadcast { algorithm, root: root as u32, size };
        self.collective(operation, data, &mut |_, _| ())
    }

    /// The root gets everybody's block: that of rank r is the r-th of `all`, which matters at the
    /// root only.
    pub fn gather<T: Pod>(&self, root: usize, mine: &[T], all: &mut [T]) -> Result<(), CommError> {
        let size = self.elements(root, mine.len())?;
        let mut own = Vec::new();
        let data = match self.rank == root {
            true => all,
            false => self.room(&mut own, mine.len()),
        };
        self.blocks(data.len(), mine.len(), "a block of everybody")?;
        data[self.rank * mine.len()..][..mine.len()].copy_from_slice(mine);
        let algorithm = algorithm::Gather::default();
        let operation = Operation::Gather { algorithm, root: root as u32, size };
        self.collective(operation, data, &mut |_, _| ())
    }

    /// Everybody gets a block of the root: rank r the r-th of `all`, which matters at the root
    /// only.
    pub fn scatter<T: Pod>(&self, root: usize, all: &[T], mine: &mut [T]) -> Result<(), CommError> {
        let size = self.elements(root, mine.len())?;
        let mut own = Vec::new();
        let data = self.room(&mut own, mine.len());
        if self.rank == root {
            self.blocks(all.len(), mine.len(), "a block for everybody")?;
            data.copy_from_slice(all);
        }
        let algorithm = algorithm::Scatter::default();
        let operation = Operation::Scatter { algorithm, root: root as u32, size };
        self.collective(operation, data, &mut |_, _| ())?;
        mine.copy_from_slice(&data[self.rank * mine.len()..][..mine.len()]);
        Ok(())
    }

    /// Everybody gets everybody's block: that of rank r is the r-th of `all`.
    pub fn all_gather<T: Pod>(&self, mine: &[T], all: &mut [T]) -> Result<(), CommError> {
        let size = self.elements(0, mine.len())?;
        self.blocks(all.len(), mine.len(), "a block of everybody")?;
        all[self.rank * mine.len()..][..mine.len()].copy_from_slice(mine);
        let operation = Operation::AllGather { algorithm: algorithm::AllGather::default(), size };
        self.collective(operation, all, &mut |_, _| ())
    }

    /// Everybody gets a block of everybody: the s-th of `received` is the one that rank s has for
    /// this rank, its r-th with r this rank.
    pub fn all_to_all<T: Pod>(&self, sent: &[T], received: &mut [T]) -> Result<(), CommError> {
        let block = sent.len() / self.size;
        self.blocks(sent.len(), block, "a block for everybody, all of the same length")?;
        self.blocks(received.len(), block, "as much as is sent")?;
        let size = self.elements(0, block)?;
        // What is sent and what is received behind it.
        let mut data = vec![T::zeroed(); 2 * sent.len()];
        data[..sent.len()].copy_from_slice(sent);
        let own = self.rank * block;
        data.copy_within(own..own + block, sent.len() + own);
        let operation = Operation::AllToAll { algorithm: algorithm::AllToAll::default(), size };
        self.collective(operation, &mut data, &mut |_, _| ())?;
        received.copy_from_slice(&data[sent.len()..]);
        Ok(())
    }

    /// The root gets the combination of what all ranks have, element by element; `data` of others
    /// is left as it is. The order in which elements are combined is not told.
    pub fn reduce<T: Pod>(
        &self,
        root: usize,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        let size = self.elements(root, data.len())?;
        let algorithm = algorithm::Reduce::default();
        let operation = Operation::Reduce { algorithm, root: root as u32, size, combine: None };
        let mut own;
        let data = match self.rank == root {
            true => data,
            false => {
                own = data.to_vec();
                &mut own[..]
            }
        };
        self.collective(operation, data, &mut each(combine))
    }

    /// Everybody gets the combination of what all ranks have, element by element.
    pub fn all_reduce<T: Pod>(
        &self,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        let size = self.elements(0, data.len())?;
        let algorithm = all_reduce_of(size_of_val(data), self.ranks_per_core);
        let operation = Operation::AllReduce { algorithm, size, combine: None };
        self.collective(operation, data, &mut each(combine))
    }

    /// So many elements; schedules count in these. Messages without any go too, so that ranks that
    /// have some notice.
    fn elements(&self, root: usize, count: usize) -> Result<Bytes, CommError> {
        self.peer(root)?;
        Ok(Bytes::new(count.max(1) as u64))
    }

    fn blocks(&self, found: usize, block: usize, rule: &'static str) -> Result<(), CommError> {
        match block * self.size {
            expected if expected == found => Ok(()),
            expected => Err(self.fails(CommError::Length { found, expected, rule })),
        }
    }

    /// Room for a block of everybody.
    fn room<'a, T: Pod>(&self, own: &'a mut Vec<T>, block: usize) -> &'a mut [T] {
        own.resize(block * self.size, T::zeroed());
        own
    }

    /// Plays an operation with this data.
    fn collective<T: Pod>(
        &self,
        operation: Operation,
        data: &mut [T],
        combine: &mut dyn FnMut(&mut [T], &[T]),
    ) -> Result<(), CommError> {
        if self.size == 1 {
            return Ok(());
        }
        let whole = self.schedules.borrow_mut().get(operation, self.size)?;
        let number = self.operation.get();
        self.operation.set(number.wrapping_add(1));
        let blocks = Blocks::new(whole.purpose, self.rank, self.size, data.len());
        let mut part = Part {
            comm: self,
            first: whole.schedule.places(Rank(self.rank as u32)).start,
            whole: &whole,
            // Two operations that follow each other do not mistake their messages.
            round: number % ROUNDS,
            data,
            combine,
            blocks,
            passing: BTreeMap::new(),
            under_way: Vec::new(),
            received: BTreeMap::new(),
        };
        part.play()
    }
}

/// Tags of a schedule are below this; the round is above.
const MOST_TAGS: u32 = 1 << 24;
const ROUNDS: u32 = 1 << 8;

/// How many elements `bytes` are.
fn elements<T>(bytes: usize) -> usize {
    bytes / size_of::<T>().max(1)
}

/// Combines element by element.
fn each<T: Pod>(combine: impl Fn(&mut T, T)) -> impl FnMut(&mut [T], &[T]) {
    move |into, from| into.iter_mut().zip(from).for_each(|(into, &from)| combine(into, from))
}

/// Where blocks are in the buffer of a rank.
struct Blocks {
    purpose: Purpose,
    rank: usize,
    ranks: usize,
    elements: usize,
}

impl Blocks {
    fn new(purpose: Purpose, rank: usize, ranks: usize, elements: usize) -> Blocks {
        Blocks { purpose, rank, ranks, elements }
    }

    /// The elements of a block in the buffer; `None` if it is only passed on.
    fn place(&self, block: u32) -> Option<Range<usize>> {
        let (block, elements) = (block as usize, self.elements);
        // As schedules cut vectors.
        let part_of = |parts: usize| {
            let end = |part: usize| (part as u128 * elements as u128 / parts as u128) as usize;
            Some(end(block)..end(block + 1))
        };
        match self.purpose {
            Purpose::Barrier => Some(0..0),
            Purpose::Broadcast { parts, .. }
            | Purpose::Reduce { parts, .. }
            | Purpose::AllReduce { parts }
            | Purpose::Scan { parts }
            | Purpose::ExclusiveScan { parts } => part_of(parts as usize),
            Purpose::ReduceScatter => part_of(self.ranks),
            Purpose::Gather { .. } | Purpose::Scatter { .. } | Purpose::AllGather => {
                let length = elements / self.ranks;
                Some(block * length..(block + 1) * length)
            }
            Purpose::AllToAll => {
                let length = elements / self.ranks / 2;
                let (from, to) = (block / self.ranks, block % self.ranks);
                let place = match (from == self.rank, to == self.rank) {
                    // What goes to another rank is in the first half, what comes in the second.
                    (_, true) => self.ranks + from,
                    (true, false) => to,
                    (false, false) => return None,
                };
                Some(place * length..(place + 1) * length)
            }
        }
    }

    /// The elements of a block that has no place.
    fn length(&self) -> usize {
        self.elements / self.ranks / 2
    }
}

/// What one rank does in a collective operation.
struct Part<'a, T> {
    comm: &'a Comm,
    whole: &'a Whole,
    /// Where its operations begin among all.
    first: usize,
    round: u32,
    data: &'a mut [T],
    combine: &'a mut dyn FnMut(&mut [T], &[T]),
    blocks: Blocks,
    /// Blocks that are only passed on.
    passing: BTreeMap<u32, Vec<T>>,
    /// Operations under way, with what they send or receive.
    under_way: Vec<Underway<T>>,
    /// What was received and is not in its place yet, by operation.
    received: BTreeMap<u32, Vec<T>>,
}

/// An operation under way.
struct Underway<T> {
    op: u32,
    key: RequestKey,
    receives: bool,
    /// The message. It stays where it is however this is moved.
    message: Vec<T>,
}

impl<T: Pod> Part<'_, T> {
    fn play(&mut self) -> Result<(), CommError> {
        let rank = Rank(self.comm.rank as u32);
        let mut player = Player::new(Arc::clone(&self.whole.schedule), 1);
        let (now, turn) = (Time::ZERO, Turn::default());
        player.begin(now, rank);
        loop {
            let mut finished = false;
            while let Some(action) = player.poll_action() {
                match action {
                    Action::Begin { id, op, watched, .. } => {
                        if watched {
                            player.started(rank, id, turn);
                        }
                        if self.begin(id.0, op.step)? {
                            player.done(now, rank, id, turn);
                        }
                    }
                    Action::Finish { .. } => finished = true,
                    Action::Iteration { .. } => {}
                }
            }
            if finished {
                let left: Vec<u32> = self.received.keys().copied().collect();
                left.into_iter().for_each(|op| self.put_in_place(op));
                return Ok(());
            }
            player.done(now, rank, OpId(self.next_done()?), turn);
        }
    }

    /// Begins an operation; whether it is done at once.
    #[allow(unsafe_code)] // Lends messages that this keeps until they are done or taken back.
    fn begin(&mut self, op: u32, step: Step) -> Result<bool, CommError> {
        let place = self.first + op as usize;
        // What it waits for has been received: now that goes to its place.
        let needs: Vec<u32> =
            self.whole.schedule.needs(place).iter().map(|need| need.op.0).collect();
        needs.into_iter().for_each(|need| self.put_in_place(need));
        let tag = |tag: u32| message::Tag(self.round * MOST_TAGS + tag % MOST_TAGS);
        let (key, receives, message) = match step {
            Step::Compute { .. } => return Ok(true),
            Step::Get { .. } => return Err(CommError::Get),
            Step::Cast { .. } => return Err(CommError::Cast),
            Step::Send { to, tag: number, .. } => {
                let message = self.collect(place);
                // SAFETY: `Underway` keeps it where it is until it is done or taken back.
                let lent = unsafe { Lent::new(bytemuck::cast_slice(&message)) };
                let to = to.0 as usize;
                let key = self.comm.begin_send(Class::Collective, to, tag(number.0), lent)?.key;
                (key, false, message)
            }
            Step::Receive { from, tag: number, .. } => {
                let mut message = vec![T::zeroed(); self.length(place)];
                // SAFETY: as above.
                let lent = unsafe { LentMut::new(bytemuck::cast_slice_mut(&mut message)) };
                let (from, number) =
                    (from.map(|from| from.0 as usize), number.map(|number| tag(number.0)));
                let key = self.comm.begin_recv(Class::Collective, from, number, lent)?.key;
                (key, true, message)
            }
        };
        self.under_way.push(Underway { op, key, receives, message });
        Ok(false)
    }

    /// Waits until an operation is done; which.
    fn next_done(&mut self) -> Result<u32, CommError> {
        let (under_way, mut looks) = (&self.under_way, 0u64);
        let done = self.comm.until(|engine| {
            looks += 1;
            let done = under_way.iter().position(|under_way| engine.is_done(under_way.key));
            // Seldom, but after no more than twice the time.
            if done.is_none() && looks >= 64 && looks.is_power_of_two() {
                return engine.stray(|from, tag| self.is_odd(from, tag)).map(Err);
            }
            done.map(Ok)
        })?;
        let done = done.map_err(|stray| {
            let (rank, found) = (stray.from.into(), elements::<T>(stray.bytes as usize));
            self.comm.fails(CommError::Disagreement { rank, found, expected: None })
        })?;
        let &Underway { key, receives, ref message, .. } = &self.under_way[done];
        let (room, length) = (size_of_val(&message[..]), message.len());
        let disagreement = |rank: usize, bytes: usize| {
            let (found, expected) = (elements::<T>(bytes), Some(length));
            self.comm.fails(CommError::Disagreement { rank, found, expected })
        };
        let status = self.comm.finished(key).map_err(|error| match error {
            CommError::Truncated { from, bytes, .. } => disagreement(from, bytes),
            other => other,
        })?;
        if receives && status.bytes != room {
            return Err(disagreement(status.source, status.bytes));
        }
        let Underway { op, message, .. } = self.under_way.swap_remove(done);
        if receives {
            self.received.insert(op, message);
        }
        Ok(op)
    }

    /// Returns true if a message is of this operation, and this rank does not receive it in this
    /// operation.
    fn is_odd(&self, from: u16, message::Tag(tag): message::Tag) -> bool {
        let ours = |op: &Op| match op.step {
            Step::Receive { from: asked, tag: number, .. } => {
                let tags = number.is_none_or(|number| number.0 % MOST_TAGS == tag % MOST_TAGS);
                tags && asked.is_none_or(|asked| asked.0 == u32::from(from))
            }
            _ => false,
        };
        let rank = Rank(self.comm.rank as u32);
        tag / MOST_TAGS == self.round && !self.whole.schedule.ops(rank).iter().any(ours)
    }

    fn cargo(&self, place: usize) -> impl Iterator<Item = u32> + use<'_, T> {
        self.whole.cargo.blocks(place).iter().map(|block| block.0)
    }

    /// The elements of the message of an operation.
    fn length(&self, place: usize) -> usize {
        let length =
            |block| self.blocks.place(block).map_or(self.blocks.length(), |place| place.len());
        self.cargo(place).map(length).sum()
    }

    /// What an operation sends.
    fn collect(&self, place: usize) -> Vec<T> {
        let mut message = Vec::with_capacity(self.length(place));
        for block in self.cargo(place) {
            match self.blocks.place(block) {
                Some(range) => message.extend_from_slice(&self.data[range]),
                None => message.extend_from_slice(&self.passing[&block]),
            }
        }
        message
    }

    /// What an operation has received goes where it belongs, or is combined with what is there.
    fn put_in_place(&mut self, op: u32) {
        let Some(message) = self.received.remove(&op) else { return };
        let place = self.first + op as usize;
        let adds = matches!(self.whole.cargo.access(place), Access::Add | Access::Merge);
        let mut rest = &message[..];
        let blocks: Vec<u32> = self.cargo(place).collect();
        for block in blocks {
            let range = self.blocks.place(block);
            let length = range.as_ref().map_or(self.blocks.length(), Range::len);
            let (elements, behind) = rest.split_at(length.min(rest.len()));
            rest = behind;
            match range {
                Some(range) if adds => (self.combine)(&mut self.data[range], elements),
                Some(range) => self.data[range].copy_from_slice(elements),
                None => drop(self.passing.insert(block, elements.to_vec())),
            }
        }
    }
}

impl<T> Drop for Part<'_, T> {
    /// After an error nothing that was lent is used any more.
    fn drop(&mut self) {
        if !self.under_way.is_empty() {
            let keys: Vec<RequestKey> = self.under_way.iter().map(|part| part.key).collect();
            self.comm.take_back(&keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of sends of each rank.
    fn sends(operation: Operation, ranks: u32) -> Vec<u32> {
        let Collective { schedule, .. } = operation.collective(ranks).unwrap();
        let is_send = |op: &&Op| matches!(op.step, Step::Send { .. });
        let sends = |rank| schedule.ops(Rank(rank)).iter().filter(is_send).count() as u32;
        (0..ranks).map(sends).collect()
    }

    /// The most sends of a rank that follow each other are as many as its sends: each step waits
    /// for the one before.
    #[test]
    fn a_short_all_reduce_takes_a_logarithm_of_steps() {
        for ranks in 2..=70u32 {
            let size = Bytes::new(1);
            let operation = |bytes| Operation::AllReduce {
                algorithm: all_reduce_of(bytes, OVERSUBSCRIBED - 1),
                size,
                combine: None,
            };
            let most = |bytes| sends(operation(bytes), ranks).into_iter().max().unwrap();
            for bytes in [0, 8, 1000, LONG - 1] {
                let steps = most(bytes);
                assert!(steps <= ranks.ilog2() + 1, "{steps} for {ranks} ranks, {bytes} bytes");
            }
            assert_eq!(most(LONG), 2 * (ranks - 1));
        }
    }

    #[test]
    fn ranks_that_oversubscribe_the_cores_take_the_fewest_messages() {
        for ranks in 2..=70u32 {
            let messages = |operation| sends(operation, ranks).into_iter().sum::<u32>();
            let all_reduce = |ranks_per_core| Operation::AllReduce {
                algorithm: all_reduce_of(8, ranks_per_core),
                size: Bytes::new(1),
                combine: None,
            };
            let barrier =
                |ranks_per_core| Operation::Barrier { algorithm: barrier_of(ranks_per_core) };
            for [alone, shared] in
                [[all_reduce(1), all_reduce(OVERSUBSCRIBED)], [barrier(1), barrier(OVERSUBSCRIBED)]]
            {
                assert_eq!(messages(shared), 2 * (ranks - 1));
                assert!(messages(shared) <= messages(alone));
            }
        }
    }
}
