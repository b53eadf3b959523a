// The bytes of an answer in AMF, read one after the other; whatever is wrong is an error that says where.

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A text of ASCII with up to so many letters is made faster letter by letter. */
const LETTER_BY_LETTER = 24;

/** An object whose form only its class knows. Nothing says where it ends, so that nothing behind it is read. */
export class Unread {
    constructor(
        readonly className: string,
        /** How many bytes of the answer come behind its class. */
        readonly following: number,
    ) {}

    toString(): string {
        const bytes = `${this.following.toLocaleString("en")} ${this.following === 1 ? "byte follows" : "bytes follow"}`;
        return `an object of the class ${this.className}, which only the program that has this class knows how to read; ${bytes}`;
    }
}

/** What says that a part of a value was the last. */
export const LAST = Symbol("last");

export class Input {
    /** Where reading has ended before the end, if it has. */
    unread: Unread | undefined;
    readonly #bytes: Uint8Array<ArrayBuffer>;
    readonly #view: DataView<ArrayBuffer>;
    #at = 0;

    constructor(bytes: ArrayBuffer) {
        this.#bytes = new Uint8Array(bytes);
        this.#view = new DataView(bytes);
    }

    /** Where the next byte is. */
    get at(): number {
        return this.#at;
    }

    /** How many bytes are left. */
    get left(): number {
        return this.#bytes.length - this.#at;
    }

    error(what: string, at = this.#at): Error {
        return new Error(`the answer is not the AMF that this page reads: at byte ${at}: ${what}`);
    }

    /** Throws where values are too deep within each other. */
    checkDepth(depth: number): void {
        if (depth > MOST_DEPTH) throw this.error(`values are more than ${MOST_DEPTH} levels within each other`);
    }

    #take(length: number): number {
        const at = this.#at;
        if (length > this.left) throw this.error(`it is cut off: ${length} bytes are to come, and ${this.left} are left`);
        this.#at += length;
        return at;
    }

    u8(): number {
        return this.#bytes[this.#take(1)];
    }

    /** The next byte, which stays where it is; nothing at the end. */
    peek(): number | undefined {
        return this.#bytes[this.#at];
    }

    u16(): number {
        return this.#view.getUint16(this.#take(2));
    }

    u32(): number {
        return this.#view.getUint32(this.#take(4));
    }

    i32(): number {
        return this.#view.getInt32(this.#take(4));
    }

    f64(): number {
        return this.#view.getFloat64(this.#take(8));
    }

    /** 29 bits in one to four bytes, as AMF3 has them. */
    u29(): number {
        let number = 0;
        for (let byte = 0; byte < 3; byte++) {
            const next = this.u8();
            number = (number << 7) | (next & 0x7f);
            if (next < 0x80) return number;
        }
        return (number << 8) | this.u8();
    }

    text(length: number): string {
        const begin = this.#take(length);
        const bytes = this.#bytes;
        if (length <= LETTER_BY_LETTER) {
            let text = "";
            let at = begin;
            for (; at < this.#at && bytes[at] < 0x80; at++) text += String.fromCharCode(bytes[at]);
            if (at === this.#at) return text;
        }
        return decoder.decode(bytes.subarray(begin, this.#at));
    }

    /** A copy of so many bytes. */
    raw(length: number): Uint8Array<ArrayBuffer> {
        const begin = this.#take(length);
        return this.#bytes.slice(begin, this.#at);
    }

    /** Reads so many parts of a value, one after the other: fewer if one says that it was the last, or if reading has ended within it. */
    parts(count: number, read: (index: number) => unknown): void {
        for (let index = 0; index < count && this.unread === undefined && read(index) !== LAST; index++);
    }

    /** Sees to it that so many values can be there: each of them takes so many bytes at least. */
    announce(count: number, least = 1): void {
        if (count * least > this.left) {
            throw this.error(`a list of ${count} values is longer than the ${this.left} bytes that are left`);
        }
    }
}

/** Levels of values within each other. */
const MOST_DEPTH = 100;

/** Gives an object a member, whatever its name is. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
    // As a plain assignment it would change what the object inherits from.
    if (name === "__proto__") Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    else object[name] = value;
}

/** What stands in the place of a value that is what was read within it, until that has ended. */
const UNREAD = Symbol("unread");

/** The values that references may name, by the places that they have in the order in which they began. */
export class Known {
    readonly #values: unknown[] = [];
    /** Those that have not ended, from the outermost one on. */
    readonly #open: unknown[] = [];

    /** Gives a value the next place. */
    add<Kind>(value: Kind): Kind {
        this.#values.push(value);
        return value;
    }

    /** Gives a value the next place, whose parts are read until it is closed. */
    open<Kind>(value: Kind): Kind {
        this.#open.push(value);
        return this.add(value);
    }

    /** Ends the value that was opened last, and gives it. */
    close<Kind>(value: Kind): Kind {
        this.#open.pop();
        return value;
    }

    /** Gives the next place to what is read within a value, in the stead of that. */
    around(read: () => unknown): unknown {
        const place = this.#values.push(UNREAD) - 1;
        return (this.#values[place] = read());
    }

    at(place: number, input: Input): unknown {
        const value = this.#values[place];
        if (place >= this.#values.length) throw input.error(`it refers to the value ${place}, of which ${this.#values.length} have come`);
        if (value === UNREAD || this.#open.includes(value)) throw input.error("a value contains itself, which this page cannot show");
        return value;
    }
}
