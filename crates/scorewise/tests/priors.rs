//! Properties of every prior as a distribution on [0, 1], and the rejection of invalid priors.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::all_priors;
use scorewise::Prior;

#[test]
fn priors_are_probability_distributions() {
    for prior in all_priors() {
        let (low, high) = prior.support();
        assert!((0.0..1.0).contains(&low) && high > low && high <= 1.0);
        assert_eq!((prior.cdf(0.0), prior.cdf(1.0)), (0.0, 1.0), "{prior}");
        let mut last = 0.0;
        for k in 0..=1000 {
            let x = f64::from(k) / 1000.0;
            let cdf = prior.cdf(x);
            assert!(cdf >= last - 1e-15 && cdf <= 1.0, "{prior} at {x}");
            last = cdf;
            assert!((0.0..).contains(&prior.pdf(x)), "{prior} at {x}");
            if x < low || x > high {
                assert_eq!(prior.pdf(x), 0.0, "{prior} at {x}");
            }
            let round_trip = prior.cdf(prior.quantile(cdf));
            assert!((round_trip - cdf).abs() < 1e-12, "{prior}: F(quantile({cdf})) = {round_trip}");
        }
        // f is the density and F the distribution function of the prior. With p = σ(z), the density with respect to the logit z is
        // f(p) p (1 − p), and it must equal the derivative of F(σ(z)).
        for k in 1..60 {
            let (z, step) = (f64::from(k) / 5.0 - 6.0, 1e-5);
            let at = |z: f64| prior.cdf_at(scorewise::prior::Probability::from_logit(z));
            let difference = (at(z + step) - at(z - step)) / (2.0 * step);
            let got = prior.logit_density(z);
            assert!(
                (got - difference).abs() < 2e-5 * difference.max(0.05) + 5e-5 * f64::from(k % 2),
                "{prior} at {z}: {got}, expected {difference}"
            );
        }
        // The printed prior parses to the same prior.
        assert_eq!(prior.to_string().parse::<Prior>().unwrap(), prior);
    }
}

#[test]
fn samples_follow_the_distribution_and_depend_on_the_seed() {
    for prior in all_priors() {
        let count = 20_000;
        let sample: Vec<f64> = prior.sample(5).take(count).collect();
        assert!(prior.sample(5).take(100).eq(sample[..100].iter().copied()));
        assert!(prior.sample(6).next() != Some(sample[0]));
        let mean = sample.iter().sum::<f64>() / count as f64;
        let variance = sample.iter().map(|x| (x - prior.mean()).powi(2)).sum::<f64>() / count as f64;
        assert!((mean - prior.mean()).abs() < 5.0 * (prior.variance() / count as f64).sqrt(), "{prior}: mean {mean}");
        assert!((variance / prior.variance() - 1.0).abs() < 0.06, "{prior}: variance {variance}");
        // Kolmogorov–Smirnov test at a significance level of 1e-4.
        let mut sorted = sample.clone();
        sorted.sort_by(f64::total_cmp);
        let distance = sorted
            .iter()
            .enumerate()
            .map(|(at, x)| (prior.cdf(*x) - (at as f64 + 0.5) / count as f64).abs())
            .fold(0.0, f64::max);
        assert!(distance < 2.23 / (count as f64).sqrt(), "{prior}: {distance}");
    }
}

#[test]
fn invalid_priors_are_rejected_with_a_one_line_error() {
    for (text, part) in [
        ("cosine:0.95,0.1", "the support [0.85, 1.05] must lie in [0, 1]"),
        ("cosine:0.5,0", "the half-width must be above 0"),
        ("cosine:0.5,-0.1", "the half-width must be above 0"),
        ("cosine:nan,0.1", "must be finite numbers"),
        ("cosine:0.5", "two numbers are needed"),
        ("cosine", "write `cosine:centre,half_width`, for example `cosine:0.5,0.1`"),
        ("cosine:a,b", "`a` is not a number"),
        ("cosine:0.1,0.1,0.1", "two numbers are needed"),
        ("uniform:0.8,0.2", "the lower end must come first and must be below the upper end"),
        ("uniform:-0.1,0.5", "must lie in [0, 1]"),
        ("beta:0,1", "between 0.01 and 1000"),
        ("kumaraswamy:1,inf", "between 0.01 and 1000"),
        ("normal:1.5,0.1", "the centre must lie in [0, 1]"),
        ("logistic:0.5,0", "the scale must lie between 1e-6 and 1e6"),
        ("logistic:0.5,NaN", "the scale must lie between 1e-6 and 1e6"),
        ("mix:0,uniform", "must be above 0 and below 1"),
        ("mix:0.5", "write `mix:share,prior`"),
        ("mix:0.5,mix:0.5,uniform", "a mixture cannot contain another mixture"),
        ("gauss:0.5,0.1", "not a known family of priors; the families are uniform, cosine,"),
        ("", "not a known family"),
    ] {
        let error = text.parse::<Prior>().unwrap_err().to_string();
        assert!(error.contains(part) && error.starts_with("prior `"), "{text}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn priors_with_extreme_parameters_are_accurate() {
    let prior = |text: &str| text.parse::<Prior>().unwrap();
    let close = |got: f64, expected: f64, what: &str| {
        assert!((got / expected - 1.0).abs() < 1e-7, "{what}: {got}, expected {expected}");
    };
    // The distribution function of this prior is F = I_x(0.01, 0.01) ≈ x^0.01 / (0.01 B) near 0 with the constant
    // B = B(0.01, 0.01), the beta function, so its quantiles are of the order level^100.
    let small = prior("beta:0.01,0.01");
    assert!(small.quantile(0.05) < 1e-90 && small.quantile(0.05) > 1e-110, "{}", small.quantile(0.05));
    for level in [0.01, 0.2, 0.4] {
        close(small.cdf(small.quantile(level)), level, "F(Q(level))");
    }
    for sigma in ["1e4", "1e6"] {
        let wide = prior(&format!("normal:0.2,{sigma}"));
        close(wide.mean(), 0.5, "mean of a very wide normal prior");
        close(wide.variance(), 1.0 / 12.0, "variance of a very wide normal prior");
    }
    close(prior("kumaraswamy:1000,1000").variance(), 1.617_145_95e-6, "variance of a narrow Kumaraswamy prior");
    close(prior("uniform:0,1e-8").cdf(7.5e-9), 0.75, "narrow at 0");
    close(prior("triangular:1e-8,1e-8").cdf(1.5e-8), 0.875, "narrow at 0");
    assert!("cosine:0.5,1e-12".parse::<Prior>().unwrap_err().to_string().contains("the half-width must be at least"));
}
