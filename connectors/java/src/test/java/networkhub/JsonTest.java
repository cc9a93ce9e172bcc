package networkhub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.util.List;
import networkhub.model.Balance;
import networkhub.model.LiveServer;
import networkhub.model.MoneyOperation;
import networkhub.model.Punishment;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void recordsKeepEveryDigitAndIgnoreWhatTheyDoNotKnow() {
        Balance balance = Json.GSON.fromJson(
                "{\"newField\":[1,{}],\"currencyName\":\"coins\",\"balance\":899999999999999.9999}", Balance.class);
        assertEquals(new Balance("coins", new BigDecimal("899999999999999.9999")), balance);
        assertEquals("{\"ownerType\":\"player\",\"currency\":\"coins\",\"amount\":-0.1}", Json.GSON.toJson(
                new MoneyOperation("player", null, "coins", new BigDecimal("-0.1"))));
    }

    @Test
    void absentFieldsAreEmptyAndUnknownLiteralsAreNull() {
        LiveServer server = Json.GSON.fromJson("{\"serverId\":\"a\",\"gameState\":null}", LiveServer.class);
        assertEquals(List.of(), server.worlds());
        assertNull(server.gameState());
        assertEquals(0, server.maxPlayers());
        Punishment punishment = Json.GSON.fromJson("{\"type\":\"OF_A_NEWER_HUB\"}", Punishment.class);
        assertNull(punishment.type());
        assertFalse(punishment.active());
    }
}
