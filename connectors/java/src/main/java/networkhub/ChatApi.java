package networkhub;

import java.util.concurrent.CompletableFuture;
import networkhub.model.ChatMessageInput;

/** The network's chat. */
public final class ChatApi {
    private final Transport transport;

    ChatApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Sends a line to every server, this one included: show it when it comes back as CHAT, because a filter may have rewritten
     * it. Fails with {@code chat_rejected} where a filter refuses it.
     */
    public CompletableFuture<Void> send(ChatMessageInput message) {
        return transport.run(Call.post("chat").body(message).keyed());
    }
}
