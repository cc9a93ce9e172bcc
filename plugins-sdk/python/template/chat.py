"""Polite: masks words, and refuses a line that its sender repeats."""

import re
from dataclasses import dataclass, field

from network_hub_module import CallContext, HostError, config, log, store
from network_hub_module.chat import Line, Verdict, allow, refuse, rewrite


@dataclass
class Config:
    # Masked with stars where they stand alone; a to z in any case.
    words: list[str] = field(default_factory=list)
    # Time for which a line may not be repeated; 0 allows it at once.
    repeat_ms: int = 5000


# ASCII letters and digits, and all other characters.
WORD = re.compile("[0-9A-Za-z\u0080-\U0010ffff]+")


class Chat:
    def filter(self, context: CallContext, line: Line) -> Verdict:
        settings = config(context, Config)
        if settings.repeat_ms > 0 and is_repeated(line, settings.repeat_ms):
            log.info(f"refused a repeated line of {line.player.name}")
            return refuse("You said that already.")
        masked = {lower(word) for word in settings.words}
        polite = WORD.sub(lambda word: "*" * len(word[0]) if lower(word[0]) in masked else word[0], line.message)
        if polite == line.message:
            return allow()
        log.info(f"masked words of {line.player.name}")
        return rewrite(polite)


def lower(text: str) -> str:
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), text)


def is_repeated(line: Line, repeat_ms: int) -> bool:
    """Return True if the line repeats the last one; otherwise remember it."""
    key = f"last:{line.player.uuid}"
    try:
        if store.get(key) == line.message:
            return True
        store.set(key, line.message, repeat_ms)
    except HostError as error:
        log.warn(f"the store can't be reached: {error}")
    return False
