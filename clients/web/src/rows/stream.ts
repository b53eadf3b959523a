import { RowsError } from "./error.js";
import { asRowsError, progressOf, type DecodeOptions } from "./decode.js";
import { checkLength, checkMagic, checksumBytes, magicBytes, schemaOf, uint32 } from "./format.js";
import { asStream } from "./given.js";
import { Input } from "./input.js";
import { machine } from "./kernels.js";
import type { Limits } from "./limits.js";
import { Rows, type AnyRow } from "./table.js";

/** Bytes that come in pieces, read in the lengths that are wanted. */
class Pieces {
    readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
    #piece: Uint8Array = new Uint8Array(0);
    #at = 0;
    /** How many bytes were read. */
    position = 0;

    constructor(stream: ReadableStream<Uint8Array>) {
        this.#reader = stream.getReader();
    }

    /** Whether there is another byte. */
    async #more(): Promise<boolean> {
        while (this.#at === this.#piece.length) {
            const { done, value } = await this.#reader.read();
            if (done) return false;
            if (!(value instanceof Uint8Array)) throw new RowsError("malformed", "the stream gives something else than bytes");
            this.#piece = value;
            this.#at = 0;
        }
        return true;
    }

    /** As many bytes, in memory of their own, in which they lie at a multiple of 8 if they do in the stream. */
    async take(length: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
        const before = this.position % 8;
        // Memory grows only with what is really there.
        let buffer = new Uint8Array(before + Math.min(length, 2 ** 20));
        let filled = 0;
        while (filled < length) {
            if (!(await this.#more())) {
                throw new RowsError("truncated", `the packed rows end too early, at byte ${this.position}: ${what} is missing`, this.position);
            }
            const part = this.#piece.subarray(this.#at, this.#at + Math.min(length - filled, this.#piece.length - this.#at));
            if (before + filled + part.length > buffer.length) {
                const larger = new Uint8Array(Math.min(before + length, 2 * (buffer.length + part.length)));
                larger.set(buffer);
                buffer = larger;
            }
            buffer.set(part, before + filled);
            filled += part.length;
            this.#at += part.length;
            this.position += part.length;
        }
        return buffer.subarray(before, before + length);
    }

    async count(what: string): Promise<number> {
        const from = this.position;
        const bytes: number[] = [];
        do {
            bytes.push((await this.take(1, what))[0]);
        } while (bytes[bytes.length - 1] > 127 && bytes.length < 10);
        return new Input(Uint8Array.from(bytes), from, 0).count(Number.MAX_SAFE_INTEGER, what);
    }

    /** The next part: what its checksum should be, its bytes, and where they begin. */
    async part(limits: Limits): Promise<{ sum: number; body: Uint8Array<ArrayBuffer>; origin: number }> {
        const length = await this.count("the length of a part");
        checkLength(length, limits);
        const sum = uint32(await this.take(checksumBytes, "the checksum of a part"), 0);
        const origin = this.position;
        return { sum, body: await this.take(length, "a part"), origin };
    }

    async isAtEnd(): Promise<boolean> {
        return !(await this.#more());
    }

    /** Lets the stream go; one that was not read to its end is cancelled. */
    async close(): Promise<void> {
        await this.#reader.cancel().catch(() => undefined);
        this.#reader.releaseLock();
    }
}

/**
 * The table that comes in a stream, such as `response.body`, chunk by chunk: each is a table of at most 65,536 rows,
 * decoded as soon as it is there. It takes memory for one chunk, not for the table; the limit on bytes is one on each
 * chunk, that on rows one on all. Whoever leaves the loop cancels the stream.
 *
 * Throws a `RowsError` as `decode` does, a `TypeError` if it is given no stream, and whatever the stream itself fails
 * with.
 */
export async function* decodeStream<Row = AnyRow>(stream: ReadableStream<Uint8Array>, options: DecodeOptions = {}): AsyncGenerator<Rows<Row>, void, undefined> {
    const progress = progressOf(options);
    const { limits } = progress;
    const pieces = new Pieces(asStream(stream));
    try {
        checkMagic(await pieces.take(magicBytes, "the beginning"));
        const schema = await pieces.part(limits);
        progress.begin(schemaOf(schema.sum, schema.body, schema.origin, limits));
        for (;;) {
            const { sum, body, origin } = await pieces.part(limits);
            let chunk;
            try {
                chunk = progress.chunk(sum, body, origin, { used: 0 });
            } catch (error) {
                throw asRowsError(error);
            } finally {
                machine().release();
            }
            if (chunk === undefined) break;
            yield new Rows(chunk.columns, chunk.count);
        }
        if (!(await pieces.isAtEnd())) {
            throw new RowsError("malformed", `the packed rows are damaged at byte ${pieces.position}: more bytes behind the end of the table`, pieces.position);
        }
    } finally {
        await pieces.close();
    }
}
