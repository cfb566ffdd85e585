"use strict";
// All values were computed by scorewise and are in the embedded table of this page. This script looks them up and moves the marks of the
// figures; it computes no score.
(function () {
  const find = (selector) => document.querySelector(selector);
  const findAll = (selector) => Array.from(document.querySelectorAll(selector));
  const readJson = (id) => { const element = document.getElementById(id); return element ? JSON.parse(element.textContent) : null; };
  const table = readJson("table");
  const formatted = (value) => (value === null ? "undefined" : String(value));

  function copyToClipboard(text, message) {
    const done = () => { find("#copied").textContent = message; };
    const copyFromTextarea = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, copyFromTextarea); else copyFromTextarea();
  }

  function saveAsFile(text, name, mediaType) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: mediaType }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    find("#status").textContent = name + " saved.";
  }

  const copyButton = find("#copy-json");
  if (copyButton) copyButton.addEventListener("click", () => copyToClipboard(find("#result").textContent, "The result is copied as JSON."));

  // Opens all collapsed sections before printing, because they cannot be opened on paper.
  addEventListener("beforeprint", () => { for (const each of findAll("details")) each.open = true; });

  if (!table || !find("#threshold")) return;
  const count = table.threshold.length;
  const scores = new Map(table.scores.map((score) => [score.name, score]));
  const slider = find("#threshold");
  const input = find("#typed");
  const cells = ["tn", "fp", "fn", "tp"].map((name) => [table[name], findAll(`[data-cell="${name}"]`)]);
  const values = table.scores.map((score) => [score.values, findAll(`[data-score="${CSS.escape(score.name)}"]`)]);
  const marks = findAll("svg.over").map((overlay) => {
    const [left, top, width, height, x0, x1, y0, y1] = overlay.dataset.frame.split(",").map(Number);
    return {
      x: (x) => left + (width * (x - x0)) / (x1 - x0),
      y: (y) => top + height - (height * (y - y0)) / (y1 - y0),
      isInside: (y) => y >= y0 && y <= y1,
      line: overlay.querySelector("line"),
      dot: overlay.querySelector("circle"),
      extra: overlay.querySelector("path"),
      across: scores.get(overlay.dataset.across),
      up: scores.get(overlay.dataset.up),
    };
  });
  let row = table.chosen === null ? 0 : table.chosen;

  // The index of the table row whose interval of thresholds contains `threshold`. The table may leave out thresholds; if no interval contains
  // `threshold`, the index of the nearest row is returned.
  function rowOfThreshold(threshold) {
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

  // Shows the values of a row of the table; a row number outside the table is replaced by that of the first or the last row.
  function showRow(requestedRow, moveSlider) {
    row = Math.min(Math.max(requestedRow, 0), count - 1);
    for (const [column, elements] of cells) for (const element of elements) element.textContent = formatted(column[row]);
    for (const [column, elements] of values) for (const element of elements) element.textContent = formatted(column[row]);
    const label = table.label[row];
    find("#now").textContent = label;
    find("#now").dataset.exact = String(table.threshold[row]);
    find("#same").textContent = table.same[row];
    if (document.activeElement !== input) input.value = label;
    if (moveSlider) slider.value = String(table.threshold[row]);
    const main = table.scores[0];
    slider.setAttribute("aria-valuetext", `threshold ${label}, ${main.name} ${formatted(main.values[row])}`);
    if (table.feasible) find("#feasible").textContent = table.feasible[row] ? "The conditions are met." : "A condition is not met at this threshold.";
    for (const mark of marks) {
      if (mark.line) {
        const x = mark.x(table.threshold[row]);
        mark.line.setAttribute("x1", x);
        mark.line.setAttribute("x2", x);
      }
      if (mark.dot) {
        const [x, y] = [mark.across.values[row], mark.up.values[row]];
        const isDefined = x !== null && y !== null;
        mark.dot.style.display = isDefined ? "" : "none";
        if (isDefined) { mark.dot.setAttribute("cx", mark.x(Number(x))); mark.dot.setAttribute("cy", mark.y(Number(y))); }
      }
    }
  }

  slider.addEventListener("input", () => showRow(rowOfThreshold(Number(slider.value)), false));
  slider.addEventListener("change", () => showRow(row, true));
  slider.addEventListener("keydown", (event) => {
    const pageStep = Math.max(1, Math.round(count / 20));
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: pageStep, PageDown: -pageStep, Home: -count, End: count };
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    showRow(row + steps[event.key], true);
  });
  input.addEventListener("change", () => {
    const threshold = Number(input.value.replace(",", "."));
    if (input.value.trim() !== "" && threshold >= 0 && threshold <= 1) showRow(rowOfThreshold(threshold), true);
    input.value = table.label[row];
  });
  for (const button of findAll("[data-step]")) button.addEventListener("click", () => showRow(row + Number(button.dataset.step), true));
  for (const button of findAll("[data-place]")) {
    button.addEventListener("click", () => {
      showRow(Number(button.dataset.place), true);
      find("#status").textContent = `Threshold ${table.label[row]}.`;
    });
  }
  const jump = find("#jump");
  jump.addEventListener("change", () => {
    if (jump.value !== "") showRow(Number(jump.value), true);
    find("#status").textContent = `Threshold ${table.label[row]}.`;
    jump.value = "";
  });

  // Dragging on the curve with a finger or the mouse moves the threshold as well.
  for (const curve of findAll(".picture.touch")) {
    const [left, , width] = curve.querySelector("svg.over").dataset.frame.split(",").map(Number);
    const pictureWidth = Number(curve.dataset.width);
    const follow = (event) => {
      const box = curve.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * pictureWidth;
      showRow(rowOfThreshold(Math.min(Math.max((x - left) / width, 0), 1)), true);
    };
    curve.addEventListener("pointerdown", (event) => { curve.setPointerCapture(event.pointerId); follow(event); });
    curve.addEventListener("pointermove", (event) => { if (event.buttons) follow(event); });
  }

  // Draws the curve of the score that the user selects in the menu "show another curve".
  const scoreMenu = find("#more");
  scoreMenu.addEventListener("change", () => {
    const score = scores.get(scoreMenu.value);
    for (const mark of marks.filter((each) => each.extra)) {
      let line = "";
      let isBroken = true;
      for (const [at, value] of score ? score.values.entries() : []) {
        const isDrawn = value !== null && mark.isInside(Number(value));
        if (isDrawn) {
          const y = mark.y(Number(value)).toFixed(1);
          line += `${isBroken ? "M" : "L"}${mark.x(table.from[at]).toFixed(1)} ${y}L${mark.x(table.to[at]).toFixed(1)} ${y}`;
        }
        isBroken = !isDrawn;
      }
      mark.extra.setAttribute("d", line);
    }
  });

  find("#save-csv").addEventListener("click", () => {
    const csvQuoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const header = ["threshold", "low", "high", "tn", "fp", "fn", "tp", ...table.scores.map((score) => csvQuoted(score.name))];
    const rows = [header.join(",")];
    for (let at = 0; at < count; at += 1) {
      const scoreValues = table.scores.map((score) => (score.values[at] === null ? "" : score.values[at]));
      rows.push([table.threshold[at], table.from[at], table.to[at], table.tn[at], table.fp[at], table.fn[at], table.tp[at], ...scoreValues].join(","));
    }
    saveAsFile(rows.join("\n") + "\n", "scorewise-thresholds.csv", "text/csv");
  });

  showRow(row, true);
})();
