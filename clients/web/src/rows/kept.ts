import type { Machine } from "./kernels.js";

/**
 * Sizes of which Chromium's allocator lays six and more in a span of pages. Of 4 or 8 KiB it lays four or two, and when
 * a garbage collection has freed some tens of them it gives most spans back to the system: each next one is then paid
 * with page faults, a fifth of what a table of a thousand rows takes.
 */
const roomy = [5120, 6144, 10240] as const;

function sizeFor(bytes: number): number {
    return bytes > 3072 ? (roomy.find((size) => bytes <= size) ?? bytes) : bytes;
}

const none = new ArrayBuffer(0);
const nothing = new Uint8Array(none);

/** What is kept of a chunk's columns, out of the machine's memory: one piece of memory for many, since each costs time. */
export class Kept {
    /** Made when the first column needs it: a plain one is read where it is. */
    buffer: ArrayBuffer = none;
    /** All of it: to look at memory in another way costs as much as to copy a short column. */
    #all: Uint8Array<ArrayBuffer> = nothing;
    #top = 0;
    #bytes: number;

    /** `bytes` is what all columns may take together; if they take more, so be it. */
    constructor(bytes: number) {
        this.#bytes = bytes;
    }

    /** Memory for that many bytes where others were, if that is about as large; new memory otherwise. */
    static instead(others: Kept | undefined, bytes: number): Kept {
        const size = others === undefined ? 0 : others.buffer.byteLength;
        // Not what is many times as large, which would never be let go. What was transferred away has no bytes.
        if (others === undefined || size < bytes || size > 4 * bytes + 4096) return new Kept(bytes);
        others.#top = 0;
        others.#bytes = bytes;
        return others;
    }

    /** Copies bytes into `buffer`, which may be another one then, and says where they begin: at a multiple of 8. */
    copy(machine: Machine, address: number, bytes: number): number {
        const isNew = this.buffer === none;
        if (isNew || this.#top + bytes > this.buffer.byteLength) {
            this.buffer = new ArrayBuffer(sizeFor(isNew ? Math.max(this.#bytes, bytes) : bytes));
            this.#all = new Uint8Array(this.buffer);
            this.#top = 0;
        }
        const from = this.#top;
        this.#all.set(machine.bytes.subarray(address, address + bytes), from);
        this.#top = (from + bytes + 7) & ~7;
        return from;
    }
}
