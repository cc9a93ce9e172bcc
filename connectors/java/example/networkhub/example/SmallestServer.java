package networkhub.example;

import java.util.UUID;
import networkhub.HubClient;
import networkhub.model.ServerRegistration;
import networkhub.connector.GameServer;
import networkhub.connector.HubConnector;
import networkhub.model.ChatMessage;
import networkhub.model.Punishment;
import networkhub.model.SignedTransferCommand;

public final class SmallestServer implements GameServer {
    public static void main(String[] arguments) throws InterruptedException {
        HubClient client = HubClient.create(System.getenv("HUB_URL"), System.getenv("HUB_KEY"));
        ServerRegistration info = ServerRegistration.builder()
                .serverId("my-first-server")
                .serverType("lobby")
                .port(25565)
                .maxPlayers(20)
                .build();
        HubConnector hub = HubConnector.builder(client, info, new SmallestServer()).connector();
        hub.start();
        while (!hub.status().isConnected()) Thread.sleep(100);
        hub.playerJoined(UUID.fromString("069a79f4-44e9-4726-a5be-fca90e38aaf5"), "Notch");
        Thread.currentThread().join();
    }

    @Override
    public void runOnMainThread(Runnable task) {
        task.run(); // A real server: hand it to the scheduler.
    }

    @Override
    public void transferPlayer(UUID player, SignedTransferCommand command) {
        System.out.println("send " + player + " to " + command.host() + ":" + command.port());
    }

    @Override
    public void kickPlayer(UUID player, Punishment reason) {
        System.out.println("kick " + player + ": " + reason.reason());
    }

    @Override
    public void showChat(ChatMessage message) {
        System.out.println("<" + message.playerName() + "> " + message.message());
    }

    @Override
    public String runCommand(String command) {
        return "you said " + command;
    }
}
