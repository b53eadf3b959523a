// Where values end that lie one behind the other.

/** All values have one length, or each has its own end. */
export interface Ends {
    readonly count: number;
    /** The length of each, if it is one. */
    readonly width: number | undefined;
    /** Otherwise where each begins, and behind the last one where that ends. */
    readonly offsets: Uint32Array;
}

/** Which of several values each row holds, in as few bytes as their number allows. */
export type Codes = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Where a value begins, or the one before it ends. */
export function beginOf(ends: Ends, index: number): number {
    return ends.width === undefined ? ends.offsets[index] : ends.width * index;
}

/** The ends of values that lie one behind the other, `sizes` long each list. */
export function joinedEnds(parts: readonly Ends[], sizes: readonly number[]): Ends {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const { width } = parts[0];
    if (width !== undefined && parts.every((part) => part.width === width)) return { count, width, offsets: parts[0].offsets };
    const offsets = new Uint32Array(count + 1);
    let at = 0;
    let before = 0;
    parts.forEach((part, index) => {
        for (let value = 0; value < part.count; value++) offsets[at + value] = before + beginOf(part, value);
        at += part.count;
        before += sizes[index];
    });
    offsets[count] = before;
    return { count, width: undefined, offsets };
}

/** Which of all the values of several lists stands in which row, if a list says that of its own. */
export function joinedCodes(parts: readonly (readonly [Ends, Codes | undefined])[]): Codes | undefined {
    if (parts.every(([, codes]) => codes === undefined)) return undefined;
    const count = parts.reduce((sum, [ends, codes]) => sum + (codes?.length ?? ends.count), 0);
    const all = new Uint32Array(count);
    let at = 0;
    let before = 0;
    for (const [ends, codes] of parts) {
        const length = codes?.length ?? ends.count;
        for (let row = 0; row < length; row++) all[at + row] = before + (codes === undefined ? row : codes[row]);
        at += length;
        before += ends.count;
    }
    return all;
}
