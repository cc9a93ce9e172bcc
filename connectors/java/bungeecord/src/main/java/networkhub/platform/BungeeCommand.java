package networkhub.platform;

import net.md_5.bungee.api.CommandSender;
import net.md_5.bungee.api.connection.ProxiedPlayer;
import net.md_5.bungee.api.plugin.Command;
import net.md_5.bungee.api.plugin.TabExecutor;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Sender;

/** A command on BungeeCord. */
final class BungeeCommand extends Command implements TabExecutor {
    private final HubPlugin hub;
    private final HubCommand command;

    BungeeCommand(HubPlugin hub, HubCommand command) {
        super(command.name());
        this.hub = hub;
        this.command = command;
    }

    @Override
    public boolean hasPermission(CommandSender sender) {
        return command.isAllowed(sender(sender));
    }

    @Override
    public void execute(CommandSender sender, String[] arguments) {
        command.run(sender(sender), arguments);
    }

    @Override
    public Iterable<String> onTabComplete(CommandSender sender, String[] arguments) {
        return command.complete(sender(sender), arguments);
    }

    private Sender sender(CommandSender sender) {
        if (sender instanceof ProxiedPlayer player) return hub.player(player.getUniqueId(), player.getName());
        return hub.console(text -> sender.sendMessage(BungeeTexts.of(text)));
    }
}
