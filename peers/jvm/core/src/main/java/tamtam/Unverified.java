package tamtam;

/** Why a round has no figure. */
public final class Unverified extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public Unverified(String reason) {
        super(reason);
    }
}
