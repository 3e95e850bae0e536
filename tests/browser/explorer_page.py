"""What a reader sees and does on a page with an explorer."""

import json

LINES = """() => [...document.querySelectorAll('.widget-html-content div')]
    .map(e => e.innerText).filter(t => t.includes('support vectors'))"""


CAMERAS = """kind => {
    const figures = [...document.querySelectorAll('.js-plotly-plot')];
    return figures.length === 2 && figures.every(figure =>
        figure._context && figure._context.toImageButtonOptions.format === kind);
}"""


CURVE_CHANGED = """before => {
    const lines = document.querySelector('.js-plotly-plot').querySelectorAll('.scatterlayer path.js-line');
    return lines.length && lines[lines.length - 1].getAttribute('d') !== before;
}"""


def slider(page, description):
    box = page.locator(".widget-slider", has=page.get_by_text(description, exact=True))
    return box.locator(".noUi-handle"), box.locator(".widget-readout")


def chooser(page, description):
    return page.locator(".widget-dropdown", has=page.get_by_text(description, exact=True)).locator("select")


def press(page, description, key="ArrowRight", times=1):
    slider(page, description)[0].focus()
    for _ in range(times):
        page.keyboard.press(key)


def lines(page):
    """The lines of figures below each panel."""
    return page.evaluate(LINES)


def fits(page):
    """What of them depends on the fit alone: pairs, gap, support vectors."""
    return [text.split("\n")[0] for text in lines(page)]


def status(page):
    return page.locator(".widget-html-content", has_text="solved in").inner_text()


def complaint(page):
    return page.locator(".widget-html-content", has_text="\u26a0").inner_text()


def curve(page):
    """The learned boundary at alpha in the right panel, as drawn."""
    return page.locator(".js-plotly-plot").first.locator(".scatterlayer path.js-line").last.get_attribute("d")


def extent(page):
    """Left, top, right and bottom of that boundary, in pixels of the page."""
    line = page.locator(".js-plotly-plot").first.locator(".scatterlayer path.js-line").last
    return line.evaluate(
        """e => { const b = e.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; }"""
    )


def choose_camera(page, kind):
    """Choose what the camera saves, and wait until the figures are drawn anew."""
    chooser(page, "camera saves").select_option(label=kind)
    page.wait_for_function(CAMERAS, arg=kind)


def reload(page):
    page.reload()
    page.locator("#jupyterlab-splash").wait_for(state="detached")
    page.locator(".js-plotly-plot .scatterlayer").first.wait_for()


def wait_until_changed(page, before):
    page.wait_for_function(
        f"before => JSON.stringify(({LINES})()) !== before",
        arg=json.dumps(before, separators=(",", ":"), ensure_ascii=False),
    )


def wait_for_exact(page):
    page.locator(".widget-html-content", has_text="exact: relative gap").wait_for()
