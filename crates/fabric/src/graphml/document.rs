//! From XML text to the nodes and edges it lists.
//!
//! The text is read as a stream of events. Elements that mean nothing to us are skipped by counting
//! their depth, so no input, however deeply nested, can exhaust the stack.

use std::collections::HashMap;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::ReadError;
use crate::reading::quoted;

/// The attributes we know, by their `attr.name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Name,
    Shape,
    Kind,
    Label,
    Ports,
    From,
    FromPort,
    ToPort,
}

/// Their names, and the element each belongs to.
const FIELDS: [(&str, &str, Field); 8] = [
    ("name", "graph", Field::Name),
    ("shape", "graph", Field::Shape),
    ("kind", "node", Field::Kind),
    ("label", "node", Field::Label),
    ("ports", "node", Field::Ports),
    ("from", "edge", Field::From),
    ("from_port", "edge", Field::FromPort),
    ("to_port", "edge", Field::ToPort),
];

/// The values of the attributes that an element gives.
#[derive(Debug, Clone, Default)]
pub struct Fields([Option<String>; FIELDS.len()]);

impl Fields {
    /// The value of an attribute, if given.
    pub fn get(&self, field: Field) -> Option<&str> {
        self.0[field as usize].as_deref()
    }
}

/// A node as written.
#[derive(Debug)]
pub struct NodeElement {
    /// Its id.
    pub id: String,
    /// Its attributes.
    pub fields: Fields,
    /// Where it stands in the text.
    pub offset: usize,
}

/// An edge as written.
#[derive(Debug)]
pub struct EdgeElement {
    /// The id of the node it names as source.
    pub source: String,
    /// The id of the node it names as target.
    pub target: String,
    /// Its attributes.
    pub fields: Fields,
    /// Where it stands in the text.
    pub offset: usize,
}

/// Everything of a GraphML text that matters to us.
#[derive(Debug, Default)]
pub struct Document {
    /// The graph's own attributes.
    pub fields: Fields,
    /// Values that hold where an element gives none.
    pub defaults: Fields,
    /// The nodes in order.
    pub nodes: Vec<NodeElement>,
    /// The edges in order.
    pub edges: Vec<EdgeElement>,
}

impl Document {
    /// Reads the elements of a text.
    pub fn parse(text: &str) -> Result<Document, ReadError> {
        let mut parser = Parser {
            text,
            offset: 0,
            document: Document::default(),
            keys: HashMap::new(),
            open: Vec::new(),
            skipping: 0,
            value: String::new(),
            graphs: 0,
        };
        let mut reader = Reader::from_str(text);
        loop {
            parser.offset = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                let offset = reader.error_position() as usize;
                unexpected_at(text, offset, format!("broken XML ({error})"), "well-formed XML")
            })?;
            match event {
                Event::Start(start) => parser.start(&start)?,
                Event::Empty(start) => {
                    parser.start(&start)?;
                    parser.end();
                }
                Event::End(_) => parser.end(),
                Event::Text(piece) => parser.add(&piece.xml10_content())?,
                Event::CData(piece) => parser.add(&piece.xml10_content())?,
                Event::GeneralRef(reference) => parser.refer(&reference)?,
                Event::DocType(_) => {
                    return Err(parser.unexpected("a DOCTYPE".to_owned(), "GraphML without one"));
                }
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
                Event::Eof => return parser.finish(),
            }
        }
    }
}

/// An element we are inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Graphml,
    /// A declaration of an attribute.
    Key(Option<Field>),
    Default(Option<Field>),
    Graph,
    Node,
    Edge,
    Data(Option<Field>),
}

struct Parser<'a> {
    text: &'a str,
    /// Where the current event begins.
    offset: usize,
    document: Document,
    /// Declared attributes by the id that `data` elements use.
    keys: HashMap<String, Field>,
    open: Vec<Element>,
    /// How many skipped elements we are inside of.
    skipping: usize,
    /// The text of the current `data` or `default` element.
    value: String,
    graphs: usize,
}

