//! The loss of a score as a CUDA function. The function is recorded while the formula is evaluated with a [`Number`] type that writes every operation
//! down, so value and derivatives follow the same rules as on the CPU.

use std::cell::RefCell;
use std::fmt::Write as _;

use super::number::{Number, Side};
use crate::score::Score;

/// The rules of [`Number`] for undefined results, as CUDA functions.
const RULES: &str = "\
__device__ inline double over(double x, double y) { return y == 0.0 ? 0.0 : x / y; }
__device__ inline double power(double x, double y) {
  if (x == 0.0 && y < 0.0) return 0.0;
  double value = pow(x, y);
  return isnan(value) ? 0.0 : value;
}
__device__ inline double root(double x) { return x > 0.0 ? sqrt(x) : 0.0; }
__device__ inline double logarithm(double x) { return x > 0.0 ? log(x) : 0.0; }
__device__ inline double choose(double x, double y, double below, double above) {
  return x < y ? below : x > y ? above : 0.5 * (below + above);
}
";

impl Score {
    /// CUDA source of `void score_loss(double tn, double fp, double fn, double tp, double p, double n, double& value, double& by_tp, double& by_fp)`.
    /// The function computes the loss of a confusion matrix with the class counts `p` and `n`, and the derivatives of the loss with respect to tp and
    /// fp at fixed class counts ([`Score::reduced_loss`]).
    #[must_use]
    pub fn cuda_loss(&self) -> String {
        let code = Code::default();
        let argument = |name: &'static str| Recorded::Argument(&code, name);
        let loss = self.reduced_loss(
            argument("tn"),
            argument("fp"),
            argument("fn"),
            argument("tp"),
            argument("p"),
            argument("n"),
        );
        let [value, by_tp, by_fp] = [loss.value, loss.positive, loss.negative].map(Recorded::text);
        format!(
            "{RULES}__device__ void score_loss(double tn, double fp, double fn, double tp, double p, double n, double& value, double& by_tp, double& \
             by_fp) {{\n{}  value = {value};\n  by_tp = {by_tp};\n  by_fp = {by_fp};\n}}\n",
            code.0.borrow().lines
        )
    }
}

/// The lines of the function that have been recorded.
#[derive(Default)]
struct Code(RefCell<RecordedLines>);

/// RecordedLines of CUDA, each of which defines one variable.
#[derive(Default)]
struct RecordedLines {
    lines: String,
    count: usize,
}

/// A number in the recorded function.
#[derive(Clone, Copy)]
enum Recorded<'a> {
    Constant(f64),
    Argument(&'a Code, &'static str),
    /// The variable that the line with this index defines.
    Variable(&'a Code, usize),
}

impl<'a> Recorded<'a> {
    /// The number as an expression of CUDA.
    fn text(self) -> String {
        match self {
            Recorded::Constant(value) if value.is_finite() => format!("({value:?})"),
            Recorded::Constant(value) if value.is_nan() => "nan(\"\")".into(),
            Recorded::Constant(value) => {
                format!("({}__longlong_as_double(0x7ff0000000000000LL))", if value < 0.0 { "-" } else { "" })
            }
            Recorded::Argument(_, name) => name.into(),
            Recorded::Variable(_, index) => format!("v{index}"),
        }
    }

    /// The code to which the number belongs; `None` for a constant.
    fn code(self) -> Option<&'a Code> {
        match self {
            Recorded::Constant(_) => None,
            Recorded::Argument(code, _) | Recorded::Variable(code, _) => Some(code),
        }
    }

    /// Records a line that defines a variable with this value, which is computed from `operands`. If all operands are constants, the value is
    /// computed now, by `constant`.
    fn record<const N: usize>(
        operands: [Self; N],
        constant: impl Fn([f64; N]) -> f64,
        text: impl Fn([String; N]) -> String,
    ) -> Self {
        let Some(code) = operands.iter().find_map(|operand| operand.code()) else {
            return Recorded::Constant(constant(operands.map(|operand| match operand {
                Recorded::Constant(value) => value,
                _ => f64::NAN,
            })));
        };
        let mut lines = code.0.borrow_mut();
        let index = lines.count;
        lines.count += 1;
        let text = text(operands.map(Recorded::text));
        writeln!(lines.lines, "  const double v{index} = {text};").expect("writing to a string");
        drop(lines);
        Recorded::Variable(code, index)
    }

    /// Whether the number is this constant.
    fn is(self, constant: f64) -> bool {
        matches!(self, Recorded::Constant(value) if value == constant)
    }
}

