"""A mail server for tests: prints its port, then one line of JSON for every mail that comes.

Options: --tls, --starttls (each with --certificate and --key), --user and --password, --refuse N (the first N mails are
turned away for now), --reject (every mail is turned away for good).
"""

import argparse
import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def say(line):
    print(line, flush=True)


class Mailbox:
    def __init__(self, options):
        self.refuse = options.refuse
        self.reject = options.reject

    async def handle_DATA(self, server, session, envelope):
        if self.reject:
            return "550 no such mailbox"
        if self.refuse > 0:
            self.refuse -= 1
            say(json.dumps({"refused": envelope.rcpt_tos}))
            return "451 come back later"
        say(json.dumps({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "mail": envelope.content.decode(),
            "tls": server.transport.get_extra_info("sslcontext") is not None,
            "user": (session.auth_data or b"").decode() if session.authenticated else None,
        }))
        return "250 OK"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--starttls", action="store_true")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--refuse", type=int, default=0)
    parser.add_argument("--reject", action="store_true")
    options = parser.parse_args()

    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    settings = {}
    if options.starttls:
        settings |= {"tls_context": context, "require_starttls": True}
    if options.user:
        def check(server, session, envelope, mechanism, data):
            right = (data.login.decode(), data.password.decode()) == (options.user, options.password)
            return AuthResult(success=right, auth_data=data.login)
        settings |= {"authenticator": check, "auth_required": True, "auth_require_tls": options.starttls}

    mailbox = Mailbox(options)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(mailbox, **settings), "127.0.0.1", options.port, ssl=context if options.tls else None)
    say(server.sockets[0].getsockname()[1])
    # Ends with its parent process.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
