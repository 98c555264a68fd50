//! Whether the parts of a spec fit together. What one value can tell alone is checked in `limits`.

mod live;
mod rails;

use crosstie_collective::algorithm::Barrier;
use crosstie_fabric::Shape;
use crosstie_protocol::{
    ChannelKind, FlowError, InTransitError, ProfileKind, largest_cluster, rails_optimal,
};
use crosstie_routing::Need;
use crosstie_units::{Bytes, Time};
use crosstie_work::traffic::Misfit;
use toml::de::DeTable;

use super::limits::{MOST_HOSTS, MOST_RAILS};
use super::{
    Bus, Fabric, Irregular, Link, Measure, Model, Operation, Packet, Spec, TrafficSpec, Tree, Work,
    World,
};
use crate::document::{self, Fault};

/// The longest wire, in cycles.
const LONGEST_WIRE: u64 = 65_535;

/// A contradiction: the key it is reported at, and what is wrong there.
struct Clash {
    path: String,
    fault: Fault,
}

fn clash(path: impl Into<String>, title: impl Into<String>, label: impl Into<String>) -> Clash {
    Clash { path: path.into(), fault: Fault::new(title, label) }
}

impl Clash {
    fn help(mut self, help: impl Into<String>) -> Clash {
        self.fault = self.fault.with_help(help);
        self
    }
}

/// What a choice found wrong with itself, at its place in the spec.
fn at(path: &str, misfit: Misfit) -> Clash {
    let Misfit { key, title, problem, help, .. } = misfit;
    let clash = clash(format!("{path}.{key}"), title, problem);
    match help {
        Some(help) => clash.help(help),
        None => clash,
    }
}

/// Checks everything; `root` is what the spec was read from, for the place of a mistake.
pub(super) fn check(spec: &Spec, root: &DeTable<'_>) -> Result<(), Fault> {
    fabric(&spec.fabric)
        .and_then(|()| routing(spec))
        .and_then(|()| policy(spec))
        .and_then(|()| link(&spec.link))
        .and_then(|()| rails::check(spec))
        .and_then(|()| flow(spec))
        .and_then(|()| patience(spec))
        .and_then(|()| in_transit(spec))
        .and_then(|()| frame(spec))
        .and_then(|()| work(spec))
        .and_then(|()| schedule(spec))
        .and_then(|()| node(spec))
        .and_then(|()| elan(spec))
        .and_then(|()| message(spec))
        .and_then(|()| live::check(spec))
        .and_then(|()| measure(&spec.measure))
        .map_err(|Clash { path, fault }| {
            fault.at(document::place(root, &path).map_or(0..0, |(_, value)| value))
        })
}

fn fabric(fabric: &Fabric) -> Result<(), Clash> {
    match fabric {
        Fabric::Tree(tree) => whole_tree(tree),
        Fabric::Irregular(network) => irregular(network),
        Fabric::TwoLevel { leaves, hosts_per_leaf } => {
            let hosts = leaves.saturating_mul(*hosts_per_leaf);
            if hosts > MOST_HOSTS {
                let label = format!("{hosts} hosts, expected at most {MOST_HOSTS}");
                return Err(clash("fabric.two-level.leaves", "the network is too large", label));
            }
            Ok(())
        }
        Fabric::Single { .. } | Fabric::File { .. } => Ok(()),
    }
}

fn whole_tree(tree: &Tree) -> Result<(), Clash> {
    let (k, n, hosts) = (tree.k, tree.n, tree.hosts);
    let leaves = k.checked_pow(n).filter(|&leaves| leaves <= MOST_HOSTS).ok_or_else(|| {
        let label = format!("{k}^{n} leaves, expected at most {MOST_HOSTS}");
        clash("fabric.tree.n", "the tree is too large", label)
    })?;
    if hosts > leaves {
        let label = format!("found {hosts} hosts, expected at most {k}^{n} = {leaves}");
        return Err(clash("fabric.tree.hosts", "more hosts than leaves", label)
            .help("leave `hosts` out for a full tree, or raise `n`"));
    }
    Ok(())
}

