package networkhub.model;

import java.util.Map;

/**
 * Where to upload a snapshot.
 *
 * @param url the address
 * @param method the method
 * @param headers to be sent along
 * @param blobKey names the upload
 * @param expiresAt until when the address is good, in milliseconds since the epoch
 */
public record UploadUrl(
        String url, String method, Map<String, String> headers, String blobKey, long expiresAt) {}
