// What errors say.

/** What an error says, in words for people; it may be whatever a function has thrown. */
export function reason(error: unknown): string {
    try {
        return String(error instanceof Error ? error.message : error);
    } catch {
        return "what was thrown cannot be said in words";
    }
}
