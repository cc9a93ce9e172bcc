package networkhub.model;

/**
 * What a world is made from, as the node understands it.
 *
 * @param ref a reference, such as a template's name
 * @param format the reference's format
 * @param x a position, or null
 * @param y a position, or null
 * @param z a position, or null
 */
public record WorldSeed(
        String ref, String format, Double x, Double y, Double z) {}
