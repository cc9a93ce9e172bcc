// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * What this hub was built from.
 *
 * @param build How many commits lie behind this build.
 * @param buildTime When the commit was made, ISO 8601.
 * @param commit The commit's short hash.
 * @param dev Whether the tree had changes that no commit holds.
 */
public record BuildStamp(
        long build, String buildTime, String commit, String component, boolean dev, String version) {}
