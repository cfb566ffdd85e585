//! The registry of scores, one entry per score. The entry determines the value, gradient, documentation, command-line name and Python name of the
//! score.
//!
//! A formula may use `tn fp fn tp p n total`, its parameters as `$name`, and other registered scores by name. Unless an entry
//! says otherwise, a score lies in [0, 1], higher is better, and 1 is perfect. The shape (linear, linear-fractional or neither), the
//! conditions under which the score is undefined, and the value without skill are not declared but derived from the formula.

/// Which values of a score are better: higher values, lower values, or values nearer to an ideal value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// Values nearer to this ideal value are better.
    Toward(f64),
}

/// A parameter of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The name of the parameter, such as `fp` in `cost(fp=1)`.
    pub name: &'static str,
    /// The default value; `None` if the parameter is mandatory.
    pub default: Option<f64>,
    /// The smallest allowed value of the parameter.
    pub low: f64,
    /// The largest allowed value of the parameter.
    pub high: f64,
}

impl Parameter {
    /// The allowed values of the parameter, in words.
    #[must_use]
    pub fn bounds(&self) -> String {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => format!("between {} and {}", self.low, self.high),
            (true, false) => format!("at or above {}", self.low),
            (false, true) => format!("at or below {}", self.high),
            (false, false) => "any number".into(),
        }
    }
}

/// One entry of the registry: a score with its formula, aliases, parameters, range and reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegistryEntry {
    /// The name of the score on the command line, in Python, in JSON and in reports.
    pub name: &'static str,
    /// The formula of the score as text.
    pub formula: &'static str,
    /// Other names of the score, which are accepted as input. Results and reports use `name`.
    pub aliases: &'static [&'static str],
    /// The parameters of the formula.
    pub parameters: &'static [Parameter],
    /// Which values of the score are better: higher, lower, or nearer to an ideal value.
    pub direction: Direction,
    /// Lowest and highest possible value of the score.
    pub range: (f64, f64),
    /// The value of a perfect forecast; `None` if it depends on the data or is not finite.
    pub perfect: Option<f64>,
    /// Reference to the publication that defines the score.
    pub reference: &'static str,
    /// A remark for users of the score.
    pub note: &'static str,
}

impl RegistryEntry {
    /// Sets the other names of the score.
    const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }
    /// Sets the parameters of the formula.
    const fn with_parameters(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }
    /// Sets the lowest and the highest possible value of the score.
    const fn range(mut self, low: f64, high: f64) -> Self {
        self.range = (low, high);
        self
    }
    /// Declares that lower values are better and that 0 is the perfect value.
    const fn lower_is_better(mut self) -> Self {
        self.direction = Direction::Lower;
        self.perfect = Some(0.0);
        self
    }
    /// Declares that values nearer to `value` are better and that `value` is perfect.
    const fn ideal_value(mut self, value: f64) -> Self {
        self.direction = Direction::Toward(value);
        self.perfect = Some(value);
        self
    }
    /// Sets the value of a perfect forecast; `None` if it depends on the data or is not finite.
    const fn perfect(mut self, value: Option<f64>) -> Self {
        self.perfect = value;
        self
    }
    /// Sets the publication that defines the score.
    const fn cite(mut self, reference: &'static str) -> Self {
        self.reference = reference;
        self
    }
    /// Sets the remark for users of the score.
    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// The name of the score with its parameters and their defaults, such as `fbeta(beta=1)`.
    #[must_use]
    pub fn signature(&self) -> String {
        if self.parameters.is_empty() {
            return self.name.to_string();
        }
        let assignment = |parameter: &Parameter| match parameter.default {
            Some(value) => format!("{}={value}", parameter.name),
            None => format!("{}=…", parameter.name),
        };
        format!("{}({})", self.name, self.parameters.iter().map(assignment).collect::<Vec<_>>().join(", "))
    }
}

/// A registry entry with the default settings: higher is better, the range is [0, 1], and 1 is perfect.
const fn score(name: &'static str, formula: &'static str) -> RegistryEntry {
    RegistryEntry {
        name,
        formula,
        aliases: &[],
        parameters: &[],
        direction: Direction::Higher,
        range: (0.0, 1.0),
        perfect: Some(1.0),
        reference: "",
        note: "",
    }
}

