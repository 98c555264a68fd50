//! Collective operations against closed forms, to the picosecond.
//!
//! L, g, G and o are those of LogGOPS, p is the number of ranks, m the length of a message and
//! K = ceil(log2 p). Hosts that take no time have o = 0.

use super::*;
use crate::host::Overhead;
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crosstie_collective::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, ExclusiveScan, Gather, Reduce,
    ReduceScatter, Scan, Scatter,
};
use crosstie_collective::{Operation, Schedule};
use crosstie_work::Player;
use std::cmp::Reverse;
use std::sync::Arc;

const LIMIT: Time = Time::from_ns(1_000_000_000_000);

fn play(
    blueprint: &dyn Blueprint,
    rails: u32,
    overhead: Option<Overhead>,
    schedule: &Arc<Schedule>,
) -> Played {
    let nodes = plain_nodes(rails, WHOLE);
    let play =
        Play { blueprint, nodes: &nodes, messaging: None, overhead, limit: LIMIT, records: true };
    let mut player = Player::new(Arc::clone(schedule), 1);
    let played = play.run(&mut player, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(played.failure, None);
    assert_eq!(played.finished.values().max(), Some(&played.time));
    played
}

fn schedule(operation: Operation, ranks: u64) -> Arc<Schedule> {
    Arc::new(operation.collective(ranks as u32).unwrap().schedule)
}

/// A machine, in picoseconds.
#[derive(Debug, Clone, Copy)]
#[expect(non_snake_case, reason = "as in the books")]
struct Machine {
    L: u64,
    g: u64,
    /// G: so long for so many bytes.
    G: (u64, u64),
    o: u64,
}

impl Machine {
    fn play(&self, schedule: &Arc<Schedule>) -> Played {
        let ps = Time::from_ps;
        let wires = IdealSpec {
            hosts: schedule.ranks(),
            rails: 1,
            pace: Pace { time: ps(self.G.0), bytes: self.G.1 },
            latency: ps(self.L),
            gap: ps(self.g),
            cycle: CYCLE,
        };
        let overhead = Overhead { message: ps(self.o), byte: Time::ZERO, eager: None };
        play(&wires, 1, (self.o > 0).then_some(overhead), schedule)
    }

    /// From the first byte of a message to its last: (m-1) G. Even nothing takes a byte.
    fn length(&self, m: u64) -> u64 {
        m.saturating_sub(1) * self.G.0 / self.G.1
    }

    /// From a send to the end of its receive, if nobody waits: L + 2o + (m-1) G.
    fn hop(&self, m: u64) -> u64 {
        self.L + 2 * self.o + self.length(m)
    }

    /// From a send to the next one: max(o, g + (m-1) G).
    fn sending(&self, m: u64) -> u64 {
        self.o.max(self.g + self.length(m))
    }

    /// From a reception to the next one: max(o, g) + (m-1) G.
    fn receiving(&self, m: u64) -> u64 {
        self.o.max(self.g) + self.length(m)
    }

    /// Steps of equal ranks, who all send and receive so much in a step. The next one begins when
    /// both are done and the wire is free: the sum of max(L + 2o, g) + (m-1) G, but L + 2o +
    /// (m-1) G for the last one.
    fn steps(&self, sizes: impl IntoIterator<Item = u64>) -> u64 {
        let (mut begin, mut end) = (0, 0);
        for m in sizes {
            end = begin + self.hop(m);
            begin = end.max(begin + self.sending(m));
        }
        end
    }
}

/// Every algorithm of every operation, for messages or vectors of m bytes.
fn operations(p: u64, m: u64) -> Vec<Operation> {
    let (root, size) = (3 % p as u32, Bytes::new(m));
    let segment = Bytes::new(64);
    let mut all = Operation::by_every_algorithm(root, size, None);
    // Those that signal by puts of nothing are for NICs that put.
    all.retain(|operation| {
        let puts = [Barrier::Hardware {}, Barrier::KAryTree { arity: 4 }];
        !puts.map(|algorithm| Operation::Barrier { algorithm }).contains(operation)
    });
    for algorithm in [Broadcast::Chain { segment }, Broadcast::SegmentedBinomial { segment }] {
        all.push(Operation::Broadcast { algorithm, root, size });
    }
    all
}

/// 1, 2, 4, ... below p: there are K of them.
fn powers(p: u64) -> impl DoubleEndedIterator<Item = u64> + Clone {
    (0..u64::BITS - (p - 1).leading_zeros()).map(|k| 1 << k)
}

/// The sizes of the trees below the top of a binomial tree of s ranks, in which n hangs below n
/// less its highest bit: below d = 1, 2, 4, ... hangs every 2d-th rank from d on.
fn near(s: u64) -> Vec<u64> {
    powers(s).map(|d| (s - d).div_ceil(2 * d)).collect()
}

/// The same if n hangs below n less its lowest bit: below d hang the ranks from d up to 2d.
fn far(s: u64) -> Vec<u64> {
    powers(s).map(|d| d.min(s - d)).collect()
}

/// When the top of a tree of s ranks has received everything, if a tree of c ranks sends bytes(c)
/// up.
///
/// Messages that come at a_1 <= a_2 <= ... and keep processor and wire for b_1, b_2, ... one after
/// the other leave both free at max over i of a_i + b_i + b_i+1 + ...; and if g > o, the last is
/// received g - o before.
fn up(on: &Machine, tree: fn(u64) -> Vec<u64>, s: u64, bytes: &dyn Fn(u64) -> u64) -> u64 {
    let come = |c| (up(on, tree, c, bytes) + on.o + on.L, on.receiving(bytes(c)));
    let come: Vec<(u64, u64)> = tree(s).into_iter().map(come).collect();
    let busy = |&(a, _)| a + come.iter().filter(|other| other.0 >= a).map(|&(_, b)| b).sum::<u64>();
    come.iter().map(busy).max().map_or(0, |free: u64| free - on.g.saturating_sub(on.o))
}

/// When the last rank of a tree has received, if its top sends bytes(c) to trees of c ranks, one
/// send after the other, and so on below.
fn down(on: &Machine, tree: &dyn Fn(u64) -> Vec<u64>, s: u64, bytes: &dyn Fn(u64) -> u64) -> u64 {
    let (mut begin, mut end) = (0, 0);
    for c in tree(s) {
        end = end.max(begin + on.hop(bytes(c)) + down(on, tree, c, bytes));
        begin += on.sending(bytes(c));
    }
    end
}

/// What an operation takes; `None` where nobody has a formula.
fn closed_form(on: &Machine, operation: Operation, p: u64) -> Option<u64> {
    let Machine { L, g, o, .. } = *on;
    let quick = g <= L && o == 0;
    match operation {
        Operation::Barrier { algorithm } => Some(match algorithm {
            // Reports queue up at the root, and releases too: 2 (L + 2o) + 2 (p-2) max(o, g).
            Barrier::Linear {} => 2 * (on.hop(1) + (p - 2) * o.max(g)),
            // Everything up before anything down; by then all wires are free, as g <= 2L.
            Barrier::Tree {} => up(on, near, p, &|_| 1) + down(on, &near, p, &|_| 1),
            // K steps.
            Barrier::Dissemination {} => on.steps(powers(p).map(|_| 1)),
            Barrier::Hardware {} | Barrier::KAryTree { .. } => return None,
        }),
        Operation::Broadcast { algorithm, size, .. } => {
            let m = size.get();
            match algorithm {
                // On the way to rank n, which is told by its binary digits, every 1 is a message,
                // and every 0 one that went elsewhere before: max over n < p of
                // ones(n) (L + 2o + (m-1) G) + zeros(n) max(o, g + (m-1) G).
                Broadcast::Binomial {} => (1..p)
                    .map(|n| {
                        let (ones, digits) = (u64::from(n.count_ones()), u64::from(n.ilog2()) + 1);
                        ones * on.hop(m) + (digits - ones) * on.sending(m)
                    })
                    .max(),
                // Of k segments of m_1, ..., m_k bytes the longest holds up all others on all wires
                // but one: (p-1) L + (k-1) g + the sum of (m_i - 1) G + (p-2) max
                // (m_i - 1) G.
                Broadcast::Chain { segment } => {
                    let k = m.div_ceil(segment.get());
                    let length = |i| on.length((i + 1) * m / k - i * m / k);
                    let (sum, most) = ((0..k).map(length).sum::<u64>(), (0..k).map(length).max()?);
                    (o == 0).then_some((p - 1) * L + (k - 1) * g + sum + (p - 2) * most)
                }
                // The root sends all segments before the last to its K children, and the last goes
                // down the tree. Nobody else has as many to send to, so nobody is
                // held up.
                Broadcast::SegmentedBinomial { segment } => {
                    let k = m.div_ceil(segment.get());
                    let size = |i: u64| ((i + 1) * m / k - i * m / k).max(1);
                    let children = powers(p).count() as u64;
                    let before = |i| (0..i).map(|j| children * on.sending(size(j))).sum::<u64>();
                    let alone = |i| down(on, &|s| reversed(far(s)), p, &|_| size(i));
                    (o == 0 || k == 1).then(|| (0..k).map(|i| before(i) + alone(i)).max())?
                }
                // A scatter, and a ring that waits for the last to have its part.
                Broadcast::ScatterAllGather {} => (quick && m.is_multiple_of(p)).then(|| {
                    let part = m / p;
                    down(on, &|s| reversed(far(s)), p, &|c| c * part) + (p - 1) * on.hop(part)
                }),
            }
        }
        Operation::Gather { algorithm, size, .. } => {
            let m = size.get();
            Some(match algorithm {
                // They queue up at the root: L + 2o + (m-1) G + (p-2) (max(o, g) + (m-1) G).
                Gather::Linear {} => on.hop(m) + (p - 2) * on.receiving(m),
                Gather::Binomial {} => up(on, far, p, &|c| c * m),
            })
        }
        Operation::Scatter { algorithm, size, .. } => {
            let m = size.get();
            Some(match algorithm {
                // They queue up at the root: (p-2) max(o, g + (m-1) G) + L + 2o + (m-1) G.
                Scatter::Linear {} => (p - 2) * on.sending(m) + on.hop(m),
                Scatter::Binomial {} => down(on, &|s| reversed(far(s)), p, &|c| c * m),
            })
        }
        Operation::AllGather { algorithm, size } => {
            let m = size.get();
            match algorithm {
                // p-1 steps with a block each.
                AllGather::Ring {} => Some(on.steps((1..p).map(|_| m))),
                // Blocks double, K steps.
                AllGather::RecursiveDoubling {} => {
                    p.is_power_of_two().then(|| on.steps(powers(p).map(|d| d * m)))
                }
                // The same, but nothing twice in the last step.
                AllGather::Bruck {} => Some(on.steps(powers(p).map(|d| d.min(p - d) * m))),
            }
        }
        Operation::Reduce { algorithm, size, root, .. } => {
            let m = size.get();
            Some(match algorithm {
                // As a gather.
                Reduce::Linear {} => on.hop(m) + (p - 2) * on.receiving(m),
                Reduce::Binomial {} => up(on, near, p, &|_| m),
                // To rank 0, and from there to the root.
                Reduce::InOrderBinomial {} => {
                    up(on, far, p, &|_| m) + if root > 0 { on.hop(m) } else { 0 }
                }
            })
        }
        Operation::AllReduce { algorithm, size, .. } => {
            let m = size.get();
            match algorithm {
                // A reduction, and a scatter of whole vectors.
                AllReduce::Linear {} => {
                    Some(2 * on.hop(m) + (p - 2) * (on.receiving(m) + on.sending(m)))
                }
                // 2 (p-1) steps with a part each; the longest part is late everywhere.
                AllReduce::Ring {} => (quick || m.is_multiple_of(p))
                    .then(|| on.steps((0..2 * (p - 1)).map(|_| m.div_ceil(p)))),
                // The vector, K steps.
                AllReduce::RecursiveDoubling {} | AllReduce::InOrderDoubling {} => {
                    p.is_power_of_two().then(|| on.steps(powers(p).map(|_| m)))
                }
                // A half, a quarter and so on, and back: 2K steps.
                AllReduce::Rabenseifner {} => {
                    (p.is_power_of_two() && m.is_multiple_of(p)).then(|| {
                        let parts = powers(p).map(|d| d * m / p);
                        on.steps(parts.clone().rev().chain(parts))
                    })
                }
            }
        }
        Operation::ReduceScatter { algorithm, size, .. } => {
            let m = size.get();
            match algorithm {
                // p-1 steps with a part each.
                ReduceScatter::Pairwise {} => {
                    m.is_multiple_of(p).then(|| on.steps((1..p).map(|_| m / p)))
                }
                // The same; the longest part is late everywhere.
                ReduceScatter::Ring {} => {
                    (quick || m.is_multiple_of(p)).then(|| on.steps((1..p).map(|_| m.div_ceil(p))))
                }
                // A half, a quarter and so on: K steps.
                ReduceScatter::RecursiveHalving {} | ReduceScatter::InOrderHalving {} => {
                    (p.is_power_of_two() && m.is_multiple_of(p))
                        .then(|| on.steps(powers(p).rev().map(|d| d * m / p)))
                }
            }
        }
        Operation::Scan { algorithm, size, .. } => {
            let m = size.get();
            match algorithm {
                // From each rank to the next.
                Scan::Linear {} => Some((p - 1) * on.hop(m)),
                // Low ranks wait for none: what they send comes to others early, and holds up what
                // those wait for.
                Scan::RecursiveDoubling {} => None,
            }
        }
        Operation::ExclusiveScan { algorithm: ExclusiveScan::RecursiveDoubling {}, .. } => None,
        Operation::AllToAll { algorithm, size } => {
            let m = size.get();
            match algorithm {
                // Everybody sends to everybody else in turn, and never two to the same rank.
                // If all have sent before the first block comes, receptions follow each other:
                // L + 2o + (m-1) G + (p-2) (max(o, g) + (m-1) G).
                // If a processor sends one block after the other and only then receives:
                // max((p-1) o, o + L) + (p-1) (o + (m-1) G).
                // Packets that take turns are for nodes; here messages go whole, in another order.
                AllToAll::Linear {}
                | AllToAll::SynchronousShuffle { .. }
                | AllToAll::ModifiedShuffle { .. }
                    if o == 0 || L >= (p - 2) * on.sending(m) =>
                {
                    Some(on.hop(m) + (p - 2) * on.receiving(m))
                }
                AllToAll::Linear {}
                | AllToAll::SynchronousShuffle { .. }
                | AllToAll::ModifiedShuffle { .. } => (o >= g + on.length(m))
                    .then(|| ((p - 1) * o).max(o + L) + (p - 1) * (o + on.length(m))),
                // p-1 steps with a block each.
                AllToAll::Shift {} => Some(on.steps((1..p).map(|_| m))),
                // The same, unless somebody rests in every round.
                AllToAll::Pairwise { .. } => {
                    p.is_multiple_of(2).then(|| on.steps((1..p).map(|_| m)))
                }
                // The same with so many at a time, and a round waits for the one before.
                AllToAll::GroupShuffle { group, .. } if o == 0 && L >= g && p.is_multiple_of(2) => {
                    let members = (1..p).step_by(group as usize).map(|k| (p - k).min(group.into()));
                    Some(members.map(|n| on.hop(m) + (n - 1) * on.receiving(m)).sum())
                }
                AllToAll::GroupShuffle { .. } => None,
                // All blocks whose way has the bit of the step: K steps.
                AllToAll::Bruck {} => {
                    let ways = |d: u64| (0..p).filter(|way| way & d > 0).count() as u64;
                    Some(on.steps(powers(p).map(|d| ways(d) * m)))
                }
            }
        }
    }
}

fn reversed(mut all: Vec<u64>) -> Vec<u64> {
    all.reverse();
    all
}

/// The bytes between ranks in every round. What a rank sends and receives in a round waits until
/// it has done its part of the round before.
type Rounds = Vec<Vec<Option<(u64, u64)>>>;

/// The rounds of what has no formula.
fn rounds(operation: Operation, p: u64) -> Option<Rounds> {
    let core = 1 << p.ilog2();
    let round = |send: &dyn Fn(u64) -> Option<(u64, u64)>| (0..p).map(send).collect::<Vec<_>>();
    // Bytes of so many parts of k, from the first on.
    let bytes = |m: u64, k: u64, first: u64, parts: u64| (first + parts) * m / k - first * m / k;
    // Part n + first of rank n goes round a ring.
    let ring = |m: u64, first: u64| {
        (0..p - 1).map(move |step| {
            let part = |n: u64| (n + first + p - step) % p;
            round(&|n| Some(((n + 1) % p, bytes(m, p, part(n), 1))))
        })
    };
    // In the first round, ranks beyond a power of two hand something to another one, and in the
    // last they get something back. In between pairs exchange.
    let folded = |up: u64, pairs: Vec<Vec<Option<(u64, u64)>>>, back: u64| {
        let first = round(&|n| (n >= core).then(|| (n - core, up)));
        let last = round(&|n| (n + core < p).then_some((n + core, back)));
        [first].into_iter().chain(pairs).chain([last]).collect::<Rounds>()
    };
    let pairs = |d: u64, bytes: &dyn Fn(u64) -> u64| {
        round(&|n| (n < core).then(|| (n ^ d, bytes(n / d * d))))
    };
    // The same with partners that are neighbours: member n is rank n, or 2n if it has an extra.
    let extras = p - core;
    let rank = move |n: u64| n + n.min(extras);
    let number = move |r: u64| match r < 2 * extras {
        true => r.is_multiple_of(2).then_some(r / 2),
        false => Some(r - extras),
    };
    let neighbours = |up: u64, pairs: Rounds, back: &dyn Fn(u64) -> u64| {
        let first = round(&|r| number(r).is_none().then(|| (r - 1, up)));
        let extra = |r: u64| r + 1 < 2 * extras && r.is_multiple_of(2);
        let last = round(&|r| extra(r).then(|| (r + 1, back(r + 1))));
        [first].into_iter().chain(pairs).chain([last]).collect::<Rounds>()
    };
    let between = |d: u64, bytes: &dyn Fn(u64) -> u64| {
        round(&|r| number(r).map(|n| (rank(n ^ d), bytes(n ^ d))))
    };
    // A scan of ranks from one on.
    let scan = |m: u64, from: u64| {
        powers(p - from).map(move |d| round(&|r| (r >= from && r + d < p).then_some((r + d, m))))
    };
    match operation {
        Operation::Broadcast { algorithm: Broadcast::ScatterAllGather {}, size, .. } => {
            let m = size.get();
            let scatter = powers(p).rev().map(|d| {
                round(&|n| {
                    let sends = n.is_multiple_of(2 * d) && n + d < p;
                    sends.then(|| (n + d, bytes(m, p, n + d, d.min(p - n - d))))
                })
            });
            Some(scatter.chain(ring(m, 0)).collect())
        }
        Operation::AllGather { algorithm: AllGather::RecursiveDoubling {}, size } => {
            let m = size.get();
            // Everybody below has two blocks.
            let folded_below = |n: u64| n.min(p - core);
            let had = |d| move |n| (d + folded_below(n + d) - folded_below(n)) * m;
            Some(folded(m, powers(core).map(|d| pairs(d, &had(d))).collect(), (p - 1) * m))
        }
        Operation::AllReduce { algorithm, size, .. } => {
            let m = size.get();
            Some(match algorithm {
                AllReduce::Linear {} => return None,
                AllReduce::Ring {} => ring(m, 0).chain(ring(m, 1)).collect(),
                AllReduce::RecursiveDoubling {} => {
                    folded(m, powers(core).map(|d| pairs(d, &|_| m)).collect(), m)
                }
                AllReduce::InOrderDoubling {} => {
                    neighbours(m, powers(core).map(|d| between(d, &|_| m)).collect(), &|_| m)
                }
                AllReduce::Rabenseifner {} => {
                    // The half of the other one, and later one's own.
                    let halve = powers(core).rev().map(|d| pairs(d, &|n| bytes(m, core, n ^ d, d)));
                    let double = powers(core).map(|d| pairs(d, &|n| bytes(m, core, n, d)));
                    folded(m, halve.chain(double).collect(), m)
                }
            })
        }
        Operation::ReduceScatter { algorithm, size, .. } => {
            let m = size.get();
            let part = |r: u64| bytes(m, p, r, 1);
            // The parts that members keep.
            let kept = |first: u64, end: u64| bytes(m, p, rank(first), rank(end) - rank(first));
            Some(match algorithm {
                ReduceScatter::Pairwise {} => {
                    (1..p).map(|k| round(&|r| Some(((r + k) % p, part((r + k) % p))))).collect()
                }
                ReduceScatter::Ring {} => ring(m, p - 1).collect(),
                ReduceScatter::RecursiveHalving {} => {
                    let halve = |d| between(d, &|n| kept(n / d * d, n / d * d + d));
                    neighbours(m, powers(core).rev().map(halve).collect(), &part)
                }
                ReduceScatter::InOrderHalving {} => {
                    let same = |d: u64, n: u64| (n % (2 * d)..core).step_by(2 * d as usize);
                    let halve = |d| between(d, &|n| same(d, n).map(|k| kept(k, k + 1)).sum());
                    neighbours(m, powers(core).map(halve).collect(), &part)
                }
            })
        }
        Operation::Scan { algorithm: Scan::RecursiveDoubling {}, size, .. } => {
            Some(scan(size.get(), 0).collect())
        }
        Operation::ExclusiveScan {
            algorithm: ExclusiveScan::RecursiveDoubling {}, size, ..
        } => {
            let m = size.get();
            let further = round(&|r| (r + 1 < p).then_some((r + 1, m)));
            Some([further].into_iter().chain(scan(m, 1)).collect())
        }
        // Those meet whose numbers add up to the round.
        Operation::AllToAll { algorithm: AllToAll::PAIRWISE, size } if p % 2 == 1 => {
            let meets = |k: u64| {
                round(&|n| Some(((k + p - n) % p, size.get())).filter(|&(other, _)| other != n))
            };
            Some((1..=p).map(meets).collect())
        }
        _ => None,
    }
}

/// How long rounds take on hosts that take no time: the rules of wires as equations, solved by
/// going round until nothing changes. What happens depends on earlier things only, so there is one
/// solution; where the search for it begins does not matter, but at what has been seen it is soon
/// over.
///
/// The rules do not say which of two messages goes first that come at the same time: that is looked
/// up.
fn solved(on: &Machine, rounds: &Rounds, root: u64, played: &Played) -> u64 {
    let p = rounds[0].len();
    let number = |rank: u32| (u64::from(rank) + p as u64 - root) as usize % p;
    // When messages between two ranks began and ended, in their order.
    let mut seen = vec![Vec::new(); p * p];
    for episode in &played.episodes {
        let (to, _) = episode.message.unwrap();
        let times = (episode.begin.ps(), episode.end.ps());
        seen[number(episode.rank.0) * p + number(to.0)].push(times);
    }
    seen.iter_mut().for_each(|times| times.sort_unstable_by_key(|&times| Reverse(times)));
    // The messages of all rounds: its place, who sends it to whom, how much, and what was seen of
    // it.
    let mut messages = Vec::new();
    let mut sent = vec![vec![0; p]; rounds.len()];
    for (k, round) in rounds.iter().enumerate() {
        for (from, send) in round.iter().enumerate() {
            let Some((to, m)) = *send else { continue };
            let (begin, end) = seen[from * p + to as usize].pop().expect("it was sent");
            sent[k][from] = begin;
            messages.push((k, from, to as usize, m, end));
        }
    }
    assert!(seen.iter().all(Vec::is_empty), "nothing else was sent");
    loop {
        let mut lines = vec![Vec::new(); p];
        for &(k, from, to, m, end) in &messages {
            lines[to].push((sent[k][from] + on.L, end, k, m));
        }
        let mut received = vec![vec![0; p]; rounds.len()];
        for (to, mut line) in lines.into_iter().enumerate() {
            line.sort_unstable();
            let mut free = 0;
            for (reaches, _, k, m) in line {
                received[k][to] = reaches.max(free) + on.length(m);
                free = received[k][to] + on.g;
            }
        }
        let (before, mut ready, mut free) = (sent.clone(), vec![0; p], vec![0; p]);
        for (k, round) in rounds.iter().enumerate() {
            for (rank, send) in round.iter().enumerate() {
                let begin = ready[rank];
                ready[rank] = begin.max(received[k][rank]);
                if let Some((_, m)) = *send {
                    sent[k][rank] = begin.max(free[rank]);
                    let left = sent[k][rank] + on.length(m);
                    free[rank] = left + on.g;
                    ready[rank] = left.max(ready[rank]);
                }
            }
        }
        if sent == before {
            return ready.into_iter().max().unwrap();
        }
    }
}

fn root(operation: Operation) -> u64 {
    match operation {
        Operation::Broadcast { root, .. } => root.into(),
        _ => 0,
    }
}

/// Exchanges in groups have a formula for an even number of ranks and gaps that are short. Among an
/// odd number some meet at a rank because one of them has rested.
fn in_groups(operation: Operation) -> bool {
    matches!(operation, Operation::AllToAll { algorithm: AllToAll::GroupShuffle { .. }, .. })
}

/// Slow wires, a long way, and a gap that is longer than the way.
#[test]
fn every_algorithm_takes_what_theory_says() {
    let machines = [
        Machine { L: 15_001, g: 703, G: (5000, 2), o: 0 },
        Machine { L: 1_000_003, g: 299_993, G: (5001, 2), o: 0 },
        Machine { L: 20_001, g: 33_333, G: (5000, 2), o: 0 },
    ];
    for p in 2..=64 {
        for m in [1, 333, 24 * p] {
            for operation in operations(p, m) {
                let (schedule, rounds) = (schedule(operation, p), rounds(operation, p));
                for on in &machines {
                    let played = on.play(&schedule);
                    let formula = closed_form(on, operation, p);
                    let solution =
                        rounds.as_ref().map(|all| solved(on, all, root(operation), &played));
                    let expected = [formula, solution];
                    let is_known = expected != [None; 2];
                    assert!(is_known || in_groups(operation), "{operation:?} among {p}");
                    for expected in expected.into_iter().flatten() {
                        let found = played.time.ps();
                        assert_eq!(found, expected, "{operation:?} among {p} on {on:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn long_segments_go_down_a_chain() {
    let on = Machine { L: 15_001, g: 703, G: (5000, 2), o: 0 };
    let (algorithm, size) = (Broadcast::ALL[1], Bytes::new(200_001));
    for p in 2..=64 {
        let operation = Operation::Broadcast { algorithm, root: 0, size };
        let found = on.play(&schedule(operation, p)).time.ps();
        assert_eq!(Some(found), closed_form(&on, operation, p), "among {p}");
    }
}

/// A gap shorter than the way, or longer; processors slower than their wires; a way that is longer
/// than all that anybody sends.
#[test]
fn hosts_that_take_time_take_what_theory_says() {
    let machines = [
        Machine { L: 1_000_003, g: 299_993, G: (5001, 2), o: 100_003 },
        Machine { L: 20_001, g: 33_333, G: (5000, 2), o: 5_003 },
        Machine { L: 15_001, g: 703, G: (5000, 2), o: 4_000_037 },
        Machine { L: 1_000_000_007, g: 33_333, G: (5000, 2), o: 70_001 },
    ];
    for p in 2..=64 {
        for m in [63, 24 * p] {
            for operation in operations(p, m) {
                let schedule = schedule(operation, p);
                let forms = machines
                    .iter()
                    .filter_map(|on| closed_form(on, operation, p).map(|expected| (on, expected)));
                let mut known = 0;
                for (on, expected) in forms {
                    let found = on.play(&schedule).time.ps();
                    assert_eq!(found, expected, "{operation:?} among {p} on {on:?}");
                    known += 1;
                }
                let least = match operation {
                    Operation::Broadcast {
                        algorithm:
                            Broadcast::Chain { .. }
                            | Broadcast::ScatterAllGather {}
                            | Broadcast::SegmentedBinomial { .. },
                        ..
                    } => 0,
                    Operation::AllReduce { .. } if !m.is_multiple_of(p) => 0,
                    Operation::AllGather { algorithm: AllGather::RecursiveDoubling {}, .. }
                    | Operation::AllReduce {
                        algorithm:
                            AllReduce::RecursiveDoubling {}
                            | AllReduce::Rabenseifner {}
                            | AllReduce::InOrderDoubling {},
                        ..
                    }
                    | Operation::ReduceScatter {
                        algorithm:
                            ReduceScatter::RecursiveHalving {} | ReduceScatter::InOrderHalving {},
                        ..
                    } if !p.is_power_of_two() => 0,
                    Operation::ReduceScatter { .. } if !m.is_multiple_of(p) => 0,
                    Operation::Scan { algorithm: Scan::RecursiveDoubling {}, .. }
                    | Operation::ExclusiveScan { .. } => 0,
                    Operation::AllToAll { algorithm: AllToAll::PAIRWISE, .. } if p % 2 == 1 => 0,
                    Operation::AllToAll { algorithm: AllToAll::GroupShuffle { .. }, .. } => 0,
                    Operation::AllToAll {
                        algorithm:
                            AllToAll::Linear {}
                            | AllToAll::SynchronousShuffle { .. }
                            | AllToAll::ModifiedShuffle { .. },
                        ..
                    } => 2,
                    _ => 4,
                };
                assert!(known >= least, "{operation:?} among {p}: {known} formulas");
            }
        }
    }
}

/// A network of the same wires that can do no better: one wire, and nothing on the way.
fn best(rails: u32) -> IdealSpec {
    IdealSpec {
        hosts: 16,
        rails,
        pace: Pace { time: CYCLE, bytes: 2 },
        latency: CYCLE * 3,
        gap: Time::from_ps(2500),
        cycle: CYCLE,
    }
}

/// o = 100 ns.
const OVERHEAD: Overhead = Overhead { message: Time::from_ns(100), byte: Time::ZERO, eager: None };

/// That is so for all schedules if hosts take no time. If they do, there are a few that send on
/// what they have while the next parts come: processors serve what was freed first, and on a
/// network that takes parts sooner those may be freed before what should be sent on.
#[test]
fn no_schedule_is_faster_than_on_the_ideal_network() {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = full_duplex();
    let mut faster = Vec::new();
    for (p, m) in [2u64, 3, 5, 8, 16].into_iter().flat_map(|p| [1, 64, 1000].map(|m| (p, m))) {
        let by_luck = |&operation: &Operation| in_groups(operation) && !p.is_multiple_of(2);
        for operation in operations(p, m).into_iter().filter(|operation| !by_luck(operation)) {
            let schedule = schedule(operation, p);
            for rails in [1, 2] {
                let real = wormhole(&fabric, &routing, rails, &config);
                for overhead in [None, Some(OVERHEAD)] {
                    let time = |on: &dyn Blueprint| play(on, rails, overhead, &schedule).time;
                    let (best, real) = (time(&best(rails)), time(&real));
                    if best > real {
                        assert!(overhead.is_some(), "{operation:?} among {p}: {best} and {real}");
                        faster.push((operation.algorithm().name, m, p, rails));
                    }
                }
            }
        }
    }
    let expected = [
        ("scatter-all-gather", 64, 2, 1),
        ("scatter-all-gather", 64, 3, 1),
        ("chain", 1000, 3, 1),
        ("chain", 1000, 3, 2),
        ("chain", 1000, 5, 1),
        ("chain", 1000, 8, 1),
        ("chain", 1000, 16, 1),
    ];
    assert_eq!(faster, expected);
}

/// Down a chain of three go two segments of 64 bytes.
#[test]
fn a_chain_of_busy_hosts_may_be_faster_on_a_slower_network() {
    let algorithm = Broadcast::Chain { segment: Bytes::new(64) };
    let chain = schedule(Operation::Broadcast { algorithm, root: 0, size: Bytes::new(128) }, 3);
    let ps = |gap| {
        let on = Machine { L: 65_000, g: gap, G: (5000, 2), o: 100_000 };
        on.play(&chain).time.ps()
    };
    // The send of the second segment begins before the first is received: its place is before that
    // of the send that this frees. With b = o + 63 G for a reception, o + L + 2b until the
    // first is sent on, o + L, and 2b.
    assert_eq!(ps(2500), 2 * 165_000 + 4 * 257_500);
    // With a gap of more than L it begins later, and the first is sent on before: o + L + b, o
    // until the second is received, b, and o + L + b.
    assert_eq!(ps(105_000), 2 * 165_000 + 3 * 257_500 + 100_000);
}
