# --- The hub -----------------------------------------------------------------------------------


class HubError(Exception):
    """The hub could not be reached, or refused."""

    def __init__(self, text, status=None, code=None):
        super().__init__(text)
        self.status = status
        self.code = code

    def passes(self):
        """True if the same call may succeed later, by itself or once the key is right."""
        if self.code == "quota_exceeded":
            return False
        return self.status is None or self.status >= 500 or self.status in (401, 403, 429)


class Hub:
    """The hub's REST interface. Every call has a connection of its own, so that threads share nothing."""

    def __init__(self, url, key, server_id):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemExit(f"hub-agent: {url!r} is no http or https URL")
        self.in_the_clear = parts.scheme == "http" and not is_loopback(parts.hostname)
        self.parts = parts
        self.key = key
        self.server = urllib.parse.quote(server_id, safe="")
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None

    def request(self, method, path, body=None, timeout=20.0, into=None):
        """The answer's body; written to the file `into` instead, if there is one."""
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        options = {"context": self.tls} if self.tls else {}
        connection = kind(self.parts.hostname, self.parts.port, timeout=timeout, **options)
        headers = {"X-Service-Api-Key": self.key, "User-Agent": "hub-agent"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, self.parts.path.rstrip("/") + path, data, headers)
            answer = connection.getresponse()
            if answer.status >= 300:
                raise refusal(method, path, answer)
            if into is None:
                return answer.read()
            shutil.copyfileobj(answer, into)
            return b""
        except (OSError, http.client.HTTPException) as error:
            raise HubError(f"{method} {path.split('?')[0]}: {error or type(error).__name__}") from error
        finally:
            connection.close()

    @contextlib.contextmanager
    def stream(self, path, headers, silence):
        """The lines of an answer that goes on; ends with an error after so many seconds without any."""
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        options = {"context": self.tls} if self.tls else {}
        connection = kind(self.parts.hostname, self.parts.port, timeout=silence, **options)
        try:
            headers = {"X-Service-Api-Key": self.key, "User-Agent": "hub-agent", **headers}
            connection.request("GET", self.parts.path.rstrip("/") + path, None, headers)
            answer = connection.getresponse()
            if answer.status >= 300:
                raise refusal("GET", path, answer)
            yield (line.decode("utf-8", "replace").rstrip("\r\n") for line in answer)
        except (OSError, http.client.HTTPException) as error:
            raise HubError(f"GET {path.split('?')[0]}: {error or type(error).__name__}") from error
        finally:
            connection.close()

    def poll(self, report, wait_ms):
        query = urllib.parse.urlencode({**report, "waitMs": wait_ms})
        body = self.request("GET", f"/api/plugin/servers/{self.server}/commands?{query}", timeout=wait_ms / 1000 + 15)
        try:
            return [json.loads(text) for text in json.loads(body)["commands"]]
        except (ValueError, KeyError, TypeError) as error:
            raise HubError(f"invalid answer to a poll: {error}") from error

    def result(self, command_id, body):
        command = urllib.parse.quote(str(command_id), safe="")
        self.request("POST", f"/api/plugin/servers/{self.server}/commands/{command}/result", body)

    def ship(self, lines):
        self.request("POST", f"/api/plugin/servers/{self.server}/logs", {"lines": lines})


def refusal(method, path, answer):
    body = answer.read(65_536)
    text = f"{method} {path.split('?')[0]}: {answer.status} {error_text(body)}"
    try:
        code = json.loads(body).get("code")
    except (ValueError, AttributeError):
        code = None
    return HubError(text, answer.status, code)


def is_loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def error_text(body):
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return body[:200].decode("utf-8", "replace")


class BackOff:
    """Waits longer after each failure, never in step with others."""

    def __init__(self):
        self.failures = 0

    def reset(self):
        self.failures = 0

    def delay(self):
        first, most = BACK_OFF
        longest = min(most, first * 2 ** min(self.failures, 10))
        self.failures += 1
        return longest / 2 + random.random() * longest / 2


