//! Small networks as SVG pictures.
//!
//! The picture is one self-contained file: no script, no font, no style from elsewhere. Resting the
//! pointer on a link shows which ports it joins.

mod layout;

use std::collections::BTreeMap;
use std::fmt::Write;

use quick_xml::escape::escape;

use crate::{Fabric, HostId, Node};
use layout::{BOX_HEIGHT, Layout, MARGIN, Point, label, label_width};

/// The most nodes a picture can show and still be read.
const MAX_NODES: usize = 600;

/// Why a network is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a picture of {nodes} hosts and switches cannot be read, the most is {MAX_NODES}: write DOT or \
     GraphML and use a graph viewer"
)]
pub struct TooManyNodes {
    /// How many nodes the network has.
    pub nodes: usize,
}

/// Draws a network: trees in layers with the roots on top, anything else in a circle.
pub fn svg(fabric: &Fabric) -> Result<String, TooManyNodes> {
    let nodes = fabric.hosts().len() + fabric.switches().len();
    if nodes > MAX_NODES {
        return Err(TooManyNodes { nodes });
    }
    let layout = Layout::of(fabric);
    let mut picture = Picture { fabric, layout, text: String::new() };
    picture.open();
    picture.links();
    fabric.switches().for_each(|s| picture.switch(Node::Switch(s)));
    fabric.hosts().for_each(|h| picture.host(h));
    picture.text.push_str("</svg>\n");
    Ok(picture.text)
}

struct Picture<'a> {
    fabric: &'a Fabric,
    layout: Layout,
    text: String,
}

impl Picture<'_> {
    fn line(&mut self, content: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{content}").expect("writing to a string");
    }

    fn open(&mut self) {
        let (width, height) = (self.layout.width, self.layout.height);
        let name = cleaned(self.fabric.name());
        self.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{name}\" \
             font-family=\"sans-serif\" font-size=\"11\">"
        ));
        self.line(format_args!("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"));
        self.line(format_args!(
            "<text x=\"{MARGIN}\" y=\"{:.1}\" font-size=\"14\" font-weight=\"bold\">{name}</text>",
            0.7 * MARGIN
        ));
    }

    fn links(&mut self) {
        // Links between the same two nodes are drawn side by side.
        let mut bundles: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for link in self.fabric.links() {
            let channel = self.fabric.channel(link.channels()[0]);
            let ends = [channel.from.node, channel.to.node];
            bundles.entry([ends[0].min(ends[1]), ends[0].max(ends[1])]).or_default().push(link);
        }
        self.line(format_args!(
            "<g stroke=\"#8a94a3\" stroke-width=\"1.2\" stroke-opacity=\"0.8\">"
        ));
        for ([a, b], links) in bundles {
            let (a, b) = (self.layout.point(a), self.layout.point(b));
            let length = (b.x - a.x).hypot(b.y - a.y);
            let aside = Point { x: (a.y - b.y) / length, y: (b.x - a.x) / length };
            for (i, link) in links.iter().enumerate() {
                let shift = 4.0 * (i as f64 - (links.len() - 1) as f64 / 2.0);
                let (dx, dy) = (aside.x * shift, aside.y * shift);
                let title = self.fabric.describe(link.channels()[0]).replace(" -> ", " – ");
                self.line(format_args!(
                    "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"><title>{}</title></line>",
                    a.x + dx,
                    a.y + dy,
                    b.x + dx,
                    b.y + dy,
                    cleaned(&title)
                ));
            }
        }
        self.line(format_args!("</g>"));
    }

    fn switch(&mut self, node: Node) {
        let (Point { x, y }, width) =
            (self.layout.point(node), label_width(self.fabric, node) + 10.0);
        let label = cleaned(&label(self.fabric, node));
        self.line(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BOX_HEIGHT}\" rx=\"4\" \
             fill=\"#dbe9f9\" stroke=\"#33557a\"/>",
            x - width / 2.0,
            y - BOX_HEIGHT / 2.0
        ));
        self.line(format_args!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            y + 4.0
        ));
    }

    fn host(&mut self, host: HostId) {
        let Point { x, y } = self.layout.point(Node::Host(host));
        let label = cleaned(&label(self.fabric, Node::Host(host)));
        self.line(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"#f6d58a\" stroke=\"#8a6a14\"/>"
        ));
        match self.layout.host_angles[host.0 as usize] {
            None => self.line(format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                y + 18.0
            )),
            Some(angle) => {
                // Text on the left half would stand on its head: it is turned and ends at the host.
                let backwards = angle.to_radians().cos() < -1e-9;
                let (turn, anchor, offset) = match backwards {
                    true => (angle + 180.0, "end", -9.0),
                    false => (angle, "start", 9.0),
                };
                self.line(format_args!(
                    "<text transform=\"translate({x:.1} {y:.1}) rotate({turn:.1})\" x=\"{offset}\" \
                     y=\"4\" text-anchor=\"{anchor}\">{label}</text>"
                ));
            }
        }
    }
}

/// A text as XML content: escaped, and without characters that XML cannot hold.
fn cleaned(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    escape(clean.as_str()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::irregular;
    use crate::{single, tree};
    use proptest::prelude::*;
    use quick_xml::events::Event;

    /// How often each element occurs; fails on text that is not well-formed.
    fn elements(svg: &str) -> BTreeMap<String, usize> {
        let mut reader = quick_xml::reader::Reader::from_str(svg);
        let mut counts = BTreeMap::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(e) | Event::Empty(e) => {
                    *counts.entry(e.name().as_ref().to_owned()).or_default() += 1;
                }
                Event::Eof => return counts,
                _ => {}
            }
        }
    }

    #[test]
    fn everything_is_in_the_picture() {
        let fabric = tree(4, 2).unwrap();
        let svg = svg(&fabric).unwrap();
        let counts = elements(&svg);
        assert_eq!((counts["line"], counts["circle"], counts["rect"]), (32, 16, 1 + 8));
        assert!(svg.contains(">4-ary 2-tree</text>"));
        assert!(svg.contains(">⟨3,0⟩</text>") && svg.contains(">3,2</text>"));
        assert!(svg.contains("<title>⟨0,1⟩:7 – ⟨3,0⟩:0</title>"));
    }

    #[test]
    fn a_large_network_is_refused() {
        assert!(svg(&tree(4, 4).unwrap()).is_ok());
        assert_eq!(
            svg(&single(600).unwrap()).unwrap_err().to_string(),
            "a picture of 601 hosts and switches cannot be read, the most is 600: write DOT or \
             GraphML and use a graph viewer"
        );
    }

    proptest! {
        #[test]
        fn any_network_makes_well_formed_svg(fabric in irregular()) {
            let counts = elements(&svg(&fabric).unwrap());
            prop_assert_eq!(counts["line"], fabric.links().len());
            prop_assert_eq!(counts["circle"], fabric.hosts().len());
        }
    }
}
