//! Which formula of the thesis holds, and why that one.

use super::{Subject, as_us};
use crosstie_model as model;
use crosstie_model::{Cut, Exchange, PacketTree, Parameters, Stage, Transfer};
use crosstie_units::Time;
use serde::Serialize;

/// A formula and what it gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Its number; a dash behind it where it is not as printed.
    pub equation: &'static str,
    /// The formula.
    pub expression: &'static str,
    /// What it is of.
    pub of: &'static str,
    /// What it gives.
    #[serde(serialize_with = "as_us")]
    pub time: Time,
    /// Why it holds.
    pub rule: Option<Rule>,
}

/// Two times that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The left one.
    pub left: &'static str,
    /// How long it is.
    #[serde(serialize_with = "as_us")]
    pub left_time: Time,
    /// How they compare.
    pub sign: &'static str,
    /// The right one.
    pub right: &'static str,
    /// How long it is.
    #[serde(serialize_with = "as_us")]
    pub right_time: Time,
}

impl Rule {
    /// Compares by an order that has a sign if it holds and another one if it does not.
    fn new(
        (left, left_time): (&'static str, Time),
        [less, not_less]: [&'static str; 2],
        (right, right_time): (&'static str, Time),
        holds: bool,
    ) -> Rule {
        Rule { left, left_time, sign: if holds { less } else { not_less }, right, right_time }
    }
}

/// The formula for so many bytes among so many nodes, if there is one.
pub(super) fn form(
    parameters: &Parameters,
    subject: Subject,
    bytes: u64,
    nodes: u32,
) -> Option<Form> {
    match subject {
        Subject::Transfer => Some(one_way(parameters, bytes, nodes)),
        Subject::Exchange => Some(exchange(parameters, bytes, nodes)),
        Subject::Collective("broadcast") if nodes > 1 => Some(tree(parameters, bytes, nodes)),
        Subject::Collective("all-to-all") if nodes > 1 => Some(complete(parameters, bytes, nodes)),
        Subject::Collective(_) => None,
    }
}

fn one_way(parameters: &Parameters, bytes: u64, nodes: u32) -> Form {
    let Transfer { time, bottleneck, .. } = Transfer::one_way(parameters, bytes, nodes);
    let packet = Cut::new(parameters, bytes, nodes).first();
    let (gap, receive) = (packet.gap(), packet.receive);
    let (equation, expression) = match bottleneck {
        Stage::SendGap | Stage::ReceiveGap => ("2.6", "O_s + (k-1) g + L + O_r + U_r"),
        Stage::Receive => ("3.1", "O_s + L + k (O_r + U_r)"),
        Stage::Send => ("2.6'", "k O_s + L + O_r + U_r"),
    };
    let rule = match bottleneck {
        Stage::Send => Rule::new(("O_s", packet.send), [">", "<="], ("g", gap), packet.send > gap),
        _ => Rule::new(("O_r + U_r", receive), ["<=", ">"], ("g", gap), receive <= gap),
    };
    Form { equation, expression, of: "one way", time, rule: Some(rule) }
}

fn exchange(parameters: &Parameters, bytes: u64, nodes: u32) -> Form {
    let (one, both) = (
        Transfer::one_way(parameters, bytes, nodes).time,
        Transfer::exchange(parameters, bytes, nodes).time,
    );
    let cut = Cut::new(parameters, bytes, nodes);
    let busy = |packet: model::Packet| packet.send + packet.receive;
    let busy = busy(cut.full) * (cut.packets - 1) + busy(cut.last);
    let (equation, expression) = match both > one {
        false => ("2.7", "the same as one way"),
        true => ("2.7'", "k (O_s + O_r + U_r)"),
    };
    let rule = Rule::new(("k (O_s + O_r + U_r)", busy), ["<=", ">"], ("one way", one), busy <= one);
    Form { equation, expression, of: "both ways at once", time: both, rule: Some(rule) }
}

fn tree(parameters: &Parameters, bytes: u64, nodes: u32) -> Form {
    let tree = PacketTree::new(parameters, bytes, nodes);
    let packet = tree.packet;
    let (equation, expression) = match tree.form() {
        model::Form::Undisturbed => ("2.8'", "ctm(M) + log2 p ((k-1) G + L + T_0)"),
        model::Form::Disturbed => {
            ("2.9'", "ctm(M) + log2 p (L + T_0) + (k-1) (T_0 + (log2 p - 2) G)")
        }
    };
    let rule = Rule::new(
        ("T_0 = O_r + U_r + O_s", packet.receive + packet.send),
        ["<", ">="],
        ("2 G = 2 max(g, O_s)", packet.gap().max(packet.send) * 2),
        tree.form() == model::Form::Undisturbed,
    );
    let of = "packets down a binomial tree";
    Form { equation, expression, of, time: tree.time(), rule: Some(rule) }
}

/// What no algorithm can beat if all packets are full.
fn complete(parameters: &Parameters, bytes: u64, nodes: u32) -> Form {
    let cut = Cut::new(parameters, bytes, nodes);
    let packet = cut.first();
    let packets = cut.packets * u64::from(nodes - 1);
    let time = packet.send + packet.gap() * (packets - 1) + packet.latency + packet.receive;
    let expression = "O_s + (k (p-1) - 1) g + L + O_r + U_r";
    Form { equation: "5.1", expression, of: "the least it can take", time, rule: None }
}

/// What no algorithm of a complete exchange can beat: nodes, and uplinks if there are any.
pub(super) fn exchange_among(parameters: &Parameters, bytes: u64, nodes: u32) -> Vec<Form> {
    let mut forms = vec![complete(parameters, bytes, nodes)];
    if let Some(uplink) = parameters.uplink.filter(|uplink| uplink.hosts < nodes) {
        let payload = bytes.clamp(parameters.least.get(), parameters.packet.get());
        let packets = Cut::new(parameters, bytes, nodes).packets;
        let time = Exchange { ranks: nodes, packets }.of_uplinks(&uplink, payload);
        let expression = match uplink.shared {
            true => "2 k (p-d_1) d_1 b / c_2, c_2 both ways together",
            false => "k (p-d_1) d_1 b / c_2, c_2 each way",
        };
        let of = "the least that uplinks take";
        forms.push(Form { equation: "6.4", expression, of, time, rule: None });
    }
    forms
}
