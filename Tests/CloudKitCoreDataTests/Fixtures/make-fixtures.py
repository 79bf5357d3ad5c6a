#!/usr/bin/env python3
"""Writes the stores and the compiled model that the tests read, as Core Data and SwiftData would.

usage: make-fixtures.py [FOLDER]

The archive of a model is written here from what is known of the format, with Python's own property
lists; no code is shared with the reader.
"""
import os
import plistlib
import sqlite3
import sys
import zlib

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


class Archive:
    """A keyed archive: objects by number, of which number 0 stands for none."""

    def __init__(self):
        self.objects = ["$null"]
        self.classes = {}

    def add(self, value):
        self.objects.append(value)
        return plistlib.UID(len(self.objects) - 1)

    def text(self, value):
        return plistlib.UID(0) if value is None else self.add(value)

    def class_of(self, name):
        if name not in self.classes:
            self.classes[name] = self.add({"$classname": name, "$classes": [name, "NSObject"]})
        return self.classes[name]

    def object(self, name, fields):
        return self.add({**fields, "$class": self.class_of(name)})

    def array(self, items):
        return self.object("NSArray", {"NS.objects": items})

    def dictionary(self, entries):
        keys = [self.text(key) for key in entries]
        return self.object("NSDictionary", {"NS.keys": keys, "NS.objects": list(entries.values())})

    def known_keys(self, entries):
        """The form in which Core Data writes the properties of an entity."""
        keys = self.array([self.text(key) for key in entries])
        mapping = self.object("NSKnownKeysMappingStrategy1", {"keys": keys})
        return self.object(
            "NSKnownKeysDictionary1",
            {"searchMapping": mapping, "values": self.array(list(entries.values())), "version": 1})

    def bytes(self, root):
        return plistlib.dumps(
            {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": root}, "$objects": self.objects},
            fmt=plistlib.FMT_BINARY)


def attribute(archive, name, number, flags=2, default=None, **more):
    return archive.object("NSAttributeDescription", {
        "NSPropertyName": archive.text(name), "NSAttributeType": number, "_P": flags,
        "NSIsOptional": bool(flags & 2), "NSDefaultValue": default or plistlib.UID(0),
        "NSRenamingIdentifier": archive.text(more.pop("renaming", name)), **more})


def relationship(archive, name, destination, inverse, many, rule=1):
    return archive.object("NSRelationshipDescription", {
        "NSPropertyName": archive.text(name), "_NSDestinationEntityName": archive.text(destination),
        "_NSInverseRelationshipName": archive.text(inverse), "NSMinCount": 0, "NSMaxCount": 0 if many else 1,
        "NSDeleteRule": rule, "NSIsOptional": True})


def model(archive, entities, parents=None):
    parents = parents or {}
    places = {}
    for name in sorted(entities, key=lambda name: (name in parents, name)):
        fields = {
            "NSEntityName": archive.text(name), "NSClassNameForEntity": archive.text(name),
            "NSProperties": archive.known_keys(entities[name]), "NSIsAbstract": False,
            "NSRenamingIdentifier": archive.text(name), "NSFutureKey": 7}
        if name in parents:
            fields["NSSuperentity"] = places[parents[name]]
        places[name] = archive.object("NSEntityDescription", fields)
    identifiers = archive.object("NSSet", {"NS.objects": [archive.text("1.0.0")]})
    return archive.object("NSManagedObjectModel", {
        "NSEntities": archive.dictionary(places), "NSVersionIdentifiers": identifiers,
        "NSFetchRequestTemplates": plistlib.UID(0), "NSConfigurations": plistlib.UID(0)})


def trips():
    """A SwiftData model: an enum and an array as one value, a link without an inverse."""
    archive = Archive()
    date = archive.object("NSDate", {"NS.time": 60.0})
    uuid = archive.object("NSUUID", {"NS.uuidbytes": bytes(range(16))})
    price = archive.object("NSDecimalNumber", {
        "NS.exponent": -2, "NS.length": 1, "NS.negative": False, "NS.compact": True, "NS.mantissa.bo": 1,
        "NS.mantissa": (1011).to_bytes(16, "little")})
    trip = {
        "name": attribute(archive, "name", 700, 0, archive.text("")),
        "tags": attribute(archive, "tags", 1800, NSAttributeValueClassName=archive.text("NSArray")),
        "mode": attribute(archive, "mode", 2100),
        "began": attribute(archive, "began", 900, 2, date),
        "key": attribute(archive, "key", 1100, 2, uuid),
        "price": attribute(archive, "price", 400, 2, price),
        "secret": attribute(archive, "secret", 700, 0x802),
        "text": attribute(archive, "text", 700, renaming="body"),
        "stops": relationship(archive, "stops", "Stop", "trip", True),
    }
    stop = {
        "name": attribute(archive, "name", 700),
        "trip": relationship(archive, "trip", "Trip", "stops", False),
        "weather": relationship(archive, "weather", "Weather", None, False),
    }
    # A sub-entity lists what it inherits, too.
    camp = {**stop, "tents": attribute(archive, "tents", 300)}
    weather = {"sunny": attribute(archive, "sunny", 800)}
    return archive.bytes(model(
        archive, {"Trip": trip, "Stop": stop, "Camp": camp, "Weather": weather}, {"Camp": "Stop"}))


def deflated(data):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def store(name, content):
    path = os.path.join(FOLDER, name)
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        CREATE TABLE ZTRIP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE ZSTOP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTRIP INTEGER,
            Z_FOK_TRIP INTEGER, ZTENTS INTEGER, ZNAME VARCHAR);
        """)
    if content is not None:
        database.execute("INSERT INTO Z_MODELCACHE VALUES (?)", (content,))
    database.commit()
    database.close()


archived = trips()
with open(os.path.join(FOLDER, "Trips.mom"), "wb") as file:
    file.write(archived)
store("Trips.store", deflated(archived))
store("Empty.store", None)
with open(os.path.join(FOLDER, "Bomb.deflate"), "wb") as file:
    file.write(deflated(bytes(80 << 20)))
