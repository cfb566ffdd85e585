"""Golden values of upper tails of the binomial distribution, by which conditions on ratios of counts are tested."""

from importlib.metadata import version

import mpmath
from mpmath import mpf

from .shared import agrees, format_value, provenance_record, write_csv

# Pairs (at least, trials). Fractions stand for effective numbers of rows.
COUNTS = [(1, 1), (3, 3), (1, 5), (7, 20), (14, 20), (0.5, 3.25), (12.75, 31.5), (60, 200), (75.5, 200.25), (199, 200), (1000, 2500), (1800, 2000), (99_000, 100_000)]
SHARES = [0.001, 0.05, 0.3, 0.5, 0.634, 0.9, 0.99]
# Smaller tails are left out, because no test depends on their size.
SMALLEST = mpf(10) ** -200


def exact_tail(at_least, trials, share):
    """Return P(A >= at_least) with 50 digits, where A is the number of successes in `trials` trials that each succeed with probability `share`.

    An integer at_least gives a sum of binomial probabilities; other numbers give the regularised incomplete beta function, which continues this sum.
    """
    share = mpf(share)
    if not isinstance(at_least, int):
        a, b = mpf(at_least), mpf(trials) - mpf(at_least) + 1
        return share**a * (1 - share) ** b / (a * mpmath.beta(a, b)) * mpmath.hyp2f1(a + b, 1, a + 1, share)
    term = mpmath.binomial(trials, at_least) * share**at_least * (1 - share) ** (trials - at_least)
    total = term
    for count in range(at_least, trials):
        term *= mpf(trials - count) / (count + 1) * share / (1 - share)
        total += term
        if count > trials * share and term < total * mpf(10) ** -45:
            break
    return total


def make_binomial():
    """Write binomial.csv, the golden values of upper binomial tails."""
    from scipy import special, stats

    rows = []
    for at_least, trials in COUNTS:
        for share in SHARES:
            exact = exact_tail(at_least, trials, share)
            if exact < SMALLEST or exact > 1 - mpf(10) ** -30:
                continue
            case = [format_value(at_least), format_value(trials), format_value(share)]
            rows.append([*case, format_value(exact), "mpmath", version("mpmath")])
            tools = {"scipy betainc": float(special.betainc(at_least, trials - at_least + 1, share))}
            if isinstance(at_least, int):
                tools["scipy binom"] = float(stats.binom.sf(at_least - 1, trials, share))
            for tool, value in tools.items():
                if not agrees(value, exact):
                    raise SystemExit(f"{tool}: the tail of {case} is {value}, the formula gives {exact}")
                rows.append([*case, format_value(value), tool, version("scipy")])
    notes = ["P(A >= at_least) for A from the binomial distribution; for fractions, the regularised incomplete beta function."]
    header = ["at_least", "trials", "share", "value", "tool", "version"]
    write_csv("binomial.csv", provenance_record("binomial", ["mpmath", "scipy"]), notes, header, rows)
