// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.command;

import java.util.List;

public interface InvocableCommand<I extends CommandInvocation<?>> extends Command {
    void execute(I invocation);

    default List<String> suggest(I invocation) {
        return List.of();
    }

    default boolean hasPermission(I invocation) {
        return true;
    }
}
