//! What a program asks for: a collective operation with its memory.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use crosstie_collective::algorithm as by;
use crosstie_collective::{Buffers, Layout, Operation, Purpose, Run};
use crosstie_units::Bytes;

use super::memory::{Combine, Memory, Part};
use super::script::Script;
use crate::comm::{Comm, CommError};

/// A collective operation and the memory that it is to use. [`Comm::collective`] waits until it is
/// done, [`Scope::collective`](crate::Scope::collective) does not.
///
/// All ranks must ask for the same operations, in the same order, with the same root and the same
/// lengths. Where something combines, `combine(a, b)` puts the combination of `a` and `b` into `a`.
/// It must be associative. If it is not commutative, say that it is
/// [in order](Collective::in_order).
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use crosstie_wire::{Collective, Comm};
///
/// let comm = Comm::init()?;
/// let (mut sum, mut word) = ([comm.rank() as u64], [0u8; 100]);
/// comm.scope(|scope| {
///     let summed = scope.collective(Collective::all_reduce(&mut sum, |a, b| *a += b))?;
///     scope.collective(Collective::broadcast(0, &mut word))?;
///     // Something useful.
///     println!("{:?}", summed.wait()?);
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "it does nothing until it is begun"]
pub struct Collective<'a, T> {
    call: Call<'a, T>,
    combine: Option<Combine<'a>>,
    in_order: bool,
    _elements: PhantomData<T>,
}

/// The memory of each operation.
enum Call<'a, T> {
    Barrier,
    Broadcast { root: usize, data: &'a mut [T] },
    Gather { root: usize, mine: &'a [T], all: &'a mut [T], counts: Option<Vec<usize>> },
    Scatter { root: usize, all: &'a [T], mine: &'a mut [T], counts: Option<Vec<usize>> },
    AllGather { mine: &'a [T], all: &'a mut [T], counts: Option<Vec<usize>> },
    AllToAll { sent: &'a [T], received: &'a mut [T], counts: Option<[Vec<usize>; 2]> },
    Reduce { root: usize, data: &'a mut [T] },
    AllReduce { data: &'a mut [T] },
    ReduceScatter { all: &'a [T], mine: &'a mut [T], counts: Option<Vec<usize>> },
    Scan { data: &'a mut [T], exclusive: bool },
}

/// What the choice of an algorithm depends on, but for the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::comm) struct Needs {
    /// The length that the operation is priced for: of a vector or of a block. All ranks know it.
    pub bytes: u64,
    /// True if contributions are combined in the order of ranks.
    pub in_order: bool,
    /// True if a rank knows the lengths of its own blocks alone.
    pub own_lengths: bool,
}

/// A call that has been bound to an algorithm.
pub(super) struct Bound<'a> {
    pub memory: Memory,
    /// The lengths on which ranks have to agree.
    pub lengths: Option<Layout>,
    pub combine: Option<Combine<'a>>,
    /// Where the result is.
    pub result: Part,
}

/// Combines elements, wherever they lie.
fn each<'a, T: Pod>(combine: impl Fn(&mut T, T) + 'a) -> Combine<'a> {
    Box::new(move |into, from, in_front| {
        let bytes = size_of::<T>().max(1);
        for (into, from) in into.chunks_exact_mut(bytes).zip(from.chunks_exact(bytes)) {
            let mut mine: T = bytemuck::pod_read_unaligned(into);
            let mut other: T = bytemuck::pod_read_unaligned(from);
            if in_front {
                std::mem::swap(&mut mine, &mut other);
            }
            combine(&mut mine, other);
            into.copy_from_slice(bytemuck::bytes_of(&mine));
        }
    })
}

impl Collective<'static, u8> {
    /// Is done when all ranks have come here.
    pub fn barrier() -> Collective<'static, u8> {
        Collective::of(Call::Barrier)
    }
}

impl<'a, T: Pod> Collective<'a, T> {
    fn of(call: Call<'a, T>) -> Collective<'a, T> {
        Collective { call, combine: None, in_order: false, _elements: PhantomData }
    }

    fn combining(call: Call<'a, T>, combine: impl Fn(&mut T, T) + 'a) -> Collective<'a, T> {
        Collective { combine: Some(each(combine)), ..Collective::of(call) }
    }

