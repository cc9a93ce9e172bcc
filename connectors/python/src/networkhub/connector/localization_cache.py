"""Messages in the players' languages, and config documents, kept in memory."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..client import AsyncHubClient
from ..models import LanguageSource, LocalizationCatalog, PlayerLanguage

LOG = logging.getLogger("networkhub")


@dataclass(frozen=True, slots=True)
class _Language:
    answer: PlayerLanguage
    asked_at: float


class LocalizationCache:
    """Messages in the players' languages. Answers immediately, from memory, in any thread.

    While the hub is away it answers what was known last, and before the first answer the defaults of the plugin.
    """

    def __init__(
        self,
        client: AsyncHubClient,
        namespaces: Sequence[str],
        defaults: Mapping[str, Mapping[str, str]],
        default_locale: str,
    ) -> None:
        self._client = client
        self._namespaces = namespaces
        self._defaults = defaults
        self._default_locale = default_locale
        self._languages: dict[UUID, _Language] = {}
        self._catalog: LocalizationCatalog | None = None

    @property
    def catalog(self) -> LocalizationCatalog | None:
        """The catalog as it was read last."""
        return self._catalog

    def text(self, reader: UUID | str, key: str) -> str:
        """A message in a player's language, or in this one.

        Else in the default language, else as the plugin has it; else the key.
        """
        locale = self.locale(reader) if isinstance(reader, UUID) else reader
        sources: list[Mapping[str, str]] = []
        if (catalog := self._catalog) is not None:
            sources += [catalog.messages.get(each, {}) for each in (locale, catalog.default_locale)]
        sources += [self._defaults.get(each, {}) for each in (locale, self._default_locale)]
        return next((source[key] for source in sources if key in source), key)

    def locale(self, player: UUID) -> str:
        """A player's language, or the default one."""
        language = self.language(player)
        if language is not None and language.locale is not None:
            return language.locale
        return self._default_locale if self._catalog is None else self._catalog.default_locale

    def language(self, player: UUID) -> PlayerLanguage | None:
        """Returns the known language of a player, with its source: a chosen one need not be asked for again."""
        known = self._languages.get(player)
        return None if known is None else known.answer

    async def set_language(self, player: UUID, locale: str | None, source: LanguageSource = "PLAYER") -> PlayerLanguage:
        """Sets a player's language at the hub and here; None unsets it."""
        stored = await self._client.localization.set_language(player, locale, source)
        # From now on: what was asked meanwhile may not show it.
        self.put(player, stored, time.monotonic())
        return stored

    def put(self, player: UUID, language: PlayerLanguage, asked_at: float) -> None:
        """An answer to a question that was asked at this time; dropped where a later one was answered before."""
        known = self._languages.get(player)
        if known is None or known.asked_at <= asked_at:
            self._languages[player] = _Language(language, asked_at)

    def prune(self, online: Container[UUID]) -> None:
        """Forgets those who are not online."""
        for player in list(self._languages):
            if player not in online:
                self._languages.pop(player, None)

    async def refresh_language(self, player: UUID) -> None:
        """Reads a player's language."""
        asked_at = time.monotonic()
        self.put(player, await self._client.localization.language(player), asked_at)

    async def refresh_catalog(self) -> None:
        """Reads the catalog."""
        read = await self._client.localization.catalog(self._namespaces)
        # An answer that was overtaken by a newer one is dropped.
        if self._catalog is None or read.version >= self._catalog.version:
            self._catalog = read

    async def register_defaults(self) -> None:
        """Registers the plugin's defaults under the first namespace."""
        register = self._client.localization.register_defaults
        await asyncio.gather(*(register(self._namespaces[0], locale, entries) for locale, entries in self._defaults.items()))


class CachedConfig:
    """A config document that is kept current.

    Before the first answer of the hub it is the plugin's default; while the hub is away it is what was known last.
    """

    def __init__(self, client: AsyncHubClient, group: str, namespace: str, default_doc: Any) -> None:
        self._client = client
        self.group = group
        self.namespace = namespace
        self._default_doc = default_doc
        self._doc = default_doc
        self._listeners: list[Callable[[Any], object]] = []
        self._reads = 0
        self._kept = 0
        """Number of the read whose answer is kept; that of an earlier one that comes late is dropped."""

    @property
    def doc(self) -> Any:
        """The document now. Never changed in place: do not change it either."""
        return self._doc

    def on_change(self, listener: Callable[[Any], object]) -> CachedConfig:
        """Calls this with each other document from now on, on the connector's event loop."""
        self._listeners.append(listener)
        return self

    async def refresh(self) -> None:
        """Registers the default, which returns the effective document."""
        self._reads += 1
        read = self._reads
        doc = (await self._client.config.register(self.group, self.namespace, self._default_doc)).doc
        if read < self._kept:
            return
        self._kept = read
        if doc == self._doc:
            return
        self._doc = doc
        for listener in list(self._listeners):
            try:
                listener(doc)
            except Exception:
                LOG.exception("A listener of config %s/%s failed", self.group, self.namespace)
