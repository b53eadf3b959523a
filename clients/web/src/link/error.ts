/** What went wrong, in one word for programs. */
export type LinkErrorCode =
    /** No link could be opened. */
    | "connect"
    /** The link has ended. */
    | "ended"
    /** There was no answer in time. */
    | "timed-out"
    /** The page has given the question up, by its signal. */
    | "cancelled"
    /** The actor's window is used up, or its mailbox is full. */
    | "full"
    /** The message takes more bytes than the link carries at once. */
    | "too-large"
    /** The actor has stopped. */
    | "stopped"
    /** The reply was dropped unanswered. */
    | "unanswered"
    /** The actor has refused to answer, for the reason that the message says. */
    | "refused"
    /** The handler of the actor panicked. */
    | "panicked"
    /** The handler of the actor did not come back. */
    | "hung"
    /** The message, or its answer, is of another type than the one that reads it has. */
    | "not-decodable"
    /** The message, or its answer, cannot be written. */
    | "not-encodable"
    /** The method that was called has answered with a fault: `fault` says which. */
    | "fault"
    /** The address was released, or the reply was used. */
    | "used"
    /** What the other side has sent is nothing that a link sends. */
    | "protocol"
    /** What else an actor behind the one that was asked says. */
    | "other";

/** How far a question had got: it was surely not begun, or it was, or that cannot be known. */
export type Fate = "not begun" | "begun" | "unknown";

/** The one error of a link: its message says what happened, to what, and what helps; `code` is for programs. */
export class LinkError extends Error {
    readonly code: LinkErrorCode;
    /** How far the question, or the message, had got. */
    readonly fate: Fate;
    /** Of a method's fault its code, such as `Sums.TooLarge`, and what else it says for programs. */
    readonly fault: { readonly code: unknown; readonly detail?: unknown } | undefined;

    constructor(code: LinkErrorCode, message: string, fate: Fate = "not begun", fault?: { readonly code: unknown; readonly detail?: unknown }) {
        super(message);
        this.name = "LinkError";
        this.code = code;
        this.fate = fate;
        this.fault = fault;
    }
}
