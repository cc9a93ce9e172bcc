class Container(Server):
    """The server in a container: the child process is the engine's client, attached to it."""

    def engine(self, *arguments):
        try:
            return subprocess.run([self.options.engine, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=20, env=self.environment(), check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AgentError(f"{self.options.engine} {arguments[0]} failed: {error}") from error

    def command(self):
        options = self.options
        # A container left over from before; a running one stays, and makes the start fail.
        self.engine("rm", options.container_name)
        run = [options.engine, "run", "--interactive", "--name", options.container_name, "--sig-proxy=false"]
        if options.memory_limit:
            run += ["--memory", str(options.memory_limit), "--memory-swap", str(options.memory_limit)]
        for name in options.env:
            # The value is passed by the client's environment, hidden from the list of processes.
            run += ["--env", name]
        return run + options.container_arg + [options.container] + options.command

    def signal_server(self, number):
        self.engine("kill", "--signal", signal.Signals(number).name[3:], self.options.container_name)

    def measure(self):
        # The engine enforces the limit.
        pass

    def how_it_ended(self, status, kernel_killed):
        try:
            shown = self.engine("inspect", "--format", "{{json .State}}", self.options.container_name)
            state = json.loads(shown.stdout)
            return int(state["ExitCode"]), None, bool(state.get("OOMKilled")) or self.java_out_of_memory
        except (AgentError, ValueError, KeyError, TypeError) as error:
            log(f"the container's state is unknown: {error}")
            return os.waitstatus_to_exitcode(status) & 0xFF, None, False


