"""Makes priors.csv: distribution function, density, quantiles, mean and variance of every prior, from formulas and from scipy."""

import math
from importlib.metadata import version

import mpmath
from mpmath import mpf

from golden_parts.shared import UNDEFINED, Undefined, agrees, provenance_record, format_value, value_or_undefined, write_csv

PRIORS = [
    "uniform",
    "uniform:0.2,0.8",
    "cosine:0.5,0.1",
    "cosine:0.3,0.3",
    "triangular:0.5,0.2",
    "epanechnikov:0.4,0.3",
    "quartic:0.6,0.25",
    "beta:2,5",
    "beta:0.5,0.5",
    "beta:30,120",
    "kumaraswamy:2,5",
    "kumaraswamy:0.5,0.7",
    "normal:0.5,0.1",
    "normal:0.2,0.3",
    "logistic:0.5,0.0137",
    "logistic:0.1,0.2",
    "mix:0.05,cosine:0.5,0.1",
]

COMPACT_FAMILIES = ("cosine", "triangular", "epanechnikov", "quartic")  # families with the support [mu − delta, mu + delta]


def parse_prior(text):
    """Parse `cosine:0.5,0.1` as ("cosine", [0.5, 0.1]); for `mix:0.05,PRIOR`, the parameters are 0.05 and PRIOR as a string."""
    kind, _, rest = text.partition(":")
    if kind == "mix":
        share, _, mixed = rest.partition(",")
        return kind, [float(share), mixed]
    return kind, [float(number) for number in rest.split(",") if number]


def prior_support(text):
    """Return the lower and the upper end of the support of a prior."""
    kind, parameters = parse_prior(text)
    if kind == "uniform" and parameters:
        return parameters
    if kind in COMPACT_FAMILIES:
        mu, delta = parameters
        # The ends of the support are rounded, because 0.6 − 0.25 is not exactly 0.35 in floating point.
        return [round(mu - delta, 12), round(mu + delta, 12)]
    return [0.0, 1.0]


def standardise(x, mu, delta):
    """Return u = (x − mu)/delta, clamped to [−1, 1]. A u within 1e-15 of ±1 is set to ±1, because `prior_support` rounds the ends of the support."""
    u = (mpf(x) - mpf(mu)) / mpf(delta)
    if abs(abs(u) - 1) < mpf("1e-15"):
        u = mpmath.sign(u)
    return max(mpf(-1), min(mpf(1), u))


def triangular_cdf(u):
    """Return the distribution function of the triangular distribution on [−1, 1]."""
    return (1 + u) ** 2 / 2 if u < 0 else 1 - (1 - u) ** 2 / 2


# Textbook formulas of the distribution function and the density of each family in COMPACT_FAMILIES, scaled to the support [−1, 1].
COMPACT_FORMULAS = {
    "cosine": (lambda u: (1 + u + mpmath.sinpi(u) / mpmath.pi) / 2, lambda u: (1 + mpmath.cospi(u)) / 2),
    "triangular": (triangular_cdf, lambda u: 1 - abs(u)),
    "epanechnikov": (lambda u: (2 + 3 * u - u**3) / 4, lambda u: 3 * (1 - u**2) / 4),
    "quartic": (lambda u: (8 + 15 * u - 10 * u**3 + 3 * u**5) / 16, lambda u: 15 * (1 - u**2) ** 2 / 16),
}


def logistic(x):
    """Return the standard logistic function 1/(1 + exp(−x))."""
    return 1 / (1 + mpmath.exp(-x))


