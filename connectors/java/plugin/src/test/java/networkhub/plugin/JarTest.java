package networkhub.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** The jars hold what they should and nothing else. */
class JarTest {
    private static final List<String> PLATFORMS = List.of("velocity", "bungeecord", "paper");

    private static Path jar(String platform) throws Exception {
        try (var files = Files.list(Path.of("build"))) {
            return files.filter(file -> file.getFileName().toString().matches("network-hub-" + platform + "-\\d.*\\.jar")).findFirst().orElseThrow();
        }
    }

    @Test
    void jarsHaveOnlyTheirOwnClassesForJava17() throws Exception {
        for (String platform : PLATFORMS) checkContent(platform);
    }

    private static void checkContent(String platform) throws Exception {
        try (ZipFile file = new ZipFile(jar(platform).toFile())) {
            for (ZipEntry entry : file.stream().toList()) {
                if (!entry.getName().endsWith(".class")) continue;
                assertTrue(entry.getName().startsWith("networkhub/" + platform + "/"), entry.getName());
                try (InputStream in = file.getInputStream(entry)) {
                    byte[] head = in.readNBytes(8);
                    assertEquals(61, head[7], entry.getName() + " is for Java 17");
                }
            }
            assertNotNull(file.getEntry("LICENSE"));
            String name = switch (platform) {
                case "velocity" -> "velocity-plugin.json";
                case "bungeecord" -> "bungee.yml";
                default -> "plugin.yml";
            };
            String descriptor = new String(file.getInputStream(file.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(!descriptor.contains("@VERSION@"), descriptor);
            String main = descriptor.replaceAll("(?s).*\"?main\"?: \"?([\\w.]+).*", "$1");
            assertNotNull(file.getEntry(main.replace('.', '/') + ".class"), main);
        }
    }

    /** On a server whose API lacks everything, all members are named. */
    @Test
    void missingMembersAreNamed() throws Exception {
        for (String platform : PLATFORMS) checkLinks(platform);
    }

    private static void checkLinks(String platform) throws Exception {
        URL gson = Gson.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader bare = new URLClassLoader(new URL[] {jar(platform).toUri().toURL(), gson}, ClassLoader.getPlatformClassLoader())) {
            Class<?> links = bare.loadClass("networkhub." + platform + ".plugin.Links");
            List<?> missing = (List<?>) links.getMethod("missing").invoke(null);
            // Those of plugins that are not installed are not needed.
            assertEquals(Files.readAllLines(Path.of(platform, "links.txt")).stream()
                    .filter(line -> !line.contains("net/milkbowl/") && !line.contains("me/clip/")).toList(), missing);
        }
    }
}
