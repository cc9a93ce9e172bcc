package networkhub.plugin;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.RetryPolicy;
import networkhub.model.BuildStamp;

/** The self-test, {@code /hub doctor}: everything that has to be right, and what to do about the rest. */
final class Doctor {
    static final String LINKS = "server's API";
    private static final long MAX_CLOCK_MS = 5_000;
    /** Precision to which the hub's clock is known. */
    static final long SLACK_MS = 1_000;

    private final Platform platform;
    private final Connection connection;

    /** @param connection null while there is no address or no key */
    Doctor(Platform platform, Connection connection) {
        this.platform = platform;
        this.connection = connection;
    }

    /** Completes with all findings within some seconds; never fails. */
    CompletableFuture<List<Finding>> run() {
        List<Finding> local = new ArrayList<>(List.of(links(), software()));
        local.addAll(platform.findings());
        if (connection == null) {
            local.add(Finding.problem("settings", "url and key are missing in " + platform.folder().resolve("config.properties")));
            return CompletableFuture.completedFuture(local);
        }
        local.addAll(services());
        HubClient client = connection.hub.client().withRetries(RetryPolicy.NONE);
        CompletableFuture<Finding> hub = answered(client.version().thenApply(Doctor::hub), "hub");
        CompletableFuture<Finding> key = answered(client.servers().list(null, null, null, 0, 1)
                .thenCompose(page -> binding(client)), "key");
        CompletableFuture<Finding> clock = answered(connection.hub.hubTime().thenApply(Doctor::clock), "clock");
        CompletableFuture<Finding> id = answered(id(client), "server-id");
        return CompletableFuture.allOf(hub, key, clock, id).thenApply(done -> {
            local.addAll(List.of(hub.join(), key.join(), clock.join(), id.join(), registration()));
            return local;
        });
    }

    private static CompletableFuture<Finding> answered(CompletableFuture<Finding> finding, String subject) {
        return finding.orTimeout(6, TimeUnit.SECONDS).exceptionally(failure -> failed(subject, HubException.of(failure)));
    }

    private static Finding failed(String subject, HubException error) {
        return switch (error.status()) {
            case 0 -> Finding.problem(subject, "not reachable: " + error.getMessage() + " Check url in config.properties.");
            case 401 -> Finding.problem(subject, "refused. Check key in config.properties; it may have been revoked.");
            case 403 -> Finding.problem(subject, error.getMessage() + (error.code().equals("forbidden_scope") ? " The key needs the scope plugin." : ""));
            default -> Finding.problem(subject, error.getMessage());
        };
    }

    private static Finding hub(BuildStamp build) {
        String own = HubPlugin.version();
        boolean isOlder = !own.equals("dev") && isOlder(build.version(), own);
        return isOlder
                ? Finding.note("hub", "version " + build.version() + ", older than this plugin (" + own + "): update the hub")
                : Finding.ok("hub", "version " + build.version());
    }

    static boolean isOlder(String version, String other) {
        int[] left = numbers(version);
        int[] right = numbers(other);
        return Arrays.compare(left, right) < 0;
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("[.+-]")).limit(3).mapToInt(part -> {
            String digits = part.replaceAll("\\D", "");
            return digits.isEmpty() ? 0 : Integer.parseInt(digits);
        }).toArray();
    }

    /** A key that is bound to other servers is refused only where a call names this one. */
    private CompletableFuture<Finding> binding(HubClient client) {
        String id = connection.config.serverId();
        return client.deliveries().ready(id, null).handle((found, failure) -> {
            boolean isForeign = failure != null && HubException.of(failure).code().equals("forbidden_origin");
            return isForeign
                    ? Finding.problem("key", HubException.of(failure).getMessage() + " Set server-id to one that it is bound to, or make a key for " + id + ".")
                    : Finding.ok("key", "accepted for " + id);
        });
    }

    private static Finding clock(long hubTime) {
        long difference = Math.abs(hubTime - System.currentTimeMillis());
        return difference > MAX_CLOCK_MS
                ? Finding.note("clock", "differs from the hub's by " + difference / 1_000 + " s: set the time on one of the machines")
                : Finding.ok("clock", "as the hub's");
    }

    /** Two servers with one id take turns at the hub; the later one finds it online already when it starts. */
    private CompletableFuture<Finding> id(HubClient client) {
        String id = connection.config.serverId();
        return client.servers().list(null, true, id, 0, 20).thenCombine(connection.hub.hubTime(), (page, hubTime) -> {
            long startedAt = connection.startedAt + hubTime - System.currentTimeMillis();
            boolean wasOnline = page.items().stream().filter(server -> server.serverId().equals(id) && server.live() != null)
                    .anyMatch(server -> server.live().startedAt() < startedAt - SLACK_MS);
            return wasOnline
                    ? Finding.note("server-id", id + " was online already when this server started: fine after a crash, else another server "
                            + "has the same id; each needs its own")
                    : Finding.ok("server-id", id);
        });
    }

    private Finding registration() {
        var status = connection.hub.status();
        String id = connection.config.serverId();
        if (status.isConnected()) return Finding.ok("server", "registered as " + id + ", events arrive");
        String error = status.lastError() == null ? "not connected yet" : status.lastError();
        return Finding.problem("server", id + ": " + error);
    }

    private static Finding links() {
        List<String> missing = Links.missing();
        if (missing == null) return Finding.note(LINKS, "not checked, because the plugin does not run from its jar");
        return missing.isEmpty()
                ? Finding.ok(LINKS, "has all that the plugin uses")
                : Finding.problem(LINKS, "lacks " + String.join("; ", missing) + ". Use a version that the plugin's page names.");
    }

    private Finding software() {
        return Finding.ok("software", platform.kind().title() + " " + platform.version() + " on Java " + Runtime.version().feature());
    }

    private List<Finding> services() {
        List<Finding> findings = new ArrayList<>();
        if (connection.observes()) findings.add(Finding.note("mode", "observe: nothing is changed"));
        findings.add(service("permissions", connection.hasPermissions, Neighbors.permissions(platform.plugins())));
        findings.add(service("punishments", connection.hasPunishments, Neighbors.punishments(platform.plugins())));
        if (Neighbors.has("Vault", platform.plugins())) {
            findings.add(service("economy", connection.purses != null, Neighbors.money(platform.plugins())));
        }
        if (Neighbors.has("PlaceholderAPI", platform.plugins())) {
            findings.add(service("placeholders", connection.hasPlaceholders, Optional.empty()));
        }
        if (connection.hasPlayerState()) {
            findings.add(Finding.ok("player data", String.join(", ", connection.config.playerData()) + " of the group " + connection.config.dataGroup()));
        }
        findings.add(Finding.ok("does", Arrays.stream(Capability.values()).filter(platform.kind()::can)
                .map(Capability::title).collect(Collectors.joining(", "))));
        String lacks = Arrays.stream(Capability.values()).filter(each -> !platform.kind().can(each))
                .map(Capability::title).collect(Collectors.joining(", "));
        findings.add(Finding.note("does not do on " + platform.kind().title(), lacks));
        return findings;
    }

    private Finding service(String name, boolean isOn, Optional<String> neighbor) {
        if (isOn) {
            return neighbor.isEmpty()
                    ? Finding.ok(name, "the hub's")
                    : Finding.note(name, "the hub's, although " + neighbor.get() + " is installed, too");
        }
        return Finding.note(name, neighbor.isEmpty()
                ? "off in config.properties or by mode=observe"
                : "left to " + neighbor.get() + "; " + name + "=on in config.properties takes them over");
    }
}
