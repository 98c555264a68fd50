//! What holds of every row, whatever the experiment.
//!
//! A new invariant is a function and its line in [`INVARIANTS`].

use crosstie_lab::RoutedFabric;
use crosstie_routing::{Certificate, Need, Promise, Route, certify};
use crosstie_study::{
    Bus, ChannelKind, ChannelRow, Destination, Goal, InTransit, Node, Packet, ProfileKind, Row,
    Size, Spec, Status, TrafficSpec, Work, World, column,
};
use crosstie_units::{Bytes, Time};

/// A row and everything that it came from.
pub struct Observed<'a> {
    pub spec: &'a Spec,
    pub network: &'a RoutedFabric,
    pub row: &'a Row,
    /// The counters of its channels, as stored.
    pub channels: &'a [ChannelRow],
}

/// What is wrong with a row, if anything.
pub type Finding = Result<(), String>;

/// Looks at a row.
pub type Invariant = fn(&Observed<'_>) -> Finding;

/// The invariants of a point, by its world and its work.
pub fn invariants(spec: &Spec) -> Vec<&'static (&'static str, Invariant)> {
    match (&spec.work, spec.world) {
        // Puts have steps of their own, and packets that no node knows of.
        (Work::Traffic(_), World::Wormhole) if spec.node.elan.is_some() => {
            INVARIANTS.iter().collect()
        }
        (Work::Traffic(_), World::Wormhole) => INVARIANTS.iter().chain(WORMHOLE).collect(),
        (Work::Traffic(_), World::Frame) => INVARIANTS.iter().chain(FRAME).collect(),
        (Work::Traffic(_), World::Ideal) => INVARIANTS.iter().chain(IDEAL).collect(),
        (Work::Traffic(_), World::Model) => unreachable!("the model has no open-loop traffic"),
        (Work::Traffic(_), World::Live) => unreachable!("real ranks have no open-loop traffic"),
        _ => CLOSED_LOOP.iter().collect(),
    }
}

/// What holds of open-loop traffic in every world.
const INVARIANTS: &[(&str, Invariant)] = &[
    ("columns are those of the status", columns),
    ("every number is in its range", ranges),
    ("quantiles are in order", quantiles),
    ("means are as exact as converged rows claim", precision),
    ("the run was as long as asked", length),
    ("saturation lies in its interval", saturation),
];

/// What holds of the wormhole network.
const WORMHOLE: &[(&str, Invariant)] = &[
    ("no more is accepted than offered or possible", accepted),
    ("no packet is faster than alone in the network", latency),
    ("routes are as long as they are", hops),
    ("deadlock only where no certificate rules it out", deadlock),
    ("channels share their time", channels),
];

/// What holds of the frame network.
const FRAME: &[(&str, Invariant)] = &[("routes are as long as they are", hops)];

/// What holds of the ideal network.
const IDEAL: &[(&str, Invariant)] = &[("no packet is faster than its wires", wires)];

/// What holds of ping and stream in every world.
const CLOSED_LOOP: &[(&str, Invariant)] = &[
    ("every number is in its range", ranges),
    ("closed-loop work ends, and says what it took", completed),
    ("a ping takes what the wires of the ideal network take", ideal_ping),
    ("what is lost is sent again", deliveries),
];

/// Fails with a message unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        let holds: bool = $condition;
        if !holds {
            return Err(format!($($message)*));
        }
    };
}
pub(crate) use ensure;

/// A share of rounding that no comparison of floats minds.
const ROUNDING: f64 = 1e-9;

