package networkhub.plugin;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The members of the server's API that the jar uses, as its file {@code links.txt} beside this class lists them. Resolving all of them
 * at the start names what an unusual version lacks, before a player meets it.
 */
public final class Links {
    /** Classes of other plugins, which may not be installed: where the first one is absent, so are all. */
    private static final List<String> OPTIONAL =
            List.of("net.milkbowl.vault.economy.Economy", "me.clip.placeholderapi.expansion.PlaceholderExpansion");

    private Links() {}

    /** The members that this server lacks; null where the plugin does not run from its jar. */
    public static List<String> missing() {
        ClassLoader loader = Links.class.getClassLoader();
        try (InputStream file = Links.class.getResourceAsStream("links.txt")) {
            if (file == null) return null;
            BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8));
            List<String> missing = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank() && !isUnneeded(line, loader) && !isThere(line.split(" "), loader)) missing.add(line);
            }
            return missing;
        } catch (IOException failure) {
            return List.of("the list itself: " + failure.getMessage());
        }
    }

    private static boolean isUnneeded(String line, ClassLoader loader) {
        for (String name : OPTIONAL) {
            String owner = name.replaceFirst("^(\\w+)\\.(\\w+)\\..*", "$1/$2/");
            if (line.contains(owner) && !isThere(new String[] {"class", name}, loader)) return true;
        }
        return false;
    }

    /** The words of a line: kind, owner, name and descriptor; or `class` and a name. */
    private static boolean isThere(String[] words, ClassLoader loader) {
        try {
            Class<?> owner = Class.forName(words[1].replace('/', '.'), false, loader);
            if (words[0].equals("class")) return true;
            boolean isStatic = words[0].startsWith("static");
            boolean isMethod = words[3].startsWith("(");
            if (isMethod && owner.isInterface() != words[0].endsWith("interface")) return false;
            return isMethod
                    ? hasMethod(owner, words[2], MethodType.fromMethodDescriptorString(words[3], loader), isStatic)
                    : hasField(owner, words[2], words[3], isStatic);
        } catch (ReflectiveOperationException | LinkageError | TypeNotPresentException absent) {
            return false;
        }
    }

    private static boolean hasMethod(Class<?> owner, String name, MethodType type, boolean isStatic) {
        Class<?>[] parameters = type.parameterArray();
        if (name.equals("<init>")) {
            return Arrays.stream(owner.getDeclaredConstructors()).anyMatch(each -> Arrays.equals(each.getParameterTypes(), parameters));
        }
        for (Class<?> each = owner; each != null; each = each.getSuperclass()) {
            if (Arrays.stream(each.getDeclaredMethods()).anyMatch(method -> is(method, name, type, isStatic))) return true;
        }
        return Arrays.stream(owner.getMethods()).anyMatch(method -> is(method, name, type, isStatic))
                || owner.isInterface() && Arrays.stream(Object.class.getMethods()).anyMatch(method -> is(method, name, type, isStatic));
    }

    private static boolean is(Method method, String name, MethodType type, boolean isStatic) {
        return method.getName().equals(name) && method.getReturnType() == type.returnType()
                && Arrays.equals(method.getParameterTypes(), type.parameterArray())
                && Modifier.isStatic(method.getModifiers()) == isStatic;
    }

    private static boolean hasField(Class<?> owner, String name, String descriptor, boolean isStatic) {
        try {
            var field = owner.getField(name);
            return field.getType().descriptorString().equals(descriptor) && Modifier.isStatic(field.getModifiers()) == isStatic;
        } catch (NoSuchFieldException absent) {
            return false;
        }
    }
}
