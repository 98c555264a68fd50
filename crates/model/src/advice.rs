//! Which algorithm of a collective operation is the fastest, in closed forms.
//!
//! [`price`](crate::price) follows every message of a schedule, of which there are p (p - 1) and
//! more in some algorithms: too many for a rank that wants to know now. Here an algorithm is a sum
//! over its steps, and a step takes what its messages do, which [`price`](crate::price) says for
//! a few ranks:
//!
//! ```text
//! t(n)  one message of n bytes
//! x(n)  one in each direction, between two ranks
//! g(n)  by how much each further message delays a rank that sends or receives some
//! a(n)  one to each other rank, all at once
//! ```
//!
//! So what an estimate costs grows with the logarithm of the number of ranks, and each length is
//! priced once. Ranks of one host reach each other in another way than others, and share their way
//! to these: where c ranks of a host send to another one in the same step, each message takes as
//! long as one of c n bytes.
//!
//! An estimate ranks algorithms; it is no price. In what they leave out the forms are the same for
//! all: that ranks do not begin together, and that those at the end of a tree do.

use crate::{Cluster, price};
use crosstie_collective::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, ExclusiveScan, Gather, Reduce,
    ReduceScatter, Scan, Scatter,
};
use crosstie_collective::{Builder, Operation, Rank, Tag};
use crosstie_units::Time;
use std::collections::BTreeMap;

/// Estimates of what algorithms take among the ranks of a job.
#[derive(Debug, Clone)]
pub struct Advice {
    ranks: u32,
    /// How ranks of one host reach each other, and how others do.
    ways: [Cluster; 2],
    /// What a rank takes to combine a byte.
    combine: Time,
    /// For each power of two d, the most ranks of a host to which the rank d further on is on
    /// another one.
    crossing: Vec<u64>,
    /// The most ranks of a host, if there are several hosts; else 0.
    together: u64,
    known: BTreeMap<(Way, u64), Pace>,
}

/// How two ranks reach each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Near,
    Far,
}

/// What messages of a length take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    one: Time,
    exchange: Time,
    /// By each further message that a rank sends.
    sent: Time,
    /// By each further message that a rank receives.
    received: Time,
    /// One to each of [`Advice::few`] other ranks and one from each.
    all: Time,
}

/// The longest message that is priced; longer ones take as much longer as they are.
const LONGEST: u64 = 1 << 30;

impl Advice {
    /// Of ranks on these hosts, by number. `near` is how ranks of one host reach each other, `far`
    /// how others do, and `combine` what a rank takes to combine a byte.
    pub fn new(hosts: &[usize], [near, far]: [Cluster; 2], combine: Time) -> Advice {
        let ranks = hosts.len();
        let most = |counts: bool, distance: usize| {
            let mut of_host: BTreeMap<usize, u64> = BTreeMap::new();
            for (rank, &host) in hosts.iter().enumerate() {
                let crosses = hosts[(rank + distance) % ranks] != host;
                *of_host.entry(host).or_default() += u64::from(counts || crosses);
            }
            if of_host.len() > 1 { of_host.into_values().max().unwrap_or(0) } else { 0 }
        };
        let doublings = usize::BITS - ranks.saturating_sub(1).leading_zeros();
        Advice {
            ranks: ranks as u32,
            ways: [near, far],
            combine,
            crossing: (0..doublings).map(|step| most(false, 1 << step)).collect(),
            together: most(true, 0),
            known: BTreeMap::new(),
        }
    }

