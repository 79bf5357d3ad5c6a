"""Runs every block of docs/guides/web.md: commands, Python, curl, and the page's code in headless Chromium.

    guide_check.py CLOUDKIT

CLOUDKIT is the built command; Scripts/clients runs this. The server takes a free port in place of the guide's, and
the page's address and token are put in; nothing else of a block is changed. Exits 0 when everything holds.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from browser_check import WAIT, Page, check, serve_pages, start_browser

ROOT = pathlib.Path(__file__).parents[2]


def blocks():
    text = (ROOT / "docs/guides/web.md").read_text()
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    found = blocks()
    known = {"console", "js", "python", "sh"}
    check({kind for kind, _ in found} == known, "knows each kind of block of the guide")
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CLOUDKIT_")}
        environment["PATH"] = f"{command.parent}:{environment['PATH']}"
        [serve] = [code for kind, code in found if kind == "console"]
        line = serve.removeprefix("$ ").strip()
        server = subprocess.Popen(
            ["bash", "-c", "exec " + line],
            cwd=folder,
            env={**environment, "CLOUDKIT_SERVE_PORT": "0"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            greeting = server.stdout.readline()
            address = re.search(r"http://\S+:\d+", greeting)
            check(address, "the guide's command starts a server")
            run_scripts(found, folder, environment)
            token = pathlib.Path(folder, "cloud", "api-token").read_text().strip()
            run_page([code for kind, code in found if kind == "js"], address.group(), token)
        finally:
            server.terminate()
            server.wait(WAIT)


def run_scripts(found, folder, environment):
    for kind, code in found:
        if kind == "python":
            shell = f"source ./cloud/ada.env && '{sys.executable}' -c \"$0\""
            arguments = ["bash", "-euc", shell, code]
        elif kind == "sh":
            arguments = ["bash", "-euo", "pipefail", "-c", code]
        else:
            continue
        done = subprocess.run(
            arguments, cwd=folder, env=environment, text=True, capture_output=True, timeout=120
        )
        check(done.returncode == 0, f"the guide's {kind} block runs: {done.stderr}")
        if kind == "sh":
            check('"recordName"' in done.stdout, "curl saves a record with a signed request")


def run_page(code, address, token):
    browser = start_browser()
    try:
        page = Page(browser, f"http://127.0.0.1:{serve_pages()}/guide.html")
        text = "\n".join(code)
        text = text.replace("http://127.0.0.1:8787", address)
        text = text.replace("the text in ./cloud/api-token", token)
        setup, rest = text.split("const database", 1)
        user = page.run(setup + "window.container = container; return user;")
        check(user is None, "nobody is signed in at first")
        page.sign_in(lambda b: page.run("return container.client.token") is not None)
        names = page.run(
            "const container = window.container; const database" + rest
            + "return found.records.map(record => record.fields.image.value.size);"
        )
        check(names == [len("not quite a picture")], "the guide's page saves a file and finds it")
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
