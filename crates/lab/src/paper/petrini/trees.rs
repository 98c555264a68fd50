//! Appendix A: k-ary n-trees as they are built and routed here.

use super::furthest;
use crosstie_fabric::{Distances, Fabric, HostId, KaryTree, Node, Shape, tree};
use crosstie_routing::{Route, Routing, Tag, TreeAdaptive};
use crosstie_study::paper::{Estimate, Measured};

/// Tells what a tree is; nothing if the claim is about something else.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let number = match words[..] {
        ["tree5", "switches"] => longest(&built("4_5")?),
        ["tree", "4", "avg_rule"] => rule()?,
        ["tree", size, what] => fact(&built(size)?, what)?,
        [what @ ("mdi" | "dist" | "nca"), size, pair] => between(&built(size)?, what, pair)?,
        ["mdis", size, place] => to_switch(&built(size)?, place)?,
        ["route", "equality_dead_ends"] => dead_ends(&built("4_2")?),
        _ => return None,
    };
    Some(Measured::exact(number))
}

/// A tree of a size such as "4_2".
struct Built {
    fabric: Fabric,
    shape: KaryTree,
}

fn built(size: &str) -> Option<Built> {
    let (k, n) = size.split_once('_')?;
    let fabric = tree(k.parse().ok()?, n.parse().ok()?).ok()?;
    let Shape::Tree(shape) = fabric.shape() else { return None };
    Some(Built { fabric, shape })
}

fn fact(tree: &Built, what: &str) -> Option<f64> {
    let distances = Distances::searched(&tree.fabric);
    Some(match what {
        "nodes" => tree.fabric.hosts().len() as f64,
        "switches" => tree.fabric.switches().len() as f64,
        "edges" => tree.fabric.links().len() as f64,
        "diameter" => distances.diameter().into(),
        "path_switches" => longest(tree),
        "bisection" => tree.shape.bisection()?.into(),
        "avg" => distances.mean_with_self(),
        "avg_others" => distances.mean(),
        _ => return None,
    })
}

/// The average distance minus 2n, for the n of which it is furthest from the rule.
fn rule() -> Option<f64> {
    let minus = |n: u16| {
        let tree = tree(4, n).ok()?;
        Some(Distances::searched(&tree).mean_with_self() - 2.0 * f64::from(n))
    };
    let all: Option<Vec<f64>> = (2..=5).map(minus).collect();
    furthest(-2.0 / 3.0, all?.into_iter().map(|found| Ok(Estimate::exact(found))))
        .ok()
        .map(|it| it.value)
}

/// The tags of the route from one host to another.
pub(super) fn tags(tree: KaryTree, from: HostId, to: HostId) -> Vec<Tag> {
    let fabric = crosstie_fabric::tree(tree.k, tree.n).expect("it has been built before");
    let mut route = Route::default();
    routing(&fabric).route(from, to, &mut route);
    route.tags().to_vec()
}

fn routing(fabric: &Fabric) -> TreeAdaptive {
    TreeAdaptive::new(fabric).expect("it is a tree")
}

/// The switches on the longest route.
fn longest(tree: &Built) -> f64 {
    let routing = routing(&tree.fabric);
    let mut route = Route::default();
    let mut most = 0;
    for (p, q) in pairs(&tree.fabric) {
        routing.route(p, q, &mut route);
        most = most.max(route.tags().len());
    }
    most as f64
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> + '_ {
    let all = fabric.hosts().flat_map(|p| fabric.hosts().map(move |q| (p, q)));
    all.filter(|(p, q)| p != q)
}

/// Digits such as "120".
fn digits(text: &str) -> Option<Vec<u16>> {
    text.chars().map(|digit| digit.to_digit(10)?.try_into().ok()).collect()
}

/// Of two hosts, such as "21__23".
fn between(tree: &Built, what: &str, pair: &str) -> Option<f64> {
    let (p, q) = pair.split_once("__")?;
    let (p, q) = (tree.shape.host_at(&digits(p)?)?, tree.shape.host_at(&digits(q)?)?);
    Some(match what {
        "mdi" => tree.shape.mdi(p, q)?.into(),
        // A channel to the first switch, and one from each.
        "dist" => 1.0 + tags(tree.shape, p, q).len() as f64,
        _ => tree.shape.nca(p, q).len() as f64,
    })
}

/// Of a host and a switch, such as "123_10_l1".
fn to_switch(tree: &Built, place: &str) -> Option<f64> {
    let mut words = place.split('_');
    let host = tree.shape.host_at(&digits(words.next()?)?)?;
    let w = digits(words.next()?)?;
    let level = words.next()?.strip_prefix('l')?.parse().ok()?;
    Some(tree.shape.mdi_switch(host, tree.shape.switch_at(&w, level)?).into())
}

/// How many ways up, of all pairs of a tree of two levels, end at a root that does not turn, where
/// switches turn if mdi is their level, as printed, and not if it is at least that.
fn dead_ends(tree: &Built) -> f64 {
    let Built { fabric, shape } = tree;
    let ends = |p: HostId, q: HostId, label: u16| {
        let Node::Switch(leaf) = fabric.channel(fabric.host_out(p)).to.node else { return false };
        if shape.mdi_switch(q, leaf) == shape.level(leaf) {
            return false;
        }
        let Some(up) = fabric.switch_out(leaf, shape.up_port(label)) else { return false };
        let Node::Switch(root) = fabric.channel(up).to.node else { return false };
        shape.mdi_switch(q, root) != shape.level(root)
    };
    let ways = pairs(fabric).flat_map(|(p, q)| {
        let labels = 0..shape.nca(p, q).len() as u16;
        labels.map(move |label| (p, q, label))
    });
    ways.filter(|&(p, q, label)| ends(p, q, label)).count() as f64
}
