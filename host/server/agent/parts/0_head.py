#!/usr/bin/env python3
"""The node agent of a Network Hub: runs one game server and executes the hub's commands.

It runs the server as a child process or a container, keeps its console, ships its
output, and updates itself without stopping the server. It needs Python 3.9 on Linux
and nothing else. `--help` tells how to run it; docs/operate/agents.md tells the rest.
"""

import argparse
import base64
import codecs
import collections
import contextlib
import ctypes
import datetime
import hashlib
import http.client
import io
import ipaddress
import json
import os
import pwd
import queue
import random
import re
import secrets
import select
import shlex
import shutil
import signal
import socket
import ssl
import string
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import uuid
import zipfile

# Commands that the agent supports, sent with each poll.
CAPABILITIES = ["start", "stop", "restart", "kill", "console", "logs", "install"]
# Maximum wait of a poll at the hub. Below the 30 s after which the hub takes an agent for gone.
POLL_WAIT_MS = 25_000
# Back-off after failures, in seconds: doubled each time, up to the second.
BACK_OFF = (0.5, 15.0)
# Maximum length of a line, in characters; longer ones are cut.
LONGEST_LINE = 8_000
# Lines kept for LOGS, and lines kept while the hub cannot be reached.
LINES_KEPT = 5_000
LINES_BUFFERED = 20_000
# Maximum lines, and bytes, of one batch.
BATCH_LINES = 500
BATCH_BYTES = 400_000
# Maximum size of the answer to LOGS, which must fit into one request.
LOGS_BYTES = 700_000
# Time limit in seconds for a write to the server's standard input.
WRITE_WITHIN = 5.0
# Constant of RFC 6455, and the longest message that is taken.
WEBSOCKET_ID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
LONGEST_MESSAGE = 16 << 20
# Settings of Minecraft's servers, and the port for players unless they say another.
PROPERTIES = "server.properties"
MINECRAFT_PORT = 25_565
# Origin of the agent's connections to a management server, and source of the bans that it makes there.
ORIGIN = "network-hub"
# Time limits in seconds: a call of the management server, a call of the hub, the hub's event stream without a line.
CALL_WITHIN = 10.0
HUB_WITHIN = 5.0
SILENCE = 40.0
# Seconds that a save of all worlds may take until its caller is answered; less than the hub waits.
SAVE_WITHIN = 8.0
# Commands of the console that save all worlds.
SAVES = ("save-all", "save-all flush")
# Seconds after which a server that began is expected to take connections.
BEGINS_WITHIN = 90.0
# Seconds between two looks at who is on the server: notifications are not repeated.
LOOK_EVERY = 15.0
# Environment variable by which a new version finds its predecessor's state.
HANDOVER = "HUB_AGENT_HANDOVER"
# Variables of the agent's environment that are hidden from the server. The names with API are those of earlier agents,
SECRET = ("HUB_KEY", "HUB_KEY_FILE", HANDOVER)
# Public key of the hub that served this file: it signs newer ones. The hub fills it in.
SIGNED_BY = ""

# Message of a Java server that has run out of memory.
OUT_OF_MEMORY_LINE = re.compile(
    r"^(Terminating due to java\.lang\.OutOfMemoryError"
    r"|Aborting due to java\.lang\.OutOfMemoryError"
    r"|# There is insufficient memory for the Java Runtime Environment to continue"
    r"|Exception in thread \"main\" java\.lang\.OutOfMemoryError)"
)
# Device-code login in a Hytale server's output: a page that has the code in its address, or a page and a code on lines
# of their own.
LOGIN_URL = re.compile(r"https://[^\s\"'<>]+")
LOGIN_PAGE = re.compile(r"https://[^\s\"'<>]*(?:device|activate|verify)[^\s\"'<>]*", re.I)
LOGIN_CODE = re.compile(r"(?i:\buser[ _-]?code|\bcode)\s*[:=]\s*([A-Z0-9]{4,}(?:-[A-Z0-9]{3,})*)\b")
LIBC = ctypes.CDLL(None, use_errno=True)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def log(text):
    """Writes a line to the journal."""
    print(f"hub-agent: {text}", file=sys.stderr, flush=True)


def now_ms():
    return time.time_ns() // 1_000_000


def duration(seconds):
    """Text for messages."""
    seconds = int(seconds)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


class AgentError(Exception):
    """A command of the hub failed; the text is the answer to its caller."""


