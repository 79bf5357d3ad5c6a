"""What people type and choose: it is saved as it was meant, or refused, and not lost without a question."""

import json
from datetime import datetime, timezone

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

BIKE = """
RECORD TYPE Bike (
    "___recordID" REFERENCE QUERYABLE,
    bought        TIMESTAMP QUERYABLE,
    code          ENCRYPTED INT64,
    frame         STRING QUERYABLE,
    secret        ENCRYPTED STRING,
    GRANT READ, CREATE, WRITE TO "_creator"
);
"""

SAMPLE = """
RECORD TYPE Sample (
    "___recordID" REFERENCE QUERYABLE,
    "___createTime" TIMESTAMP QUERYABLE,
    count INT64 QUERYABLE,
    counts LIST<INT64> QUERYABLE,
    link REFERENCE QUERYABLE,
    ratio DOUBLE QUERYABLE,
    tags LIST<STRING> QUERYABLE,
    taken TIMESTAMP QUERYABLE,
    title STRING QUERYABLE,
    GRANT READ, CREATE, WRITE TO "_creator"
);
"""

# Conditions on a sample: field, comparison and what is typed.
CONDITIONS = [
    ("title", "==", "12"), ("title", "is one of", "[draft], 12, it's"), ("title", "==", ""), ("title", "begins with", '"q'), ("title", "!=", "plain text"),
    ("title", "<=", "1.5"), ("title", "==", "[draft]"), ("taken", "==", "0001-01-01"), ("taken", "<=", "1582-10-14"), ("ratio", "==", "-0.0"), ("count", ">=", "9007199254740993"), ("count", "is one of", "9007199254740993, 3"), ("counts", "contains", "2"),
    ("ratio", "<", "3"), ("ratio", "is one of", "2, 2.5"), ("taken", ">=", "1950-06-01"), ("taken", "is one of", "1969-12-31T23:59:59.999Z, 2024-02-29"),
    ("taken", "<", "2024-05-01 10:00:30.25"), ("tags", "contains", "7"), ("tags", "contains", "a b"), ("link", "==", "s0"), ("link", "is one of", "s0, s1"),
    ("___recordID", "==", "s1"), ("___recordID", "is one of", "s0, s2"), ("___createTime", ">", "2020-01-01"),
]
SAMPLES = [
    {"title": "12", "count": 3, "counts": [1, 2], "ratio": 2.0, "taken": -1, "tags": ["7"]},
    {"title": "[draft]", "count": 9007199254740993, "counts": [2], "ratio": 2.5, "taken": 1709164800000, "tags": ["a b", "c"], "link": {"recordName": "s0", "action": "NONE"}},
    {"title": '"quoted', "count": 4, "ratio": 7.5, "taken": 4102444800000, "link": {"recordName": "s1", "action": "NONE"}},
    {"title": "", "count": 0, "taken": -62135596800000, "ratio": -0.0}, {"title": "plain text"}, {"title": "it's"},
]

# Moments with what a person types for them; whoever names no zone means UTC.
TIMES = {
    "2024-02-29": "2024-02-29T00:00:00Z",
    "2024-05-01 10:00": "2024-05-01T10:00:00Z",
    "2024-05-01T10:00:30": "2024-05-01T10:00:30Z",
    "2024-05-01 10:00:30.25": "2024-05-01T10:00:30.250Z",
    "2024-05-01T10:00Z": "2024-05-01T10:00:00Z",
    "2024-05-01T10:00:00+02:00": "2024-05-01T08:00:00Z",
    "1969-12-31T23:59:59.999Z": "1969-12-31T23:59:59.999Z",
}
NO_TIMES = [
    "2023-02-29T00:00:00Z", "2023-04-31", "2024-02-30T12:00:00", "2024-13-01", "2024-05-01 24:00", "2024-05-01 10:60", "1.5.2024",
    "02/03/2024", "5", "-1", "1709251199999", "May 2024", "2024-05", "2024-05-01 10", "2024-05-01T10:00:00+25:00", "tomorrow",
]


def milliseconds(text):
    span = datetime.fromisoformat(text.replace("Z", "+00:00")) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (span.days * 86_400 + span.seconds) * 1000 + span.microseconds // 1000