impl Observed<'_> {
    fn get(&self, name: &str) -> Option<f64> {
        debug_assert!(column(name).is_some(), "{name}");
        self.row.measured(name)
    }

    fn traffic(&self) -> &TrafficSpec {
        let Work::Traffic(traffic) = &self.spec.work else { panic!("no traffic") };
        traffic
    }

    fn searched(&self) -> bool {
        matches!(self.spec.measure.goal(self.traffic()), Goal::Saturation(_))
    }

    fn flits(&self, bytes: u64) -> f64 {
        self.spec.link.flits(Bytes::new(bytes + self.spec.nic.overhead.get())) as f64
    }

    /// Bytes of the smallest message, and of one so large that none is expected to be larger.
    fn sizes(&self) -> (u64, u64) {
        match self.traffic().size {
            Size::Fixed { size } => (size.get(), size.get()),
            Size::Exponential { mean } => (1, 30 * mean.get()),
            Size::Bimodal { small, large, .. } => (small.get(), large.get()),
        }
    }

    fn in_turn(&self) -> bool {
        self.spec.policy == crosstie_study::PolicyKind::default()
    }

    /// Stripes that a message may be cut into.
    fn stripes(&self) -> u64 {
        if self.in_turn() { 1 } else { u64::from(self.spec.cluster.rails.count()) }
    }

    /// Bytes that the smallest packet carries.
    fn smallest_packet(&self) -> u64 {
        let (smallest, largest) = self.sizes();
        let cut = match self.spec.nic.packet {
            Packet::Message => false,
            Packet::Payload(payload) => payload.get() < largest,
        };
        if cut || self.stripes() > 1 { 1 } else { smallest }
    }

    /// The most flits of a message, overhead of all its packets included.
    fn longest_message(&self) -> f64 {
        let (_, largest) = self.sizes();
        let packets = match self.spec.nic.packet {
            Packet::Message => 1,
            Packet::Payload(payload) => largest.div_ceil(payload.get()),
        };
        let packets = (packets + self.stripes()) as f64;
        self.flits(largest) + packets * self.flits(1)
    }

    /// Cycles in which a flit crosses the bus, from memory and to it; `None` where it has no bus to
    /// share.
    fn bus(&self) -> Option<(f64, f64)> {
        let link = self.spec.link.rate.bytes_per_second() as f64;
        match self.spec.bus {
            Bus::Full {} => None,
            Bus::Half {} => Some((1.0, 1.0)),
            Bus::Asymmetric { read, write } => {
                let cycles = |rate: u64| (link / rate as f64).max(1.0);
                Some((cycles(read.bytes_per_second()), cycles(write.bytes_per_second())))
            }
        }
    }

    /// The latency of a lone packet of so many flits over so many switches, as `docs/simulator.md`
    /// derives it, without what stops cost.
    fn alone(&self, switches: f64, flits: f64) -> f64 {
        let channel = 1.0 + self.spec.link.wire_cycles() as f64;
        let routing = switches * f64::from(self.spec.switch.routing_delay);
        let way = (switches + 1.0) * channel;
        match self.bus() {
            None => way + routing + flits - 1.0,
            Some((read, write)) => {
                let body = ((flits - 1.0) * read).max(routing + (flits - 1.0) * write);
                // The engine keeps bus rates to within a thirty-second of a cycle.
                let rounded = 1.0 - 1.0 / 32.0;
                (read + body + write) * if self.is_whole() { 1.0 } else { rounded } + way
            }
        }
    }

    /// Whether bus rates are whole numbers of cycles.
    fn is_whole(&self) -> bool {
        self.bus().is_none_or(|(read, write)| read.fract() == 0.0 && write.fract() == 0.0)
    }

    /// The fewest and the most switches on a route between two hosts.
    fn crossings(&self) -> (usize, usize) {
        let RoutedFabric { fabric, routing, .. } = self.network;
        let mut route = Route::default();
        let (mut fewest, mut most) = (usize::MAX, 0);
        for from in fabric.hosts() {
            for to in fabric.hosts().filter(|&to| to != from) {
                routing.route(from, to, &mut route);
                fewest = fewest.min(route.tags().len());
                most = most.max(route.tags().len());
            }
        }
        (fewest, most)
    }
}

