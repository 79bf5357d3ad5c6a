"""Coarse pictures of the rooms, with which later ones are compared for gross breakage.

    Scripts/dashboard --renew-pictures

Each is a room of a furnished demo's cloud at 1280 by 800 pixels, as 20 lines of 32 cells. A cell says how much of its 40 by 40
pixels is unlike the page's ground: a dot for nothing, 9 for all. With another font, other values or a line more, nearly every
cell stays within what the cells around it were; without a layout, many do not. Whoever changes the layout on purpose renews all
pictures, and looks at what version control says has changed.
"""

import base64
import math
import pathlib
import re
import sys
import time

FILE = pathlib.Path(__file__).with_name("pictures.txt")
WIDTH, HEIGHT, CELL = 1280, 800, 40
SCHEMES = ["light", "dark"]
# Cells that may differ, of 640, and the seconds in which a room has to have come to that.
MOST, WAIT = 12, 20

# The mean distance of each cell's grey values from the commonest one, from 0 to 255.
SHRINK = """
const [png, cell, done] = arguments;
(async () => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), each => each.charCodeAt(0))]));
    const {width, height} = image, pen = new OffscreenCanvas(width, height).getContext("2d");
    pen.drawImage(image, 0, 0);
    const {data} = pen.getImageData(0, 0, width, height), greys = new Uint8Array(width * height), counts = new Array(256).fill(0);
    for (let place = 0; place < greys.length; place++) {
        greys[place] = 0.3 * data[place * 4] + 0.6 * data[place * 4 + 1] + 0.1 * data[place * 4 + 2];
        counts[greys[place]]++;
    }
    const ground = counts.indexOf(Math.max(...counts)), across = width / cell, ink = new Array(across * height / cell).fill(0);
    greys.forEach((grey, place) => {
        const x = place % width, y = (place - x) / width;
        ink[Math.floor(y / cell) * across + Math.floor(x / cell)] += Math.abs(grey - ground) / cell ** 2;
    });
    done(ink);
})();
"""

# Layouts whose loss has to be noticed, each in a room that has it.
BROKEN = [("Overview", "ck-dashboard"), ("Overview", ".cards"), ("Records", ".choices"), ("Records", ".row")]
# Takes the layout from the rule with a selector, as if the style sheet did not have it.
BREAK = """
const walk = list => [...list.cssRules].reduce((count, rule) => {
    const isMeant = rule.selectorText?.replace(/^& /, "") === arguments[0] && rule.style.removeProperty("display") !== "";
    return count + isMeant + (rule.cssRules ? walk(rule) : 0);
}, 0);
return [...document.styleSheets].reduce((count, sheet) => count + walk(sheet), 0);
"""


def visit(page, room):
    page.go(room)
    page.wait(lambda: not re.search("Reading…|Looking…", page.text()), f"the content of {room}")
    if room == "Graph":
        page.wait(lambda: page.run("return document.querySelector('canvas').hasAttribute('data-done')"), "the places of all", 180)


def take(page):
    """The lines of the picture of what the page shows now."""
    page.run("document.querySelectorAll('.message').forEach(each => each.remove()); scrollTo(0, 0)")
    page.frame()
    png = page.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    ink = page.browser.execute_async_script(SHRINK, png, CELL)
    # The root shows text and thin lines, which are a small part of a cell.
    cells = "".join(".123456789"[min(9, round(9 * math.sqrt(each / 255)))] for each in ink)
    across = WIDTH // CELL
    return [cells[start:start + across] for start in range(0, len(cells), across)]


def unlike(kept, taken):
    """The number of cells that are darker or lighter than all cells around the same place were."""

    def level(cell):
        return 0 if cell == "." else int(cell)

    def around(y, x):
        return [level(cell) for line in kept[max(0, y - 1):y + 2] for cell in line[max(0, x - 1):x + 2]]

    return sum(not min(near := around(y, x)) - 1 <= level(cell) <= max(near) + 1
               for y, line in enumerate(taken) for x, cell in enumerate(line))


def settled(page, is_settled):
    """The page's picture as soon as it is what is waited for, or else the last one."""
    end = time.monotonic() + WAIT
    while not is_settled(taken := take(page)) and time.monotonic() < end:
        time.sleep(0.1)
    return taken


def read():
    """The lines of each kept picture, by room and scheme."""
    pictures = [each.splitlines() for each in FILE.read_text().split("\n\n")]
    return {tuple(head.split(", ")): lines for head, *lines in pictures}


def views(page, rooms):
    """Shows each room in each scheme."""
    page.resize(WIDTH, HEIGHT)
    page.open()
    page.choose("Act as", "Ada")
    for scheme in SCHEMES:
        page.scheme(scheme)
        for room in rooms:
            visit(page, room)
            yield room, scheme
    page.scheme("light")


def renew(page, rooms):
    texts = []
    for view in views(page, rooms):
        # What the room asked the server for has come.
        time.sleep(2)
        texts.append("\n".join([", ".join(view), *take(page)]) + "\n")
    FILE.write_text("\n".join(texts))
    print(f"pictures: {len(texts)} are renewed in {FILE.name}; look at what has changed")


def compare(page, rooms, check):
    kept = read()

    def looks_kept(room, scheme):
        """Checks that a room comes to look as it did."""
        taken = settled(page, lambda lines: unlike(kept[room, scheme], lines) <= MOST)
        count = unlike(kept[room, scheme], taken)
        beside = [f"  {one}  {other}" for one, other in zip(kept[room, scheme], taken)]
        remedy = "after a change on purpose, run Scripts/dashboard --renew-pictures; this is how it was, and how it is"
        check(count <= MOST, f"{room} looks as it did, {scheme}", f"but for {count} cells;", "\n".join([remedy, *beside]))

    for room, scheme in views(page, rooms):
        looks_kept(room, scheme)
    for room, selector in BROKEN:
        page.open()
        visit(page, room)
        looks_kept(room, SCHEMES[0])
        assert page.run(BREAK, selector) == 1, selector
        count = unlike(kept[room, SCHEMES[0]], take(page))
        check(count > MOST, f"{room} without the layout of {selector} does not look so", count)
