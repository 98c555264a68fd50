//! The machines of a benchmark, side by side: simulated, on paper, and real.

use std::path::Path;

use crosstie_box::Spec as BoxSpec;
use crosstie_lab::live::Lead;
use crosstie_lab::predict::Cluster;
use crosstie_protocol::ChannelKind;
use crosstie_study::{World, box_file};
use crosstie_wire::Options;
use toml::{Table as Toml, Value};

use super::BenchArguments;
use super::catalogue::{Benchmark, Ranks};
use crate::console::Console;
use crate::exit::Failure;
use crate::joined;
use crate::machine::{Machine, one};

/// A machine, and the worlds in which it is tried.
pub struct Side {
    name: String,
    machine: Machine,
    worlds: Vec<String>,
    hosts: u32,
    /// Who answers a ping.
    peer: u32,
    kind: Kind,
    /// What there is to know of it.
    told: Vec<String>,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// A preset or a file, or the rails of a box on paper.
    Simulated,
    /// Real ranks, on this machine alone or also on others.
    Live { alone: bool },
}

/// The world of real ranks.
const LIVE: &str = "live";
/// That of the model.
const MODEL: &str = "model";

/// What 99 of 100 do not exceed.
const LATE: Option<&str> = Some("p99");

impl Side {
    /// All that were asked for, in the order of the columns.
    pub fn all(
        arguments: &BenchArguments,
        benchmark: Benchmark,
        lead: Option<&Lead>,
        console: &Console,
    ) -> Result<Vec<Side>, Failure> {
        let mut sides = Vec::new();
        if let Some(lead) = lead {
            joined::stay(lead, arguments.boxed.as_deref(), arguments.live.as_deref())?;
        }
        if let Some(sim) = &arguments.sim {
            sides.push(simulated(sim, arguments)?);
        }
        if let Some(file) = &arguments.boxed {
            let spec = read(file, console)?;
            if arguments.predict && sides.is_empty() {
                sides.push(on_paper(file, &spec, arguments)?);
            }
            sides.push(boxed(file, &spec, arguments.ranks, &arguments.set)?);
        }
        if let Some(hosts) = &arguments.live {
            if arguments.predict && sides.is_empty() {
                return Err(Failure::user(
                    "--predict: nobody knows the parameters of these hosts; name a machine that is \
                     like them by --sim, or measure them by `crosstie probe`",
                ));
            }
            let most = sides.first().map_or(u32::MAX, Side::hosts);
            sides.push(match lead {
                Some(lead) => launched(lead, arguments, benchmark, most)?,
                None => here(hosts, arguments, benchmark, most)?,
            });
        }
        Ok(sides)
    }

    /// Real ranks on the hosts of a box, one on each.
    pub fn on_box(file: &Path, ranks: u32, console: &Console) -> Result<Side, Failure> {
        let spec = read(file, console)?;
        let hosts = spec.hosts.count() as u32;
        if hosts < ranks {
            let name = file.display();
            return Err(Failure::user(format!(
                "--box: found {hosts} hosts in `{name}`, expected {ranks}, one for each node\n  \
                 help: --ranks {hosts} takes as many nodes as the box has hosts"
            )));
        }
        boxed(file, &spec, Some(ranks), &[])
    }

    /// The preset, or the file of the box, or the names of machines.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is.
    pub fn title(&self) -> &str {
        self.machine.title()
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// One column each.
    pub fn worlds(&self) -> &[String] {
        &self.worlds
    }

    /// How many hosts it has.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Returns the ranks that do the work. The host that is farthest away answers a ping.
    pub fn ranks(&self) -> Ranks {
        let is_wormhole = |world: &String| world == World::Wormhole.name();
        let serves = self.machine.spec().is_ok_and(|spec| spec.node.elan.is_some());
        let gets = serves && self.worlds.iter().all(is_wormhole);
        Ranks { peer: self.peer, live: self.is_live(), gets }
    }

    /// Returns true if its network spreads what a rank sends to several others.
    pub fn casts(&self) -> bool {
        let is_wormhole = |world: &String| world == World::Wormhole.name();
        let casts = self.machine.spec().is_ok_and(|spec| spec.lacks_to_cast().is_none());
        casts && !self.is_live() && self.worlds.iter().all(is_wormhole)
    }

    /// Whether real ranks do the work.
    pub fn is_live(&self) -> bool {
        matches!(self.kind, Kind::Live { .. })
    }

    /// What there is to say if so many ranks work at once: on one machine they may have to share
    /// cores.
    pub fn crowd(&self, ranks: u32) -> Option<String> {
        let cores = cores();
        let told = || format!("{ranks} ranks share {cores} cores");
        (self.kind == Kind::Live { alone: true } && ranks > cores).then(told)
    }

    /// What there is to know of it.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// What is told of many times: `None` is their median.
    pub fn statistics(&self) -> &'static [Option<&'static str>] {
        if self.is_live() { &[None, LATE] } else { &[None] }
    }
}

