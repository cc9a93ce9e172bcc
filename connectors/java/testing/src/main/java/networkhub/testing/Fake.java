package networkhub.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;

/** Objects of a server's API that do what a test's object with methods of the same names does. */
public final class Fake {
    private Fake() {}

    /** An object of an interface; what the handler lacks fails with its name. */
    public static <T> T of(Class<T> type, Object handler) {
        InvocationHandler calls = (proxy, method, arguments) -> {
            Object[] given = arguments == null ? new Object[0] : arguments;
            Method found = find(handler, method.getName(), given);
            if (found != null) {
                try {
                    found.setAccessible(true);
                    return found.invoke(handler, given);
                } catch (InvocationTargetException thrown) {
                    throw thrown.getCause();
                }
            }
            return switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == given[0];
                case "toString" -> type.getSimpleName();
                default -> {
                    if (!method.isDefault()) throw new UnsupportedOperationException(type.getSimpleName() + "." + method.getName());
                    yield InvocationHandler.invokeDefault(proxy, method, given);
                }
            };
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    private static Method find(Object handler, String name, Object[] arguments) {
        return Arrays.stream(handler.getClass().getDeclaredMethods())
                .filter(method -> method.getName().equals(name) && fits(method.getParameterTypes(), arguments))
                .findFirst().orElse(null);
    }

    private static boolean fits(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length) return false;
        for (int i = 0; i < types.length; i++) {
            if (!types[i].isPrimitive() && arguments[i] != null && !types[i].isInstance(arguments[i])) return false;
        }
        return true;
    }
}
