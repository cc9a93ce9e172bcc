"""Tests of the agent's parts that need no hub: `cat parts/*.py >hub_agent.py; python3 -m unittest` in this folder."""

import argparse
import io
import json
import os
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile
from unittest import mock

import hub_agent
from hub_agent import AgentError, Logins, Output, parse_size, plugin_file, unpack


class Names(unittest.TestCase):
    def test_a_plugin_is_kept_under_its_name(self):
        for name, url, file in (
            ("chat-guard", "http://hub/api/artifacts/abc", "chat-guard.jar"),
            ("maps", "http://hub/maps.zip?x=1", "maps.zip"),
            ("a.b_c+1", "http://hub/x.exe", "a.b_c+1.jar"),
            ("World Edit.jar", "http://hub/x", "World Edit.jar"),
        ):
            self.assertEqual(plugin_file(name, url), file)

    def test_no_name_leads_elsewhere(self):
        for name in ("", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", ".hidden", "a..b", "a\n", "x" * 200, None, 5, "ü"):
            with self.assertRaises(AgentError, msg=repr(name)):
                plugin_file(name, "http://hub/x.jar")

    def test_sizes(self):
        for text, size in (("100", 100), ("64M", 64 << 20), ("4g", 4 << 30), ("1 KiB", 1024), ("2MB", 2 << 20)):
            self.assertEqual(parse_size(text), size)
        for text in ("", "-1", "1.5G", "many", "1X"):
            with self.assertRaises(argparse.ArgumentTypeError):
                parse_size(text)


class Signatures(unittest.TestCase):
    # Test 2 of RFC 8032, 7.1.
    KEY = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    SIGNATURE = bytes.fromhex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                              "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")

    def test_a_signature_is_verified(self):
        self.assertTrue(hub_agent.verify(self.KEY, b"\x72", self.SIGNATURE))

    def test_a_forged_signature_is_refused(self):
        for key, message, signature in (
            (self.KEY, b"\x73", self.SIGNATURE),
            (self.KEY, b"\x72", self.SIGNATURE[:32] + bytes(32)),
            (self.KEY, b"\x72", bytes(64)),
            (self.KEY, b"\x72", self.SIGNATURE[:-1]),
            (self.KEY, b"\x72", self.SIGNATURE[:32] + (int.from_bytes(self.SIGNATURE[32:], "little")
                                                      + hub_agent.ORDER).to_bytes(32, "little")),
            (bytes(31) + b"\x7f", b"\x72", self.SIGNATURE),
            (self.KEY[::-1], b"\x72", self.SIGNATURE),
        ):
            self.assertFalse(hub_agent.verify(key, message, signature))
        with mock.patch.object(hub_agent, "SIGNED_BY", ""):
            self.assertFalse(hub_agent.is_signed(b"script", "00" * 64))
        for signature in (None, "", "xx", "00" * 64, 5):
            self.assertFalse(hub_agent.is_signed(b"script", signature))


class Transport(unittest.TestCase):
    def test_plain_http_is_for_the_own_machine(self):
        for url, refused in (("http://localhost:1", False), ("http://127.0.0.5", False), ("http://[::1]:80", False),
                             ("https://hub.example", False), ("http://hub.example", True), ("http://10.0.0.1", True)):
            options = hub_agent.parse(["--hub", url, "--server-id", "a", "--", "x"])
            hub = hub_agent.Hub(url, "key", "a")
            if refused:
                self.assertRaises(SystemExit, hub_agent.check_transport, options, hub, False)
                options.allow_plain_http = True
            hub_agent.check_transport(options, hub, False)


