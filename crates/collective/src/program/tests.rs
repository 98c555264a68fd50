//! Programs are what the schedule of all ranks says, and carry data of any lengths to where they
//! belong, whatever the order in which messages come.

use super::*;
use crate::algorithm::{AllReduce, AllToAll, Broadcast, Gather};
use crate::{Buffer, Buffers, Layout, Operation, OperationError, Purpose, Step};
use crosstie_units::{Bytes, Rate, Seed};
use std::collections::{BTreeMap, VecDeque};

const SIZE: Bytes = Bytes::new(24);

/// Every algorithm of every operation, and some with short segments.
fn all(root: u32, combine: Option<Rate>) -> Vec<Operation> {
    let mut all = Operation::by_every_algorithm(root, SIZE, combine);
    let segment = Bytes::new(7);
    for algorithm in [Broadcast::Chain { segment }, Broadcast::SegmentedBinomial { segment }] {
        all.push(Operation::Broadcast { algorithm, root, size: SIZE });
    }
    all
}

/// The union of all programs is the schedule, to the last dependency.
#[test]
fn the_programs_of_all_ranks_are_the_schedule() {
    let rates = [None, Some(Rate::from_bytes_per_second(1_000_000_000))];
    for ranks in 1..=64 {
        let roots = if ranks <= 16 { (0..ranks).collect() } else { vec![0, ranks / 3, ranks - 1] };
        for (root, rate) in roots.iter().flat_map(|&root| rates.map(|rate| (root, rate))) {
            for operation in all(root, rate) {
                let whole = operation.collective(ranks).unwrap();
                for rank in (0..ranks).map(Rank) {
                    let program = operation.program(ranks, rank).unwrap();
                    assert_eq!(program.injection(), whole.schedule.injection());
                    let places = whole.schedule.places(rank);
                    assert_eq!(program.len(), places.len(), "{operation:?} among {ranks}");
                    for (op, place) in program.ops().zip(places) {
                        let step = whole.schedule.all()[place].step;
                        let alike = match (program.instruction(op), step) {
                            (Instruction::Send { to, tag }, Step::Send { to: t, tag: g, .. }) => {
                                (to, tag) == (t, g)
                            }
                            (
                                Instruction::Signal { first, last, tag },
                                Step::Send { to, tag: known, bytes: 0 },
                            ) => (first, last, tag) == (to, to, known),
                            (
                                Instruction::Signal { first, last, tag },
                                Step::Cast { first: f, last: l, tag: g, bytes: 0 },
                            ) => (first, last, tag) == (f, l, g),
                            (
                                Instruction::Receive { from, tag },
                                Step::Receive { from: f, tag: g, .. },
                            ) => (Some(from), Some(tag)) == (f, g),
                            (Instruction::Join | Instruction::Combine, Step::Compute { .. }) => {
                                true
                            }
                            _ => false,
                        };
                        assert!(alike, "{operation:?} among {ranks}: {step:?}");
                        assert_eq!(program.needs(op), whole.schedule.needs(place));
                        assert_eq!(program.access(op), whole.cargo.access(place));
                        let blocks = program.blocks(op).iter().flat_map(|run| run.first..run.end);
                        let expected = whole.cargo.blocks(place).iter().map(|block| block.0);
                        assert!(blocks.eq(expected), "{operation:?} among {ranks}");
                    }
                }
            }
        }
    }
}

/// What a vector holds: for each element, whose contributions, in the order in which they were
/// combined.
type Element = Vec<u32>;

/// A tag, and what the message carries.
type Message = (u32, Vec<Element>);

/// A rank with its program, its buffers and what it has received.
struct Player {
    rank: u32,
    program: Program,
    progress: Progress,
    buffers: Buffers,
    sent: Vec<Element>,
    received: Vec<Element>,
    passing: BTreeMap<u32, Vec<Element>>,
    /// What receives have taken and no operation has waited for.
    apart: BTreeMap<u32, Vec<Element>>,
    /// Receives that are posted, by their sender and tag, in their order.
    posted: BTreeMap<(u32, u32), VecDeque<OpId>>,
}

