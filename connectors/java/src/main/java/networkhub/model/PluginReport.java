// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.Objects;

/**
 * A plugin that runs on a server.
 *
 * @param enabled Whether it is switched on.
 * @param name Its name.
 * @param version Its version.
 */
public record PluginReport(
        Boolean enabled, String name, String version) {
    /** Returns an empty builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets the fields of a {@link PluginReport}; name must be set. */
    public static final class Builder {
        private Boolean enabled;
        private String name;
        private String version;

        private Builder() {}

        /** Whether it is switched on. */
        public Builder enabled(Boolean enabled) {
            this.enabled = enabled;
            return this;
        }

        /** Its name. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** Its version. */
        public Builder version(String version) {
            this.version = version;
            return this;
        }

        /** Returns the {@link PluginReport}. */
        public PluginReport build() {
            return new PluginReport(enabled, Objects.requireNonNull(name, "name"), version);
        }
    }
}
