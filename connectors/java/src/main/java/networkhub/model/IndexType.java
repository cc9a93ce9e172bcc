package networkhub.model;

/** What an index holds. The names are as on the wire. */
public enum IndexType {
    /** Texts. */
    string,
    /** Numbers. */
    number,
    /** Truth values. */
    bool
}