/// Which columns a row has follows from its status, its goal and its network.
fn columns(seen: &Observed<'_>) -> Finding {
    let Observed { spec, network, row, .. } = seen;
    if row.status == Status::Deadlocked {
        ensure!(
            row.measured.len() == 1 && seen.get("offered").is_some(),
            "of a deadlocked network"
        );
        return Ok(());
    }
    let fabric = &network.fabric;
    // The ideal network has no channels, no routes and no pools.
    let wormhole = spec.world == World::Wormhole;
    let real = wormhole || spec.world == World::Frame;
    let links = real && fabric.channels().len() > 2 * fabric.hosts().len();
    let method = real && network.summary.is_some();
    let delivered = seen.get("packets") > Some(0.0);
    let bounded = seen.get("saturation_high").is_some();
    for column in crosstie_study::WorkKind::Traffic.columns() {
        let expected = match column.name {
            name if name.starts_with("latency")
                && (seen.searched() || row.status == Status::Saturated) =>
            {
                false
            }
            // Nothing may have been delivered, or nothing whole.
            name if name.starts_with("latency") => {
                row.status == Status::Converged || seen.get(name).is_some()
            }
            "network_mean" | "hops_mean" => delivered,
            "utilisation_mean" | "utilisation_max" => links,
            "minimal_share" | "stops_mean" => method,
            "blocked_mean" | "blocked_max" => real,
            "pool_peak" => wormhole && spec.nic.in_transit.is_some(),
            "saturation_low" => seen.searched(),
            "saturation" => bounded && row.status == Status::Converged,
            "saturation_high" => seen.searched() && bounded,
            _ => true,
        };
        let found = seen.get(column.name).is_some();
        ensure!(found == expected, "{}: found {found}, expected {expected}", column.name);
    }
    Ok(())
}

/// Cycles of the shortest packet on the ideal network, alone.
fn wires(seen: &Observed<'_>) -> Finding {
    let Spec { ideal, link, nic, .. } = seen.spec;
    let bytes = Bytes::new(seen.smallest_packet() + nic.overhead.get() - 1);
    let rails =
        seen.spec.cluster.rails.rates().into_iter().map(|rate| rate.unwrap_or(ideal.rate(link)));
    let changed = seen.spec.events.iter().filter_map(|event| event.rate);
    let fastest = rails.chain(changed).max().expect("there is a rail");
    let wire = fastest.time_for(bytes).expect("a rate");
    // The first byte takes no time but the latency.
    let least = (ideal.latency(link).ps() + wire.ps()) as f64 / link.cycle().ps() as f64;
    // The wire of a cycle may be a picosecond per flit shorter than its rate says.
    let rounded = least * (1.0 - 1.0 / link.cycle().ps() as f64) - 1.0;
    for name in ["network_mean", "latency_mean"] {
        let found = seen.get(name);
        ensure!(found.is_none_or(|found| found >= rounded), "{name} {found:?}, at least {least}");
    }
    ensure!(seen.get("hops_mean").is_none_or(|hops| hops == 0.0), "there are no switches");
    Ok(())
}

/// Bytes per second of a network on which a few packets take seconds.
const SLOW: u64 = 100_000;