def TYPED(check, no_trouble):
    def furnish(cloud):
        """A zone with one record of a type that has encrypted fields; returns the path of the schema."""
        path = cloud.of_container("schemas/development")
        cloud.operate("PUT", path, {"text": cloud.operate("GET", path)["text"] + BIKE})
        cloud.make_zone("Fleet")
        cloud.save("b0", "Bike", {"frame": "steel"}, "Fleet")
        return path

    def open_bike(page, name):
        page.browser.get(page.cloud.page + "#/records")
        page.browser.get(page.cloud.page + f"#/records?database=private&zone=Fleet&type=Bike&record={name}")
        page.wait(lambda: page.run("return document.querySelector('dialog[open] h2')?.textContent") == name, f"the record {name}")

    def hint(page, label):
        return page.run("return arguments[0].parentElement.querySelector('small')?.textContent", page.field(label))

    def options(page, label):
        return [each.text for each in page.field(label).find_elements(By.TAG_NAME, "option")]

    def leaves(page, room):
        """Follows an address, as links do."""
        page.run("location.hash = arguments[0]", f"#/{room}")

    def check_encrypted(cloud, page):
        """Encrypted fields are written as what they are, and are in no filter."""
        path = furnish(cloud)

        def value(name, field):
            found = cloud.record(name, "Fleet")["fields"].get(field, {})
            return found.get("value"), found.get("isEncrypted")

        page.open()
        page.wait(lambda: page.heading() == "Overview", "the page")
        open_bike(page, "b0")
        page.press("Close")
        page.press("New record")
        page.fill("Name", "b1")
        page.fill("secret", "lock 4711")
        page.fill("code", "7")
        check((hint(page, "secret"), hint(page, "code")) == ("STRING, encrypted", "INT64, encrypted"), "a new record says which fields are encrypted")
        page.press("Make")
        page.reads("b1 is made")
        check((value("b1", "secret"), value("b1", "code")) == (("lock 4711", True), (7, True)), "encrypted fields of a new record are saved")
        open_bike(page, "b1")
        check(hint(page, "secret") == "STRING, encrypted", "so does a record")
        page.fill("secret", "lock 1")
        page.press("Save")
        page.wait(lambda: value("b1", "secret") == ("lock 1", True), "the encrypted field that was edited")
        page.reads("b1 is saved")
        page.press("Dismiss")
        page.press("Clear secret")
        page.press("Save")
        page.wait(lambda: value("b1", "secret") == (None, None), "the encrypted field that was cleared")
        page.press("Undo")
        page.wait(lambda: value("b1", "secret") == ("lock 1", True), "it is back")
        check(True, "encrypted fields are edited, cleared, and come back")
        open_bike(page, "b0")
        page.press("Add a field")
        page.fill("Name", "secret")
        page.press("Add")
        page.reads("In the schema secret of Bike is of the type STRING, encrypted; choose that one")
        page.choose("Type", "STRING, encrypted")
        page.press("Add")
        page.fill("secret", "lock 2")
        page.press("Add a field")
        page.fill("Name", "pin")
        page.choose("Type", "INT64, encrypted")
        check("REFERENCE, encrypted" not in options(page, "Type"), "what cannot be encrypted is not offered so")
        page.press("Add")
        page.fill("pin", "1234")
        page.press("Save")
        page.reads("b0 is saved")
        check((value("b0", "secret"), value("b0", "pin")) == (("lock 2", True), (1234, True)), "encrypted fields are added to a record")
        check("pin" in (text := cloud.operate("GET", path)["text"]) and "ENCRYPTED INT64" in text.split("pin")[1].split("\n")[0],
              "and to the schema")
        page.press("Close")
        page.press("Filter and sort")
        page.press("Add a condition")
        page.press("Add a sort")
        for label in ["Field", "Sort by"]:
            names = options(page, label)
            check("frame" in names and not {"secret", "code", "pin"} & set(names), f"no encrypted field is offered for “{label}”", names)
        leaves(page, "records?database=public")
        page.wait(lambda: page.field("Database").get_property("value") == "public", "the public database")
        page.press("New record")
        page.press("Add a field")
        check("INT64, encrypted" not in options(page, "Type"), "nor is one in the public database, which takes none")
        no_trouble(page, "encrypted fields")

    def check_times(cloud, page):
        """What is typed for a point in time is that time, wherever the browser is; what is none is refused."""
        furnish(cloud)
        page.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
        try:
            cloud.modify("forceUpdate", {"recordName": "b0", "recordType": "Bike", "fields": {"bought": {"value": 1000, "type": "TIMESTAMP"}}}, "Fleet")
            page.open()
            page.wait(lambda: page.heading() == "Overview", "the page")
            open_bike(page, "b0")
            for text, meant in TIMES.items():
                page.fill("bought", text)
                page.press("Save")
                page.reads("b0 is saved")
                page.press("Dismiss")
                found = cloud.value("b0", "bought", "Fleet")
                check(found == milliseconds(meant), f"{text} is {meant}", found)
            before = cloud.value("b0", "bought", "Fleet")
            for text in NO_TIMES:
                page.fill("bought", text)
                page.press("Save")
                page.reads(f"bought: “{text}” is not a time, such as 2026-01-31")
                check(cloud.value("b0", "bought", "Fleet") == before, f"{text} is refused")
            no_trouble(page, "times")
        finally:
            page.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})

    def check_key_again(cloud, page):
        """A key that is wrong is asked for again, also by who closed the question."""
        page.open()
        page.go("Records")
        page.choose("Type", "Country")

        def lose_key(action):
            """Does something with a wrong key, before the page itself asks for news with it."""
            page.run("for (const name of Object.keys(sessionStorage)) if (/^session/.test(name)) sessionStorage.removeItem(name);"
                     "sessionStorage.setItem('key', 'wrong');" + action)

        def close():
            page.reads("The key that this tab has is not the server's")
            page.keys(Keys.ESCAPE)
            page.wait(lambda: "The key that this tab has" not in page.text(), "the question is gone")

        page.open_row("AD")
        page.fill("name", "Andora")
        lose_key("[...document.querySelectorAll('dialog button')].find(each => each.textContent === 'Save').click()")
        close()
        page.press("Save")
        page.press("Enter the key")
        close()
        page.press("Enter the key")
        page.fill("Key", cloud.key)
        page.press("Open")
        page.wait(lambda: "The key that this tab has" not in page.text(), "the question is gone")
        page.press("Save")
        page.reads("AD is saved")
        check(cloud.value("AD", "name") == "Andora", "an edit is saved when the key was found after all")
        page.press("Close")
        lose_key("location.hash = '#/graph'")
        close()
        for room in ["schema", "users", "requests", "records", "overview"]:
            leaves(page, room)
            close()
            check(True, f"the room {room} asks again")
        page.press("Enter the key")
        page.fill("Key", cloud.key)
        page.press("Open")
        page.wait(lambda: "Enter the key" not in page.text(), "the room anew")
        page.reads("Containers")
        check(True, "with the key all is there again")
        no_trouble(page, "a key that is asked for again", "status of 403")

    def check_choices(cloud, page):
        """What is chosen in a form is not lost without a question; what was sent is."""
        cloud.make_zone("Lists")
        page.open()

        def value(label):
            control = page.field(label)
            return control.text and page.run("return arguments[0].selectedOptions[0].textContent", control) or control.get_property("value")

        for room, label, choice in [("Sharing", "Everyone with the link", "may read"), ("Subscriptions", "To", "query"),
                                    ("Faults", "Operation", "records/query"), ("Snapshots", "File", __file__)]:
            page.go(room)
            page.field(label)
            leaves(page, "overview")
            page.wait(lambda: page.heading() == "Overview", "without a choice there is no question")
            page.go(room)
            if label == "File":
                page.fill(label, choice)
            else:
                page.choose(label, choice)
            before = value(label)
            leaves(page, "overview")
            page.reads("Discard the changes")
            page.press("Cancel")
            page.wait(lambda: "Discard the changes" not in page.text(), "the question is gone")
            check(page.heading() == room and value(label) == before, f"{label} of {room} is asked for")
            leaves(page, "overview")
            page.press("Discard")
            page.wait(lambda: page.heading() == "Overview", "the other room")
        page.go("Subscriptions")
        page.choose("To", "query")
        page.choose("Record type", "Country")
        page.press("Subscribe")
        page.reads("is subscribed")
        page.go("Sharing")
        page.choose("Zone", "Lists")
        page.choose("Everyone with the link", "may read")
        page.press("Share")
        page.reads("The zone Lists is shared")
        page.go("Snapshots")
        page.fill("File", __file__)
        page.press("Import")
        page.reads("The file is no export")
        page.go("Overview")
        check(True, "what was sent leaves without a question")
        no_trouble(page, "choices")

    def check_deleted_users(cloud, page):
        """Nobody acts as a user who was deleted, and the page says why."""
        def add(name):
            return cloud.operate("POST", cloud.of_container("users"), {"name": name})["userRecordName"]

        def delete(user):
            cloud.operate("DELETE", cloud.of_container(f"users/{user}"))

        def chosen():
            return page.run("return arguments[0].selectedOptions[0].textContent", page.field("Act as"))

        first, second, third, other = add("First"), add("Second"), add("Third"), add("Other")
        page.open()
        page.choose("Act as", "First")
        page.wait(lambda: chosen() == "First", "the choice")
        page.go("Records")
        delete(other)
        leaves(page, "users")
        page.wait(lambda: "Other" not in options(page, "Act as"), "somebody who was deleted leaves the choices")
        check(chosen() == "First", "and the choice stays")
        for user, name in [(first, "First"), (second, "Second")]:
            page.choose("Act as", name)
            page.wait(lambda: chosen() == name, "the choice")
            delete(user)
            leaves(page, {"First": "records", "Second": "overview"}[name])
            page.reads(f"{name} was deleted: you act as nobody now")
            page.wait(lambda: chosen() == "Nobody", "nobody is chosen")
            check(name not in options(page, "Act as"), "whoever acted as somebody who was deleted acts as nobody, and is told")
        page.choose("Act as", "Third")
        page.wait(lambda: chosen() == "Third", "the choice")
        delete(third)
        page.browser.refresh()
        page.reads("was deleted: you act as nobody now")
        check(chosen() == "Nobody", "a page that is loaded anew says so too")
        page.browser.refresh()
        page.wait(lambda: chosen() == "Nobody", "the page")
        page.frame()
        check("was deleted" not in page.text(), "once")
        no_trouble(page, "users who were deleted", "status of 401", "status of 404", "status of 421")

    def check_refused_names(cloud, page):
        """A request that is sent again says which records were refused, whatever the reasons say."""
        cloud.make_zone("Fleet")
        cloud.operate("PUT", "faults", {"rules": [
            {"fault": "itemError", "code": "ZONE_BUSY", "item": 0, "reason": "too busy", "operation": "records/modify"}]})
        operations = [{"operationType": "forceUpdate", "record": {"recordName": name, "recordType": "Bike", "fields": {}}} for name in ["b9", "b10"]]
        status, response = cloud.call("records/modify", {"zoneID": {"zoneName": "Fleet"}, "operations": operations, "atomic": False})
        assert status == 200 and response["records"][0]["recordName"] == "b9", response
        page.open()
        page.go("Requests")

        def open_request():
            row = page.run("return [...document.querySelectorAll('ck-grid .rows > .row:not([hidden])')].find(each => each.textContent.includes('too busy'))")
            if row:
                row.click()
            return row

        page.wait(open_request, "the request that was refused")
        page.press("Send it again")
        page.reads("1 of 2 items was refused.", "ZONE_BUSY: b9: too busy")
        check(True, "the record is named though the reason does not name it")
        cloud.operate("DELETE", "faults")
        no_trouble(page, "requests that are sent again")

    def check_conditions(cloud, page):
        """The line for the shell finds what the page finds, for every type and however the value looks."""
        path = cloud.of_container("schemas/development")
        cloud.operate("PUT", path, {"text": cloud.operate("GET", path)["text"] + SAMPLE})
        for place, fields in enumerate(map(dict, SAMPLES)):
            # Without its type a whole number is none of a moment.
            moment = {"taken": {"value": fields.pop("taken"), "type": "TIMESTAMP"}} if "taken" in fields else {}
            cloud.modify("forceUpdate", {"recordName": f"s{place}", "recordType": "Sample",
                                         "fields": {key: {"value": value} for key, value in fields.items()} | moment})
        page.open()
        page.go("Records")
        page.choose("Type", "Sample")
        page.open_row("s0")
        page.press("Close")
        page.press("Filter and sort")
        for name, comparison, text in CONDITIONS:
            page.press("Add a condition")
            page.choose("Field", name)
            page.choose("Comparison", comparison)
            page.fill("Value", text)
            line = page.browser.find_elements(By.CSS_SELECTOR, "ck-query pre")[1].text
            printed = cloud.run(line + " --json")
            found = sorted(json.loads(each)["recordName"] for each in printed.splitlines() if each.startswith("{"))
            page.press("Search")
            page.wait(lambda: found and sorted(each[0] for each in page.rows()) == found, f"the records that the shell finds: {line} {printed}")
            check(True, f"the shell finds the same: {name} {comparison} {text}", line)
            page.press("Remove")
        no_trouble(page, "conditions")

    return {name.removeprefix("check_"): each for name, each in locals().items() if name.startswith("check_")}
