package networkhub.plugin;

import java.util.List;
import networkhub.connector.PlayerDataHandler;

/** What of a player moves with them between servers, as a platform reads and writes it. */
public interface PlayerState extends PlayerDataHandler {
    /** Namespaces of the players' data at the hub that it is kept in. */
    List<String> namespaces();
}
