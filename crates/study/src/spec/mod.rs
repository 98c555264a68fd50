//! One point of a study, fully typed and with every default filled in.

mod check;
mod elan;
mod event;
mod frame;
pub(crate) mod limits;
mod live;
mod machine;
mod measure;
mod message;
mod model;
mod node;
mod placement;
mod profile;
mod rails;
pub(crate) mod uses;
mod work;
mod world;

use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};
use toml::de::DeTable;

pub use crosstie_collective::Operation;
pub use crosstie_protocol::{ChannelKind, Flow, PolicyKind, ProfileKind};
pub use crosstie_routing::RoutingKind;
pub use crosstie_units::Capacity;
pub use crosstie_work::traffic::{Arrival, Destination, Size, TrafficSpec};
pub use elan::{Elan, ElanMemory, ElanPacket, ElanPci, ElanTlb, ElanTports};
pub use event::{Competitor, LinkEvent};
pub use frame::{Circuit, Forwarding, Frame, FrameSwitch, HandOver, Memory, Uplink};
pub use live::Live;
pub use machine::{
    Bus, Cluster, Fabric, InTransit, Irregular, Link, Nic, Packet, Patience, Switch, Tree,
};
pub use measure::{Goal, Measure, Saturation};
pub use message::Message;
pub use model::Model;
pub use node::{Commodity, EvenBus, Node, NodeBus, Overhead};
pub use placement::Placement;
pub use rails::{Rail, Rails};
pub use work::{GoalFile, Pairs, Ping, Read, ScheduleSpec, Stream, Work};
pub use world::{Ideal, World};

use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};
use crate::earlier::EarlierNames;
use crate::kind::WorkKind;

/// Everything that decides the result of one point.
///
/// A spec that was read is sound: its numbers are in range and its parts fit together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "Draft")]
pub struct Spec {
    /// The number from which all randomness of the point follows.
    pub seed: Seed,
    /// Where the work is done.
    pub world: World,
    /// The profile by which ranks exchange messages; `None`: a message is handed to its node as it
    /// is.
    pub profile: Option<ProfileKind>,
    /// The nodes as a whole.
    pub cluster: Cluster,
    /// How the nodes share their rails.
    pub policy: PolicyKind,
    /// What sends again what a rail loses.
    pub channel: ChannelKind,
    /// The network of one rail.
    pub fabric: Fabric,
    /// How packets find their way through it.
    pub routing: RoutingKind,
    /// The switches.
    pub switch: Switch,
    /// The links.
    pub link: Link,
    /// The I/O bus of each NIC.
    pub bus: Bus,
    /// The NICs.
    pub nic: Nic,
    /// The processors, and the I/O buses of other networks than the wormhole one.
    pub node: Node,
    /// What of the profile is as files say it; with a profile only.
    pub message: Option<Message>,
    /// What happens to links.
    pub events: Vec<LinkEvent>,
    /// Who else uses them.
    pub competitors: Vec<Competitor>,
    /// What only the frame network knows.
    pub frame: Frame,
    /// What only the ideal network knows.
    pub ideal: Ideal,
    /// What only the model knows.
    pub model: Option<Model>,
    /// What only real ranks know.
    pub live: Live,
    /// What is to be done.
    pub work: Work,
    /// How schedules are played.
    pub schedule: ScheduleSpec,
    /// What is measured, and how exactly.
    pub measure: Measure,
}

/// A spec as written, where a missing part may depend on another part. What came later than results
/// that should still be known is left out of the text where it is the default.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Draft {
    #[serde(deserialize_with = "range::seed")]
    seed: Seed,
    #[serde(default, skip_serializing_if = "World::is_default")]
    world: World,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileKind>,
    #[serde(default)]
    cluster: Cluster,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<PolicyKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<ChannelKind>,
    fabric: Fabric,
    routing: Option<RoutingKind>,
    #[serde(default)]
    switch: Switch,
    #[serde(default)]
    link: Link,
    #[serde(default)]
    bus: Bus,
    #[serde(default)]
    nic: Nic,
    #[serde(default, skip_serializing_if = "Node::is_default")]
    node: Node,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    #[serde(
        default,
        rename = "event",
        deserialize_with = "range::tables",
        skip_serializing_if = "Vec::is_empty"
    )]
    events: Vec<LinkEvent>,
    #[serde(
        default,
        rename = "competitor",
        deserialize_with = "range::tables",
        skip_serializing_if = "Vec::is_empty"
    )]
    competitors: Vec<Competitor>,
    #[serde(default, skip_serializing_if = "Frame::is_default")]
    frame: Frame,
    #[serde(default, skip_serializing_if = "Ideal::is_default")]
    ideal: Ideal,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Model>,
    #[serde(default, skip_serializing_if = "Live::is_default")]
    live: Live,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<TrafficSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<Work>,
    #[serde(default, skip_serializing_if = "ScheduleSpec::is_default")]
    schedule: ScheduleSpec,
    #[serde(default)]
    measure: Measure,
}

