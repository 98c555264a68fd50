//! The random graph behind an irregular network.
//!
//! A graph with the right degrees is laid out by rule, neighbours on a circle. Then random *swaps*
//! shuffle it: two links a-b and c-d become a-d and c-b, unless that makes a loop or a second link
//! between two switches. A swap and its reverse are equally likely and swaps lead from any graph to
//! any other with the same degrees, so in the long run every graph is equally likely. [`SWAPS`]
//! says how long the run is.
//!
//! Three refinements keep it exact and quick:
//!
//! - A graph that came out in pieces is swapped on. That is rare from 3 links per switch on, and
//!   with 2 the only connected graph is a ring, whose order is drawn directly.
//! - Where more than half of all pairs are linked, the pairs that are *not* linked are swapped. It
//!   is the same walk, with fewer swaps refused.
//! - Where one switch has a link less, which one is drawn first.

use std::collections::HashSet;

use crosstie_units::{Seed, Stream};

/// Swaps tried per link. With 64 and with 1,000 switches of 4 links, mean distance and number of
/// triangles no longer change after 2 to 4; the rest is margin, and cheap.
const SWAPS: u64 = 64;

/// How many links the switches have: `links` each, which is less than `switches`; one switch has
/// one less if the ends do not come out even.
#[derive(Debug, Clone, Copy)]
pub struct Degree {
    pub switches: u32,
    pub links: u32,
}

/// The links of a random connected graph, sorted, the lesser switch of each first.
///
/// A connected graph must exist: at least 2 links per switch, or at most 2 switches.
pub fn draw(degree: Degree, seed: Seed) -> Vec<(u32, u32)> {
    let mut stream = seed.stream("irregular", 0);
    let names = names(degree, &mut stream);
    let mut links = if degree.links == 2 {
        circle(degree)
    } else {
        mixed(circle(degree), degree.switches, &mut stream)
    };
    for (a, b) in &mut links {
        (*a, *b) = ordered(names[*a as usize], names[*b as usize]);
    }
    links.sort_unstable();
    links
}

/// Takes links out at random until so many are left, but none that the network would fall apart
/// without.
///
/// The links are put in random order. Those that join pieces when taken from the last to the first
/// hold the network together; of the others, the first ones go. This leaves the same links as
/// taking out one by one, from the first on, whatever can be spared.
pub fn thin(links: &mut Vec<(u32, u32)>, switches: u32, left: usize, seed: Seed) {
    let mut order = links.clone();
    seed.stream("irregular links", 0).shuffle(&mut order);
    let mut pieces = Pieces::new(switches);
    let mut spared: Vec<_> = order.into_iter().rev().filter(|&(a, b)| !pieces.join(a, b)).collect();
    let kept = spared.len().saturating_sub(links.len().saturating_sub(left));
    let out: HashSet<_> = spared.drain(kept..).collect();
    links.retain(|link| !out.contains(link));
}

/// Which switch stands at each place of the circle: on a ring, anywhere. Else the walk forgets the
/// places, and only the last one may differ, by the link that it lacks.
fn names(degree: Degree, stream: &mut Stream) -> Vec<u32> {
    let mut names: Vec<u32> = (0..degree.switches).collect();
    if degree.links == 2 {
        stream.shuffle(&mut names);
    } else {
        let drawn = stream.below(u64::from(degree.switches)) as usize;
        names.swap(drawn, degree.switches as usize - 1);
    }
    names
}

/// Every switch joined to the nearest ones on a circle, and to the one across if the number is odd.
/// With an odd number of switches that leaves out the last.
fn circle(Degree { switches, links }: Degree) -> Vec<(u32, u32)> {
    let near = (1..=links / 2)
        .flat_map(|step| (0..switches).map(move |a| ordered(a, (a + step) % switches)));
    let half = switches / 2;
    let across = (0..half * (links % 2)).map(|a| (a, a + half));
    near.chain(across).collect()
}

/// A random connected graph with the degrees of the given one.
fn mixed(links: Vec<(u32, u32)>, switches: u32, stream: &mut Stream) -> Vec<(u32, u32)> {
    let pairs = u64::from(switches) * u64::from(switches.saturating_sub(1)) / 2;
    let dense = 2 * links.len() as u64 > pairs;
    let mut walk = Walk::new(if dense { complement(&links, switches) } else { links });
    loop {
        walk.mix(stream);
        let drawn = if dense { complement(&walk.links, switches) } else { walk.links.clone() };
        if is_connected(&drawn, switches) {
            return drawn;
        }
    }
}

/// The pairs that are not in a list.
fn complement(links: &[(u32, u32)], switches: u32) -> Vec<(u32, u32)> {
    let linked: HashSet<_> = links.iter().copied().collect();
    let pairs = (0..switches).flat_map(|a| (a + 1..switches).map(move |b| (a, b)));
    pairs.filter(|pair| !linked.contains(pair)).collect()
}

/// A graph on its way through all graphs with its degrees.
struct Walk {
    links: Vec<(u32, u32)>,
    /// The same links, to be asked for only: the order of a hash set is not reproducible.
    linked: HashSet<(u32, u32)>,
}

impl Walk {
    fn new(links: Vec<(u32, u32)>) -> Walk {
        let linked = links.iter().copied().collect();
        Walk { links, linked }
    }

    fn mix(&mut self, stream: &mut Stream) {
        let count = self.links.len() as u64;
        for _ in 0..SWAPS * count {
            let (i, j) = (stream.below(count) as usize, stream.below(count) as usize);
            let turned = stream.below(2) == 1;
            self.swap(i, j, turned);
        }
    }

    /// Swaps the far ends of two links, the second one taken either way round, if that is allowed.
    fn swap(&mut self, i: usize, j: usize, turned: bool) {
        let ((a, b), (mut c, mut d)) = (self.links[i], self.links[j]);
        if turned {
            (c, d) = (d, c);
        }
        let (first, second) = (ordered(a, d), ordered(c, b));
        // Of links with a common switch, and of one link taken twice, the new ones are loops or
        // old.
        let loops = a == d || c == b;
        if loops || self.linked.contains(&first) || self.linked.contains(&second) {
            return;
        }
        for (place, new) in [(i, first), (j, second)] {
            let old = std::mem::replace(&mut self.links[place], new);
            self.linked.remove(&old);
            self.linked.insert(new);
        }
    }
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

fn is_connected(links: &[(u32, u32)], switches: u32) -> bool {
    let mut pieces = Pieces::new(switches);
    let joins = links.iter().filter(|&&(a, b)| pieces.join(a, b)).count();
    joins + 1 >= switches as usize
}

/// Which switches links join, directly or not.
struct Pieces {
    parent: Vec<u32>,
}

impl Pieces {
    /// Every switch alone.
    fn new(switches: u32) -> Pieces {
        Pieces { parent: (0..switches).collect() }
    }

    /// Joins the pieces of two switches; false if they are one already.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a as usize] = b;
        a != b
    }

    /// The switch that stands for a piece.
    fn root(&mut self, mut switch: u32) -> u32 {
        let parent = &mut self.parent;
        while parent[switch as usize] != switch {
            let above = parent[parent[switch as usize] as usize];
            parent[switch as usize] = above;
            switch = above;
        }
        switch
    }
}