impl Player {
    fn new(operation: Operation, ranks: u32, rank: u32, buffers: Buffers) -> Player {
        let program = operation.program(ranks, Rank(rank)).unwrap();
        let progress = Progress::new(&program);
        Player {
            rank,
            program,
            progress,
            buffers,
            sent: Vec::new(),
            received: Vec::new(),
            passing: BTreeMap::new(),
            apart: BTreeMap::new(),
            posted: BTreeMap::new(),
        }
    }

    /// The elements of blocks, one behind the other.
    fn collect(&self, op: OpId) -> Vec<Element> {
        let mut message = Vec::new();
        self.buffers.places(self.program.blocks(op), |buffer, range| {
            let range = range.start as usize..range.end as usize;
            message.extend_from_slice(match buffer {
                Buffer::Sent => &self.sent[range],
                Buffer::Received => &self.received[range],
                Buffer::Passing(block) => &self.passing[&block][range],
            });
        });
        message
    }

    /// Puts what a receive has taken in its place.
    fn settle(&mut self, op: OpId) {
        let Some(message) = self.apart.remove(&op.0) else { return };
        let Instruction::Receive { from, .. } = self.program.instruction(op) else { panic!() };
        let access = self.program.access(op);
        let mut message = message.into_iter();
        let Player { buffers, program, received, passing, .. } = self;
        buffers.places(program.blocks(op), |buffer, range| match buffer {
            Buffer::Sent => panic!("nothing is received there"),
            Buffer::Passing(block) => {
                let length = (range.end - range.start) as usize;
                passing.insert(block, message.by_ref().take(length).collect());
            }
            Buffer::Received => {
                for (place, new) in range.zip(message.by_ref()) {
                    let element = &mut received[place as usize];
                    match access {
                        Access::Store | Access::Replace => *element = new,
                        Access::Add if from.0 < self.rank => {
                            element.splice(0..0, new);
                        }
                        _ => element.extend(new),
                    }
                }
            }
        });
    }

    /// Starts all that may start; returns what it sends.
    fn advance(&mut self) -> Vec<(u32, u32, Vec<Element>)> {
        let mut sent = Vec::new();
        while let Some(op) = self.progress.next_ready() {
            for need in self.program.needs(op).to_vec() {
                if need.when == crate::When::Done {
                    self.settle(need.op);
                }
            }
            self.progress.started(op);
            match self.program.instruction(op) {
                Instruction::Send { to, tag } => {
                    sent.push((to.0, tag.0, self.collect(op)));
                    self.progress.done(op);
                }
                Instruction::Signal { first, last, tag } => {
                    sent.extend((first.0..=last.0).map(|to| (to, tag.0, Vec::new())));
                    self.progress.done(op);
                }
                Instruction::Receive { from, tag } => {
                    self.posted.entry((from.0, tag.0)).or_default().push_back(op);
                }
                Instruction::Join | Instruction::Combine => self.progress.done(op),
            }
        }
        sent
    }

    /// Takes a message, if it has posted a receive for it.
    fn take(&mut self, from: u32, tag: u32, message: &[Element]) -> bool {
        let posted = self.posted.get_mut(&(from, tag)).and_then(VecDeque::pop_front);
        let Some(op) = posted else { return false };
        let length = self.buffers.length(self.program.blocks(op));
        assert_eq!(length, message.len() as u64, "sender and receiver agree");
        self.apart.insert(op.0, message.to_vec());
        self.progress.done(op);
        true
    }
}

