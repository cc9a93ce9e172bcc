package networkhub;

import java.util.UUID;
import networkhub.model.MatchRequest;
import networkhub.model.NamePunishmentRequest;
import networkhub.model.AddressPunishmentRequest;
import networkhub.model.PermissionNodeInput;
import networkhub.model.PunishmentKind;
import networkhub.model.PunishmentRemoval;
import networkhub.model.PunishmentRequest;
import networkhub.model.ServerRegistration;
import networkhub.model.WorldRequest;

/** The requests that tests make often. */
public final class Requests {
    private Requests() {}

    public static ServerRegistration.Builder server(String id, String type) {
        return ServerRegistration.builder().serverId(id).serverType(type).port(25565).host("10.0.0.1");
    }

    public static MatchRequest.Builder match(String serverType, UUID player, String name) {
        return MatchRequest.builder().serverType(serverType).playerUuid(player).playerName(name);
    }

    public static WorldRequest.Builder world(String game, UUID player) {
        return WorldRequest.builder().gameId(game).ownerScope("player").ownerId(player.toString());
    }

    public static PunishmentRequest punishment(PunishmentKind type, UUID player, String name, String reason) {
        return PunishmentRequest.builder().type(type).playerUuid(player).playerName(name).reason(reason).build();
    }

    public static AddressPunishmentRequest ban(String address) {
        return AddressPunishmentRequest.builder().type(PunishmentKind.BAN).ipAddress(address).build();
    }

    public static NamePunishmentRequest banName(String name) {
        return NamePunishmentRequest.builder().type(PunishmentKind.BAN).playerName(name).reason("name").build();
    }

    public static PunishmentRemoval removal(long id) {
        return PunishmentRemoval.builder().punishmentId(id).actorName("Admin").reason("sorry").build();
    }

    public static PermissionNodeInput allow(String node) {
        return PermissionNodeInput.builder().node(node).value(true).build();
    }
}
