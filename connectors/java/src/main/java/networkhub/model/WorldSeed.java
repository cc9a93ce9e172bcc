// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * What a new world is made from; handed to the node as it was sent.
 *
 * @param format What {@code ref} is written in.
 * @param ref What to begin with, such as a template's name or a URL.
 * @param x Where in the world it goes.
 */
public record WorldSeed(
        String format, String ref, Double x, Double y, Double z) {}
