package networkhub.testing;

import static networkhub.Eventually.eventually;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Tests of the jar for a server software, with a hub that all tests of a class share. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class PlatformTest {
    protected Hub hub;

    @BeforeAll
    public void startHub() throws Exception {
        hub = new Hub();
    }

    @AfterAll
    public void stopHub() throws Exception {
        hub.close();
    }

    /** Runs a command on the console. The list grows by the lines that it prints. */
    protected abstract List<String> run(String command, String... arguments) throws Exception;

    /** Findings of the plugin's self-test. */
    protected String doctor() throws Exception {
        List<String> answers = run("hub", "doctor");
        eventually("the self-test is done", () -> answers.stream().anyMatch(line -> line.contains("server: ")));
        return String.join("\n", answers);
    }
}
