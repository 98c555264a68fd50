//! Where the nodes of a drawing stand.

use std::f64::consts::TAU;

use crate::{Fabric, HostId, Node, Shape, SwitchId};

/// Space between a drawing and its edge.
pub const MARGIN: f64 = 40.0;
/// Width of a character of a label.
const CHARACTER: f64 = 6.2;
/// Space between two labels.
const GAP: f64 = 12.0;
/// Width of a host whose label stands upright.
const NARROW: f64 = 16.0;
/// Height of a layer.
const LAYER: f64 = 110.0;
/// Height of the box of a switch.
pub const BOX_HEIGHT: f64 = 20.0;
/// The longest label shown whole.
const LONGEST_LABEL: usize = 24;
/// With more hosts than this in a row, their labels stand upright.
const WIDE_ROW: usize = 32;

/// A point of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Where everything stands.
#[derive(Debug)]
pub struct Layout {
    /// Hosts by number.
    pub hosts: Vec<Point>,
    /// Switches by number.
    pub switches: Vec<Point>,
    /// The angle in degrees at which each host's label leaves it, 90 being down; `None` for a
    /// level label below the host.
    pub host_angles: Vec<Option<f64>>,
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
}

impl Layout {
    /// Arranges trees in layers with the roots on top, and anything else in a circle.
    pub fn of(fabric: &Fabric) -> Layout {
        match fabric.shape() {
            Shape::Tree(tree) => {
                let level = |l| tree.switches_at(l).map(SwitchId).collect();
                layered(fabric, &(0..tree.n).map(level).collect::<Vec<_>>())
            }
            _ if fabric.switches().len() <= 1 => {
                layered(fabric, &[fabric.switches().collect::<Vec<_>>()])
            }
            Shape::Single | Shape::Irregular => circular(fabric),
        }
    }

    /// Where a node stands.
    pub fn point(&self, node: Node) -> Point {
        match node {
            Node::Host(h) => self.hosts[h.0 as usize],
            Node::Switch(s) => self.switches[s.0 as usize],
        }
    }
}

/// A node's label, cut short if it is very long: labels come from files.
pub fn label(fabric: &Fabric, node: Node) -> String {
    let label = fabric.label(node);
    match label.char_indices().nth(LONGEST_LABEL) {
        None => label.to_owned(),
        Some((end, _)) => format!("{}…", &label[..end]),
    }
}

/// The width of a node's label.
pub fn label_width(fabric: &Fabric, node: Node) -> f64 {
    label(fabric, node).chars().count() as f64 * CHARACTER
}

fn widest_host(fabric: &Fabric) -> f64 {
    fabric.hosts().map(|h| label_width(fabric, Node::Host(h))).fold(0.0, f64::max)
}

fn layered(fabric: &Fabric, layers: &[Vec<SwitchId>]) -> Layout {
    let upright = fabric.hosts().len() > WIDE_ROW;
    let host_width = if upright { NARROW } else { (widest_host(fabric) + GAP).max(NARROW) };
    let switch_width = fabric
        .switches()
        .map(|s| label_width(fabric, Node::Switch(s)) + 2.0 * GAP)
        .fold(0.0, f64::max);
    let row = |count: usize, each: f64| count as f64 * each;
    let inner = layers
        .iter()
        .map(|layer| row(layer.len(), switch_width))
        .fold(row(fabric.hosts().len(), host_width), f64::max);
    let place = |i: usize, count: usize, layer: usize| Point {
        x: MARGIN + inner * (i as f64 + 0.5) / count as f64,
        y: 2.0 * MARGIN + LAYER * layer as f64,
    };
    let mut switches = vec![Point { x: 0.0, y: 0.0 }; fabric.switches().len()];
    for (depth, layer) in layers.iter().enumerate() {
        for (i, switch) in layer.iter().enumerate() {
            switches[switch.0 as usize] = place(i, layer.len(), depth);
        }
    }
    let count = fabric.hosts().len();
    let hosts: Vec<_> = (0..count).map(|i| place(i, count, layers.len())).collect();
    let below = if upright { widest_host(fabric) } else { GAP };
    let height = hosts[0].y + below + MARGIN;
    let host_angles = vec![upright.then_some(90.0); count];
    Layout { hosts, switches, host_angles, width: inner + 2.0 * MARGIN, height }
}

