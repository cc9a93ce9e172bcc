package networkhub.model;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A player. What only some answers have is null (or empty) in the others.
 *
 * @param uuid the player
 * @param username the name last seen, or null
 * @param gameType the engine of the first sight, or null
 * @param firstSeen milliseconds since the epoch
 * @param lastSeen milliseconds since the epoch
 * @param currencies all balances
 * @param namespaces the data of the game mode that was asked for
 * @param region the region last located, or {@code UNKNOWN}
 * @param country the country last located, or null
 * @param online whether the player is on a server; null in the answer of a load
 * @param connection where, if online
 * @param permissions with {@code include=permissions}; else null
 * @param punishments the active ones, with {@code include=punishments}; else empty
 * @param language with {@code include=language}; else null
 * @param balances with {@code include=balances}; else empty
 * @param statistics with {@code include=statistics}; else null
 * @param data by namespace, with {@code include=data:NAMESPACE}; null for what was never written
 */
public record PlayerProfile(
        UUID uuid, String username, String gameType, long firstSeen, long lastSeen, List<Balance> currencies,
        List<NamespaceData> namespaces, String region, String country, Boolean online,
        PlayerConnection connection, EffectivePermissions permissions, List<Punishment> punishments,
        PlayerLanguage language, List<Balance> balances, PlayerStatistics statistics,
        Map<String, LoadedData> data) {}
