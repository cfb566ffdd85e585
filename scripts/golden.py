"""Regenerate the golden files in crates/scorewise/tests/golden.

    pip install -r scripts/golden-requirements.txt
    python scripts/golden.py                    # all golden files
    python scripts/golden.py scores priors      # only these; the names are scores, priors, losses, multiclass, binomial and probabilities

Every value comes from another tool (scikit-learn, scores, pycm, xskillscore, imbalanced-learn, scipy, torch), or from the textbook formula
evaluated by mpmath with 50 digits; none comes from the Rust code. The run stops if a tool disagrees with the formula by more than 1e-12,
unless KNOWN_DIFFERENCES (scores) or KNOWN_SCIPY_DIFFERENCES (priors) gives a reason. Each golden file is made by a module of golden_parts.
"""

import sys

from golden_parts.binomial import make_binomial
from golden_parts.losses import make_losses
from golden_parts.multiclass import make_multiclass
from golden_parts.priors import make_priors
from golden_parts.probabilities import make_probabilities
from golden_parts.scores import make_scores

# Maps the name of each golden file on the command line to the function that writes the file.
MAKERS = {
    "scores": make_scores,
    "priors": make_priors,
    "losses": make_losses,
    "multiclass": make_multiclass,
    "binomial": make_binomial,
    "probabilities": make_probabilities,
}


def main():
    """Write the golden files that are named on the command line, or all of them."""
    names = sys.argv[1:] or list(MAKERS)
    unknown = [name for name in names if name not in MAKERS]
    if unknown:
        raise SystemExit(f"unknown golden files: {' '.join(unknown)}; these golden files can be made: {' '.join(MAKERS)}")
    for name in names:
        MAKERS[name]()


if __name__ == "__main__":
    main()
