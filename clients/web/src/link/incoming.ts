// Frames out of bytes that come cut anywhere.

import { protocol } from "./bytes.js";
import { LENGTH } from "./frame.js";

/** The longest frame that this side takes, in bytes without the length. */
export const LONGEST_FRAME = 16 << 20;

/** What has come and is no whole frame yet. */
export class Incoming {
    readonly #pieces: Uint8Array[] = [];
    #length = 0;

    /** Takes bytes in. */
    push(bytes: Uint8Array): void {
        this.#pieces.push(bytes);
        this.#length += bytes.length;
    }

    /** The next frame, without its length, if it is whole. */
    next(): Uint8Array | undefined {
        const length = this.#head();
        if (length === undefined) {
            if (this.#length === 0) this.#pieces.length = 0;
            return undefined;
        }
        if (length > LONGEST_FRAME) throw protocol(`a frame of ${length} bytes, and this side takes ${LONGEST_FRAME} at most`);
        if (this.#length < LENGTH + length) return undefined;
        // Read at once where no frame is cut; copied together only when one is whole.
        const all = this.#joined();
        this.#keep(all.subarray(LENGTH + length));
        return all.subarray(LENGTH, LENGTH + length);
    }

    /** The length of the frame that comes next, if that much of it is there. */
    #head(): number | undefined {
        if (this.#length < LENGTH) return undefined;
        let [first] = this.#pieces;
        if (first === undefined) return undefined;
        if (first.length < LENGTH) {
            first = this.#joined();
            this.#keep(first);
        }
        return new DataView(first.buffer, first.byteOffset).getUint32(0, true);
    }

    #joined(): Uint8Array {
        const [first] = this.#pieces;
        return this.#pieces.length === 1 && first !== undefined ? first : join(this.#pieces, this.#length);
    }

    #keep(rest: Uint8Array): void {
        this.#pieces.splice(0, this.#pieces.length, rest);
        this.#length = rest.length;
    }
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
    const all = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
    }
    return all;
}
