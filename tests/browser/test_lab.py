"""The start notebook in a real JupyterLab, in a real browser, its controls moved by keyboard."""

import json
from pathlib import Path

import pytest
from explorer_page import (
    CURVE_CHANGED,
    choose_camera,
    chooser,
    complaint,
    curve,
    extent,
    fits,
    lines,
    press,
    reload,
    slider,
    status,
    wait_for_exact,
    wait_until_changed,
)

from workbench.explorer.figures import LiveFigure


def test_the_notebook_runs_without_error_or_outside_request(page, keep_picture):
    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    keep_picture(page, "start")
    keep_picture(page.locator(".jp-OutputArea-output", has=page.locator(".js-plotly-plot")), "explorer")
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".js-plotly-plot").count() == 2
    assert len(lines(page)) == 2
    assert all("true false-alarm rate" in line for line in lines(page))
    assert page.foreign == []


def test_alpha_moves_the_curves_and_does_not_refit(page):
    before, path = fits(page), curve(page)
    press(page, "α (level)", times=5)
    page.locator(".widget-html-content", has_text="α = 0.10").first.wait_for()
    page.wait_for_timeout(500)
    assert slider(page, "α (level)")[1].inner_text() == "0.10"
    assert curve(page) != path
    assert fits(page) == before  # the same pairs, gap and support vectors: the same fit


def test_sigma_refits(page, keep_picture):
    before, path = lines(page), curve(page)
    press(page, "σ / D_K")
    wait_until_changed(page, before)
    wait_for_exact(page)
    assert curve(page) != path
    assert fits(page) != before
    keep_picture(page, "sigma")


def test_a_fast_drag_ends_at_the_last_value(page):
    before = lines(page)
    press(page, "σ / D_K", "ArrowLeft", times=14)
    wait_until_changed(page, before)
    wait_for_exact(page)
    page.wait_for_timeout(500)
    dragged = lines(page)
    press(page, "σ / D_K", "ArrowLeft")
    wait_until_changed(page, dragged)
    press(page, "σ / D_K", "ArrowRight")
    page.wait_for_timeout(1500)
    wait_for_exact(page)
    assert lines(page) == dragged  # what this value gives when come upon slowly


def test_a_preset_is_applied_and_explained(page, keep_picture):
    before = lines(page)
    chooser(page, "preset").select_option(label="the far field without the anchor".replace(" ", "\u00a0"))
    wait_until_changed(page, before)
    wait_for_exact(page)
    page.get_by_text("As printed: far from the data g returns to 0").wait_for()
    assert not page.get_by_label("anchor: the point at infinity").is_checked()
    keep_picture(page, "preset")


def test_points_can_be_clicked_in(page, keep_picture):
    page.get_by_role("button", name="reset", exact=True).click()
    chooser(page, "data").select_option(label="points drawn by hand".replace(" ", "\u00a0"))
    page.get_by_text("10 are the least to learn from").wait_for()
    press(page, "k neighbours", "Home")
    page.wait_for_timeout(500)
    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    for x, y in ((0.3, 0.3), (0.35, 0.5), (0.7, 0.7)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        page.wait_for_timeout(300)
        page.mouse.down()
        page.mouse.up()
        page.wait_for_timeout(1000)
    wait_for_exact(page)
    assert len(lines(page)) == 2
    keep_picture(page, "drawn")


def test_a_mistake_is_answered_in_words(page):
    page.get_by_text("levels, loss, calibration, solver, colours").click()
    box = page.get_by_placeholder("0.03, 0.5").last
    box.fill("3%")
    box.press("Enter")
    page.get_by_text("Cut points must be numbers").wait_for()
    assert "3%" in complaint(page)
    page.get_by_role("button", name="reset", exact=True).click()
    wait_for_exact(page)
    assert "exact" in status(page)


def test_a_reload_shows_the_explorer_as_it_was_left(page, keep_picture):
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1500)
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")  # it is saved
    before, drawn = lines(page), extent(page)
    reload(page)
    page.locator(".widget-html-content", has_text="support vectors").first.wait_for()
    assert lines(page) == before
    assert extent(page) == pytest.approx(drawn, abs=3)  # pixels
    press(page, "σ / D_K")
    wait_until_changed(page, before)  # and it is alive
    keep_picture(page, "reloaded")


