// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import com.google.gson.annotations.SerializedName;

/** What an index holds: the documents whose field is of this type. */
public enum IndexType {
    @SerializedName("string")
    STRING,
    @SerializedName("number")
    NUMBER,
    @SerializedName("bool")
    BOOL,
    /** A value that is newer than this library. */
    UNKNOWN
}
