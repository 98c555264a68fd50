//! Which place and which ranks a point asks for.

use crosstie_box::{Hosts, Shape, Spec as BoxSpec};
use crosstie_study::{Live, Memory, Spec, Work, box_file};
use crosstie_units::Rate;
use std::path::PathBuf;
use std::time::Duration;

use super::competitor::rank_of;
use super::{Assignment, Lead, LiveError, Place, WorkPart};
use crate::LabError;
use crate::schedule::Script;

/// How the work of a point is done by real ranks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub site: Site,
    /// The host of each rank.
    pub hosts: Vec<usize>,
    /// How long they may take.
    pub limit: Duration,
    /// What devices of a box carry.
    pub rates: Vec<(String, String)>,
    pub assignment: Assignment,
}

/// Where ranks are to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Site {
    Box(Box<BoxSpec>),
    Machines(Vec<String>),
}

impl Plan {
    /// The plan of a spec for a fabric of so many hosts.
    pub fn of(
        spec: &Spec,
        hosts: u32,
        script: Option<&Script>,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Plan, LabError> {
        let live = &spec.live;
        let boxed = match &live.boxed {
            Some(file) => Some(open(locate(file))?),
            None if live.own_box => Some(own_box(spec, hosts)?),
            None => None,
        };
        let (site, rates) = match boxed {
            None => {
                let machines = live.machines().into_iter().map(str::to_owned).collect();
                (Site::Machines(machines), Vec::new())
            }
            Some(boxed) => {
                fits(spec, hosts, &boxed)?;
                let rates = (0..).zip(&boxed.rails).map(|(number, rail)| {
                    let rate = rail.rate.map_or("unshaped".to_owned(), |rate| rate.to_string());
                    (boxed.rail_name(number), rate)
                });
                let rates = rates.take(spec.cluster.rails.count() as usize).collect();
                (Site::Box(Box::new(boxed)), rates)
            }
        };
        let rails = match site {
            Site::Box(_) => {
                let names: Vec<&str> =
                    rates.iter().map(|(name, _): &(String, _)| &name[..]).collect();
                Some(names.join(","))
            }
            Site::Machines(_) => std::env::var("CROSSTIE_RAILS").ok(),
        };
        let goal = match &spec.work {
            Work::Goal(file) => {
                let path = locate(&file.file);
                Some(std::path::absolute(&path).unwrap_or(path))
            }
            _ => None,
        };
        let part = WorkPart { spec: spec.to_toml(), hosts, rails, goal };
        Ok(Plan {
            site,
            hosts: (0..ranks(spec, script))
                .map(|rank| (rank / spec.cluster.pes) as usize)
                .collect(),
            limit: live.limit.into(),
            rates,
            assignment: Assignment::Work(part),
        })
    }
}

impl Plan {
    /// Whether the ranks of a launcher's job can carry it out.
    pub fn suits(&self, lead: &Lead) -> Result<(), LiveError> {
        let named = match &self.site {
            Site::Box(_) => "a box",
            Site::Machines(names) if names.iter().any(|name| name != Live::THIS) => "other hosts",
            Site::Machines(_) => return lead.has(self.hosts.len()),
        };
        let problem = format!(
            "found {named}, expected none: a launcher has started this program as {} ranks, and they stay where they are",
            lead.size()
        );
        Err(LiveError::place(problem, "leave it out, or run the command without a launcher"))
    }
}

impl Site {
    /// Opens it. Ranks of a launcher's job are there already.
    pub fn open<'a>(&self, lead: Option<&'a Lead>) -> Result<Place<'a>, LiveError> {
        match (self, lead) {
            (_, Some(lead)) => Ok(Place::of_job(lead)),
            (Site::Box(spec), None) => Place::of_box(spec),
            (Site::Machines(names), None) => Place::of_machines(names),
        }
    }

    /// Whether it is after some work as it was before.
    pub fn lasts(&self) -> bool {
        match self {
            Site::Box(spec) => spec.events.is_empty(),
            Site::Machines(_) => true,
        }
    }
}

/// How many ranks it takes: those from 0 to the last that has something to do, or is where a
/// competitor is.
fn ranks(spec: &Spec, script: Option<&Script>) -> u32 {
    let rivals = spec.competitors.iter().flat_map(|it| [it.from, it.to]);
    let beside = rivals.map(|host| rank_of(host, spec.cluster.pes) + 1).max().unwrap_or(0);
    let working = match (&spec.work, script) {
        (Work::Ping(ping), _) => ping.from.max(ping.to) + 1,
        (Work::Stream(stream), _) => stream.from.max(stream.to) + stream.pairs,
        (_, Some(script)) => script.schedule().ranks(),
        (_, None) => 1,
    };
    working.max(beside)
}

/// Reads the file of a box.
fn open(path: PathBuf) -> Result<BoxSpec, LabError> {
    box_file::load(&path).map_err(|mistake| {
        let command = format!("`crosstie check {}` shows where", path.display());
        LabError::input("live.box", path, mistake.message(), command)
    })
}

/// A box like the machine of a spec: its hosts, and a rail for each of its rails. Where switches
/// have their memory at outputs, those of the box have it too.
fn own_box(spec: &Spec, hosts: u32) -> Result<BoxSpec, LabError> {
    let buffer = match &spec.frame.switch.memory {
        Memory::Output { capacity, .. } => Some(*capacity),
        Memory::Input { .. } | Memory::Shared { .. } => None,
    };
    let rail = |rate: Option<Rate>| crosstie_box::Rail {
        rate: Some(rate.unwrap_or(spec.link.rate)),
        mtu: spec.frame.mtu(),
        shape: buffer.map(|buffer| Shape::Switch { buffer: Some(buffer) }),
        ..crosstie_box::Rail::default()
    };
    let boxed = BoxSpec {
        title: None,
        description: None,
        seed: None,
        hosts: Hosts::numbered(hosts as usize),
        rails: spec.cluster.rails.rates().into_iter().map(rail).collect(),
        events: Vec::new(),
    };
    match boxed.check() {
        Ok(()) => Ok(boxed),
        Err(misfit) => {
            let problem =
                format!("no box can be like this machine: {}: {}", misfit.title, misfit.problem);
            let help =
                misfit.help.unwrap_or_else(|| "name the file of a box: `live.box`".to_owned());
            Err(LabError::setting("live.own-box", problem, help))
        }
    }
}

/// A box has hosts and rails for all that the spec wants.
fn fits(spec: &Spec, hosts: u32, boxed: &BoxSpec) -> Result<(), LabError> {
    let (found, rails) = (boxed.hosts.count(), spec.cluster.rails.count() as usize);
    if (found as u64) < u64::from(hosts) {
        let problem =
            format!("found a box of {found} hosts, expected the {hosts} of `fabric` at least");
        return Err(LabError::setting(
            "live.box",
            problem,
            "take a larger box or a smaller `fabric`",
        ));
    }
    if boxed.rails.len() < rails {
        let problem =
            format!("found {rails}, expected at most {}, all rails of the box", boxed.rails.len());
        return Err(LabError::setting(
            "cluster.rails",
            problem,
            "lower it, or add rails to the box",
        ));
    }
    Ok(())
}
