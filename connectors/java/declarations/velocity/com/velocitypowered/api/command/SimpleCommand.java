// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.command;

public interface SimpleCommand extends InvocableCommand<SimpleCommand.Invocation> {
    interface Invocation extends CommandInvocation<String[]> {}
}
