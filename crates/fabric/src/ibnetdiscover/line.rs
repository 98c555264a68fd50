//! One line of `ibnetdiscover` output.

use crate::reading::quoted;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The start of a node: `Switch 24 "S-0008f1"  # "leaf 1" base port 0 lid 6 lmc 0`.
    Node(NodeLine<'a>),
    /// A cable of that node: `[22] "H-0008f2"[1](8f2)  # "node 7 HCA-1" lid 4 4xQDR`.
    Cable(CableLine<'a>),
    /// Nothing that matters here.
    Remark,
}

/// The start of a node.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeLine<'a> {
    pub id: Id<'a>,
    pub ports: u8,
    /// What people call it; empty if the line does not say.
    pub description: &'a str,
}

/// A cable, seen from the node whose lines these are.
#[derive(Debug, PartialEq, Eq)]
pub struct CableLine<'a> {
    pub port: u8,
    pub peer: Id<'a>,
    pub peer_port: u8,
    /// What people call the peer; empty if the line does not say.
    pub description: &'a str,
}

/// A node: its kind and the text in quotes, `S-0008f1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id<'a> {
    pub kind: Kind,
    pub text: &'a str,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Switch,
    Adapter,
    Router,
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    pub found: String,
    pub expected: &'static str,
}

const ID: &str = "a node in quotes, such as \"S-0008f10400410015\"";
const PORT: &str = "a port from 1 to 254 in brackets, such as [22]";

impl<'a> Line<'a> {
    /// Reads a line.
    pub fn parse(line: &'a str) -> Result<Line<'a>, Mistake> {
        let (fields, comment) = line.split_once('#').unwrap_or((line, ""));
        let fields = fields.trim();
        // Between the first quote and the last: a description may contain quotes.
        let description = comment
            .split_once('"')
            .and_then(|(_, rest)| rest.rsplit_once('"'))
            .map_or("", |(text, _)| text.trim());
        if fields.starts_with('[') {
            return cable(fields, description).map(Line::Cable);
        }
        let kind = match fields.split_whitespace().next() {
            Some("Switch") => Kind::Switch,
            Some("Ca") => Kind::Adapter,
            Some("Rt") => Kind::Router,
            // Product numbers and GUIDs, headings of --grouping, warnings from the way there.
            None | Some("Chassis" | "Non-Chassis" | "ibwarn:") => return Ok(Line::Remark),
            Some(word) if word.contains('=') => return Ok(Line::Remark),
            Some(word) => {
                let expected = "`Switch`, `Ca`, `Rt`, a port in brackets or a name with `=`; it may \
                                be the output of another command, or of an option such as --ports";
                return Err(Mistake { found: quoted(word), expected });
            }
        };
        node(kind, fields, description).map(Line::Node)
    }
}

/// `Switch 24 "S-0008f1"`.
fn node<'a>(kind: Kind, fields: &'a str, description: &'a str) -> Result<NodeLine<'a>, Mistake> {
    let mut words = fields.split_whitespace().skip(1);
    let ports = words.next().unwrap_or_default();
    let Ok(ports) = ports.parse() else {
        return Err(Mistake { found: quoted(ports), expected: "a number of ports up to 255" });
    };
    let (id, rest) = id(words.next().unwrap_or_default())?;
    let more = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
    if !more.is_empty() {
        return Err(Mistake { found: quoted(more), expected: "a comment or the end of the line" });
    }
    if id.kind != kind {
        let expected = "\"S-...\" for a Switch, \"H-...\" for a Ca, \"R-...\" for a Rt";
        return Err(Mistake { found: quoted(id.text), expected });
    }
    Ok(NodeLine { id, ports, description })
}

/// `[22][ext 3] "H-0008f2"[1](8f2)`; what stands after a port number does not matter here.
fn cable<'a>(fields: &'a str, description: &'a str) -> Result<CableLine<'a>, Mistake> {
    let (port, rest) = port(fields)?;
    let (peer, rest) = id(after_groups(rest)?)?;
    let (peer_port, rest) = self::port(rest)?;
    let rest = after_groups(rest)?;
    if !rest.is_empty() {
        return Err(Mistake { found: quoted(rest), expected: "a comment or the end of the line" });
    }
    Ok(CableLine { port, peer, peer_port, description })
}

/// `"S-0008f1"`, and what follows.
fn id(text: &str) -> Result<(Id<'_>, &str), Mistake> {
    let inside = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let known = inside.and_then(|(text, rest)| {
        let kind = match text.split_once('-')? {
            ("S", _) => Kind::Switch,
            ("H", _) => Kind::Adapter,
            ("R", _) => Kind::Router,
            _ => return None,
        };
        Some((Id { kind, text }, rest))
    });
    known.ok_or_else(|| Mistake { found: quoted(text), expected: ID })
}

/// `[22]`, and what follows.
fn port(text: &str) -> Result<(u8, &str), Mistake> {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let known = inside
        .and_then(|(number, rest)| Some((number.parse().ok()?, rest)))
        .filter(|(port, _)| (1..=254).contains(port));
    known.ok_or_else(|| Mistake { found: quoted(text), expected: PORT })
}

/// What follows any number of `(...)` and `[...]`.
fn after_groups(text: &str) -> Result<&str, Mistake> {
    let mut rest = text.trim_start();
    loop {
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('[') => ']',
            _ => return Ok(rest),
        };
        let Some((_, after)) = rest.split_once(close) else {
            return Err(Mistake { found: quoted(rest), expected: "a closing bracket" });
        };
        rest = after.trim_start();
    }
}
