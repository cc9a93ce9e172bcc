#!/usr/bin/env python3
"""The node agent of a Network Hub: runs one game server and does what the hub says.

It runs the server as a child process or a container, keeps its console, ships its
output, and updates itself without stopping the server. It needs Python 3.9 on Linux
and nothing else. `--help` tells how to run it; docs/operate/agents.md tells the rest.
"""

import argparse
import base64
import codecs
import collections
import ctypes
import hashlib
import http.client
import io
import ipaddress
import json
import os
import pwd
import random
import re
import select
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zipfile

# What the hub is told at each poll.
CAPABILITIES = ["start", "stop", "restart", "kill", "console", "logs", "install"]
# How long a poll waits at the hub. Below the 30 s after which the hub takes an agent for gone.
POLL_WAIT_MS = 25_000
# Back-off after failures, in seconds: doubled each time, up to the second.
BACK_OFF = (0.5, 15.0)
# Longer lines are cut, in characters.
LONGEST_LINE = 8_000
# Lines kept for LOGS, and lines kept while the hub cannot be reached.
LINES_KEPT = 5_000
LINES_BUFFERED = 20_000
# One batch of lines: at most so many, of so many bytes.
BATCH_LINES = 500
BATCH_BYTES = 400_000
# The answer to LOGS must fit into one request.
LOGS_BYTES = 700_000
# A write to the server's standard input must succeed within so many seconds.
WRITE_WITHIN = 5.0
# Where a new version finds what the old one left.
HANDOVER = "HUB_AGENT_HANDOVER"
# What the server must not see of the agent's environment.
# The names with API are those of earlier agents, whose units still set them.
SECRET = ("HUB_KEY", "HUB_KEY_FILE", "HUB_API_KEY", "HUB_API_KEY_FILE", HANDOVER)
# The public key of the hub that handed out this file: it signs newer ones. The hub fills it in.
SIGNED_BY = ""

# What a Java server says when it has run out of memory.
OUT_OF_MEMORY_LINE = re.compile(
    r"^(Terminating due to java\.lang\.OutOfMemoryError"
    r"|Aborting due to java\.lang\.OutOfMemoryError"
    r"|# There is insufficient memory for the Java Runtime Environment to continue"
    r"|Exception in thread \"main\" java\.lang\.OutOfMemoryError)"
)
# A device-code login, as a Hytale server prints it: a page that has the code in its address, or a page
# and a code on lines of their own.
LOGIN_URL = re.compile(r"https://[^\s\"'<>]+")
LOGIN_PAGE = re.compile(r"https://[^\s\"'<>]*(?:device|activate|verify)[^\s\"'<>]*", re.I)
LOGIN_CODE = re.compile(r"(?i:\buser[ _-]?code|\bcode)\s*[:=]\s*([A-Z0-9]{4,}(?:-[A-Z0-9]{3,})*)\b")
LIBC = ctypes.CDLL(None, use_errno=True)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def log(text):
    """A line for the journal."""
    print(f"hub-agent: {text}", file=sys.stderr, flush=True)


def now_ms():
    return time.time_ns() // 1_000_000


def duration(seconds):
    """For people."""
    seconds = int(seconds)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


class AgentError(Exception):
    """Something the hub asked for did not work; the text goes to whoever asked."""