fn simulated(sim: &str, arguments: &BenchArguments) -> Result<Side, Failure> {
    let machine = Machine::load("--sim", sim)?.with(&arguments.set)?;
    for name in &arguments.world {
        if !World::ALL.iter().any(|world| world.name() == name) {
            let known: Vec<&str> = World::ALL.iter().map(|world| world.name()).collect();
            let problem = format!("--world: found `{name}`, expected {}", known.join(", "));
            return Err(Failure::user(problem));
        }
    }
    let mut worlds = match arguments.world.is_empty() {
        true => vec![machine.world()],
        false => arguments.world.clone(),
    };
    if arguments.predict && !worlds.iter().any(|world| world == MODEL) {
        worlds.push(MODEL.to_owned());
    }
    if worlds.iter().any(|world| world == LIVE) && !machine.has_live() {
        return Err(Failure::user(format!(
            "--world: found `{LIVE}`, but `{sim}` does not say where real ranks run\n  \
             help: --live measures ranks on this machine, --box FILE those of a box, beside --sim"
        )));
    }
    let peer = machine.last_host()?;
    let (name, kind) = (sim.to_owned(), Kind::Simulated);
    let spec = machine.spec()?;
    let is_priced = spec.model.is_none() && worlds.iter().any(|world| world == MODEL);
    let ethernet = Cluster::taken_for_ethernet(spec.world).filter(|_| is_priced);
    let told = ethernet.map(|remark| format!("{MODEL}: {remark}")).into_iter().collect();
    Ok(Side { name, machine, worlds, hosts: peer + 1, peer, kind, told })
}

/// What the environment tells real ranks, as programs read it: the keys that say the same, and what
/// there is to know of it. What is set on the command line goes before it.
fn environment(keys: &mut Toml) -> Result<Vec<String>, Failure> {
    let options = Options::from_environment().map_err(Failure::user)?;
    let usual = Options::default();
    let mut told = Vec::new();
    let mut put = |variable: &str, table: Toml| {
        let value = std::env::var(variable).unwrap_or_default();
        told.push(format!("{variable}={value}"));
        crate::machine::put(keys, table, 2);
    };
    if options.policy != usual.policy {
        put("CROSSTIE_POLICY", one("policy", options.policy.name()));
    }
    if options.channel != usual.channel {
        let channel = match options.channel {
            ChannelKind::GoBackN { window, .. } => {
                one("go-back-n", one("window", i64::from(window))).into()
            }
            channel => Value::String(channel.name().to_owned()),
        };
        put("CROSSTIE_CHANNEL", one("channel", channel));
    }
    if options.memory != usual.memory {
        put("CROSSTIE_MEMORY", one("live", one("memory", options.memory)));
    }
    if options.patience != usual.patience {
        let patience = format!("{} us", options.patience.as_micros());
        put("CROSSTIE_PATIENCE", one("live", one("patience", patience)));
    }
    if options.eager != usual.eager {
        let eager = format!("{} B", options.eager);
        put("CROSSTIE_EAGER", one("message", one("eager", eager)));
    }
    Ok(told)
}

/// Those of this machine.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(2, |cores| cores.get() as u32)
}

/// What is common to all that is made of a box.
fn keys_of(spec: &BoxSpec) -> Toml {
    let hosts = spec.hosts.count();
    let title = spec.title.clone().unwrap_or_else(|| format!("A box of {hosts} hosts"));
    let mut keys = one("title", title);
    keys.insert("seed".to_owned(), 1.into());
    keys.insert("fabric".to_owned(), one("single", one("hosts", hosts as i64)).into());
    keys.insert("cluster".to_owned(), one("rails", spec.rails.len() as i64).into());
    keys
}

/// The rails of a box as the model has them: links of Ethernet between hosts that take no time, and
/// ranks that exchange messages as real ones do.
fn on_paper(file: &Path, spec: &BoxSpec, arguments: &BenchArguments) -> Result<Side, Failure> {
    let name = file.display().to_string();
    let rates: Option<Vec<_>> = spec.rails.iter().map(|rail| rail.rate).collect();
    let Some(rates) = rates else {
        return Err(Failure::user(format!(
            "--predict: `{name}` has rails without a rate, of which there is no price; name a machine by --sim"
        )));
    };
    let mut keys = keys_of(spec);
    let rate = rates[0];
    if rates.iter().any(|other| *other != rate) {
        let rails = rates.iter().map(|rate| one("rate", rate.to_string()).into()).collect();
        keys.insert("cluster".to_owned(), one("rails", Value::Array(rails)).into());
    }
    keys.insert("link".to_owned(), one("rate", rate.to_string()).into());
    let mtu = Value::String(spec.rails[0].mtu.to_string());
    keys.insert("frame".to_owned(), one("mtu", mtu).into());
    let Options { policy, eager, .. } = Options::from_environment().map_err(Failure::user)?;
    keys.insert("policy".to_owned(), policy.name().into());
    keys.insert("message".to_owned(), one("eager", format!("{eager} B")).into());
    let machine = Machine::of("--box", &name, keys).with(&arguments.set)?;
    let hosts = spec.hosts.count() as u32;
    let worlds = vec![MODEL.to_owned()];
    let (kind, told) = (Kind::Simulated, Vec::new());
    Ok(Side { name, machine, worlds, hosts, peer: hosts - 1, kind, told })
}

