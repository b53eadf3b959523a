// How long a page waits for an answer.

import { LinkError, type Fate } from "./error.js";

/** How a question is asked. */
export interface AskOptions {
    /** Milliseconds that the answer may take; any time unless it is said. */
    readonly timeout?: number;
    /** Gives the question up. */
    readonly signal?: AbortSignal;
}

/** Waits for an answer; `giveUp` is called when the time is over, or the page has given the question up. `fate` says how far it had got then. */
export async function within<Answer>(options: AskOptions, answered: Promise<Answer>, giveUp: (error: LinkError) => void, fate: () => Fate): Promise<Answer> {
    const { timeout, signal } = options;
    const timer =
        timeout === undefined ? undefined : setTimeout(() => giveUp(new LinkError("timed-out", `there was no answer within ${timeout} ms`, fate())), timeout);
    const cancelled = (): void => giveUp(new LinkError("cancelled", "the page has given the question up", fate()));
    if (signal?.aborted === true) cancelled();
    signal?.addEventListener("abort", cancelled, { once: true });
    try {
        return await answered;
    } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancelled);
    }
}