def prior_cdf(text, x):
    """Return the distribution function F(x) of a prior with 50 digits.

    The parameters and x are taken as the numbers that f64 stores, not as exact decimal numbers.
    """
    kind, parameters = parse_prior(text)
    x = mpf(x)
    if kind == "mix":
        share, mixed = mpf(parameters[0]), parameters[1]
        return (1 - share) * prior_cdf(mixed, x) + share * x
    if kind in COMPACT_FAMILIES:
        return COMPACT_FORMULAS[kind][0](standardise(x, *parameters))
    if kind == "uniform":
        low, high = (mpf(end) for end in parameters or (0, 1))
        return max(mpf(0), min(mpf(1), (x - low) / (high - low)))
    a, b = (mpf(parameter) for parameter in parameters)
    if kind == "beta":
        return mpmath.betainc(a, b, 0, x, regularized=True)
    if kind == "kumaraswamy":
        return 1 - (1 - x**a) ** b
    untruncated = {"normal": mpmath.ncdf, "logistic": logistic}[kind]
    below, above = untruncated(-a / b), untruncated((1 - a) / b)
    return (untruncated((x - a) / b) - below) / (above - below)


def prior_pdf(text, x):
    """Return the density f(x) of a prior with 50 digits; raises Undefined where the density is infinite or has a jump inside (0, 1)."""
    kind, parameters = parse_prior(text)
    x = mpf(x)
    if kind == "mix":
        share, mixed = mpf(parameters[0]), parameters[1]
        return (1 - share) * prior_pdf(mixed, x) + share
    if kind in COMPACT_FAMILIES:
        return COMPACT_FORMULAS[kind][1](standardise(x, *parameters)) / mpf(parameters[1])
    if kind == "uniform":
        low, high = (mpf(end) for end in parameters or (0, 1))
        if parameters and x in (low, high):
            raise Undefined  # the density at a jump is a matter of convention
        return 1 / (high - low) if low <= x <= high else mpf(0)
    a, b = (mpf(parameter) for parameter in parameters)
    if kind in ("beta", "kumaraswamy") and ((x == 0 and a < 1) or (x == 1 and b < 1)):
        raise Undefined  # the density is infinite
    if kind == "beta":
        return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)
    if kind == "kumaraswamy":
        return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)
    if kind == "normal":
        return mpmath.npdf(x, a, b) / (mpmath.ncdf((1 - a) / b) - mpmath.ncdf(-a / b))
    density = logistic((x - a) / b) * logistic((a - x) / b) / b
    return density / (logistic((1 - a) / b) - logistic(-a / b))


def prior_quantile(text, level):
    """Return the quantile for a probability, found by bisection of the distribution function.

    No closed form is used, because the result is used to check the closed forms of quantiles.
    """
    low, high = (mpf(end) for end in prior_support(text))
    if level in (0.0, 1.0):
        return low if level == 0.0 else high
    for _ in range(150):
        middle = (low + high) / 2
        if prior_cdf(text, middle) < mpf(level):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def prior_mean_and_variance(text):
    """Return the mean E[X] = ∫ (1 − F) of a prior and its variance, which is computed from E[X²] = ∫ 2x (1 − F).

    Both integrals are from 0 to 1, need only the distribution function F, and have bounded integrands.
    """
    low, high = prior_support(text)
    kind, parameters = parse_prior(text)
    # The quadrature is split at kinks of the distribution function F, at the ends of the support and where F is steep.
    breaks = {0.0, low, high, 1.0}
    if kind == "mix":
        breaks |= set(prior_support(parameters[1]))
    if kind in ("triangular", "beta", "normal", "logistic"):
        middle = parameters[0] if kind != "beta" else parameters[0] / sum(parameters)
        spread = parameters[1] if kind != "beta" else 0.03
        breaks |= {middle + steps * spread for steps in (-16, -8, -4, -2, 0, 2, 4, 8, 16)}
    points = sorted(mpf(point) for point in breaks if 0 <= point <= 1)
    mean = mpmath.quad(lambda x: 1 - prior_cdf(text, x), points)
    square = mpmath.quad(lambda x: 2 * x * (1 - prior_cdf(text, x)), points)
    return mean, square - mean**2


