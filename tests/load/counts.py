"""Counts the instructions of the hottest functions, and compares them with the recorded ones.

python3 tests/load/counts.py BASELINE [--record] <messages of `cargo test --no-run --message-format=json`

Counts what each test in a module `counts` of a library measures. Fails where one takes over 5 % more instructions than BASELINE
says, or is in one of both alone. Other compilers and C libraries count otherwise: with those it compares nothing, and says so.
`scripts/counts` calls it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

SLACK = 0.05


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def toolchain():
    """Other influences on the counts than our code."""
    host = re.search(r"^host: (.*)$", output("rustc", "-vV"), re.MULTILINE)[1]
    parts = [output("rustc", "--version"), host, output("getconf", "GNU_LIBC_VERSION"), output("valgrind", "--version")]
    return ", ".join(part.strip() for part in parts)


def unit_tests(messages):
    """The executables of the libraries' own tests, by the names of the libraries."""
    for line in messages:
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"] and "lib" in message["target"]["kind"]:
            yield message["target"]["name"], message["executable"]


def count(executable, test):
    """The instructions that a test measures."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*::instruction_counts::measured*"]
    # An empty environment, which would move the stack.
    run = subprocess.run([*command, executable, "--exact", test, "--test-threads=1"], env={}, capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not collected or collected[1] == "0":
        sys.exit(f"{test} counted nothing:\n{run.stdout}{run.stderr}")
    return int(collected[1])


def count_all(messages):
    counts = {}
    for library, executable in unit_tests(messages):
        for test in re.findall(r"^(\S*\bcounts::\S+): test$", output(executable, "--list"), re.MULTILINE):
            counts[f"{library}::{test}"] = count(executable, test)
    return counts


def compare(counts, recorded):
    """Prints a table; returns the problems."""
    faults = []
    for name in sorted(counts.keys() | recorded.keys()):
        now, before = counts.get(name), recorded.get(name)
        if now is None or before is None:
            faults.append(f"{name} is {'not recorded' if before is None else 'recorded and not there any more'}")
            continue
        change = now / before - 1
        print(f"{name:60} {before:>9,} {now:>9,} {change:+8.2%}")
        if change > SLACK:
            faults.append(f"{name} takes {change:.1%} more instructions than recorded")
        elif change < -SLACK:
            print("  fewer: run `scripts/counts --record`, so that it stays so")
    return faults


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("baseline", type=pathlib.Path)
    arguments.add_argument("--record", action="store_true")
    arguments = arguments.parse_args()

    counts = count_all(sys.stdin)
    if arguments.record:
        record = {"toolchain": toolchain(), "instructions": dict(sorted(counts.items()))}
        arguments.baseline.write_text(json.dumps(record, indent=2) + "\n")
        print(arguments.baseline.read_text(), end="")
        return
    record = json.loads(arguments.baseline.read_text())
    if record["toolchain"] != toolchain():
        print(f"NOT COMPARED: recorded with {record['toolchain']}, and this is {toolchain()}.")
        print("`scripts/counts --record` records them with this one; do it on a commit whose counts are known to be good.")
        return
    faults = compare(counts, record["instructions"])
    if faults:
        sys.exit("\n".join([*faults, "If it is meant to: `scripts/counts --record`, and say why in the commit."]))


main()
