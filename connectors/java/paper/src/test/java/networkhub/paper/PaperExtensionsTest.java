package networkhub.paper;

import static networkhub.Eventually.eventually;
import static networkhub.paper.FakePaper.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import me.clip.placeholderapi.expansion.PlaceholderExpansion;
import net.kyori.adventure.text.Component;
import net.milkbowl.vault.economy.Economy;
import net.milkbowl.vault.economy.EconomyResponse;
import net.milkbowl.vault.economy.EconomyResponse.ResponseType;
import networkhub.TcpProxy;
import networkhub.testing.Fake;
import networkhub.testing.PlatformTest;
import org.bukkit.OfflinePlayer;
import org.bukkit.command.CommandSender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Vault and PlaceholderAPI, with a real hub. */
class PaperExtensionsTest extends PlatformTest {
    private FakePaper server;

    @BeforeAll
    void makeCurrency() {
        hub.manage("PUT", "/api/manage/economy/currencies/coins", Map.of("startingBalance", 100, "minimum", 0));
    }

    @AfterEach
    void stopServer() {
        server.close();
        assertEquals(List.of(), server.wrongThreads);
        assertTrue(server.services.isEmpty());
        PlaceholderExpansion.REGISTERED.clear();
    }

    @Override
    protected List<String> run(String command, String... arguments) {
        List<String> answers = new CopyOnWriteArrayList<>();
        CommandSender console = Fake.of(CommandSender.class, new Object() {
            void sendMessage(Component line) {
                answers.add(text(line));
            }
        });
        server.commands.get(command).execute(console, command, arguments);
        return answers;
    }

    private void start(String url, Set<String> plugins, String... more) throws Exception {
        List<String> config = new java.util.ArrayList<>(List.of("url=" + url, "key=" + hub.key(), "server-id=paper-" + UUID.randomUUID(), "type=lobby"));
        config.addAll(List.of(more));
        server = new FakePaper(false, true, plugins, config.toArray(String[]::new));
        eventually("the plugin is connected", () -> doctor().contains("registered as"));
    }

    private Economy vault() {
        return (Economy) server.services.get(Economy.class);
    }

    private static OfflinePlayer offline(FakePaper.FakePlayer player) {
        return Fake.of(OfflinePlayer.class, new Object() {
            UUID getUniqueId() {
                return player.uuid;
            }
        });
    }

    private String balance(UUID player) {
        return hub.client().economy().balances("player", player.toString()).join().get(0).balance().toString();
    }

    private FakePaper.FakePlayer joined(String name) throws Exception {
        FakePaper.FakePlayer player = server.new FakePlayer(name);
        assertNull(server.join(player));
        eventually("the balance is known", () -> vault().getBalance(offline(player)) == 100);
        return player;
    }

    @Test
    void moneyOfVaultIsTheHubs() throws Exception {
        start(hub.url(), Set.of("Vault"));
        assertTrue(doctor().contains("ok economy: the hub's"), doctor());
        FakePaper.FakePlayer player = joined("Notch");
        OfflinePlayer account = offline(player);
        assertTrue(vault().has(account, 100) && !vault().has(account, 100.01) && !vault().has(account, -1));

        EconomyResponse paid = vault().withdrawPlayer(account, 30.5);
        assertEquals(ResponseType.SUCCESS, paid.type);
        assertEquals(69.5, paid.balance);
        // At once, so that nothing is spent twice.
        assertEquals(ResponseType.FAILURE, vault().withdrawPlayer(account, 70).type);
        assertEquals(69.5, vault().getBalance("notch"));
        eventually("the hub knows it", () -> new BigDecimal(balance(player.uuid)).compareTo(new BigDecimal("69.5")) == 0);
        assertEquals(70, vault().depositPlayer("Notch", 0.5).balance);
        assertEquals("70.00 coins", vault().format(70));

        // A change elsewhere is known.
        hub.client().economy().modify("player", player.uuid.toString(), "coins", new BigDecimal(-60), "web shop").join();
        eventually("the change is known", () -> vault().getBalance(account) == 10);

        assertEquals(ResponseType.FAILURE, vault().withdrawPlayer(account, -5).type);
        assertEquals(ResponseType.FAILURE, vault().depositPlayer(account, Double.NaN).type);
        assertEquals(ResponseType.FAILURE, vault().withdrawPlayer("nobody", 1).type);
        assertEquals(ResponseType.NOT_IMPLEMENTED, vault().bankBalance("bank").type);
        server.quit(player);
        assertEquals(0, vault().getBalance(account));
    }

