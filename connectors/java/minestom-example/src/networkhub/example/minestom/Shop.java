package networkhub.example.minestom;

import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.util.Map;
import java.util.UUID;
import net.minestom.server.command.CommandSender;
import net.minestom.server.command.builder.Command;
import net.minestom.server.command.builder.arguments.Argument;
import net.minestom.server.command.builder.arguments.ArgumentType;
import net.minestom.server.entity.Player;
import net.minestom.server.inventory.TransactionOption;
import net.minestom.server.item.ItemStack;
import net.minestom.server.item.Material;
import networkhub.HubException;
import networkhub.connector.DeliveryException;
import networkhub.connector.HubConnector;
import networkhub.model.Delivery;
import networkhub.model.DeliveryOnLost;
import networkhub.model.DeliveryRequest;
import networkhub.plugin.Markup;

/**
 * A shop: a purchase takes the money and becomes a delivery, which the server carries out that the player is on by then. The item and
 * the end of the delivery are saved in one step.
 */
final class Shop {
    static final String CURRENCY = "coins";
    private static final String KIND = "item";
    /** Coins for one. */
    private static final Map<String, Integer> PRICES = Map.of("diamond", 2, "bread", 1, "iron_sword", 5);

    private final MinestomPlatform platform;
    private volatile HubConnector hub;

    Shop(MinestomPlatform platform) {
        this.platform = platform;
    }

    void open(HubConnector connector) {
        hub = connector;
        connector.onDataDelivery(KIND, this::give);
    }

    private void give(Delivery delivery) {
        Player player = platform.player(delivery.playerUuid());
        if (player == null) throw new DeliveryException("The player has left.", true);
        JsonObject payload = delivery.payload().getAsJsonObject();
        String name = payload.get("item").getAsString();
        int amount = payload.get("amount").getAsInt();
        Material material = Material.fromKey("minecraft:" + name);
        if (material == null) throw new DeliveryException("There is no item " + name + ".", false);
        if (!player.getInventory().addItemStack(ItemStack.of(material, amount), TransactionOption.ALL_OR_NOTHING)) {
            throw new DeliveryException("The inventory is full.", true);
        }
        player.sendMessage(MinestomTexts.of("<green>You received " + amount + " " + name + ".</green>"));
    }

    /** /buy ITEM AMOUNT. */
    Command buy() {
        return command("buy", (player, item, amount) -> {
            Integer price = PRICES.get(item);
            if (price == null) {
                tell(player, "<red>The shop has " + String.join(", ", PRICES.keySet()) + ".</red>");
                return;
            }
            // Both calls carry the order's number, so that the connector may repeat them: neither happens twice.
            String order = UUID.randomUUID().toString();
            JsonObject payload = new JsonObject();
            payload.addProperty("item", item);
            payload.addProperty("amount", amount);
            // Of a server that is killed with it, nothing was saved if the delivery was not settled: it may be tried again.
            DeliveryRequest delivery = DeliveryRequest.builder().playerUuid(player.getUuid()).kind(KIND).payload(payload).reference(order)
                    .onLost(DeliveryOnLost.RETRY).build();
            BigDecimal cost = BigDecimal.valueOf((long) price * amount);
            hub.client().economy().modifyExactly("player", player.getUuid().toString(), CURRENCY, cost.negate(), "shop " + order, order)
                    .thenCompose(paid -> hub.client().deliveries().create(delivery))
                    .whenComplete((made, failure) -> tell(player, failure == null
                            ? "<gray>You bought " + amount + " " + item + " for " + cost + " coins.</gray>"
                            : "<red>" + Markup.escape(HubException.of(failure).getMessage()) + "</red>"));
        });
    }

    /** /discard ITEM AMOUNT. */
    Command discard() {
        return command("discard", (player, item, amount) -> {
            Material material = Material.fromKey("minecraft:" + item);
            boolean isHere = hub.playerData().isOpen(player.getUuid());
            boolean isDone = isHere && material != null
                    && player.getInventory().takeItemStack(ItemStack.of(material, amount), TransactionOption.ALL_OR_NOTHING);
            tell(player, isDone ? "<gray>You threw " + amount + " " + item + " away.</gray>" : "<red>You have not that much.</red>");
        });
    }

    private interface Action {
        void run(Player player, String item, int amount);
    }

    private static Command command(String name, Action action) {
        Command command = new Command(name);
        Argument<String> item = ArgumentType.Word("item");
        Argument<Integer> amount = ArgumentType.Integer("amount").between(1, 64);
        command.addSyntax((CommandSender sender, net.minestom.server.command.builder.CommandContext context) -> {
            if (sender instanceof Player player) action.run(player, context.get(item), context.get(amount));
        }, item, amount);
        return command;
    }

    private static void tell(Player player, String text) {
        player.sendMessage(MinestomTexts.of(text));
    }
}