fn completed(seen: &Observed<'_>) -> Finding {
    let (asked, ping) = match &seen.spec.work {
        Work::Ping(ping) => (ping.iterations, true),
        Work::Stream(stream) => (stream.iterations, false),
        Work::Pairs(_) | Work::Read(_) | Work::Collective(_) | Work::Goal(_) => {
            (seen.spec.schedule.iterations, false)
        }
        Work::Traffic(_) => unreachable!("closed-loop work"),
    };
    let done = seen.get("iterations").unwrap_or(0.0) + seen.get("warmup_iterations").unwrap_or(0.0);
    if seen.row.status == Status::Failed {
        let why = ["not done at the limit", "deadlock"];
        let told = why.iter().any(|why| seen.row.note.starts_with(why));
        // A rank that is as patient as a real one gives up where a few packets take seconds.
        let Spec { profile, ideal, link, .. } = seen.spec;
        let rate = ideal.rate(link).min(link.rate).bytes_per_second();
        let is_slow = *profile == Some(ProfileKind::Live) && rate < SLOW;
        let gave_up = is_slow && seen.row.note.contains("has found no rail to it for");
        ensure!(told || gave_up, "{}", seen.row.note);
        ensure!(seen.get("finish_last").is_none() && done <= f64::from(asked), "{done}");
        return Ok(());
    }
    ensure!(seen.row.status == Status::Completed, "{}", seen.row.status);
    ensure!(done == f64::from(asked), "{done} iterations of {asked}");
    let interval = seen.get("iterations") >= Some(32.0);
    for column in seen.spec.work.kind().columns().iter().filter(|column| !column.optional) {
        let expected = match column.name {
            "time_ci" => interval,
            "latency" | "latency_cycles" => ping,
            // On paper something may take no time at all.
            "bandwidth" => seen.get("time_mean") > Some(0.0),
            _ => true,
        };
        ensure!(seen.get(column.name).is_some() == expected, "{}", column.name);
    }
    let quantiles = ["time_min", "time_p50", "time_p99"].map(|name| seen.get(name));
    ensure!(quantiles.is_sorted(), "{quantiles:?}");
    let (mean, least) = (seen.get("time_mean").unwrap(), quantiles[0].unwrap());
    ensure!(mean * (1.0 + ROUNDING) >= least, "mean {mean} below {least}");
    ensure!(seen.get("finish_first") <= seen.get("finish_last"), "the last before the first");
    Ok(())
}

/// What is lost is sent again, and nothing else where nothing is hurried.
fn deliveries(seen: &Observed<'_>) -> Finding {
    let count = |name| seen.get(name).unwrap_or(0.0);
    ensure!(count("resent") <= count("sent"), "more is sent again than sent");
    let [lost, overflowed, resent] = ["lost", "overflowed", "resent"].map(count);
    let ended = seen.row.status == Status::Completed;
    ensure!(!ended || lost + overflowed == 0.0 || seen.get("sent").is_some(), "who sent it again?");
    let may_lose = seen.spec.world == World::Frame || !seen.spec.events.is_empty();
    ensure!(lost == 0.0 || may_lose, "{lost} lost, {resent} sent again");
    let hurries = match seen.spec.channel {
        ChannelKind::Raw {} => false,
        ChannelKind::GoBackN { timeout, .. } => timeout.is_some(),
        ChannelKind::SimpleGoBackN { timeout, .. } => timeout.is_some(),
        ChannelKind::Selective { least, .. } => least.is_some(),
    };
    if !may_lose && overflowed == 0.0 && !hurries {
        ensure!(resent == 0.0, "{resent} of {} sent again, nothing lost", count("sent"));
        ensure!(count("deaths") == 0.0, "{} rails dead that were not", count("deaths"));
    }
    let shares = ["host_share", "gap_share", "wire_share", "compute_share"];
    if seen.spec.world == World::Model {
        let sum: f64 = shares.into_iter().map(count).sum();
        ensure!((sum - 1.0).abs() < ROUNDING || sum == 0.0, "shares add up to {sum}");
    } else {
        ensure!(
            shares.iter().all(|name| seen.get(name).is_none()),
            "a price of what was simulated"
        );
    }
    Ok(())
}

