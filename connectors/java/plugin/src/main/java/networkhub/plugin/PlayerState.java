package networkhub.plugin;

import java.util.List;
import networkhub.connector.PlayerDataHandler;

/** Parts of a player's state that move between servers, as a platform reads and writes them. */
public interface PlayerState extends PlayerDataHandler {
    /** Namespaces of the players' data at the hub that it is kept in. */
    List<String> namespaces();
}
