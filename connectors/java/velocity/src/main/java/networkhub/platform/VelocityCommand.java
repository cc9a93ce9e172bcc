package networkhub.platform;

import com.velocitypowered.api.command.CommandSource;
import com.velocitypowered.api.command.SimpleCommand;
import com.velocitypowered.api.proxy.Player;
import java.util.List;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Sender;

/** A command on Velocity. Without the permission it goes to the player's server, which may have one of that name. */
record VelocityCommand(HubPlugin hub, HubCommand command) implements SimpleCommand {
    @Override
    public void execute(Invocation invocation) {
        command.run(sender(invocation.source()), invocation.arguments());
    }

    @Override
    public List<String> suggest(Invocation invocation) {
        return command.complete(sender(invocation.source()), invocation.arguments());
    }

    @Override
    public boolean hasPermission(Invocation invocation) {
        return command.isAllowed(sender(invocation.source()));
    }

    private Sender sender(CommandSource source) {
        if (source instanceof Player player) return hub.player(player.getUniqueId(), player.getUsername());
        return hub.console(text -> source.sendMessage(Components.of(text)));
    }
}
