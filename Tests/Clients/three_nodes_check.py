"""Runs the chapter of docs/operating/self-hosting.md that leads from one node to three on PostgreSQL, command by command.

    three_nodes_check.py CLOUDKIT

CLOUDKIT is the built command, with the trait PostgreSQL. Needs root, PostgreSQL, HAProxy and curl. The network is one of this test
alone, so that the guide's ports are free, and PostgreSQL runs in a temporary folder. Exits 0 when everything holds.
"""

import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).parents[2]
CHAPTER = "## From one node to three on PostgreSQL"


def blocks(kind):
    text = (REPOSITORY / "docs/operating/self-hosting.md").read_text()
    chapter = text.split(CHAPTER + "\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{kind}\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)


def commands():
    return [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]


class Database:
    """PostgreSQL in a folder, as its own user, at a socket alone."""

    def __init__(self, folder):
        self.folder = f"{folder}/postgres"
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        os.mkdir(self.folder)
        shutil.chown(self.folder, "postgres")

    def run(self, command):
        subprocess.run(
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "bash", "-c", command],
            check=True, cwd="/", stdout=subprocess.DEVNULL,
        )

    def __enter__(self):
        data = f"{self.folder}/data"
        self.run(f"{self.programs}/initdb -A trust -U cloud -E UTF8 --locale=C -D {data}")
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        self.run(f"{self.programs}/pg_ctl -w -D {data} -l {self.folder}/log -o '{options}' start")
        return {"PGHOST": self.folder, "PGUSER": "cloud"}

    def __exit__(self, *_):
        self.run(f"{self.programs}/pg_ctl -w -m immediate -D {self.folder}/data stop")


def run(arguments, environment):
    done = subprocess.run(arguments, env=environment, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"three nodes: {arguments} ended with {done.returncode}")
    return done.stdout


def client(file, environment):
    """What a shell has that sourced the file of a user, and reaches the server through the proxy."""
    exports = dict(re.findall(r"^export (\w+)=(.*)$", pathlib.Path(file).read_text(), re.MULTILINE))
    return environment | exports | {"CLOUDKIT_URL": "http://127.0.0.1:8787"}


def start_alone(environment):
    """The server of before, with a user and a record."""
    server = subprocess.Popen(
        ["cloudkit", "serve", "--data", "cloud", "--user", "Ada"],
        env=environment, stdout=subprocess.PIPE, text=True,
    )
    server.stdout.readline()
    ada = client("cloud/ada.env", environment)
    run(["cloudkit", "records", "save", "--type", "Note", "--name", "before"], ada)
    server.send_signal(signal.SIGTERM)
    server.wait()
    return ada


def follow(environment):
    """Runs the chapter in one shell; returns the pids of the servers, in the order in which they were started."""
    script = "set -euo pipefail\n" + "".join(
        f"echo '#' {line!r} >&2\n" + line + ("\necho $! >> pids" if line.endswith("&") else "") + "\n"
        for line in commands()
    )
    done = subprocess.run(["bash", "-c", script], env=environment, stdout=open("output", "w"))
    if done.returncode != 0:
        sys.exit(f"three nodes: a command of the guide ended with {done.returncode}")


def main():
    if len(sys.argv) == 2:
        inside = ["unshare", "--net", sys.executable, __file__, sys.argv[1], "inside"]
        sys.exit(subprocess.run(inside).returncode)
    cloudkit = pathlib.Path(sys.argv[1]).absolute()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory(prefix="cloudkit-nodes-") as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        os.mkdir("bin")
        os.symlink(cloudkit, "bin/cloudkit")
        database = Database(folder)
        path = f"{folder}/bin:{database.programs}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": folder, "LC_ALL": "C.UTF-8"}
        pathlib.Path("haproxy.cfg").write_text(blocks("haproxy")[0])
        with database as variables:
            environment |= variables
            ada = start_alone(environment)
            try:
                follow(environment)
                read = ["cloudkit", "records", "get", "before"]
                assert "before" in run(read, ada)
                # The record is there while any server is.
                pids = [int(line) for line in pathlib.Path("pids").read_text().split()]
                for pid in pids[:2]:
                    os.kill(pid, signal.SIGKILL)
                    assert "before" in run(read, ada)
            finally:
                for file in ("pids", "haproxy.pid"):
                    for pid in pathlib.Path(file).read_text().split() if os.path.exists(file) else []:
                        subprocess.run(["kill", pid], stderr=subprocess.DEVNULL)
    print("ok from one node to three on PostgreSQL, by docs/operating/self-hosting.md")


if __name__ == "__main__":
    main()