fn ideal_ping(seen: &Observed<'_>) -> Finding {
    let (Work::Ping(ping), World::Ideal, true) = (&seen.spec.work, seen.spec.world, seen.in_turn())
    else {
        return Ok(());
    };
    // Processors that take time, buses, channels and competitors take more, and rails that differ
    // others.
    let Spec { node, channel, cluster, events, competitors, .. } = seen.spec;
    let alone = cluster.rails.are_alike() && events.is_empty() && competitors.is_empty();
    if *node != Node::default() || !channel.is_default() || !alone {
        return Ok(());
    }
    let Spec { ideal, link, nic, .. } = seen.spec;
    let pace = |bytes: u64| {
        let bytes = u128::from(bytes);
        let ps = match ideal.own_rate() {
            Some(rate) => bytes * 1_000_000_000_000 / u128::from(rate.bytes_per_second()),
            None => bytes * u128::from(link.cycle().ps()) / u128::from(link.flit.get()),
        };
        ps as u64
    };
    let wire = |payload: u64| pace(payload + nic.overhead.get() - 1);
    let gap = ideal.own_gap().map_or_else(|| pace(1), Time::ps);
    let size = ping.size.get();
    let payload = match nic.packet {
        Packet::Message => size,
        Packet::Payload(payload) => payload.get().min(size),
    };
    let full = (size - 1) / payload;
    let before = full * (wire(payload) + gap);
    let one_way = before + ideal.latency(link).ps() + wire(size - full * payload);
    // A wire rests after a packet, which a packet back by the same rail does not meet, but the next
    // one in the same direction may.
    if gap > one_way || seen.row.status != Status::Completed {
        return Ok(());
    }
    let (found, expected) = (seen.get("time_mean").unwrap(), 2.0 * one_way as f64 / 1e6);
    ensure!((found / expected - 1.0).abs() < ROUNDING, "found {found}, expected {expected} us");
    Ok(())
}

fn ranges(seen: &Observed<'_>) -> Finding {
    for (name, value) in &seen.row.measured {
        let unit = column(name).map(|column| column.unit);
        // A pure number is a share.
        let most = if unit == Some("") { 1.0 } else { f64::MAX };
        ensure!((0.0..=most).contains(value), "{name} = {value}, expected 0 to {most}");
    }
    for (mean, max) in [("utilisation_mean", "utilisation_max"), ("blocked_mean", "blocked_max")] {
        let (mean, max) = (seen.get(mean), seen.get(max));
        ensure!(mean <= max.map(|max| max + ROUNDING), "{mean:?} above {max:?}");
    }
    Ok(())
}

fn quantiles(seen: &Observed<'_>) -> Finding {
    let names = ["latency_p50", "latency_p99", "latency_p999", "latency_max"];
    let values = names.map(|name| seen.get(name));
    ensure!(values.is_sorted(), "{values:?}");
    let (mean, max) = (seen.get("latency_mean"), seen.get("latency_max"));
    // The two are cut at moments that differ by up to a sixteenth of the run.
    ensure!(
        mean <= max || max.is_none() || seen.row.status != Status::Converged,
        "mean {mean:?} above {max:?}"
    );
    Ok(())
}

fn precision(seen: &Observed<'_>) -> Finding {
    if seen.row.status == Status::Converged && !seen.searched() {
        let precision = seen.spec.measure.precision;
        let (mean, half) = (seen.get("latency_mean").unwrap(), seen.get("latency_ci").unwrap());
        ensure!(half <= precision * mean * (1.0 + ROUNDING), "{half} of {mean} at {precision}");
    }
    Ok(())
}

fn length(seen: &Observed<'_>) -> Finding {
    let measure = &seen.spec.measure;
    let (Some(warmup), Some(cycles)) = (seen.get("warmup"), seen.get("cycles")) else {
        return Ok(());
    };
    let whole = warmup + cycles;
    let (least, most) = (measure.min_cycles, measure.max_cycles);
    // A search goes on with longer runs as long as its budget lasts.
    let lengthens = measure.saturation.is_some_and(|search| search.budget > Time::ZERO);
    ensure!(lengthens || whole <= most as f64, "{whole} cycles, expected at most {most}");
    // Runs end with a window, a sixty-fourth of the shortest; where the next one no longer fits,
    // even if the shortest run is the longest.
    let window = least.div_ceil(64).min(most / 64).max(1);
    let end = least.min(64 * window);
    ensure!(whole >= end as f64, "{whole} cycles, expected at least {end}");
    ensure!(cycles > 0.0, "nothing was measured");
    Ok(())
}