impl Draft {
    /// The spec; `root` is what was read, for the place of a mistake.
    fn complete(self, root: &DeTable<'_>) -> Result<Spec, Fault> {
        let usual = || RoutingKind::usual(self.fabric.shape());
        let routing = self.routing.unwrap_or_else(usual).seeded(self.seed);
        let work = match (self.traffic, self.work) {
            (Some(traffic), None) => Work::Traffic(traffic),
            (None, Some(work)) => work,
            (Some(_), Some(_)) => {
                let key = |name| document::place(root, name).map_or(0..0, |(key, _)| key);
                let title = "both `traffic` and `work`, where there can be one";
                return Err(Fault::new(title, "a second thing to do")
                    .at(key("work"))
                    .with_context(key("traffic"), "open-loop traffic is the first"));
            }
            (None, None) => {
                let label = "an experiment needs `traffic` or `work`";
                return Err(Fault::new("nothing to do", label).at(0..0).with_help(
                    "add `[traffic]`, which hosts send on their own, or `work`, such as \
                     `work.ping.size = \"1 KiB\"`",
                ));
            }
        };
        let mut measure = self.measure;
        if work.kind() != WorkKind::Traffic && !document::has(root, "measure.max-cycles") {
            measure.max_cycles = Measure::CLOSED_LOOP_LIMIT;
        }
        let written =
            profile::Written { message: self.message, channel: self.channel, nic: self.nic };
        // Real ranks have nothing else.
        let exchanges = written.message.is_some()
            || self.world == World::Live && work.kind() != WorkKind::Traffic;
        let profile = self.profile.or_else(|| exchanges.then(ProfileKind::default));
        let profile::Settings { message, channel, nic } = written.complete(profile, root);
        Ok(Spec {
            seed: self.seed,
            world: self.world,
            profile,
            cluster: self.cluster,
            policy: self.policy.unwrap_or_else(|| usual_policy(profile)),
            channel,
            fabric: self.fabric,
            routing,
            switch: self.switch,
            link: self.link,
            bus: self.bus,
            nic,
            node: self.node,
            message,
            events: self.events,
            competitors: self.competitors,
            frame: self.frame,
            ideal: self.ideal,
            model: self.model,
            live: self.live,
            work,
            schedule: self.schedule,
            measure,
        })
    }
}

/// The policy that nobody has to name: ranks that exchange messages have the one that does best.
fn usual_policy(profile: Option<ProfileKind>) -> PolicyKind {
    profile.map_or_else(PolicyKind::default, |_| PolicyKind::recommended())
}

/// The channel where none is named.
fn usual_channel(profile: Option<ProfileKind>) -> ChannelKind {
    profile.map_or_else(ChannelKind::default, ProfileKind::channel)
}

impl From<Spec> for Draft {
    fn from(spec: Spec) -> Draft {
        let (traffic, work) = match spec.work {
            Work::Traffic(traffic) => (Some(traffic), None),
            work => (None, Some(work)),
        };
        Draft {
            seed: spec.seed,
            world: spec.world,
            profile: spec.profile,
            cluster: spec.cluster,
            policy: Some(spec.policy).filter(|&kind| kind != usual_policy(spec.profile)),
            channel: Some(spec.channel).filter(|&kind| kind != usual_channel(spec.profile)),
            fabric: spec.fabric,
            routing: Some(spec.routing),
            switch: spec.switch,
            link: spec.link,
            bus: spec.bus,
            nic: spec.nic,
            node: spec.node,
            message: spec.message,
            events: spec.events,
            competitors: spec.competitors,
            frame: spec.frame,
            ideal: spec.ideal,
            model: spec.model,
            live: spec.live,
            traffic,
            work,
            schedule: spec.schedule,
            measure: spec.measure,
        }
    }
}