class TruncatedLogistic:
    """scipy.stats.logistic truncated to [0, 1], because scipy truncates distributions only in its experimental classes."""

    def __init__(self, mu, scale):
        """Truncate the logistic distribution with the centre `mu` and this scale."""
        from scipy import stats

        self.whole = stats.logistic(mu, scale)
        self.below, above = self.whole.cdf([0.0, 1.0])
        self.mass = above - self.below

    def cdf(self, x):
        """Return the distribution function at x."""
        return (self.whole.cdf(x) - self.below) / self.mass

    def pdf(self, x):
        """Return the density at x."""
        return self.whole.pdf(x) / self.mass

    def ppf(self, level):
        """Return the quantile for this probability."""
        return self.whole.ppf(self.below + level * self.mass)


def scipy_prior(text):
    """Return the prior as a distribution of scipy.stats, or None if scipy does not have it."""
    from scipy import stats

    kind, parameters = parse_prior(text)
    if kind == "uniform":
        low, high = parameters or (0.0, 1.0)
        return stats.uniform(low, high - low)
    if kind == "beta":
        return stats.beta(*parameters)
    if kind == "normal":
        mu, sigma = parameters
        return stats.truncnorm(-mu / sigma, (1 - mu) / sigma, mu, sigma)
    if kind in COMPACT_FAMILIES:
        mu, delta = parameters
        return {
            "cosine": lambda: stats.cosine(mu, delta / math.pi),  # scipy defines this distribution on [−π, π]
            "triangular": lambda: stats.triang(0.5, mu - delta, 2 * delta),
            # The density of rdist(c) is proportional to (1 − u²)^(c/2 − 1).
            "epanechnikov": lambda: stats.rdist(4, mu, delta),
            "quartic": lambda: stats.rdist(6, mu, delta),
        }[kind]()
    if kind == "logistic":
        return TruncatedLogistic(*parameters)
    return None  # scipy has no kumaraswamy distribution, and mixtures only in its experimental classes


# The probabilities for which quantiles are computed for every prior: both ends, both tails and the middle.
LEVELS = [0.0, 1e-6, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-6, 1.0]
# Points x at which priors with the support [0, 1] are evaluated.
POINTS = [0.0, 1e-9, 1e-4, 0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 1 - 1e-9, 1.0]
# Priors with a support smaller than [0, 1], alone or in a mixture, are also evaluated at these points of the support. −1 is its lower end, 1 its
# upper end.
POINTS_IN_SUPPORT = [-1.0, -0.999, -0.9, -0.5, -0.1, 0.0, 0.3, 0.7, 0.95, 0.999, 1.0]


def evaluation_points(text):
    """Return the points x at which a prior is evaluated."""
    kind, parameters = parse_prior(text)
    low, high = prior_support(parameters[1] if kind == "mix" else text)
    if (low, high) == (0.0, 1.0):
        return POINTS
    inside = [round((low + high) / 2 + u * (high - low) / 2, 12) for u in POINTS_IN_SUPPORT]
    return sorted({0.0, 1e-9, 0.05, 0.95, 1 - 1e-9, 1.0, *inside})


def scipy_value(frozen, function, x):
    """Return the cdf, pdf, quantile, mean or variance of the scipy distribution `frozen`, or None if scipy cannot compute it."""
    if frozen is None:
        return None
    if function in ("mean", "variance"):
        if isinstance(frozen, TruncatedLogistic):
            return None
        return float(frozen.mean() if function == "mean" else frozen.var())
    return float({"cdf": frozen.cdf, "pdf": frozen.pdf, "quantile": frozen.ppf}[function](x))


def exact_prior_values(text):
    """Yield tuples (function, x, value) for one prior; the function is cdf, pdf, quantile, mean or variance."""
    mean, variance = prior_mean_and_variance(text)
    yield "mean", None, float(mean)
    yield "variance", None, float(variance)
    for x in evaluation_points(text):
        yield "cdf", x, float(prior_cdf(text, x))
        yield "pdf", x, value_or_undefined(prior_pdf, text, x)
    for level in LEVELS:
        yield "quantile", level, float(prior_quantile(text, level))


