//! Tests of formulas: values, error messages, and robustness against arbitrary input.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::time::{Duration, Instant};

use crate::common::{Random, all_scores};
use scorewise::{Confusion, Formula, Score};

/// The confusion matrix for which the tests evaluate formulas.
const MATRIX: Confusion = Confusion::new(70.0, 10.0, 5.0, 15.0);

/// The value of a formula for a fixed confusion matrix.
fn formula_value(text: &str) -> f64 {
    Formula::parse(text).unwrap_or_else(|error| panic!("{error}")).value(&MATRIX)
}

#[test]
fn operator_precedence_is_as_in_mathematics() {
    assert_eq!(formula_value("1 + 2*3"), 7.0);
    assert_eq!(formula_value("2*3^2"), 18.0);
    assert_eq!(formula_value("2^3^2"), 512.0);
    assert_eq!(formula_value("-3^2"), -9.0);
    assert_eq!(formula_value("(-3)^2"), 9.0);
    assert_eq!(formula_value("2^-1"), 0.5);
    assert_eq!(formula_value("12/3/2"), 2.0);
    assert_eq!(formula_value("5 - 3 - 1"), 1.0);
    assert_eq!(formula_value("2 ** 3"), 8.0);
    assert_eq!(formula_value("7 − 2 · 3 × 1 ÷ 2"), 4.0);
    assert_eq!(formula_value("1e3 + .5 + 2."), 1002.5);
    assert_eq!(formula_value("min(3, 1, 2) + max(1, tp)"), 16.0);
    assert_eq!(formula_value("sqrt(16) + abs(-2) + ln(exp(1)) + exp(0)"), 8.0);
    assert_eq!(formula_value("p + n + total"), 200.0);
    assert_eq!(formula_value("TP + Fn"), 20.0);
}

#[test]
fn undefined_formulas_are_zero_in_a_loss_and_none_in_a_report() {
    for text in ["1/0", "tp/(fp - 10)", "ln(0)", "ln(fp - 11)", "sqrt(-1)", "0^(-1)", "(-8)^0.5"] {
        let formula = Formula::parse(text).unwrap();
        assert_eq!((formula.value(&MATRIX), formula.checked(&MATRIX)), (0.0, None), "{text}");
        let derivatives = formula.derivatives(&MATRIX);
        assert!(
            [derivatives.tn, derivatives.fp, derivatives.fn_, derivatives.tp]
                .iter()
                .all(|derivative| derivative.is_finite()),
            "{text}"
        );
    }
    assert_eq!(Formula::parse("exp(1000)").unwrap().checked(&MATRIX), None);
}

#[test]
fn parameters_can_be_given_by_position_or_by_name_or_left_at_their_defaults() {
    assert_eq!(formula_value("fbeta(2)"), formula_value("fbeta(beta=2)"));
    assert_eq!(formula_value("fbeta"), formula_value("f1"));
    assert_eq!(formula_value("tversky(0.3, 0.7)"), 15.0 / (15.0 + 0.3 * 10.0 + 0.7 * 5.0));
    assert_eq!(formula_value("tversky(beta=0.7, alpha=0.3)"), formula_value("tversky(0.3, 0.7)"));
    assert_eq!(formula_value("cost(fp=1, fn=10)"), 0.6);
    assert_eq!(formula_value("cost(fn=10)"), 0.6);
    assert_eq!(formula_value("cost(tp=-2, fp=1, fn=10)"), 0.3);
    assert_eq!(formula_value("net_benefit(0.1)"), 0.15 - 0.1 / 0.9 * 0.1);
    assert_eq!(formula_value("fbeta(1/2)"), formula_value("f0_5"));
    assert_eq!(Score::parse("F0.5").unwrap().name(), "f0_5");
    assert_eq!(Score::parse("net-benefit(0.1)").unwrap().name(), "net_benefit(0.1)");
    assert_eq!(Score::parse(" Balanced-Accuracy ").unwrap().name(), "balanced_accuracy");
    assert_eq!(Score::parse("f1-csi").unwrap().value(&MATRIX), formula_value("f1") - formula_value("csi"));
}

