package networkhub.platform;

import java.util.List;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Sender;
import org.bukkit.command.Command;
import org.bukkit.command.CommandSender;
import org.bukkit.entity.Player;

/** A command on Paper. It is registered in code, because which ones there are depends on the other plugins. */
final class PaperCommand extends Command {
    private final HubPlugin hub;
    private final HubCommand command;

    PaperCommand(HubPlugin hub, HubCommand command) {
        super(command.name());
        this.hub = hub;
        this.command = command;
    }

    @Override
    public boolean execute(CommandSender sender, String label, String[] arguments) {
        command.run(sender(sender), arguments);
        return true;
    }

    @Override
    public List<String> tabComplete(CommandSender sender, String alias, String[] arguments) {
        return command.complete(sender(sender), arguments);
    }

    @Override
    public boolean testPermissionSilent(CommandSender sender) {
        return command.isAllowed(sender(sender));
    }

    private Sender sender(CommandSender sender) {
        if (sender instanceof Player player) return hub.player(player.getUniqueId(), player.getName());
        return hub.console(text -> sender.sendMessage(Components.of(text)));
    }
}
