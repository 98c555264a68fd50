use super::*;
use crosstie_fabric::single;
use crosstie_routing::Root;
use crosstie_units::Seed;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LOCAL: Destination = Destination::Local(Local { distance: 1, along: Along::Graph {} });

fn hot_spot(host: u32, share: f64) -> Destination {
    Destination::HotSpot(HotSpot { host, share })
}

fn permutation() -> Destination {
    Destination::Permutation(Permutation { file: "p.txt".to_owned() })
}

fn mixture(parts: impl IntoIterator<Item = (f64, Destination)>) -> Destination {
    let portion = |(share, destination)| Portion { share, destination };
    Destination::Mixture(Mixture { parts: parts.into_iter().map(portion).collect() })
}

/// One of each pattern.
fn examples() -> Vec<Destination> {
    vec![
        Destination::Uniform {},
        Destination::BitReversal {},
        Destination::BitComplement {},
        Destination::Transpose {},
        Destination::Shuffle {},
        Destination::Tornado {},
        hot_spot(3, 0.2),
        Destination::Local(Local { distance: 2, along: Along::UpDown { root: Root::Central } }),
        permutation(),
        mixture([(0.5, LOCAL), (0.5, permutation())]),
    ]
}

/// On hosts of one switch, with the text of any file.
fn reading(destination: &Destination, hosts: u32, text: &str) -> Result<Pattern, Misfit> {
    destination.on(&single(hosts).unwrap(), &|_| Ok(text.to_owned()))
}

fn pattern(destination: Destination, hosts: u32) -> Pattern {
    reading(&destination, hosts, "").unwrap()
}

/// The table of a pattern without chance; silent hosts name themselves.
fn table(pattern: &Pattern) -> Vec<u32> {
    let mut stream = Seed(0).stream("unused", 0);
    let to = |from| pattern.destination(from, &mut stream).unwrap_or(from);
    (0..pattern.hosts()).map(to).collect()
}

/// How often each host is the destination of one sender, in shares.
fn shares(pattern: &Pattern, from: u32) -> Vec<f64> {
    let n = 100_000;
    let mut counts = vec![0.0; pattern.hosts() as usize];
    let mut stream = Seed(5).stream("destinations", u64::from(from));
    for _ in 0..n {
        counts[pattern.destination(from, &mut stream).unwrap() as usize] += 1.0 / f64::from(n);
    }
    counts
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.006);
    assert!(near && found.len() == expected.len(), "{found:?}, expected {expected:?}");
}

#[test]
fn every_pattern_is_called_as_it_is_declared() {
    let examples = examples();
    let names: Vec<&str> = examples.iter().map(Destination::name).collect();
    assert_eq!(names, declared::choices::<Destination>(), "one of each");
    let mut sentences = BTreeSet::new();
    for example in examples {
        let &Declaration { name, sentence } = example.declaration();
        assert!(sentence.ends_with('.') && sentences.insert(sentence), "{name}: {sentence}");
        let written = serde_json::to_value(&example).unwrap();
        let keys: BTreeSet<&str> =
            written[name].as_object().unwrap().keys().map(|k| &**k).collect();
        assert_eq!(keys, example.keys().iter().copied().collect(), "{name}");
        assert_eq!(serde_json::from_value::<Destination>(written).unwrap(), example);
    }
}

