//! Parses and prints priors as strings: `cosine:0.5,0.1`, `mix:0.05,cosine:0.5,0.1`.

use std::fmt;
use std::str::FromStr;

use super::centred::Kernel;
use super::{
    Beta, Centred, Epanechnikov, Kumaraswamy, Logistic, Mixture, Normal, Prior, Quartic, RaisedCosine, Triangular,
    Uniform,
};
use crate::error::{Error, Result};
use crate::formula::{excerpt, shortest_decimal};

/// One family of priors, as listed by the command line and in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name of the family, written before the colon.
    pub name: &'static str,
    /// The syntax of a prior of this family, with the names of its parameters.
    pub form: &'static str,
    /// An example of a prior of this family that can be parsed.
    pub example: &'static str,
    /// The distribution function F as a formula.
    pub cdf: &'static str,
    /// A remark on the family, such as when to use it.
    pub note: &'static str,
}

/// Creates an entry of the list [`FAMILIES`].
const fn family(
    name: &'static str,
    form: &'static str,
    example: &'static str,
    cdf: &'static str,
    note: &'static str,
) -> Family {
    Family { name, form, example, cdf, note }
}

/// Largest number of characters of the input that are repeated in an error message.
const MAX_EXCERPT: usize = 60;

/// All families of priors, in the order in which the command line and the documentation list them.
#[rustfmt::skip]
pub static FAMILIES: &[Family] = &[
    family("uniform", "uniform[:low,high]", "uniform", "(x − a)/(b − a)", "all thresholds equally likely; the uniform prior on [0, 1] gives the soft-Dice and soft-F1 losses"),
    family("cosine", "cosine:centre,half_width", "cosine:0.5,0.1", "½(1 + u + sin(πu)/π)", "the raised cosine of Marchetti et al. (2022): training moves the best threshold towards the centre"),
    family("triangular", "triangular:centre,half_width", "triangular:0.5,0.2", "½(1 + u)² below the centre", "of all priors with a continuous density, this one is the cheapest to compute"),
    family("epanechnikov", "epanechnikov:centre,half_width", "epanechnikov:0.5,0.2", "¼(2 + 3u − u³)", "the density is a parabola"),
    family("quartic", "quartic:centre,half_width", "quartic:0.5,0.2", "½ + (15u − 10u³ + 3u⁵)/16", "similar to the cosine, but cheaper to compute"),
    family("beta", "beta:a,b", "beta:2,5", "I_x(a, b)", "skewed: mean a/(a + b)"),
    family("kumaraswamy", "kumaraswamy:a,b", "kumaraswamy:2,5", "1 − (1 − xᵃ)ᵇ", "similar to the beta prior, but F has a closed form"),
    family("normal", "normal:centre,deviation", "normal:0.5,0.1", "(Φ(t) − Φ(t₀))/Z", "truncated to [0, 1]; the density is above 0 on all of [0, 1], but may be tiny far from the centre"),
    family("logistic", "logistic:centre,scale", "logistic:0.5,0.0137", "(σ(t) − σ(t₀))/Z", "truncated to [0, 1]; with scale 1/73 the loss is called AnyLoss"),
    family("mix", "mix:share,prior", "mix:0.05,cosine:0.5,0.1", "(1 − ε)G(x) + εx", "another prior mixed with a share of the uniform prior"),
];

impl FromStr for Prior {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Prior { text: excerpt(text, MAX_EXCERPT), reason };
        let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        if name == "mix" || name == "mixture" {
            let (share, main) = rest.split_once(',').ok_or_else(|| refuse("write `mix:share,prior`".into()))?;
            let share = parse_number(share)
                .ok_or_else(|| refuse(format!("`{}` is not a number", excerpt(share, MAX_EXCERPT))))?;
            if main.trim_start().to_ascii_lowercase().starts_with("mix") {
                return Err(refuse(
                    "a mixture cannot contain another mixture; write one mixture with one share".into(),
                ));
            }
            return Ok(Prior::Mixture(Box::new(Mixture::new(share, main.parse()?)?)));
        }
        let Some(family) =
            FAMILIES.iter().find(|family| family.name == name || (name == "raised_cosine" && family.name == "cosine"))
        else {
            let known: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
            return Err(refuse(format!("not a known family of priors; the families are {}", known.join(", "))));
        };
        if family.name == "uniform" && rest.trim().is_empty() {
            return Ok(Prior::uniform());
        }
        let mut values = Vec::new();
        for part in rest.split(',').take(3) {
            let value = parse_number(part).ok_or_else(|| {
                if part.trim().is_empty() {
                    refuse(format!("write `{}`, for example `{}`", family.form, family.example))
                } else {
                    refuse(format!("`{}` is not a number; write `{}`", excerpt(part, MAX_EXCERPT), family.form))
                }
            })?;
            values.push(value);
        }
        let &[first, second] = values.as_slice() else {
            return Err(refuse(format!(
                "two numbers are needed: write `{}`, for example `{}`",
                family.form, family.example
            )));
        };
        Ok(match family.name {
            "uniform" => Prior::Uniform(Uniform::new(first, second)?),
            "cosine" => Prior::RaisedCosine(RaisedCosine::new(first, second)?),
            "triangular" => Prior::Triangular(Triangular::new(first, second)?),
            "epanechnikov" => Prior::Epanechnikov(Epanechnikov::new(first, second)?),
            "quartic" => Prior::Quartic(Quartic::new(first, second)?),
            "beta" => Prior::Beta(Beta::new(first, second)?),
            "kumaraswamy" => Prior::Kumaraswamy(Kumaraswamy::new(first, second)?),
            "normal" => Prior::Normal(Normal::new(first, second)?),
            "logistic" => Prior::Logistic(Logistic::new(first, second)?),
            other => unreachable!("family {other} is listed in FAMILIES but has no constructor here"),
        })
    }
}

/// The number that the text contains, apart from white space around it; `None` if the text is not a number.
fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

impl fmt::Display for Prior {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pair = |name: &str, (first, second): (f64, f64)| {
            write!(out, "{name}:{},{}", shortest_decimal(first), shortest_decimal(second))
        };
        match self {
            Prior::Uniform(prior) => match (Prior::Uniform(*prior)).support() {
                (0.0, 1.0) => out.write_str("uniform"),
                ends => pair("uniform", ends),
            },
            Prior::RaisedCosine(prior) => pair(kernel_name(prior), (prior.mu(), prior.delta())),
            Prior::Triangular(prior) => pair(kernel_name(prior), (prior.mu(), prior.delta())),
            Prior::Epanechnikov(prior) => pair(kernel_name(prior), (prior.mu(), prior.delta())),
            Prior::Quartic(prior) => pair(kernel_name(prior), (prior.mu(), prior.delta())),
            Prior::Beta(prior) => pair("beta", prior.shape_parameters()),
            Prior::Kumaraswamy(prior) => pair("kumaraswamy", prior.shape_parameters()),
            Prior::Normal(prior) => pair("normal", prior.parameters()),
            Prior::Logistic(prior) => pair("logistic", prior.parameters()),
            Prior::Mixture(prior) => write!(out, "mix:{},{}", shortest_decimal(prior.share()), prior.main()),
        }
    }
}

/// The name of the family of a prior that is defined by a kernel.
fn kernel_name<K: Kernel>(_: &Centred<K>) -> &'static str {
    K::NAME
}