fn circular(fabric: &Fabric) -> Layout {
    let mut hosts_on = vec![Vec::new(); fabric.switches().len()];
    for host in fabric.hosts() {
        if let Some(switch) = fabric.switch_of(host) {
            hosts_on[switch.0 as usize].push(host);
        }
    }
    // Each switch has a sector as wide as its hosts, but not much less than an equal share.
    let share = fabric.hosts().len() as f64 / fabric.switches().len() as f64;
    let sectors: Vec<f64> = hosts_on.iter().map(|hosts| share.max(hosts.len() as f64)).collect();
    let total: f64 = sectors.iter().sum();
    let angle = |place: f64| TAU * place / total - TAU / 4.0;
    let widest_switch =
        fabric.switches().map(|s| label_width(fabric, Node::Switch(s)) + GAP).fold(0.0, f64::max);
    // Neighbouring boxes are apart when their centres are further apart than a box's diagonal.
    let neighbours = sectors.iter().zip(sectors.iter().cycle().skip(1));
    let nearest = neighbours.map(|(a, b)| (a + b) / 2.0).fold(total / 2.0, f64::min);
    let ring = widest_switch.hypot(BOX_HEIGHT + GAP) / (2.0 * (TAU * nearest / total / 2.0).sin());
    let outer = (total * NARROW / TAU).max(ring + widest_switch / 2.0 + LAYER * 0.5);
    let radius = outer + widest_host(fabric) + MARGIN;
    let at = |angle: f64, distance: f64| Point {
        x: radius + MARGIN + distance * angle.cos(),
        y: radius + 2.0 * MARGIN + distance * angle.sin(),
    };
    let mut layout = Layout {
        hosts: vec![Point { x: 0.0, y: 0.0 }; fabric.hosts().len()],
        switches: Vec::new(),
        host_angles: vec![None; fabric.hosts().len()],
        width: 2.0 * (radius + MARGIN),
        height: 2.0 * radius + 3.0 * MARGIN,
    };
    let mut start = 0.0;
    for (sector, hosts) in sectors.iter().zip(&hosts_on) {
        let middle = start + sector / 2.0;
        layout.switches.push(at(angle(middle), ring));
        let first = middle - hosts.len() as f64 / 2.0 + 0.5;
        for (i, &HostId(host)) in hosts.iter().enumerate() {
            let angle = angle(first + i as f64);
            layout.hosts[host as usize] = at(angle, outer);
            layout.host_angles[host as usize] = Some(angle.to_degrees());
        }
        start += sector;
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::irregular;
    use crate::{pruned_tree, single, tree};
    use proptest::prelude::*;

    fn inside_and_apart(fabric: &Fabric) {
        let layout = Layout::of(fabric);
        let nodes: Vec<_> =
            fabric.hosts().map(Node::Host).chain(fabric.switches().map(Node::Switch)).collect();
        let size = |node| match node {
            Node::Host(_) => (9.0, 9.0),
            Node::Switch(_) => (label_width(fabric, node) + 10.0, BOX_HEIGHT),
        };
        for (i, &a) in nodes.iter().enumerate() {
            let p = layout.point(a);
            assert!((0.0..=layout.width).contains(&p.x) && (0.0..=layout.height).contains(&p.y));
            for &b in &nodes[i + 1..] {
                let (q, (aw, ah), (bw, bh)) = (layout.point(b), size(a), size(b));
                let apart =
                    (p.x - q.x).abs() > (aw + bw) / 2.0 || (p.y - q.y).abs() > (ah + bh) / 2.0;
                assert!(apart, "{a} at {p:?} overlaps {b} at {q:?}");
            }
        }
    }

    #[test]
    fn trees_have_their_roots_on_top() {
        let fabric = tree(4, 2).unwrap();
        let layout = Layout::of(&fabric);
        let height = |node| layout.point(node).y;
        assert!(height(Node::Switch(SwitchId(0))) < height(Node::Switch(SwitchId(4))));
        assert!(height(Node::Switch(SwitchId(4))) < height(Node::Host(HostId(0))));
    }

    #[test]
    fn nothing_overlaps() {
        for fabric in [tree(4, 3), tree(2, 5), pruned_tree(4, 3, 10), tree(3, 1)] {
            inside_and_apart(&fabric.unwrap());
        }
        inside_and_apart(&single(16).unwrap());
    }

    proptest! {
        #[test]
        fn nothing_overlaps_in_a_circle(fabric in irregular()) {
            inside_and_apart(&fabric);
        }
    }
}
