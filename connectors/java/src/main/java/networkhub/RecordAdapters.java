package networkhub;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import com.google.gson.TypeAdapter;
import com.google.gson.TypeAdapterFactory;
import com.google.gson.annotations.SerializedName;
import com.google.gson.reflect.TypeToken;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes records, which the Gson of older game servers cannot. Unknown fields are ignored; absent lists and maps
 * are empty, absent numbers 0. A value that an enum lacks is its {@code UNKNOWN}.
 */
final class RecordAdapters implements TypeAdapterFactory {
    @Override
    public <T> TypeAdapter<T> create(Gson gson, TypeToken<T> type) {
        @SuppressWarnings("unchecked")
        Class<T> raw = (Class<T>) type.getRawType();
        return raw.isRecord() ? new RecordAdapter<>(gson, raw) : null;
    }

    /** A component with its place in the constructor. */
    private record Component(int index, RecordComponent component, TypeAdapter<Object> adapter) {}

    private static final class RecordAdapter<T> extends TypeAdapter<T> {
        private final Map<String, Component> components = new LinkedHashMap<>();
        private final Constructor<T> constructor;
        private final Object[] absent;

        @SuppressWarnings("unchecked")
        RecordAdapter(Gson gson, Class<T> type) {
            RecordComponent[] parts = type.getRecordComponents();
            Class<?>[] types = Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
            absent = Arrays.stream(types).map(RecordAdapter::absentValue).toArray();
            for (int i = 0; i < parts.length; i++) {
                TypeAdapter<?> adapter = gson.getAdapter(TypeToken.get(parts[i].getGenericType()));
                components.put(wireName(parts[i]), new Component(i, parts[i], (TypeAdapter<Object>) adapter));
            }
            try {
                constructor = type.getDeclaredConstructor(types);
                constructor.setAccessible(true);
            } catch (NoSuchMethodException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        private static String wireName(RecordComponent component) {
            SerializedName name = component.getAccessor().getAnnotation(SerializedName.class);
            return name == null ? component.getName() : name.value();
        }

        private static Object absentValue(Class<?> type) {
            if (type == List.class) return List.of();
            if (type == Map.class) return Map.of();
            if (type == boolean.class) return false;
            if (type == int.class) return 0;
            if (type == long.class) return 0L;
            return type == double.class ? 0.0 : null;
        }

        @Override
        public T read(JsonReader in) throws IOException {
            if (in.peek() == JsonToken.NULL) {
                in.nextNull();
                return null;
            }
            Object[] values = absent.clone();
            in.beginObject();
            while (in.hasNext()) {
                Component component = components.get(in.nextName());
                Object value = null;
                if (component == null) {
                    in.skipValue();
                } else {
                    boolean isNull = in.peek() == JsonToken.NULL;
                    value = component.adapter.read(in);
                    if (value == null && !isNull) value = unknown(component.component.getType());
                }
                if (value != null) values[component.index] = value;
            }
            in.endObject();
            try {
                return constructor.newInstance(values);
            } catch (InstantiationException | IllegalAccessException | InvocationTargetException failure) {
                throw new JsonParseException(failure);
            }
        }

        /** Returns the {@code UNKNOWN} of an enum, which stands for values of newer hubs. */
        private static Object unknown(Class<?> type) {
            if (!type.isEnum()) return null;
            return Arrays.stream(type.getEnumConstants())
                    .filter(constant -> ((Enum<?>) constant).name().equals("UNKNOWN"))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public void write(JsonWriter out, T value) throws IOException {
            if (value == null) {
                out.nullValue();
                return;
            }
            out.beginObject();
            for (Map.Entry<String, Component> entry : components.entrySet()) {
                out.name(entry.getKey());
                entry.getValue().adapter.write(out, get(entry.getValue().component, value));
            }
            out.endObject();
        }

        private static Object get(RecordComponent component, Object value) {
            try {
                component.getAccessor().setAccessible(true);
                return component.getAccessor().invoke(value);
            } catch (IllegalAccessException | InvocationTargetException failure) {
                throw new JsonParseException(failure);
            }
        }
    }
}
