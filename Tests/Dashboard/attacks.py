"""What strangers may try against the page, each as a check."""

import http.server
import threading
import time

from selenium.webdriver.common.keys import Keys


# Markup that would run, in the forms that get past different mistakes.
HOSTILE = [
    "<img src=x onerror=hacked=1>", "<script>hacked=1</script>", "\"><svg onload=hacked=1>", "' onfocus=hacked=1 autofocus '",
    "javascript:hacked=1", "{{constructor.constructor('hacked=1')()}}", "</textarea><script>hacked=1</script>",
    "\u202e<b>backwards</b>",
]


class Pages(http.server.BaseHTTPRequestHandler):
    """One page of another origin."""

    html = ""

    def do_GET(self):
        body = type(self).html.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(html):
    """The address of a page on another port of this machine."""
    handler = type("OnePage", (Pages,), {"html": html})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f":{server.server_address[1]}/"


def ATTACKS(check, no_trouble, rooms):
    def check_markup(cloud, page):
        """Whatever names and values say, they stay text."""
        cloud.make_zone(HOSTILE[0])
        for number, text in enumerate(HOSTILE):
            # Names of records have no characters other than ASCII's.
            cloud.save(f"h{number} {text}".encode("ascii", "replace").decode(), "Hostile", {"text": text, "list": HOSTILE}, HOSTILE[0])
            # The server takes no name that turns text around.
            if text.isprintable():
                cloud.operate("PUT", cloud.of_container("snapshots/") + quote(text))
                cloud.operate("POST", cloud.of_container("users"), {"name": text, "emailAddress": f"guest{number}@example.com"})
            cloud.operate("PUT", "faults", {"rules": [
                {"fault": "error", "code": "ZONE_BUSY", "reason": each, "operation": "zones/lookup", "zone": each, "user": each}
                for each in HOSTILE]})
            cloud.call(f"records/{quote(text)}")
            cloud.call("changes/zone", {"zones": [{"zoneID": {"zoneName": HOSTILE[0]}}]}, query=f"&clientId={quote(text)}")
            cloud.call("records/query", {"query": {"recordType": text}, "zoneID": {"zoneName": text}})
            cloud.send("GET", f"/{quote(text)}")
        for text in HOSTILE[:7]:
            cloud.call("subscriptions/modify", {"operations": [{"operationType": "create", "subscription": {
                "subscriptionID": text, "subscriptionType": "zone", "zoneID": {"zoneName": HOSTILE[0]},
                "notificationInfo": {"alertBody": text}}}]})
        # A share's title, its participants' names, and the payloads of what was told.
        cloud.save("root", "Hostile", {"text": HOSTILE[1]}, HOSTILE[0])
        users = cloud.operate("GET", cloud.of_container("users"))["users"]
        guests = [each["userRecordName"] for each in users if each.get("emailAddress")]
        cloud.modify("create", {"recordName": "share", "recordType": "cloudkit.share", "forRecord": {"recordName": "root"},
                                "fields": {"cloudkit.title": {"value": HOSTILE[0]}}, "participants": [
            {"type": "USER", "permission": "READ_ONLY", "userIdentity": {"lookupInfo": {"userRecordName": each}}} for each in guests]
            + [{"type": "USER", "permission": "READ_ONLY", "userIdentity": {"lookupInfo": {"emailAddress": f"{HOSTILE[1]}@example.com"}}}]},
            HOSTILE[0])
        picture = b"<svg xmlns='http://www.w3.org/2000/svg' onload='hacked=1'><script>hacked=1</script></svg>"
        _, token = cloud.call("assets/upload", {"zoneID": {"zoneName": HOSTILE[0]}, "tokens": [
            {"recordName": "file", "recordType": "Hostile", "fieldName": "file"}]})
        path = token["tokens"][0]["url"].removeprefix(cloud.url)
        _, receipt = cloud.send("POST", path, picture)
        cloud.save("file", "Hostile", {"file": receipt["singleFile"]}, HOSTILE[0])

        page.open()
        page.choose("Act as", "Ada")
        for room in rooms:
            page.go(room)
            if room == "Records":
                page.choose("Zone", HOSTILE[0])
                page.choose("Type", "Hostile")
                page.wait(lambda: len(page.rows()) > 5, "the hostile records")
                page.press("Filter and sort")
                page.press("Add a condition")
                page.fill("Value", HOSTILE[0])
                page.open_row(f"h2 {HOSTILE[2]}")
                page.reads("Referred to by", "No record of this zone")
                page.press("Close")
                page.open_row("file")
                page.press("Preview file 1")
                page.reads("<script>hacked=1</script></svg>")
                page.press("Close")
            if room == "Changes":
                page.choose("Zone", HOSTILE[0])
                page.reads("h0 <img")
            if room == "Graph":
                page.choose("Zone", HOSTILE[0])
                page.wait(lambda: len(page.rows()) > 5, "the hostile graph")
                page.run("document.querySelector('canvas').focus()")
                page.keys(Keys.HOME)
                page.reads("refers to 0", "Look around it")
                page.fill("Around the record", HOSTILE[2])
                page.press("Show")
                page.reads(f"There is no record {HOSTILE[2]} here")
            if room == "Requests":
                page.wait(lambda: len(page.rows()) > 5, "the requests")
                page.choose("Which", "With problems")
                page.run("document.querySelector('.rows > .row').click()")
                page.reads("Identifier")
                page.press("Close")
            if room == "Users":
                page.reads(HOSTILE[1])
                page.press(f"Act as {HOSTILE[1]}")
            if room == "Sharing":
                page.choose("Act as", "Ada")
                page.reads(HOSTILE[0], HOSTILE[1])
                page.press(f"What {HOSTILE[1]} sees of {HOSTILE[0]}")
                page.reads("Nothing.")
                page.press("Close")
            if room == "Subscriptions":
                page.reads(HOSTILE[1], f"{HOSTILE[0]}: no device listens")
                page.run("document.querySelectorAll('details').forEach(each => each.open = true)")
                page.reads('"alert"')
            if room == "Sync":
                page.reads(HOSTILE[0], HOSTILE[6])
            if room == "Faults":
                page.reads(HOSTILE[0])
            if room == "Snapshots":
                page.reads(HOSTILE[0])
                page.press(f"Compare {HOSTILE[0]}")
                page.wait(lambda: len(page.rows()) > 5, "the hostile differences")
                page.choose("To", HOSTILE[1])
                page.press("Close")
                page.press(f"Delete {HOSTILE[0]}")
                page.press("Delete snapshot")
                page.reads(f"{HOSTILE[0]} is deleted")
            time.sleep(0.2)
            check(page.run("return window.hacked") is None, f"no text runs in {room}")
            strange = page.run("return document.querySelectorAll('main script, main img, main b, dialog script, dialog b,"
                               " [onerror], [onload], [onfocus], iframe').length")
            check(strange == 0, f"no text is markup in {room}")
            # A value that reads backwards leaves the words around it alone; cells and refusals have a line of their own.
            astray = page.run("""
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), astray = [];
                while (walker.nextNode()) {
                    const {data, parentElement: parent} = walker.currentNode;
                    if (!data.includes("\u202e") || parent.closest("[role=gridcell], option, pre, textarea, .problem")) continue;
                    const isAlone = parent.childNodes.length === 1 && /^\u202e[^]*<\/b>$/.test(data);
                    if (!isAlone || !/isolate|plaintext/.test(getComputedStyle(parent).unicodeBidi)) astray.push(parent.outerHTML.slice(0, 200));
                }
                return astray;""")
            check(astray == [], f"no text turns others around in {room}", *astray)
        page.open("#/records?database=private&zone=%3Cimg%20src%3Dx%20onerror%3Dhacked%3D1%3E&type=%3Cscript%3E&record=%22%3E%3Cb%3E")
        time.sleep(1)
        check(page.run("return window.hacked") is None, "no part of the address runs")
        no_trouble(page, "hostile texts", "status of 4")

    def check_frames(cloud, page):
        """No page of anybody's shows this one inside it."""
        for path in ["", "app.js"]:
            server, end = serve(f"<iframe id=f src='{cloud.page}{path}'></iframe>")
            page.browser.get(f"http://127.0.0.1{end}")
            time.sleep(0.5)
            # What is refused is shown as the browser's own page, of another origin.
            complaints = " ".join(each["message"] for each in page.browser.get_log("browser"))
            check("frame-ancestors" in complaints or "X-Frame-Options" in complaints or "refused to connect" in complaints,
                  f"the browser frames no {path or 'page'}", complaints)
            server.shutdown()
        page.open()

    def check_foreign_pages(cloud, page):
        """A page of another origin changes nothing, even one that the browser lets try."""
        cloud.save("Berne", "City", {"name": "Berne"})
        reset = f"{cloud.url}/_ck/containers/{cloud.container}/reset"
        # This machine's other ports may call the server, and evil.example may not; neither knows the key.
        for host in ["127.0.0.1", "evil.example"]:
            server, end = serve(f"<form id=f method=post action='{reset}' enctype='text/plain'><input name=x value=1></form>")
            page.browser.get(f"http://{host}{end}")
            for headers in [{}, {"Authorization": "Bearer guess"}, {"X-Forwarded-For": "127.0.0.1"}]:
                outcome = page.browser.execute_async_script(
                    "const done = arguments[arguments.length - 1];"
                    "fetch(arguments[0], {method: 'POST', headers: arguments[1]})"
                    ".then(response => done(response.status), () => done('refused'))", reset, headers)
                check(outcome in [403, "refused"], f"a page of {host} resets nothing", outcome)
            page.run("document.getElementById('f').submit()")
            page.wait(lambda: "ACCESS_DENIED" in page.text(), "the form is refused")
            server.shutdown()
        check(cloud.value("Berne", "name") == "Berne", "nothing was changed")
        page.troubles()

    def check_rebinding(cloud, page):
        """Under a name of a stranger's that leads to this machine, there is no page."""
        port = cloud.url.rsplit(":", 1)[1]
        page.browser.get(f"http://evil.example:{port}/_/{cloud.where}{cloud.fragment}")
        check("ACCESS_DENIED" in page.text(), "a foreign name shows no page", page.text()[:200])
        page.troubles()

    def check_key(cloud, page):
        """Without the key the page shows nothing, and asks for it."""
        page.open()
        page.reads("Containers")
        page.run("sessionStorage.clear()")
        page.open("")
        page.reads("The server asks for its key")
        check("iCloud.demo" not in page.text(), "without the key nothing is shown")
        page.fill("Key", "wrong\u2603")
        page.press("Open")
        page.reads("The key is wrong")
        page.wait(lambda: page.field("Key").get_property("value") == "", "it asks again")
        page.fill("Key", "wrong")
        page.press("Open")
        page.wait(lambda: page.field("Key").get_property("value") == "", "it asks again")
        page.reads("The key is wrong", "The key that this tab has is not the server's")
        check("iCloud.demo" not in page.text(), "with a wrong key nothing is shown, and it is called wrong")
        page.fill("Key", cloud.key)
        page.press("Open")
        page.reads("Containers", "iCloud.demo")
        check(True, "with the key all is shown")
        no_trouble(page, "the key", "status of 403")

    return {name.removeprefix("check_"): each for name, each in locals().items() if name.startswith("check_")}


def quote(text):
    from urllib.parse import quote as percent
    return percent(text, safe="")
