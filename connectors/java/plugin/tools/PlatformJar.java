import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Makes the jar of a server software: {@code java PlatformJar.java NAME VERSION OUTPUT LINKS FOLDER…}.
 *
 * <p>Classes of the folders go from the package {@code networkhub} to {@code networkhub.NAME}, because some servers let plugins see each
 * other's classes. The members of the server's API that they use are compared with the reviewed list LINKS and put beside {@code Links}.
 * Fails if a class is not the project's own, or not for Java 17. With {@code RECORD_LINKS} in the environment LINKS is written.
 */
final class PlatformJar {
    private static final int JAVA_17 = 61;
    private static final Pattern OWN = Pattern.compile("(^|\\[L|L)networkhub/");
    /** Classes that every server and its Java bring along. */
    private static final Pattern PROVIDED = Pattern.compile("(\\[+L?)?(java|javax|com/google/gson)/.*|\\[+[ZBCSIJFD]");
    private static final Pattern REFERENCE =
            Pattern.compile("(Methodref|InterfaceMethodref|Fieldref)\\s+\\S+\\s+// (\\S+)\\.\"?([^\\s\"]+?)\"?:(\\S+)$");
    private static final Pattern CLASS = Pattern.compile("= Class\\s+\\S+\\s+// (\\S+)$");
    private static final Pattern STATIC = Pattern.compile(
            "(?:invokestatic|getstatic|putstatic)\\s.*// (?:Method|InterfaceMethod|Field) (\\S+)$|REF_invokeStatic (\\S+)$");

    private final String name;
    private final Map<String, byte[]> entries = new TreeMap<>();
    private final Set<String> links = new TreeSet<>();
    /** True if the class that was relocated last refers to others than the project's own and those that are always there. */
    private boolean isLinked;

    private PlatformJar(String name) {
        this.name = name;
    }

    public static void main(String[] arguments) throws IOException {
        PlatformJar jar = new PlatformJar(arguments[0]);
        Path expected = Path.of(arguments[3]);
        for (int i = 4; i < arguments.length; i++) jar.add(Path.of(arguments[i]), arguments[1]);
        List<String> lines = new ArrayList<>(jar.links);
        if (System.getenv("RECORD_LINKS") != null) Files.write(expected, lines);
        if (!lines.equals(Files.readAllLines(expected))) {
            Files.write(Path.of(arguments[2] + ".links"), lines);
            throw new IllegalStateException("the members of the server's API that are used are not those of " + expected
                    + "; compare " + arguments[2] + ".links, and set RECORD_LINKS to accept them");
        }
        jar.entries.put("networkhub/" + jar.name + "/plugin/links.txt", text(lines));
        jar.write(Path.of(arguments[2]), arguments[1]);
    }

