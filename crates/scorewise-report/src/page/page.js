"use strict";
// Everything shown here was computed by scorewise and stands in the table of this page: this script looks numbers up and puts marks where
// they belong. It computes no score.
(function () {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const read = (id) => { const found = document.getElementById(id); return found ? JSON.parse(found.textContent) : null; };
  const table = read("table");
  const shown = (value) => (value === null ? "undefined" : String(value));

  function copy(text, words) {
    const done = () => { one("#copied").textContent = words; };
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand); else byHand();
  }

  function save(text, name, kind) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    one("#told").textContent = name + " is saved.";
  }

  const copyButton = one("#copy-json");
  if (copyButton) copyButton.addEventListener("click", () => copy(one("#result").textContent, "The result is copied as JSON."));

  // Paper cannot be opened.
  addEventListener("beforeprint", () => { for (const each of all("details")) each.open = true; });

  if (!table || !one("#threshold")) return;
  const count = table.threshold.length;
  const scores = new Map(table.scores.map((score) => [score.name, score]));
  const slider = one("#threshold");
  const typed = one("#typed");
  const cells = ["tn", "fp", "fn", "tp"].map((name) => [table[name], all(`[data-cell="${name}"]`)]);
  const values = table.scores.map((score) => [score.values, all(`[data-score="${CSS.escape(score.name)}"]`)]);
  const marks = all("svg.over").map((over) => {
    const [left, top, width, height, x0, x1, y0, y1] = over.dataset.frame.split(",").map(Number);
    return {
      x: (x) => left + (width * (x - x0)) / (x1 - x0),
      y: (y) => top + height - (height * (y - y0)) / (y1 - y0),
      holds: (y) => y >= y0 && y <= y1,
      line: over.querySelector("line"),
      dot: over.querySelector("circle"),
      extra: over.querySelector("path"),
      across: scores.get(over.dataset.across),
      up: scores.get(over.dataset.up),
    };
  });
  let place = table.chosen === null ? 0 : table.chosen;

  // The place whose step holds a threshold; where the table was thinned and none does, the nearest.
  function placeOf(threshold) {
    let low = 0, high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table.threshold[middle] <= threshold) low = middle + 1; else high = middle;
    }
    const [before, after] = [low - 1, low];
    if (before < 0) return 0;
    if (after === count || threshold < table.to[before]) return before;
    if (threshold >= table.from[after]) return after;
    return threshold - table.threshold[before] <= table.threshold[after] - threshold ? before : after;
  }

  function show(at, moveSlider) {
    place = Math.min(Math.max(at, 0), count - 1);
    for (const [column, elements] of cells) for (const element of elements) element.textContent = shown(column[place]);
    for (const [column, elements] of values) for (const element of elements) element.textContent = shown(column[place]);
    const said = table.said[place];
    one("#now").textContent = said;
    one("#now").dataset.exact = String(table.threshold[place]);
    one("#same").textContent = table.same[place];
    if (document.activeElement !== typed) typed.value = said;
    if (moveSlider) slider.value = String(table.threshold[place]);
    const main = table.scores[0];
    slider.setAttribute("aria-valuetext", `threshold ${said}, ${main.name} ${shown(main.values[place])}`);
    if (table.feasible) one("#feasible").textContent = table.feasible[place] ? "The conditions are met." : "A condition is not met here.";
    for (const mark of marks) {
      if (mark.line) {
        const x = mark.x(table.threshold[place]);
        mark.line.setAttribute("x1", x);
        mark.line.setAttribute("x2", x);
      }
      if (mark.dot) {
        const [x, y] = [mark.across.values[place], mark.up.values[place]];
        const isThere = x !== null && y !== null;
        mark.dot.style.display = isThere ? "" : "none";
        if (isThere) { mark.dot.setAttribute("cx", mark.x(Number(x))); mark.dot.setAttribute("cy", mark.y(Number(y))); }
      }
    }
  }

  slider.addEventListener("input", () => show(placeOf(Number(slider.value)), false));
  slider.addEventListener("change", () => show(place, true));
  slider.addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.round(count / 20));
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: far, PageDown: -far, Home: -count, End: count };
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(place + steps[event.key], true);
  });
  typed.addEventListener("change", () => {
    const threshold = Number(typed.value.replace(",", "."));
    if (typed.value.trim() !== "" && threshold >= 0 && threshold <= 1) show(placeOf(threshold), true);
    typed.value = table.said[place];
  });
  for (const button of all("[data-step]")) button.addEventListener("click", () => show(place + Number(button.dataset.step), true));
  for (const button of all("[data-place]")) {
    button.addEventListener("click", () => {
      show(Number(button.dataset.place), true);
      one("#told").textContent = `Threshold ${table.said[place]}.`;
    });
  }
  const jump = one("#jump");
  jump.addEventListener("change", () => {
    if (jump.value !== "") show(Number(jump.value), true);
    one("#told").textContent = `Threshold ${table.said[place]}.`;
    jump.value = "";
  });

  // A finger or a mouse on the curve moves the threshold as well.
  for (const curve of all(".picture.touch")) {
    const [left, , width] = curve.querySelector("svg.over").dataset.frame.split(",").map(Number);
    const whole = Number(curve.dataset.width);
    const follow = (event) => {
      const box = curve.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * whole;
      show(placeOf(Math.min(Math.max((x - left) / width, 0), 1)), true);
    };
    curve.addEventListener("pointerdown", (event) => { curve.setPointerCapture(event.pointerId); follow(event); });
    curve.addEventListener("pointermove", (event) => { if (event.buttons) follow(event); });
  }

  // One more score over the threshold.
  const more = one("#more");
  more.addEventListener("change", () => {
    const score = scores.get(more.value);
    for (const mark of marks.filter((each) => each.extra)) {
      let line = "";
      let isBroken = true;
      for (const [at, value] of score ? score.values.entries() : []) {
        const isDrawn = value !== null && mark.holds(Number(value));
        if (isDrawn) {
          const y = mark.y(Number(value)).toFixed(1);
          line += `${isBroken ? "M" : "L"}${mark.x(table.from[at]).toFixed(1)} ${y}L${mark.x(table.to[at]).toFixed(1)} ${y}`;
        }
        isBroken = !isDrawn;
      }
      mark.extra.setAttribute("d", line);
    }
  });

  one("#save-csv").addEventListener("click", () => {
    const quoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const heading = ["threshold", "low", "high", "tn", "fp", "fn", "tp", ...table.scores.map((score) => quoted(score.name))];
    const rows = [heading.join(",")];
    for (let at = 0; at < count; at += 1) {
      const numbers = table.scores.map((score) => (score.values[at] === null ? "" : score.values[at]));
      rows.push([table.threshold[at], table.from[at], table.to[at], table.tn[at], table.fp[at], table.fn[at], table.tp[at], ...numbers].join(","));
    }
    save(rows.join("\n") + "\n", "scorewise-thresholds.csv", "text/csv");
  });

  show(place, true);
})();
