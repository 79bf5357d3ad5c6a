"""Makes the files of Formats: see README.md.

    make-formats.py FIRST SIGHTINGS

FIRST and SIGHTINGS are folders that old-file.swift wrote, built with the versions 3d2ccfd and 506679c.
"""

import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent / "Formats"
TABLES = "Sources/CloudKitServerSQLite/Storage/SQLiteTables.swift"
# The first version of each format.
VERSIONS = {
    "02-push": "5fa3c4b",
    "03-snapshots-alone": "68db546",
    "04-sizes": "39494fd",
    "05-snapshots": "c1f747f",
    "06-tombstones": "4984095",
    "07-shares": "0a429bf",
}


def migrations(version):
    """The migrations of a version: their names and what they run."""
    text = subprocess.run(["git", "show", f"{version}:{TABLES}"], check=True, capture_output=True, text=True).stdout
    long = re.findall(r'static let (\w+) = """\n(.*?)"""', text, re.DOTALL)
    short = re.findall(r'static let (\w+) = "([^"\n].*)"$', text, re.MULTILINE)
    statements = dict(long + short)
    for part in text.split("registerMigration(")[1:]:
        name = re.match(r'"(.*?)"', part).group(1)
        body = part.split("}", 1)[0]
        yield name, ";\n".join(statements[key] for key in re.findall(r"sql: (\w+)", body))


def opened(source, name):
    """A copy of a file, in one piece."""
    path = FOLDER / f"{name}.sqlite"
    for suffix in ("", "-wal"):
        shutil.copy(f"{source}/cloud.sqlite{suffix}", f"{path}{suffix}")
    return sqlite3.connect(path, isolation_level=None)


def close(database):
    # Small pages make a small file.
    database.executescript("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;")
    database.close()


def main():
    first, sightings = sys.argv[1:]
    FOLDER.mkdir(exist_ok=True)
    close(opened(first, "01"))
    for name, version in VERSIONS.items():
        database = opened(first, name)
        for migration, statements in migrations(version):
            if migration == "1":
                continue
            database.executescript(statements)
            database.execute("INSERT INTO grdb_migrations VALUES (?)", (migration,))
        close(database)
    database = opened(sightings, "09-circles")
    database.executescript("DROP TABLE sighting; DELETE FROM grdb_migrations WHERE identifier = 'sightings'")
    close(database)
    close(opened(sightings, "10-sightings"))
    shutil.copy(f"{sightings}/token", FOLDER / "10-sightings.token")


if __name__ == "__main__":
    main()