# Maps (prior, function) to the points x at which the relative difference between scipy and the formula exceeds 1e-12, and to the reason. The values
# of scipy at these points are not written to the golden file.
KNOWN_SCIPY_DIFFERENCES = {
    ("cosine:0.5,0.1", "cdf"): ([0.4], "scipy rounds the lower end of the support, so its cdf there is 5e-48 instead of 0"),
    ("cosine:0.3,0.3", "cdf"): ([1e-9], "scipy rounds x; near the end of the support F is proportional to the cube of the distance from the end, so rounding x gives F a large relative error"),
    ("cosine:0.5,0.1", "pdf"): ([0.4001, 0.5999], "scipy computes 1 + cos, which loses digits near the ends of the support, where cos is near −1"),
    ("cosine:0.3,0.3", "pdf"): ([1e-9, 0.0003, 0.5997], "scipy computes 1 + cos, which loses digits near the ends of the support, where cos is near −1"),
    ("triangular:0.5,0.2", "pdf"): ([0.7], "scipy rounds the upper end of the support, so its density there is 1e-15 instead of 0"),
    ("epanechnikov:0.4,0.3", "pdf"): ([0.7], "scipy rounds the upper end of the support, so its density there is 1e-15 instead of 0"),
    ("beta:0.5,0.5", "cdf"): ([1 - 1e-9], "the cdf of scipy differs by 1.1e-12, but 1 − stats.beta.sf agrees with mpmath"),
    ("normal:0.5,0.1", "cdf"): ([1e-9], "the cdf of scipy is inaccurate here, because it is the difference of two nearly equal values"),
    ("normal:0.2,0.3", "cdf"): ([1e-9], "the cdf of scipy is inaccurate here, because it is the difference of two nearly equal values"),
    ("normal:0.2,0.3", "quantile"): ([1e-6], "the quantile of scipy is inaccurate here, because its cdf is the difference of two nearly equal values"),
    ("logistic:0.5,0.0137", "cdf"): ([1e-9], "the cdf of scipy is inaccurate here, because it is the difference of two nearly equal values"),
    ("logistic:0.1,0.2", "cdf"): ([1e-9], "the cdf of scipy is inaccurate here, because it is the difference of two nearly equal values"),
    ("logistic:0.5,0.0137", "quantile"): ([1 - 1e-6, 1.0], "the quantile of scipy for a probability near 1 has too few correct digits: 0.9938 instead of 1"),
    ("logistic:0.1,0.2", "quantile"): ([0.0, 1e-6], "the quantile of scipy is inaccurate here, because its cdf is the difference of two nearly equal values"),
}


def check_density(text):
    """Check that the density f is the derivative of the distribution function F, which finds mistakes in either formula."""
    low, high = prior_support(text)
    for share in (0.13, 0.31, 0.58, 0.83):
        x = mpf(low) + mpf(share) * (mpf(high) - mpf(low))
        derivative = mpmath.diff(lambda point: prior_cdf(text, point), x)
        assert abs(derivative - prior_pdf(text, x)) < mpf("1e-15"), (text, x)


def make_priors():
    """Write priors.csv, the golden values of priors."""
    rows = []
    for text in PRIORS:
        check_density(text)
        frozen = scipy_prior(text)
        for function, x, exact in exact_prior_values(text):
            if exact == UNDEFINED:
                continue
            point = "" if x is None else format_value(x)
            rows.append([text, function, point, format_value(exact), "mpmath", version("mpmath")])
            value = scipy_value(frozen, function, x)
            if value is None:
                continue
            if agrees(value, exact):
                rows.append([text, function, point, format_value(value), "scipy", version("scipy")])
            elif x not in KNOWN_SCIPY_DIFFERENCES.get((text, function), ([], ""))[0]:
                raise SystemExit(f"scipy: {function} of {text} at {x} is {value}, the formula gives {exact}")
    notes = [
        "The values of mpmath are computed with 50 digits and rounded once: quantiles by bisection of F, mean and variance by quadrature of F.",
        "Parameters and x are the doubles nearest to the decimals shown. Infinite densities, and densities at a jump, are left out.",
    ]
    header = ["prior", "function", "x", "value", "tool", "version"]
    write_csv("priors.csv", provenance_record("priors", ["mpmath", "scipy"]), notes, header, rows)
