# --- Minecraft's management protocol -----------------------------------------------------------


class ManagementError(Exception):
    """The server refused a call."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class Management:
    """One connection to the management server of Minecraft 1.21.9 and newer: JSON-RPC 2.0 over a WebSocket."""

    def __init__(self, address, secret, noticed):
        self.noticed = noticed
        self.lock = threading.Lock()
        self.waiting = {}
        self.last_id = 0
        self.gone = None
        self.methods = set()
        self.version = None
        host, port = address
        # Servers differ in whether they ask for an origin; this one is among those that are allowed.
        headers = [f"Authorization: Bearer {secret}", f"Origin: {ORIGIN}"]
        self.socket = WebSocket(host, port, headers, CALL_WITHIN)
        threading.Thread(target=self.read, daemon=True, name="management-read").start()
        self.discover()

    def discover(self):
        """Reads which methods the server has: they differ between versions."""
        try:
            found = self.call("rpc.discover")
            self.version = found["info"]["version"]
            self.methods = {method["name"] for method in found["methods"]}
        except (KeyError, TypeError) as error:
            self.close()
            raise ConnectionGone("the server does not say what it can") from error
        except ManagementError as error:
            self.close()
            raise ConnectionGone(f"the server does not say what it can: {error}") from error

    def read(self):
        try:
            while True:
                text = self.socket.receive()
                try:
                    messages = json.loads(text)
                except ValueError as error:
                    raise ConnectionGone("the server sent no JSON") from error
                for message in messages if isinstance(messages, list) else [messages]:
                    if isinstance(message, dict):
                        self.heard(message)
        except ConnectionGone as error:
            with self.lock:
                self.gone = error
                calls, self.waiting = self.waiting, {}
            for call in calls.values():
                call.put({"gone": error})
            self.socket.release()
            self.noticed("gone", None)

    def heard(self, message):
        method = message.get("method")
        if isinstance(method, str):
            return self.noticed(method, message.get("params"))
        with self.lock:
            call = self.waiting.pop(message.get("id"), None)
        if call is not None:
            call.put(message)
        elif "error" in message and message.get("id") is None:
            log(f"the server could not read a call: {message['error']}")

    def call(self, method, *parameters):
        """The result of a call; parameters in the order of their names."""
        answer = queue.Queue()
        with self.lock:
            if self.gone:
                raise self.gone
            self.last_id += 1
            number = self.last_id
            self.waiting[number] = answer
        request = {"jsonrpc": "2.0", "id": number, "method": method}
        if parameters:
            request["params"] = list(parameters)
        try:
            self.socket.send(json.dumps(request))
            message = answer.get(timeout=CALL_WITHIN)
        except queue.Empty:
            self.close()
            raise ConnectionGone(f"the server did not answer {method} within {CALL_WITHIN:.0f} s") from None
        finally:
            with self.lock:
                self.waiting.pop(number, None)
        if "gone" in message:
            raise message["gone"]
        return result_of(message)

    def can(self, method):
        return method in self.methods

    def close(self):
        self.socket.close()


def result_of(message):
    """The result of an answer. Some versions have an error inside of the result."""
    result, error = message.get("result"), message.get("error")
    if error is None and isinstance(result, dict) and isinstance(result.get("error"), dict) and "code" in result["error"]:
        error = result["error"]
    if error is not None:
        told = error if isinstance(error, dict) else {"message": error}
        details = f" ({told['data']})" if told.get("data") else ""
        raise ManagementError(f"{told.get('message')}{details}", told.get("code"))
    return result


def only(parameters, name):
    """The one parameter of a notification, which comes by place or by name."""
    if isinstance(parameters, list):
        return parameters[0] if parameters else None
    if isinstance(parameters, dict) and name in parameters:
        return parameters[name]
    return parameters


def literal(text):
    return {"literal": text}


