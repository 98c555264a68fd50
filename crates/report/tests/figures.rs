//! Figures as documents: their structure, and that no row can break them.

mod samples;

use crosstie_report::figure::draw;
use crosstie_study::{Figure, Row, Setting, Status};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn classed<'a>(parent: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let is = |node: &Node| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|word| word == class))
    };
    parent.descendants().filter(is).collect()
}

fn tip(point: &Node) -> String {
    point.descendants().find(|node| node.has_tag_name("title")).unwrap().text().unwrap().to_owned()
}

/// Every text of the figure, in the order of the document.
fn texts(document: &Document) -> Vec<String> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or("").trim().to_owned()).collect()
}

#[test]
fn a_latency_figure_has_its_axes_curves_ends_and_legend() {
    let svg = draw(&samples::latency_figure(), &samples::load_curves());
    let document = Document::parse(&svg).unwrap();

    assert_eq!(
        texts(&document).join("|"),
        "mean latency [cycles]|offered load [flits/cycle/host]|0|200|400|600|800|1000|0|0.1|0.2|0.3|0.4|0.5|0.6|0.7|\
         Latency of a 4-ary 4-tree under uniform traffic|adaptive|deterministic|random-ascent|\
         saturated from here on|deadlocked from here on|hollow: not converged"
    );
    let curves = classed(document.root(), "series");
    let outline: Vec<_> = curves
        .iter()
        .map(|curve| (classed(*curve, "point").len(), classed(*curve, "end").len()))
        .collect();
    assert_eq!(outline, [(13, 1), (9, 1), (11, 1)], "drawn points and ends of the three curves");
    assert_eq!(
        tip(&classed(curves[0], "point")[0]),
        "adaptive\nload 0.05\nlatency_mean 63.49 ± 0.68 cycles\nconverged"
    );
    assert_eq!(
        tip(&classed(curves[1], "end")[0]),
        "deterministic\nload 0.45\nsaturated\naccepted stays below offered"
    );
    assert!(!classed(curves[0], "interval").is_empty());
}

#[test]
fn several_columns_share_a_colour_and_differ_in_dash() {
    let svg = draw(&samples::figures()[2], &samples::load_curves());
    let document = Document::parse(&svg).unwrap();
    let lines = classed(document.root(), "lines")[0];
    let strokes: Vec<_> = lines
        .children()
        .filter(|node| node.has_tag_name("path") && node.attribute("class").is_none())
        .map(|node| (node.attribute("stroke").unwrap(), node.attribute("stroke-dasharray")))
        .take(4)
        .collect();
    let (first, second) = ("#0072B2", "#D55E00");
    assert_eq!(
        strokes,
        [(first, None), (first, Some("7 4")), (first, Some("2 3")), (second, None)]
    );
    assert!(texts(&document).contains(&"adaptive · p999".to_owned()));
}

/// Two policies over three names along x.
fn categories(log_y: bool) -> String {
    let mut rows = Vec::new();
    for (i, policy) in ["pull", "binding"].into_iter().enumerate() {
        for (j, rails) in ["alike", "differ", "dies"].into_iter().enumerate() {
            let text = |text: &str| Setting::Text(text.to_owned());
            let settings = [("policy", text(policy)), ("cluster.rails", text(rails))];
            let status = if rails == "dies" && i == 0 { Status::Failed } else { Status::Completed };
            let measured = [("latency_mean", 100.0 * (1 + i + j) as f64)];
            rows.push(samples::row((3 * i + j) as u32, &settings, status, &measured));
        }
    }
    let (x, series) = ("cluster.rails".to_owned(), vec!["policy".to_owned()]);
    draw(&Figure { x, series, log_y, ..samples::latency_figure() }, &rows)
}

#[test]
fn names_along_x_have_bars_side_by_side_and_no_lines() {
    let svg = categories(false);
    let document = Document::parse(&svg).unwrap();
    let lines = classed(document.root(), "lines")[0];
    assert!(!lines.children().any(|node| node.has_tag_name("path")), "{svg}");
    let bars = |curve: &Node<'_, '_>| -> Vec<[f64; 4]> {
        let rects = curve.descendants().filter(|node| node.has_tag_name("rect"));
        let number = |node: Node<'_, '_>, name| node.attribute(name).unwrap().parse().unwrap();
        rects.map(|rect| ["x", "y", "width", "height"].map(|name| number(rect, name))).collect()
    };
    let curves = classed(document.root(), "series");
    let (pull, binding) = (bars(&curves[0]), bars(&curves[1]));
    // The third run of `pull` failed: a cross says so.
    assert_eq!((pull.len(), binding.len()), (2, 3), "{svg}");
    assert_eq!(classed(curves[0], "end").len(), 1);
    let [x, y, width, height] = pull[0];
    assert!((x + width..x + width + 2.0).contains(&binding[0][0]), "they do not touch");
    assert!((y + height - (binding[2][1] + binding[2][3])).abs() < 0.1, "all begin at zero");
    assert!((binding[0][3] - 2.0 * height).abs() < 0.1, "twice the value is twice as high");
}

