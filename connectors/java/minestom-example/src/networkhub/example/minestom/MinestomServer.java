package networkhub.example.minestom;

import java.nio.file.Path;
import net.minestom.server.Auth;
import net.minestom.server.MinecraftServer;
import net.minestom.server.instance.InstanceContainer;
import net.minestom.server.instance.block.Block;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;

/**
 * A game server of a network: a field of grass, chat, commands, a shop. Its settings are in {@code config.properties} of its folder, as those
 * of the jars. It trusts everybody's name and listens on this machine only.
 */
public final class MinestomServer {
    private MinestomServer() {}

    /** Starts it; the arguments are its folder, its port and the maximum number of players. */
    public static void main(String[] arguments) {
        // Read when Minestom's classes are loaded: players come from other servers of the network.
        System.setProperty("minestom.accept-transfers", "true");
        int port = Integer.parseInt(arguments[1]);
        MinecraftServer server = MinecraftServer.init(new Auth.Offline());
        InstanceContainer field = MinecraftServer.getInstanceManager().createInstanceContainer();
        field.setGenerator(chunk -> chunk.modifier().fillHeight(38, 40, Block.GRASS_BLOCK));

        MinestomPlatform platform = new MinestomPlatform(Path.of(arguments[0]), port, Integer.parseInt(arguments[2]));
        HubPlugin hub = new HubPlugin(platform);
        new MinestomListener(hub, platform, field).register(MinecraftServer.getGlobalEventHandler());
        hub.start();
        for (HubCommand command : hub.commands()) MinecraftServer.getCommandManager().register(new MinestomCommand(hub, command));
        // Minestom alone would say nothing at all.
        MinecraftServer.getCommandManager().setUnknownCommandCallback((sender, typed) ->
                sender.sendMessage("Unknown command: /" + typed));
        MinecraftServer.getCommandManager().register(platform.shop().buy(), platform.shop().discard());
        server.start("127.0.0.1", port);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            hub.stop();
            MinecraftServer.stopCleanly();
        }));
        System.out.println("listening on " + port);
    }
}
