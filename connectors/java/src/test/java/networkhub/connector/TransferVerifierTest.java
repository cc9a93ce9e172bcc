package networkhub.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import networkhub.model.SignedTransferCommand;
import org.junit.jupiter.api.Test;

class TransferVerifierTest {
    private TransferVerifier verifier = new TransferVerifier();

    private SignedTransferCommand command(long expiresAt, String... secrets) {
        UUID id = UUID.randomUUID();
        UUID player = UUID.randomUUID();
        String text = String.join(".", id.toString(), player.toString(), "lobby", "", "10.0.0.1", "25565", Long.toString(expiresAt));
        StringBuilder signatures = new StringBuilder();
        for (String secret : secrets) signatures.append(' ').append(TransferVerifier.sign(secret, text));
        return new SignedTransferCommand(expiresAt, "10.0.0.1", 0, player, 25565, "lobby", null, id, signatures.toString().trim());
    }

    @Test
    void aCommandIsGoodOnce() {
        verifier.setSecret("old", 0);
        SignedTransferCommand command = command(100, "old");
        assertNull(verifier.refusal(command, 50));
        assertEquals("the command was used already", verifier.refusal(command, 50));
        assertEquals("the command has expired", verifier.refusal(command(100, "old"), 100));
        assertEquals("the signature is wrong", verifier.refusal(command(100, "other"), 50));
        assertEquals("the signature is wrong", verifier.refusal(command(100), 50));
        SignedTransferCommand moved = command(100, "old");
        assertEquals("the signature is wrong", verifier.refusal(new SignedTransferCommand(100, "evil.example", 0,
                moved.playerUuid(), 25565, moved.targetServerId(), null, moved.transferId(), moved.signature()), 50));
    }

    @Test
    void whileTheSecretChangesEitherIsGood() {
        verifier.setSecret("old", 0);
        // Before it has heard of the new one.
        assertNull(verifier.refusal(command(5_000, "new", "old"), 50));
        verifier.rotate("new", 1_000);
        assertNull(verifier.refusal(command(5_000, "new", "old"), 60));
        assertNull(verifier.refusal(command(5_000, "old"), 60));
        assertEquals("the signature is wrong", verifier.refusal(command(5_000, "old"), 1_000));
        assertNull(verifier.refusal(command(5_000, "new"), 1_000));
        // The same secret again, as each registration brings it, changes nothing.
        verifier.setSecret("new", 2_000);
        assertNull(verifier.refusal(command(50_000, "new"), 40_000));
    }

    private List<Boolean> good(long now, String... secrets) {
        return Stream.of(secrets).map(secret -> verifier.refusal(command(900_000, secret), now) == null).toList();
    }

    @Test
    void aChangeThatIsToldBeforeARegistrationsAnswerIsNewer() {
        verifier.registering();
        verifier.rotate("newer", 10_000);
        verifier.rotate("newest", 20_000);
        verifier.setSecret("old", 0);
        assertEquals(List.of(true, true, true), good(9_999, "old", "newer", "newest"));
        assertEquals(List.of(false, false, true), good(20_000, "old", "newer", "newest"));
        // The next answer is newer than what was told before it was asked for.
        verifier.registering();
        verifier.setSecret("later", 30_000);
        assertEquals(List.of(false, true), good(60_000, "newest", "later"));
        verifier = new TransferVerifier();
        verifier.rotate("told", 10_000);
        verifier.setSecret("answered", 20_000);
        assertEquals(List.of(false, true), good(50_000, "told", "answered"));
    }
}
