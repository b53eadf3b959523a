/** How large a table a decoder may make: what is declared is checked before memory is taken for it. */
export interface Limits {
    /** The bytes of the decoded columns in memory. */
    readonly bytes: number;
    /** The rows. */
    readonly rows: number;
    /** The columns. */
    readonly columns: number;
}

/** 256 MiB, 10 million rows, 10,000 columns. */
export const defaultLimits: Limits = { bytes: 2 ** 28, rows: 10_000_000, columns: 10_000 };
