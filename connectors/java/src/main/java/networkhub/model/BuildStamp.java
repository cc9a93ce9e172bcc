package networkhub.model;

/**
 * The build of a hub.
 *
 * @param component {@code hub}
 * @param version the release
 * @param build the number of commits behind it
 * @param commit the short hash of its commit
 * @param buildTime when it was built, as the hub writes it
 * @param dev whether it is no release
 */
public record BuildStamp(
        String component, String version, long build, String commit, String buildTime, boolean dev) {}