class Lines(unittest.TestCase):
    def test_a_batch_stays_until_it_is_shipped(self):
        output = Output()
        for number in range(1200):
            output.add("stdout", str(number))
        lines, dropped = output.batch()
        self.assertEqual((len(lines), dropped), (hub_agent.BATCH_LINES, 0))
        self.assertEqual(output.batch()[0], lines)
        output.shipped(lines, dropped)
        self.assertEqual(output.batch()[0][0]["text"], str(hub_agent.BATCH_LINES))

    def test_a_batch_fits_into_a_request(self):
        output = Output()
        for _ in range(500):
            output.add("stdout", "\N{PILE OF POO}" * 9000)
        lines, _ = output.batch()
        self.assertTrue(lines)
        self.assertLess(len(json.dumps({"lines": lines})), 1 << 20)
        self.assertLess(len(json.dumps(output.tail(5000))), 1 << 20)

    def test_what_was_dropped_is_told_once(self):
        output = Output()
        most = hub_agent.LINES_BUFFERED
        for number in range(most + 10):
            output.add("stdout", str(number))
        lines, dropped = output.batch()
        self.assertEqual(dropped, 10)
        self.assertIn("10 lines were dropped", lines[0]["text"])
        self.assertEqual(lines[1]["text"], "10")
        # While the batch is under way, two of its lines are dropped: they have been shipped.
        for number in range(2):
            output.add("stdout", "late")
        output.shipped(lines, dropped)
        lines, dropped = output.batch()
        self.assertEqual((dropped, lines[0]["text"]), (0, str(10 + hub_agent.BATCH_LINES - 1)))

    def test_the_tail_is_the_newest(self):
        output = Output()
        for number in range(6000):
            output.add("stderr", f"{number}\0")
        self.assertEqual(output.tail(2), "5998\n5999")
        self.assertEqual(output.tail(99_999).count("\n"), hub_agent.LINES_KEPT - 1)


class LoginLines(unittest.TestCase):
    def found(self, *lines):
        logins = Logins()
        for line in lines:
            logins.notice(line)
        return list(logins.found)

    def test_a_device_code_login_is_found(self):
        told = [{"verifyUrl": "https://accounts.example.com/device", "userCode": "ABCD-1234"}]
        self.assertEqual(self.found(
            "[INFO] DEVICE AUTHORIZATION", "Visit: https://accounts.example.com/device", "Enter code: ABCD-1234",
            "Or visit: https://accounts.example.com/device?user_code=ABCD-1234"), told)
        self.assertEqual(self.found("\x1b[33mEnter code: ABCD-1234\x1b[0m", "https://accounts.example.com/device."), told)
        self.assertEqual(self.found("Go to https://accounts.example.com/oauth2/device/verify?user_code=WXYZ99"), [
            {"verifyUrl": "https://accounts.example.com/oauth2/device/verify?user_code=WXYZ99", "userCode": "WXYZ99"}])

    def test_a_new_code_is_told_again(self):
        page = "Visit https://accounts.example.com/device"
        self.assertEqual([login["userCode"] for login in self.found(
            page, "code: AAAA-1111", page, "code: AAAA-1111", page, "code: BBBB-2222")], ["AAAA-1111", "BBBB-2222"])

    def test_other_lines_are_not_logins(self):
        self.assertEqual(self.found(
            "https://example.com/device", "exit code: 0", "Player said: code: abcd", "opcode: 1234",
            *["something else"] * 20, "code: ABCD-1234"), [])