impl Number for Recorded<'_> {
    fn constant(value: f64) -> Self {
        Recorded::Constant(value)
    }
    fn plus(self, other: Self) -> Self {
        if self.is(0.0) {
            return other;
        }
        if other.is(0.0) {
            return self;
        }
        Recorded::record([self, other], |[a, b]| a + b, |[a, b]| format!("{a} + {b}"))
    }
    fn minus(self, other: Self) -> Self {
        if other.is(0.0) {
            return self;
        }
        Recorded::record([self, other], |[a, b]| a - b, |[a, b]| format!("{a} - {b}"))
    }
    fn times(self, other: Self) -> Self {
        if self.is(0.0) || other.is(1.0) {
            return self;
        }
        if other.is(0.0) || self.is(1.0) {
            return other;
        }
        Recorded::record([self, other], |[a, b]| a * b, |[a, b]| format!("{a} * {b}"))
    }
    fn over(self, other: Self) -> Self {
        if self.is(0.0) {
            return self;
        }
        Recorded::record([self, other], |[a, b]| a.over(b), |[a, b]| format!("over({a}, {b})"))
    }
    fn power(self, other: Self) -> Self {
        Recorded::record([self, other], |[a, b]| a.power(b), |[a, b]| format!("power({a}, {b})"))
    }
    fn sqrt(self) -> Self {
        Recorded::record([self], |[a]| Number::sqrt(a), |[a]| format!("root({a})"))
    }
    fn ln(self) -> Self {
        Recorded::record([self], |[a]| Number::ln(a), |[a]| format!("logarithm({a})"))
    }
    fn exp(self) -> Self {
        Recorded::record([self], |[a]| a.exp(), |[a]| format!("exp({a})"))
    }
    fn min(self, other: Self) -> Self {
        Recorded::record([self, other], |[a, b]| a.min(b), |[a, b]| format!("fmin({a}, {b})"))
    }
    fn max(self, other: Self) -> Self {
        Recorded::record([self, other], |[a, b]| a.max(b), |[a, b]| format!("fmax({a}, {b})"))
    }
    fn is_zero(self) -> bool {
        self.is(0.0)
    }
    fn compare(self, other: Self) -> Side {
        match (self, other) {
            (Recorded::Constant(a), Recorded::Constant(b)) => a.compare(b),
            _ => Side::Both,
        }
    }
    fn merge_branches(self, other: Self) -> Self {
        self.plus(other).times(Recorded::Constant(0.5))
    }
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        Recorded::record(
            [self, other, below, above],
            |[a, b, below, above]| a.choose_branch(b, below, above),
            |[a, b, below, above]| format!("choose({a}, {b}, {below}, {above})"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_csi_is_the_function_that_one_would_write() {
        let source = Score::parse("csi").unwrap().cuda_loss();
        let body = source.split_once("void score_loss").unwrap().1;
        assert!(body.contains("over(tp, "), "{body}");
        assert!(body.contains("by_tp = v") && body.contains("by_fp = v"), "{body}");
        // A constant derivative of 0 or 1 leaves no multiplication behind.
        assert!(!body.contains("(0.0) *") && !body.contains("* (1.0)"), "{body}");
    }

    #[test]
    fn every_registered_score_has_a_function() {
        for score in Score::all() {
            let source = score.cuda_loss();
            assert!(source.contains("  value = ") && !source.contains("NaN") && !source.contains("inf"), "{source}");
        }
    }
}
