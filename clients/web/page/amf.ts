// AMF remoting in version 0: a call out of JSON, and values out of an answer, of AMF0 as this server writes it.

/** A packet with one call. AMF has arguments by their places alone. */
export function amfCall(method: string, args: readonly unknown[]): Uint8Array<ArrayBuffer> {
    const out = new Writer();
    out.u16(0).u16(0).u16(1).text(method).text("/1").u32(0xffff_ffff);
    out.value([...args]);
    return out.bytes();
}

class Writer {
    readonly #bytes: number[] = [];

    bytes(): Uint8Array<ArrayBuffer> {
        return Uint8Array.from(this.#bytes);
    }

    u8(value: number): this {
        this.#bytes.push(value);
        return this;
    }

    u16(value: number): this {
        return this.u8((value >>> 8) & 255).u8(value & 255);
    }

    u32(value: number): this {
        return this.u16(value >>> 16).u16(value & 0xffff);
    }

    #put(bytes: Uint8Array): void {
        for (const byte of bytes) this.#bytes.push(byte);
    }

    text(text: string): this {
        const bytes = new TextEncoder().encode(text);
        if (bytes.length > 0xffff) throw new Error("a name is longer than AMF has names");
        this.u16(bytes.length).#put(bytes);
        return this;
    }

    value(value: unknown): void {
        if (value === null || value === undefined) this.u8(5);
        else if (typeof value === "boolean") this.u8(1).u8(value ? 1 : 0);
        else if (typeof value === "number") {
            const bytes = new DataView(new ArrayBuffer(8));
            bytes.setFloat64(0, value);
            this.u8(0).#put(new Uint8Array(bytes.buffer));
        } else if (typeof value === "string") {
            const bytes = new TextEncoder().encode(value);
            if (bytes.length > 0xffff) this.u8(12).u32(bytes.length).#put(bytes);
            else this.u8(2).u16(bytes.length).#put(bytes);
        } else if (Array.isArray(value)) {
            this.u8(10).u32(value.length);
            for (const item of value) this.value(item);
        } else {
            this.u8(3);
            for (const [name, member] of Object.entries(value)) this.text(name).value(member);
            this.u16(0).u8(9);
        }
    }
}

/** The value of an answer, or the fault that it is. */
export function amfAnswer(bytes: ArrayBuffer): { value: unknown } | { fault: unknown } {
    const input = new Reader(bytes);
    input.u16();
    for (let headers = input.u16(); headers > 0; headers--) {
        input.text(input.u16());
        input.u8();
        input.u32();
        input.value(0);
    }
    if (input.u16() === 0) throw new Error("the packet has no answer");
    const target = input.text(input.u16());
    input.text(input.u16());
    input.u32();
    const value = input.value(0);
    return target.endsWith("/onStatus") ? { fault: value } : { value: recordSet(value) ?? value };
}

/** The rows of a RecordSet: its columns have names, its rows have places. */
function recordSet(value: unknown): unknown[] | undefined {
    const info = (value as { serverInfo?: { columnNames?: unknown; initialData?: unknown } } | null)?.serverInfo;
    const { columnNames: names, initialData: rows } = info ?? {};
    if (!Array.isArray(names) || !Array.isArray(rows)) return undefined;
    return rows.map((row: unknown[]) => Object.fromEntries(names.map((name: string, column) => [name, row[column]])));
}

const MOST_DEPTH = 100;

class Reader {
    readonly #view: DataView<ArrayBuffer>;
    #at = 0;
    readonly #complex: unknown[] = [];

    constructor(bytes: ArrayBuffer) {
        this.#view = new DataView(bytes);
    }

    #take(length: number): number {
        const at = this.#at;
        if (at + length > this.#view.byteLength) throw new Error("the packet is cut off");
        this.#at += length;
        return at;
    }

    u8(): number {
        return this.#view.getUint8(this.#take(1));
    }

    u16(): number {
        return this.#view.getUint16(this.#take(2));
    }

    u32(): number {
        return this.#view.getUint32(this.#take(4));
    }

    text(length: number): string {
        return new TextDecoder().decode(new Uint8Array(this.#view.buffer, this.#take(length), length));
    }

    #members(into: Record<string, unknown>, depth: number): Record<string, unknown> {
        for (;;) {
            const name = this.text(this.u16());
            if (name === "" && this.#view.getUint8(this.#at) === 9) {
                this.u8();
                return into;
            }
            Object.defineProperty(into, name, { value: this.value(depth + 1), enumerable: true, configurable: true, writable: true });
        }
    }

    #known<Kind>(value: Kind): Kind {
        this.#complex.push(value);
        return value;
    }

    value(depth: number): unknown {
        if (depth > MOST_DEPTH) throw new Error("the answer is nested too deeply");
        const marker = this.u8();
        switch (marker) {
            case 0:
                return this.#view.getFloat64(this.#take(8));
            case 1:
                return this.u8() !== 0;
            case 2:
                return this.text(this.u16());
            case 3:
                return this.#members(this.#known({}), depth);
            case 5:
                return null;
            case 6:
                return undefined;
            case 7:
                return this.#complex[this.u16()];
            case 8:
                this.u32();
                return this.#members(this.#known({}), depth);
            case 10: {
                const length = this.u32();
                if (length > this.#view.byteLength) throw new Error("a list is longer than the packet");
                const list: unknown[] = this.#known([]);
                for (let index = 0; index < length; index++) list.push(this.value(depth + 1));
                return list;
            }
            case 11: {
                const time = this.#view.getFloat64(this.#take(8));
                this.u16();
                return new Date(time);
            }
            case 12:
            case 15:
                return this.text(this.u32());
            case 16:
                this.text(this.u16());
                return this.#members(this.#known({}), depth);
            default:
                throw new Error(`the answer has a value of kind ${marker}, which this page does not read`);
        }
    }
}