impl Spec {
    /// How many ranks so many hosts have.
    pub fn ranks(&self, hosts: u32) -> u32 {
        hosts.saturating_mul(self.cluster.pes)
    }

    /// What to say of an algorithm whose packets take turns where a packet is a whole message.
    pub fn takes_whole_turns(&self) -> Option<String> {
        let Work::Collective(operation) = &self.work else { return None };
        let Operation::AllToAll { algorithm, .. } = operation else { return None };
        let is_whole = match self.world {
            World::Wormhole | World::Ideal => self.nic.packet == Packet::Message,
            // Packets that fit in frames.
            World::Frame | World::Model | World::Live => false,
        };
        let why = match self.world == World::Wormhole && self.node.elan.is_some() {
            true => "an Elan is handed whole messages",
            false => "a packet is a whole message, as `nic.packet` says",
        };
        (algorithm.takes_turns() && is_whole)
            .then(|| format!("packets of {} take no turns: {why}", operation.algorithm().name))
    }

    /// The top-level keys of a spec.
    pub(crate) const KEYS: [&'static str; 24] = [
        "seed",
        "world",
        "profile",
        "cluster",
        "policy",
        "channel",
        "fabric",
        "routing",
        "switch",
        "link",
        "bus",
        "nic",
        "node",
        "message",
        "event",
        "competitor",
        "frame",
        "ideal",
        "model",
        "live",
        "traffic",
        "work",
        "schedule",
        "measure",
    ];