class Bundles(unittest.TestCase):
    def unpacked(self, make):
        with tempfile.TemporaryFile() as archive, tempfile.TemporaryDirectory() as folder:
            make(archive)
            target = os.path.join(folder, "in")
            try:
                unpack(archive, target, "lobby.bundle")
            finally:
                self.assertEqual(os.listdir(folder), ["in"])
            found = {}
            for at, _, names in os.walk(target):
                for name in names:
                    with open(os.path.join(at, name), "rb") as file:
                        found[os.path.relpath(os.path.join(at, name), target)] = file.read()
            return found

    @staticmethod
    def zip_of(*names):
        def make(archive):
            with zipfile.ZipFile(archive, "w") as bundle:
                for name in names:
                    bundle.writestr(name, b"x")
        return make

    @staticmethod
    def tar_of(*names):
        def make(archive):
            with tarfile.open(fileobj=archive, mode="w:gz") as bundle:
                for name in names:
                    entry = tarfile.TarInfo(name)
                    entry.size = 1
                    bundle.addfile(entry, io.BytesIO(b"x"))
                link = tarfile.TarInfo("link")
                link.type, link.linkname = tarfile.SYMTYPE, "/etc"
                bundle.addfile(link)
        return make

    def test_archives_are_unpacked(self):
        for make in (self.zip_of("mods/a.jar", "b.txt"), self.tar_of("mods/a.jar", "b.txt")):
            self.assertEqual(self.unpacked(make), {"mods/a.jar": b"x", "b.txt": b"x"})
        self.assertEqual(self.unpacked(lambda archive: archive.write(b"no archive")), {"lobby.bundle": b"no archive"})

    def test_nothing_is_put_outside(self):
        for make in (self.zip_of("../evil"), self.tar_of("../evil"), self.tar_of("/tmp/evil-of-a-test")):
            with self.assertRaises(AgentError):
                self.unpacked(make)


ENGINE = """#!/usr/bin/env python3
# The parts of a container engine that the agent uses; the container is a file that holds its process and its state.
import json, os, signal, subprocess, sys
verb, rest = sys.argv[1], sys.argv[2:]
file = os.path.join(os.path.dirname(os.path.realpath(__file__)), "container")
if verb == "rm":
    if os.path.exists(file):
        os.unlink(file)
elif verb == "run":
    command = rest[rest.index("image") + 1:]
    child = subprocess.Popen(command)
    with open(file, "w") as out:
        json.dump({"pid": child.pid, "arguments": rest}, out)
    code = child.wait()
    with open(file, "w") as out:
        code = 128 - code if code < 0 else code
        json.dump({"ExitCode": code, "OOMKilled": code == 42, "arguments": rest}, out)
    sys.exit(code)
elif verb == "kill":
    with open(file) as held:
        os.kill(json.load(held)["pid"], getattr(signal, "SIG" + rest[1]))
elif verb == "inspect":
    with open(file) as held:
        print(held.read())
"""


class Containers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.engine = os.path.join(self.folder.name, "engine")
        with open(self.engine, "w", encoding="utf-8") as file:
            file.write(ENGINE)
        os.chmod(self.engine, 0o755)
        self.output = Output()

    def container(self, code):
        options = hub_agent.parse(
            ["--hub", "http://hub", "--server-id", "a/b", "--engine", self.engine, "--container", "image",
             "--memory-limit", "1G", "--env", "COLOUR=blue", "--workdir", self.folder.name,
             "--", sys.executable, "-u", "-c", code])
        return hub_agent.Container(options, self.output, lambda line: None)

    def until(self, done):
        deadline = time.monotonic() + 30
        while not done():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_container_ends_as_the_engine_says(self):
        for code, report in (
            ("print('up'); input(); raise SystemExit(3)", (3, "false")),
            ("print('up'); input(); raise SystemExit(42)", (42, "true")),
        ):
            server = self.container(code)
            self.assertEqual(server.report()["containerState"], "CREATED")
            server.start()
            self.until(lambda: self.output.tail(9).endswith("up"))
            server.write("go on")
            self.until(lambda: server.pid is None)
            self.assertEqual((server.report()["exitCode"], server.report()["outOfMemory"]), report)
            with open(os.path.join(self.folder.name, "container"), encoding="utf-8") as file:
                arguments = json.load(file)["arguments"]
            self.assertEqual(arguments[:arguments.index("image")], [
                "--interactive", "--name", "hub-a-b", "--sig-proxy=false", "--memory", str(1 << 30), "--memory-swap",
                str(1 << 30), "--env", "COLOUR"])

    def test_stop_and_kill_go_through_the_engine(self):
        server = self.container("import time; print('up'); time.sleep(60)")
        for act, code in ((server.stop, 128 + 15), (server.kill, 128 + 9)):
            server.start()
            held = os.path.join(self.folder.name, "container")
            self.until(lambda: os.path.exists(held) and "pid" in hub_agent.read_text(held))
            act()
            self.until(lambda: server.pid is None)
            self.assertEqual(server.report()["exitCode"], code)


