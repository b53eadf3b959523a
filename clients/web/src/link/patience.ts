// How long a page waits for an answer.

import { LinkError, type Fate } from "./error.js";

/** The most milliseconds that a timer can have; one with more would be over at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** How a question is asked. */
export interface AskOptions {
    /** Milliseconds that the answer may take; any time, as by `Infinity`, unless it is said. */
    readonly timeout?: number;
    /** Gives the question up. */
    readonly signal?: AbortSignal;
}

/** Waits for an answer; `giveUp` is called when the time is over, or the page has given the question up. `fate` says how far it had got then. */
export async function within<Answer>(options: AskOptions, answered: Promise<Answer>, giveUp: (error: LinkError) => void, fate: () => Fate): Promise<Answer> {
    const { timeout, signal } = options;
    const stop = after(timeout ?? Infinity, () => giveUp(new LinkError("timed-out", `there was no answer within ${timeout} ms`, fate())));
    const cancelled = (): void => giveUp(new LinkError("cancelled", "the page has given the question up", fate()));
    if (signal?.aborted === true) cancelled();
    signal?.addEventListener("abort", cancelled, { once: true });
    try {
        return await answered;
    } finally {
        stop();
        signal?.removeEventListener("abort", cancelled);
    }
}

/** Calls this after so many milliseconds, however many they are, and never after `Infinity`; what it returns gives that up. */
export function after(milliseconds: number, call: () => void): () => void {
    if (milliseconds === Infinity) return () => {};
    const then = milliseconds > LONGEST_TIMER ? (): void => void (stop = after(milliseconds - LONGEST_TIMER, call)) : call;
    const timer = setTimeout(then, Math.min(milliseconds, LONGEST_TIMER));
    let stop = (): void => clearTimeout(timer);
    return () => stop();
}
