package networkhub.model;

import java.util.List;

/**
 * Documents in an order.
 *
 * @param items the documents
 * @param nextCursor where the next page begins; null at the end
 */
public record DocumentPage(
        List<StoredDocument> items, String nextCursor) {}