fn irregular(network: &Irregular) -> Result<(), Clash> {
    let Irregular { switches, ports, hosts_per_switch, .. } = *network;
    let at = |key: &str| format!("fabric.irregular.{key}");
    if hosts_per_switch > ports {
        let label = format!("found {hosts_per_switch}, expected at most ports = {ports}");
        return Err(clash(at("hosts-per-switch"), "more hosts than ports", label));
    }
    if !(2..=MOST_HOSTS).contains(&network.hosts()) {
        let label = format!(
            "{switches} switches with {hosts_per_switch} hosts each, expected 2 to {MOST_HOSTS} hosts"
        );
        return Err(clash(at("switches"), "the wrong number of hosts", label));
    }
    let (left, needed) = (ports - hosts_per_switch, (switches - 1).min(2));
    if left < needed {
        let label = format!("leaves {left} of {ports} ports for links, expected {needed} or more");
        return Err(clash(at("hosts-per-switch"), "the switches cannot be connected", label)
            .help("raise `ports`, or lower `hosts-per-switch`"));
    }
    let each = u64::from(left.min(switches - 1));
    let (least, most) = (u64::from(switches - 1), u64::from(switches) * each / 2);
    match network.links {
        Some(links) if !(least..=most).contains(&u64::from(links)) => {
            let label = format!(
                "found {links}, expected {least}, which connect the switches, to {most}, for which \
                 there are ports"
            );
            return Err(clash(at("links"), "the wrong number of links", label));
        }
        _ => {}
    }
    Ok(())
}

fn routing(spec: &Spec) -> Result<(), Clash> {
    if spec.routing.needs(Need::Tree) && !matches!(spec.fabric.shape(), Shape::Tree(_)) {
        let label = "expected a fabric of the kind `tree`";
        return Err(clash("routing", "this routing knows trees only", label)
            .help("leave `routing` out, or set `routing = \"up-down\"`"));
    }
    Ok(())
}

fn policy(spec: &Spec) -> Result<(), Clash> {
    if !spec.policy.paces() && spec.cluster.pes > 1 {
        let title = "several processing elements without a policy";
        let label = "in turn, a node sends as one";
        return Err(clash("cluster.pes", title, label)
            .help("say how they share the rails: `policy = \"basic\"`, or leave `pes` out"));
    }
    let Some(hosts) = spec.fabric.hosts() else { return Ok(()) };
    let rails = spec.cluster.rails.count();
    spec.policy.fits(hosts, rails).map_err(|_| static_rails(rails, hosts))
}

/// Static allocation joins every pair of nodes only with rails enough.
fn static_rails(rails: u32, hosts: u32) -> Clash {
    let (most, least) = (largest_cluster(rails), rails_optimal(hosts));
    let label = format!("{hosts} hosts need at least {least} rails, but there are {rails}");
    let clash = clash("policy.static", "too few rails for static allocation", label);
    let fewer = match most {
        // A fabric has at least two hosts, and one rail cannot join them.
        ..2 => None,
        most => Some(format!("take at most {most} hosts, all that {rails} rails can join")),
    };
    let more = (least <= MOST_RAILS).then(|| format!("set `cluster.rails = {least}`"));
    let ways: Vec<_> = more.into_iter().chain(fewer).collect();
    if ways.is_empty() { clash } else { clash.help(ways.join(", or ")) }
}

fn link(link: &Link) -> Result<(), Clash> {
    if link.rate.time_for(link.flit).is_none_or(|cycle| cycle.ps() == 0) {
        let label = format!("{} at {} takes less than 1 ps", link.flit, link.rate);
        return Err(clash("link.rate", "the clock is too fast", label)
            .help("the clock cycle is flit / rate: take a larger flit or a lower rate"));
    }
    if link.wire_cycles() > LONGEST_WIRE {
        let (wire, cycle) = (link.wire, link.cycle());
        let label = format!("{wire} is more than {LONGEST_WIRE} cycles of {cycle}");
        return Err(clash("link.wire", "the wire is too long", label));
    }
    Ok(())
}

