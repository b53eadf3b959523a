// Errors of a page's own functions that a link calls.

/** As an error that was caught nowhere. */
export function report(error: unknown): void {
    const { reportError } = globalThis as { reportError?: (error: unknown) => void };
    if (reportError === undefined) console.error(error);
    else reportError(error);
}
