"""Runs the path of docs/operating/self-hosting.md, command by command, in a bare Debian.

    self_hosting_check.py ROOT ARCHIVE

ROOT is a folder with a Debian system that this may change; ARCHIVE is what Scripts/dist wrote. Root runs it. Only what a
machine of its own would need is other than in the guide: no systemd is running, so that the unit's own line is run as its
user, with the system calls that the unit leaves it; certbot's certificate is made here; and the network is one of this test alone, so that ports are free. Exits 0
when everything holds.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).parents[2]
NAME = "cloud.example.com"
UNIT = "/etc/systemd/system/cloudkit.service"
CONFINED = "/usr/local/lib/confined.py"


def commands():
    text = (REPOSITORY / "docs/operating/self-hosting.md").read_text()
    path = text.split("## From an empty Debian machine", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"^```console\n(.*?)^```$", path, re.MULTILINE | re.DOTALL)
    return [line.removeprefix("# ") for block in blocks for line in block.splitlines()]


class Machine:
    def __init__(self, root):
        self.root = root
        self.running = []
        self.space = f"cloudkit-{os.getpid()}"

    def __enter__(self):
        run(["ip", "netns", "add", self.space])
        run(["ip", "-n", self.space, "link", "set", "lo", "up"])
        for folder in ("proc", "dev"):
            run(["mount", "--rbind", f"/{folder}", f"{self.root}/{folder}"])
            run(["mount", "--make-rslave", f"{self.root}/{folder}"])
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
            process.wait(30)
        for folder in ("dev", "proc"):
            subprocess.run(["umount", "--recursive", "--lazy", f"{self.root}/{folder}"], check=False)
        subprocess.run(["ip", "netns", "delete", self.space], check=False)

    def line(self, command, isolated=True):
        inside = ["chroot", self.root, "bash", "-c", f"cd /root && {command}"]
        return ["ip", "netns", "exec", self.space, *inside] if isolated else inside

    def run(self, command, isolated=True):
        print("#", command, flush=True)
        run(self.line(command, isolated))

    def start(self, command):
        self.running.append(subprocess.Popen(self.line(f"exec {command}")))

    def stop(self, last=1):
        for process in self.running[-last:]:
            process.terminate()
            process.wait(30)
        del self.running[-last:]


def run(arguments):
    done = subprocess.run(arguments, text=True)
    if done.returncode != 0:
        sys.exit(f"self-hosting: '{shlex.join(arguments)}' ended with {done.returncode}")


def unit(machine):
    """What systemd would run: the user, the folder, the system calls and the line of the unit."""
    text = pathlib.Path(machine.root + UNIT).read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#")
    state = f"/var/lib/{settings['StateDirectory']}"
    user = settings["User"]
    machine.run(f"install -d -m {settings['StateDirectoryMode']} -o {user} -g {user} {state}")
    confined = f"python3 {CONFINED} {UNIT} {settings['ExecStart']}"
    return f"runuser -u {user} -- env -C {settings['WorkingDirectory']} {confined}"


def until_ready(machine, command):
    """Runs a command until it succeeds, for half a minute at most: what was started has to listen first."""
    end = time.monotonic() + 30
    while subprocess.run(machine.line(command), capture_output=True).returncode != 0:
        if time.monotonic() > end:
            run(machine.line(command))
    print("#", command, flush=True)


def make_certificate(machine):
    folder = f"/etc/letsencrypt/live/{NAME}"
    machine.run(
        f"mkdir -p {folder} && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} "
        f"-addext subjectAltName=DNS:{NAME} -keyout {folder}/privkey.pem -out {folder}/fullchain.pem"
        f" 2>/dev/null && cp {folder}/fullchain.pem /usr/local/share/ca-certificates/{NAME}.crt"
        " && update-ca-certificates >/dev/null 2>&1"
    )


def renew_certificate(machine):
    """What certbot does to renew one: it leaves a file in its folder, which others must be able to read over HTTP."""
    folder = shlex.split(next(line for line in commands() if line.startswith("certbot ")))
    folder = folder[folder.index("--webroot-path") + 1] + "/.well-known/acme-challenge"
    machine.run(f"mkdir -p {folder} && echo proof > {folder}/token")
    machine.run(
        f"curl --fail --silent http://{NAME}/.well-known/acme-challenge/token | grep --quiet proof"
    )


def follow(machine):
    for command in commands():
        if command == "systemctl enable --now cloudkit":
            machine.start(unit(machine))
        elif command == "systemctl restart nginx":
            machine.start("nginx -g 'daemon off;'")
        elif command.startswith("certbot "):
            make_certificate(machine)
        elif command.startswith("apt-get "):
            machine.run(f"DEBIAN_FRONTEND=noninteractive {command} >/dev/null", isolated=False)
        elif command.startswith("curl "):
            until_ready(machine, command)
        else:
            machine.run(command)
    renew_certificate(machine)


def main():
    root, archive = sys.argv[1:]
    shutil.copy(archive, f"{root}/root/")
    shutil.copy(REPOSITORY / "Tests/Clients/confined.py", root + CONFINED)
    hosts = pathlib.Path(root, "etc/hosts")
    hosts.write_text(f"127.0.0.1 localhost {NAME}\n")
    with Machine(root) as machine:
        machine.run("apt-get update -q >/dev/null", isolated=False)
        # What an installed machine has, and a bare root lacks.
        machine.run(
            "DEBIAN_FRONTEND=noninteractive apt-get install --yes -q --no-install-recommends"
            " curl ca-certificates openssl systemd python3-seccomp >/dev/null",
            isolated=False,
        )
        follow(machine)
    print("ok the path of docs/operating/self-hosting.md")


if __name__ == "__main__":
    main()
