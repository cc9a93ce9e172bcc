import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies a TRANSFER event of the network hub. Java 17, nothing but the JDK.
 *
 * <p>In a plugin, keep one verifier for as long as the server runs and hand it the fields of each TRANSFER event as
 * your JSON library reads them. As a program it takes the fields as arguments:
 *
 * <pre>java VerifyTransfer.java SECRET NOW_MS TRANSFER_ID PLAYER_UUID SERVER_ID WORLD_ID HOST PORT EXPIRES_AT SIGNATURE</pre>
 */
public final class VerifyTransfer {
    /** A command as the event carries it. targetWorldId may be null. */
    public record Command(
            String transferId, String playerUuid, String targetServerId, String targetWorldId,
            String host, int port, long expiresAt, String signature) {}

    private final SecretKeySpec key;
    /** Transfers that were acted upon, each until its command has expired. */
    private final Map<String, Long> seen = new ConcurrentHashMap<>();

    /** The secret of the register answer; its UTF-8 bytes are the key. */
    public VerifyTransfer(String signingSecret) {
        key = new SecretKeySpec(signingSecret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
    }

    /** Why the command must not be obeyed; null if it may be. */
    public String refusal(Command command, long nowMs) throws GeneralSecurityException {
        String world = command.targetWorldId() == null ? "" : command.targetWorldId();
        String text = String.join(".", command.transferId(), command.playerUuid(), command.targetServerId(), world,
                command.host(), Integer.toString(command.port()), Long.toString(command.expiresAt()));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(key);
        byte[] digest = mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        String expected = "v1," + Base64.getEncoder().encodeToString(digest);
        // In constant time, so that a forger learns nothing from how long it takes.
        if (!MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8),
                command.signature().getBytes(StandardCharsets.UTF_8))) {
            return "the signature is wrong";
        }
        if (command.expiresAt() <= nowMs) {
            return "the command has expired";
        }
        seen.values().removeIf(until -> until <= nowMs);
        if (seen.putIfAbsent(command.transferId(), command.expiresAt()) != null) {
            return "the command was used already";
        }
        return null;
    }

    public static void main(String[] args) throws GeneralSecurityException {
        Command command = new Command(args[2], args[3], args[4], args[5], args[6], Integer.parseInt(args[7]),
                Long.parseLong(args[8]), args[9]);
        String refusal = new VerifyTransfer(args[0]).refusal(command, Long.parseLong(args[1]));
        System.out.println(refusal == null ? "ok" : refusal);
        System.exit(refusal == null ? 0 : 1);
    }
}
