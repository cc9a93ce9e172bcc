package networkhub.model;

import java.util.List;

/**
 * Documents that were asked for by id.
 *
 * @param items those that exist
 * @param rest ids whose documents did not fit; ask for them again
 */
public record DocumentBatch(
        List<StoredDocument> items, List<String> rest) {}
