"""Tests of report pages in a browser: they cause no errors or requests, are accessible, and show exactly the numbers of the command line.

Every page is made by the command and opened in Chromium: with a mouse, with a keyboard, on a phone, in dark mode, in print, and without
scripts. Expected numbers are computed by running the command again.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import io
import json
import random
import re

import numpy
import pytest

pytest.importorskip("playwright", reason="the pages are opened by playwright")

from axe_playwright_python.sync_playwright import Axe
from pages import (
    CASES,
    HOSTILE,
    HOSTILE_FILE,
    PAGES_WITH_SLIDER,
    PageFolder,
    browser_flags,
    chromium_path,
    format_count,
    format_in_sentence,
    format_number,
    run_command,
    serve_folder,
)
from PIL import Image
from playwright.sync_api import sync_playwright

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
CELLS = ["tn", "fp", "fn", "tp"]
# Pages that together contain every section that a report can have.
PAGES_WITH_ALL_SECTIONS = ["train", "tune", "theory", "compare", "reproduce", "classes", "plain"]

# JavaScript that returns the texts and numbers of the page, and the marks in its figures, that change with the threshold.
READ_STATE = """() => {
  const text = (selector) => document.querySelector(selector)?.textContent ?? null;
  return {
    exact: document.querySelector("#now").dataset.exact,
    now: text("#now"),
    same: text("#same"),
    typed: document.querySelector("#typed").value,
    slider: document.querySelector("#threshold").value,
    valuetext: document.querySelector("#threshold").getAttribute("aria-valuetext"),
    feasible: text("#feasible"),
    cells: Array.from(document.querySelectorAll("[data-cell]"), (each) => [each.dataset.cell, each.textContent]),
    scores: Array.from(document.querySelectorAll("[data-score]"), (each) => [each.dataset.score, each.textContent]),
    marks: Array.from(document.querySelectorAll("svg.over"), (over) => ({
      figure: over.closest("figure").id, isVisible: over.checkVisibility(), path: over.querySelector("path")?.getAttribute("d"),
      frame: over.dataset.frame.split(",").map(Number),
      across: over.dataset.across, up: over.dataset.up,
      line: over.querySelector("line") && ["x1", "x2"].map((name) => Number(over.querySelector("line").getAttribute(name))),
      dot: over.querySelector("circle") && ["cx", "cy"].map((name) => Number(over.querySelector("circle").getAttribute(name))),
      hidden: over.querySelector("circle")?.style.display === "none",
    })),
  };
}"""

# JavaScript that lists elements that extend beyond the right edge of the window and are not inside a scrollable element.
OVERFLOW = """() => document.documentElement.scrollWidth <= innerWidth ? [] : Array.from(document.querySelectorAll("body *"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5 && !each.closest(".scroll > *, svg")).map((each) => each.outerHTML.slice(0, 80))
  .concat(`the page is ${document.documentElement.scrollWidth} wide`)"""


@pytest.fixture(scope="session")
def pages_folder(tmp_path_factory):
    """Return the folder of report pages that all tests use."""
    return PageFolder(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def browser():
    """Start Chromium for all tests."""
    program = chromium_path()
    assert program, "Chromium was not found: install it (Debian: apt-get install chromium), or set SCOREWISE_BROWSER to its path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=browser_flags())
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(pages_folder):
    """Serve the folder of report pages and return its address."""
    with serve_folder(pages_folder.folder) as address:
        yield address


@contextlib.contextmanager
def open_page(browser, where, **options):
    """Open a page in a new browser context. Console errors, warnings and network requests fail the test."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    try:
        page = context.new_page()
        # A page of a megabyte loads slowly while other tests use all cores; the limit only ends a test that hangs.
        page.set_default_timeout(20000)
        problems = []
        page.on("console", lambda message: message.type in ("error", "warning") and problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("request", lambda request: request.url != address and not request.url.startswith("data:") and problems.append(request.url))
        address = where if isinstance(where, str) else where.path.as_uri()
        page.goto(address)
        yield page
        # Evaluating any expression waits until all earlier events of the page have been delivered.
        page.evaluate("0")
        assert problems == []
    finally:
        context.close()


def open_all_details(page):
    """Open all collapsible parts of the page."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def read_state(page):
    """Return everything on the page that changes with the threshold."""
    state = page.evaluate(READ_STATE)
    state["threshold"] = float(state["exact"])
    return state


# --- Tests of every page


@pytest.mark.parametrize("name", CASES)
def test_page_is_one_small_file_without_requests(pages_folder, browser, name):
    report = pages_folder[name]
    assert report.path.stat().st_size < 1_500_000
    with open_page(browser, report) as page:
        assert page.evaluate("performance.getEntriesByType('resource').filter((each) => !each.name.startsWith('data:')).length") == 0
        assert page.locator("h1").inner_text() != ""
        # The page fits the width of a phone.
        page.set_viewport_size(PHONE)
        assert page.evaluate(OVERFLOW) == []
        open_all_details(page)
        assert page.evaluate(OVERFLOW) == []
        # Controls are not printed, except the buttons in tables, whose labels are numbers of the table.
        page.set_viewport_size(DESKTOP)
        page.emulate_media(media="print")
        visible = "Array.from(document.querySelectorAll('{}'), (each) => each.checkVisibility())"
        controls = page.evaluate(visible.format(":not(td) > button, select, input, .controls, .skip"))
        assert len(controls) > 0 and not any(controls)
        assert all(page.evaluate(visible.format("td > button")))
        assert page.locator("h1").is_visible()
        # Every id of an element is unique.
        names = page.evaluate("Array.from(document.querySelectorAll('[id]'), (each) => each.id)")
        assert [each for each in names if names.count(each) > 1] == []


@pytest.mark.parametrize("name", ["tune", "plain"])
def test_page_works_from_a_web_server(pages_folder, browser, address, name):
    with open_page(browser, f"{address}/{name}.html" if pages_folder[name] else "") as page:
        assert page.locator("h1").inner_text() != ""
        if name in PAGES_WITH_SLIDER:
            before = read_state(page)
            page.locator("[data-step='1']").click()
            assert read_state(page)["threshold"] > before["threshold"]


# JavaScript that runs the accessibility checker axe on the page without the content of the figures, which axe treats as images. The script
# CONTRAST checks the contrast of text in figures.
AXE = """(rules) => {
  const pictures = Array.from(document.querySelectorAll("svg[role=img]"), (picture) => [picture, Array.from(picture.childNodes)]);
  pictures.forEach(([picture]) => picture.replaceChildren());
  const restorePictures = (found) => { pictures.forEach(([picture, children]) => picture.replaceChildren(...children)); return found; };
  return axe.run({ preload: false, rules }).then(restorePictures).then((found) => ({
    serious: found.violations.filter((each) => ["serious", "critical"].includes(each.impact))
      .map((each) => [each.id, each.help, each.nodes.map((node) => node.html.slice(0, 200))]),
    unsure: found.incomplete.filter((each) => each.id === "color-contrast").flatMap((each) => each.nodes.map((node) => node.html.slice(0, 100))),
    n_contrast: found.passes.filter((each) => each.id === "color-contrast").reduce((sum, each) => sum + each.nodes.length, 0),
    n_pictures: found.passes.filter((each) => each.id === "svg-img-alt").reduce((sum, each) => sum + each.nodes.length, 0),
  }));
}"""
# JavaScript that checks the contrast of all text, including text in figures, from computed colours (WCAG 2.2, criterion 1.4.3).
CONTRAST = """() => {
  const colour = (text) => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return { rgb: [r, g, b], alpha: a ?? 1 }; };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const background = colour(getComputedStyle(each).backgroundColor);
      if (background.alpha === 1) return background.rgb;
      if (background.alpha > 0) return null;
    }
    return null;
  };
  const textsWithLowContrast = [];
  let n_words = 0;
  for (const element of document.querySelectorAll("body *")) {
    const words = Array.from(element.childNodes).filter((node) => node.nodeType === 3).map((node) => node.data).join("").trim();
    if (words === "" || ["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const picture = element.closest("svg");
    const textColour = colour(picture ? style.fill : style.color).rgb;
    // The first rectangle of a figure is its background.
    const backgroundColour = picture ? colour(getComputedStyle(picture.querySelector("rect")).fill).rgb : backgroundOf(element);
    const [textLuminance, backgroundLuminance] = backgroundColour === null ? [0, 0] : [luminance(textColour), luminance(backgroundColour)];
    const ratio = (Math.max(textLuminance, backgroundLuminance) + 0.05) / (Math.min(textLuminance, backgroundLuminance) + 0.05);
    n_words += 1;
    if (ratio < 4.5) textsWithLowContrast.push([ratio.toFixed(2), words.slice(0, 40), element.tagName]);
  }
  return { low: textsWithLowContrast, n_words };
}"""


@pytest.mark.parametrize("name", [*PAGES_WITH_ALL_SECTIONS, "lead", "explain", "names", "files", "quiet", "tiny"])
def test_page_is_accessible(pages_folder, browser, name):
    report = pages_folder[name]
    # The page is checked in light mode, in dark mode with all details open, and on a phone. The contrast check of axe is slow. It is left out on the
    # phone, where colours are the same, and for pages whose sections are also on other pages. In these cases the script CONTRAST is enough.
    has_all = name in PAGES_WITH_ALL_SECTIONS
    settings = [("light", DESKTOP, False, has_all), ("dark", DESKTOP, True, has_all), ("light", PHONE, True, False)]
    with open_page(browser, report) as page:
        page.evaluate(Axe().axe_script)
        for scheme, size, is_open, has_colours in settings:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            if is_open:
                open_all_details(page)
            contrast = page.evaluate(CONTRAST)
            assert contrast["low"] == [] and contrast["n_words"] > 30, (scheme, size)
            axe_result = page.evaluate(AXE, {"color-contrast": {"enabled": has_colours}})
            assert axe_result["serious"] == [], (scheme, size)
            assert axe_result["n_pictures"] == page.locator("svg[role=img]").filter(visible=True).count()
            if has_colours:
                # If axe cannot determine the background colour of a text, only the script CONTRAST has checked its contrast.
                print(f"{name}, {scheme}: axe checked the contrast of {axe_result['n_contrast']} texts and could not check {axe_result['unsure']}")
                assert axe_result["n_contrast"] > 15 and len(axe_result["unsure"]) < 5


def test_names_from_the_data_are_escaped(pages_folder, browser):
    for name in ("names", "file", "files"):
        with open_page(browser, pages_folder[name]) as page:
            open_all_details(page)
            assert page.evaluate("document.images.length") == 0
            # A page has three script elements: the result, the lookup table and the code. The page of a comparison has no lookup table.
            assert page.evaluate("document.scripts.length") == (2 if name == "files" else 3)
            assert page.evaluate("document.querySelectorAll('svg script, svg img').length") == 0
            assert "taken" != page.title()
            if name == "names":
                assert page.locator(".matrix tbody th").nth(1).inner_text() == HOSTILE
                assert page.evaluate("JSON.parse(document.querySelector('script#result').textContent).classes[1]") == HOSTILE
            else:
                assert HOSTILE_FILE in page.locator(".kind").inner_text()
                assert HOSTILE_FILE in page.locator("#provenance").inner_text()


# --- Tests of choosing a threshold


@pytest.mark.parametrize("name", ["train", "score", "tune", "weighted", "theory", "quiet"])
def test_page_without_scripts_shows_the_chosen_threshold(pages_folder, browser, name):
    report = pages_folder[name]
    with open_page(browser, report, java_script_enabled=False) as page:
        state = read_state(page)
        assert page.locator("#now").is_visible() and page.locator(".matrix").is_visible()
    check_numbers(state, report.score(state["exact"]))
    if "threshold" in report.result:
        # The page of a training run shows raw predictions, before the calibration.
        assert state["threshold"] == report.result.get("raw_threshold", report.result["threshold"])
    if name == "tune":
        # With scripts enabled, the page starts in the same state as without scripts.
        with open_page(browser, report) as page:
            with_scripts = read_state(page)
        for part in ("exact", "now", "same", "cells", "scores", "feasible", "typed", "slider"):
            assert state[part] == with_scripts[part], part


def check_numbers(state, expected):
    """Check that all numbers that depend on the threshold are printed exactly as expected."""
    assert dict(state["cells"]) == {cell: format_number(expected["confusion"][cell]) for cell in CELLS}, state["exact"]
    scores = expected["scores"]
    shown = dict(state["scores"])
    assert {name: shown[name] for name in scores} == {name: format_number(scores[name]["value"]) for name in scores}, state["exact"]
    # A score that is shown in two places has the same value in both.
    assert {tuple(each) for each in state["scores"]} == set(shown.items())
    assert set(shown) - set(scores) <= {"cost(fp=1, fn=10)"}


def check_marks(state, expected):
    """Check the marks in the figures of a page, with a tolerance of 0.6 pixels.

    A marking line must be at the decision threshold on the x axis. The coordinates of a dot must be the values, at this threshold, of the two scores
    that the axes of its figure show.
    """
    assert len(state["marks"]) >= 4
    for mark in state["marks"]:
        left, top, width, height, x0, x1, y0, y1 = mark["frame"]
        if mark["line"]:
            x = left + width * (state["threshold"] - x0) / (x1 - x0)
            assert mark["line"] == pytest.approx([x, x], abs=0.6), mark["figure"]
        else:
            across, up = (expected["scores"][mark[axis]]["value"] for axis in ("across", "up"))
            assert mark["hidden"] == (across is None or up is None), mark["figure"]
            if not mark["hidden"]:
                place = [left + width * (across - x0) / (x1 - x0), top + height * (y1 - up) / (y1 - y0)]
                assert mark["dot"] == pytest.approx(place, abs=0.6), mark["figure"]


# JavaScript that enters each of the given thresholds and reads the state of the page.
ENTER_THRESHOLDS = f"""(texts) => texts.map((text) => {{
  const thresholdField = document.querySelector("#typed");
  thresholdField.value = text;
  thresholdField.dispatchEvent(new Event("change"));
  return ({READ_STATE})();
}})"""


def enter_thresholds(page, thresholds):
    """Enter thresholds one after the other, and return the state of the page after each."""
    return page.evaluate(ENTER_THRESHOLDS, [str(threshold) for threshold in thresholds])


def thresholds_of_lookup_table(page):
    """Return the thresholds that the slider can select."""
    return page.evaluate("JSON.parse(document.querySelector('#table').textContent).threshold")


# Each of the following functions moves the threshold in one way. It is a generator that yields whenever the test should check the page.


def drag_slider(page, generator):
    """Drag the slider with the mouse from one random place to another."""
    slider = page.locator("#threshold")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    across = [box["x"] + box["width"] * generator.random() for _ in range(2)]
    y = box["y"] + box["height"] / 2
    page.mouse.move(across[0], y)
    page.mouse.down()
    page.mouse.move(across[1], y, steps=3)
    yield
    page.mouse.up()
    state = read_state(page)
    assert float(state["slider"]) == pytest.approx(state["threshold"], abs=1e-15)
    yield


def press_slider_keys(page, generator):
    """Press random keys that move the slider."""
    page.locator("#threshold").focus()
    for key in generator.choices(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"], [9, 9, 3, 3, 4, 4, 1, 1], k=3):
        page.keyboard.press(key)
    yield


def type_threshold(page, generator):
    """Type a random threshold, with a decimal point or a decimal comma."""
    text = f"{generator.random() ** 2:.{generator.randint(1, 8)}f}"
    page.locator("#typed").fill(generator.choice([text, text.replace(".", ",")]))
    page.keyboard.press("Enter")
    assert page.locator("#typed").input_value() == page.locator("#now").inner_text()
    yield


def click_step_buttons(page, generator):
    """Click the buttons for the next and the previous threshold."""
    for _ in range(generator.randint(1, 3)):
        page.locator(f"[data-step='{generator.choice([1, -1])}']").click()
    yield


def select_from_jump_menu(page, generator):
    """Select the best threshold of a random score from the menu."""
    values = page.locator("#jump option").evaluate_all("each => each.map((option) => option.value)")
    page.locator("#jump").select_option(index=generator.randrange(1, len(values)))
    yield


def drag_along_curve(page, generator):
    """Press the mouse button on the curve of the score, and drag the mouse."""
    curve = page.locator(".picture.touch").filter(visible=True)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    across = [box["x"] + box["width"] * generator.random() for _ in range(2)]
    y = box["y"] + box["height"] * generator.uniform(0.2, 0.7)
    page.mouse.move(across[0], y)
    page.mouse.down()
    yield
    page.mouse.move(across[1], y, steps=2)
    yield
    page.mouse.up()


def click_best_threshold(page, generator):
    """Click the best threshold of a random score in the table of scores."""
    page.locator("td button[data-place]").nth(generator.randrange(9)).click()
    yield


@pytest.mark.parametrize(("name", "rounds"), [("tune", 6), ("score", 6), ("train", 6), ("weighted", 2), ("lead", 1), ("cost", 1), ("tiny", 1)])
def test_page_shows_the_numbers_of_the_command_at_every_selected_threshold(pages_folder, browser, name, rounds):
    report = pages_folder[name]
    generator = random.Random(7)
    states = []
    with open_page(browser, report) as page:
        for _ in range(rounds):
            for move in (
                drag_slider,
                press_slider_keys,
                type_threshold,
                click_step_buttons,
                select_from_jump_menu,
                drag_along_curve,
                click_best_threshold,
            ):
                for _ in move(page, generator):
                    states.append(read_state(page))
        exact = set(thresholds_of_lookup_table(page))
    # There are seven ways to move the threshold. Dragging the slider and dragging along the curve give two states each, so a round gives nine states.
    assert len(states) == 9 * rounds
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        expected = list(pool.map(report.score, [each["exact"] for each in states]))
        # The displayed threshold, which is rounded, gives the same confusion matrix as the exact threshold.
        rounded = list(pool.map(report.score, [each["now"] for each in states[::4]]))
        assert [each["confusion"] for each in rounded] == [each["confusion"] for each in expected[::4]]
    for shown, output in zip(states, expected):
        assert shown["threshold"] in exact
        check_numbers(shown, output)
        check_marks(shown, output)
        assert shown["valuetext"].startswith(f"threshold {shown['now']}, ")
    if rounds > 5:
        assert len({each["exact"] for each in states}) > 30


def test_conditions_are_shown_as_met_at_the_thresholds_that_satisfy_them(pages_folder, browser):
    report = pages_folder["tune"]
    with open_page(browser, report) as page:
        words = {each["exact"]: each["feasible"] for each in enter_thresholds(page, numpy.linspace(0, 1, 41).round(4))}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        precisions = dict(zip(words, pool.map(lambda exact: report.score(exact)["scores"]["precision"]["value"], words)))
    for exact, precision in precisions.items():
        is_met = precision is not None and precision >= 0.3
        assert words[exact] == ("The conditions are met." if is_met else "A condition is not met at this threshold."), (exact, precision)
    assert len(set(words.values())) == 2


@pytest.mark.parametrize("name", ["tiny", "score"])
def test_entered_threshold_selects_the_interval_that_contains_it(pages_folder, browser, name):
    report = pages_folder[name]
    points = pages_folder.page_data(name)["forecast"]["points"]
    thresholds = [*numpy.linspace(0, 1, 101).round(4), 0.9999]
    with open_page(browser, report) as page:
        states = enter_thresholds(page, thresholds)
    wrong = []
    for threshold, shown in zip(thresholds, states):
        known = [point for point in points if point["low"] <= threshold < point["high"] or threshold == 1 == point["high"]]
        # The lookup table of a page lists intervals of thresholds; all thresholds of an interval give the same confusion matrix. For a small file
        # it lists all of these intervals, so every threshold lies in one of them.
        assert known or name != "tiny", threshold
        if known and dict(shown["cells"]) != dict(zip(CELLS, map(format_number, known[0]["cells"]))):
            wrong.append((float(threshold), shown["exact"]))
    assert wrong == [], "for these entered thresholds, the page selected a threshold with another confusion matrix"


def test_confusion_matrix_is_constant_on_each_interval_of_the_lookup_table(pages_folder):
    """The expected confusion matrices are computed from the rows: a row is predicted positive if its probability is strictly above the threshold."""
    for name in ("score", "tiny", "cost"):
        report = pages_folder[name]
        with open(report.folder / report.rows[0], encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        probability = numpy.array([float(row["probability"]) for row in rows])
        truth = numpy.array([int(row["truth"]) for row in rows])
        forecast = pages_folder.page_data(name)["forecast"]
        thresholds = [point["threshold"] for point in forecast["points"]]
        assert thresholds == sorted(set(thresholds))
        assert {forecast["threshold"], 0.5} | {each["threshold"] for each in forecast["optima"]} <= set(thresholds)
        ends = {"low": [], "threshold": [], "high": []}
        for point in forecast["points"]:
            assert point["low"] <= point["threshold"] and (point["threshold"] < point["high"] or point["high"] == 1)
            for end in ends:
                # An interval includes its upper end only if it is the last interval.
                ends[end].append(numpy.nextafter(point[end], 0) if end == "high" and point[end] < 1 else point[end])
        for at in ends.values():
            is_positive = probability > numpy.array(at)[:, None]
            cells = [(one & other).sum(axis=1) for other in (truth == 0, truth == 1) for one in (~is_positive, is_positive)]
            numpy.testing.assert_array_equal(numpy.transpose(cells), [point["cells"] for point in forecast["points"]])


def test_slider_works_with_the_keyboard_and_announces_its_value(pages_folder, browser):
    with open_page(browser, pages_folder["tune"]) as page:
        stops = []
        for _ in range(30):
            page.keyboard.press("Tab")
            focus = page.evaluate(
                """() => { const at = document.activeElement; const style = getComputedStyle(at);
                return [at.id || at.textContent.slice(0, 20), style.outlineStyle, parseFloat(style.outlineWidth)]; }"""
            )
            # Every focused element has a visible outline.
            assert focus[1] != "none" and focus[2] >= 2, focus
            stops.append(focus[0])
            if focus[0] == "threshold":
                break
        assert stops[0] == "Skip to content" and stops[-1] == "threshold", stops
        thresholds = thresholds_of_lookup_table(page)
        last, page_step = len(thresholds) - 1, round(len(thresholds) / 20)
        at = thresholds.index(read_state(page)["threshold"])
        announced = [read_state(page)["valuetext"]]
        for key, expected in [
            ("ArrowRight", at + 1),
            ("ArrowUp", at + 2),
            ("ArrowLeft", at + 1),
            ("ArrowDown", at),
            ("PageUp", at + page_step),
            ("PageDown", at),
            ("Home", 0),
            ("ArrowLeft", 0),
            ("PageDown", 0),
            ("End", last),
            ("ArrowRight", last),
            ("PageUp", last),
            ("ArrowLeft", last - 1),
        ]:
            page.keyboard.press(key)
            state = read_state(page)
            assert thresholds.index(state["threshold"]) == expected, key
            assert float(state["slider"]) == pytest.approx(state["threshold"], abs=1e-15)
            announced.append(state["valuetext"])
            csi = dict(state["scores"])["csi"]
            assert state["valuetext"] == f"threshold {state['now']}, csi {csi}"
        assert len(set(announced)) == len({0, last, last - 1, at, at + 1, at + 2, at + page_step})


def test_tapping_the_curve_moves_the_threshold(pages_folder, browser):
    with open_page(browser, pages_folder["score"], viewport=PHONE, has_touch=True, is_mobile=True) as page:
        curve = page.locator(".picture.touch").filter(visible=True)
        curve.scroll_into_view_if_needed()
        box = curve.bounding_box()
        left, _, width, *_ = next(mark["frame"] for mark in read_state(page)["marks"] if mark["figure"] == "figure-scores" and mark["isVisible"])
        for threshold in (0.25, 0.75):
            across = (left + width * threshold) / float(curve.get_attribute("data-width"))
            page.touchscreen.tap(box["x"] + box["width"] * across, box["y"] + box["height"] / 2)
            assert read_state(page)["threshold"] == pytest.approx(threshold, abs=0.02)


def test_invalid_thresholds_are_ignored(pages_folder, browser):
    with open_page(browser, pages_folder["tune"]) as page:
        before = read_state(page)
        for text in ("", "  ", "abc", "1.2", "-0.1", "0.3.1", "NaN", "Infinity"):
            page.locator("#typed").fill(text)
            page.keyboard.press("Enter")
            assert read_state(page) == before, text


def test_jump_menu_selects_the_best_threshold_that_scorewise_tune_finds(pages_folder, browser):
    report = pages_folder["tune"]
    with open_page(browser, report) as page:
        open_all_details(page)
        for score in ("f1", "csi", "tss", "hss", "accuracy", "precision", "frequency_bias", "odds_ratio", "cost"):
            expected = report.tune(score, "--subject-to", "precision >= 0.3")
            page.locator("#jump").select_option(label=f"{score}: {format_in_sentence(expected['value'])} at {report.format_threshold(expected['threshold'])}")
            state = read_state(page)
            assert state["threshold"] == expected["threshold"]
            assert dict(state["scores"])[score] == format_number(expected["value"])
            assert dict(state["cells"]) == {cell: format_number(expected["confusion"][cell]) for cell in CELLS}
            # The table of scores shows the same best value as the jump menu. The button in the row of the score selects the best threshold again.
            page.locator("#threshold").press("Home")
            row = page.locator("tr", has=page.locator(f"td[data-score='{score}']"))
            assert row.locator("td").nth(-2).inner_text() == format_number(expected["value"])
            assert row.locator("button").inner_text() == report.format_threshold(expected["threshold"], 6)
            row.locator("button").click()
            assert read_state(page)["threshold"] == expected["threshold"]


def test_buttons_select_one_half_and_the_original_threshold(pages_folder, browser):
    report = pages_folder["tune"]
    with open_page(browser, report) as page:
        start = read_state(page)
        page.get_by_role("button", name="0.5", exact=True).click()
        assert read_state(page)["threshold"] == 0.5
        page.get_by_role("button", name=f"back to {report.format_threshold(report.result['threshold'])}").click()
        assert read_state(page) == start
        assert start["threshold"] == report.result["threshold"]


# --- Tests of the headline and of the figures


@pytest.mark.parametrize("name", ["tune", "train", "score", "weighted", "tiny"])
def test_headline_shows_the_numbers_of_the_result(pages_folder, browser, name):
    report = pages_folder[name]
    result = report.result
    if name in ("train", "lead"):
        score, summary = result["score"], result["test"]
        # The page of a training run shows raw predictions, before the calibration.
        value, threshold, confusion = summary["scores"][score], result.get("raw_threshold", result["threshold"]), summary["confusion"]
    elif name in ("score", "weighted"):
        score, threshold, confusion = "tss", result["threshold"], result["confusion"]
        value = result["scores"]["tss"]
    else:
        score, threshold, confusion = result["score"], result["threshold"], result["confusion"]
        # The headline shows the interval at a fixed threshold; the bootstrap of `tune` uses the best threshold of each replicate instead.
        value = report.score(threshold, replicates=1000)["scores"][score]
        assert value["value"] == result["value"]
    with open_page(browser, report) as page:
        shown_threshold = report.format_threshold(threshold)
        heading = f"tss is {format_in_sentence(value['value'])} at threshold {shown_threshold}" if name in ("score", "weighted") else f"Predict yes above {shown_threshold}"
        assert page.locator("h1").inner_text() == heading
        assert page.title().startswith(heading)
        weight = sum(confusion[cell] for cell in CELLS)
        rows = format_count(result["rows"] if name == "weighted" else weight)
        lead = f"At that threshold {score} is {format_in_sentence(value['value'])} (95\u00a0% interval {format_in_sentence(value['low'])} to {format_in_sentence(value['high'])}), on {rows} "
        assert page.locator(".lead").inner_text().startswith(lead)
        if name == "weighted":
            assert page.locator(".lead").inner_text().endswith(f" (total weight {format_count(weight)}).")
        cards = page.locator(".card")
        assert cards.nth(0).locator(".big").inner_text() == report.format_threshold(threshold, 6)
        events, alarms = confusion["tp"] + confusion["fn"], confusion["tp"] + confusion["fp"]
        costs = cards.nth(1).inner_text()
        named = f" ({result['classes'][1]})" if "classes" in result else ""
        assert f"{format_count(confusion['fn'])} of {format_count(events)} events{named} are missed" in costs
        assert f"{format_count(confusion['fp'])} of {format_count(alarms)} alarms are false" in costs
        assert f"Events caught: {format_count(confusion['tp'])}. Alarms per event: {alarms / events:.2f}." in costs
        score_text = f"{format_in_sentence(value['value'])} {score}, 95 % interval {format_in_sentence(value['low'])} to {format_in_sentence(value['high'])}"
        assert score_text in cards.nth(2).inner_text()
        if name in ("tune", "tiny"):
            ends = result["bootstrap"]
            words = f"In 95\u00a0% of bootstrap replicates of these rows, the best threshold lies between {format_in_sentence(ends['low'])} and {format_in_sentence(ends['high'])}."
            assert words in cards.nth(0).inner_text()


def test_importance_of_columns_shows_the_numbers_of_the_command(pages_folder, browser):
    explanations = [("explain", pages_folder["explain"].result), ("train", pages_folder.page_data("train")["explanation"])]
    for name, explanation in explanations:
        with open_page(browser, pages_folder[name]) as page:
            rows = page.locator("#columns tbody tr")
            # Models with trees also have the gain of each column.
            keys = [key for key in ("value", "low", "high", "gain") if explanation["importance"][0].get(key) is not None]
            assert ("gain" in keys) == (name == "train")
            expected = [[each["column"], *(format_number(each[key]) for key in keys)] for each in explanation["importance"]]
            assert [row.split("\t") for row in rows.all_inner_texts()] == expected
            figures = page.evaluate("Array.from(document.querySelectorAll('#columns figure'), (each) => each.id)")
            dependence = [f"figure-dependence-{at + 1}" for at in range(len(explanation["partial_dependence"]))]
            assert figures == ["figure-importance", *dependence] and len(dependence) == min(4, len(expected))
            sentence = page.locator("#columns > p").inner_text()
            assert f"{explanation['score']} is {format_number(explanation['value'])} on {explanation['rows']} " in sentence


@pytest.mark.parametrize("name", ["tune", "train", "score", "lead"])
def test_reference_forecasts_have_the_expected_scores(pages_folder, browser, name):
    report = pages_folder[name]
    at_half = report.score(0.5)
    n_rows, positives = at_half["rows"], at_half["positives"]
    # With P positives and N negatives, the confusion matrix (tn, fp, fn, tp) of "always yes" is (0, N, 0, P), that of "always no" is (N, 0, P, 0).
    always_yes = {
        "tune": positives / n_rows,
        "train": 2 * positives / (2 * positives + n_rows - positives),
        "score": positives / positives - (n_rows - positives) / (n_rows - positives),
        "lead": 0.0,
    }[name]
    with open_page(browser, report) as page:
        spans = page.locator(".bars > span").all_inner_texts()
        score = page.locator(".lead b").first.inner_text()
        ours = read_state(page)
    shown = dict(zip(spans[::3], spans[2::3]))
    expected = {
        "this forecast": format_in_sentence(report.score(ours["exact"])["scores"][score]["value"]),
        "this forecast at 0.5": format_in_sentence(at_half["scores"][score]["value"]),
        "always yes": format_in_sentence(always_yes),
        "always no": "0",
    }
    if float(ours["exact"]) == 0.5:
        # The page already uses the threshold 0.5, so it has no second bar for 0.5.
        del expected["this forecast at 0.5"]
    if name == "lead":
        # The persistence forecast predicts that the next hour is like the present hour.
        persistence_result = json.loads(run_command(report.folder, "score", "lead.csv", "--probability", "persistence", "--replicates", 1, "--json"))
        expected["persistence"] = format_in_sentence(persistence_result["scores"][score]["value"])
    assert shown == expected


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_marks_are_aligned_with_the_axes_of_their_figures(pages_folder, browser, size):
    with open_page(browser, pages_folder["tune"], viewport=size) as page:
        pictures = page.evaluate(
            """() => Array.from(document.querySelectorAll("svg.over")).filter((over) => over.checkVisibility()).map((over) => {
              const picture = over.parentElement.querySelector("svg[role=img]");
              const box = (svg) => { const { x, y, width, height } = svg.getBoundingClientRect(); return [x, y, width, height]; };
              const unit = picture.viewBox.baseVal.width / over.viewBox.baseVal.width;
              const texts = Array.from(picture.querySelectorAll("text"), (each) => ({
                words: each.textContent.trim(), anchor: each.getAttribute("text-anchor"), isRotated: each.hasAttribute("transform"),
                x: Number(each.getAttribute("x")) / unit, y: Number(each.getAttribute("y")) / unit,
              }));
              return { figure: over.closest("figure").id, over: box(over), picture: box(picture), texts,
                       frame: over.dataset.frame.split(",").map(Number), hasDot: over.querySelector("circle") !== null };
            })"""
        )
    assert {each["figure"] for each in pictures} >= {"figure-scores", "figure-roc", "figure-precision-recall", "figure-performance", "figure-predictions"}
    for each in pictures:
        assert each["over"] == pytest.approx(each["picture"], abs=0.1), each["figure"]
        left, top, width, height, x0, x1, y0, y1 = each["frame"]
        numbers = [(float(text["words"].replace("−", "-")), text) for text in each["texts"] if re.fullmatch(r"−?\d+(\.\d+)?", text["words"])]
        below = [(value, text["x"]) for value, text in numbers if text["anchor"] == "middle" and top + height < text["y"] < top + height + 20]
        beside = [(value, text["y"]) for value, text in numbers if text["anchor"] == "end" and left - 20 < text["x"] < left]
        assert len(below) >= 3 and len(beside) >= 3, each["figure"]
        for value, x in below:
            assert x == pytest.approx(left + width * (value - x0) / (x1 - x0), abs=0.6), (each["figure"], value)
        # The y axis is checked only in figures with dots, and in the figure of scores, to which a curve can be added. The other marks are vertical
        # lines, whose position does not depend on the y axis.
        if each["hasDot"] or each["figure"] == "figure-scores":
            for value, y in beside:
                assert y == pytest.approx(top + height * (y1 - value) / (y1 - y0), abs=0.6), (each["figure"], value)


def test_curve_of_a_selected_score_goes_through_its_values_in_the_lookup_table(pages_folder, browser):
    def marks_in_score_figure(page):
        """Return the marks in the figure that plots scores against the threshold."""
        return [mark for mark in read_state(page)["marks"] if mark["figure"] == "figure-scores"]

    with open_page(browser, pages_folder["score"]) as page:
        table = page.evaluate("JSON.parse(document.querySelector('#table').textContent)")
        for score in ("hss", "npv"):
            page.locator("#more").select_option(score)
            values = next(each["values"] for each in table["scores"] if each["name"] == score)
            steps = zip(table["from"], table["to"], values, strict=True)
            known = [(end, float(value)) for low, high, value in steps if value is not None for end in (low, high)]
            for mark in marks_in_score_figure(page):
                left, top, width, height, x0, x1, y0, y1 = mark["frame"]
                drawn = [tuple(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", mark["path"])]
                # Values outside the range of the axis are not plotted: if they were moved to the edge, they would look like other values.
                inside = [(threshold, value) for threshold, value in known if y0 <= value <= y1]
                assert len(drawn) == len(inside) > 100
                expected = [
                    (left + width * (threshold - x0) / (x1 - x0), top + height * (y1 - value) / (y1 - y0)) for threshold, value in inside
                ]
                numpy.testing.assert_allclose(drawn, expected, rtol=0, atol=0.06)
        page.locator("#more").select_option("none")
        assert {mark["path"] for mark in marks_in_score_figure(page)} == {""}


# --- Tests of downloads, and tests that the same data give the same page


@pytest.mark.parametrize("name", ["tune", "weighted"])
def test_downloaded_csv_has_the_numbers_of_the_page_and_of_the_command(pages_folder, browser, name):
    report = pages_folder[name]
    with open_page(browser, report) as page:
        with page.expect_download() as download:
            page.locator("#save-csv").click()
        assert download.value.suggested_filename == "scorewise-thresholds.csv"
        text = download.value.path().read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text)))
        thresholds = thresholds_of_lookup_table(page)
        assert [float(row["threshold"]) for row in rows] == thresholds
        page.locator("#threshold").focus()
        at = random.Random(3).randrange(1, len(rows) - 1)
        for number, key in [(0, "Home"), (len(rows) - 1, "End"), (at, None)]:
            if key:
                page.keyboard.press(key)
            else:
                page.locator("#typed").fill(repr(thresholds[at]))
                page.keyboard.press("Enter")
            state, row = read_state(page), rows[number]
            assert state["threshold"] == float(row["threshold"])
            assert dict(state["cells"]) == {cell: row[cell] for cell in CELLS}
            assert dict(state["scores"]) == {score: row[score] or "undefined" for score in list(row)[7:]}
            low, high = float(row["low"]), float(row["high"])
            assert low <= state["threshold"] and (state["threshold"] < high or high == 1)
            # At the threshold 1 no row is predicted positive. So the last interval includes 1 only if its other thresholds give the same result.
            is_end_included = high == 1 and float(row["fp"]) + float(row["tp"]) == 0
            assert state["same"] == f"{format_number(low)} {'to' if is_end_included else 'up to but not including'} {format_number(high)}"
            check_numbers(state, report.score(row["threshold"]))


@pytest.mark.parametrize("name", ["tune", "train", "names", "compare", "classes", "explain", "plain"])
def test_copied_result_equals_the_json_of_the_command(pages_folder, browser, name):
    report = pages_folder[name]
    with open_page(browser, report, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.evaluate("() => { window.kept = navigator.clipboard; }")
        # The second iteration hides the clipboard API, which browsers do not offer to pages served without encryption.
        for hide in ("", "Object.defineProperty(navigator, 'clipboard', { value: undefined })"):
            page.evaluate(f"async () => {{ await kept.writeText(''); document.querySelector('#copied').textContent = ''; {hide} }}")
            page.locator("#copy-json").click()
            page.locator("#copied", has_text="The result is copied as JSON.").wait_for()
            assert json.loads(page.evaluate("kept.readText()")) == report.result


@pytest.mark.parametrize("name", ["tune", "score", "theory", "compare", "lead", "classes", "explain"])
def test_report_command_renders_the_same_page_from_the_data(pages_folder, name):
    report = pages_folder[name]
    pages_folder.page_data(name)
    run_command(report.folder, "report", f"{name}.json", "-o", "rendered.html")
    rendered = (report.folder / "rendered.html").read_bytes()

    def remove_command_and_training_time(text):
        # The command line and the training time differ between the page of the first command and the page rendered from its data.
        text = text.replace(f" --report {name}.html --json", "").replace(f" --report {name}.json", "")
        return re.sub(r'("seconds": |<dt>seconds</dt><dd>)[\d.e-]+', r"\1", text)

    assert remove_command_and_training_time(rendered.decode()) == remove_command_and_training_time(report.html)
    run_command(report.folder, "report", f"{name}.json", "-o", "rendered.html")
    assert (report.folder / "rendered.html").read_bytes() == rendered


def test_same_command_gives_the_same_bytes(pages_folder, tmp_path):
    words, _ = CASES["tune"]
    report = pages_folder["tune"]
    (tmp_path / "p.csv").write_bytes((report.folder / "p.csv").read_bytes())
    run_command(tmp_path, *words, "--report", "tune.html", "--json")
    assert (tmp_path / "tune.html").read_bytes() == report.path.read_bytes()


# --- Tests of the speed of updates, and of screenshots


def test_moving_the_threshold_changes_few_elements(pages_folder, browser):
    # Moving the threshold must take less than a frame of 16 ms; bench/report.py measures the time. This test counts the changed elements,
    # on which the time depends.
    with open_page(browser, pages_folder["train"]) as page:
        open_all_details(page)
        changes = page.evaluate(
            """() => {
              const slider = document.querySelector("#threshold");
              const observer = new MutationObserver(() => {});
              observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
              let seed = 1;
              return Array.from({ length: 200 }, () => {
                seed = (seed * 16807) % 2147483647;
                slider.value = String(seed / 2147483647);
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                return observer.takeRecords().length;
              });
            }"""
        )
        elements = page.evaluate("document.querySelectorAll('body *').length")
    assert min(changes) > 0
    assert max(changes) <= elements / 10, f"{max(changes)} changes in a page of {elements} elements"


@pytest.mark.parametrize(("look", "scheme", "size"), [("light", "light", DESKTOP), ("dark", "dark", DESKTOP), ("phone", "light", PHONE)])
def test_screenshots_are_not_blank_and_follow_the_colour_scheme(pages_folder, browser, tmp_path, look, scheme, size):
    with open_page(browser, pages_folder["train"], viewport=size, color_scheme=scheme) as page:
        path = tmp_path / f"{look}.png"
        page.screenshot(path=path)
    image = Image.open(path).convert("RGB")
    assert image.size == (size["width"], size["height"])
    colours = image.getcolors(maxcolors=image.width * image.height)
    assert len(colours) > 100
    background = max(colours)[1]
    assert (sum(background) < 200) == (scheme == "dark"), background