/// Lets all ranks play, with messages between pairs that come in any order but their own.
fn play(players: &mut [Player], seed: u64) {
    let mut stream = Seed(seed).stream("order", 0);
    // In the order in which each sender sent them, by pair.
    let mut flying: BTreeMap<(u32, u32), VecDeque<Message>> = BTreeMap::new();
    loop {
        for player in players.iter_mut() {
            for (to, tag, message) in player.advance() {
                flying.entry((player.rank, to)).or_default().push_back((tag, message));
            }
        }
        let mut pairs: Vec<(u32, u32)> = flying.keys().copied().collect();
        stream.shuffle(&mut pairs);
        let mut taken = false;
        for pair in pairs {
            let messages = flying.get_mut(&pair).unwrap();
            let player = &mut players[pair.1 as usize];
            // The first that a receive asks for.
            let fits =
                messages.iter().position(|(tag, message)| player.take(pair.0, *tag, message));
            if let Some(at) = fits {
                messages.remove(at);
                taken = true;
                break;
            }
        }
        if !taken {
            break;
        }
    }
    assert!(flying.values().all(VecDeque::is_empty), "every message is received");
    for player in players {
        assert!(player.progress.is_finished(), "rank {} has done everything", player.rank);
        let left: Vec<u32> = player.apart.keys().copied().collect();
        left.into_iter().for_each(|op| player.settle(OpId(op)));
    }
}

/// Some lengths, of which many are 0.
fn lengths(count: u32, seed: u64) -> Vec<u64> {
    let mut stream = Seed(seed).stream("lengths", 0);
    (0..count).map(|_| stream.below(4).saturating_sub(1)).collect()
}

/// Plays an operation with blocks of unequal lengths. In the end each element of each rank must
/// have the contributions that the purpose asks for, in the order of ranks if the algorithm keeps
/// it.
fn vectors(operation: Operation, ranks: u32, seed: u64) {
    let purpose = operation.purpose(ranks).unwrap();
    let layout = Layout::packed(lengths(purpose.blocks(ranks) as u32, seed));
    let whole = Run { first: 0, end: purpose.blocks(ranks) as u32 };
    let length = layout.length(whole) as usize;
    let mut players: Vec<Player> = (0..ranks)
        .map(|rank| {
            let mut player = Player::new(operation, ranks, rank, Buffers::One(layout.clone()));
            player.received = vec![Vec::new(); length];
            purpose.initial(ranks, Rank(rank), |block, whose| {
                for range in layout.ranges(Run { first: block.0, end: block.0 + 1 }) {
                    range.for_each(|at| player.received[at as usize] = vec![whose.0]);
                }
            });
            player
        })
        .collect();
    play(&mut players, seed);
    let keeps_order = operation.keeps_order(ranks);
    for player in &players {
        purpose.wanted(ranks, Rank(player.rank), |block, whose| {
            let expected: Element = match whose {
                crate::Whose::One(rank) => vec![rank.0],
                crate::Whose::Below(count) => (0..count).collect(),
                crate::Whose::All => (0..ranks).collect(),
            };
            for range in layout.ranges(Run { first: block.0, end: block.0 + 1 }) {
                for at in range {
                    let mut found = player.received[at as usize].clone();
                    if !keeps_order {
                        found.sort_unstable();
                    }
                    assert_eq!(found, expected, "{operation:?} among {ranks}, {}", player.rank);
                }
            }
        });
    }
}

#[test]
fn unequal_blocks_go_where_they_belong() {
    for (seed, ranks) in (1..=24).chain([32, 33]).enumerate() {
        for root in [0, ranks / 2, ranks - 1] {
            for operation in all(root, None) {
                let purpose = operation.purpose(ranks).unwrap();
                if !matches!(purpose, Purpose::AllToAll | Purpose::Barrier) {
                    vectors(operation, ranks, seed as u64);
                }
            }
        }
    }
}