#[test]
fn keys_are_read_within_their_range() {
    let read = |text| serde_json::from_str::<Destination>(text).map_err(|error| error.to_string());
    assert_eq!(read(r#"{"local": {"distance": 1}}"#), Ok(LOCAL));
    assert_eq!(serde_json::to_string(&LOCAL).unwrap(), r#"{"local":{"distance":1}}"#);
    for (wrong, words) in [
        (r#"{"unifrm": {}}"#, "`uniform`"),
        (r#"{"uniform": {"host": 1}}"#, "unknown field"),
        (r#"{"hot-spot": {"host": 65536, "share": 0.1}}"#, "from 0 to 65535"),
        (r#"{"hot-spot": {"host": 0, "share": 1.1}}"#, "a share from 0 to 1"),
        (r#"{"hot-spot": {"host": 0}}"#, "missing field `share`"),
        (r#"{"local": {"distance": 0}}"#, "from 1 to 64"),
        (r#"{"local": {"distance": 1, "along": {"up-down": {"root": "top"}}}}"#, "\"central\""),
        (r#"{"permutation": {"file": ""}}"#, "the path of a file"),
    ] {
        let error = read(wrong).unwrap_err();
        assert!(error.contains(words), "{wrong}: {error}");
    }
}

#[test]
fn files_are_told_and_renamed() {
    let mut mixed = mixture([(0.5, Destination::Uniform {}), (0.5, permutation())]);
    let key = "mixture.parts.1.destination.permutation.file";
    assert_eq!(mixed.files(), [(key.to_owned(), "p.txt")]);
    mixed.rename_files(&|file| format!("inputs/{file}"));
    assert_eq!(mixed.files(), [(key.to_owned(), "inputs/p.txt")]);
    for example in examples() {
        for (key, _) in example.files() {
            assert!(Destination::names_a_file(&key), "{key}");
        }
    }
    assert!(!Destination::names_a_file("hot-spot.host"));
}

#[test]
fn permutations_on_eight_and_sixteen_hosts() {
    let table = |destination, hosts| table(&pattern(destination, hosts));
    assert_eq!(table(Destination::BitReversal {}, 8), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(table(Destination::BitComplement {}, 8), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(table(Destination::Shuffle {}, 8), [0, 2, 4, 6, 1, 3, 5, 7]);
    let transposed = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
    assert_eq!(table(Destination::Transpose {}, 16), transposed);
    assert_eq!(table(Destination::Tornado {}, 8), [3, 4, 5, 6, 7, 0, 1, 2]);
    assert_eq!(table(Destination::Tornado {}, 5), [2, 3, 4, 0, 1]);
}

#[test]
fn a_permutation_is_read_line_by_line() {
    let on_three = |text| reading(&permutation(), 3, text).map(|pattern| table(&pattern));
    assert_eq!(on_three("2\n 1\n0\n\n"), Ok(vec![2, 1, 0]));
    for (text, problem) in [
        ("1\n0\n", "the permutation pattern lists 2 hosts, expected one entry for each of 3"),
        ("1\n0\n3\n", "the permutation pattern names host 3, expected one below 3"),
        ("1\n0\nx\n", "line 3: found `x`, expected the number of a host"),
        (
            "1\n0\n1\n",
            "hosts 0 and 2 of the permutation both send to host 1, expected every host to be named \
             once",
        ),
    ] {
        let misfit = on_three(text).unwrap_err();
        assert_eq!((misfit.key.as_str(), misfit.problem.as_str()), ("permutation.file", problem));
        assert_eq!(misfit.file.as_deref(), Some("p.txt"));
    }
    let missing = |_: &str| Err(io::Error::other("it is gone"));
    let mixed = mixture([(1.0, Destination::Uniform {}), (0.0, permutation())]);
    let misfit = mixed.on(&single(3).unwrap(), &missing).unwrap_err();
    assert_eq!(
        misfit.to_string(),
        "`mixture.parts.1.destination.permutation.file`: it is gone",
        "read although no message follows it"
    );
}

#[test]
fn a_host_that_maps_to_itself_is_silent() {
    let reversal = pattern(Destination::BitReversal {}, 8);
    let silent: Vec<u32> = (0..8).filter(|&host| !reversal.sends(host)).collect();
    assert_eq!(silent, [0, 2, 5, 7], "the palindromes");
    assert_eq!(reversal.destination(5, &mut Seed(1).stream("d", 5)), None);
}

#[test]
fn uniform_leaves_out_the_sender() {
    let uniform = pattern(Destination::Uniform {}, 5);
    assert_near(&shares(&uniform, 2), &[0.25, 0.25, 0.0, 0.25, 0.25]);
}

#[test]
fn a_hot_spot_adds_its_share_to_the_uniform_part() {
    let hot = pattern(hot_spot(3, 0.2), 5);
    assert_near(&shares(&hot, 0), &[0.0, 0.2, 0.2, 0.4, 0.2]);
    assert_near(&shares(&hot, 3), &[0.25, 0.25, 0.25, 0.0, 0.25]);
}

#[test]
fn a_mixture_divides_messages_among_the_parts_a_host_can_use() {
    let complement = || (0.25, Destination::BitComplement {});
    let mixed = pattern(mixture([(0.75, Destination::BitReversal {}), complement()]), 4);
    assert_near(&shares(&mixed, 1), &[0.0, 0.0, 1.0, 0.0]);
    assert_near(&shares(&mixed, 0), &[0.0, 0.0, 0.0, 1.0]);
    let mixed = pattern(mixture([(0.75, Destination::Shuffle {}), complement()]), 8);
    assert_near(&shares(&mixed, 1), &[0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.25, 0.0]);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let half = || (0.5, Destination::Uniform {});
    let root = Root::Switch(crosstie_fabric::SwitchId(1));
    let up_down = Destination::Local(Local { distance: 1, along: Along::UpDown { root } });
    for (destination, hosts, message) in [
        (
            Destination::BitReversal {},
            48,
            "`bit-reversal`: there are 48 hosts, expected a power of 2",
        ),
        (Destination::Transpose {}, 32, "`transpose`: there are 32 hosts, expected a power of 4"),
        (hot_spot(8, 0.1), 8, "`hot-spot.host`: found 8, expected a host from 0 to 7"),
        (hot_spot(0, f64::NAN), 8, "`hot-spot.share`: found NaN, expected a share from 0 to 1"),
        (
            up_down,
            4,
            "`local.along.up-down.root`: switch 1 cannot be the root: the network has 1 switches, \
             numbered from 0 to 0",
        ),
        (mixture([]), 4, "`mixture.parts`: found 0 parts, expected 1 to 64"),
        (mixture([half()]), 4, "`mixture.parts`: the shares add up to 0.5, expected 1"),
        (
            mixture([half(), (0.5, mixture([half(), half()]))]),
            4,
            "`mixture.parts.1.destination`: expected any other destination",
        ),
        (
            mixture([half(), (0.5, Destination::Shuffle {})]),
            5,
            "`mixture.parts.1.destination.shuffle`: there are 5 hosts, expected a power of 2",
        ),
    ] {
        assert_eq!(reading(&destination, hosts, "").unwrap_err().to_string(), message);
    }
    let lonely = Destination::Uniform {}.check(Some(1)).unwrap_err();
    assert_eq!(lonely.to_string(), "`uniform`: expected at least 2 hosts, found 1");
    assert_eq!(hot_spot(8, 0.1).check(None), Ok(()), "only the network can tell");
}

proptest! {
    #[test]
    fn patterns_without_chance_are_permutations(bits in 1..6u32, which in 1..6usize) {
        let hosts = 4u32.pow(bits);
        let mut to = table(&pattern(examples().swap_remove(which), hosts));
        to.sort_unstable();
        prop_assert!(to.into_iter().eq(0..hosts));
    }

    #[test]
    fn nobody_sends_to_itself_or_to_nobody(
        seed: u64, hosts in 2..40u32, hot in 0..40u32, share in 0.0..=1.0,
    ) {
        let swap = |host| if host + 1 == hosts { host } else { host ^ 1 };
        let to = |host| if hosts % 2 == 1 { swap(host) } else { host };
        let text: String = (0..hosts).map(|host| format!("{}\n", to(host))).collect();
        let parts = [(0.6, hot_spot(hot % hosts, share)), (0.4, permutation())];
        for destination in [mixture(parts), permutation()] {
            let pattern = reading(&destination, hosts, &text).unwrap();
            let mut stream = Seed(seed).stream("d", 0);
            for from in 0..hosts {
                let to = pattern.destination(from, &mut stream);
                prop_assert_eq!(to.is_some(), pattern.sends(from));
                prop_assert!(to.is_none_or(|to| to != from && to < hosts));
            }
        }
    }
}
