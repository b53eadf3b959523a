/** What is wrong with bytes that do not decode to a table, in one word for programs. */
export type RowsErrorCode =
    /** The bytes end where more must follow. */
    | "truncated"
    /** The bytes are no packed rows, or contradict themselves. */
    | "malformed"
    /** They were changed on their way. */
    | "checksum"
    /** A later version of the format. */
    | "version"
    /** More rows, columns or bytes than the limits allow. */
    | "limit"
    /** The table has other columns than were asked for. */
    | "schema"
    /** A value that JavaScript's numbers cannot hold was asked for as a number. */
    | "inexact";

/** The one error of this package: its message says what happened, to what, and what helps; `code` is for programs. */
export class RowsError extends Error {
    readonly code: RowsErrorCode;
    /** Where in the encoded bytes, as near as can be said; none where it is not about bytes. */
    readonly at: number | undefined;

    constructor(code: RowsErrorCode, message: string, at?: number) {
        super(message);
        this.name = "RowsError";
        this.code = code;
        this.at = at;
    }
}
