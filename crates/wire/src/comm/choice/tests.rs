//! What is chosen, and that it is about as good as the best price.

use crosstie_model::price;

use super::*;

/// Ranks on these machines with rails of these rates, in Mbit/s.
fn choice(machines: &[usize], rates: &[u64], named: &str, crowded: bool) -> Choice {
    let reach = Reach {
        machines: machines.to_vec(),
        policy: PolicyKind::recommended(),
        messages: Options::default().profile().message,
        payload: vec![1448; rates.len()],
    };
    let rates: Vec<u64> = rates.iter().map(|rate| rate * 125_000).collect();
    Choice::new(named.parse().unwrap(), reach, crowded, &rates)
}

fn needs(bytes: u64) -> Needs {
    Needs { bytes, in_order: false, own_lengths: false }
}

fn asked(name: &str) -> Operation {
    *Operation::all().iter().find(|operation| operation.name() == name).unwrap()
}

fn name(choice: &Choice, operation: &str, needs: Needs) -> &'static str {
    choice.choose(&asked(operation), &needs).algorithm().name
}

#[test]
fn what_is_chosen_is_about_as_fast_as_the_best() {
    let mut ratios = Vec::new();
    for rates in [&[1000][..], &[1000, 250], &[10_000, 10_000]] {
        for ranks in [2u32, 3, 4, 6, 8, 12] {
            let machines: Vec<usize> = (0..ranks as usize).collect();
            let choice = choice(&machines, rates, "", false);
            let bytes: Vec<u64> = rates.iter().map(|rate| rate * 125_000).collect();
            let cluster = choice.reach.rails(&bytes);
            for size in [8, 4096, 1 << 17, 1 << 21] {
                for kind in ["all-reduce", "broadcast", "all-gather", "barrier", "reduce-scatter"] {
                    let time = |operation: &Operation| {
                        let schedule = operation.collective(ranks).unwrap().schedule;
                        price::price_on(&schedule, &cluster, ranks).ok().map(|price| price.time)
                    };
                    let chosen = choice.choose(&asked(kind), &needs(size));
                    let all = Operation::by_every_algorithm(0, Bytes::new(size), None);
                    let best = all.iter().filter(|by| by.name() == kind).filter_map(time).min();
                    let ratio = time(&chosen).unwrap().ps() as f64 / best.unwrap().ps() as f64;
                    ratios.push((ratio, chosen, ranks, rates));
                }
            }
        }
    }
    ratios.sort_by(|one, other| other.0.total_cmp(&one.0));
    let close = ratios.iter().filter(|found| found.0 <= 1.2).count();
    assert!(close * 100 >= ratios.len() * 85, "{close} of {}: {:?}", ratios.len(), &ratios[..30]);
    assert!(ratios[0].0 < 2.5, "{:?}", &ratios[..5]);
}

#[test]
fn short_vectors_take_few_steps_and_long_ones_few_bytes() {
    for ranks in 3..=70 {
        let machines: Vec<usize> = (0..ranks).collect();
        let choice = choice(&machines, &[1000], "", false);
        assert_ne!(name(&choice, "all-reduce", needs(8)), "ring");
        assert!(["ring", "rabenseifner"].contains(&name(&choice, "all-reduce", needs(4 << 20))));
        let in_order = Needs { in_order: true, ..needs(4 << 20) };
        let chosen = choice.choose(&asked("all-reduce"), &in_order);
        assert!(chosen.keeps_order(ranks as u32), "{chosen:?}");
        let own = Needs { own_lengths: true, ..needs(0) };
        assert_eq!(name(&choice, "gather", own), "linear");
    }
}

#[test]
fn ranks_that_share_cores_take_the_fewest_messages() {
    for ranks in 2..=70 {
        let (few, usual) = (
            choice(&vec![0; ranks], &[], "", true),
            choice(&vec![0; ranks], &[], "barrier=dissemination", false),
        );
        assert_eq!(name(&few, "barrier", needs(0)), "linear");
        assert_eq!(name(&few, "all-reduce", needs(8)), "linear");
        assert_eq!(name(&usual, "barrier", needs(0)), "dissemination");
        if ranks > 8 {
            assert_ne!(name(&few, "all-reduce", needs(4 << 20)), "linear");
        }
    }
}

#[test]
fn who_names_an_algorithm_gets_it_where_it_can_do_it() {
    let named = "all-reduce=ring,gather=binomial,broadcast=chain";
    let choice = choice(&[0, 0, 1, 1, 2], &[1000], named, true);
    assert_eq!(name(&choice, "all-reduce", needs(8)), "ring");
    assert_eq!(name(&choice, "gather", needs(8)), "binomial");
    let in_order = Needs { in_order: true, ..needs(8) };
    assert_ne!(name(&choice, "all-reduce", in_order), "ring");
    let own = Needs { own_lengths: true, ..needs(0) };
    assert_eq!(name(&choice, "gather", own), "linear");
    // Segments are longer where there would be very many.
    for (bytes, segment) in [(8, 64 << 10), (1 << 30, 256 << 10), (1 << 40, 256 << 20)] {
        let chosen = choice.choose(&asked("broadcast"), &needs(bytes));
        let segment = Bytes::new(segment);
        let Operation::Broadcast { algorithm, .. } = chosen else { panic!("{chosen:?}") };
        assert_eq!(algorithm, Broadcast::Chain { segment });
    }
}

#[test]
fn a_choice_is_made_once_for_lengths_of_a_class() {
    let choice = choice(&(0..5000).map(|rank| rank / 16).collect::<Vec<_>>(), &[1000], "", false);
    for bytes in 1 << 19..(1 << 19) + 2000 {
        name(&choice, "all-reduce", needs(bytes));
    }
    assert_eq!(choice.known.borrow().len(), 2, "up to 2^19, and above");
    // Other rates, other choices.
    let before = name(&choice, "all-reduce", needs(1 << 16));
    choice.learn(&[1]);
    assert!(choice.known.borrow().is_empty(), "{before}");
}

#[test]
fn an_unknown_rate_is_a_usual_one() {
    assert_eq!(nominal("no-such-device"), 0);
    assert_eq!(nominal("../../etc"), 0);
    let some = choice(&[0, 1, 2, 3], &[10_000], "", false);
    let unknown = choice(&[0, 1, 2, 3], &[0], "", false);
    for bytes in [8, 1 << 12, 1 << 20] {
        let operation = "all-reduce";
        assert_eq!(name(&some, operation, needs(bytes)), name(&unknown, operation, needs(bytes)));
    }
}