class Properties(unittest.TestCase):
    WANTED = {"management-server-port": "25585", "management-server-enabled": "true"}

    def test_all_other_lines_stay(self):
        for before, after in (
            (b"", b"management-server-port=25585\nmanagement-server-enabled=true\n"),
            (b"#c\n motd = a\\=b\n", b"#c\n motd = a\\=b\nmanagement-server-port=25585\nmanagement-server-enabled=true\n"),
            (b"management-server-enabled: false\r\nx=\xc3\x85\r\n", b"management-server-enabled=true\r\nx=\xc3\x85\r\nmanagement-server-port=25585\r\n"),
            (b"management-server-port 1\nmanagement-server-port=2\na", b"management-server-port=25585\na\nmanagement-server-enabled=true\n"),
            # A value that goes on, another that only looks like a setting, and an escape in a key.
            (b"management-server-port=1\\\n  2\nmotd=a\\\n  management-server-enabled=no\n",
             b"management-server-port=25585\nmotd=a\\\n  management-server-enabled=no\nmanagement-server-enabled=true\n"),
            (b"#management-server-enabled=x\\\nmanagement\\-server-enabled=false\nb=1\\\\\nmanagement-server-port=0\n",
             b"#management-server-enabled=x\\\nmanagement-server-enabled=true\nb=1\\\\\nmanagement-server-port=25585\n"),
        ):
            merged = hub_agent.merged_properties(before, self.WANTED)
            self.assertEqual(merged, after)
            self.assertEqual(hub_agent.merged_properties(merged, self.WANTED), merged)

    def test_they_are_put_in_one_step(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "server.properties")
            self.assertEqual(hub_agent.put_properties(folder, "server.properties", io.BytesIO(b'{"a": "b"}')), {"port": 25565})
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            os.chmod(path, 0o644)
            with open(path, "a", encoding="utf-8") as file:
                file.write("server-port=25570\n")
            self.assertEqual(hub_agent.put_properties(folder, "server.properties", io.BytesIO(b'{"a": "c"}')), {"port": 25570})
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
            self.assertEqual(os.listdir(folder), ["server.properties"])


class Protocol(unittest.TestCase):
    def test_frames_have_the_sizes_of_the_standard(self):
        for size, head in ((5, b"\x81\x85"), (125, b"\x81\xfd"), (126, b"\x81\xfe\0\x7e"), (70_000, b"\x81\xff" + bytes(5) + b"\x01\x11\x70")):
            frame = hub_agent.masked(1, b"a" * size)
            self.assertEqual(frame[:len(head)], head)
            mask, content = frame[len(head):len(head) + 4], frame[len(head) + 4:]
            self.assertEqual(bytes(byte ^ mask[at % 4] for at, byte in enumerate(content)), b"a" * size)

    def test_errors_are_found_wherever_they_are(self):
        self.assertEqual(hub_agent.result_of({"result": {"started": True}}), {"started": True})
        for message in ({"error": {"code": -32601, "message": "no"}}, {"result": {"error": {"code": -32601, "message": "no"}}}):
            with self.assertRaises(hub_agent.ManagementError) as raised:
                hub_agent.result_of(message)
            self.assertEqual((str(raised.exception), raised.exception.code), ("no", -32601))

    def test_parameters_come_by_place_or_by_name(self):
        for parameters in ([{"id": "a"}], {"player": {"id": "a"}}, {"id": "a"}):
            self.assertEqual(hub_agent.only(parameters, "player"), {"id": "a"})

    def test_the_management_server_is_on_this_machine(self):
        for url in ("ws://127.0.0.1:25585", "ws://localhost:1/", "ws://[::1]:2"):
            self.assertIsInstance(hub_agent.management_address(url)[1], int)
        for url in ("wss://127.0.0.1:1", "ws://127.0.0.1", "ws://192.0.2.1:1", "ws://127.0.0.1:99999", "ws://127.0.0.1:0", "127.0.0.1:1"):
            self.assertRaises(argparse.ArgumentTypeError, hub_agent.management_address, url)

    def test_the_longest_ban_counts(self):
        bans = [{"type": "MUTE", "expiresAt": None}, {"type": "BAN", "expiresAt": 5, "id": 1}, {"type": "BAN", "expiresAt": None, "id": 2}]
        self.assertEqual(hub_agent.ban_among(bans)["id"], 2)
        self.assertIsNone(hub_agent.ban_among(bans[:1]))
        self.assertEqual(hub_agent.iso(1_804_680_000_000), "2027-03-10T12:00:00Z")


