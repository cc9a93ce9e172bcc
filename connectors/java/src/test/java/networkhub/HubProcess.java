package networkhub;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A hub of its own in a folder of its own: the program that {@code HUB_BINARY} names, on a port that stays the same. */
public final class HubProcess implements AutoCloseable {
    private static final Path BINARY = Path.of(System.getenv().getOrDefault("HUB_BINARY", "hub"));

    private final Path folder;
    public final int port;
    /** A key of the network's owner. */
    public final String key;
    private Process process;

    public HubProcess() throws IOException, InterruptedException {
        folder = Files.createTempDirectory("hub-connector-test");
        port = freePort();
        key = operate("admin", "network", "create", "tests").get("apiKey").getAsString();
        start();
    }

    /** A command of the hub's operator; it works on the data of the hub that is running. */
    public JsonObject operate(String... command) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of("--json", "--data", folder.toString()));
        Process operator = run(arguments.toArray(String[]::new));
        String answer = new String(operator.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (operator.waitFor() != 0) throw new IOException("hub " + String.join(" ", command) + " failed: " + answer);
        return JsonParser.parseString(answer).getAsJsonObject();
    }

    /** A port below those that systems give to connections, any of which could take it before a program listens. */
    static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return free.getLocalPort();
            } catch (IOException taken) {
                // Another one is tried.
            }
        }
    }

    private Process run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(BINARY.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().put("HUB_LOG", "warn");
        return builder.redirectError(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile())).start();
    }

    public void start() throws IOException {
        process = run("serve", "--listen", "127.0.0.1:" + port, "--data", folder.toString());
        int line = process.inputReader().read();
        if (line < 0) throw new IOException("the hub did not start: " + Files.readString(folder.resolve("log")));
    }

    /** Without a chance to clean up, as by kill -9. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    public String url() {
        return "http://127.0.0.1:" + port;
    }

    public HubClient client() {
        return HubClient.create(url(), key);
    }

    /** A call of the owner's. */
    public JsonObject manage(String method, String path, Map<String, Object> body) {
        JsonElement answer = client().call(method, path, HubClient.gson().toJsonTree(body)).join();
        return answer == null ? new JsonObject() : answer.getAsJsonObject();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(60, TimeUnit.SECONDS)) kill();
        try (var files = Files.walk(folder)) {
            files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }
}