/// The wire in cycles, which [`link`] has found to be few.
fn wire(spec: &Spec) -> u32 {
    spec.link.wire_cycles() as u32
}

fn flow(spec: &Spec) -> Result<(), Clash> {
    let at = |mark: &str| format!("switch.flow.stop-and-go.{mark}");
    spec.switch.flow.check(spec.switch.buffer, wire(spec)).map_err(|error| match error {
        FlowError::Marks { stop, go } => {
            let label = format!("found {go}, expected less than stop = {stop}");
            clash(at("go"), "go is not below stop", label)
        }
        FlowError::Slack { stop, wire, needed, buffer } => {
            let label = format!("{stop} flits and 2 x {wire} on the wire do not fit in {buffer}");
            let title = "the buffer may overflow before the sender stops";
            clash(at("stop"), title, label).help(format!(
                "set `switch.buffer = {needed}`, lower `stop`, or shorten `link.wire`"
            ))
        }
    })
}

/// Packets that stop at hosts need NICs that pass them on.
fn in_transit(spec: &Spec) -> Result<(), Clash> {
    let Some(nics) = &spec.nic.in_transit else {
        if spec.routing.needs(Need::InTransit) {
            let title = "this routing stops at hosts, but NICs pass nothing on";
            return Err(clash("routing", title, "expected NICs with in-transit buffers")
                .help("add `nic.in-transit = {}` and `bus = \"full\"`"));
        }
        return Ok(());
    };
    let (full_duplex, nics) = (spec.bus == (Bus::Full {}), nics.on(&spec.link));
    // The range lies within the type.
    let virtual_channels = spec.switch.virtual_channels as u8;
    nics.check(full_duplex, virtual_channels, wire(spec)).map_err(|error| match error {
        InTransitError::SharedBus => {
            let title = "in-transit buffers behind a bus of one way at a time";
            clash("nic.in-transit", title, "expected a full-duplex bus beside them")
                .help("set `bus = \"full\"`")
        }
        InTransitError::Instant => {
            let title = "in-transit packets that take no time";
            clash("nic.in-transit", title, "expected recognition or setup above 0")
        }
        InTransitError::Pool { share, wire } => {
            let label = format!(
                "{share} flits per virtual channel, expected more than the 2 x {wire} on the wire"
            );
            clash("nic.in-transit.pool", "the pool is too small", label)
        }
    })
}

/// Somebody acknowledges what NICs wait for, and what they send may go again.
fn patience(spec: &Spec) -> Result<(), Clash> {
    if spec.nic.patience.is_none() {
        return Ok(());
    }
    if let ChannelKind::Raw {} = spec.channel {
        let title = "patience without acknowledgements";
        return Err(clash("nic.patience", title, "expected a channel, which makes them")
            .help("set `channel = \"go-back-n\"`, or leave `nic.patience` out"));
    }
    if spec.policy.reserves() && spec.profile == Some(ProfileKind::Live) {
        let title = "a policy that reserves the NICs of receivers";
        let label =
            format!("found {}, which ranks of the profile `live` cannot do", spec.policy.name());
        return Err(clash("policy", title, label).help(
            "choose another policy, or name a paper's profile, such as `profile = \"liu\"`",
        ));
    }
    if spec.policy.reserves() {
        let title = "reservations that outlive a rail";
        let label = "expected a policy that does not reserve the NICs of receivers";
        return Err(clash("nic.patience", title, label)
            .help("choose another policy, or leave `nic.patience` out"));
    }
    Ok(())
}