fn accepted(seen: &Observed<'_>) -> Finding {
    let (Some(accepted), Some(warmup), Some(cycles)) =
        (seen.get("accepted"), seen.get("warmup"), seen.get("cycles"))
    else {
        return Ok(());
    };
    let offered = seen.get("offered").unwrap();
    let spec = seen.spec;
    // Packets and messages are counted whole as they arrive: those under way when counting begins
    // count as well, and so does what waited in buffers then.
    let (_, most) = seen.crossings();
    let held = f64::from(spec.switch.virtual_channels)
        * (most as f64 + 2.0)
        * f64::from(spec.switch.buffer + 2 * spec.link.wire_cycles() as u32);
    let ways = f64::from(spec.switch.virtual_channels * spec.cluster.pes.max(spec.nic.transfers));
    let pool = spec.nic.in_transit.as_ref().map_or(0, |nic: &InTransit| nic.pool.get()) as f64;
    let slack = ((ways + 1.0) * seen.longest_message() + held + pool) / cycles;
    let possible = seen.bus().map_or(1.0, |(read, write)| {
        let everyone = matches!(
            seen.traffic().destination,
            Destination::Uniform {} | Destination::HotSpot(_) | Destination::BitComplement {}
        );
        if everyone { 1.0 / (read + write) } else { 1.0 / read }
    });
    let tolerance = 1.0 + 1.0 / 32.0;
    ensure!(
        accepted <= possible * tolerance + slack,
        "accepted {accepted}, expected at most {possible} and {slack} that was under way"
    );
    // Nothing comes from nowhere: what was delivered had been handed over, warm-up included.
    if seen.row.status == Status::Converged && !seen.searched() {
        let exact = 3.0 * seen.get("accepted_ci").unwrap() + spec.measure.precision * offered;
        let tolerance = exact + seen.longest_message() / cycles;
        ensure!(
            (accepted - offered).abs() <= tolerance,
            "converged with {accepted} accepted of {offered} offered, expected within {tolerance}"
        );
    }
    if let (Some(load), true) = (seen.traffic().load, seen.in_turn()) {
        let time = warmup + cycles;
        let chance = 8.0 * (load * seen.longest_message() / time).sqrt()
            + 2.0 * seen.longest_message() / time;
        let brought = (load + chance) * time / cycles;
        ensure!(accepted <= brought, "accepted {accepted} of {brought} at most");
    }
    Ok(())
}

fn latency(seen: &Observed<'_>) -> Finding {
    let flits = seen.flits(seen.smallest_packet());
    let (fewest, _) = seen.crossings();
    let stripe = seen.sizes().0.div_ceil(seen.stripes());
    let message = seen.flits(stripe);
    let way = (fewest as f64 + 1.0) * (1.0 + seen.spec.link.wire_cycles() as f64);
    let least = seen.alone(fewest as f64, flits).max(way + message - 1.0);
    for name in ["latency_mean", "latency_p50"] {
        if let Some(found) = seen.get(name) {
            ensure!(
                found >= least * (1.0 - ROUNDING),
                "{name} = {found}, expected {least} or more"
            );
        }
    }
    // The closed form is convex in the number of switches, so the mean obeys it too.
    if let (Some(found), Some(hops)) = (seen.get("network_mean"), seen.get("hops_mean")) {
        let least = seen.alone(hops, flits);
        let expected = least * (1.0 - ROUNDING);
        ensure!(
            found >= expected,
            "network_mean = {found} over {hops} switches, expected {least} or more"
        );
    }
    Ok(())
}