class Visits(unittest.TestCase):
    def setUp(self):
        options = hub_agent.parse(["--hub", "http://hub", "--server-id", "a", "--management", "ws://127.0.0.1:1", "--", "x"])
        self.hub = mock.Mock(server="a")
        self.hub.request.return_value = b"{}"
        self.vanilla = hub_agent.Vanilla(options, self.hub, mock.Mock())
        self.vanilla.is_registered, self.vanilla.beat_at = True, float("inf")

    def test_a_visit_that_the_hub_never_knew_of_is_not_told(self):
        self.vanilla.joined("u", "Ada")
        self.vanilla.joined("u", "Ada")
        self.vanilla.left("u")
        self.vanilla.left("u")
        self.assertFalse(self.vanilla.changes)

    def test_changes_wait_in_their_order_until_the_hub_answers(self):
        self.vanilla.joined("u", "Ada")
        self.hub.request.side_effect = hub_agent.HubError("away")
        self.vanilla.tell_hub()
        self.assertEqual(list(self.vanilla.changes), [("join", "u", "Ada")])
        self.assertGreater(self.vanilla.retry_at, time.monotonic())
        # A list of players that is not complete is not told.
        self.hub.request.side_effect = None
        self.vanilla.beat()
        self.assertNotIn("players", self.hub.request.call_args[0][2])
        self.vanilla.tell_hub()
        self.vanilla.left("u")
        self.vanilla.tell_hub()
        self.assertEqual([call[0][:2] for call in self.hub.request.call_args_list[2:]], [
            ("POST", "/api/plugin/players/u/load?username=Ada&include=punishments&gameType=MINECRAFT"),
            ("POST", "/api/plugin/servers/players"), ("DELETE", "/api/plugin/servers/players/u?serverId=a")])
        self.vanilla.beat()
        self.assertEqual(self.hub.request.call_args[0][2]["players"], [])

    def test_a_refused_change_does_not_hold_up_the_others(self):
        self.vanilla.joined("u", "Ada")
        self.vanilla.joined("v", "Bob")
        self.hub.request.side_effect = hub_agent.HubError("too many players", 403, "quota_exceeded")
        self.vanilla.tell_hub()
        self.assertEqual(list(self.vanilla.changes), [("join", "v", "Bob")])
        self.hub.request.side_effect = hub_agent.HubError("unknown", 400, "unknown_server")
        self.vanilla.tell_hub()
        self.assertEqual((len(self.vanilla.changes), self.vanilla.is_registered), (1, False))


class CommandLine(unittest.TestCase):
    def test_the_servers_options_are_its_own(self):
        options = hub_agent.parse(
            ["--hub", "http://hub", "--server-id", "a", "--env", "A=b=c", "--", "java", "-jar", "server.jar", "--nogui"])
        self.assertEqual((options.command, options.env), (["java", "-jar", "server.jar", "--nogui"], {"A": "b=c"}))
        self.assertEqual(options.plugins_dir, "./plugins")


if __name__ == "__main__":
    unittest.main()
