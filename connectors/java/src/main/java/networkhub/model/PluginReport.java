package networkhub.model;

/**
 * A plugin that a server runs.
 *
 * @param name the plugin
 * @param version its version, or null
 * @param enabled whether it is on, or null
 */
public record PluginReport(
        String name, String version, Boolean enabled) {}