/// Frames have room for packets, and do not stop at hosts; the model reckons with them.
fn frame(spec: &Spec) -> Result<(), Clash> {
    match spec.world {
        World::Wormhole | World::Ideal | World::Live => return Ok(()),
        World::Model if matches!(spec.work, Work::Traffic(_)) => {
            let title = "open-loop traffic in the model";
            return Err(clash("world", title, "expected work that ends: the model prices that")
                .help("replace `traffic` by `work`, or choose another world"));
        }
        World::Model if spec.model.is_some() => return parameters(spec),
        World::Frame | World::Model => {}
    }
    if spec.routing.needs(Need::InTransit) {
        let title = "this routing stops at hosts, which frames do not";
        return Err(clash("routing", title, "expected a routing without in-transit buffers")
            .help("leave `routing` out"));
    }
    let (mtu, overhead) = (spec.frame.mtu(), spec.nic.overhead);
    if overhead >= mtu {
        let label = format!("found {overhead}, expected less than the {mtu} that a frame carries");
        return Err(clash("nic.overhead", "no room in a frame", label));
    }
    let Packet::Payload(payload) = spec.nic.packet else { return Ok(()) };
    let most = Bytes::new(mtu.get() - overhead.get());
    if payload > most {
        let label = format!("found {payload}, expected at most {most}: a frame carries {mtu}");
        return Err(clash("nic.packet", "packets that are longer than frames", label)
            .help("leave `nic.packet` out for full frames, or raise `frame.mtu`"));
    }
    Ok(())
}

/// Parameters that are written take some time.
fn parameters(spec: &Spec) -> Result<(), Clash> {
    match &spec.model {
        Some(Model::Parameters(parameters)) if parameters.are_free() => {
            let label = "expected one at least that takes time, such as `send = \"12.5 us\"`";
            Err(clash("model.parameters", "parameters of the model that take no time", label))
        }
        _ => Ok(()),
    }
}

fn work(spec: &Spec) -> Result<(), Clash> {
    let hosts = spec.fabric.hosts();
    match &spec.work {
        Work::Traffic(traffic) => load(traffic, &spec.measure)
            .and_then(|()| traffic.size.check().map_err(|misfit| at("traffic.size", misfit)))
            .and_then(|()| {
                let found = traffic.destination.check(hosts);
                found.map_err(|misfit| at("traffic.destination", misfit))
            }),
        Work::Ping(ping) => {
            closed_loop(spec).and_then(|()| ranks(spec, "work.ping", [ping.from, ping.to], 1))
        }
        Work::Stream(stream) => closed_loop(spec)
            .and_then(|()| ranks(spec, "work.stream", [stream.from, stream.to], stream.pairs)),
        Work::Read(_) => closed_loop(spec).and_then(|()| reads(spec)),
        Work::Collective(Operation::Barrier { algorithm: Barrier::Hardware {} }) => {
            closed_loop(spec).and_then(|()| casts(spec))
        }
        Work::Pairs(_) | Work::Collective(_) | Work::Goal(_) => closed_loop(spec),
    }
}

/// Checks that there are NICs that serve reads.
fn reads(spec: &Spec) -> Result<(), Clash> {
    if !spec.serves_gets() {
        let label = "expected `node.elan`, in the world `wormhole`: other nodes serve no reads";
        return Err(clash("work.read", "reads without NICs that serve them", label)
            .help("take `work.scatter = { algorithm = \"linear\", ... }`, where the one sends"));
    }
    if spec.node.overhead.is_some() {
        let label = "what a get takes of a processor is not among o and O of LogGOPS";
        return Err(clash("node.overhead", "processors that know messages alone", label)
            .help("remove `node.overhead`"));
    }
    Ok(())
}

/// Checks that switches can fork what a rank sends to several others.
fn casts(spec: &Spec) -> Result<(), Clash> {
    spec.lacks_to_cast().map_or(Ok(()), |missing| {
        let label = format!("`hardware` needs {missing}");
        Err(clash("work.barrier.algorithm", "a barrier that this machine cannot do", label)
            .help("change that, or take `k-ary-tree` or `dissemination`"))
    })
}

