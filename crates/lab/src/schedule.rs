//! Schedules: from the experiment file to the value that is played.

use crate::LabError;
use crosstie_collective::goal::{self, Goal};
use crosstie_collective::{Builder, OpId, Rank, Schedule, Step, Stuck, Tag};
use crosstie_study::{GoalFile, Operation, Pairs, Read, Spec, Work, World};
use crosstie_units::{Bytes, Time};
use crosstie_work::{Application, Player};
use std::path::PathBuf;
use std::sync::Arc;

/// A schedule that is to be played.
#[derive(Clone)]
pub(crate) struct Script {
    schedule: Arc<Schedule>,
    /// Where it stands, if it was read.
    goal: Option<Arc<Goal>>,
}

/// The most operations of a schedule whose time line is kept.
const SHORT: usize = 4096;

impl Script {
    /// The schedule of the work of a spec, if it has one; `locate` tells where a file of one is.
    pub fn of(
        spec: &Spec,
        places: u32,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Option<Script>, LabError> {
        match &spec.work {
            Work::Traffic(_) | Work::Ping(_) | Work::Stream(_) => Ok(None),
            Work::Collective(operation) => Script::of_operation(operation, spec, places).map(Some),
            Work::Pairs(pairs) => Script::of_pairs(pairs, spec, places).map(Some),
            Work::Read(read) => Script::of_reads(read, spec, places).map(Some),
            Work::Goal(file) => Script::of_file(file, spec, places, locate).map(Some),
        }
    }

    /// The schedule of a collective operation.
    fn of_operation(operation: &Operation, spec: &Spec, places: u32) -> Result<Script, LabError> {
        let key = format!("work.{}", operation.name());
        let collective = operation
            .collective(count(spec, places)?)
            .map_err(|error| LabError::setting(&key, error, "change it, or `schedule.ranks`"))?;
        let mut schedule = collective.schedule;
        let barrier = spec.node.elan.as_ref().map_or(Time::ZERO, |elan| elan.barrier);
        let is_barrier = matches!(operation, Operation::Barrier { .. });
        if is_barrier && barrier != Time::ZERO && spec.world == World::Wormhole {
            schedule = schedule.after_computing(barrier);
        }
        Script::placed(schedule, spec, places)
    }

    /// Every rank of the first half sends to its partner in the second.
    fn of_pairs(pairs: &Pairs, spec: &Spec, places: u32) -> Result<Script, LabError> {
        let half = count(spec, places)? / 2;
        // The range of the experiment file lies within the type.
        let (tag, bytes) = (Tag(0), pairs.size.get() as u32);
        let mut builder = Builder::new(2 * half);
        for (here, there) in (0..half).map(|rank| (Rank(rank), Rank(half + rank))) {
            let ways = [(here, there), (there, here)];
            for (from, to) in ways.into_iter().take(if pairs.both_ways { 2 } else { 1 }) {
                builder.send(from, to, tag, bytes);
                builder.receive(to, from, tag, bytes);
            }
        }
        let schedule = builder.finish().expect("nothing waits for anything");
        Script::placed(schedule, spec, places)
    }

    /// All ranks but one read the memory of that one.
    fn of_reads(read: &Read, spec: &Spec, places: u32) -> Result<Script, LabError> {
        let (count, from) = (count(spec, places)?, Rank(read.from));
        let mut builder = Builder::new(count);
        for rank in (0..count).map(Rank).filter(|rank| *rank != from) {
            // The range of the experiment file lies within the type.
            builder.get(rank, from, read.size.get() as u32);
        }
        let schedule = builder.finish().expect("nothing waits for anything");
        Script::placed(schedule, spec, places)
    }

    /// A schedule whose ranks are where a spec puts them.
    fn placed(schedule: Schedule, spec: &Spec, places: u32) -> Result<Script, LabError> {
        let mut schedule = schedule.with_outstanding(spec.schedule.outstanding);
        if spec.schedule.compute != Time::ZERO {
            schedule = schedule.after_computing(spec.schedule.compute);
        }
        if let Some(placement) = &spec.schedule.hosts {
            let last = placement.hosts().iter().copied().max().unwrap_or(0);
            ranks(last + 1, places, "schedule.hosts")?;
            let hosts: Vec<Rank> = placement.hosts().iter().copied().map(Rank).collect();
            schedule = schedule.placed(&hosts, places);
        }
        Ok(Script { schedule: Arc::new(schedule), goal: None })
    }

    /// The schedule of a GOAL file; `locate` tells where it is.
    fn of_file(
        file: &GoalFile,
        spec: &Spec,
        places: u32,
        locate: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Script, LabError> {
        const KEY: &str = "work.goal.file";
        let path = locate(&file.file);
        let wrong =
            |problem: String, help: String| LabError::input(KEY, path.clone(), problem, help);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| wrong(error.to_string(), "check the path and the file".to_owned()))?;
        let mut goal = goal::read(&text).map_err(|error| {
            wrong(format!("line {}: {}", error.line, error.what), error.help.clone())
        })?;
        ranks(goal.schedule.ranks(), places, KEY)?;
        check_rails(&goal, spec).map_err(|(problem, help)| wrong(problem, help))?;
        check_gets(&goal, spec).map_err(|(problem, help)| wrong(problem, help))?;
        check_casts(&goal, spec).map_err(|(problem, help)| wrong(problem, help))?;
        check_end(&goal, spec).map_err(|(problem, help)| wrong(problem, help))?;
        let bare = Schedule::clone(&goal.schedule).with_outstanding(spec.schedule.outstanding);
        goal.schedule = bare.clone();
        Ok(Script { schedule: Arc::new(bare), goal: Some(Arc::new(goal)) })
    }

    /// The work of playing it so often.
    pub fn player(&self, iterations: u64) -> Box<dyn Application> {
        let player = Player::new(Arc::clone(&self.schedule), iterations);
        Box::new(match self.goal.clone() {
            None => player,
            Some(goal) => player.named(Box::new(move |rank, op| name(&goal, rank, op))),
        })
    }

    /// What is to be played.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How many operations it has.
    pub fn operations(&self) -> usize {
        self.schedule.all().len()
    }

    /// The longest message.
    pub fn longest(&self) -> u32 {
        let sent = self.schedule.all().iter().filter_map(|op| match op.step {
            Step::Send { bytes, .. } | Step::Get { bytes, .. } | Step::Cast { bytes, .. } => {
                Some(bytes)
            }
            Step::Receive { .. } | Step::Compute { .. } => None,
        });
        sent.max().unwrap_or(0)
    }

    /// Whether it is short enough to keep who sent what when.
    pub fn is_short(&self, iterations: u64) -> bool {
        self.operations() as u64 * iterations <= SHORT as u64
    }
}

/// How many ranks a spec has.
fn count(spec: &Spec, places: u32) -> Result<u32, LabError> {
    match &spec.schedule.hosts {
        Some(placement) => Ok(placement.hosts().len() as u32),
        None => ranks(spec.schedule.ranks.unwrap_or(places), places, "schedule.ranks"),
    }
}

fn ranks(ranks: u32, places: u32, key: &str) -> Result<u32, LabError> {
    if ranks > places {
        let problem =
            format!("found {ranks} ranks, expected at most {places}: each host has `cluster.pes`");
        return Err(LabError::setting(key, problem, "take a larger `fabric`"));
    }
    Ok(ranks)
}

/// An operation of a file by its label and line.
fn name(goal: &Goal, rank: Rank, op: OpId) -> String {
    let line = goal.line(rank, op);
    match goal.label(rank, op) {
        Some(label) => format!("{label}, line {line}"),
        None => format!("line {line}"),
    }
}

/// The most operations that are named in one message.
const NAMED: usize = 8;

/// Refuses a schedule that locks up however long anything takes.
fn check_end(goal: &Goal, spec: &Spec) -> Result<(), (String, String)> {
    let eager = match (&spec.message, spec.node.overhead) {
        // Real ranks have limits of their own.
        _ if spec.world == World::Live => None,
        (Some(message), _) if message.synchronous => Some(Bytes::new(0)),
        (Some(message), _) => Some(message.eager),
        (None, Some(_)) => spec.node.eager,
        (None, None) => None,
    };
    // Sizes of the experiment file lie within the type.
    let found = crosstie_collective::stuck(&goal.schedule, eager.map(|most| most.get() as u32));
    let Some(Stuck { waiting }) = found else { return Ok(()) };
    let waits = |&(rank, op): &(Rank, OpId)| {
        let what = match goal.schedule.ops(rank)[op.0 as usize].step {
            Step::Send { to, tag, .. } => {
                format!("rank {} to receive tag {}, which is not eager", to.0, tag.0)
            }
            Step::Receive { from, tag, .. } => {
                let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {}", tag.0));
                let from = from.map_or("any rank".to_owned(), |from| format!("rank {}", from.0));
                format!("{tag} from {from}")
            }
            Step::Compute { .. } | Step::Get { .. } | Step::Cast { .. } => "nothing".to_owned(),
        };
        format!("rank {} waits for {what} ({})", rank.0, name(goal, rank, op))
    };
    let mut told: Vec<String> = waiting.iter().take(NAMED).map(waits).collect();
    if waiting.len() > NAMED {
        told.push(format!("{} more wait", waiting.len() - NAMED));
    }
    let problem = format!("locks up for ever: {}", told.join(", "));
    Err((problem, "add what they wait for, or change what waits for what".to_owned()))
}

/// Refuses reads of the memory of other ranks where no NIC serves them.
fn check_gets(goal: &Goal, spec: &Spec) -> Result<(), (String, String)> {
    let Some((rank, op)) = goal.schedule.first_get() else { return Ok(()) };
    let line = goal.line(rank, op);
    if !spec.serves_gets() {
        let problem = format!("line {line}: gets memory of another rank, which nobody serves here");
        let help = "take NICs that do, `node.elan` in the world `wormhole`, or `send` and `recv`";
        return Err((problem, help.to_owned()));
    }
    if spec.node.overhead.is_some() {
        let problem = format!("line {line}: gets memory, which o and O of LogGOPS do not price");
        return Err((problem, "remove `node.overhead`, or `send` and `recv` instead".to_owned()));
    }
    Ok(())
}

/// Refuses sends to several ranks at once where the network does not spread them.
fn check_casts(goal: &Goal, spec: &Spec) -> Result<(), (String, String)> {
    let Some((rank, op)) = goal.schedule.first_cast() else { return Ok(()) };
    let line = goal.line(rank, op);
    let missing = spec.lacks_to_cast();
    missing.map_or(Ok(()), |missing| {
        let problem = format!("line {line}: sends to several ranks at once, which needs {missing}");
        Err((problem, "change that, or `send` to each".to_owned()))
    })
}

/// Refuses rails that there are not, and rails where a policy chooses them.
fn check_rails(goal: &Goal, spec: &Spec) -> Result<(), (String, String)> {
    let rails = spec.cluster.rails.count();
    for rank in (0..goal.schedule.ranks()).map(Rank) {
        for (op, what) in (0..).zip(goal.schedule.ops(rank)) {
            let Some(nic) = what.nic else { continue };
            let line = goal.line(rank, OpId(op));
            if u32::from(nic) >= rails {
                let problem = format!("line {line}: found nic {nic}, expected 0 to {}", rails - 1);
                return Err((problem, "raise `cluster.rails`: a nic is a rail".to_owned()));
            }
            if spec.policy.paces() || spec.message.is_some() {
                let problem = format!("line {line}: names a nic, which a policy would choose");
                let help = "leave `policy` and `message` out, or the nics of the file".to_owned();
                return Err((problem, help));
            }
        }
    }
    Ok(())
}