#[test]
fn errors_point_at_the_position_of_the_mistake() {
    for (text, expected) in [
        (
            "tss + presicion",
            "`presicion` is not a score, a cell or a function\n  tss + presicion\n        ^^^^^^^^^\nhint: did you mean `precision`?",
        ),
        ("tp/(tp+fn", "this bracket is never closed\n  tp/(tp+fn\n     ^"),
        ("tp/(tp+fn))", "this bracket was never opened\n  tp/(tp+fn))\n            ^"),
        ("tp +", "the formula ends too early: a number, a cell or a score is missing\n  tp +\n      ^"),
        ("", "the formula ends too early: a number, a cell or a score is missing\n  \n  ^"),
        ("2tp", "an operator is missing before the marked text\n  2tp\n   ^^\nhint: write `2*tp` for twice tp"),
        ("tp # fp", "`#` has no meaning in a formula\n  tp # fp\n     ^"),
        ("sqrt tp", "`sqrt` is a function: write `sqrt(…)`\n  sqrt tp\n  ^^^^"),
        ("min(tp)", "`min` takes two or more arguments\n  min(tp)\n        ^"),
        ("ln(tp, 2)", "`ln` takes one argument\n  ln(tp, 2)\n       ^"),
        ("tss(2)", "`tss` takes no parameters\n  tss(2)\n     ^"),
        ("fbeta(tp)", "a parameter of `fbeta` must be a number, not a formula\n  fbeta(tp)\n        ^^"),
        ("fbeta(-1)", "beta must be between 0 and 1000000, not -1\n  fbeta(-1)\n        ^"),
        ("fbeta(gamma=1)", "`fbeta` takes only the parameter beta\n  fbeta(gamma=1)\n        ^^^^^"),
        ("fbeta(1, 2)", "`fbeta` takes only the parameter beta\n  fbeta(1, 2)\n           ^"),
        ("cost(fp=1, fp=2)", "`fp` is given twice\n  cost(fp=1, fp=2)\n             ^^"),
        (
            "net_benefit",
            "`net_benefit` needs a value for threshold\n  net_benefit\n  ^^^^^^^^^^^\nhint: write `net_benefit(threshold=…)`",
        ),
        ("tss >= 0.5", "a score cannot contain a comparison\n  tss >= 0.5\n      ^^"),
        ("1e999", "this number is too large\n  1e999\n  ^^^^^"),
        (".", "`.` is not a number\n  .\n  ^"),
        ("$beta", "`$beta` is not a parameter of this formula\n  $beta\n  ^^^^^"),
        ("tp\u{7}fp", "`\\u{7}` has no meaning in a formula\n  tp fp\n    ^"),
    ] {
        assert_eq!(Formula::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    let error = Score::parse("balanced-acuracy").unwrap_err().to_string();
    assert!(error.ends_with("hint: did you mean `balanced_accuracy`?"), "{error}");
    // The error message for a long formula shows only the part around the error.
    let long = format!("{} + nonsuch + {}", vec!["tp"; 100].join("+"), vec!["fp"; 100].join("+"));
    let error = Formula::parse(&long).unwrap_err().to_string();
    assert!(error.lines().all(|line| line.chars().count() <= 100), "{error}");
    let lines: Vec<&str> = error.lines().collect();
    let (text, carets) = (lines[1].chars().collect::<Vec<_>>(), lines[2]);
    let start = carets.chars().take_while(|c| *c == ' ').count();
    assert_eq!(text[start..start + 7].iter().collect::<String>(), "nonsuch");
}

#[test]
fn printed_formulas_parse_to_the_same_formula() {
    let mut random = Random(31);
    for score in all_scores() {
        let formula = score.formula();
        assert_eq!(&Formula::parse(&formula.text()).unwrap(), formula, "{formula}");
    }
    for _ in 0..20_000 {
        let text = random_formula(&mut random, 4);
        let Ok(formula) = Formula::parse(&text) else { continue };
        let parsed = Formula::parse(&formula.text()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed, formula, "{text} was printed as {formula}");
        let (one, other) = (formula.value(&MATRIX), parsed.value(&MATRIX));
        assert!(one == other || (one.is_nan() && other.is_nan()));
        let is_balanced = |text: String| text.matches(['{', '(']).count() == text.matches(['}', ')']).count();
        assert!(is_balanced(formula.latex()) && is_balanced(formula.python()), "{text}");
    }
}

/// A random formula, which is usually valid.
fn random_formula(random: &mut Random, depth: usize) -> String {
    /// Cells, numbers and scores of which random formulas are composed.
    const FORMULA_LEAVES: [&str; 16] = [
        "tp",
        "fp",
        "fn",
        "tn",
        "p",
        "n",
        "total",
        "2",
        "0.5",
        "1e-3",
        "tss",
        "f1",
        "hss",
        "fbeta(2)",
        "cost(fn=-3)",
        "ets",
    ];
    if depth == 0 || random.integer_below(5) == 0 {
        return FORMULA_LEAVES[random.integer_below(FORMULA_LEAVES.len())].into();
    }
    let a = random_formula(random, depth - 1);
    let b = random_formula(random, depth - 1);
    match random.integer_below(12) {
        0 | 1 => format!("{a} + {b}"),
        2 | 3 => format!("{a} - ({b})"),
        4 | 5 => format!("({a})*{b}"),
        6 | 7 => format!("({a})/({b})"),
        8 => format!("({a})^2"),
        9 => format!("-{a}"),
        10 => format!("{}({a})", ["sqrt", "ln", "exp", "abs"][random.integer_below(4)]),
        _ => format!("{}({a}, {b})", ["min", "max"][random.integer_below(2)]),
    }
}

#[test]
fn first_and_second_derivatives_match_finite_differences() {
    let mut random = Random(32);
    for score in all_scores() {
        let formula = score.formula();
        let mut cell = || 20.0 + 100.0 * random.uniform();
        let c = Confusion::new(cell(), cell(), cell(), cell());
        let derivatives = formula.derivatives(&c);
        let value_after = |k: usize, by: f64| {
            let mut cells = c.array();
            cells[k] += by;
            formula.value(&Confusion::new(cells[0], cells[1], cells[2], cells[3]))
        };
        for (k, derivative) in [derivatives.tn, derivatives.fp, derivatives.fn_, derivatives.tp].into_iter().enumerate()
        {
            let difference = (value_after(k, 1e-4) - value_after(k, -1e-4)) / 2e-4;
            assert!(
                (derivative - difference).abs() < 1e-6 * derivative.abs() + 1e-9 * formula.value(&c).abs().max(1.0),
                "{score}, cell {k}"
            );
        }
        let reduced = formula.reduced(&c);
        assert!((reduced.positive - (derivatives.tp - derivatives.fn_)).abs() < 1e-12 * derivatives.tp.abs().max(1.0));
        assert!((reduced.negative - (derivatives.fp - derivatives.tn)).abs() < 1e-12 * derivatives.fp.abs().max(1.0));
        let second = formula.second_derivatives(&c);
        let at = |tp: f64, fp: f64| {
            let reduced = formula.reduced(&Confusion::new(c.tn - fp, c.fp + fp, c.fn_ - tp, c.tp + tp));
            [reduced.positive, reduced.negative]
        };
        for (direction, (tp, fp)) in [(1e-3, 0.0), (0.0, 1e-3)].into_iter().enumerate() {
            let (up, down) = (at(tp, fp), at(-tp, -fp));
            for component in 0..2 {
                let difference = (up[component] - down[component]) / 2e-3;
                let got = second[component][direction];
                assert!((got - difference).abs() < 1e-5 * got.abs() + 1e-9, "{score}: {got}, expected {difference}");
            }
        }
    }
}

/// Asserts that parsing terminates quickly, and that a parsed formula can be evaluated.
fn assert_handled_quickly(text: &str) {
    let start = Instant::now();
    match Formula::parse(text) {
        Ok(formula) => {
            let _ = (formula.value(&MATRIX), formula.checked(&MATRIX), formula.reduced(&MATRIX));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{} bytes took {:?}", text.len(), start.elapsed());
}

#[test]
fn a_million_random_inputs_do_not_panic() {
    /// Tokens, valid and invalid, of which random inputs are composed.
    const FORMULA_PIECES: [&str; 44] = [
        "tp",
        "fp",
        "fn",
        "tn",
        "p",
        "n",
        "total",
        "tss",
        "f1",
        "fbeta",
        "cost",
        "tversky",
        "(",
        ")",
        ",",
        "=",
        "+",
        "-",
        "*",
        "/",
        "^",
        "**",
        " ",
        "1",
        "0",
        ".5",
        "1e9",
        "1e-320",
        "sqrt",
        "ln",
        "exp",
        "abs",
        "min",
        "max",
        ">=",
        "and",
        "−",
        "∞",
        "\u{0}",
        "\u{202e}",
        "é",
        "$",
        "(((",
        "net_benefit(",
    ];
    let mut random = Random(33);
    let seeds: Vec<String> = all_scores().iter().map(|score| score.formula().text()).collect();
    for round in 0..1_000_000 {
        let text = match round % 4 {
            // In half of the rounds, the input is a random sequence of tokens.
            0 | 1 => (0..1 + random.integer_below(14))
                .map(|_| FORMULA_PIECES[random.integer_below(FORMULA_PIECES.len())])
                .collect::<String>(),
            // In a quarter of the rounds, the input is a valid formula with a few characters changed, removed or inserted.
            2 => {
                let mut characters: Vec<char> = seeds[random.integer_below(seeds.len())].chars().collect();
                for _ in 0..1 + random.integer_below(4) {
                    let at = random.integer_below(characters.len());
                    match random.integer_below(3) {
                        0 => characters[at] = char::from_u32(random.integer_below(0x3000) as u32).unwrap_or('?'),
                        1 => {
                            characters.remove(at);
                        }
                        _ => characters.insert(
                            at,
                            FORMULA_PIECES[random.integer_below(FORMULA_PIECES.len())].chars().next().unwrap(),
                        ),
                    }
                    if characters.is_empty() {
                        characters.push('(');
                    }
                }
                characters.into_iter().collect()
            }
            // Arbitrary characters.
            _ => (0..random.integer_below(24))
                .filter_map(|_| char::from_u32(random.integer_below(0x11_0000) as u32))
                .collect(),
        };
        match Formula::parse(&text) {
            Ok(formula) => {
                let _ = formula.value(&MATRIX);
            }
            Err(error) => assert!(!error.message().is_empty()),
        }
    }
}

#[test]
fn hostile_inputs_take_bounded_time_and_give_short_errors() {
    let repeat = |text: &str, times: usize| text.repeat(times);
    for text in [
        repeat("(", 100_000),
        repeat("(", 4000),
        format!("{}tp{}", repeat("(", 2000), repeat(")", 2000)),
        repeat("-", 4000),
        format!("{}1", repeat("2^", 2000)),
        format!("{}tp", repeat("tp+", 1300)),
        format!("{}tp", repeat("tp*", 1300)),
        format!("{}sedi", repeat("sedi/", 800)),
        format!("{}tp", repeat("sqrt(", 800)),
        format!("{}tp", repeat("fbeta(", 600)),
        format!("cost({})", repeat("fn=1,", 700)),
        format!("min({}tp)", repeat("tp,", 1300)),
        format!("fbeta({})", repeat("1+", 2000)),
        repeat("9", 4000),
        format!("1e{}", repeat("9", 4000)),
        repeat("tp ", 1300),
        repeat("\u{0}\u{1b}[31m", 500),
        repeat("é", 2000),
        repeat("abc_", 1000),
        "x".repeat(10_000_000),
        "(1+".repeat(2_000_000),
    ] {
        assert_handled_quickly(&text);
        let start = Instant::now();
        if let Err(error) = Score::parse(&text) {
            // The error message must be short for any input.
            let message = error.to_string();
            assert!(message.len() < 1000 && message.lines().count() <= 4, "{message}");
            assert!(!message.contains('\u{1b}') && !message.contains('\u{0}'));
        }
        let _ = scorewise::sweep::Condition::parse(&text);
        let _ = text.parse::<scorewise::Prior>();
        assert!(start.elapsed() < Duration::from_secs(2), "{} bytes took {:?}", text.len(), start.elapsed());
    }
}

#[test]
fn the_deepest_allowed_formula_is_printed_on_a_small_stack() {
    // A stack of 256 KiB is enough for the deepest formula that the parser accepts: evaluation is a loop, and printing recurses
    // to a depth of at most 256.
    let parse_and_print = || {
        let chain = format!("{}tp", "tp+".repeat(250));
        let formula = Formula::parse(&chain).unwrap();
        assert_eq!(formula.text().matches("tp").count(), 251);
        assert!(formula.latex().len() > 1000 && formula.python().len() > 1000);
        let nested = format!("{}tp{}", "sqrt(".repeat(60), ")".repeat(60));
        assert!(Formula::parse(&nested).unwrap().value(&MATRIX) >= 1.0);
        assert!(Formula::parse(&"(".repeat(4000)).is_err());
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(parse_and_print).unwrap().join().unwrap();
}