    /// What an operation by its algorithm takes. `None` if real ranks do not gain by the algorithm
    /// what its networks do, or if it has no price.
    pub fn time(&mut self, operation: &Operation) -> Option<Time> {
        let (p, log) = (u64::from(self.ranks), self.doublings());
        if p < 2 {
            return Some(Time::ZERO);
        }
        Some(match *operation {
            Operation::Barrier { algorithm } => match algorithm {
                Barrier::Linear {} => self.gathered(0)? + self.scattered(0)?,
                Barrier::Tree {} => self.tree(0, false)? * 2,
                Barrier::Dissemination {} => self.doubling(0, |n, _| n, false)?,
                Barrier::KAryTree { arity } => {
                    let arity = u64::from(arity);
                    let (mut levels, mut reached, mut level) = (0u64, 1u64, 1u64);
                    while reached < p {
                        level = level.saturating_mul(arity);
                        (reached, levels) = (reached.saturating_add(level), levels + 1);
                    }
                    let pace = self.widest(0)?;
                    let width = (arity - 1).min(p - 2);
                    (pace.one * 2 + (pace.sent + pace.received) * width) * levels
                }
                Barrier::Hardware {} => return None,
            },
            Operation::Broadcast { algorithm, size, .. } => {
                let n = size.get();
                let parts = |segment: u64| n.div_ceil(segment).max(1);
                match algorithm {
                    Broadcast::Binomial {} => self.tree(n, false)?,
                    Broadcast::Chain { segment } => {
                        let parts = parts(segment.get());
                        let part = n.div_ceil(parts);
                        self.round(1, part)?.one * (p - 1)
                            + self.round(1, part)?.exchange * (parts - 1)
                    }
                    Broadcast::ScatterAllGather {} => {
                        self.halves(n, false)? + self.ring(n.div_ceil(p), false)?
                    }
                    Broadcast::SegmentedBinomial { segment } => {
                        let parts = parts(segment.get());
                        let part = n.div_ceil(parts);
                        self.tree(part, false)? + self.widest(part)?.sent * log * (parts - 1)
                    }
                }
            }
            Operation::Gather { algorithm, size, .. } => match algorithm {
                Gather::Linear {} => self.gathered(size.get())?,
                Gather::Binomial {} => self.halves(size.get() * p, false)?,
            },
            Operation::Scatter { algorithm, size, .. } => match algorithm {
                Scatter::Linear {} => self.scattered(size.get())?,
                Scatter::Binomial {} => self.halves(size.get() * p, false)?,
            },
            Operation::AllGather { algorithm, size } => {
                let n = size.get();
                match algorithm {
                    AllGather::Ring {} => self.ring(n, false)?,
                    AllGather::RecursiveDoubling {} => {
                        let folded = self.folded(n)? + self.folded(n * p)?;
                        self.members(|n, step| n << step, n, false)? + folded
                    }
                    AllGather::Bruck {} => {
                        self.doubling(n, |n, step| n * (1 << step).min(p - (1 << step)), false)?
                    }
                }
            }
            Operation::Reduce { algorithm, size, .. } => {
                let n = size.get();
                match algorithm {
                    Reduce::Linear {} => self.gathered(n)? + self.combine * n * (p - 1),
                    Reduce::Binomial {} | Reduce::InOrderBinomial {} => self.tree(n, true)?,
                }
            }
            Operation::AllReduce { algorithm, size, .. } => {
                let n = size.get();
                let fold = self.folded(n)? * 2;
                match algorithm {
                    AllReduce::Linear {} => {
                        self.gathered(n)? + self.scattered(n)? + self.combine * n * (p - 1)
                    }
                    AllReduce::Ring {} => {
                        self.ring(n.div_ceil(p), true)? + self.ring(n.div_ceil(p), false)?
                    }
                    AllReduce::RecursiveDoubling {} | AllReduce::InOrderDoubling {} => {
                        self.members(|n, _| n, n, true)? + fold
                    }
                    AllReduce::Rabenseifner {} => {
                        let part = n.div_ceil(self.core());
                        let steps = self.members(|part, step| part << step, part, true)?;
                        steps + self.members(|part, step| part << step, part, false)? + fold
                    }
                }
            }
            Operation::ReduceScatter { algorithm, size, .. } => {
                let n = size.get();
                let part = n.div_ceil(p);
                match algorithm {
                    ReduceScatter::Pairwise {} => {
                        (self.widest(part)?.exchange + self.combine * part) * (p - 1)
                    }
                    ReduceScatter::Ring {} => self.ring(part, true)?,
                    ReduceScatter::RecursiveHalving {} | ReduceScatter::InOrderHalving {} => {
                        let kept = n.div_ceil(self.core());
                        let folded = self.folded(n)? + self.folded(part)?;
                        self.members(|kept, step| kept << step, kept, true)? + folded
                    }
                }
            }
            Operation::Scan { algorithm, size, .. } => {
                let n = size.get();
                match algorithm {
                    Scan::Linear {} => (self.round(1, n)?.one + self.combine * n) * (p - 1),
                    Scan::RecursiveDoubling {} => self.scanned(n, p)?,
                }
            }
            Operation::ExclusiveScan { algorithm, size, .. } => match algorithm {
                ExclusiveScan::RecursiveDoubling {} => {
                    self.round(1, size.get())?.exchange
                        + self.doubling(size.get(), |n, _| n, true)?
                }
            },
            Operation::AllToAll { algorithm, size } => {
                let n = size.get();
                match algorithm {
                    AllToAll::Linear {} => {
                        let all = self.widest(n)?.all;
                        Time::from_ps(all.ps() / self.few() * (p - 1))
                    }
                    AllToAll::Shift {} | AllToAll::Pairwise { .. } => {
                        let steps = if p.is_multiple_of(2) { p - 1 } else { p };
                        let steps =
                            if matches!(algorithm, AllToAll::Shift {}) { p - 1 } else { steps };
                        self.widest(n)?.exchange * steps
                    }
                    AllToAll::Bruck {} => {
                        // In step k go the blocks with 2^k in their distance.
                        let moved = move |n: u64, step: u32| {
                            let (half, whole) = (1u64 << step, 2u64 << step);
                            n * (p / whole * half + (p % whole).saturating_sub(half))
                        };
                        self.doubling(n, moved, false)?
                    }
                    AllToAll::SynchronousShuffle { .. }
                    | AllToAll::GroupShuffle { .. }
                    | AllToAll::ModifiedShuffle { .. } => return None,
                }
            }
        })
    }

