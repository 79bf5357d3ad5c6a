"""The guide's pictures of the dashboard, taken of a demo's cloud.

    Scripts/dashboard --images

Each is a room in use, in the light theme, as WebP of at most 60 kB.
"""

import base64
import pathlib
import sys

from selenium.webdriver.common.keys import Keys

FOLDER = pathlib.Path(__file__).parents[2] / "docs/guides/images"
WIDTH, HEIGHT, MOST = 1120, 700, 60_000


def record(cloud, page):
    page.go("Records")
    page.choose("Type", "Country")
    page.open_row("AD")
    page.reads("Atlas, countries: atlas")


def graph(cloud, page):
    page.run("location.hash = '#/graph?database=private&zone=Atlas'")
    page.wait(lambda: page.run("return document.querySelector('canvas')?.hasAttribute('data-done')"), "the picture")
    page.run("document.querySelector('canvas').focus()")
    page.keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)


def requests(cloud, page):
    cloud.save("CH", "Country", {"name": "Helvetia"})
    cloud.call("records/query", {"query": {"recordType": "Planet"}})
    page.go("Requests")
    page.choose("Which", "With problems")
    page.wait(lambda: page.rows() and "Planet" in page.rows()[0][6], "the problem")
    page.run("document.querySelector('.rows > .row').click()")
    page.reads("Identifier")


def sharing(cloud, page):
    page.go("Sharing")
    page.reads("What Ada shares", "Grace Hopper")


PICTURES = [record, graph, requests, sharing]


def take(cloud, page, furnish):
    furnish(cloud)
    page.scheme("light")
    page.resize(WIDTH, HEIGHT)
    page.open()
    page.choose("Act as", "Ada")
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        page.run("document.querySelectorAll('dialog').forEach(each => each.close())")
        picture(cloud, page)
        page.run("document.querySelectorAll('.message').forEach(each => each.remove())")
        page.frame()
        for quality in [85, 70, 50]:
            taken = page.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": quality})
            data = base64.b64decode(taken["data"])
            if len(data) <= MOST:
                break
        else:
            sys.exit(f"dashboard: the picture {picture.__name__} has {len(data)} bytes; at most {MOST} are allowed")
        (FOLDER / f"dashboard-{picture.__name__}.webp").write_bytes(data)
        print(f"{picture.__name__}: {len(data)} bytes")
