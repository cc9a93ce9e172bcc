package networkhub;

import java.time.Duration;
import java.util.UUID;
import networkhub.model.PunishmentType;

/**
 * A punishment to be made. Who is punished is one of: a player, a name (for those who were never seen), an address.
 *
 * <pre>{@code PunishmentRequest.of(PunishmentType.MUTE, "spam").duration(Duration.ofHours(1)).issuer(admin, "Admin")}</pre>
 */
public final class PunishmentRequest {
    private final PunishmentType type;
    private final String reason;
    private Long durationMs;
    private Boolean ipBased;
    private UUID issuerUuid;
    private String issuerName;

    private PunishmentRequest(PunishmentType type, String reason) {
        this.type = type;
        this.reason = reason;
    }

    /** A permanent one of this kind; the reason may be null. */
    public static PunishmentRequest of(PunishmentType type, String reason) {
        return new PunishmentRequest(type, reason);
    }

    /** How long it lasts. */
    public PunishmentRequest duration(Duration duration) {
        this.durationMs = duration.toMillis();
        return this;
    }

    /** It also covers the address the player has now, and those they are seen with later. */
    public PunishmentRequest ipBased() {
        this.ipBased = true;
        return this;
    }

    /** Who punishes; either may be null. */
    public PunishmentRequest issuer(UUID uuid, String name) {
        this.issuerUuid = uuid;
        this.issuerName = name;
        return this;
    }
}