/// A parameter with its default (`None` if it is mandatory) and its smallest and largest allowed value.
const fn parameter(name: &'static str, default: Option<f64>, low: f64, high: f64) -> Parameter {
    Parameter { name, default, low, high }
}

const INF: f64 = f64::INFINITY;

const WILKS: &str = "Wilks, D. S. (2019). Statistical Methods in the Atmospheric Sciences, 4th ed., ch. 9. Elsevier.";
const FERRO: &str = "Ferro, C. A. T. & Stephenson, D. B. (2011). Extremal dependence indices. Weather and Forecasting 26, 699–713. doi:10.1175/WAF-D-10-05030.1";
const YERUSHALMY: &str = "Yerushalmy, J. (1947). Statistical problems in assessing methods of medical diagnosis. Public Health Reports 62, 1432–1449. doi:10.2307/4586294";
const VICKERS: &str = "Vickers, A. J. & Elkin, E. B. (2006). Decision curve analysis. Medical Decision Making 26, 565–574. doi:10.1177/0272989X06295361";
const RIJSBERGEN: &str = "van Rijsbergen, C. J. (1979). Information Retrieval, 2nd ed. Butterworths.";
const POWERS: &str = "Powers, D. M. W. (2011). Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and correlation. Journal of Machine Learning Technologies 2, 37–63.";
const GLAS: &str = "Glas, A. S. et al. (2003). The diagnostic odds ratio. Journal of Clinical Epidemiology 56, 1129–1135. doi:10.1016/S0895-4356(03)00177-X";

