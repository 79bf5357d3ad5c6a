"""The page in headless Chromium, used as people use it: by what they read on it."""

import glob
import pathlib
import re
import shutil
import sys
import time

import axe_playwright_python
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException, WebDriverException,
)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WAIT = 20
# What a page that is being drawn anew says.
PASSING = (
    ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException, AssertionError,
    IndexError,
)
# One of what is counted, called as if there were more.
PLURAL = re.compile(r"(?<![\d.,:-])1[ \n](?:records|files|rows|rules|users|zones|faults|connections|references|fields|types|items|devices|sessions|shares)\b(?!/)")
AXE = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()

# Whatever the policy keeps from happening would otherwise be seen in the console alone.
WATCH = """
window.refused = [];
addEventListener("securitypolicyviolation", event => refused.push(`${event.violatedDirective} ${event.blockedURI}`));
addEventListener("error", event => refused.push(`error ${event.message}`));
"""


def start_browser(*more):
    options = Options()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    # Containers run as root, where Chromium has no sandbox; nothing but our own pages is opened.
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *more]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.set_script_timeout(WAIT * 3)
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return browser


class Page:
    def __init__(self, browser, cloud):
        self.browser, self.cloud = browser, cloud
        self.resize(1280, 800)

    def open(self, hash=None):
        """Opens the page by the address that the server printed."""
        self.browser.get("about:blank")
        self.browser.get(self.cloud.page + (self.cloud.where + self.cloud.fragment if hash is None else hash))

    def resize(self, width, height):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def frame(self):
        """Lets the page draw what it has to draw."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def wait(self, condition, what, seconds=WAIT):
        """Waits until a condition holds, and returns its result."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := condition():
                    return found
            except PASSING:
                pass
            if time.monotonic() > end:
                self.browser.save_screenshot("/tmp/dashboard-failed.png") if "--keep" in sys.argv else None
                sys.exit(f"dashboard: waited in vain: {what}\n  the page reads: {self.text()[-1500:]}")
            time.sleep(0.02)

    def go(self, room, title=None):
        """Opens a room by its link."""
        self.run("document.querySelectorAll('dialog').forEach(each => each.close())")

        def click():
            link = self.run(
                "return [...document.querySelectorAll('nav a')].find(each => each.textContent === arguments[0])", room)
            if link:
                link.click()
            return link

        self.wait(click, f"the link {room}")
        self.wait(lambda: self.heading() == (title or room), f"the room {room}")

    def heading(self):
        return self.run("return document.querySelector('main h1')?.textContent")

    def text(self):
        try:
            return self.run("return document.body.innerText")
        except WebDriverException:
            return "nothing"

    def reads(self, *texts):
        for text in texts:
            self.wait(lambda: text in self.text(), f"“{text}”")
        if found := PLURAL.search(self.text()):
            sys.exit(f"dashboard: one of something has no plural: “{found[0]}”")

    @property
    def top(self):
        """What a person can use: the uppermost dialog, or the page."""
        return self.run("return [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body")

    def button(self, name, scope=None):
        """The button that is called so, by its text or by what screen readers say."""
        return self.wait(lambda: self.run(
            "return [...arguments[0].querySelectorAll('button, summary')].find(each =>"
            " each.checkVisibility() && (each.getAttribute('aria-label') ?? each.textContent) === arguments[1])",
            scope or self.top, name), f"the button {name}")

    def press(self, name):
        def click():
            self.button(name).click()
            return True

        # What is drawn anew meanwhile is looked for again.
        self.wait(click, f"pressing {name}")

    def field(self, label, index=0):
        """The control with a label."""
        return self.wait(lambda: self.run(
            "return [...arguments[0].querySelectorAll('label')].filter(each => each.textContent === arguments[1]"
            " && each.checkVisibility()).map(each => each.control)[arguments[2]]", self.top, label, index), f"the field {label}")

    def fill(self, label, text, index=0):
        """Types into a control, or picks a file."""

        def type_into():
            control = self.field(label, index)
            if control.get_attribute("type") != "file":
                control.send_keys(Keys.CONTROL, "a")
                control.send_keys(Keys.DELETE)
            control.send_keys(text)
            return True

        self.wait(type_into, f"typing into {label}")

    def choose(self, label, text, index=0):
        def click():
            options = self.field(label, index).find_elements(By.TAG_NAME, "option")
            option = next((each for each in options if each.text == text), None)
            if option:
                option.click()
            return option

        self.wait(click, f"the choice {text} of {label}")

    def rows(self):
        """The texts of the cells that the table shows, row by row."""
        return self.run(
            "return [...document.querySelectorAll('ck-grid .rows > .row:not([hidden]):not(.waiting)')]"
            ".sort((one, other) => one.dataset.index - other.dataset.index)"
            ".map(row => [...row.children].map(cell => cell.textContent))")

    def open_row(self, text):
        """Opens the row with a cell that reads so."""

        def click():
            cell = self.run(
                "return [...document.querySelectorAll('ck-grid .rows > .row:not([hidden]) > *')]"
                ".find(each => each.textContent === arguments[0])", text)
            if cell:
                cell.click()
            return cell

        self.wait(click, f"the row {text}")

    def keys(self, *keys):
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def focused(self):
        """What screen readers call the element with the focus."""
        return self.run(
            "const each = document.activeElement;"
            "return each.getAttribute('aria-label') ?? each.labels?.[0]?.textContent ?? each.textContent")

    def tab_to(self, name, limit=80):
        """Goes on with the keyboard until an element has the focus."""
        for _ in range(limit):
            if self.focused() == name:
                return
            self.keys(Keys.TAB)
        sys.exit(f"dashboard: the keyboard does not reach “{name}”; it is at “{self.focused()}”")

    def scheme(self, name):
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def axe(self):
        """What axe-core finds wrong."""
        self.run(AXE)
        found = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document).then(found => done(found.violations.map(each =>"
            " `${each.id}: ${each.nodes.map(node => node.html.slice(0, 150)).slice(0, 3).join(' | ')}`)),"
            " error => done([String(error)]))")
        return found

    def troubles(self, *expected):
        """What the console and the policy complained of since the last time, without what was expected."""
        lines = [each["message"] for each in self.browser.get_log("browser") if each["level"] == "SEVERE"]
        lines += self.run("return window.refused?.splice(0) ?? []")
        return [line for line in lines if not any(text in line for text in expected)]