fn hops(seen: &Observed<'_>) -> Finding {
    let (mut fewest, most) = seen.crossings();
    let rails = &seen.spec.cluster.rails;
    if rails.rates().len() < rails.list().len() {
        // Rails that share a port may find shorter ways than the routing.
        fewest = 1;
    }
    if let Some(hops) = seen.get("hops_mean") {
        let range = fewest as f64 - ROUNDING..=most as f64 + ROUNDING;
        ensure!(range.contains(&hops), "{hops} switches, expected {range:?}");
    }
    Ok(())
}

fn deadlock(seen: &Observed<'_>) -> Finding {
    let Observed { spec, network, row, .. } = seen;
    let certificate =
        certify(&network.fabric, &*network.routing).map_err(|fault| fault.to_string())?;
    let safe = certificate.is_deadlock_free();
    let warned = row.note.contains("not deadlock-free");
    let unproved = spec.routing.declaration().promise == Promise::Nothing;
    ensure!(safe || unproved, "a routing that should be safe has the cycle {certificate:?}");
    ensure!(warned != safe, "warned: {warned}, certificate: {safe}");
    if row.status == Status::Deadlocked {
        ensure!(row.note.starts_with("deadlock found at cycle "), "{}", row.note);
        // Where packets stop, they may wait for each other through full pools.
        let full = spec.routing.needs(Need::InTransit)
            && spec.nic.in_transit.as_ref().is_some_and(|nic| nic.pool < InTransit::default().pool);
        ensure!(matches!(certificate, Certificate::Cycle { .. }) || full, "a proof ruled it out");
    }
    Ok(())
}

fn saturation(seen: &Observed<'_>) -> Finding {
    let goal = seen.spec.measure.goal(seen.traffic());
    let Goal::Saturation(wanted) = goal else { return Ok(()) };
    let Observed { row: Row { status, note, .. }, .. } = *seen;
    ensure!(*status != Status::Saturated, "a search is about saturation, not saturated");
    let Some(low) = seen.get("saturation_low") else { return Ok(()) };
    let (at, high) = (seen.get("saturation"), seen.get("saturation_high"));
    let resolved = match (at, high) {
        // Nothing was refused: either everything is carried, or runs were too short to tell.
        (None, None) => note.contains("the network does not saturate"),
        (at, Some(high)) => {
            ensure!(0.0 <= low && low < high && high <= 1.0, "from {low} to {high}");
            // A lower end of 0 stands for no load that was carried.
            let resolved = low > 0.0 && high - low <= 2.0 * wanted.precision + ROUNDING;
            let middle = resolved.then_some(f64::midpoint(low, high));
            ensure!(at == middle, "{at:?} between {low} and {high}");
            resolved
        }
        (Some(at), None) => return Err(format!("{at} below nothing")),
    };
    ensure!(resolved == (*status == Status::Converged), "resolved: {resolved}, but {status:?}");
    Ok(())
}

fn channels(seen: &Observed<'_>) -> Finding {
    let stored = seen.spec.measure.channels && seen.row.status != Status::Deadlocked;
    ensure!(seen.channels.is_empty() != stored, "{} channels", seen.channels.len());
    // A flit that is half way over a bus when the counting begins or ends counts as a whole one.
    let slowest = seen.bus().map_or(1.0, |(read, write)| read.max(write));
    let whole = if seen.is_whole() && slowest == 1.0 {
        1.0
    } else {
        1.0 + 2.0 * slowest / seen.get("cycles").unwrap_or(1.0)
    };
    for channel in seen.channels {
        let ChannelRow { utilisation, blocked, waiting, .. } = *channel;
        let shares =
            utilisation >= 0.0 && blocked >= 0.0 && utilisation + blocked <= whole + ROUNDING;
        ensure!(shares && waiting >= 0.0, "{channel:?}");
    }
    let between = |c: &&ChannelRow| ["up", "down", "link"].contains(&c.kind.as_str());
    let busiest = seen.channels.iter().filter(between).map(|c| c.utilisation).fold(0.0, f64::max);
    if let (Some(max), true) = (seen.get("utilisation_max"), stored) {
        ensure!(max == busiest, "utilisation_max {max}, but the busiest channel has {busiest}");
    }
    Ok(())
}

