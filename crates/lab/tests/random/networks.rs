//! Small networks with parallel cables, written in every format that is read.

use crosstie_units::Stream;
use std::fmt::Write;

/// Switches, all with hosts, and cables between them.
pub struct Cables {
    /// The switch of each host; every switch has one.
    hosts: Vec<usize>,
    switches: usize,
    /// Pairs of switches, the lower first; a pair may stand there twice.
    links: Vec<(usize, usize)>,
}

/// A format: the ending of its files, whether it knows parallel links, and how it is written.
type Format = (&'static str, bool, fn(&Cables) -> String);

/// The formats of network files.
pub const FORMATS: [Format; 4] = [
    ("anynet", false, anynet),
    ("graphml", true, graphml),
    ("edges", true, edges),
    ("ibnetdiscover", true, ibnetdiscover),
];

impl Cables {
    /// A connected network of 1 to 6 switches.
    pub fn draw(stream: &mut Stream, parallel: bool) -> Cables {
        let switches = 1 + stream.below(6) as usize;
        let more = stream.below(5) as usize + usize::from(switches == 1);
        let hosts = (0..switches)
            .chain((0..more).map(|_| stream.below(switches as u64) as usize))
            .collect();
        // Each switch joins one before it; then a few more cables.
        let mut links: Vec<(usize, usize)> =
            (1..switches).map(|high| (stream.below(high as u64) as usize, high)).collect();
        for _ in 0..stream.below(6).min(10 * (switches as u64 - 1)) {
            let high = 1 + stream.below(switches as u64 - 1) as usize;
            let link = (stream.below(high as u64) as usize, high);
            if parallel || !links.contains(&link) {
                links.push(link);
            }
        }
        Cables { hosts, switches, links }
    }
}

fn anynet(cables: &Cables) -> String {
    let mut text = String::new();
    for switch in 0..cables.switches {
        write!(text, "router {switch}").unwrap();
        for (host, _) in cables.hosts.iter().enumerate().filter(|&(_, &at)| at == switch) {
            write!(text, " node {host}").unwrap();
        }
        for (_, high) in cables.links.iter().filter(|&&(low, _)| low == switch) {
            write!(text, " router {high}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn graphml(cables: &Cables) -> String {
    let mut text =
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n\
                    <graph edgedefault=\"undirected\">\n"
            .to_owned();
    let hosts = (0..cables.hosts.len()).map(|host| (format!("h{host}"), "host"));
    let switches = (0..cables.switches).map(|switch| (format!("s{switch}"), "switch"));
    for (name, kind) in hosts.chain(switches) {
        writeln!(text, "<node id=\"{name}\"><data key=\"k\">{kind}</data></node>").unwrap();
    }
    for (host, switch) in cables.hosts.iter().enumerate() {
        writeln!(text, "<edge source=\"h{host}\" target=\"s{switch}\"/>").unwrap();
    }
    for (low, high) in &cables.links {
        writeln!(text, "<edge source=\"s{low}\" target=\"s{high}\"/>").unwrap();
    }
    text + "</graph></graphml>\n"
}

fn edges(cables: &Cables) -> String {
    let mut text = "# cables\n".to_owned();
    for (low, high) in &cables.links {
        writeln!(text, "s{low} s{high}").unwrap();
    }
    for (host, switch) in cables.hosts.iter().enumerate() {
        writeln!(text, "host h{host} s{switch}").unwrap();
    }
    text
}

fn ibnetdiscover(cables: &Cables) -> String {
    // What is plugged into each switch, port by port from 1: a host, or the number of a link.
    let mut plugged: Vec<Vec<Result<usize, usize>>> = vec![Vec::new(); cables.switches];
    cables.hosts.iter().enumerate().for_each(|(host, &switch)| plugged[switch].push(Ok(host)));
    for (link, &(low, high)) in cables.links.iter().enumerate() {
        plugged[low].push(Err(link));
        plugged[high].push(Err(link));
    }
    let mut text = "vendid=0x2c9\n".to_owned();
    for (switch, ports) in plugged.iter().enumerate() {
        writeln!(text, "Switch\t{} \"S-{switch:016x}\"\t\t# \"leaf {switch}\"", ports.len())
            .unwrap();
        for (port, end) in (1..).zip(ports) {
            match *end {
                Ok(host) => {
                    writeln!(text, "[{port}]\t\"H-{host:016x}\"[1]\t\t# \"node {host}\"").unwrap()
                }
                Err(link) => {
                    let (low, high) = cables.links[link];
                    let other = if low == switch { high } else { low };
                    let far = plugged[other].iter().position(|end| *end == Err(link)).unwrap() + 1;
                    writeln!(text, "[{port}]\t\"S-{other:016x}\"[{far}]\t\t# \"leaf\"").unwrap();
                }
            }
        }
    }
    text
}