    /// Every rank gets what the root has.
    pub fn broadcast(root: usize, data: &'a mut [T]) -> Collective<'a, T> {
        Collective::of(Call::Broadcast { root, data })
    }

    /// The root gets the block of every rank: that of rank r is the r-th of `all`, which matters at
    /// the root only.
    pub fn gather(root: usize, mine: &'a [T], all: &'a mut [T]) -> Collective<'a, T> {
        Collective::of(Call::Gather { root, mine, all, counts: None })
    }

    /// The same with blocks of unequal lengths, which lie one behind the other. The root alone has
    /// to know them.
    pub fn gather_v(
        root: usize,
        mine: &'a [T],
        all: &'a mut [T],
        counts: &[usize],
    ) -> Collective<'a, T> {
        Collective::of(Call::Gather { root, mine, all, counts: Some(counts.to_vec()) })
    }

    /// Every rank gets a block of the root: rank r the r-th of `all`, which matters at the root
    /// only.
    pub fn scatter(root: usize, all: &'a [T], mine: &'a mut [T]) -> Collective<'a, T> {
        Collective::of(Call::Scatter { root, all, mine, counts: None })
    }

    /// The same with blocks of unequal lengths, which lie one behind the other. The root alone has
    /// to know them.
    pub fn scatter_v(
        root: usize,
        all: &'a [T],
        counts: &[usize],
        mine: &'a mut [T],
    ) -> Collective<'a, T> {
        Collective::of(Call::Scatter { root, all, mine, counts: Some(counts.to_vec()) })
    }

    /// Every rank gets the blocks of all ranks: that of rank r is the r-th of `all`.
    pub fn all_gather(mine: &'a [T], all: &'a mut [T]) -> Collective<'a, T> {
        Collective::of(Call::AllGather { mine, all, counts: None })
    }

    /// The same with blocks of unequal lengths, which all ranks know.
    pub fn all_gather_v(mine: &'a [T], all: &'a mut [T], counts: &[usize]) -> Collective<'a, T> {
        Collective::of(Call::AllGather { mine, all, counts: Some(counts.to_vec()) })
    }

    /// Every rank gets a block of each rank: the s-th of `received` is the one that rank s has for
    /// this rank, its r-th with r this rank.
    pub fn all_to_all(sent: &'a [T], received: &'a mut [T]) -> Collective<'a, T> {
        Collective::of(Call::AllToAll { sent, received, counts: None })
    }

    /// The same with blocks of unequal lengths: those that this rank sends and those that it
    /// receives, by the other rank.
    pub fn all_to_all_v(
        sent: &'a [T],
        sent_counts: &[usize],
        received: &'a mut [T],
        received_counts: &[usize],
    ) -> Collective<'a, T> {
        let counts = Some([sent_counts.to_vec(), received_counts.to_vec()]);
        Collective::of(Call::AllToAll { sent, received, counts })
    }

    /// The root gets the combination of what all ranks have, element by element; `data` of others
    /// is left as it is.
    pub fn reduce(
        root: usize,
        data: &'a mut [T],
        combine: impl Fn(&mut T, T) + 'a,
    ) -> Collective<'a, T> {
        Collective::combining(Call::Reduce { root, data }, combine)
    }

    /// Every rank gets the combination of what all ranks have, element by element.
    pub fn all_reduce(data: &'a mut [T], combine: impl Fn(&mut T, T) + 'a) -> Collective<'a, T> {
        Collective::combining(Call::AllReduce { data }, combine)
    }

    /// Every rank gets a block of the combination of what all ranks have: rank r the r-th.
    pub fn reduce_scatter(
        all: &'a [T],
        mine: &'a mut [T],
        combine: impl Fn(&mut T, T) + 'a,
    ) -> Collective<'a, T> {
        Collective::combining(Call::ReduceScatter { all, mine, counts: None }, combine)
    }

    /// The same with blocks of unequal lengths, which all ranks know.
    pub fn reduce_scatter_v(
        all: &'a [T],
        counts: &[usize],
        mine: &'a mut [T],
        combine: impl Fn(&mut T, T) + 'a,
    ) -> Collective<'a, T> {
        let counts = Some(counts.to_vec());
        Collective::combining(Call::ReduceScatter { all, mine, counts }, combine)
    }

    /// Every rank gets the combination of what ranks 0 to its own have, in this order.
    pub fn scan(data: &'a mut [T], combine: impl Fn(&mut T, T) + 'a) -> Collective<'a, T> {
        Collective::combining(Call::Scan { data, exclusive: false }, combine)
    }

    /// Every rank gets the combination of what the ranks below have, in their order. The data of
    /// rank 0 stay as they are.
    pub fn exclusive_scan(
        data: &'a mut [T],
        combine: impl Fn(&mut T, T) + 'a,
    ) -> Collective<'a, T> {
        Collective::combining(Call::Scan { data, exclusive: true }, combine)
    }

    /// Says that what combines is not commutative: contributions are combined in the order of
    /// ranks. Without it, the order is any in which all ranks get the same bits.
    pub fn in_order(self) -> Collective<'a, T> {
        Collective { in_order: true, ..self }
    }

    /// The operation, by its usual algorithm, and what the choice of another one depends on. All
    /// lengths that this rank knows must fit.
    pub(super) fn ask(&self, comm: &Comm) -> Result<(Operation, Needs), CommError> {
        let (size, combine, ranks) = (Bytes::new(1), None, comm.size);
        let (mut bytes, mut own_lengths) = (0, false);
        let fits = |found: usize, expected: usize, rule| match found == expected {
            true => Ok(()),
            false => Err(comm.fails(CommError::Length { found, expected, rule })),
        };
        let rooted = |root: usize| comm.peer(root).map(u32::from);
        let counted = |counts: &[usize], found, own: usize, rule| {
            fits(counts.len(), ranks, "a length for each rank")?;
            fits(own, counts[comm.rank], "as many as the lengths say of this rank")?;
            let all = counts.iter().try_fold(0usize, |sum, &count| sum.checked_add(count));
            fits(found, all.unwrap_or(usize::MAX), rule)
        };
        let rule = "a block of everybody";
        let operation = match &self.call {
            Call::Barrier => Operation::Barrier { algorithm: by::Barrier::default() },
            Call::Broadcast { root, data } => {
                bytes = size_of_val::<[T]>(&data[..]);
                let algorithm = by::Broadcast::default();
                Operation::Broadcast { algorithm, root: rooted(*root)?, size }
            }
            Call::Gather { root, mine, all, counts } => {
                let to = rooted(*root)?;
                match counts {
                    Some(counts) if *root == comm.rank => {
                        counted(counts, all.len(), mine.len(), rule)?;
                    }
                    None if *root == comm.rank => fits(all.len(), mine.len() * ranks, rule)?,
                    _ => {}
                }
                own_lengths = counts.is_some();
                bytes = if own_lengths { 0 } else { size_of_val::<[T]>(&mine[..]) };
                Operation::Gather { algorithm: by::Gather::default(), root: to, size }
            }
            Call::Scatter { root, all, mine, counts } => {
                let from = rooted(*root)?;
                match counts {
                    Some(counts) if *root == comm.rank => {
                        counted(counts, all.len(), mine.len(), "a block for everybody")?;
                    }
                    None if *root == comm.rank => {
                        fits(all.len(), mine.len() * ranks, "a block for everybody")?;
                    }
                    _ => {}
                }
                own_lengths = counts.is_some();
                bytes = if own_lengths { 0 } else { size_of_val::<[T]>(&mine[..]) };
                Operation::Scatter { algorithm: by::Scatter::default(), root: from, size }
            }
            Call::AllGather { mine, all, counts } => {
                match counts {
                    Some(counts) => counted(counts, all.len(), mine.len(), rule)?,
                    None => fits(all.len(), mine.len() * ranks, rule)?,
                }
                bytes = size_of_val::<[T]>(&all[..]) / ranks;
                Operation::AllGather { algorithm: by::AllGather::default(), size }
            }
            Call::AllToAll { sent, received, counts } => {
                let own = comm.rank;
                match counts {
                    Some([to, from]) => {
                        let rule = "as many as the lengths say";
                        counted(to, sent.len(), to.get(own).copied().unwrap_or(0), rule)?;
                        counted(from, received.len(), to[own], rule)?;
                    }
                    None => {
                        let rule = "a block for everybody, all of the same length";
                        fits(sent.len(), sent.len() / ranks * ranks, rule)?;
                        fits(received.len(), sent.len(), "as much as is sent")?;
                    }
                }
                own_lengths = counts.is_some();
                bytes = if own_lengths { 0 } else { size_of_val::<[T]>(&sent[..]) / ranks };
                Operation::AllToAll { algorithm: by::AllToAll::default(), size }
            }
            Call::Reduce { root, data } => {
                bytes = size_of_val::<[T]>(&data[..]);
                let (algorithm, root) = (by::Reduce::default(), rooted(*root)?);
                Operation::Reduce { algorithm, root, size, combine }
            }
            Call::AllReduce { data } => {
                bytes = size_of_val::<[T]>(&data[..]);
                Operation::AllReduce { algorithm: by::AllReduce::default(), size, combine }
            }
            Call::ReduceScatter { all, mine, counts } => {
                match counts {
                    Some(counts) => counted(counts, all.len(), mine.len(), rule)?,
                    None => fits(all.len(), mine.len() * ranks, rule)?,
                }
                bytes = size_of_val::<[T]>(&all[..]);
                let algorithm = by::ReduceScatter::default();
                Operation::ReduceScatter { algorithm, size, combine }
            }
            Call::Scan { data, exclusive } => {
                bytes = size_of_val::<[T]>(&data[..]);
                match exclusive {
                    false => Operation::Scan { algorithm: by::Scan::default(), size, combine },
                    true => {
                        let algorithm = by::ExclusiveScan::default();
                        Operation::ExclusiveScan { algorithm, size, combine }
                    }
                }
            }
        };
        Ok((operation, Needs { bytes: bytes as u64, in_order: self.in_order, own_lengths }))
    }

    /// Binds it to the program of an algorithm. What this rank contributes is put where the program
    /// expects it.
    pub(super) fn bind(self, comm: &Comm, script: &Script) -> Bound<'a> {
        let (rank, ranks, element) = (comm.rank, comm.size, size_of::<T>());
        let blocks = |count: Option<Vec<usize>>, equal: usize| match count {
            Some(counts) => Layout::packed(counts.into_iter().map(|count| count as u64)),
            None => Layout::Equal(equal as u64),
        };
        let bytes = |layout: &Layout, first: u32, end: u32| -> Range<usize> {
            let all = layout.ranges(Run { first, end }).next().unwrap_or(0..0);
            all.start as usize * element..all.end as usize * element
        };
        let own = |layout: &Layout| bytes(layout, rank as u32, rank as u32 + 1);
        // What a rank that is no root does with blocks of its own and of others.
        let aside = |mine: Part, counts: bool, length: usize, put: Option<&[u8]>| {
            let length = length as u64;
            if counts || !script.operation.relays() {
                let layout = Layout::Only { block: rank as u32, length };
                return Memory::lent(Buffers::One(layout), element, Part::NONE, mine);
            }
            let runs = script.program.touched();
            let room: u32 = runs.iter().map(|run| run.count()).sum();
            let layout = Layout::Held { length, runs };
            let mut held = vec![0; room as usize * length as usize * element];
            let place = own(&layout);
            if let Some(put) = put {
                held[place.clone()].copy_from_slice(put);
            }
            let result = put.is_none().then_some((place, mine));
            Memory::own(Buffers::One(layout), element, held, result)
        };
        let vector = |data: &mut [T]| {
            let layout = script.purpose.layout(ranks as u32, data.len() as u64);
            let part = Part::own(bytemuck::cast_slice_mut(data));
            let memory = Memory::lent(Buffers::One(layout.clone()), element, Part::NONE, part);
            (memory, Some(layout), part)
        };
        let equal = |counts: &Option<Vec<usize>>, length: usize| {
            counts.is_none().then_some(Layout::Equal(length as u64))
        };
        let (memory, lengths, result) = match self.call {
            Call::Barrier => {
                let layout = Purpose::Barrier.layout(ranks as u32, 0);
                let memory = Memory::lent(Buffers::One(layout), element, Part::NONE, Part::NONE);
                (memory, None, Part::NONE)
            }
            Call::Broadcast { data, .. } | Call::AllReduce { data } | Call::Scan { data, .. } => {
                vector(data)
            }
            Call::Gather { root, mine, all, counts } => {
                let lengths = equal(&counts, mine.len());
                let mine = bytemuck::cast_slice::<T, u8>(mine);
                let all: &mut [u8] = bytemuck::cast_slice_mut(all);
                let result = Part::own(all);
                if rank != root {
                    let length = mine.len() / element.max(1);
                    let memory = aside(Part::shared(mine), counts.is_some(), length, Some(mine));
                    return Bound { memory, lengths, combine: None, result };
                }
                let layout = blocks(counts, mine.len() / element.max(1));
                all[own(&layout)].copy_from_slice(mine);
                let all = Part::own(all);
                (Memory::lent(Buffers::One(layout), element, Part::NONE, all), lengths, all)
            }
            Call::Scatter { root, all, mine, counts } => {
                let lengths = equal(&counts, mine.len());
                let mine: &mut [u8] = bytemuck::cast_slice_mut(mine);
                let length = mine.len() / element.max(1);
                if rank != root {
                    let result = Part::own(mine);
                    let memory = aside(result, counts.is_some(), length, None);
                    return Bound { memory, lengths, combine: None, result };
                }
                let layout = blocks(counts, length);
                let all = bytemuck::cast_slice::<T, u8>(all);
                mine.copy_from_slice(&all[own(&layout)]);
                let all = Part::shared(all);
                let memory = Memory::lent(Buffers::One(layout), element, Part::NONE, all);
                (memory, lengths, Part::own(mine))
            }
            Call::AllGather { mine, all, counts } => {
                let layout = blocks(counts, mine.len());
                let all: &mut [u8] = bytemuck::cast_slice_mut(all);
                all[own(&layout)].copy_from_slice(bytemuck::cast_slice(mine));
                let (lengths, all) = (Some(layout.clone()), Part::own(all));
                (Memory::lent(Buffers::One(layout), element, Part::NONE, all), lengths, all)
            }
            Call::AllToAll { sent, received, counts } => {
                let lengths =
                    counts.is_none().then_some(Layout::Equal((sent.len() / ranks) as u64));
                let [to, from] = match counts {
                    Some([to, from]) => [blocks(Some(to), 0), blocks(Some(from), 0)],
                    None => [(); 2].map(|()| Layout::Equal((sent.len() / ranks) as u64)),
                };
                let sent = bytemuck::cast_slice::<T, u8>(sent);
                let received: &mut [u8] = bytemuck::cast_slice_mut(received);
                received[own(&from)].copy_from_slice(&sent[own(&to)]);
                let (rank, ranks) = (rank as u32, ranks as u32);
                let buffers = Buffers::Exchange { rank, ranks, sent: to, received: from };
                let received = Part::own(received);
                (Memory::lent(buffers, element, Part::shared(sent), received), lengths, received)
            }
            // What a rank combines for the root does not stay.
            Call::Reduce { root, data } if rank != root && !script.receives.is_empty() => {
                let own = bytemuck::cast_slice::<T, u8>(data).to_vec();
                let layout = script.purpose.layout(ranks as u32, data.len() as u64);
                let memory = Memory::own(Buffers::One(layout.clone()), element, own, None);
                (memory, Some(layout), Part::own(bytemuck::cast_slice_mut(data)))
            }
            Call::Reduce { data, .. } => vector(data),
            Call::ReduceScatter { all, mine, counts } => {
                let layout = blocks(counts, mine.len());
                let mine = Part::own(bytemuck::cast_slice_mut(mine));
                let result = Some((own(&layout), mine));
                let all = bytemuck::cast_slice::<T, u8>(all).to_vec();
                let lengths = Some(layout.clone());
                (Memory::own(Buffers::One(layout), element, all, result), lengths, mine)
            }
        };
        Bound { memory, lengths, combine: self.combine, result }
    }
}