    /// ceil(log2 p).
    fn doublings(&self) -> u64 {
        self.crossing.len() as u64
    }

    /// The largest power of two that the ranks fill.
    fn core(&self) -> u64 {
        1 << self.ranks.ilog2()
    }

    /// How the ranks farthest from each other do.
    fn way(&self) -> Way {
        if self.together > 0 { Way::Far } else { Way::Near }
    }

    /// All other ranks send to rank 0.
    fn gathered(&mut self, bytes: u64) -> Option<Time> {
        let pace = self.pace(self.way(), bytes)?;
        Some(pace.one + pace.received * u64::from(self.ranks - 2))
    }

    /// Rank 0 sends to all other ranks.
    fn scattered(&mut self, bytes: u64) -> Option<Time> {
        let pace = self.pace(self.way(), bytes)?;
        Some(pace.one + pace.sent * u64::from(self.ranks - 2))
    }

    /// As many ranks as are priced for all others.
    fn few(&self) -> u64 {
        u64::from(self.ranks - 1).min(6)
    }

    /// Up or down a binomial tree.
    fn tree(&mut self, bytes: u64, combines: bool) -> Option<Time> {
        let combined = if combines { self.combine * bytes } else { Time::ZERO };
        (0..self.crossing.len() as u32)
            .try_fold(Time::ZERO, |sum, step| Some(sum + self.level(step, bytes)?.one + combined))
    }

    /// The same with half as much on each level, from half of all on.
    fn halves(&mut self, bytes: u64, combines: bool) -> Option<Time> {
        let p = u64::from(self.ranks);
        let block = bytes.div_ceil(p);
        let combined = if combines { self.combine } else { Time::ZERO };
        (0..self.crossing.len() as u32).try_fold(Time::ZERO, |sum, step| {
            let moved = block * (1 << step).min(p - (1 << step));
            Some(sum + self.level(step, moved)?.one + combined * moved)
        })
    }

    /// Round a ring, p - 1 steps.
    fn ring(&mut self, bytes: u64, combines: bool) -> Option<Time> {
        let combined = if combines { self.combine * bytes } else { Time::ZERO };
        Some((self.round(1, bytes)?.exchange + combined) * u64::from(self.ranks - 1))
    }

    /// Each rank sends to the rank 2^k further on, in step k as much as `moved` says.
    fn doubling(
        &mut self,
        bytes: u64,
        moved: impl Fn(u64, u32) -> u64,
        combines: bool,
    ) -> Option<Time> {
        (0..self.crossing.len() as u32).try_fold(Time::ZERO, |sum, step| {
            let bytes = moved(bytes, step);
            let combined = if combines { self.combine * bytes } else { Time::ZERO };
            Some(sum + self.round(1 << step, bytes)?.exchange + combined)
        })
    }

    /// A scan by doubling among `ranks` ranks.
    fn scanned(&mut self, bytes: u64, ranks: u64) -> Option<Time> {
        let steps = u64::BITS - (ranks - 1).leading_zeros();
        (0..steps).try_fold(Time::ZERO, |sum, step| {
            let pace = self.round(1 << step, bytes)?;
            // The last step reaches the last rank alone, from a rank that waits for none.
            let alone = step > 0 && 1 << step == ranks - 1;
            let moved = if alone { pace.sent.max(pace.received) } else { pace.exchange };
            Some(sum + moved + self.combine * bytes)
        })
    }

    /// The same of the ranks that fill a power of two.
    fn members(
        &mut self,
        moved: impl Fn(u64, u32) -> u64,
        bytes: u64,
        combines: bool,
    ) -> Option<Time> {
        (0..self.ranks.ilog2()).try_fold(Time::ZERO, |sum, step| {
            let bytes = moved(bytes, step);
            let combined = if combines { self.combine * bytes } else { Time::ZERO };
            Some(sum + self.round(1 << step, bytes)?.exchange + combined)
        })
    }