/// Ranks that know the lengths of their own blocks alone.
#[test]
fn ranks_need_to_know_no_lengths_but_their_own() {
    for ranks in 1..=17u32 {
        let root = ranks / 2;
        for operation in all(root, None) {
            let purpose = operation.purpose(ranks).unwrap();
            let (gathers, scatters) = (
                matches!(purpose, Purpose::Gather { .. }),
                matches!(purpose, Purpose::Scatter { .. }),
            );
            if (!gathers && !scatters) || operation.check_own_lengths().is_err() {
                continue;
            }
            let lengths = lengths(ranks, ranks.into());
            let layout = Layout::packed(lengths.iter().copied());
            let total = lengths.iter().sum::<u64>() as usize;
            // An element is its block and its place there.
            let block =
                |rank: u32| (0..lengths[rank as usize] as u32).map(move |at| vec![rank, at]);
            let mut players: Vec<Player> = (0..ranks)
                .map(|rank| {
                    let length = lengths[rank as usize];
                    let buffers = match rank == root {
                        true => layout.clone(),
                        false => Layout::Only { block: rank, length },
                    };
                    let mut player = Player::new(operation, ranks, rank, Buffers::One(buffers));
                    let is_root = rank == root;
                    player.received =
                        vec![Vec::new(); if is_root { total } else { length as usize }];
                    match (gathers, is_root) {
                        (true, true) => {
                            let at: u64 = lengths[..rank as usize].iter().sum();
                            let place = at as usize..(at + length) as usize;
                            player.received.splice(place, block(rank));
                        }
                        (true, false) => player.received = block(rank).collect(),
                        (false, true) => player.received = (0..ranks).flat_map(block).collect(),
                        (false, false) => {}
                    }
                    player
                })
                .collect();
            play(&mut players, 3);
            let everything: Vec<Element> = (0..ranks).flat_map(block).collect();
            assert_eq!(players[root as usize].received, everything, "{operation:?} among {ranks}");
            for player in players.iter().filter(|player| player.rank != root) {
                assert!(player.received.iter().cloned().eq(block(player.rank)), "{operation:?}");
            }
        }
    }
}

