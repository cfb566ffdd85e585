"""Make the golden files of crates/scorewise/tests/golden again.

    pip install -r scripts/golden-requirements.txt
    python scripts/golden.py                    # all of them
    python scripts/golden.py scores priors      # some: scores, priors, losses, multiclass

Every value comes from a tool that is not ours (scikit-learn, scores, pycm, xskillscore, imbalanced-learn, scipy, torch),
or from the textbook formula in mpmath at 50 digits. No value is copied from, or made with, the Rust code.
A tool that disagrees with the formula by more than 1e-12 stops the run, unless KNOWN_DIFFERENCES (of the scores) or
KNOWN_SCIPY_DIFFERENCES (of the priors) says why it may. The work is in golden_parts, one module for each file.
"""

import sys

from golden_parts.losses import make_losses
from golden_parts.multiclass import make_multiclass
from golden_parts.priors import make_priors
from golden_parts.scores import make_scores

MAKERS = {
    "scores": make_scores,
    "priors": make_priors,
    "losses": make_losses,
    "multiclass": make_multiclass,
}


def main():
    asked = sys.argv[1:] or list(MAKERS)
    unknown = [name for name in asked if name not in MAKERS]
    if unknown:
        raise SystemExit(f"unknown: {' '.join(unknown)}; choose from {' '.join(MAKERS)}")
    for name in asked:
        MAKERS[name]()


if __name__ == "__main__":
    main()
