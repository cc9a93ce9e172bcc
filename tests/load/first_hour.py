#!/usr/bin/env python3
"""Runs the commands of docs/start/quick-start.md with a stopwatch.

python3 tests/load/first_hour.py HUB, where HUB is the hub's executable. Needs curl and jq.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADDRESS = "127.0.0.1:18449"


def commands():
    page = (ROOT / "docs/start/quick-start.md").read_text()
    return [line[6:] for line in page.splitlines() if line.startswith("    $ ")]


def main():
    serve, *rest = commands()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(pathlib.Path(sys.argv[1]).resolve(), f"{folder}/hub")
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HUB_DATA": f"{folder}/data"}
        env.pop("HUB_KEY", None)
        started = time.monotonic()
        hub = subprocess.Popen([*serve.split(), "--listen", ADDRESS], env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        hub.stdout.readline()
        print(f"{time.monotonic() - started:6.2f} s  {serve}")
        shell = subprocess.Popen(["bash"], env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        key = ""
        for command in rest:
            before, text = time.monotonic(), command.replace("hub_…", key).replace("127.0.0.1:8080", ADDRESS)
            shell.stdin.write(f"{text}\necho @@@\n")
            shell.stdin.flush()
            for line in iter(shell.stdout.readline, "@@@\n"):
                if line.startswith("API key"):
                    key = line.split()[-1]
            print(f"{time.monotonic() - before:6.2f} s  {command[:100]}")
        print(f"{time.monotonic() - started:6.2f} s  in all")
        shell.stdin.close()
        hub.terminate()
        hub.wait()


if __name__ == "__main__":
    main()