/// Reads a box file.
fn read(file: &Path, console: &Console) -> Result<BoxSpec, Failure> {
    let colour = console.colours_messages();
    box_file::load(file).map_err(|mistake| Failure::rendered(mistake.render(colour)))
}

fn boxed(file: &Path, spec: &BoxSpec, ranks: Option<u32>, set: &[String]) -> Result<Side, Failure> {
    let (name, hosts) = (file.display().to_string(), spec.hosts.count() as u32);
    if hosts < 2 {
        let problem = format!("--box: found {hosts} host in `{name}`, expected 2 or more");
        return Err(Failure::user(problem));
    }
    let mut keys = keys_of(spec);
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let path = Value::String(path.to_string_lossy().into_owned());
    keys.insert("live".to_owned(), one("box", path).into());
    let told = environment(&mut keys)?;
    let pes = ranks.map_or(1, |ranks| ranks.div_ceil(hosts).max(1));
    if let Some(Value::Table(cluster)) = keys.get_mut("cluster") {
        cluster.insert("pes".to_owned(), i64::from(pes).into());
    }
    let machine = Machine::of("--box", &name, keys).with(set)?;
    // Ranks of one host stand together.
    let peer = hosts * pes - 1;
    let kind = Kind::Live { alone: true };
    Ok(Side { name, machine, worlds: vec![LIVE.to_owned()], hosts, peer, kind, told })
}

/// Ranks on machines, this one or others: as many as asked for, else one for each core, but no more
/// than the others have.
fn here(
    names: &str,
    arguments: &BenchArguments,
    benchmark: Benchmark,
    most: u32,
) -> Result<Side, Failure> {
    let cores = cores();
    let list: Vec<Value> = names.split(',').map(|name| name.trim().into()).collect();
    let usual = if list.len() > 1 { list.len() as u32 } else { cores };
    let hosts = match benchmark.is_collective() {
        true => arguments.ranks.unwrap_or(usual.min(most)).max(2),
        false => 2,
    };
    let title = match names {
        "localhost" => format!("This machine, {cores} cores"),
        names => format!("Machines {names}"),
    };
    let mut keys = keys_of_ranks(title, hosts);
    keys.insert("live".to_owned(), one("hosts", Value::Array(list)).into());
    let told = environment(&mut keys)?;
    let machine = Machine::of("--live", names, keys).with(&arguments.set)?;
    let (name, worlds) = (names.to_owned(), vec![LIVE.to_owned()]);
    let kind = Kind::Live { alone: names == "localhost" };
    Ok(Side { name, machine, worlds, hosts, peer: 1, kind, told })
}

/// The ranks of a launcher's job: as many as asked for, else all, but no more than the others have.
/// Messages go to the last one.
fn launched(
    lead: &Lead,
    arguments: &BenchArguments,
    benchmark: Benchmark,
    most: u32,
) -> Result<Side, Failure> {
    let size = lead.size() as u32;
    let hosts = match (benchmark.is_collective(), arguments.ranks) {
        (true, Some(found)) if found > size => {
            return Err(Failure::user(format!(
                "--ranks: found {found}, expected at most {size}, all that a launcher has started"
            )));
        }
        (true, ranks) => ranks.unwrap_or(size.min(most)).max(2),
        (false, _) => size,
    };
    let mut keys = keys_of_ranks(joined::title(lead), hosts);
    let told = environment(&mut keys)?;
    let name = "a launcher's job".to_owned();
    let machine = Machine::of("--live", &name, keys).with(&arguments.set)?;
    let worlds = vec![LIVE.to_owned()];
    let kind = Kind::Live { alone: lead.hosts() == 1 };
    Ok(Side { name, machine, worlds, hosts, peer: hosts - 1, kind, told })
}

/// What is common to ranks that are in no box.
fn keys_of_ranks(title: String, hosts: u32) -> Toml {
    let mut keys = one("title", title);
    keys.insert("seed".to_owned(), 1.into());
    keys.insert("fabric".to_owned(), one("single", one("hosts", i64::from(hosts))).into());
    keys
}
