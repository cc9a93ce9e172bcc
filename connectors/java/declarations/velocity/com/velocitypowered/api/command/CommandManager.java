// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.command;

import java.util.concurrent.CompletableFuture;

public interface CommandManager {
    CommandMeta.Builder metaBuilder(String name);

    void register(CommandMeta meta, Command command);

    CompletableFuture<Boolean> executeAsync(CommandSource source, String command);
}
