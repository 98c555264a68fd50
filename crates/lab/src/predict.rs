//! What communication takes on a machine, on paper: a time, what it is spent on, which formula says
//! so.
//!
//! A [`Cluster`] is a machine of which the parameters of the model are known, because somebody
//! measured them or because they follow from links, switches and nodes. A [`Question`] is asked of
//! it and answered by a [`Prediction`].
//!
//! Section and equation numbers are those of Tam's thesis, see `crosstie-model`.

mod candidate;
mod cluster;
mod exchange;
mod form;
mod many_to_one;
mod packet;
mod subject;

pub(crate) use candidate::rail_shares;
pub use candidate::{Bottleneck, Candidate, PathStep, RailShare};
pub use cluster::Cluster;
pub use exchange::{Advice, Choice, ExchangeQuestion, Limit, Risk, USUAL_WINDOW, advise};
pub use form::{Form, Rule};
pub use many_to_one::{Flow, Losses, ManyToOne, Patience};
pub use packet::{Duplex, PacketCosts};
pub use subject::Subject;

use crate::LabError;
use crosstie_collective::OperationError;
use crosstie_model::Cut;
use crosstie_model::price::PriceError;
use crosstie_study::{Spec, World};
use crosstie_units::Time;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What is asked of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What is to be done.
    pub subject: Subject,
    /// The size of the message, the vector or the block; of no matter where nothing has a size.
    pub bytes: u64,
    /// How many nodes take part: p.
    pub nodes: u32,
    /// The algorithm of a collective operation; `None`: all there are.
    pub algorithm: Option<String>,
    /// How senders of many flows into one port are held back, if they are.
    pub flow: Option<FlowQuestion>,
    /// Whether the critical path is wanted.
    pub path: bool,
}

/// How senders of many flows into one port are held back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowQuestion {
    /// Most packets outstanding of each: W_FC.
    pub window: u32,
    /// When a packet is sent again; `None`: at the longest recommended.
    pub timeout: Option<Patience>,
    /// How often what is lost is lost how, if that is known.
    pub losses: Option<Losses>,
}

/// What a question has for an answer. Times are microseconds in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The size that was asked for, if it matters.
    pub size: Option<u64>,
    /// How many nodes take part: p.
    pub nodes: u32,
    /// Into how many packets so many bytes are cut: k.
    pub packets: u64,
    /// What the first of them takes.
    pub packet: PacketCosts,
    /// What the formula of the thesis says, where it has one.
    pub form: Option<Form>,
    /// The ways to do it, the fastest first; there is one at least.
    pub ranking: Vec<Candidate>,
    /// What becomes of many flows into one port.
    pub many_to_one: Option<ManyToOne>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PredictError {
    /// So many nodes cannot do that.
    #[error("{what}: {error}")]
    Operation {
        /// What was to be done.
        what: &'static str,
        /// Why not.
        error: OperationError,
    },
    /// A schedule of ours has no price: a defect.
    #[error("the schedule of {what} has no price: {error}")]
    Price {
        /// What was to be done.
        what: String,
        /// Why not.
        error: PriceError,
    },
}

/// What each rail carries of the work of a spec on paper; nothing if there is one rail, or another
/// world. `locate` tells where the paths in it lead.
pub fn carried(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<Vec<RailShare>, LabError> {
    if spec.world != World::Model || spec.cluster.rails.count() < 2 {
        return Ok(Vec::new());
    }
    let world = crate::World::build(spec, locate)?;
    let Some(prices) = crate::outcome::prices(spec, &world) else { return Ok(Vec::new()) };
    prices.map(|prices| rail_shares(&prices))
}

/// Answers a question.
pub fn predict(cluster: &Cluster, question: &Question) -> Result<Prediction, PredictError> {
    let &Question { subject, nodes, .. } = question;
    let parameters = cluster.parameters();
    // The messages of what has no size have one byte.
    let bytes = if subject.has_size() { question.bytes } else { 1 };
    let cut = Cut::new(parameters, bytes, nodes);
    let ranking = candidate::ranking(cluster.rails(), question, bytes)?;
    let is_gather = subject == Subject::Collective("gather");
    Ok(Prediction {
        size: subject.has_size().then_some(bytes),
        nodes,
        packets: cut.packets,
        packet: PacketCosts::of(parameters, bytes, nodes),
        // The formulas are those of one rail, and of messages that are not asked for.
        form: (cluster.rails().is_plain())
            .then(|| form::form(parameters, subject, bytes, nodes))
            .flatten(),
        ranking,
        many_to_one: (is_gather && nodes > 1)
            .then(|| ManyToOne::of(parameters, bytes, nodes, question.flow))
            .flatten(),
    })
}

/// A time as a number of microseconds, to the picosecond.
fn us(time: &Time) -> f64 {
    time.ps() as f64 / 1e6
}

fn as_us<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(us(time))
}

fn some_as_us<S: Serializer>(time: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    time.as_ref().map(us).serialize(to)
}

fn both_as_us<S: Serializer>(times: &[Time; 2], to: S) -> Result<S::Ok, S::Error> {
    times.each_ref().map(us).serialize(to)
}

#[cfg(test)]
mod tests;