/// How schedules are played, and that there are any.
fn schedule(spec: &Spec) -> Result<(), Clash> {
    let plays =
        matches!(spec.work, Work::Pairs(_) | Work::Read(_) | Work::Collective(_) | Work::Goal(_));
    if !plays && !spec.schedule.is_default() {
        let label = "expected a collective operation or `work.goal` beside it";
        return Err(clash("schedule", "there is no schedule to be played", label)
            .help("remove `schedule`, or set `work`, such as `work.all-to-all.size = \"1 KiB\"`"));
    }
    let pes = spec.cluster.pes;
    let places = spec.fabric.hosts().map(|hosts| spec.ranks(hosts));
    let ranks = spec.schedule.ranks.zip(places);
    if let Some((ranks, places)) = ranks.filter(|(ranks, places)| ranks > places) {
        let each = match pes {
            1 => "there is one per host".to_owned(),
            _ => format!("there are {pes} per host"),
        };
        let label = format!("found {ranks}, expected at most {places}: {each}");
        return Err(clash("schedule.ranks", "more ranks than hosts have", label));
    }
    if let Some(placement) = &spec.schedule.hosts {
        let path = "schedule.hosts";
        let last = placement.hosts().iter().copied().max().unwrap_or(0);
        if let Some(hosts) = spec.fabric.hosts().filter(|&hosts| last >= hosts) {
            let label = format!("found host {last}, expected hosts from 0 to {}", hosts - 1);
            return Err(clash(path, "no such host", label));
        }
        if placement.hosts().len() < 2 {
            return Err(clash(path, "a schedule of one rank", "expected two hosts or more"));
        }
        if pes > 1 {
            let label = format!("found {pes} ranks on each host, expected one for it to be placed");
            return Err(clash(path, "places for several ranks of a host", label)
                .help("leave `hosts` out: the first ranks are on the first host, and so on"));
        }
        if spec.schedule.ranks.is_some() {
            let label = "there are as many as hosts in `schedule.hosts`";
            return Err(clash("schedule.ranks", "the number of ranks twice", label)
                .help("leave `ranks` out"));
        }
        if matches!(spec.work, Work::Goal(_)) {
            return Err(clash(path, "hosts for a GOAL file", "expected rank r on host r there")
                .help("leave `hosts` out"));
        }
    }
    let ranks = match &spec.schedule.hosts {
        Some(placement) => Some(placement.hosts().len() as u32),
        None => spec.schedule.ranks.or(places),
    };
    if let (Work::Pairs(_), Some(ranks)) = (&spec.work, ranks)
        && !ranks.is_multiple_of(2)
    {
        let label = format!("found {ranks} ranks, expected an even number");
        return Err(clash("work.pairs", "a rank without a partner", label)
            .help("set `schedule.ranks`, or `schedule.hosts`"));
    }
    if let (Work::Read(read), Some(ranks)) = (&spec.work, ranks)
        && read.from >= ranks
    {
        let label = format!("found rank {}, expected a rank from 0 to {}", read.from, ranks - 1);
        return Err(clash("work.read.from", "no such rank", label)
            .help("lower it, or raise `schedule.ranks`"));
    }
    if matches!(spec.work, Work::Goal(_)) {
        if spec.schedule.ranks.is_some() {
            let label = "the file says how many there are";
            return Err(clash("schedule.ranks", "a number of ranks for a GOAL file", label)
                .help("leave `ranks` out"));
        }
        if spec.schedule.compute != Time::ZERO {
            let label = "the file says what is computed";
            return Err(clash("schedule.compute", "a computation before a GOAL file", label)
                .help("leave `compute` out, and write `calc` in the file"));
        }
    }
    Ok(())
}

