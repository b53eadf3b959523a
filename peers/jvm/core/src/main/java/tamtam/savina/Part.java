package tamtam.savina;

/** What one actor does: the state that a contender puts into each of its actors. */
public interface Part<M> {
    /** Handles a message. */
    void handle(M message, Others<M> others);
}
