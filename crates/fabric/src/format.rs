//! Which format a network file is in.

use crate::{Fabric, ReadError, anynet, edge_list, graphml, ibnetdiscover};

/// A format in which networks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// BookSim's [`anynet`].
    Anynet,
    /// [`graphml`].
    Graphml,
    /// A plain [`edge_list`].
    EdgeList,
    /// The output of [`ibnetdiscover`].
    Ibnetdiscover,
}

impl Format {
    /// The format of a file: by the ending of its name, `.anynet`, `.graphml`, `.edges` or
    /// `.ibnetdiscover`, and by the first line that says something if the ending is any other.
    pub fn of(file_name: &str, text: &str) -> Format {
        let ending = file_name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("anynet") => Format::Anynet,
            Some("graphml") => Format::Graphml,
            Some("edges") => Format::EdgeList,
            Some("ibnetdiscover") => Format::Ibnetdiscover,
            _ => Format::of_text(text),
        }
    }

    fn of_text(text: &str) -> Format {
        let lines = text.lines().map(str::trim);
        let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
        let words: Vec<&str> = first.unwrap_or_default().split_whitespace().take(2).collect();
        match *words {
            [word, ..] if word.starts_with('<') => Format::Graphml,
            ["router" | "node", number] if number.parse::<u32>().is_ok() => Format::Anynet,
            ["Switch" | "Ca" | "Rt" | "Chassis" | "Non-Chassis" | "ibwarn:", _] => {
                Format::Ibnetdiscover
            }
            [word, ..] if ibnetdiscover::is_identity(word) => Format::Ibnetdiscover,
            _ => Format::EdgeList,
        }
    }

    /// What it is called, after "in".
    pub fn name(self) -> &'static str {
        match self {
            Format::Anynet => "BookSim's anynet format",
            Format::Graphml => "GraphML",
            Format::EdgeList => "the edge list format",
            Format::Ibnetdiscover => "the format of ibnetdiscover",
        }
    }

    /// Reads a network; `name` is what it will be called unless the file gives it a name. Latencies
    /// in `anynet` files are left aside.
    pub fn read(self, name: &str, text: &str) -> Result<Fabric, ReadError> {
        match self {
            Format::Anynet => Ok(anynet::read(name, text)?.fabric),
            Format::Graphml => graphml::read(name, text),
            Format::EdgeList => edge_list::read(name, text),
            Format::Ibnetdiscover => ibnetdiscover::read(name, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn the_ending_decides() {
        for (name, format) in [
            ("a/ring.ANYNET", Format::Anynet),
            ("ring.graphml", Format::Graphml),
            ("ring.v2.edges", Format::EdgeList),
            ("site.ibnetdiscover", Format::Ibnetdiscover),
        ] {
            assert_eq!(Format::of(name, "Switch 8 \"S-1\""), format);
        }
    }

    #[test]
    fn without_a_known_ending_the_text_decides() {
        let fabric = tree(2, 2).unwrap();
        for (text, format) in [
            (graphml::write(&fabric).unwrap(), Format::Graphml),
            (anynet::write(&fabric).unwrap(), Format::Anynet),
            ("#\n# Topology file\n#\n\nvendid=0x2c9\n".to_owned(), Format::Ibnetdiscover),
            ("Switch\t8 \"S-1\"\t\t# \"leaf\"\n".to_owned(), Format::Ibnetdiscover),
            ("switchguid=0x8f1(8f1)\nSwitch 8 \"S-1\"".to_owned(), Format::Ibnetdiscover),
            ("caguid=0x8f2\nCa 1 \"H-1\"".to_owned(), Format::Ibnetdiscover),
            ("rtguid=0x8f3\nRt 1 \"R-1\"".to_owned(), Format::Ibnetdiscover),
            ("sysimgguid=0x8f4\n".to_owned(), Format::Ibnetdiscover),
            ("guid=8 s1\n".to_owned(), Format::EdgeList),
            ("\nNon-Chassis Nodes\n".to_owned(), Format::Ibnetdiscover),
            ("# my switches\nnode router\n".to_owned(), Format::EdgeList),
            (String::new(), Format::EdgeList),
        ] {
            for name in ["network", "network.txt", "a.b/network"] {
                assert_eq!(Format::of(name, &text), format, "{text}");
            }
        }
    }

    #[test]
    fn each_format_is_read() {
        for (format, text) in [
            (Format::Anynet, "router 0 node 0 node 1"),
            (Format::EdgeList, "a s\nb s"),
            (Format::Ibnetdiscover, "Switch 2 \"S-1\"\n[1] \"H-1\"[1]\n[2] \"H-2\"[1]"),
        ] {
            let fabric = format.read("pair", text).unwrap();
            assert_eq!((fabric.name(), fabric.hosts().len()), ("pair", 2), "{}", format.name());
        }
        let written = graphml::write(&tree(2, 2).unwrap()).unwrap();
        assert_eq!(Format::Graphml.read("unused", &written).unwrap().name(), "2-ary 2-tree");
    }
}
