"""What the page's tasks cost the processor, which other work on the machine does not make longer."""

import json
import urllib.request

import websocket

# A busy loop in a task of its own. It costs about the 50 ms that a task of the page may cost on two cores of a cloud.
LOOP = """
const done = arguments[0];
setTimeout(() => {
    let sum = 0;
    for (let round = 0; round < 10_000_000; round++) sum = (sum * 31 + round) | 0;
    globalThis.looped = sum;
    done();
});
"""
MARK = "the page's thread"


class Tasks:
    """Records the tasks of the page while it is entered: `with Tasks(page) as tasks`, then `tasks.longest`."""

    def __init__(self, page):
        self.page = page
        self.longest = 0
        self.last = 0

    def __enter__(self):
        address = self.page.browser.capabilities["goog:chromeOptions"]["debuggerAddress"]
        with urllib.request.urlopen(f"http://{address}/json/version") as response:
            url = json.load(response)["webSocketDebuggerUrl"]
        self.socket = websocket.create_connection(url, suppress_origin=True, timeout=120)
        categories = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
        self.ask("Tracing.start", transferMode="ReportEvents", traceConfig={
            "recordMode": "recordUntilFull", "includedCategories": categories, "excludedCategories": ["*"]})
        return self

    def __exit__(self, *failure):
        self.page.run("console.timeStamp(arguments[0])", MARK)
        events = []
        self.ask("Tracing.end")
        while (message := self.receive())["method"] != "Tracing.tracingComplete":
            if message["method"] == "Tracing.dataCollected":
                events += message["params"]["value"]
        self.socket.close()
        [thread] = {(each["pid"], each["tid"]) for each in events if each["name"] == "TimeStamp"
                    and each["args"]["data"]["message"] == MARK}
        # Milliseconds of the thread's own time, which stands still while it waits for a processor.
        costs = [each["tdur"] / 1000 for each in events if each["name"] == "RunTask" and (each["pid"], each["tid"]) == thread
                 and "tdur" in each]
        self.longest = max(costs)

    def receive(self):
        return json.loads(self.socket.recv())

    def ask(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while self.receive().get("id") != self.last:
            pass


def floor(page):
    """What the busy loop costs here, in milliseconds."""
    costs = []
    for _ in range(3):
        with Tasks(page) as tasks:
            page.browser.execute_async_script(LOOP)
        costs.append(tasks.longest)
    return min(costs)
