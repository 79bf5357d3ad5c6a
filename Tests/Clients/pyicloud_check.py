"""Runs pyicloud's CloudKit client, with strict checks of every response, against a server.

    cloudkit exec -- env PYICLOUD_CK_EXTRA=forbid python3 pyicloud_check.py

The server and the credentials come from the variables that `cloudkit exec` sets; Scripts/clients runs it.
Exits 0 when everything holds.
"""

import os
import sys

import requests
from pyicloud.common.cloudkit import models as ck
from pyicloud.common.cloudkit.client import CloudKitContainerClient

url, container = os.environ["CLOUDKIT_URL"], os.environ["CLOUDKIT_CONTAINER"]
api_token, web_token = os.environ["CLOUDKIT_API_TOKEN"], os.environ["CLOUDKIT_WEB_AUTH_TOKEN"]
client = CloudKitContainerClient(
    base_url=f"{url}/database/1/{container}/development/private",
    session=requests.Session(),
    base_params={
        "ckAPIToken": api_token,
        "ckWebAuthToken": web_token,
        "remapEnums": True,
        "getCurrentSyncToken": True,
    },
    validation_extra="forbid",
)


def check(condition, what):
    if not condition:
        sys.exit(f"pyicloud: {what}")
    print("ok", what)


zone = ck.CKZoneIDReq(zoneName="Python")
client.raw_post(
    "/zones/modify",
    {"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "Python"}}}]},
)
names = [z.zoneID.zoneName for z in client.zones_list().zones]
check("Python" in names and "_defaultZone" in names, "lists zones")

data = bytes(range(256)) * 300
# pyicloud moves asset bytes over HTTPS only, and its strict models know no receipt, which the
# documents ask for; so this part speaks HTTP itself.
places = [{"recordName": "p0", "recordType": "Page", "fieldName": "file"}]
prepared = client.raw_post("/assets/upload", {"zoneID": {"zoneName": "Python"}, "tokens": places})
uploaded = requests.post(prepared["tokens"][0]["url"], data=data, timeout=30).json()
check(uploaded["singleFile"]["size"] == len(data), "uploads an asset")
with_file = {
    "operationType": "create",
    "record": {
        "recordName": "p0",
        "recordType": "Page",
        "fields": {"file": {"type": "ASSETID", "value": uploaded["singleFile"]}},
    },
}
client.raw_post(
    "/records/modify", {"operations": [with_file], "zoneID": {"zoneName": "Python"}}
)


def operation(kind, name, **fields):
    record = {"recordName": name, "recordType": "Page", "fields": fields}
    return ck.CKModifyOperation.model_validate({"operationType": kind, "record": record})


saved = client.modify(
    operations=[
        operation("create", "p1", title={"type": "STRING", "value": "one"},
                  number={"type": "INT64", "value": 1}),
        operation("create", "p2", title={"type": "STRING", "value": "two"},
                  number={"type": "INT64", "value": 2},
                  when={"type": "TIMESTAMP", "value": 1767225600000},
                  tags={"type": "STRING_LIST", "value": ["a", "b"]},
                  place={"type": "LOCATION", "value": {"latitude": 1.5, "longitude": 2.5}},
                  next={"type": "REFERENCE", "value": {"recordName": "p1", "action": "NONE"}}),
    ],
    zone_id=zone,
    atomic=True,
)
check([r.recordName for r in saved.records] == ["p1", "p2"], "saves records")

found = client.lookup(record_names=["p0", "p1", "nowhere"], zone_id=zone)
check(len(found.records) == 3, "looks records up")
asset = found.records[0].fields["file"].value
downloaded = requests.get(str(asset.downloadURL), timeout=30).content
check(downloaded == data, "downloads an asset")

query = ck.CKQueryObject.model_validate(
    {
        "recordType": "Page",
        "filterBy": [
            {
                "fieldName": "number",
                "comparator": "GREATER_THAN",
                "fieldValue": {"type": "INT64", "value": 1},
            }
        ],
        "sortBy": [{"fieldName": "title", "ascending": True}],
    }
)
response = client.query(query=query, zone_id=zone)
check([r.recordName for r in response.records] == ["p2"], "queries")
check(client.query_sync_token(query=query, zone_id=zone) is not None, "gets a sync token")

client.modify(operations=[operation("forceDelete", "p1")], zone_id=zone)
request = ck.CKZoneChangesZoneReq(zoneID=ck.CKZoneID(zoneName="Python"))
changes = [r for page in client.iter_changes(zone_req=request) for r in page.records]
check([r.recordName for r in changes] == ["p0", "p2", "p1"], "follows changes")
check(isinstance(changes[2], ck.CKTombstoneRecord), "understands a deletion")

zones = client.database_changes()
check("Python" in [z.zoneID.zoneName for z in zones.zones], "follows the database")
check(client.database_changes(sync_token=zones.syncToken).zones == [], "starts from a token")