impl Parser<'_> {
    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), ReadError> {
        if self.skipping > 0 {
            self.skipping += 1;
            return Ok(());
        }
        let name = start.local_name();
        let element = match (self.open.last(), name.as_ref()) {
            (None, "graphml") if self.graphs == 0 => Element::Graphml,
            (None, other) => {
                return Err(self.unexpected(format!("element {}", quoted(other)), "`graphml`"));
            }
            (Some(Element::Graphml), "key") => Element::Key(self.declare(start)?),
            (Some(Element::Graphml), "graph") => self.graph(start)?,
            (Some(Element::Key(field)), "default") => Element::Default(*field),
            (Some(Element::Graph), "node") => self.node(start)?,
            (Some(Element::Graph), "edge") => self.edge(start)?,
            (Some(Element::Graph), "hyperedge") => {
                return Err(self.unexpected("a hyperedge".to_owned(), "edges between two nodes"));
            }
            (Some(Element::Node | Element::Edge), "graph") => {
                return Err(self.unexpected("a nested graph".to_owned(), "one flat graph"));
            }
            (Some(Element::Graph | Element::Node | Element::Edge), "data") => {
                let key = self.attribute(start, "key")?.unwrap_or_default();
                Element::Data(self.keys.get(&key).copied())
            }
            (Some(_), _) => {
                self.skipping = 1;
                return Ok(());
            }
        };
        self.value.clear();
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        let ended = self.open.pop();
        let (field, fields) = match (ended, self.open.last()) {
            (Some(Element::Default(Some(field))), _) => (field, Some(&mut self.document.defaults)),
            (Some(Element::Data(Some(field))), Some(Element::Graph)) => {
                (field, Some(&mut self.document.fields))
            }
            (Some(Element::Data(Some(field))), Some(Element::Node)) => {
                (field, self.document.nodes.last_mut().map(|node| &mut node.fields))
            }
            (Some(Element::Data(Some(field))), Some(Element::Edge)) => {
                (field, self.document.edges.last_mut().map(|edge| &mut edge.fields))
            }
            _ => return,
        };
        if let Some(fields) = fields {
            fields.0[field as usize] = Some(std::mem::take(&mut self.value));
        }
    }

    /// Text, which counts inside `data` and `default`.
    fn add(&mut self, piece: &str) -> Result<(), ReadError> {
        let inside = self.skipping == 0
            && matches!(self.open.last(), Some(Element::Data(_) | Element::Default(_)));
        if inside {
            self.value.push_str(piece);
        } else if self.open.is_empty() && !piece.trim().is_empty() {
            let found = format!("text {}", quoted(piece.trim()));
            return Err(self.unexpected(found, "XML that begins with `<graphml>`"));
        }
        Ok(())
    }

    /// A character or entity reference such as `&lt;`.
    fn refer(&mut self, reference: &BytesRef<'_>) -> Result<(), ReadError> {
        let name = reference.xml10_content();
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return self.add(character.encode_utf8(&mut [0; 4]));
        }
        match resolve_predefined_entity(&name) {
            Some(content) => self.add(content),
            None => {
                let found = format!("the reference {}", quoted(&name));
                Err(self
                    .unexpected(found, "`lt`, `gt`, `amp`, `quot`, `apos` or a character number"))
            }
        }
    }

    fn declare(&mut self, start: &BytesStart<'_>) -> Result<Option<Field>, ReadError> {
        let id = self.required(start, "id")?;
        let name = self.attribute(start, "attr.name")?.unwrap_or_default();
        let domain = self.attribute(start, "for")?;
        let here = |owner: &str| domain.as_deref().is_none_or(|d| d == owner || d == "all");
        let field = FIELDS
            .iter()
            .find(|(known, owner, _)| *known == name && here(owner))
            .map(|&(_, _, field)| field);
        if let Some(field) = field {
            self.keys.insert(id, field);
        }
        Ok(field)
    }

    fn graph(&mut self, start: &BytesStart<'_>) -> Result<Element, ReadError> {
        self.graphs += 1;
        if self.graphs > 1 {
            return Err(self.unexpected("a second graph".to_owned(), "one graph"));
        }
        if self.attribute(start, "edgedefault")?.as_deref() == Some("directed") {
            let expected = "edgedefault=\"undirected\": a link works both ways";
            return Err(self.unexpected("a directed graph".to_owned(), expected));
        }
        Ok(Element::Graph)
    }

    fn node(&mut self, start: &BytesStart<'_>) -> Result<Element, ReadError> {
        let id = self.required(start, "id")?;
        let node = NodeElement { id, fields: Fields::default(), offset: self.offset };
        self.document.nodes.push(node);
        Ok(Element::Node)
    }

    fn edge(&mut self, start: &BytesStart<'_>) -> Result<Element, ReadError> {
        if self.attribute(start, "directed")?.as_deref() == Some("true") {
            let expected = "undirected edges: a link works both ways";
            return Err(self.unexpected("a directed edge".to_owned(), expected));
        }
        let (source, target) = (self.required(start, "source")?, self.required(start, "target")?);
        let fields = Fields::default();
        self.document.edges.push(EdgeElement { source, target, fields, offset: self.offset });
        Ok(Element::Edge)
    }

    fn required(&self, start: &BytesStart<'_>, name: &str) -> Result<String, ReadError> {
        self.attribute(start, name)?.ok_or_else(|| {
            let element = start.local_name();
            let found = format!("element {} without `{name}`", quoted(element.as_ref()));
            self.unexpected(found, "it to have one")
        })
    }

    fn attribute(&self, start: &BytesStart<'_>, name: &str) -> Result<Option<String>, ReadError> {
        let broken = |error: &dyn std::fmt::Display| {
            self.unexpected(format!("a broken attribute ({error})"), "well-formed XML")
        };
        let mut attributes = start.attributes();
        // The check for repeated names takes quadratic time; the first of a name counts.
        for attribute in attributes.with_checks(false) {
            let attribute = attribute.map_err(|error| broken(&error))?;
            if attribute.key.as_ref() == name {
                let value = attribute.normalized_value(XmlVersion::Explicit1_0);
                return Ok(Some(value.map_err(|error| broken(&error))?.into_owned()));
            }
        }
        Ok(None)
    }

    fn finish(self) -> Result<Document, ReadError> {
        if self.graphs == 0 || !self.open.is_empty() || self.skipping > 0 {
            let expected = if self.graphs == 0 { "a graph" } else { "all elements closed" };
            return Err(self.unexpected("the end of the file".to_owned(), expected));
        }
        Ok(self.document)
    }

    fn unexpected(&self, found: String, expected: &str) -> ReadError {
        unexpected_at(self.text, self.offset, found, expected)
    }
}

/// An error at a place in the text; lines are counted only now that one is needed.
pub fn unexpected_at(text: &str, offset: usize, found: String, expected: &str) -> ReadError {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    ReadError::Unexpected { line, found, expected: expected.to_owned() }
}
