package tamtam.savina;

/** Everybody who is on the stage, the actor itself included. */
public interface Others<M> {
    /** Sends {@code message} to the actor at {@code position}, and does not wait. One that is lost is missed at the end. */
    void tell(int position, M message);
}
