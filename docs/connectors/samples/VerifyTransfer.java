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
 * <p>In a plugin, keep one verifier for as long as the server runs and hand it the fields of each TRANSFER event, and of
 * each SIGNING_SECRET_ROTATED event, as your JSON library reads them. As a program it takes the fields as arguments:
 *
 * <pre>java VerifyTransfer.java SECRET NOW_MS TRANSFER_ID PLAYER_UUID SERVER_ID WORLD_ID HOST PORT EXPIRES_AT SIGNATURE</pre>
 */
public final class VerifyTransfer {
    /** A command as the event carries it. targetWorldId may be null. */
    public record Command(
            String transferId, String playerUuid, String targetServerId, String targetWorldId,
            String host, int port, long expiresAt, String signature) {}

    /** The secrets that are good, each until a time. */
    private final Map<String, Long> secrets = new ConcurrentHashMap<>();
    /** Transfers that were acted upon, each until its command has expired. */
    private final Map<String, Long> seen = new ConcurrentHashMap<>();

    /** The secret of the register answer; its UTF-8 bytes are the key. */
    public VerifyTransfer(String signingSecret) {
        secrets.put(signingSecret, Long.MAX_VALUE);
    }

    /** Takes the new secret of a SIGNING_SECRET_ROTATED event; those before it are good until its validUntil. */
    public void rotated(String signingSecret, long validUntil) {
        secrets.replaceAll((old, until) -> Math.min(until, validUntil));
        secrets.put(signingSecret, Long.MAX_VALUE);
    }

    /** Why the command must not be obeyed; null if it may be. */
    public String refusal(Command command, long nowMs) throws GeneralSecurityException {
        String world = command.targetWorldId() == null ? "" : command.targetWorldId();
        String text = String.join(".", command.transferId(), command.playerUuid(), command.targetServerId(), world,
                command.host(), Integer.toString(command.port()), Long.toString(command.expiresAt()));
        secrets.values().removeIf(until -> until <= nowMs);
        // While the hub changes its secret a command carries several signatures; one that is right is enough.
        boolean right = false;
        for (String secret : secrets.keySet()) {
            byte[] expected = signature(secret, text).getBytes(StandardCharsets.UTF_8);
            for (String signature : command.signature().split(" ")) {
                // In constant time, so that a forger learns nothing from how long it takes.
                right |= MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8));
            }
        }
        if (!right) {
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

    private static String signature(String secret, String text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    }

    public static void main(String[] args) throws GeneralSecurityException {
        Command command = new Command(args[2], args[3], args[4], args[5], args[6], Integer.parseInt(args[7]),
                Long.parseLong(args[8]), args[9]);
        String refusal = new VerifyTransfer(args[0]).refusal(command, Long.parseLong(args[1]));
        System.out.println(refusal == null ? "ok" : refusal);
        System.exit(refusal == null ? 0 : 1);
    }
}
