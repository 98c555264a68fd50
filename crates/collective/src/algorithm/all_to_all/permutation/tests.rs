use super::*;

fn steps(permutation: Permutation, ranks: u32) -> Steps {
    Steps::new(permutation, ranks, None).unwrap()
}

/// The partners of all ranks in a step: `-` rests.
fn partners(steps: Steps, step: u32) -> String {
    let digit = |rank| match steps.to(rank, step) {
        Some(to) => char::from_digit(to, 16).expect("it is below 16"),
        None => '-',
    };
    (0..steps.ranks).map(digit).collect()
}

/// In each step every rank that sends meets another one, which knows; all pairs meet once.
fn check(steps: Steps) {
    let ranks = steps.ranks;
    let mut met = vec![0; (ranks * ranks) as usize];
    for step in 1..=steps.count() {
        let mut reached = vec![false; ranks as usize];
        for rank in 0..ranks {
            let Some(to) = steps.to(rank, step) else { continue };
            assert_ne!(to, rank);
            assert!(!std::mem::replace(&mut reached[to as usize], true), "two meet at {to}");
            assert_eq!(steps.from(to, step), Some(rank), "{rank} in step {step} of {steps:?}");
            met[(rank * ranks + to) as usize] += 1;
        }
    }
    let expected = |pair: usize| i32::from(pair as u32 / ranks != pair as u32 % ranks);
    assert!(met.iter().enumerate().all(|(pair, &times)| times == expected(pair)), "{steps:?}");
}

#[test]
fn everybody_meets_everybody_once_and_nobody_meets_two() {
    for ranks in 2..=40 {
        check(steps(Permutation::Shift, ranks));
        check(steps(Permutation::Xor, ranks));
        for per_switch in (1..=ranks).filter(|&per_switch| ranks.is_multiple_of(per_switch)) {
            check(Steps::new(Permutation::Shift, ranks, Some(per_switch)).unwrap());
            check(Steps::new(Permutation::EdgeColour, ranks, Some(per_switch)).unwrap());
        }
    }
}

#[test]
fn edge_colours_are_matchings_of_up_to_512_ranks() {
    for ranks in 2..=512 {
        let steps = steps(Permutation::EdgeColour, ranks);
        check(steps);
        assert_eq!(steps.count(), if ranks.is_multiple_of(2) { ranks - 1 } else { ranks });
        for step in 1..=steps.count() {
            let resting = (0..ranks).filter(|&rank| steps.to(rank, step).is_none()).count();
            assert_eq!(resting as u32, ranks % 2);
        }
        assert_eq!(steps.rests(), ranks % 2 == 1);
    }
}

#[test]
fn edge_colours_are_those_of_the_listing() {
    let rows = |ranks| -> Vec<String> {
        let steps = steps(Permutation::EdgeColour, ranks);
        (1..=steps.count()).map(|step| partners(steps, step)).collect()
    };
    assert_eq!(rows(2), ["10"]);
    assert_eq!(rows(3), ["10-", "2-0", "-21"]);
    assert_eq!(rows(4), ["1032", "2301", "3210"]);
    assert_eq!(rows(5), ["104-2", "2-043", "3210-", "43-10", "-4321"]);
    assert_eq!(rows(6), ["104523", "250431", "321054", "435102", "543210"]);
    let seven = ["1065-32", "2-06543", "32106-4", "43-1065", "543210-", "654-210", "-654321"];
    assert_eq!(rows(7), seven);
    let eight =
        ["10657324", "27065431", "32106745", "43710652", "54321076", "65472103", "76543210"];
    assert_eq!(rows(8), eight);
}

/// The listing of Tam, in which a node looks its partner up by formulas of its own.
fn listed(round: u32, me: u32, ranks: u32) -> Option<u32> {
    let chi = if ranks % 2 == 1 { ranks } else { ranks - 1 };
    let found = if me < chi {
        (round + chi - me) % chi
    } else if round % 2 == 1 {
        (round + chi) / 2 % chi
    } else {
        round / 2
    };
    match found == me {
        true if ranks % 2 == 1 => None,
        true => Some(chi),
        false => Some(found),
    }
}

#[test]
fn the_circle_and_the_listing_are_the_same() {
    for ranks in 2..=65 {
        let steps = steps(Permutation::EdgeColour, ranks);
        for (round, me) in
            (1..=steps.count()).flat_map(|round| (0..ranks).map(move |me| (round, me)))
        {
            assert_eq!(steps.to(me, round), listed(round, me, ranks), "{me} of {ranks}, {round}");
        }
    }
}

