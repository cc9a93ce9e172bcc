package networkhub.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import networkhub.HubClient;
import networkhub.model.EffectivePermissions;
import org.junit.jupiter.api.Test;

class PermissionCacheTest {
    private final PermissionCache cache = new PermissionCache(HubClient.create("http://127.0.0.1:1", "key"), null);
    private final UUID ann = UUID.randomUUID();

    private void give(Map<String, Boolean> nodes) {
        cache.put(ann, new EffectivePermissions(null, List.of(), nodes, ann, 5, 1_000L), null, System.nanoTime());
    }

    @Test
    void anAnswerHoldsUntilItsEndAndForEarlierChanges() {
        assertTrue(cache.hasExpired(ann, 0));
        assertTrue(cache.isBefore(ann, new JsonPrimitive(1)));
        give(Map.of());
        assertFalse(cache.hasExpired(ann, 999));
        assertTrue(cache.hasExpired(ann, 1_000));
        assertFalse(cache.isBefore(ann, new JsonPrimitive(5)));
        assertTrue(cache.isBefore(ann, new JsonPrimitive(6)));
        assertTrue(cache.isBefore(ann, null));
        assertFalse(cache.mayBeStale(ann));
        cache.changed();
        assertTrue(cache.mayBeStale(ann));
    }

    @Test
    void theNodeItselfComesBeforeTheLongestWildcard() {
        give(Map.of("kit.*", true, "kit.vip.*", false, "kit.vip.gold", true, "fly", false));
        assertTrue(cache.has(ann, "kit.start"));
        assertTrue(cache.has(ann, "KIT.vip.Gold"));
        assertFalse(cache.has(ann, "kit.vip.silver"));
        assertEquals(false, cache.check(ann, "fly"));
        assertNull(cache.check(ann, "kit"));
        assertNull(cache.check(UUID.randomUUID(), "fly"));
        give(Map.of("*", true));
        assertTrue(cache.has(ann, "anything"));
    }
}