    @Test
    void manyPurchasesAtOnceTakeWhatThereIs() throws Exception {
        start(hub.url(), Set.of("Vault"));
        FakePaper.FakePlayer player = joined("Ada");
        OfflinePlayer account = offline(player);
        int sold = 0;
        for (int i = 0; i < 50; i++) {
            if (vault().withdrawPlayer(account, 3).type == ResponseType.SUCCESS) sold++;
        }
        assertEquals(33, sold);
        eventually("the hub knows all", () -> new BigDecimal(balance(player.uuid)).compareTo(BigDecimal.ONE) == 0);
        eventually("it is as the hub says", () -> vault().getBalance(account) == 1);
    }

    @Test
    void nothingIsSoldWhileTheHubIsAway() throws Exception {
        try (TcpProxy link = new TcpProxy(hub.port())) {
            start(link.url(), Set.of("Vault"));
            FakePaper.FakePlayer player = joined("Jeb");
            link.cut();
            eventually("nothing is sold", () -> vault().withdrawPlayer(offline(player), 0.01).type == ResponseType.FAILURE);
            link.heal();
            eventually("it is sold again", () -> vault().withdrawPlayer(offline(player), 1).type == ResponseType.SUCCESS);
            // Money that was asked for while it was unknown whether the hub is there was taken once.
            eventually("the hub has the same", () -> new BigDecimal(balance(player.uuid)).doubleValue() == vault().getBalance(offline(player)));
        }
    }

    @Test
    void moneyIsLeftToOthersAndSwitchable() throws Exception {
        for (String[] each : new String[][] {{"Essentials", "economy=auto", "no"}, {"Essentials", "economy=on", "yes"}, {"Vault", "economy=off", "no"},
            {"Vault", "mode=observe", "no"}}) {
            if (server != null) server.close();
            start(hub.url(), each[0].equals("Vault") ? Set.of("Vault") : Set.of("Vault", each[0]), each[1]);
            assertEquals(each[2].equals("yes"), vault() != null, String.join(" ", each));
        }
    }

    @Test
    void observingPluginComparesMoney() throws Exception {
        start(hub.url(), Set.of("Vault"), "mode=observe");
        assertTrue(server.services.isEmpty(), "nothing is registered");
        FakePaper.FakePlayer rich = server.new FakePlayer("Rich");
        FakePaper.FakePlayer same = server.new FakePlayer("Same");
        hub.client().economy().modify("player", same.uuid.toString(), "coins", new BigDecimal(-20), "bought").join();
        server.services.put(Economy.class, Fake.of(Economy.class, new Object() {
            double getBalance(OfflinePlayer player) {
                return player.getUniqueId().equals(rich.uuid) ? 250.5 : 80.001;
            }
        }));
        for (FakePaper.FakePlayer player : List.of(rich, same)) assertNull(server.join(player));
        // Two logins and two balances.
        eventually("all are compared", () -> String.join("\n", run("hub", "differences")).contains("4 answers compared, 1 differences"));
        assertEquals("  Rich 250.5 here, 100 at the hub", run("hub", "differences").get(2));
    }

    @Test
    void withoutThosePluginsTheirClassesAreNotTouched() throws Exception {
        start(hub.url(), Set.of());
        assertNull(vault());
        assertEquals(List.of(), PlaceholderExpansion.REGISTERED);
        assertFalse(doctor().contains("economy:"), doctor());
    }

    @Test
    void placeholdersShowWhatIsKnown() throws Exception {
        start(hub.url(), Set.of("Vault", "PlaceholderAPI"));
        FakePaper.FakePlayer player = joined("Eve");
        PlaceholderExpansion shown = PlaceholderExpansion.REGISTERED.get(0);
        assertEquals("networkhub", shown.getIdentifier());
        assertTrue(shown.persist());
        OfflinePlayer account = offline(player);
        assertEquals("100", shown.onRequest(account, "balance"));
        assertEquals("coins", shown.onRequest(account, "CURRENCY"));
        assertEquals("lobby", shown.onRequest(null, "type"));
        assertEquals("true", shown.onRequest(account, "connected"));
        assertEquals("false", shown.onRequest(account, "muted"));
        assertEquals("", shown.onRequest(null, "balance"));
        assertEquals("", shown.onRequest(account, "queue_place"));
        assertNull(shown.onRequest(account, "unknown"));
        assertTrue(Integer.parseInt(shown.onRequest(null, "network_players")) >= 1);
    }
}