/// Figures 6.3 and 6.4: 4x4 nodes, xor. The targets in each step and their switches.
#[test]
fn renumbering_gives_figure_6_4() {
    let plain = steps(Permutation::Xor, 16);
    let figure_6_3 = [
        "1032547698badcfe",
        "23016745ab89efcd",
        "32107654ba98fedc",
        "45670123cdef89ab",
        "54761032dcfe98ba",
        "67452301efcdab89",
        "76543210fedcba98",
        "89abcdef01234567",
        "98badcfe10325476",
        "ab89efcd23016745",
        "ba98fedc32107654",
        "cdef89ab45670123",
        "dcfe98ba54761032",
        "efcdab8967452301",
        "fedcba9876543210",
    ];
    let spread = Steps::new(Permutation::Xor, 16, Some(4)).unwrap();
    let figure_6_4 = [
        ("159d048c37bf26ae", "1111000033332222"),
        ("26ae37bf048c159d", "2222333300001111"),
        ("37bf26ae159d048c", "3333222211110000"),
        ("40c851d962ea73fb", "0000111122223333"),
        ("51d940c873fb62ea", "1111000033332222"),
        ("62ea73fb40c851d9", "2222333300001111"),
        ("73fb62ea51d940c8", "3333222211110000"),
        ("8c049d15ae26bf37", "0000111122223333"),
        ("9d158c04bf37ae26", "1111000033332222"),
        ("ae26bf378c049d15", "2222333300001111"),
        ("bf37ae269d158c04", "3333222211110000"),
        ("c840d951ea62fb73", "0000111122223333"),
        ("d951c840fb73ea62", "1111000033332222"),
        ("ea62fb73c840d951", "2222333300001111"),
        ("fb73ea62d951c840", "3333222211110000"),
    ];
    for (step, (plainly, (targets, switches))) in (1..).zip(figure_6_3.into_iter().zip(figure_6_4))
    {
        assert_eq!(partners(plain, step), plainly);
        let to = |rank| spread.to(rank, step).unwrap();
        // The figure has logical numbers, in the order of physical ones.
        let logical: String = (0..16)
            .map(|rank| char::from_digit(spread.numbering.logical(to(rank)), 16).unwrap())
            .collect();
        assert_eq!(logical, targets);
        let at: String = (0..16).map(|rank| char::from_digit(to(rank) / 4, 16).unwrap()).collect();
        assert_eq!(at, switches);
    }
}

/// The configurations of chapter 6, by hosts at a switch and switches.
const CONFIGURATIONS: [(u32, u32); 5] = [(4, 4), (8, 2), (8, 3), (6, 4), (8, 4)];

#[test]
fn numbers_are_given_once_and_neighbours_are_at_different_switches() {
    for (per_switch, switches) in CONFIGURATIONS {
        let numbering = Numbering { per_switch, switches };
        for physical in 0..per_switch * switches {
            let logical = numbering.logical(physical);
            assert_eq!(numbering.physical(logical), physical);
            assert_eq!(logical % switches, physical / per_switch);
        }
    }
}

/// The longest run of steps of a rank to the same remote switch; the steps in which it meets all
/// remote switches; the most packets from other switches to one, in as many steps as there are
/// switches.
fn dispersion(steps: Steps, per_switch: u32) -> (u32, u32, u32) {
    let ranks = steps.ranks;
    let switches = ranks / per_switch;
    let at = |rank, step: u32| steps.to(rank, step).map(|to| to / per_switch);
    let (mut run, mut cover, mut window) = (0, 0, 0);
    for rank in 0..ranks {
        let home = rank / per_switch;
        let mut now = 0;
        for step in 1..=steps.count() {
            let remote = at(rank, step).filter(|&switch| switch != home);
            let again = step > 1 && remote.is_some() && remote == at(rank, step - 1);
            now = if again { now + 1 } else { u32::from(remote.is_some()) };
            run = run.max(now);
        }
        let sees_all = |length: u32| {
            (1..=steps.count() + 1 - length).all(|first| {
                let mut seen = vec![false; switches as usize];
                (first..first + length)
                    .filter_map(|step| at(rank, step))
                    .for_each(|switch| seen[switch as usize] = true);
                seen[home as usize] = true;
                seen.into_iter().all(|seen| seen)
            })
        };
        cover = cover.max((1..=steps.count()).find(|&length| sees_all(length)).unwrap());
    }
    for target in 0..switches {
        for first in 1..=steps.count() + 1 - switches {
            let packets = (first..first + switches)
                .flat_map(|step| (0..ranks).map(move |rank| (rank, step)))
                .filter(|&(rank, step)| {
                    rank / per_switch != target && at(rank, step) == Some(target)
                });
            window = window.max(packets.count() as u32);
        }
    }
    (run, cover, window)
}

#[test]
fn renumbering_disperses_what_goes_to_a_switch() {
    use Permutation::{EdgeColour, Shift, Xor};
    let (plainly, spread) = ([(4, 12, 16), (8, 8, 16)], [(1, 4, 12), (1, 2, 8)]);
    for (place, (here, switches)) in CONFIGURATIONS.into_iter().enumerate() {
        let of = |permutation, renumbered: bool| {
            let per_switch = renumbered.then_some(here);
            dispersion(Steps::new(permutation, here * switches, per_switch).unwrap(), here)
        };
        if place < 2 {
            assert_eq!((of(Xor, false), of(Xor, true)), (plainly[place], spread[place]));
        }
        let (plain, renumbered) = match (here, switches) {
            (4, 4) => ((4, 12, 16), None),
            (8, 2) => ((8, 8, 16), Some((3, 3, 10))),
            (8, 3) => ((8, 16, 24), Some((2, 5, 18))),
            (6, 4) => ((6, 18, 24), Some((2, 7, 20))),
            _ => ((8, 24, 32), Some((2, 7, 26))),
        };
        if let Some(renumbered) = renumbered {
            assert_eq!(of(EdgeColour, true), renumbered, "{here}x{switches}");
            assert_eq!(of(EdgeColour, false), plain, "{here}x{switches}");
        }
        let (run, cover, _) = of(Shift, true);
        assert_eq!((run, cover), (1, switches), "shift, {here}x{switches}");
    }
    let xor = |per_switch| dispersion(Steps::new(Xor, 32, per_switch).unwrap(), 8);
    assert_eq!((xor(None), xor(Some(8))), ((8, 24, 32), (1, 4, 24)));
}

#[test]
fn switches_have_the_same_number_of_ranks() {
    let error = Steps::new(Permutation::Shift, 16, Some(5)).unwrap_err();
    assert_eq!(error, OperationError::UnevenSwitches { per_switch: 5, ranks: 16 });
}
