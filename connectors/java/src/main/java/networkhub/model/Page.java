package networkhub.model;

import java.util.List;

/**
 * A page of a list.
 *
 * @param <T> what is listed
 * @param items what is on the page
 * @param page its number, from 0
 * @param limit how many fit on it
 * @param total how many there are on all pages
 */
public record Page<T>(List<T> items, int page, int limit, int total) {}
