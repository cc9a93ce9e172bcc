// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.proxy.server;

import net.kyori.adventure.text.Component;

public final class ServerPing {
    private final Component description;
    private final int online;
    private final int maximum;

    private ServerPing(Component description, int online, int maximum) {
        this.description = description;
        this.online = online;
        this.maximum = maximum;
    }

    public Component getDescriptionComponent() {
        return description;
    }

    public Builder asBuilder() {
        return builder().description(description).onlinePlayers(online).maximumPlayers(maximum);
    }

    public static Builder builder() {
        return new Builder();
    }

    public static final class Builder {
        private Component description;
        private int online;
        private int maximum;

        private Builder() {}

        public Builder description(Component description) {
            this.description = description;
            return this;
        }

        public Builder onlinePlayers(int online) {
            this.online = online;
            return this;
        }

        public Builder maximumPlayers(int maximum) {
            this.maximum = maximum;
            return this;
        }

        public int getOnlinePlayers() {
            return online;
        }

        public int getMaximumPlayers() {
            return maximum;
        }

        public ServerPing build() {
            return new ServerPing(description, online, maximum);
        }
    }
}
