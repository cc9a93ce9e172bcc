// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.util;

public final class ProxyVersion {
    private final String version;

    public ProxyVersion(String name, String vendor, String version) {
        this.version = version;
    }

    public String getVersion() {
        return version;
    }
}
