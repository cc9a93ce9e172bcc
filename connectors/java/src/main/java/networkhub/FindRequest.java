package networkhub;

import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * What a player wants to play. Made by one of the four ways to look, then refined:
 *
 * <pre>{@code FindRequest.serverOfType("bedwars").player(uuid, name).party(friends)}</pre>
 */
public final class FindRequest {
    private UUID playerUuid;
    private String playerName;
    private String serverType;
    private String worldType;
    private String serverId;
    private String worldId;
    private String region;
    private String affinityGameId;
    private String affinityOwnerScope;
    private String affinityOwnerId;
    private Boolean directJoin;
    private Boolean worldMatchmaking;
    private List<UUID> party;

    private FindRequest() {}

    /** The best server of a type. */
    public static FindRequest serverOfType(String serverType) {
        FindRequest request = new FindRequest();
        request.serverType = serverType;
        return request;
    }

    /** The best world of a type on servers of a type. */
    public static FindRequest worldOfType(String serverType, String worldType) {
        FindRequest request = serverOfType(serverType);
        request.worldType = worldType;
        request.worldMatchmaking = true;
        return request;
    }

    /** This server, if it can be joined. */
    public static FindRequest server(String serverId) {
        FindRequest request = new FindRequest();
        request.serverId = serverId;
        request.directJoin = true;
        return request;
    }

    /** This world of a server, if it can be joined. */
    public static FindRequest world(String serverId, String worldId) {
        FindRequest request = server(serverId);
        request.worldId = worldId;
        return request;
    }

    /** Who looks: their current server is skipped, and their region is used where none is given. */
    public FindRequest player(UUID player, String name) {
        this.playerUuid = player;
        this.playerName = name;
        return this;
    }

    /** Who comes along, up to 16 with the player: all of them get a slot in one place, or none does. */
    public FindRequest party(Collection<UUID> players) {
        this.party = List.copyOf(players);
        return this;
    }

    /** Near this region, such as {@code EUROPE}. */
    public FindRequest region(String region) {
        this.region = region;
        return this;
    }

    /** Where an owner's world is up already, if it is. */
    public FindRequest nearWorldOf(String gameId, String ownerScope, String ownerId) {
        this.affinityGameId = gameId;
        this.affinityOwnerScope = ownerScope;
        this.affinityOwnerId = ownerId;
        return this;
    }
}
