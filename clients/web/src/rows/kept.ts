import type { Machine } from "./kernels.js";

/** What is kept of a chunk's columns, out of the machine's memory: one piece of memory for many, since each costs time. */
export class Kept {
    buffer: ArrayBuffer;
    #top = 0;

    /** `bytes` is what all columns may take together; if they take more, so be it. */
    constructor(bytes: number) {
        this.buffer = new ArrayBuffer(bytes);
    }

    /** Copies bytes into `buffer`, which may be another one then, and says where they begin: at a multiple of 8. */
    copy(machine: Machine, address: number, bytes: number): number {
        if (this.#top + bytes > this.buffer.byteLength) {
            this.buffer = new ArrayBuffer(bytes);
            this.#top = 0;
        }
        const from = this.#top;
        new Uint8Array(this.buffer, from, bytes).set(machine.bytes.subarray(address, address + bytes));
        this.#top = (from + bytes + 7) & ~7;
        return from;
    }
}
