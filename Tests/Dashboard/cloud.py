"""A demo's cloud that stays, and the plain HTTP client with which checks look at it without the page."""

import json
import os
import re
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request


class Cloud:
    """`cloudkit demo --serve`, or `cloudkit serve` with other options, until `stop()`."""

    def __init__(self, command, *arguments):
        self.command = command
        self.process = subprocess.Popen(
            [command, *(arguments or ["demo", "--serve"])],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.settings = {}
        self.page = None
        for line in self.process.stdout:
            if found := re.match(r"export (\w+)=(.*)", line):
                self.settings[found[1]] = found[2].strip("'\n")
            if found := re.search(r"(http://\S+/_/)(\?\S*)(#\S*)", line):
                self.page, self.where, self.fragment = found.groups()
                break
        if self.page is None:
            raise SystemExit("dashboard: the server did not start")
        # What it says from here on is nobody's business, and must not fill the pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.url = self.page.removesuffix("/_/")
        self.key = self.fragment.removeprefix("#key=")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def send(self, method, path, body=None, headers=None):
        """Status and body of a response."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def operate(self, method, path, body=None):
        """The response of a route for operators."""
        status, response = self.send(method, f"/_ck/{path}", body, {"Authorization": f"Bearer {self.key}"})
        assert status == 200, f"{method} {path}: {status} {response}"
        return response

    @property
    def container(self):
        return self.settings["CLOUDKIT_CONTAINER"]

    def of_container(self, rest):
        return f"containers/{self.container}/{rest}"

    def call(self, endpoint, body=None, database="private", query=""):
        """Status and body of Web Services' response to the demo's user."""
        tokens = urllib.parse.urlencode({
            "ckAPIToken": self.settings["CLOUDKIT_API_TOKEN"],
            "ckWebAuthToken": self.settings["CLOUDKIT_WEB_AUTH_TOKEN"],
        })
        path = f"/database/1/{self.container}/development/{database}/{endpoint}?{tokens}{query}"
        return self.send("POST", path, {} if body is None else body)

    def record(self, name, zone="Atlas"):
        """One record, or nothing."""
        _, response = self.call("records/lookup", {"zoneID": {"zoneName": zone}, "records": [{"recordName": name}]})
        found = response["records"][0]
        return None if "serverErrorCode" in found else found

    def value(self, name, field, zone="Atlas"):
        """The value of a field, or nothing, as before the record is made again."""
        record = self.record(name, zone)
        return record and record["fields"].get(field, {}).get("value")

    def modify(self, kind, record, zone="Atlas"):
        operation = {"operationType": kind, "record": record}
        status, response = self.call("records/modify", {"zoneID": {"zoneName": zone}, "operations": [operation]})
        assert status == 200 and "serverErrorCode" not in response["records"][0], response
        return response["records"][0]

    def save(self, name, kind, fields, zone="Atlas"):
        return self.modify("forceUpdate", {
            "recordName": name, "recordType": kind,
            "fields": {key: {"value": value} for key, value in fields.items()},
        }, zone)

    def make_zone(self, name):
        operation = {"operationType": "create", "zone": {"zoneID": {"zoneName": name}}}
        status, response = self.call("zones/modify", {"operations": [operation]})
        assert status == 200, response

    def zones(self):
        return [each["zoneID"]["zoneName"] for each in self.call("zones/list")[1]["zones"]]

    def changes(self, zone):
        """Every record of a zone."""
        records, token = [], None
        while True:
            body = {"zones": [{"zoneID": {"zoneName": zone}, **({"syncToken": token} if token else {})}]}
            page = self.call("changes/zone", body)[1]["zones"][0]
            records += [each for each in page["records"] if not each.get("deleted")]
            token = page["syncToken"]
            if not page["moreComing"]:
                return records

    def query(self, kind, zone="Atlas", **more):
        names, marker = [], None
        while True:
            body = {"zoneID": {"zoneName": zone}, "query": {"recordType": kind, **more}, "resultsLimit": 200,
                    **({"continuationMarker": marker} if marker else {})}
            response = self.call("records/query", body)[1]
            names += [each["recordName"] for each in response["records"]]
            marker = response.get("continuationMarker")
            if not marker:
                return names

    def run(self, line):
        """Runs a line of the shell, as the demo's user; returns its standard output."""
        path = os.path.dirname(self.command) + ":" + os.environ["PATH"]
        return subprocess.run(
            ["bash", "-c", line], env={**os.environ, **self.settings, "PATH": path}, check=True,
            capture_output=True, text=True, timeout=60,
        ).stdout


class Forgetful:
    """A proxy before a server, which closes connections instead of giving the responses to some requests."""

    def __init__(self, url):
        self.server = urllib.parse.urlsplit(url)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        # The beginning of a request whose response is lost, once.
        self.next = None
        self.forgotten = 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection((self.server.hostname, self.server.port))
        except OSError:
            client.close()
            return
        is_lost = threading.Event()

        def ask():
            self.pipe(client, server, lambda data: self.note(data, is_lost))

        threading.Thread(target=ask, daemon=True).start()
        self.pipe(server, client, lambda data: not is_lost.is_set())

    def note(self, data, is_lost):
        if self.next and data.startswith(self.next):
            self.next = None
            self.forgotten += 1
            is_lost.set()
        return True

    @staticmethod
    def pipe(source, target, may_pass):
        try:
            while (data := source.recv(65536)) and may_pass(data):
                target.sendall(data)
        except OSError:
            pass
        for each in [source, target]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        # Ends the thread that waits for a connection, too.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
