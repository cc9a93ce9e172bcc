package networkhub.connector;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import networkhub.model.SignedTransferCommand;

/**
 * Verifies transfer commands: at the server a player is on (the connector does it), and at one that is handed a command. Keep one
 * for as long as the server runs: it remembers which commands were used. Thread-safe.
 */
public final class TransferVerifier {
    /** Lifetime of commands; one that was signed just before a change of the secret may still arrive. */
    private static final long COMMAND_TTL_MS = 30_000;

    /** The secrets that are good, each until a time. */
    private final Map<String, Long> secrets = new ConcurrentHashMap<>();
    /** The transfers that were carried out, each until its command has expired. */
    private final Map<UUID, Long> used = new ConcurrentHashMap<>();
    /** While a registration is under way: the end of the secrets before the changes that were told since. */
    private Long replacedUntil;

    /** Begins a registration: a change of the secret that is told before its answer is newer than the answer. */
    public synchronized void registering() {
        replacedUntil = Long.MAX_VALUE;
    }

    /** Takes the secret of an answer to a registration. Another one than before replaces it, after 30 seconds. */
    public synchronized void setSecret(String signingSecret, long nowMs) {
        Long until = replacedUntil;
        replacedUntil = null;
        if (until != null && until < Long.MAX_VALUE) {
            secrets.putIfAbsent(signingSecret, until);
        } else if (!Long.valueOf(Long.MAX_VALUE).equals(secrets.get(signingSecret))) {
            rotate(signingSecret, nowMs + COMMAND_TTL_MS);
        }
    }

    /** Takes the new secret of SIGNING_SECRET_ROTATED; those before it are good until {@code validUntil}, in milliseconds. */
    public synchronized void rotate(String signingSecret, long validUntil) {
        secrets.replaceAll((old, until) -> Math.min(until, validUntil));
        secrets.put(signingSecret, Long.MAX_VALUE);
        if (replacedUntil != null) replacedUntil = Math.min(replacedUntil, validUntil);
    }

    /**
     * Returns the reason to refuse a command; null if it may be obeyed, and then it counts as used.
     *
     * @param nowMs the time by the hub's clock, in milliseconds since the epoch
     */
    public String refusal(SignedTransferCommand command, long nowMs) {
        secrets.values().removeIf(until -> until <= nowMs);
        used.values().removeIf(until -> until <= nowMs);
        if (!isSigned(command)) return "the signature is wrong";
        if (command.expiresAt() <= nowMs) return "the command has expired";
        if (used.putIfAbsent(command.transferId(), command.expiresAt()) != null) return "the command was used already";
        return null;
    }

    /** While the secret changes a command carries several signatures; one that is right is enough. */
    private boolean isSigned(SignedTransferCommand command) {
        String world = command.targetWorldId() == null ? "" : command.targetWorldId();
        String text = String.join(".", command.transferId().toString(), command.playerUuid().toString(), command.targetServerId(),
                world, command.host(), Integer.toString(command.port()), Long.toString(command.expiresAt()));
        String signatures = command.signature() == null ? "" : command.signature();
        boolean right = false;
        for (String secret : secrets.keySet()) {
            byte[] expected = sign(secret, text).getBytes(StandardCharsets.UTF_8);
            for (String signature : signatures.split(" ")) {
                // In constant time, so that a forger learns nothing from how long it takes.
                right |= MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8));
            }
        }
        return right;
    }

    static String sign(String secret, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has HmacSHA256", impossible);
        }
    }
}
