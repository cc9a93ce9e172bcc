package networkhub.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import org.junit.jupiter.api.Test;

class PunishmentCacheTest {
    private final HubClock clock = new HubClock();
    private final PunishmentCache cache = new PunishmentCache(clock);
    private final UUID ann = UUID.randomUUID();

    private static Punishment punishment(long id, UUID player, String name, PunishmentKind type, String ip, Long expiresAt) {
        return new Punishment(true, null, null, expiresAt, id, ip, ip != null && player != null, 0, null, null, name, player, "why",
                type);
    }

    @Test
    void uncheckedPlayerCountsAsMuted() {
        assertTrue(cache.isMuted(ann));
        cache.checked(ann, "Ann", null, List.of(), System.nanoTime());
        assertFalse(cache.isMuted(ann));
    }

    @Test
    void itMatchesPlayersNamesAndAddresses() {
        cache.checked(ann, "Ann", "10.0.0.1", List.of(), System.nanoTime());
        cache.update(punishment(1, null, "ANN", PunishmentKind.MUTE, null, null), true);
        assertTrue(cache.isMuted(ann));
        cache.update(punishment(1, null, "ANN", PunishmentKind.MUTE, null, null), false);
        assertFalse(cache.isMuted(ann));
        cache.update(punishment(2, null, null, PunishmentKind.BAN, "10.0.0.1", null), true);
        assertTrue(cache.ban(ann).isPresent());
        // An address counts only where the punishment is one of addresses.
        UUID ben = UUID.randomUUID();
        cache.checked(ben, "Ben", "10.0.0.2", List.of(), System.nanoTime());
        cache.update(new Punishment(true, null, null, null, 3, "10.0.0.2", false, 0, null, null, "Cat", UUID.randomUUID(),
                null, PunishmentKind.BAN), true);
        assertEquals(Optional.empty(), cache.ban(ben));
    }

    @Test
    void olderAnswerDoesNotUndoAnEvent() {
        long askedAt = System.nanoTime();
        Punishment mute = punishment(1, ann, "Ann", PunishmentKind.MUTE, null, null);
        Punishment ban = punishment(2, ann, "Ann", PunishmentKind.BAN, null, null);
        cache.update(mute, false);
        cache.update(ban, true);
        // Written before the mute was revoked and the ban was made.
        cache.checked(ann, "Ann", null, List.of(mute), askedAt);
        assertFalse(cache.isMuted(ann));
        assertTrue(cache.ban(ann).isPresent());
        // An answer that was asked for later counts.
        cache.checked(ann, "Ann", null, List.of(mute), System.nanoTime());
        assertTrue(cache.isMuted(ann));
        assertTrue(cache.ban(ann).isEmpty());
    }

    @Test
    void aPunishmentEndsByItselfAndBeforeAGapNothingIsCurrent() {
        cache.checked(ann, "Ann", "10.0.0.1",
                List.of(punishment(1, ann, "Ann", PunishmentKind.MUTE, null, System.currentTimeMillis() - 1)), System.nanoTime());
        assertFalse(cache.isMuted(ann));
        assertTrue(cache.isCurrent(ann, "10.0.0.1"));
        assertFalse(cache.isCurrent(ann, "10.0.0.2"));
        cache.gap();
        assertFalse(cache.isCurrent(ann, "10.0.0.1"));
        // Known punishments stay in force.
        cache.update(punishment(2, ann, "Ann", PunishmentKind.BAN, null, null), true);
        cache.gap();
        assertTrue(cache.ban(ann).isPresent());
    }

    @Test
    void aPunishmentEndsByTheHubsClock() {
        long now = System.currentTimeMillis();
        Punishment ban = punishment(1, ann, "Ann", PunishmentKind.BAN, null, now - 60_000);
        cache.checked(ann, "Ann", null, List.of(ban), System.nanoTime());
        assertTrue(cache.ban(ann).isEmpty());
        clock.ping(now - 120_000);
        assertTrue(cache.ban(ann).isPresent(), "this machine's clock is two minutes ahead");
        for (int ping = 0; ping < 4; ping++) clock.ping(now);
        assertTrue(cache.ban(ann).isEmpty());
    }
}