    private static byte[] text(List<String> lines) {
        return (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private void add(Path folder, String version) throws IOException {
        List<Path> files;
        try (var walk = Files.walk(folder)) {
            files = walk.filter(Files::isRegularFile).sorted().toList();
        }
        List<Path> classes = new ArrayList<>();
        for (Path file : files) {
            String entry = folder.relativize(file).toString().replace('\\', '/');
            byte[] content = Files.readAllBytes(file);
            if (entry.endsWith(".class")) {
                if (!entry.startsWith("networkhub/")) throw new IllegalStateException(entry + " is not the project's own");
                byte[] relocated = relocate(entry, content);
                if (isLinked) classes.add(file);
                content = relocated;
            } else if (entry.endsWith(".yml") || entry.endsWith(".json")) {
                content = new String(content, StandardCharsets.UTF_8).replace("@VERSION@", version).getBytes(StandardCharsets.UTF_8);
            }
            entries.put(moved(entry), content);
        }
        findLinks(classes);
    }

    private String moved(String name) {
        return OWN.matcher(name).replaceAll("$1networkhub/" + this.name + "/");
    }

    /** Only the texts of the constant pool name classes; all else refers to them by index. */
    private byte[] relocate(String entry, byte[] content) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(content));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(in.readInt());
        out.writeShort(in.readUnsignedShort());
        int version = in.readUnsignedShort();
        if (version > JAVA_17) throw new IllegalStateException(entry + " is not for Java 17");
        out.writeShort(version);
        int count = in.readUnsignedShort();
        out.writeShort(count);
        String[] texts = new String[count];
        List<Integer> classes = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            if (tag == 1) {
                texts[i] = in.readUTF();
                out.writeUTF(moved(texts[i]));
            } else if (tag == 7) {
                classes.add(in.readUnsignedShort());
                out.writeShort(classes.get(classes.size() - 1));
            } else {
                out.write(in.readNBytes(switch (tag) {
                    case 3, 4, 9, 10, 11, 12, 17, 18 -> 4;
                    case 5, 6 -> 8;
                    case 8, 16, 19, 20 -> 2;
                    case 15 -> 3;
                    default -> throw new IllegalStateException(entry + " has a constant of kind " + tag);
                }));
                // A long and a double take two places.
                if (tag == 5 || tag == 6) i++;
            }
        }
        in.transferTo(out);
        isLinked = classes.stream().anyMatch(index -> isForeign(texts[index]));
        return bytes.toByteArray();
    }

    private void findLinks(List<Path> classes) {
        if (classes.isEmpty()) return;
        List<String> command = new ArrayList<>(List.of("-v", "-p"));
        classes.forEach(file -> command.add(file.toString()));
        StringWriter printed = new StringWriter();
        PrintWriter out = new PrintWriter(printed);
        ToolProvider javap = ToolProvider.findFirst("javap").orElseThrow();
        if (javap.run(out, out, command.toArray(String[]::new)) != 0) throw new IllegalStateException(printed.toString());
        List<String> lines = printed.toString().lines().toList();
        Set<String> statics = new TreeSet<>();
        for (String line : lines) {
            Matcher found = STATIC.matcher(line);
            if (found.find()) statics.add((found.group(1) != null ? found.group(1) : found.group(2)).replace("\"", ""));
        }
        for (String line : lines) {
            Matcher found = REFERENCE.matcher(line);
            if (found.find() && isForeign(found.group(2))) {
                String member = found.group(2) + "." + found.group(3) + ":" + found.group(4);
                String kind = (statics.contains(member) ? "static-" : "") + switch (found.group(1)) {
                    case "Fieldref" -> "field";
                    case "Methodref" -> "method";
                    default -> "interface";
                };
                links.add(String.join(" ", kind, found.group(2), found.group(3), found.group(4)));
            }
            found = CLASS.matcher(line);
            if (found.find() && isForeign(found.group(1))) {
                links.add("class " + found.group(1).replaceAll("\"|^\\[+L|;$", ""));
            }
        }
    }

    private static boolean isForeign(String owner) {
        String name = owner.replace("\"", "");
        return !PROVIDED.matcher(name).matches() && !OWN.matcher(name).find();
    }

    private void write(Path output, String version) throws IOException {
        byte[] manifest = ("Manifest-Version: 1.0\r\nAutomatic-Module-Name: networkhub." + name + "\r\nImplementation-Title: network-hub-" + name
                + "\r\nImplementation-Version: " + version + "\r\n\r\n").getBytes(StandardCharsets.UTF_8);
        try (OutputStream file = Files.newOutputStream(output); ZipOutputStream zip = new ZipOutputStream(file)) {
            put(zip, "META-INF/MANIFEST.MF", manifest);
            for (var entry : entries.entrySet()) put(zip, entry.getKey(), entry.getValue());
        }
    }

    /** The dates are fixed, so that the same sources make the same files. */
    private static void put(ZipOutputStream zip, String name, byte[] content) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setTimeLocal(LocalDateTime.of(2026, 1, 1, 0, 0));
        zip.putNextEntry(entry);
        zip.write(content);
        zip.closeEntry();
    }
}