def test_page_and_kernel_agree_on_the_state(page):
    press(page, "α (level)", times=3)
    page.get_by_text("save and share", exact=True).click()
    text = page.locator(".widget-textarea", has=page.get_by_text("settings", exact=True)).locator("textarea")
    page.wait_for_timeout(2500)  # the kernel writes them down when the hand rests
    settings = json.loads(text.input_value())
    assert f"{settings['alpha']:.2f}" == slider(page, "α (level)")[1].inner_text()
    assert f"{settings['sigma_over_DK']:.2f}" == slider(page, "σ / D_K")[1].inner_text()
    assert settings["data"] == chooser(page, "data").input_value().replace("\u00a0", " ")


def test_a_point_under_the_mouse_is_explained(page, keep_picture):
    wait_for_exact(page)
    point = page.locator(".js-plotly-plot").first.locator(".scatterlayer path.point").last.bounding_box()
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    page.locator(".widget-html-content", has_text="densest level").wait_for()
    keep_picture(page, "explained")
    page.mouse.move(0, 0)
    page.locator(".widget-html-content", has_text="densest level").wait_for(state="hidden")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_picture_can_be_saved(page, kind):
    choose_camera(page, kind)
    page.wait_for_timeout(500)
    figure = page.locator(".js-plotly-plot").first
    figure.hover()
    with page.expect_download() as download:
        figure.locator(".modebar-btn").first.click()
    assert download.value.suggested_filename == f"rankad.{kind}"
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG" if kind == "png" else b"<svg")
    assert len(content) > 10_000


def test_the_curves_still_follow_after_a_choice_of_format(page):
    for kind in ("svg", "png"):
        choose_camera(page, kind)
        before = curve(page)
        press(page, "α (level)")
        page.wait_for_function(CURVE_CHANGED, arg=before)


FIGURE_TOLD_EARLY = """async ([source, broken]) => {
    const program = broken || `
        export class FigureView { remove() {} }
        export default () => {
            let model;
            const note = () => globalThis.heard.push(model.get('_py2js_update'));
            return {
                initialize(given) { model = given.model; model.on('change:_py2js_update', note); },
                render({ el }) { el.textContent = 'drawn'; },
            };
        };`;
    globalThis.heard = [];
    const listeners = new Set(), values = { _program: `IPY_MODEL_${broken}` };
    let asked = 0;
    const model = {
        get: name => values[name],
        on(event, callback) { if (event === 'change:_py2js_update') listeners.add(callback); },
        off: (event, callback) => listeners.delete(callback),
        widget_manager: {
            async get_model() {
                if (++asked < 3) throw new Error('widget model not found');
                return { get: () => program };
            },
        },
    };
    const tell = value => {
        values._py2js_update = value;
        for (const callback of [...listeners]) callback();
    };
    const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    const figure = (await import(url)).default();
    figure.initialize({ model });
    tell('early');
    tell(null);
    const el = document.createElement('div');
    figure.render({ el });
    while (!el.textContent) await new Promise(resolve => setTimeout(resolve, 20));
    tell('late');
    return [el.textContent, globalThis.heard];
}"""


def test_what_a_figure_is_told_before_its_program_is_there_is_told_again(page):
    told = page.evaluate(FIGURE_TOLD_EARLY, [str(LiveFigure._esm), ""])
    assert told == ["drawn", ["early", None, "late"]]


def test_a_figure_whose_program_fails_says_so(page):
    text, heard = page.evaluate(FIGURE_TOLD_EARLY, [str(LiveFigure._esm), "throw new Error('spoilt')"])
    assert text == "The figure cannot be drawn: spoilt. Load the page anew."
    assert heard == []


def test_nothing_left_the_machine(page):
    assert page.foreign == []