    /// What ranks beyond a power of two add on one way.
    fn folded(&mut self, bytes: u64) -> Option<Time> {
        match self.ranks.is_power_of_two() {
            true => Some(Time::ZERO),
            false => Some(self.widest(bytes)?.one),
        }
    }

    /// Each rank sends to the rank `distance` further on, a power of two.
    fn round(&mut self, distance: u32, bytes: u64) -> Option<Pace> {
        match self.crossing.get(distance.ilog2() as usize) {
            Some(&crossing) if crossing > 0 => self.pace(Way::Far, bytes.saturating_mul(crossing)),
            _ => self.pace(Way::Near, bytes),
        }
    }

    /// On this level of a tree few ranks send, each on its own.
    fn level(&mut self, step: u32, bytes: u64) -> Option<Pace> {
        let crosses = self.crossing.get(step as usize).is_some_and(|&crossing| crossing > 0);
        self.pace(if crosses { Way::Far } else { Way::Near }, bytes)
    }

    /// Each rank sends to another host, if there are several.
    fn widest(&mut self, bytes: u64) -> Option<Pace> {
        self.pace(self.way(), bytes.saturating_mul(self.together.max(1)))
    }

    fn pace(&mut self, way: Way, bytes: u64) -> Option<Pace> {
        if let Some(&pace) = self.known.get(&(way, bytes)) {
            return Some(pace);
        }
        if bytes > LONGEST {
            let times = bytes.div_ceil(LONGEST);
            let Pace { one, exchange, sent, received, all } = self.pace(way, LONGEST)?;
            let [one, exchange, all] = [one * times, exchange * times, all * times];
            return Some(Pace {
                one,
                exchange,
                sent: sent * times,
                received: received * times,
                all,
            });
        }
        let cluster = &self.ways[way as usize];
        let (few, ranks) = (self.few() as u32, self.ranks);
        let priced = |messages: &[(u32, u32)]| {
            let mut builder = Builder::new(few + 1);
            for &(from, to) in messages {
                builder.send(Rank(from), Rank(to), Tag(0), bytes as u32);
                builder.receive(Rank(to), Rank(from), Tag(0), bytes as u32);
            }
            let schedule = builder.finish().ok()?;
            Some(price::price_on(&schedule, cluster, ranks).ok()?.time)
        };
        let (one, exchange) = (priced(&[(0, 1)])?, priced(&[(0, 1), (1, 0)])?);
        let each = |all: Time| {
            let more = all.ps().saturating_sub(one.ps());
            Time::from_ps(more / u64::from(few - 1).max(1))
        };
        let to_all: Vec<(u32, u32)> = (1..=few).map(|rank| (0, rank)).collect();
        let to_one: Vec<(u32, u32)> = (1..=few).map(|rank| (rank, 0)).collect();
        let (sent, received) = (each(priced(&to_all)?), each(priced(&to_one)?));
        let further = |distance| (0..=few).map(move |rank| (rank, (rank + distance) % (few + 1)));
        let all = priced(&(1..=few).flat_map(further).collect::<Vec<_>>())?;
        let pace = Pace { one, exchange, sent, received, all };
        self.known.insert((way, bytes), pace);
        Some(pace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, us};
    use crate::{Parameters, Rail};
    use crosstie_protocol::PolicyKind;
    use crosstie_units::{Bytes, Cost, Seed};

    /// Packets of 1,448 bytes at `rate` Mbit/s, 3 us under way, each 0.5 us of either processor.
    fn ethernet(rate: f64) -> Parameters {
        let gap = Cost { fixed: us(78.0 * 8.0 / rate), byte: us(8.0 / rate), ..Cost::default() };
        Parameters {
            packet: Bytes::new(1448),
            send: Cost::fixed(us(0.5)),
            send_gap: gap,
            latency: Cost { fixed: us(3.0), ..gap },
            receive_gap: gap,
            receive: Cost::fixed(us(0.5)),
            ..Parameters::default()
        }
    }

    fn clusters() -> Vec<Cluster> {
        let pulled = |rates: &[f64]| Cluster {
            policy: PolicyKind::Pull {},
            ..Cluster::of_rails(rates.iter().map(|&rate| ethernet(rate)))
        };
        vec![pulled(&[1000.0]), pulled(&[10_000.0]), pulled(&[1000.0, 250.0]), pulled(&[100.0; 3])]
    }

    fn all(name: &str, bytes: u64) -> Vec<Operation> {
        let all = Operation::by_every_algorithm(0, Bytes::new(bytes), None);
        all.into_iter().filter(|operation| operation.name() == name).collect()
    }

    /// The algorithm that it advises takes little longer than the one whose schedule has the least
    /// price.
    #[test]
    fn what_it_advises_is_about_as_fast_as_the_best() {
        let (mut asked, mut worst) = (0, Vec::new());
        for (number, cluster) in clusters().into_iter().enumerate() {
            for ranks in [2u32, 3, 4, 7, 8, 13, 16] {
                let hosts: Vec<usize> = (0..ranks as usize).collect();
                let ways = [cluster.clone(), cluster.clone()];
                let mut advice = Advice::new(&hosts, ways, Time::ZERO);
                for name in Operation::all().map(|operation| operation.name()) {
                    for bytes in [8, 1 << 10, 32 << 10, 1 << 20] {
                        let all = all(name, bytes);
                        let known = all.iter().filter_map(|operation| {
                            let estimate = advice.time(operation)?;
                            let schedule = operation.collective(ranks).ok()?.schedule;
                            let price = price::price_on(&schedule, &cluster, ranks).unwrap().time;
                            Some((estimate, price, operation.algorithm().name))
                        });
                        let known: Vec<_> = known.collect();
                        let best = known.iter().map(|(_, price, _)| price.ps()).min().unwrap();
                        let advised = known.iter().min_by_key(|(estimate, ..)| *estimate).unwrap();
                        let ratio = advised.1.ps() as f64 / best.max(1) as f64;
                        asked += 1;
                        worst.push((ratio, number, ranks, name, bytes, advised.2));
                    }
                }
            }
        }
        worst.sort_by(|one, other| other.0.total_cmp(&one.0));
        let within = |limit: f64| worst.iter().filter(|found| found.0 <= limit).count();
        assert!(within(1.1) * 100 >= asked * 90, "{:?}", &worst[..40]);
        assert!(worst[0].0 < 2.0, "{:?}", &worst[..10]);
    }

    /// Of two hosts with four ranks each, those of one host share their rail.
    #[test]
    fn ranks_of_a_host_share_the_way_to_others() {
        let near = Cluster::of_rails([ethernet(100_000.0)]);
        let far = Cluster::of_rails([ethernet(1000.0)]);
        let size = Bytes::new(4 << 20);
        let ring = Operation::AllReduce { algorithm: AllReduce::Ring {}, size, combine: None };
        let halving =
            Operation::AllReduce { algorithm: AllReduce::Rabenseifner {}, size, combine: None };
        let time = |hosts: &[usize], operation| {
            let ways = [near.clone(), far.clone()];
            Advice::new(hosts, ways, Time::ZERO).time(&operation).unwrap()
        };
        let (blocks, turns) = ([0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1]);
        // In a ring of blocks one message leaves each host; where ranks take turns, all do.
        assert!(time(&turns, ring) > time(&blocks, ring) * 3);
        // Of pairs, those that exchange the most are four ranks apart, or one.
        assert!(time(&turns, halving) < time(&blocks, halving));
        // Ranks of one host know nothing of rails.
        assert!(time(&[0; 8], ring) * 10 < time(&blocks, ring));
    }

    /// A decision among very many ranks costs no more than one among few.
    #[test]
    fn many_ranks_take_no_longer_to_decide() {
        let hosts: Vec<usize> = (0..50_000).map(|rank| rank / 64).collect();
        let cluster = clusters().remove(2);
        let mut advice = Advice::new(&hosts, [cluster.clone(), cluster], Time::ZERO);
        for operation in Operation::by_every_algorithm(0, Bytes::new(1 << 16), None) {
            advice.time(&operation);
        }
        let priced = advice.known.len();
        assert!((1..200).contains(&priced), "{priced} lengths");
    }

    #[test]
    fn parameters_of_any_kind_give_an_estimate() {
        let mut stream = Seed(4).stream("advice", 0);
        for _ in 0..20 {
            let rail = Rail { parameters: drawn(&mut stream), port: 0 };
            let cluster = Cluster { rails: vec![rail], ..Cluster::of_rails([]) };
            let mut advice = Advice::new(&[0, 1, 2, 3, 4], [cluster.clone(), cluster], us(0.001));
            for operation in Operation::by_every_algorithm(0, Bytes::new(3000), None) {
                let known = advice.time(&operation);
                let unknown =
                    ["hardware", "synchronous-shuffle", "group-shuffle", "modified-shuffle"];
                assert_eq!(known.is_none(), unknown.contains(&operation.algorithm().name));
            }
        }
    }
}