#[test]
fn over_a_logarithmic_axis_names_have_markers() {
    let svg = categories(true);
    let document = Document::parse(&svg).unwrap();
    let lines = classed(document.root(), "lines")[0];
    assert!(!lines.children().any(|node| node.has_tag_name("path")), "{svg}");
    let curves = classed(document.root(), "series");
    assert_eq!(classed(curves[1], "point").len(), 3);
    assert!(!curves[1].descendants().any(|node| node.has_tag_name("rect")));
}

#[test]
fn a_figure_of_some_rows_leaves_the_others_out() {
    let rows = samples::load_curves();
    let only = [("routing.engine".to_owned(), "adaptive".into())].into();
    let svg = draw(&Figure { only, ..samples::latency_figure() }, &rows);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(classed(document.root(), "series").len(), 1);
}

fn one_curve(points: &[(f64, f64, Status)]) -> (Figure, Vec<Row>) {
    let row = |(i, &(x, y, status)): (usize, &(f64, f64, Status))| {
        let settings = [("traffic.load", Setting::Number(x))];
        samples::row(i as u32, &settings, status, &[("latency_mean", y)])
    };
    let figure = Figure { series: Vec::new(), ..samples::latency_figure() };
    (figure, points.iter().enumerate().map(row).collect())
}

#[test]
fn points_are_joined_in_the_order_of_x() {
    use Status::Converged;
    let sorted = [(0.1, 10.0, Converged), (0.2, 11.0, Converged), (0.3, 14.0, Converged)];
    let mixed = [sorted[2], sorted[0], sorted[1]];
    let ((figure, sorted), (_, mixed)) = (one_curve(&sorted), one_curve(&mixed));
    assert_eq!(draw(&figure, &sorted), draw(&figure, &mixed));
}

#[test]
fn a_latency_at_saturation_is_not_drawn_even_when_it_is_there() {
    let (figure, rows) =
        one_curve(&[(0.1, 10.0, Status::Converged), (0.5, 9000.0, Status::Saturated)]);
    let svg = draw(&figure, &rows);
    let document = Document::parse(&svg).unwrap();
    let tips: Vec<_> = classed(document.root(), "point").iter().map(tip).collect();
    assert_eq!(tips.len(), 2);
    assert!(tips[1].contains("saturated") && !tips[1].contains("9000"), "{}", tips[1]);
    assert!(!texts(&document).iter().any(|text| text.contains("9000")), "the axis ignores it");
}

#[test]
fn along_anything_but_a_load_saturated_points_stand_alone() {
    let row = |(i, &(channels, status)): (usize, &(f64, Status))| {
        let settings = [("switch.virtual-channels", Setting::Number(channels))];
        let measured = [("offered", 0.5), ("latency_mean", 100.0)];
        samples::row(i as u32, &settings, status, &measured)
    };
    let statuses = [
        (1.0, Status::Saturated),
        (2.0, Status::Converged),
        (4.0, Status::Saturated),
        (8.0, Status::Converged),
    ];
    let rows: Vec<Row> = statuses.iter().enumerate().map(row).collect();
    let x = "switch.virtual-channels".to_owned();
    let figure = Figure { x, series: Vec::new(), ..samples::latency_figure() };
    let svg = draw(&figure, &rows);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(classed(document.root(), "exit").len(), 0, "no line backwards across the plot");
    assert_eq!(classed(document.root(), "end").len(), 2);
    let texts = texts(&document);
    assert!(texts.contains(&"saturated".to_owned()), "{texts:?}");
    assert!(texts.contains(&"virtual channels".to_owned()), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("from here on")), "{texts:?}");
}

#[test]
fn marks_of_one_place_stand_below_each_other() {
    let row = |i: u32| {
        let name = Setting::Text(format!("pattern-{i}"));
        let settings = [("destination", name), ("cluster.rails", Setting::Number(2.0))];
        samples::row(i, &settings, Status::Saturated, &[("offered", 0.5)])
    };
    let rows: Vec<Row> = (0..4).map(row).collect();
    let (x, series) = ("cluster.rails".to_owned(), vec!["destination".to_owned()]);
    let svg = draw(&Figure { x, series, ..samples::latency_figure() }, &rows);
    let document = Document::parse(&svg).unwrap();
    let reach = |end: &Node| {
        let circle = end.descendants().find(|node| node.has_tag_name("circle")).unwrap();
        ["cx", "cy"].map(|name| circle.attribute(name).unwrap().parse::<f64>().unwrap())
    };
    let places: Vec<[f64; 2]> = classed(document.root(), "end").iter().map(reach).collect();
    assert_eq!(places.len(), 4);
    assert!(
        places.windows(2).all(|pair| pair[0][0] == pair[1][0] && pair[0][1] + 10.0 < pair[1][1])
    );
}