/// An invariant that nothing breaks would prove nothing.
#[test]
fn a_false_number_is_noticed() {
    let text = "title = 'x'\nseed = 1\nfabric.tree = {k = 2, n = 2}\ntraffic = {load = 0.3, size.fixed.size = '64 B'}\n\
                measure = {precision = 0.2, min-cycles = 4000, max-cycles = 40_000}";
    let bench = crate::bench::Bench::with(&[]);
    let study = bench.study(text);
    let rows = bench.rows(text);
    let spec = &study.points()[0].spec;
    let network =
        RoutedFabric::build(&spec.fabric, &spec.routing, &|path| study.locate(path)).unwrap();
    let results = crosstie_study::ResultSet::open(bench.path("results")).unwrap();
    let stored = results.side_tables().unwrap().channels;
    let broken = |row: &Row, channels: &[ChannelRow]| -> Vec<&str> {
        let seen = Observed { spec, network: &network, row, channels };
        let failing = invariants(spec).into_iter().filter(|(_, check)| check(&seen).is_err());
        failing.map(|&(name, _)| name).collect()
    };
    assert_eq!(rows[0].status, Status::Converged, "{rows:?}");
    assert!(broken(&rows[0], &stored).is_empty());
    let falsified = |column: &str, value: f64| {
        let mut row = rows[0].clone();
        row.measured.iter_mut().find(|(name, _)| name == column).unwrap().1 = value;
        broken(&row, &stored)
    };
    for (column, value, invariant) in [
        ("utilisation_mean", 1.1, "every number is in its range"),
        ("latency_p50", 1e6, "quantiles are in order"),
        ("latency_mean", 1e6, "quantiles are in order"),
        ("latency_ci", 1e3, "means are as exact as converged rows claim"),
        ("cycles", 1e6, "the run was as long as asked"),
        ("accepted", 0.1, "no more is accepted than offered or possible"),
        ("accepted", 0.8, "no more is accepted than offered or possible"),
        ("network_mean", 50.0, "no packet is faster than alone in the network"),
        ("latency_p50", 40.0, "no packet is faster than alone in the network"),
        ("hops_mean", 3.5, "routes are as long as they are"),
        ("utilisation_max", 0.9, "channels share their time"),
    ] {
        let broken = falsified(column, value);
        assert!(broken.contains(&invariant), "{column} = {value} breaks {broken:?}");
    }
    let stuck = Row { status: Status::Deadlocked, note: String::new(), ..rows[0].clone() };
    assert!(broken(&stuck, &[]).contains(&"deadlock only where no certificate rules it out"));
    assert!(broken(&stuck, &[]).contains(&"columns are those of the status"));
    let mut searched = spec.clone();
    searched.measure.saturation = Some(Default::default());
    for (low, at, high, sound) in [
        (0.4, 0.405, 0.41, true),
        (0.4, 0.3, 0.41, false),
        (0.4, 0.45, 0.5, false),
        (0.0, 0.005, 0.01, false),
    ] {
        let mut row = rows[0].clone();
        let ends = [("saturation_low", low), ("saturation", at), ("saturation_high", high)];
        row.measured.extend(ends.map(|(name, value)| (name.to_owned(), value)));
        let seen = Observed { spec: &searched, network: &network, row: &row, channels: &stored };
        assert_eq!(saturation(&seen).is_ok(), sound, "{low}, {at}, {high}");
        row.status = Status::NotConverged;
        let seen = Observed { spec: &searched, network: &network, row: &row, channels: &stored };
        assert!(saturation(&seen).is_err(), "what is not resolved has no middle");
        row.measured.retain(|(name, _)| name != "saturation");
        let seen = Observed { spec: &searched, network: &network, row: &row, channels: &stored };
        assert_eq!(saturation(&seen).is_ok(), !sound && high - low > 0.02 || low == 0.0);
    }
}
