package networkhub.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import networkhub.HubClient;
import networkhub.model.EffectivePermissions;
import networkhub.model.LanguageSource;
import networkhub.model.PlayerLanguage;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import org.junit.jupiter.api.Test;

/** Answers that come in another order than they were asked for: the caches keep the one that was asked for last. */
class OvertakenTest {
    private final HubClient client = HubClient.create("http://127.0.0.1:1", "key");
    private final UUID ann = UUID.randomUUID();
    private final long now = System.nanoTime();

    @Test
    void configDocument() {
        List<JsonElement> seen = new ArrayList<>();
        CachedConfig config = new CachedConfig(client, "arena", "main", new JsonPrimitive("default")).onChange(seen::add);
        config.set(new CachedConfig.Read(2, new JsonPrimitive("newer")));
        config.set(new CachedConfig.Read(1, new JsonPrimitive("older")));
        assertEquals(new JsonPrimitive("newer"), config.get());
        assertEquals(List.of(config.get()), seen);
    }

    @Test
    void language() {
        LocalizationCache cache = new LocalizationCache(client, List.of(), Map.of(), "en");
        cache.put(ann, new PlayerLanguage("de", LanguageSource.PLAYER), now);
        cache.put(ann, new PlayerLanguage(null, null), now - 1);
        assertEquals("de", cache.locale(ann));
    }

    @Test
    void permissions() {
        PermissionCache cache = new PermissionCache(client, null);
        List<UUID> changed = new ArrayList<>();
        cache.onChange(changed::add);
        cache.put(ann, new EffectivePermissions(null, List.of(), Map.of("fly", true), ann, 1, null), null, now);
        cache.put(ann, new EffectivePermissions(null, List.of(), Map.of("fly", false), ann, 1, null), null, now - 1);
        assertTrue(cache.has(ann, "fly"));
        assertEquals(List.of(ann), changed);
    }

    @Test
    void punishments() {
        PunishmentCache cache = new PunishmentCache(new HubClock());
        cache.checked(ann, "Ann", "10.0.0.1", List.of(ban(1, ann, null)), now);
        cache.checked(ann, "Ann", "10.0.0.1", List.of(), now - 1);
        assertTrue(cache.ban(ann).isPresent());
        // Of another address it may say more.
        Punishment other = ban(2, null, "10.0.0.2");
        cache.checked(ann, "Ann", "10.0.0.2", List.of(other), now - 1);
        assertEquals(other, cache.ban(ann).orElseThrow());
    }

    private static Punishment ban(long id, UUID player, String ip) {
        return new Punishment(true, null, null, null, id, ip, ip != null, 0, null, null, null, player, "why", PunishmentKind.BAN);
    }
}