/// All registered scores, in groups; within a group the most common scores come first. Listings show them in this order.
#[rustfmt::skip]
pub static REGISTRY: &[RegistryEntry] = &[
    // Accuracy, and accuracy rescaled to [−1, 1].
    score("accuracy", "(tp + tn)/total").with_aliases(&["acc", "fraction_correct", "proportion_correct", "pc", "rand", "rand_accuracy"])
        .cite("Finley, J. P. (1884). Tornado predictions. American Meteorological Journal 1, 85–88.")
        .note("Useless for rare events: a forecast that never predicts them is almost always right."),
    score("kappa_no_prevalence", "2*accuracy - 1").with_aliases(&["kappa_np"]).range(-1.0, 1.0)
        .cite("Byrt, T., Bishop, J. & Carlin, J. B. (1993). Bias, prevalence and kappa. Journal of Clinical Epidemiology 46, 423–429. doi:10.1016/0895-4356(93)90018-V")
        .note("Accuracy rescaled to [−1, 1]."),

    // Scores that depend on the rows of one class only.
    score("recall", "tp/(tp + fn)").with_aliases(&["pod", "pody", "hit_rate", "sensitivity", "tpr", "true_positive_rate", "probability_of_detection"])
        .cite(YERUSHALMY).note("Recall is 1 if every row is predicted positive, so use it as a constraint or within another score."),
    score("specificity", "tn/(fp + tn)").with_aliases(&["podn", "tnr", "selectivity", "true_negative_rate"])
        .cite(YERUSHALMY).note("Specificity is 1 if no row is predicted positive."),
    score("pofd", "fp/(fp + tn)").with_aliases(&["false_alarm_rate", "fpr", "fall_out", "false_positive_rate", "probability_of_false_detection"]).lower_is_better()
        .cite(WILKS).note("The false alarm rate: the share of the negatives that are predicted positive. `far` is the false alarm ratio: the share of the alarms that are false."),
    score("miss_rate", "fn/(tp + fn)").with_aliases(&["fnr", "false_negative_rate"]).lower_is_better().cite(WILKS),

    // Further scores that are linear in (tp, fp) at fixed class counts, so that the score of the expected matrix equals the expected score.
    score("tss", "tp/(tp + fn) - fp/(fp + tn)").range(-1.0, 1.0)
        .with_aliases(&["peirce", "peirce_skill_score", "true_skill_statistic", "hanssen_kuipers", "hk", "youden_j", "youden", "informedness", "bm", "delta_p_prime", "hard_gini"])
        .cite("Peirce, C. S. (1884). The numerical measure of the success of predictions. Science 4(93), 453–454. doi:10.1126/science.ns-4.93.453-a"),
    score("balanced_accuracy", "(recall + specificity)/2").with_aliases(&["bacc", "mean_class_accuracy", "mean_per_class_accuracy", "hard_auc"])
        .cite("Brodersen, K. H. et al. (2010). The balanced accuracy and its posterior distribution. ICPR 2010, 3121–3124. doi:10.1109/ICPR.2010.764")
        .note("Equals (tss + 1)/2."),
    score("weighted_youden", "$weight*recall + (1 - $weight)*specificity").with_parameters(&[parameter("weight", Some(0.5), 0.0, 1.0)])
        .cite("Li, D.-L., Shen, F., Yin, Y., Peng, J.-X. & Chen, P.-Y. (2013). Weighted Youden index and its two-independent-sample comparison based on weighted sensitivity and specificity. Chinese Medical Journal 126, 1150–1154."),
    score("hss1", "(tp - fp)/(tp + fn)").with_aliases(&["appleman", "appleman_skill_score"]).range(-INF, 1.0)
        .cite("Barnes, G. & Leka, K. D. (2008). Evaluating the performance of solar flare forecasting methods. Astrophysical Journal Letters 688, L107. doi:10.1086/595550")
        .note("Equals 1 − (fp + fn)/p, where p is the number of events: the number of errors is compared with that of a forecast that never predicts the event."),
    score("net_benefit", "tp/total - $threshold/(1 - $threshold)*fp/total").with_aliases(&["nb"]).with_parameters(&[parameter("threshold", None, 0.0, 0.999_999)]).range(-INF, 1.0).perfect(None)
        .cite(VICKERS).note("The perfect value is the base rate."),
    score("standardised_net_benefit", "net_benefit($threshold)/(p/total)").with_aliases(&["snb", "standardized_net_benefit", "relative_utility"]).with_parameters(&[parameter("threshold", None, 0.0, 0.999_999)]).range(-INF, 1.0)
        .cite("Kerr, K. F., Brown, M. D., Zhu, K. & Janes, H. (2016). Assessing the clinical impact of risk prediction models with decision curves. Journal of Clinical Oncology 34, 2534–2540. doi:10.1200/JCO.2015.65.5654"),
    score("cost", "($tn*tn + $fp*fp + $fn*fn + $tp*tp)/total").with_aliases(&["expected_cost"]).lower_is_better().range(-INF, INF).perfect(None)
        .with_parameters(&[parameter("tn", Some(0.0), -INF, INF), parameter("fp", Some(1.0), -INF, INF), parameter("fn", Some(1.0), -INF, INF), parameter("tp", Some(0.0), -INF, INF)])
        .cite("Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI-01, 973–978.")
        .note("The mean cost per row, with a cost for each cell."),
    score("utility", "($tn*tn + $fp*fp + $fn*fn + $tp*tp)/total").with_aliases(&["cost_weighted_accuracy", "weighted_accuracy", "wa"]).range(-INF, INF).perfect(None)
        .with_parameters(&[parameter("tn", Some(1.0), -INF, INF), parameter("fp", Some(0.0), -INF, INF), parameter("fn", Some(0.0), -INF, INF), parameter("tp", Some(1.0), -INF, INF)])
        .cite("Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI-01, 973–978.")
        .note("Like `cost`, but with gains instead of costs: higher is better."),
    score("relative_economic_value", "(min($alpha, p/total) - fp/n*$alpha*(n/total) + tp/p*(p/total)*(1 - $alpha) - p/total)/(min($alpha, p/total) - p/total*$alpha)")
        .with_aliases(&["rev", "economic_value", "eclv", "psev"]).with_parameters(&[parameter("alpha", None, 0.0, 1.0)]).range(-INF, 1.0)
        .cite("Richardson, D. S. (2000). Skill and relative economic value of the ECMWF ensemble prediction system. Quarterly Journal of the Royal Meteorological Society 126, 649–667. doi:10.1002/qj.49712656313")
        .note("alpha is the cost-loss ratio. If alpha equals the base rate, this score equals tss."),
    score("leverage", "tp/total - p/total*((tp + fp)/total)").with_aliases(&["covariance"]).range(-0.25, 0.25).perfect(None)
        .cite("Piatetsky-Shapiro, G. (1991). Discovery, analysis, and presentation of strong rules. Knowledge Discovery in Databases, 229–248.")
        .note("Equals π(1 − π)·tss, where π is the base rate."),
    score("frequency_bias", "(tp + fp)/(tp + fn)").with_aliases(&["fbias", "bias"]).range(0.0, INF).ideal_value(1.0)
        .cite(WILKS).note("Alarms per event: useful as a check or a constraint, not as the only goal."),

    // Scores that are quotients of two linear functions of (tp, fp) at fixed class counts.
    score("precision", "tp/(tp + fp)").with_aliases(&["ppv", "success_ratio", "sr", "confidence", "positive_predictive_value"])
        .cite(WILKS).note("Use precision with a lower limit on recall: without this limit, the best forecast gives only the single most certain alarm."),
    score("far", "fp/(tp + fp)").with_aliases(&["false_alarm_ratio", "fdr", "false_discovery_rate"]).lower_is_better()
        .cite(WILKS).note("The false alarm ratio: the share of the alarms that are false. `pofd` is the false alarm rate: the share of the negatives that are predicted positive."),
    score("npv", "tn/(tn + fn)").with_aliases(&["negative_predictive_value"]).cite(YERUSHALMY),
    score("false_omission_rate", "fn/(tn + fn)").with_aliases(&["for", "fomr"]).lower_is_better().cite(POWERS),
    score("f1", "2*tp/(2*tp + fp + fn)").with_aliases(&["f_1", "f_measure", "f1_score", "dice", "sorensen", "sorensen_dice"]).cite(RIJSBERGEN),
    score("fbeta", "(1 + $beta^2)*tp/((1 + $beta^2)*tp + $beta^2*fn + fp)").with_aliases(&["f_beta"]).with_parameters(&[parameter("beta", Some(1.0), 0.0, 1e6)])
        .cite(RIJSBERGEN).note("Recall counts beta times as much as precision."),
    score("f2", "fbeta(2)").with_aliases(&["f_2"]).cite(RIJSBERGEN),
    score("f0_5", "fbeta(0.5)").with_aliases(&["f05", "f_0_5", "f_05"]).cite(RIJSBERGEN),
    score("tversky", "tp/(tp + $alpha*fp + $beta*fn)").with_aliases(&["tversky_index"]).with_parameters(&[parameter("alpha", Some(0.5), 0.0, 1e6), parameter("beta", Some(0.5), 0.0, 1e6)])
        .cite("Tversky, A. (1977). Features of similarity. Psychological Review 84, 327–352. doi:10.1037/0033-295X.84.4.327")
        .note("alpha is the weight of false alarms, beta that of misses (some tools swap the two)."),
    score("csi", "tp/(tp + fp + fn)").with_aliases(&["threat_score", "ts", "jaccard", "iou", "tanimoto", "critical_success_index"])
        .cite("Schaefer, J. T. (1990). The critical success index as an indicator of warning skill. Weather and Forecasting 5, 570–575. doi:10.1175/1520-0434(1990)005<0570:TCSIAA>2.0.CO;2")
        .note("Equals f1/(2 − f1)."),
    score("hss", "2*(tp*tn - fp*fn)/((tp + fn)*(fn + tn) + (tp + fp)*(fp + tn))").with_aliases(&["heidke", "heidke_skill_score", "hss2", "cohen_kappa", "cohens_kappa", "kappa", "doolittle"]).range(-1.0, 1.0)
        .cite("Heidke, P. (1926). Berechnung des Erfolges und der Güte der Windstärkevorhersagen im Sturmwarnungsdienst. Geografiska Annaler 8, 301–349. doi:10.1080/20014422.1926.11881138"),
    score("ets", "(tp - p*(tp + fp)/total)/(tp + fp + fn - p*(tp + fp)/total)").with_aliases(&["gss", "gilbert", "gilbert_skill_score", "equitable_threat_score"]).range(-1.0 / 3.0, 1.0)
        .cite("Gilbert, G. K. (1884). Finley's tornado predictions. American Meteorological Journal 1, 166–172.")
        .note("Equals hss/(2 − hss)."),

    // Scores that are neither linear functions of (tp, fp) at fixed class counts nor quotients of two such functions.
    score("mcc", "(tp*tn - fp*fn)/sqrt((tp + fp)*(tp + fn)*(tn + fp)*(tn + fn))").with_aliases(&["phi", "matthews", "matthews_correlation", "phi_coefficient"]).range(-1.0, 1.0)
        .cite("Matthews, B. W. (1975). Comparison of the predicted and observed secondary structure of T4 phage lysozyme. Biochimica et Biophysica Acta 405, 442–451. doi:10.1016/0005-2795(75)90109-9"),
    score("markedness", "tp/(tp + fp) + tn/(tn + fn) - 1").with_aliases(&["mk", "delta_p", "clayton", "clayton_skill_score"]).range(-1.0, 1.0).cite(POWERS),
    score("g_mean", "sqrt(recall*specificity)").with_aliases(&["gmean", "gm", "geometric_mean"])
        .cite("Kubat, M. & Matwin, S. (1997). Addressing the curse of imbalanced training sets: one-sided selection. ICML 1997, 179–186."),
    score("fowlkes_mallows", "tp/sqrt((tp + fp)*(tp + fn))").with_aliases(&["fm", "fmi", "ochiai", "cosine", "cosine_similarity", "g_measure"])
        .cite("Fowlkes, E. B. & Mallows, C. L. (1983). A method for comparing two hierarchical clusterings. Journal of the American Statistical Association 78, 553–569. doi:10.1080/01621459.1983.10478008"),
    score("p4", "4*tp*tn/(4*tp*tn + (tp + tn)*(fp + fn))").with_aliases(&["symmetric_f"])
        .cite("Sitarz, M. (2022). Extending F1 metric, probabilistic approach. arXiv:2210.11997."),
    score("min_class_accuracy", "min(recall, specificity)").with_aliases(&["minimax", "min_per_class_accuracy", "worst_class_accuracy"])
        .cite("Davenport, M. A., Baraniuk, R. G. & Scott, C. D. (2010). Tuning support vector machines for minimax and Neyman–Pearson classification. IEEE Transactions on Pattern Analysis and Machine Intelligence 32, 1888–1898. doi:10.1109/TPAMI.2010.29"),
    score("odds_ratio", "tp*tn/(fp*fn)").with_aliases(&["dor", "diagnostic_odds_ratio", "theta"]).range(0.0, INF).perfect(None)
        .cite(GLAS).note("Undefined (infinite) if there are no false alarms or no misses; not usable as a loss."),
    score("log_odds_ratio", "ln((tp + 0.5)*(tn + 0.5)/((fp + 0.5)*(fn + 0.5)))").with_aliases(&["ldor", "log_dor"]).range(-INF, INF).perfect(None)
        .cite("Haldane, J. B. S. (1956). The estimation and significance of the logarithm of a ratio of frequencies. Annals of Human Genetics 20, 309–311. doi:10.1111/j.1469-1809.1955.tb01285.x")
        .note("½ is added to every cell (Haldane), so that the score is always defined."),
    score("orss", "(tp*tn - fp*fn)/(tp*tn + fp*fn)").with_aliases(&["yules_q", "yule_q", "odds_ratio_skill_score"]).range(-1.0, 1.0)
        .cite("Stephenson, D. B. (2000). Use of the “odds ratio” for diagnosing forecast skill. Weather and Forecasting 15, 221–232. doi:10.1175/1520-0434(2000)015<0221:UOTORF>2.0.CO;2")
        .note("This score is 1 if there are no false alarms or no misses."),
    score("yules_y", "(sqrt(tp*tn) - sqrt(fp*fn))/(sqrt(tp*tn) + sqrt(fp*fn))").with_aliases(&["yule_y", "colligation"]).range(-1.0, 1.0)
        .cite("Yule, G. U. (1912). On the methods of measuring association between two attributes. Journal of the Royal Statistical Society 75, 579–652. doi:10.2307/2340126"),
    score("lr_plus", "recall/pofd").with_aliases(&["plr", "positive_likelihood_ratio"]).range(0.0, INF).perfect(None).cite(GLAS),
    score("lr_minus", "miss_rate/specificity").with_aliases(&["nlr", "negative_likelihood_ratio"]).lower_is_better().range(0.0, INF).cite(GLAS),
    score("discriminant_power", "sqrt(3)/3.141592653589793*ln(odds_ratio)").with_aliases(&["dp"]).range(-INF, INF).perfect(None)
        .cite("Blakeley, D. D. & Oddone, E. Z. (1995), as cited in: Sokolova, M., Japkowicz, N. & Szpakowicz, S. (2006). Beyond accuracy, F-score and ROC. AI 2006, 1015–1021. doi:10.1007/11941439_114"),
    score("eds", "2*ln(p/total)/ln(tp/total) - 1").with_aliases(&["extreme_dependency_score"]).range(-1.0, 1.0)
        .cite("Stephenson, D. B., Casati, B., Ferro, C. A. T. & Wilson, C. A. (2008). The extreme dependency score. Meteorological Applications 15, 41–50. doi:10.1002/met.53")
        .note("Depends on the hits but not on the false alarms, so more alarms improve the score: use it only in reports."),
    score("seds", "(ln((tp + fp)/total) + ln(p/total))/ln(tp/total) - 1").with_aliases(&["symmetric_extreme_dependency_score"]).range(-1.0, 1.0)
        .cite("Hogan, R. J., O'Connor, E. J. & Illingworth, A. J. (2009). Verification of cloud-fraction forecasts. Quarterly Journal of the Royal Meteorological Society 135, 1494–1511. doi:10.1002/qj.481"),
    score("edi", "(ln(pofd) - ln(recall))/(ln(pofd) + ln(recall))").with_aliases(&["extremal_dependence_index"]).range(-1.0, 1.0).cite(FERRO),
    score("sedi", "(ln(pofd) - ln(recall) + ln(miss_rate) - ln(specificity))/(ln(pofd) + ln(recall) + ln(miss_rate) + ln(specificity))").with_aliases(&["symmetric_extremal_dependence_index"]).range(-1.0, 1.0).cite(FERRO),
    score("iba", "(1 + $alpha*(recall - specificity))*recall*specificity").with_aliases(&["index_balanced_accuracy"]).with_parameters(&[parameter("alpha", Some(0.1), 0.0, 1.0)])
        .cite("García, V., Mollineda, R. A. & Sánchez, J. S. (2009). Index of balanced accuracy. IbPRIA 2009, 441–448. doi:10.1007/978-3-642-02172-5_57"),
    score("optimisation_precision", "accuracy - abs(specificity - recall)/(specificity + recall)").with_aliases(&["op", "optimization_precision", "optimized_precision"]).range(-1.0, 1.0)
        .cite("Ranawana, R. & Palade, V. (2006). Optimized precision: a new measure for classifier performance evaluation. IEEE Congress on Evolutionary Computation, 2254–2261. doi:10.1109/CEC.2006.1688586"),
    score("agm", "tp/tp*(g_mean + specificity*n/total)/(1 + n/total)").with_aliases(&["adjusted_geometric_mean", "adjusted_g_mean"])
        .cite("Batuwita, R. & Palade, V. (2009). A new performance measure for class imbalance learning. ICMLA 2009, 545–550. doi:10.1109/ICMLA.2009.126")
        .note("If there are no hits, the factor tp/tp makes the score 0 in a loss and undefined in a report."),
    score("agf", "sqrt(f2*1.25*tn/(1.25*tn + 0.25*fp + fn))").with_aliases(&["adjusted_f", "adjusted_f_measure"])
        .cite("Maratea, A., Petrosino, A. & Manzo, M. (2014). Adjusted F-measure and kernel scaling for imbalanced data learning. Information Sciences 257, 331–341. doi:10.1016/j.ins.2013.04.016"),
    score("overlap", "tp/min(tp + fp, tp + fn)").with_aliases(&["overlap_coefficient", "szymkiewicz_simpson", "simpson"])
        .cite("Simpson, G. G. (1943). Mammals and the nature of continents. American Journal of Science 241, 1–31. doi:10.2475/ajs.241.1.1"),
    score("braun_blanquet", "tp/max(tp + fp, tp + fn)").with_aliases(&["braun_banquet"])
        .cite("Braun-Blanquet, J. (1932). Plant Sociology. McGraw-Hill."),
    score("lift", "tp/(tp + fp)/(p/total)").with_aliases(&["lift_score"]).range(0.0, INF).perfect(None)
        .cite("Brin, S., Motwani, R., Ullman, J. D. & Tsur, S. (1997). Dynamic itemset counting and implication rules for market basket data. SIGMOD 1997, 255–264. doi:10.1145/253260.253325"),
    score("css", "sqrt(max(tss, 0)*max(hss, 0))").with_aliases(&["composite_skill_score"])
        .cite("The geometric mean of tss and hss, or 0 if one of them is negative, as used in the flare-forecasting literature."),
];

/// The registry entry of the score with this name or alias; `None` if there is none.
#[must_use]
pub fn row(name: &str) -> Option<&'static RegistryEntry> {
    REGISTRY.iter().find(|row| row.name == name || row.aliases.contains(&name))
}

/// The names and aliases of all registered scores.
pub fn names() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
}
