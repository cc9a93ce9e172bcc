"""The extension point ``chat``: every line of the network's chat, before it is shown.

A module has a class ``Chat`` with the method ``filter(self, context: CallContext, line: Line) -> Verdict``.
"""

from wit_world.exports.chat import Decision_Allow, Decision_Refuse, Decision_Rewrite, Line, Mute, Verdict

__all__ = ["Line", "Mute", "Verdict", "allow", "refuse", "rewrite"]


def allow(mute: Mute | None = None) -> Verdict:
    """Sends the line unchanged."""
    return Verdict(Decision_Allow(), mute)


def rewrite(message: str, mute: Mute | None = None) -> Verdict:
    """Sends the line with this text: 1 to 1,024 characters without control characters."""
    return Verdict(Decision_Rewrite(message), mute)


def refuse(reason: str, mute: Mute | None = None) -> Verdict:
    """Refuses the line and shows its sender the reason: 1 to 256 characters."""
    return Verdict(Decision_Refuse(reason), mute)