#[test]
fn along_accepted_load_a_curve_leaves_where_saturation_begins() {
    let row = |(i, &(offered, accepted, status)): (usize, &(f64, f64, Status))| {
        let settings = [("traffic.load", Setting::Number(offered))];
        let measured = [("offered", offered), ("accepted", accepted), ("latency_mean", 100.0)];
        samples::row(i as u32, &settings, status, &measured)
    };
    let states = [
        (0.3, 0.3, Status::Converged),
        (0.5, 0.45, Status::Saturated),
        (0.7, 0.2, Status::Saturated),
    ];
    let rows: Vec<Row> = states.iter().enumerate().map(row).collect();
    let x = "accepted".to_owned();
    let figure = Figure { x, series: Vec::new(), ..samples::latency_figure() };
    let svg = draw(&figure, &rows);
    let document = Document::parse(&svg).unwrap();
    let ends = classed(document.root(), "end");
    assert_eq!(ends.len(), 1);
    assert!(tip(&ends[0]).contains("accepted 0.4500"), "{}", tip(&ends[0]));
}

#[test]
fn a_point_outside_the_range_asked_for_has_no_marker() {
    let (figure, rows) =
        one_curve(&[(0.1, 10.0, Status::Converged), (0.2, 500.0, Status::Converged)]);
    let figure = Figure { y_range: Some([0.0, 100.0]), ..figure };
    let svg = draw(&figure, &rows);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(classed(document.root(), "point").len(), 1);
}

#[test]
fn a_figure_without_points_says_so() {
    let svg = draw(&samples::latency_figure(), &[]);
    let document = Document::parse(&svg).unwrap();
    assert!(texts(&document).contains(&"no points to draw".to_owned()));
}

#[test]
fn a_long_legend_stays_in_its_box_and_in_the_figure() {
    let name = |i: u32| format!("s{i:059}");
    let settings = |i| [("scheme", Setting::Text(name(i))), ("traffic.load", Setting::Number(0.1))];
    let measured = [("latency_mean", 100.0)];
    let rows: Vec<Row> =
        (0..40).map(|i| samples::row(i, &settings(i), Status::Converged, &measured)).collect();
    let figure = Figure { series: vec!["scheme".to_owned()], ..samples::latency_figure() };
    let svg = draw(&figure, &rows);
    let document = Document::parse(&svg).unwrap();
    let number = |node: &Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let legend = classed(document.root(), "legend")[0];
    let boxed = legend.descendants().find(|node| node.has_tag_name("rect")).unwrap();
    let (right, bottom) = (
        number(&boxed, "x") + number(&boxed, "width"),
        number(&boxed, "y") + number(&boxed, "height"),
    );
    let figure = document.root_element();
    assert!(right <= number(&figure, "width") && bottom <= number(&figure, "height"));
    let names: Vec<_> = legend.descendants().filter(|node| node.has_tag_name("text")).collect();
    assert_eq!(names.len(), 40);
    for text in names {
        // Digits of the widest font that is tried, DejaVu Sans, take 0.636 em.
        let width = 0.636 * 12.0 * text.text().unwrap().trim().chars().count() as f64;
        assert!(number(&text, "x") + width <= right && number(&text, "y") <= bottom);
    }
}

#[test]
fn markup_in_names_stays_text() {
    let title = "<script>alert('x')</script> & \"more\"".to_owned();
    let figure = Figure { title: Some(title.clone()), ..samples::latency_figure() };
    let svg = draw(&figure, &samples::load_curves());
    let document = Document::parse(&svg).unwrap();
    assert!(texts(&document).contains(&title));
    assert!(!document.descendants().any(|node| node.has_tag_name("script")));
}

proptest! {
    #[test]
    fn any_rows_make_a_valid_document(
        figure in samples::any_figure(),
        rows in samples::any_rows(),
    ) {
        let svg = draw(&figure, &rows);
        let document = Document::parse(&svg).unwrap();
        prop_assert!(!document.descendants().any(|node| node.has_tag_name("script")));
        for node in document.descendants() {
            for name in ["x", "y", "cx", "cy", "width", "height", "d", "points"] {
                let place = node.attribute(name).unwrap_or("");
                prop_assert!(!place.contains("NaN") && !place.contains("inf"), "{name}={place}");
            }
        }
        prop_assert_eq!(draw(&figure, &rows), svg, "the same rows give the same bytes");
    }
}
