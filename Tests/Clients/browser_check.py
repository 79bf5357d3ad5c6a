"""Runs a page that sends what CloudKit JS sends in headless Chromium, against `cloudkit serve`.

    browser_check.py CLOUDKIT

CLOUDKIT is the built command; Scripts/clients runs this. The page comes from another port than the server, so that the
browser asks for it as it would for an app's. Exits 0 when everything holds.
"""

import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

CONTAINER = "iCloud.com.example.web"
WAIT = 30


def check(condition, what):
    if not condition:
        sys.exit(f"browser: {what}")
    print("ok", what)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_pages():
    folder = pathlib.Path(__file__).parent / "Web"
    handler = functools.partial(Quiet, directory=str(folder))
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    return pages.server_address[1]


def start_server(command, folder):
    server = subprocess.Popen(
        [command, "serve", "--data", folder, "--port", "0", "--container", CONTAINER, "--user", "Ada"],
        stdout=subprocess.PIPE,
        text=True,
    )
    greeting = server.stdout.readline()
    found = re.search(r"http://\S+:\d+", greeting)
    check(found, "starts the server")
    return server, found.group()


def start_browser():
    options = Options()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    # Containers run as root, where Chromium has no sandbox; nothing but our own pages is opened.
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]:
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.set_script_timeout(WAIT)
    return browser


class Page:
    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        self.wait = WebDriverWait(browser, WAIT)
        browser.get(address)

    def user(self):
        """Who is signed in, once the page knows."""
        self.wait.until(lambda b: b.find_element(By.ID, "user").text)
        return self.browser.find_element(By.ID, "user").text

    def run(self, script, *arguments):
        """Runs the body of an async function of the page; its error is ours."""
        response = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            f"(async (...args) => {{ {script} }})(...[...arguments].slice(0, -1))"
            ".then(value => done({value}), error => done({error: String(error),"
            " code: error.serverErrorCode}));",
            *arguments,
        )
        if "error" in response:
            sys.exit(f"browser: {response['error']} ({response.get('code')})\n  in {script}")
        return response.get("value")

    def sign_in(self, is_done=lambda b: b.find_element(By.ID, "user").text.startswith("_")):
        own = self.browser.current_window_handle
        self.browser.find_element(By.ID, "sign-in").click()
        self.wait.until(lambda b: len(b.window_handles) == 2)
        self.browser.switch_to.window(next(w for w in self.browser.window_handles if w != own))
        button = self.wait.until(lambda b: b.find_element(By.CSS_SELECTOR, "button[name=user]"))
        check(button.text == "Ada", "the window offers the user")
        button.click()
        # It tells the page that opened it, and closes itself.
        self.wait.until(lambda b: len(b.window_handles) == 1)
        self.browser.switch_to.window(own)
        self.wait.until(is_done)


def check_page(browser, address, version):
    page = Page(browser, address)
    check(page.user() == "nobody", "nobody is signed in at first")
    page.sign_in()
    user = page.user()
    check(user.startswith("_"), "signs in by a window")

    zone = {"zoneName": f"Web{version}"}
    page.run(
        'return client.send("database", "private", "zones/modify", {operations: '
        '[{operationType: "create", zone: {zoneID: args[0]}}]})',
        zone,
    )
    saved = page.run(
        "const bytes = new Uint8Array(70000).map((_, place) => place % 251);"
        'const file = await client.upload(args[0], "Photo", "image", new Blob([bytes], {type: "image/png"}));'
        'return (await client.save(args[0], "Photo", {title: "Milk", image: file, size: 1,'
        " place: {latitude: 47, longitude: 8}})).records[0]",
        zone,
    )
    check("serverErrorCode" not in saved, f"saves a record with a Blob {saved.get('reason', '')}".strip())
    check(saved["fields"]["image"]["value"]["size"] == 70000, "the service has the whole Blob")
    same = page.run(
        "const response = await fetch(args[0]); const bytes = new Uint8Array(await response.arrayBuffer());"
        "return bytes.length === 70000 && bytes.every((byte, place) => byte === place % 251)",
        saved["fields"]["image"]["value"]["downloadURL"],
    )
    check(same, "reads the Blob back in the page")

    page.run('return client.save(args[0], "Photo", {title: "Eggs", size: 2, place: {latitude: 10, longitude: 8}})', zone)
    found = page.run(
        'return (await client.send("database", "private", "records/query", {zoneID: args[0], query: '
        '{recordType: "Photo", filterBy: [{fieldName: "size", comparator: "GREATER_THAN", fieldValue: {value: 0}}],'
        ' sortBy: [{fieldName: "place", relativeLocation: {latitude: 9, longitude: 9}}]}})).records',
        zone,
    )
    titles = [record["fields"]["title"]["value"] for record in found]
    check(titles == ["Eggs", "Milk"], "queries by bare values, nearest first")

    page.run(
        'await client.send("database", "private", "subscriptions/modify", {operations: [{operationType: "create",'
        ' subscription: {subscriptionID: args[0].zoneName, subscriptionType: "zone", zoneID: args[0],'
        ' notificationInfo: {alertBody: "News"}}}]});'
        "window.news = []; return client.listen(item => window.news.push(item))",
        zone,
    )
    other = save_elsewhere(browser, address, zone)
    news = page.run(
        "while (window.news.length === 0) await new Promise(resolve => setTimeout(resolve, 20));"
        "return window.news[0]"
    )
    check(news["ck"]["fet"]["sid"] == zone["zoneName"], f"hears of {other} by the long poll")

    browser.refresh()
    check(page.user() == user, "is signed in after a reload, by the cookie")
    browser.find_element(By.ID, "sign-out").click()
    page.wait.until(lambda b: b.find_element(By.ID, "user").text == "nobody")
    browser.refresh()
    check(page.user() == "nobody", "stays signed out after a reload")


def save_elsewhere(browser, address, zone):
    """Saves a record in another window of the same user, which has a client of its own."""
    own = browser.current_window_handle
    browser.switch_to.new_window("tab")
    second = Page(browser, address)
    check(second.user().startswith("_"), "another window of the page is signed in, too")
    name = "from elsewhere"
    second.run('return client.save(args[0], "Photo", {title: args[1], size: 3})', zone, name)
    browser.close()
    browser.switch_to.window(own)
    return name


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        server, url = start_server(command, folder + "/cloud")
        try:
            token = pathlib.Path(folder, "cloud", "api-token").read_text().strip()
            port = serve_pages()
            browser = start_browser()
            try:
                for version in (2, 1):
                    query = urllib.parse.urlencode(
                        {"url": url, "container": CONTAINER, "apiToken": token, "version": version}
                    )
                    print(f"-- as CloudKit JS {version}.x")
                    check_page(browser, f"http://127.0.0.1:{port}/index.html?{query}", version)
            finally:
                browser.quit()
        finally:
            server.terminate()
            server.wait(WAIT)


if __name__ == "__main__":
    main()