/// Processors, where there is something for them to do.
fn node(spec: &Spec) -> Result<(), Clash> {
    if spec.node.has_processors() && matches!(spec.work, Work::Traffic(_)) {
        let label = "open-loop traffic asks no processor";
        return Err(clash("node", "processors under open-loop traffic", label)
            .help("remove `node`, or replace `traffic` by `work`"));
    }
    if spec.node.overhead.is_some() && spec.node.commodity.is_some() {
        let label = "`node.commodity` says what packets take";
        return Err(
            clash("node.overhead", "two kinds of processors", label).help("remove one of them")
        );
    }
    if spec.node.eager.is_some() && spec.node.overhead.is_none() {
        let label = "expected `node.overhead` beside it";
        return Err(clash("node.eager", "a limit for processors that take no time", label)
            .help("set `node.overhead = {}` for processors that take none"));
    }
    Ok(())
}

/// What a NIC that cuts messages itself does not go with. Elsewhere than on wormhole networks there
/// are no such NICs.
fn elan(spec: &Spec) -> Result<(), Clash> {
    let Some(elan) = spec.node.elan.as_ref().filter(|_| spec.world == World::Wormhole) else {
        return Ok(());
    };
    let clash = |key: &str, problem: &str, help: &str| {
        let label = "`node.elan` is a NIC of its own";
        Err(clash(key, format!("Elans and {problem}"), label).help(help))
    };
    if spec.profile == Some(ProfileKind::Live) {
        let label = "found the profile `live`, whose channels acknowledge what Elans do, too";
        return Err(self::clash("node.elan", "Elans and the profile of real ranks", label)
            .help("set `profile = \"tports\"`, or `profile = \"liu\"`"));
    }
    if spec.bus != (Bus::Full {}) {
        return clash(
            "node.elan",
            "another bus",
            "set `bus.full = {}`: the bus of an Elan is `node.elan.pci`",
        );
    }
    if spec.nic.packet != Packet::Message || spec.nic.overhead.get() > 0 {
        let help =
            "leave `nic.packet` and `nic.overhead` out: packets of an Elan are `node.elan.packet`";
        return clash("nic", "packets that nodes cut", help);
    }
    if spec.nic.in_transit.is_some() {
        let help = "remove `nic.in-transit`, or take NICs without `node.elan`";
        return clash("nic.in-transit", "in-transit buffers", help);
    }
    if spec.node.commodity.is_some() {
        return clash("node.commodity", "nodes that handle each packet", "remove one of them");
    }
    if spec.channel != ChannelKind::default() {
        let help = "leave `channel` out: an Elan sends again what was garbled";
        return clash("channel", "a channel that acknowledges, too", help);
    }
    if elan.tports.is_some() && spec.message.is_none() {
        let label = "expected a profile beside it, whose envelopes have the tags";
        return Err(self::clash("node.elan.tports", "tagged ports without messages", label)
            .help("add `profile = \"tports\"`, or remove `tports`"));
    }
    let message = spec.message.as_ref().filter(|_| elan.tports.is_some());
    if let Some(message) = message.filter(|message| message.strict || message.fin) {
        let (key, what) = match message.fin {
            true => ("message.fin", "FINs, where events tell that data are in place"),
            false => ("message.strict", "an order of what is not matched"),
        };
        return Err(self::clash(
            key,
            "tagged ports with another protocol",
            format!("found {what}"),
        )
        .help("set `profile = \"tports\"`, which has neither"));
    }
    if elan.tports.is_some() && spec.node.overhead.is_some() {
        let help = "remove `node.overhead`: what matching takes is `node.elan.tports.match`";
        return clash("node.overhead", "processors that match messages, too", help);
    }
    if elan.packet.header.get() < 2 * spec.link.flit.get() {
        let label = "a packet has at least a flit and its End-Of-Packet token";
        return Err(self::clash("node.elan.packet.header", "a header of one flit", label)
            .help("lengthen it, or shorten `link.flit`"));
    }
    Ok(())
}

