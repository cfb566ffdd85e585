"""Pages in a browser: quiet, readable for everyone, and with the numbers of the command, to the digit.

Every page is made by the command itself, and looked at in the system's Chromium as a reader would: with the mouse, with keys, on a phone,
in the dark, on paper, and without scripts. Where a number is expected, the command is asked for it anew.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import io
import json
import random
import re
import statistics

import numpy
import pytest

pytest.importorskip("playwright", reason="pages are looked at with playwright")

from axe_playwright_python.sync_playwright import Axe
from pages import CASES, HOSTILE, HOSTILE_FILE, MOVING, Workshop, chromium, command, counted, flags, served, short, spoken
from PIL import Image
from playwright.sync_api import sync_playwright

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
CELLS = ["tn", "fp", "fn", "tp"]
# Pages that have, together, every part that there is.
ALL_PARTS = ["train", "tune", "theory", "compare", "reproduce", "classes", "plain"]

# What a reader sees of the threshold, as it stands on the page.
SEEN = """() => {
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

# What stands out to the right of the window, where it is not inside something that can be scrolled by itself.
WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : Array.from(document.querySelectorAll("body *"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5 && !each.closest(".scroll > *, svg")).map((each) => each.outerHTML.slice(0, 80))
  .concat(`the page is ${document.documentElement.scrollWidth} wide`)"""


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def browser():
    program = chromium()
    assert program, "no Chromium: install it (Debian: apt-get install chromium), or name it in SCOREWISE_BROWSER"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags())
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(workshop):
    with served(workshop.folder) as address:
        yield address


@contextlib.contextmanager
def opened(browser, where, **options):
    """A page in a context of its own. Whatever it says or asks for that it should not is a failure in the end."""
    context = browser.new_context(**{"viewport": DESK, **options})
    try:
        page = context.new_page()
        page.set_default_timeout(5000)
        faults = []
        page.on("console", lambda said: said.type in ("error", "warning") and faults.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("request", lambda request: request.url != address and not request.url.startswith("data:") and faults.append(request.url))
        address = where if isinstance(where, str) else where.path.as_uri()
        page.goto(address)
        yield page
        # An answer comes after everything that was said before it.
        page.evaluate("0")
        assert faults == []
    finally:
        context.close()


def open_details(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def seen(page):
    found = page.evaluate(SEEN)
    found["threshold"] = float(found["exact"])
    return found


# --- What holds for every page


@pytest.mark.parametrize("name", CASES)
def test_page_is_one_small_quiet_file(workshop, browser, name):
    made = workshop[name]
    assert made.path.stat().st_size < 1_500_000
    with opened(browser, made) as page:
        assert page.evaluate("performance.getEntriesByType('resource').filter((each) => !each.name.startsWith('data:')).length") == 0
        assert page.locator("h1").inner_text() != ""
        # A phone is wide enough.
        page.set_viewport_size(PHONE)
        assert page.evaluate(WIDE) == []
        open_details(page)
        assert page.evaluate(WIDE) == []
        # On paper nothing can be pressed; what a button of a table says is a number and stays.
        page.set_viewport_size(DESK)
        page.emulate_media(media="print")
        visible = "Array.from(document.querySelectorAll('{}'), (each) => each.checkVisibility())"
        controls = page.evaluate(visible.format(":not(td) > button, select, input, .controls, .skip"))
        assert len(controls) > 0 and not any(controls)
        assert all(page.evaluate(visible.format("td > button")))
        assert page.locator("h1").is_visible()
        # A name twice is a wrong turn for scripts and links.
        names = page.evaluate("Array.from(document.querySelectorAll('[id]'), (each) => each.id)")
        assert [each for each in names if names.count(each) > 1] == []


@pytest.mark.parametrize("name", ["tune", "plain"])
def test_page_is_the_same_from_a_server(workshop, browser, address, name):
    with opened(browser, f"{address}/{name}.html" if workshop[name] else "") as page:
        assert page.locator("h1").inner_text() != ""
        if name in MOVING:
            before = seen(page)
            page.locator("[data-step='1']").click()
            assert seen(page)["threshold"] > before["threshold"]


# What axe says, without the innards of the pictures: those are one image to it, and their words are looked at below.
AXE = """(rules) => {
  const pictures = Array.from(document.querySelectorAll("svg[role=img]"), (picture) => [picture, Array.from(picture.childNodes)]);
  pictures.forEach(([picture]) => picture.replaceChildren());
  const again = (found) => { pictures.forEach(([picture, innards]) => picture.replaceChildren(...innards)); return found; };
  return axe.run({ preload: false, rules }).then(again).then((found) => ({
    serious: found.violations.filter((each) => ["serious", "critical"].includes(each.impact))
      .map((each) => [each.id, each.help, each.nodes.map((node) => node.html.slice(0, 200))]),
    unsure: found.incomplete.filter((each) => each.id === "color-contrast").flatMap((each) => each.nodes.map((node) => node.html.slice(0, 100))),
    n_contrast: found.passes.filter((each) => each.id === "color-contrast").reduce((sum, each) => sum + each.nodes.length, 0),
    n_pictures: found.passes.filter((each) => each.id === "svg-img-alt").reduce((sum, each) => sum + each.nodes.length, 0),
  }));
}"""
# The contrast of all words, those in pictures as well, by the colours that the browser computed: WCAG 2.2, 1.4.3.
CONTRAST = """() => {
  const colour = (text) => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return { rgb: [r, g, b], alpha: a ?? 1 }; };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = colour(getComputedStyle(each).backgroundColor);
      if (found.alpha === 1) return found.rgb;
      if (found.alpha > 0) return null;
    }
    return null;
  };
  const low = [];
  let n_words = 0;
  for (const element of document.querySelectorAll("body *")) {
    const words = Array.from(element.childNodes).filter((node) => node.nodeType === 3).map((node) => node.data).join("").trim();
    if (words === "" || ["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const picture = element.closest("svg");
    const ink = colour(picture ? style.fill : style.color).rgb;
    // The first rectangle of a picture is its paper.
    const paper = picture ? colour(getComputedStyle(picture.querySelector("rect")).fill).rgb : behind(element);
    const [one, other] = paper === null ? [0, 0] : [light(ink), light(paper)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    n_words += 1;
    if (ratio < 4.5) low.push([ratio.toFixed(2), words.slice(0, 40), element.tagName]);
  }
  return { low, n_words };
}"""


@pytest.mark.parametrize("name", [*ALL_PARTS, "lead", "names", "files", "quiet", "tiny"])
def test_everyone_can_read_it(workshop, browser, name):
    made = workshop[name]
    # Each further look is at more than the one before: dark, then also what was folded away. Colours do not depend on the width, and axe
    # takes long over them: on the phone ours are enough, and where a page is made of the same parts as others.
    has_all = name in ALL_PARTS
    looks = [("light", DESK, False, has_all), ("dark", DESK, True, has_all), ("light", PHONE, True, False)]
    with opened(browser, made) as page:
        page.evaluate(Axe().axe_script)
        for scheme, size, is_open, has_colours in looks:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            if is_open:
                open_details(page)
            contrast = page.evaluate(CONTRAST)
            assert contrast["low"] == [] and contrast["n_words"] > 30, (scheme, size)
            found = page.evaluate(AXE, {"color-contrast": {"enabled": has_colours}})
            assert found["serious"] == [], (scheme, size)
            assert found["n_pictures"] == page.locator("svg[role=img]").filter(visible=True).count()
            if has_colours:
                # Where axe is not sure what is behind a word, our own look above was.
                print(f"{name}, {scheme}: contrast of {found['n_contrast']} by axe, unsure of {found['unsure']}")
                assert found["n_contrast"] > 15 and len(found["unsure"]) < 5


def test_names_are_text_wherever_they_stand(workshop, browser):
    for name in ("names", "file", "files"):
        with opened(browser, workshop[name]) as page:
            open_details(page)
            assert page.evaluate("document.images.length") == 0
            # The result, the table and the script of the page; a comparison has no table.
            assert page.evaluate("document.scripts.length") == (2 if name == "files" else 3)
            assert page.evaluate("document.querySelectorAll('svg script, svg img').length") == 0
            assert "taken" != page.title()
            if name == "names":
                assert page.locator(".matrix tbody th").nth(1).inner_text() == HOSTILE
                assert page.evaluate("JSON.parse(document.querySelector('script#result').textContent).classes[1]") == HOSTILE
            else:
                assert HOSTILE_FILE in page.locator(".kind").inner_text()
                assert HOSTILE_FILE in page.locator("#provenance").inner_text()


# --- The threshold


@pytest.mark.parametrize("name", ["train", "score", "tune", "weighted", "theory", "quiet"])
def test_without_scripts_it_shows_the_threshold_in_use(workshop, browser, name):
    made = workshop[name]
    with opened(browser, made, java_script_enabled=False) as page:
        found = seen(page)
        assert page.locator("#now").is_visible() and page.locator(".matrix").is_visible()
    check_numbers(found, made.score(found["exact"]))
    if "threshold" in made.result:
        assert found["threshold"] == made.result["threshold"]
    if name == "tune":
        # The script begins with what is there.
        with opened(browser, made) as page:
            with_scripts = seen(page)
        for part in ("exact", "now", "same", "cells", "scores", "feasible", "typed", "slider"):
            assert found[part] == with_scripts[part], part


def check_numbers(found, expected):
    """All numbers of the threshold, to the digit."""
    assert dict(found["cells"]) == {cell: short(expected["confusion"][cell]) for cell in CELLS}, found["exact"]
    scores = expected["scores"]
    shown = dict(found["scores"])
    assert {name: shown[name] for name in scores} == {name: short(scores[name]["value"]) for name in scores}, found["exact"]
    # The same score at two places of the page is the same.
    assert {tuple(each) for each in found["scores"]} == set(shown.items())
    assert set(shown) - set(scores) <= {"cost(fp=1, fn=10)"}


def check_marks(found, expected):
    """Lines stand at the threshold and dots at their two scores, give or take half a pixel."""
    assert len(found["marks"]) >= 4
    for mark in found["marks"]:
        left, top, width, height, x0, x1, y0, y1 = mark["frame"]
        if mark["line"]:
            x = left + width * (found["threshold"] - x0) / (x1 - x0)
            assert mark["line"] == pytest.approx([x, x], abs=0.6), mark["figure"]
        else:
            across, up = (expected["scores"][mark[axis]]["value"] for axis in ("across", "up"))
            assert mark["hidden"] == (across is None or up is None), mark["figure"]
            if not mark["hidden"]:
                place = [left + width * (across - x0) / (x1 - x0), top + height * (y1 - up) / (y1 - y0)]
                assert mark["dot"] == pytest.approx(place, abs=0.6), mark["figure"]


# Types each of these and says what is seen then.
TYPED = f"""(texts) => texts.map((text) => {{
  const typed = document.querySelector("#typed");
  typed.value = text;
  typed.dispatchEvent(new Event("change"));
  return ({SEEN})();
}})"""


def typed(page, thresholds):
    return page.evaluate(TYPED, [str(threshold) for threshold in thresholds])


def places(page):
    return page.evaluate("JSON.parse(document.querySelector('#table').textContent).threshold")


def drag(page, choice):
    slider = page.locator("#threshold")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    across = [box["x"] + box["width"] * choice.random() for _ in range(2)]
    y = box["y"] + box["height"] / 2
    page.mouse.move(across[0], y)
    page.mouse.down()
    page.mouse.move(across[1], y, steps=3)
    yield
    page.mouse.up()
    found = seen(page)
    assert float(found["slider"]) == pytest.approx(found["threshold"], abs=1e-15)
    yield


def press(page, choice):
    page.locator("#threshold").focus()
    for key in choice.choices(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"], [9, 9, 3, 3, 4, 4, 1, 1], k=3):
        page.keyboard.press(key)
    yield


def type_in(page, choice):
    text = f"{choice.random() ** 2:.{choice.randint(1, 8)}f}"
    page.locator("#typed").fill(choice.choice([text, text.replace(".", ",")]))
    page.keyboard.press("Enter")
    assert page.locator("#typed").input_value() == page.locator("#now").inner_text()
    yield


def step(page, choice):
    for _ in range(choice.randint(1, 3)):
        page.locator(f"[data-step='{choice.choice([1, -1])}']").click()
    yield


def jump(page, choice):
    values = page.locator("#jump option").evaluate_all("each => each.map((option) => option.value)")
    page.locator("#jump").select_option(index=choice.randrange(1, len(values)))
    yield


def touch(page, choice):
    curve = page.locator(".picture.touch").filter(visible=True)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    across = [box["x"] + box["width"] * choice.random() for _ in range(2)]
    y = box["y"] + box["height"] * choice.uniform(0.2, 0.7)
    page.mouse.move(across[0], y)
    page.mouse.down()
    yield
    page.mouse.move(across[1], y, steps=2)
    yield
    page.mouse.up()


def best(page, choice):
    page.locator("td button[data-place]").nth(choice.randrange(9)).click()
    yield


@pytest.mark.parametrize(("name", "rounds"), [("tune", 6), ("score", 6), ("train", 6), ("weighted", 2), ("lead", 1), ("cost", 1), ("tiny", 1)])
def test_numbers_are_those_of_the_command_to_the_digit(workshop, browser, name, rounds):
    made = workshop[name]
    choice = random.Random(7)
    found = []
    with opened(browser, made) as page:
        for _ in range(rounds):
            for move in (drag, press, type_in, step, jump, touch, best):
                for _ in move(page, choice):
                    found.append(seen(page))
        exact = set(places(page))
    # Two ways have two stops each.
    assert len(found) == 9 * rounds
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        expected = list(pool.map(made.score, [each["exact"] for each in found]))
        # What is said, typed again, is above or below the same rows.
        again = list(pool.map(made.score, [each["now"] for each in found[::4]]))
        assert [each["confusion"] for each in again] == [each["confusion"] for each in expected[::4]]
    for shown, said in zip(found, expected):
        assert shown["threshold"] in exact
        check_numbers(shown, said)
        check_marks(shown, said)
        assert shown["valuetext"].startswith(f"threshold {shown['now']}, ")
    if rounds > 5:
        assert len({each["exact"] for each in found}) > 30


def test_conditions_are_met_where_the_command_says_so(workshop, browser):
    made = workshop["tune"]
    with opened(browser, made) as page:
        words = {each["exact"]: each["feasible"] for each in typed(page, numpy.linspace(0, 1, 41).round(4))}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        said = dict(zip(words, pool.map(lambda exact: made.score(exact)["scores"]["precision"]["value"], words)))
    for exact, precision in said.items():
        is_met = precision is not None and precision >= 0.3
        assert words[exact] == ("The conditions are met." if is_met else "A condition is not met here."), (exact, precision)
    assert len(set(words.values())) == 2


@pytest.mark.parametrize("name", ["tiny", "score"])
def test_a_threshold_that_is_asked_for_leads_into_its_own_step(workshop, browser, name):
    made = workshop[name]
    points = workshop.document(name)["forecast"]["points"]
    thresholds = [*numpy.linspace(0, 1, 101).round(4), 0.9999]
    with opened(browser, made) as page:
        found = typed(page, thresholds)
    wrong = []
    for threshold, shown in zip(thresholds, found):
        known = [point for point in points if point["low"] <= threshold < point["high"] or threshold == 1 == point["high"]]
        # Only a table of very many predictions is thinned.
        assert known or name != "tiny", threshold
        if known and dict(shown["cells"]) != dict(zip(CELLS, map(short, known[0]["cells"]))):
            wrong.append((float(threshold), shown["exact"]))
    assert wrong == [], "asked for the first, shown the second, which has another matrix"


def test_the_same_matrix_holds_as_far_as_the_page_says(workshop):
    """By the rows themselves: above the threshold, strictly, is a yes."""
    for name in ("score", "tiny", "cost"):
        made = workshop[name]
        with open(made.folder / made.rows[0], encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        probability = numpy.array([float(row["probability"]) for row in rows])
        truth = numpy.array([int(row["truth"]) for row in rows])
        forecast = workshop.document(name)["forecast"]
        thresholds = [point["threshold"] for point in forecast["points"]]
        assert thresholds == sorted(set(thresholds))
        assert {forecast["threshold"], 0.5} | {each["threshold"] for each in forecast["optima"]} <= set(thresholds)
        ends = {"low": [], "threshold": [], "high": []}
        for point in forecast["points"]:
            assert point["low"] <= point["threshold"] and (point["threshold"] < point["high"] or point["high"] == 1)
            for end in ends:
                # A step ends before its end, but for the last one.
                ends[end].append(numpy.nextafter(point[end], 0) if end == "high" and point[end] < 1 else point[end])
        for at in ends.values():
            yes = probability > numpy.array(at)[:, None]
            cells = [(one & other).sum(axis=1) for other in (truth == 0, truth == 1) for one in (~yes, yes)]
            numpy.testing.assert_array_equal(numpy.transpose(cells), [point["cells"] for point in forecast["points"]])


def test_keys_go_step_by_step_and_are_heard(workshop, browser):
    with opened(browser, workshop["tune"]) as page:
        stops = []
        for _ in range(30):
            page.keyboard.press("Tab")
            focus = page.evaluate(
                """() => { const at = document.activeElement; const style = getComputedStyle(at);
                return [at.id || at.textContent.slice(0, 20), style.outlineStyle, parseFloat(style.outlineWidth)]; }"""
            )
            # Wherever the focus is, it can be seen.
            assert focus[1] != "none" and focus[2] >= 2, focus
            stops.append(focus[0])
            if focus[0] == "threshold":
                break
        assert stops[0] == "Skip to content" and stops[-1] == "threshold", stops
        thresholds = places(page)
        last, far = len(thresholds) - 1, round(len(thresholds) / 20)
        at = thresholds.index(seen(page)["threshold"])
        heard = [seen(page)["valuetext"]]
        for key, expected in [
            ("ArrowRight", at + 1),
            ("ArrowUp", at + 2),
            ("ArrowLeft", at + 1),
            ("ArrowDown", at),
            ("PageUp", at + far),
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
            found = seen(page)
            assert thresholds.index(found["threshold"]) == expected, key
            assert float(found["slider"]) == pytest.approx(found["threshold"], abs=1e-15)
            heard.append(found["valuetext"])
            csi = dict(found["scores"])["csi"]
            assert found["valuetext"] == f"threshold {found['now']}, csi {csi}"
        assert len(set(heard)) == len({0, last, last - 1, at, at + 1, at + 2, at + far})


def test_a_finger_on_the_curve_moves_the_threshold(workshop, browser):
    with opened(browser, workshop["score"], viewport=PHONE, has_touch=True, is_mobile=True) as page:
        curve = page.locator(".picture.touch").filter(visible=True)
        curve.scroll_into_view_if_needed()
        box = curve.bounding_box()
        left, _, width, *_ = next(mark["frame"] for mark in seen(page)["marks"] if mark["figure"] == "figure-scores" and mark["isVisible"])
        for asked in (0.25, 0.75):
            across = (left + width * asked) / float(curve.get_attribute("data-width"))
            page.touchscreen.tap(box["x"] + box["width"] * across, box["y"] + box["height"] / 2)
            assert seen(page)["threshold"] == pytest.approx(asked, abs=0.02)


def test_what_is_no_threshold_changes_nothing(workshop, browser):
    with opened(browser, workshop["tune"]) as page:
        before = seen(page)
        for text in ("", "  ", "abc", "1.2", "-0.1", "0.3.1", "NaN", "Infinity"):
            page.locator("#typed").fill(text)
            page.keyboard.press("Enter")
            assert seen(page) == before, text


def test_jump_leads_to_the_best_threshold_of_tune(workshop, browser):
    made = workshop["tune"]
    with opened(browser, made) as page:
        open_details(page)
        for score in ("f1", "csi", "tss", "hss", "accuracy", "precision", "frequency_bias", "odds_ratio", "cost"):
            expected = made.tune(score, "--subject-to", "precision >= 0.3")
            page.locator("#jump").select_option(label=f"{score}: {spoken(expected['value'])} at {made.said(expected['threshold'])}")
            found = seen(page)
            assert found["threshold"] == expected["threshold"]
            assert dict(found["scores"])[score] == short(expected["value"])
            assert dict(found["cells"]) == {cell: short(expected["confusion"][cell]) for cell in CELLS}
            # The table has the same, and leads there as well.
            page.locator("#threshold").press("Home")
            row = page.locator("tr", has=page.locator(f"td[data-score='{score}']"))
            assert row.locator("td").nth(-2).inner_text() == short(expected["value"])
            assert row.locator("button").inner_text() == made.said(expected["threshold"], 6)
            row.locator("button").click()
            assert seen(page)["threshold"] == expected["threshold"]


def test_buttons_lead_back_and_to_one_half(workshop, browser):
    made = workshop["tune"]
    with opened(browser, made) as page:
        start = seen(page)
        page.get_by_role("button", name="0.5", exact=True).click()
        assert seen(page)["threshold"] == 0.5
        page.get_by_role("button", name=f"back to {made.said(made.result['threshold'])}").click()
        assert seen(page) == start
        assert start["threshold"] == made.result["threshold"]


# --- The headline and the figures


@pytest.mark.parametrize("name", ["tune", "train", "score", "weighted", "tiny"])
def test_headline_has_the_numbers_of_the_result(workshop, browser, name):
    made = workshop[name]
    result = made.result
    if name in ("train", "lead"):
        score, summary = result["score"], result["test"]
        value, threshold, confusion = summary["scores"][score], result["threshold"], summary["confusion"]
    elif name in ("score", "weighted"):
        score, threshold, confusion = "tss", result["threshold"], result["confusion"]
        value = result["scores"]["tss"]
    else:
        score, threshold, confusion = result["score"], result["threshold"], result["confusion"]
        # At that threshold, held fast: the spread of the best values is that of another number.
        value = made.score(threshold, replicates=1000)["scores"][score]
        assert value["value"] == result["value"]
    with opened(browser, made) as page:
        said = made.said(threshold)
        heading = f"tss is {spoken(value['value'])} at threshold {said}" if name in ("score", "weighted") else f"Say yes above {said}"
        assert page.locator("h1").inner_text() == heading
        assert page.title().startswith(heading)
        weight = sum(confusion[cell] for cell in CELLS)
        rows = f"{counted(result['rows'])} (total weight {counted(weight)})" if name == "weighted" else counted(weight)
        lead = f"At that threshold {score} is {spoken(value['value'])} (95\u00a0% interval {spoken(value['low'])} to {spoken(value['high'])}), on {rows} "
        assert page.locator(".lead").inner_text().startswith(lead)
        cards = page.locator(".card")
        assert cards.nth(0).locator(".big").inner_text() == made.said(threshold, 6)
        events, alarms = confusion["tp"] + confusion["fn"], confusion["tp"] + confusion["fp"]
        costs = cards.nth(1).inner_text()
        named = f" ({result['classes'][1]})" if "classes" in result else ""
        assert f"{counted(confusion['fn'])} of {counted(events)} events{named} are missed" in costs
        assert f"{counted(confusion['fp'])} of {counted(alarms)} alarms are false" in costs
        assert f"{counted(confusion['tp'])} events are caught, with {alarms / events:.2f} alarms per event." in costs
        sure = f"{spoken(value['value'])} {score}, 95 % interval {spoken(value['low'])} to {spoken(value['high'])}"
        assert sure in cards.nth(2).inner_text()
        if name in ("tune", "tiny"):
            ends = result["bootstrap"]
            words = f"In 95\u00a0% of bootstrap replicates of these rows, the best threshold lies between {spoken(ends['low'])} and {spoken(ends['high'])}."
            assert words in cards.nth(0).inner_text()


@pytest.mark.parametrize("name", ["tune", "train", "score", "lead"])
def test_yardsticks_are_forecasts_that_anyone_could_make(workshop, browser, name):
    made = workshop[name]
    at_half = made.score(0.5)
    n_rows, positives = at_half["rows"], at_half["positives"]
    # Always yes is the matrix (0, N, 0, P), always no (N, 0, P, 0), each worked by hand.
    always_yes = {
        "tune": positives / n_rows,
        "train": 2 * positives / (2 * positives + n_rows - positives),
        "score": positives / positives - (n_rows - positives) / (n_rows - positives),
        "lead": 0.0,
    }[name]
    with opened(browser, made) as page:
        spans = page.locator(".bars > span").all_inner_texts()
        score = page.locator(".lead b").first.inner_text()
        ours = seen(page)
    shown = dict(zip(spans[::3], spans[2::3]))
    expected = {
        "this forecast": spoken(made.score(ours["exact"])["scores"][score]["value"]),
        "this forecast at 0.5": spoken(at_half["scores"][score]["value"]),
        "always yes": spoken(always_yes),
        "always no": "0",
    }
    if name == "lead":
        # It is used at 0.5 itself. Persistence says that the next hour is as this one.
        del expected["this forecast at 0.5"]
        said = json.loads(command(made.folder, "score", "lead.csv", "--probability", "persistence", "--replicates", 1, "--json"))
        expected["persistence"] = spoken(said["scores"][score]["value"])
    assert shown == expected


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_marks_lie_over_the_axes_they_speak_of(workshop, browser, size):
    with opened(browser, workshop["tune"], viewport=size) as page:
        pictures = page.evaluate(
            """() => Array.from(document.querySelectorAll("svg.over")).filter((over) => over.checkVisibility()).map((over) => {
              const picture = over.parentElement.querySelector("svg[role=img]");
              const box = (svg) => { const { x, y, width, height } = svg.getBoundingClientRect(); return [x, y, width, height]; };
              const unit = picture.viewBox.baseVal.width / over.viewBox.baseVal.width;
              const texts = Array.from(picture.querySelectorAll("text"), (each) => ({
                words: each.textContent.trim(), anchor: each.getAttribute("text-anchor"), turned: each.hasAttribute("transform"),
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
        # Only a dot and the further curve have a height.
        if each["hasDot"] or each["figure"] == "figure-scores":
            for value, y in beside:
                assert y == pytest.approx(top + height * (y1 - value) / (y1 - y0), abs=0.6), (each["figure"], value)


def test_one_more_curve_goes_through_the_scores_of_the_table(workshop, browser):
    def curves(page):
        return [mark for mark in seen(page)["marks"] if mark["figure"] == "figure-scores"]

    with opened(browser, workshop["score"]) as page:
        table = page.evaluate("JSON.parse(document.querySelector('#table').textContent)")
        for score in ("hss", "npv"):
            page.locator("#more").select_option(score)
            values = next(each["values"] for each in table["scores"] if each["name"] == score)
            steps = zip(table["from"], table["to"], values, strict=True)
            known = [(end, float(value)) for low, high, value in steps if value is not None for end in (low, high)]
            for mark in curves(page):
                left, top, width, height, x0, x1, y0, y1 = mark["frame"]
                drawn = [tuple(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", mark["path"])]
                # What lies outside the axis is not drawn: at its border it would look like another value.
                inside = [(threshold, value) for threshold, value in known if y0 <= value <= y1]
                assert len(drawn) == len(inside) > 100
                expected = [
                    (left + width * (threshold - x0) / (x1 - x0), top + height * (y1 - value) / (y1 - y0)) for threshold, value in inside
                ]
                numpy.testing.assert_allclose(drawn, expected, rtol=0, atol=0.06)
        page.locator("#more").select_option("none")
        assert {mark["path"] for mark in curves(page)} == {""}


# --- What can be taken along


@pytest.mark.parametrize("name", ["tune", "weighted"])
def test_download_has_the_numbers_of_the_page_and_of_the_command(workshop, browser, name):
    made = workshop[name]
    with opened(browser, made) as page:
        with page.expect_download() as caught:
            page.locator("#save-csv").click()
        assert caught.value.suggested_filename == "scorewise-thresholds.csv"
        text = caught.value.path().read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text)))
        thresholds = places(page)
        assert [float(row["threshold"]) for row in rows] == thresholds
        page.locator("#threshold").focus()
        at = random.Random(3).randrange(1, len(rows) - 1)
        for number, key in [(0, "Home"), (len(rows) - 1, "End"), (at, None)]:
            if key:
                page.keyboard.press(key)
            else:
                page.locator("#typed").fill(repr(thresholds[at]))
                page.keyboard.press("Enter")
            found, row = seen(page), rows[number]
            assert found["threshold"] == float(row["threshold"])
            assert dict(found["cells"]) == {cell: row[cell] for cell in CELLS}
            assert dict(found["scores"]) == {score: row[score] or "undefined" for score in list(row)[7:]}
            low, high = float(row["low"]), float(row["high"])
            assert low <= found["threshold"] and (found["threshold"] < high or high == 1)
            assert found["same"] == f"{short(low)} {'to' if high == 1 else 'up to but not including'} {short(high)}"
            check_numbers(found, made.score(row["threshold"]))


@pytest.mark.parametrize("name", ["tune", "train", "names", "compare", "classes", "plain"])
def test_copied_result_is_what_the_command_prints(workshop, browser, name):
    made = workshop[name]
    with opened(browser, made, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.evaluate("() => { window.kept = navigator.clipboard; }")
        # The second time as on a page from a server without encryption, which has no such clipboard.
        for hide in ("", "Object.defineProperty(navigator, 'clipboard', { value: undefined })"):
            page.evaluate(f"async () => {{ await kept.writeText(''); document.querySelector('#copied').textContent = ''; {hide} }}")
            page.locator("#copy-json").click()
            page.locator("#copied", has_text="The result is copied as JSON.").wait_for()
            assert json.loads(page.evaluate("kept.readText()")) == made.result


@pytest.mark.parametrize("name", ["tune", "score", "theory", "compare", "lead", "classes"])
def test_report_draws_the_same_page_from_the_data(workshop, name):
    made = workshop[name]
    workshop.document(name)
    command(made.folder, "report", f"{name}.json", "-o", "again.html")
    again = (made.folder / "again.html").read_bytes()

    def without_the_run(text):
        # What was typed is not the same, and a training never takes as long again.
        text = text.replace(f" --report {name}.html --json", "").replace(f" --report {name}.json", "")
        return re.sub(r'("seconds": |<dt>seconds</dt><dd>)[\d.e-]+', r"\1", text)

    assert without_the_run(again.decode()) == without_the_run(made.text)
    command(made.folder, "report", f"{name}.json", "-o", "again.html")
    assert (made.folder / "again.html").read_bytes() == again


def test_same_command_gives_the_same_bytes(workshop, tmp_path):
    words, _ = CASES["tune"]
    made = workshop["tune"]
    (tmp_path / "p.csv").write_bytes((made.folder / "p.csv").read_bytes())
    command(tmp_path, *words, "--report", "tune.html", "--json")
    assert (tmp_path / "tune.html").read_bytes() == made.path.read_bytes()


# --- Time and looks


def test_a_move_takes_less_than_a_frame(workshop, browser):
    with opened(browser, workshop["train"]) as page:
        open_details(page)
        times = page.evaluate(
            """() => {
              const slider = document.querySelector("#threshold");
              let seed = 1;
              return Array.from({ length: 200 }, () => {
                seed = (seed * 16807) % 2147483647;
                slider.value = String(seed / 2147483647);
                const from = performance.now();
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                const scripted = performance.now();
                document.body.getBoundingClientRect();
                return [scripted - from, performance.now() - from];
              });
            }"""
        )
    script, whole = ([each[at] for each in times] for at in (0, 1))
    print(f"a move: median {statistics.median(script):.2f} ms, longest {max(script):.2f} ms; with layout {statistics.median(whole):.2f} and {max(whole):.2f} ms")
    assert statistics.quantiles(script, n=20)[-1] <= 16
    assert statistics.quantiles(whole, n=20)[-1] <= 16


@pytest.mark.parametrize(("look", "scheme", "size"), [("light", "light", DESK), ("dark", "dark", DESK), ("phone", "light", PHONE)])
def test_pictures_of_the_page_show_something(workshop, browser, tmp_path, look, scheme, size):
    with opened(browser, workshop["train"], viewport=size, color_scheme=scheme) as page:
        path = tmp_path / f"{look}.png"
        page.screenshot(path=path)
    image = Image.open(path).convert("RGB")
    assert image.size == (size["width"], size["height"])
    colours = image.getcolors(maxcolors=image.width * image.height)
    assert len(colours) > 100
    paper = max(colours)[1]
    assert (sum(paper) < 200) == (scheme == "dark"), paper