    /// Reads the text made by [`Spec::to_toml`]; `name` stands for the file in error messages.
    pub fn from_toml(name: &str, text: &str) -> Result<Spec, Diagnostic> {
        let read = |mut root: DeTable<'_>| {
            let names = EarlierNames::settle(&mut root)?;
            let spec = Spec::decode(&root).map_err(|fault| names.tell(fault))?;
            spec.check(&root)?;
            Ok(spec)
        };
        document::parse(text).and_then(read).map_err(|fault| Diagnostic::in_text(name, text, fault))
    }

    /// Reads the spec of one point; each value alone is sound.
    pub(crate) fn decode(root: &DeTable<'_>) -> Result<Spec, Fault> {
        document::decode_table::<Draft>(root)?.complete(root)
    }

    /// Checks that the values fit together; `root` is what the spec was read from.
    pub(crate) fn check(&self, root: &DeTable<'_>) -> Result<(), Fault> {
        check::check(self, root)
    }

    /// The whole spec as text, every default spelled out. Equal specs give equal texts, and reading
    /// the text gives an equal spec.
    ///
    /// # Panics
    /// If a number is above `i64::MAX`, which TOML cannot hold and no file can contain.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a spec has text keys and numbers that TOML can hold")
    }

    /// Whether a key of a spec names a file.
    pub(crate) fn names_a_file(key: &str) -> bool {
        key == "fabric.file.path"
            || key == "model.file.path"
            || key == "work.goal.file"
            || key == "live.box"
            || key.strip_prefix("traffic.destination.").is_some_and(Destination::names_a_file)
    }

    /// Returns true if its NICs match the messages of ranks.
    pub fn has_ports(&self) -> bool {
        let elan = self.node.elan.as_ref().filter(|_| self.world == World::Wormhole);
        self.message.is_some() && elan.is_some_and(|elan| elan.tports.is_some())
    }

    /// Returns true if its NICs serve reads of other ranks.
    pub fn serves_gets(&self) -> bool {
        self.world == World::Wormhole && self.node.elan.is_some()
    }

    /// What is missing for a rank to send to several others at once, if anything is.
    pub fn lacks_to_cast(&self) -> Option<&'static str> {
        use RoutingKind::{Auto, TreeAdaptive, TreeDeterministic};
        let climbs = matches!(self.routing, Auto(_) | TreeAdaptive {} | TreeDeterministic {});
        let follow = |placement: &Placement| {
            placement.hosts().windows(2).all(|hosts| hosts[1] == hosts[0].wrapping_add(1))
        };
        if !self.serves_gets() {
            return Some("`node.elan` in the world `wormhole`");
        }
        if !matches!(self.fabric, Fabric::Tree(_)) || !climbs {
            return Some("`fabric.tree` with a tree routing, which knows ways to ranges of hosts");
        }
        if self.message.is_some() || self.cluster.pes > 1 {
            return Some("one rank to a host, without `message`");
        }
        if self.node.overhead.is_some() {
            return Some("processors without `node.overhead`, which prices messages to one rank");
        }
        if !self.schedule.hosts.as_ref().is_none_or(follow) {
            return Some("ranks on hosts whose numbers follow each other (`schedule.hosts`)");
        }
        None
    }

    /// The same spec with other names for its files.
    pub(crate) fn renamed(&self, name: &dyn Fn(&str) -> String) -> Spec {
        let mut spec = self.clone();
        if let Fabric::File { path } = &mut spec.fabric {
            *path = name(path);
        }
        if let Some(Model::File { path }) = &mut spec.model {
            *path = name(path);
        }
        if let Some(path) = &mut spec.live.boxed {
            *path = name(path);
        }
        match &mut spec.work {
            Work::Traffic(traffic) => traffic.destination.rename_files(name),
            Work::Goal(GoalFile { file }) => *file = name(file),
            Work::Ping(_)
            | Work::Stream(_)
            | Work::Pairs(_)
            | Work::Read(_)
            | Work::Collective(_) => {}
        }
        spec
    }

    /// The files the spec refers to, as written, each with the key that names it.
    pub(crate) fn files(&self) -> Vec<(String, &str)> {
        let mut files = Vec::new();
        if let Fabric::File { path } = &self.fabric {
            files.push(("fabric.file.path".to_owned(), path.as_str()));
        }
        if let Some(Model::File { path }) = &self.model {
            files.push(("model.file.path".to_owned(), path.as_str()));
        }
        if let Some(path) = &self.live.boxed {
            files.push(("live.box".to_owned(), path.as_str()));
        }
        match &self.work {
            Work::Traffic(traffic) => {
                let named = traffic.destination.files().into_iter();
                files.extend(named.map(|(key, file)| (format!("traffic.destination.{key}"), file)));
            }
            Work::Goal(GoalFile { file }) => files.push(("work.goal.file".to_owned(), file)),
            Work::Ping(_)
            | Work::Stream(_)
            | Work::Pairs(_)
            | Work::Read(_)
            | Work::Collective(_) => {}
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use crosstie_routing::kind::{Auto, BalancedItb, Smart, UpDown};
    use crosstie_routing::{Pick, Root};
    use crosstie_units::{Bytes, Time};

    use super::*;
    use crosstie_protocol::StripingRatio;

    const LEAST: &str = "
        seed = 7
        fabric.tree = {k = 4, n = 3}
        traffic.load = 0.3
        traffic.size.fixed.size = '64 B'
    ";

    #[test]
    fn defaults_are_those_of_the_reference() {
        let spec = Spec::from_toml("least", LEAST).unwrap();
        assert_eq!(
            spec.to_toml(),
            r#"seed = 7

[cluster]
rails = 1
pes = 1
blocking = true

[fabric.tree]
k = 4
n = 3
hosts = 64

[routing.tree-adaptive]

[switch]
virtual-channels = 2
buffer = 128
routing-delay = 6

[link]
flit = "2 B"
rate = "400 MB/s"
wire = "15 ns"

[bus.half]

[nic]
packet = "message"
overhead = "0 B"
control = "48 B"
response = 300
transfers = 1

[traffic]
load = 0.3

[traffic.arrival.exponential]

[traffic.size.fixed]
size = "64 B"

[traffic.destination.uniform]

[measure]
precision = 0.02
confidence = 0.95
min-cycles = 20000
max-cycles = 2000000
channels = true
"#
        );
    }

    #[test]
    fn the_default_routing_follows_the_fabric() {
        let single = LEAST.replace("fabric.tree = {k = 4, n = 3}", "fabric.single.hosts = 8");
        let spec = Spec::from_toml("single", &single).unwrap();
        assert_eq!(spec.routing, RoutingKind::Shortest {});
        let file = LEAST.replace("fabric.tree = {k = 4, n = 3}", "fabric.file.path = 'a.edges'");
        let spec = Spec::from_toml("file", &file).unwrap();
        assert_eq!(spec.routing, RoutingKind::Auto(Auto { seed: Some(spec.seed) }));
    }

    #[test]
    fn every_choice_survives_being_written_and_read() {
        let mixture = "mixture.parts = [{share = 0.25, destination.local.distance = 1}, \
                       {share = 0.75, destination.hot-spot = {host = 3, share = 0.5}}]";
        for (key, value) in [
            ("fabric", "file.path = 'net.anynet'"),
            ("fabric", "tree = {k = 4, n = 4, hosts = 128}"),
            (
                "fabric",
                "irregular = {switches = 16, ports = 8, hosts-per-switch = 4, links = 27, seed = 7}",
            ),
            ("fabric", "irregular = {switches = 16, ports = 8, hosts-per-switch = 4, seed = 7}"),
            ("routing", "auto = {}"),
            ("routing", "tree-deterministic = {}"),
            ("routing", "shortest = {}"),
            ("routing", "minimal.pick = 'balanced'"),
            ("routing", "up-down = {}"),
            ("routing", "up-down = {root = 3, pick = 'balanced', seed = 9}"),
            ("routing", "dfs = {root = 'remote', pick = 'destination'}"),
            ("routing", "smart.moves = 50"),
            ("routing", "up-down-mitb.root = 'fewest-restrictions'"),
            ("routing", "up-down-itb = {}"),
            ("routing", "dfs-itb.choice = 'compliant-first'"),
            ("routing", "balanced-itb.seed = 4"),
            ("bus", "asymmetric = {read = '200 MB/s', write = '275 MB/s'}"),
            ("bus", "full = {}"),
            ("policy", "round-robin = {}"),
            ("policy", "basic = {}"),
            ("policy", "local-dynamic = {}"),
            ("policy", "local-dynamic.striping = 0.5"),
            ("policy", "dynamic.timeout = '20 us'"),
            ("scheme", "hybrid = {striping = 0, timeout = '1 ms', threshold = '1 KiB'}"),
            ("world", "wormhole = {}"),
            ("world", "ideal = {}"),
            ("cluster", "rails = 3"),
            ("cluster", "rails = [{}, {}]"),
            (
                "world = 'ideal'\ncluster",
                "rails = [{rate = '1 GB/s', bus = 0}, {rate = '250 MB/s', bus = 0}, {port = 3, bus = 1}]",
            ),
            ("world = 'ideal'\nnode.bus", "half = {}"),
            ("world = 'ideal'\nnode.bus", "full = {rate = '1 GB/s', overhead = '1 us'}"),
            (
                "world = 'frame'\nnode.bus",
                "asymmetric = {read = '884 MB/s', write = '1008 MB/s', overhead = '10 ns'}",
            ),
            ("ideal", "rate = '1 GB/s', latency = '0 ns'"),
            ("ideal", "gap = '1 us'"),
            ("work", "ping.size = '8 B'"),
            ("work", "ping = {size = '8 B', from = 63, to = 0, iterations = 1000000}"),
            ("work", "stream.size = '1 GiB'"),
            ("work", "stream = {size = '1 B', to = 5, window = 1, both-ways = true}"),
            ("nic", "packet = '320 B', overhead = '12 B'"),
            ("nic", "control = '64 B', response = 200, transfers = 2"),
            ("channel = 'go-back-n'\nnic", "patience.least = '2 ms'"),
            ("switch", "flow = 'credits', consumes-headers = false"),
            ("switch", "flow.stop-and-go = {stop = 56, go = 40}, consumes-headers = true"),
            ("link", "flit = '8 B', rate = '10 Gbit/s', wire = '49.2 ns'"),
            ("traffic.arrival", "bernoulli = {}"),
            ("traffic.arrival", "constant = {}"),
            ("traffic.size", "exponential.mean = '64 KiB'"),
            ("traffic.size", "bimodal = {small = '64 B', large = '4 KiB', small-share = 0.9}"),
            ("traffic.destination", mixture),
            ("traffic.destination", "local = {distance = 5, along.up-down.root = 0}"),
            ("traffic.destination", "permutation.file = 'perm.txt'"),
            ("traffic.destination", "transpose = {}"),
            ("measure", "saturation.precision = 0.01"),
        ] {
            let load = if ["measure", "work"].contains(&key) { "" } else { "traffic.load = 0.3\n" };
            let sized = ["traffic.size", "work"].contains(&key);
            let size = if sized { "" } else { "traffic.size.fixed.size = '64 B'\n" };
            let tree = if key == "fabric" { "" } else { "fabric.tree = {k = 4, n = 3}\n" };
            let stops = value.contains("itb");
            let nics = if stops { "nic.in-transit = {}\nbus = 'full'\n" } else { "" };
            let text = format!("seed = 1\n{load}{size}{tree}{nics}{key} = {{{value}}}\n");
            let spec = Spec::from_toml("first", &text).unwrap_or_else(|e| panic!("{e}"));
            let again =
                Spec::from_toml("second", &spec.to_toml()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(spec, again);
            assert_eq!(spec.to_toml(), again.to_toml());
        }
    }

    #[test]
    fn events_and_competitors_survive_being_written_and_read() {
        let text = format!(
            "{LEAST}\nworld = 'ideal'\ncluster.rails = 2\n\
             [[event]]\nat = '2 ms'\nrail = 1\nrate = '100 MB/s'\n\
             [[event]]\nat = '3 ms'\nrail = 0\nhosts = '0, 4-7'\ndown = true\nfor = '1 ms'\n\
             every = '10 ms'\ntimes = 5\nrandom = true\n\
             [[event]]\nat = '0 ns'\nrail = 1\nup = true\n\
             [[competitor]]\nrail = 1\nfrom = 0\nto = 3\nsize = '64 KiB'\nend = '1 s'\n\
             [[competitor]]\nrail = 0\nfrom = 1\nto = 3\nsize = '1 B'\nbegin = '1 us'\nend = '1 s'\nwindow = 4"
        );
        let spec = Spec::from_toml("first", &text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((spec.events.len(), spec.competitors.len()), (3, 2));
        let again = Spec::from_toml("again", &spec.to_toml()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(spec, again);
        assert_eq!(spec.to_toml(), again.to_toml());
    }

    #[test]
    fn in_transit_nics_have_defaults() {
        let nics = |text: &str| {
            let text = format!("{LEAST}\nbus = 'full'\nnic.in-transit = {text}");
            let spec = Spec::from_toml("nics", &text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(Spec::from_toml("again", &spec.to_toml()).unwrap(), spec);
            spec.nic.in_transit.expect("in-transit NICs")
        };
        assert_eq!(nics("{}"), InTransit::default());
        let slow = InTransit { setup: Time::from_ns(900), ..InTransit::default() };
        assert_eq!(nics("{setup = '900 ns'}"), slow);
        assert_eq!(Spec::from_toml("least", LEAST).unwrap().nic.in_transit, None);
    }

    #[test]
    fn work_has_defaults() {
        let work = |text: &str| {
            let text = format!("seed = 7\nfabric.single.hosts = 2\nwork = {text}");
            Spec::from_toml("work", &text).unwrap_or_else(|e| panic!("{e}")).work
        };
        let size = Bytes::new(1024);
        assert_eq!(
            work("{ping.size = '1 KiB'}"),
            Work::Ping(Ping { size, from: 0, to: 1, iterations: 100 })
        );
        let limit = |text: &str| {
            let text = format!("seed = 7\nfabric.single.hosts = 2\nwork.ping.size = '1 B'\n{text}");
            let spec = Spec::from_toml("limit", &text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(Spec::from_toml("again", &spec.to_toml()).unwrap(), spec);
            spec.measure.max_cycles
        };
        assert_eq!(limit(""), Measure::CLOSED_LOOP_LIMIT);
        assert_eq!(limit("measure.channels = false"), Measure::CLOSED_LOOP_LIMIT);
        assert_eq!(limit("measure.max-cycles = 5_000_000"), 5_000_000);
        let (from, to, window, both_ways, iterations) = (0, 1, 64, false, 50);
        assert_eq!(
            work("{stream.size = '1 KiB'}"),
            Work::Stream(Stream {
                size,
                from,
                to,
                window,
                both_ways,
                pairs: 1,
                crossed: false,
                iterations
            })
        );
    }

    #[test]
    fn the_ideal_network_is_as_fast_as_a_link_unless_told_otherwise() {
        let spec = |text: &str| Spec::from_toml("ideal", &format!("{LEAST}\n{text}")).unwrap();
        let Spec { ideal, link, world, .. } = spec("link = {rate = '1 GB/s', wire = '7 ns'}");
        assert_eq!((ideal.rate(&link), ideal.latency(&link)), (link.rate, link.wire));
        assert_eq!((ideal.own_gap(), world), (None, World::Wormhole));
        let Spec { ideal, link, .. } =
            spec("ideal = {rate = '2 GB/s', latency = '1 us', gap = '2 ns'}");
        assert_eq!(ideal.rate(&link).to_string(), "2 GB/s");
        assert_eq!(
            (ideal.latency(&link), ideal.own_gap()),
            (Time::from_ns(1000), Some(Time::from_ns(2)))
        );
        assert_eq!(spec("world = 'ideal'").world, World::Ideal);
    }

    #[test]
    fn what_came_later_leaves_the_text_of_earlier_specs_alone() {
        let least = Spec::from_toml("least", LEAST).unwrap().to_toml();
        let said = "\nworld = 'wormhole'\npolicy = 'round-robin'\nideal = {}";
        assert_eq!(Spec::from_toml("said", &format!("{LEAST}{said}")).unwrap().to_toml(), least);
    }

    #[test]
    fn policies_have_defaults() {
        let policy = |text: &str| {
            let text = format!("{LEAST}\ncluster.pes = 4\npolicy = {text}");
            Spec::from_toml("policy", &text).unwrap_or_else(|e| panic!("{e}")).policy
        };
        let (striping, threshold) = (StripingRatio::ALL, Bytes::new(4096));
        let long = [
            ("basic", PolicyKind::Basic {}),
            ("local-dynamic", PolicyKind::LocalDynamic { striping }),
            ("dynamic", PolicyKind::Dynamic { striping, timeout: None }),
            ("hybrid", PolicyKind::Hybrid { striping, timeout: None, threshold }),
        ];
        for (name, long) in long {
            assert_eq!(policy(&format!("'{name}'")), long);
            assert_eq!(policy(&format!("{{{name} = {{}}}}")), long);
        }
        assert_eq!(
            policy("{dynamic = {striping = 0, timeout = '20 us'}}"),
            PolicyKind::Dynamic {
                striping: StripingRatio::ONE,
                timeout: Some(Time::from_ns(20_000))
            }
        );
        assert_eq!(Spec::from_toml("least", LEAST).unwrap().policy, PolicyKind::RoundRobin {});
    }

    #[test]
    fn routings_draw_from_the_seed_of_the_experiment_or_from_their_own() {
        let routing = |text: &str| {
            let text = format!("{LEAST}\nbus = 'full'\nnic.in-transit = {{}}\nrouting = {text}");
            Spec::from_toml("routing", &text).unwrap_or_else(|e| panic!("{e}")).routing
        };
        let (root, pick, seed) = (Root::Central, Pick::Random, Some(Seed(7)));
        assert_eq!(routing("'up-down'"), RoutingKind::UpDown(UpDown { root, pick, seed }));
        let own = BalancedItb { seed: Some(Seed(8)) };
        assert_eq!(routing("{balanced-itb.seed = 8}"), RoutingKind::BalancedItb(own));
        assert_eq!(routing("{smart = {}}"), RoutingKind::Smart(Smart { moves: 2000, seed }));
    }

    #[test]
    fn static_allocation_is_for_as_many_hosts_as_the_rails_can_join() {
        let six = LEAST.replace("fabric.tree = {k = 4, n = 3}", "fabric.single.hosts = 6");
        let spec = |text: &str, rails: u32| {
            Spec::from_toml("six", &format!("{text}\npolicy = 'static'\ncluster.rails = {rails}"))
        };
        assert_eq!(spec(&six, 4).unwrap().policy, PolicyKind::Static {});
        assert!(spec(&six, 3).is_err());
        // Only its file can tell how many hosts a network has.
        let file = LEAST.replace("tree = {k = 4, n = 3}", "file.path = 'net.anynet'");
        assert!(spec(&file, 1).is_ok());
    }

    #[test]
    fn a_choice_without_keys_may_be_its_name_alone() {
        let short = Spec::from_toml("short", &format!("{LEAST}\nbus = 'full'")).unwrap();
        let long = Spec::from_toml("long", &format!("{LEAST}\nbus.full = {{}}")).unwrap();
        assert_eq!(short, long);
    }
}