/// What goes with open-loop traffic only.
fn closed_loop(spec: &Spec) -> Result<(), Clash> {
    if spec.measure.saturation.is_some() {
        let title = "a search for saturation under work that waits for the network";
        return Err(clash("measure.saturation", title, "expected `traffic` beside it")
            .help("remove `measure.saturation`, or replace `work` by `traffic`"));
    }
    if spec.cluster.pes > 1 && spec.message.is_none() && spec.world != World::Live {
        let label = format!(
            "found {}, expected a `profile` beside it, by which ranks of one host reach each other",
            spec.cluster.pes
        );
        return Err(clash("cluster.pes", "several ranks on a host", label)
            .help("add `profile = \"live\"`, or leave `pes` out"));
    }
    if spec.cluster.pes > 1 && spec.world == World::Model {
        let label =
            format!("found {}, expected 1: the model gives every rank a node", spec.cluster.pes);
        return Err(clash("cluster.pes", "several ranks on a host of the model", label)
            .help("leave `pes` out, or choose another world"));
    }
    Ok(())
}

/// The protocol between ranks, where there are ranks.
fn message(spec: &Spec) -> Result<(), Clash> {
    let Some(message) = &spec.message else { return Ok(()) };
    if matches!(spec.work, Work::Traffic(_)) {
        let label = "open-loop traffic has no ranks that ask for messages";
        return Err(clash("message", "a protocol between ranks that there are not", label)
            .help("remove `message` and `profile`, or replace `traffic` by `work`"));
    }
    if spec.node.eager.is_some() {
        let label = "`message.eager` says it";
        return Err(
            clash("node.eager", "two limits for short messages", label).help("remove `node.eager`")
        );
    }
    if let Some(credit) = message.credit.filter(|&credit| credit < message.eager) {
        let label = format!("found {credit}, expected at least `message.eager`, {}", message.eager);
        return Err(clash("message.credit", "no room for a short message", label));
    }
    Ok(())
}

/// So many pairs of ranks from two on, all different.
fn ranks(spec: &Spec, path: &str, [from, to]: [u32; 2], pairs: u32) -> Result<(), Clash> {
    let ranks = spec.fabric.hosts().map(|hosts| spec.ranks(hosts));
    for (key, rank) in [("from", from), ("to", to)] {
        if let Some(ranks) = ranks.filter(|ranks| rank >= *ranks) {
            let label = format!("found {rank}, expected a rank from 0 to {}", ranks - 1);
            return Err(clash(format!("{path}.{key}"), "no such rank", label));
        }
        if let Some(ranks) = ranks.filter(|ranks| rank.saturating_add(pairs) > *ranks) {
            let label = format!(
                "found {pairs}, expected at most {}: there are {ranks} ranks",
                ranks - rank
            );
            return Err(clash(format!("{path}.pairs"), "more pairs than ranks", label));
        }
    }
    if from == to {
        let label = format!("found {to}, as in `from`, expected another rank");
        return Err(clash(format!("{path}.to"), "a rank that sends to itself", label));
    }
    if from.abs_diff(to) < pairs {
        let label = format!(
            "found {pairs}, expected at most {}: ranks from {from} and from {to} on are to be different",
            from.abs_diff(to)
        );
        return Err(clash(format!("{path}.pairs"), "a rank in two pairs", label));
    }
    Ok(())
}

fn load(traffic: &TrafficSpec, measure: &Measure) -> Result<(), Clash> {
    match (traffic.load, measure.saturation) {
        (Some(_), Some(_)) => {
            let title = "a load, although the saturation point is searched for";
            Err(clash("traffic.load", title, "expected no load here")
                .help("remove `traffic.load`, or remove `measure.saturation`"))
        }
        (None, None) => Err(clash("traffic", "missing key `load`", "`traffic` needs `load`").help(
            "set or sweep `traffic.load`, or add `[measure.saturation]` to search for the highest",
        )),
        _ => Ok(()),
    }
}

fn measure(measure: &Measure) -> Result<(), Clash> {
    let (min, max) = (measure.min_cycles, measure.max_cycles);
    if min > max {
        let label = format!("found {min}, expected at most max-cycles = {max}");
        return Err(clash("measure.min-cycles", "min-cycles is above max-cycles", label));
    }
    Ok(())
}
