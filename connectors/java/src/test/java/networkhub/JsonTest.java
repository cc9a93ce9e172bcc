package networkhub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.util.List;
import networkhub.model.BalanceOperation;
import networkhub.model.CurrencyBalance;
import networkhub.model.LiveServer;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void recordsKeepEveryDigitAndIgnoreWhatTheyDoNotKnow() {
        CurrencyBalance balance = Json.GSON.fromJson(
                "{\"newField\":[1,{}],\"currencyName\":\"coins\",\"balance\":899999999999999.9999}", CurrencyBalance.class);
        assertEquals(new CurrencyBalance(new BigDecimal("899999999999999.9999"), "coins"), balance);
        assertEquals("{\"amount\":-0.1,\"currency\":\"coins\",\"ownerType\":\"player\"}", Json.GSON.toJson(
                new BalanceOperation(new BigDecimal("-0.1"), "coins", null, "player")));
    }

    @Test
    void absentFieldsAreEmptyAndValuesOfNewerHubsUnknown() {
        LiveServer server = Json.GSON.fromJson("{\"serverId\":\"a\",\"gameState\":null}", LiveServer.class);
        assertEquals(List.of(), server.worlds());
        assertNull(server.gameState());
        assertEquals(0, server.maxPlayers());
        Punishment punishment = Json.GSON.fromJson("{\"type\":\"OF_A_NEWER_HUB\"}", Punishment.class);
        assertEquals(PunishmentKind.UNKNOWN, punishment.type());
        assertFalse(punishment.active());
    }
}