/// Blocks of a length for every pair, in buffers with gaps.
#[test]
fn exchanges_have_a_length_for_every_pair() {
    for ranks in 1..=12u32 {
        let of_pair = |from: u32, to: u32| u64::from((from * 7 + to * 3) % 4);
        for operation in
            AllToAll::ALL.map(|algorithm| Operation::AllToAll { algorithm, size: SIZE })
        {
            let equal = operation.check_own_lengths().is_err();
            let length = |from, to| if equal { 2 } else { of_pair(from, to) };
            // Blocks to the last rank come first, with a gap behind each.
            let layout = |lengths: Vec<u64>| match equal {
                true => Layout::Equal(2),
                false => {
                    let mut at = 0;
                    let mut ranges: Vec<_> = (lengths.into_iter().rev())
                        .map(|length| {
                            let begin = at;
                            at += length + 1;
                            begin..begin + length
                        })
                        .collect();
                    ranges.reverse();
                    Layout::Spread(ranges)
                }
            };
            let element = |from: u32, to: u32, at: u64| vec![from, to, at as u32];
            let mut players: Vec<Player> = (0..ranks)
                .map(|rank| {
                    let sent = layout((0..ranks).map(|to| length(rank, to)).collect());
                    let received = layout((0..ranks).map(|from| length(from, rank)).collect());
                    let buffers = Buffers::Exchange { rank, ranks, sent: sent.clone(), received };
                    let mut player = Player::new(operation, ranks, rank, buffers);
                    player.sent = vec![Vec::new(); 5 * ranks as usize];
                    player.received = player.sent.clone();
                    for to in 0..ranks {
                        for range in sent.ranges(Run { first: to, end: to + 1 }) {
                            for (at, place) in range.enumerate() {
                                player.sent[place as usize] = element(rank, to, at as u64);
                            }
                        }
                    }
                    player
                })
                .collect();
            play(&mut players, 5);
            for player in &players {
                let Buffers::Exchange { received, .. } = &player.buffers else { panic!() };
                for from in (0..ranks).filter(|&from| from != player.rank) {
                    for range in received.ranges(Run { first: from, end: from + 1 }) {
                        assert_eq!(range.end - range.start, length(from, player.rank));
                        for (at, place) in range.enumerate() {
                            let expected = element(from, player.rank, at as u64);
                            assert_eq!(player.received[place as usize], expected, "{operation:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The declaration, and the blocks that programs name.
#[test]
fn only_what_relays_names_blocks_of_others() {
    for ranks in 2..=20u32 {
        for operation in all(ranks / 2, None) {
            let purpose = operation.purpose(ranks).unwrap();
            let own = |block: u32, rank: u32| match purpose {
                Purpose::Gather { root } | Purpose::Scatter { root } => {
                    rank == root.0 || block == rank
                }
                Purpose::AllToAll => block / ranks == rank || block % ranks == rank,
                _ => true,
            };
            let relays = (0..ranks).any(|rank| {
                let touched = operation.program(ranks, Rank(rank)).unwrap().touched();
                touched.iter().any(|run| (run.first..run.end).any(|block| !own(block, rank)))
            });
            // Among few ranks, no rank stands between two others.
            assert!(operation.relays() || !relays, "{operation:?} among {ranks}");
            assert!(relays || !operation.relays() || ranks < 5, "{operation:?} among {ranks}");
        }
    }
}

#[test]
fn what_is_refused_names_an_algorithm_that_will_do() {
    for (ranks, root) in [(4, 0), (5, 3), (6, 1), (7, 6), (64, 2), (100, 99)] {
        for operation in all(root, None) {
            if let Err(error) = operation.check_order(ranks) {
                let OperationError::OutOfOrder { instead, .. } = error else { panic!("{error}") };
                let other =
                    |o: &Operation| o.name() == operation.name() && o.algorithm().name == instead;
                let other = all(root, None).into_iter().find(other).expect("there is one");
                assert!(other.keeps_order(ranks), "{operation:?} among {ranks}: {error}");
            }
            if let Err(error) = operation.check_own_lengths() {
                let OperationError::Relays { instead, .. } = error else { panic!("{error}") };
                let other =
                    |o: &Operation| o.name() == operation.name() && o.algorithm().name == instead;
                let other = all(root, None).into_iter().find(other).expect("there is one");
                assert!(!other.relays(), "{operation:?}: {error}");
            }
        }
    }
    let (algorithm, size) = (AllReduce::Ring {}, SIZE);
    let ring = Operation::AllReduce { algorithm, size, combine: None };
    assert_eq!(
        ring.check_order(6).unwrap_err().to_string(),
        "all-reduce by ring among 6 ranks combines in another order than that of ranks, and the \
         operation is not commutative; expected an algorithm that keeps the order, such as \
         in-order-doubling"
    );
    let gather = Operation::Gather { algorithm: Gather::Binomial {}, root: 0, size };
    assert_eq!(
        gather.check_own_lengths().unwrap_err().to_string(),
        "in a gather by binomial ranks pass on blocks of others, whose lengths they do not know; \
         expected an algorithm that sends each block straight to its receiver, such as linear"
    );
}

/// Two rounds of the same program.
#[test]
fn progress_begins_again() {
    let size = SIZE;
    let operation = Operation::Broadcast { algorithm: Broadcast::Binomial {}, root: 0, size };
    let program = operation.program(8, Rank(0)).unwrap();
    let mut progress = Progress::new(&program);
    for _ in 0..2 {
        for op in 0..3 {
            assert_eq!((progress.next_ready(), progress.next_ready()), (Some(OpId(op)), None));
            progress.started(OpId(op));
            assert!(!progress.is_finished());
            progress.done(OpId(op));
        }
        assert!(progress.is_finished() && progress.next_ready().is_none());
        progress.begin();
    }
}

#[test]
fn what_a_rank_touches_is_merged() {
    let operation = Operation::Gather { algorithm: Gather::Binomial {}, root: 3, size: SIZE };
    // Number 4 of 8, which collects numbers 4 to 7, is rank 7 of a ring.
    let touched = operation.program(8, Rank(7)).unwrap().touched();
    assert_eq!(touched, [Run { first: 0, end: 3 }, Run { first: 7, end: 8 }]);
}
