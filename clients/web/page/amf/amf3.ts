// Values of AMF3, as a table and a call have them: read with all that this server writes, written of what JSON has.

import { asDouble } from "../json.js";
import { Input, Known, LAST, setMember, Unread } from "./input.js";
import type { Output } from "./output.js";

const UNDEFINED = 0;
const NULL = 1;
const FALSE = 2;
const TRUE = 3;
const INTEGER = 4;
const DOUBLE = 5;
const STRING = 6;
const XML_DOCUMENT = 7;
const DATE = 8;
const ARRAY = 9;
const OBJECT = 10;
const XML = 11;
const BYTE_ARRAY = 12;
const VECTOR_INT = 13;
const VECTOR_UINT = 14;
const VECTOR_DOUBLE = 15;
const VECTOR_OBJECT = 16;
const DICTIONARY = 17;

/** What an object's members are. */
interface Traits {
    readonly members: readonly string[];
    /** Whether others may follow, with their names. */
    readonly dynamic: boolean;
    /** The class, if it writes its objects as it likes. */
    readonly external?: string;
}

/** The classes of Flex whose objects are nothing but their one value. */
const WRAPPERS: readonly string[] = ["flex.messaging.io.ArrayCollection", "flex.messaging.io.ArrayList", "flex.messaging.io.ObjectProxy"];

/**
 * Reads the values of AMF3 in one value of AMF0, which share their tables. Classes are left out; vectors and arrays
 * are lists, an array with names is an object, a dictionary a list of pairs, XML is text. What comes before an object that is
 * unread is there, and that object in its place.
 */
export class Amf3Reader {
    readonly #input: Input;
    readonly #texts: string[] = [];
    readonly #traits: Traits[] = [];
    readonly #known = new Known();

    constructor(input: Input) {
        this.#input = input;
    }

    value(depth: number): unknown {
        const input = this.#input;
        input.checkDepth(depth);
        const start = input.at;
        const marker = input.u8();
        switch (marker) {
            case UNDEFINED:
                return undefined;
            case NULL:
                return null;
            case FALSE:
                return false;
            case TRUE:
                return true;
            case INTEGER:
                // The highest of 29 bits is the sign.
                return (input.u29() << 3) >> 3;
            case DOUBLE:
                return input.f64();
            case STRING:
                return this.#text();
        }
        if (marker > DICTIONARY) throw input.error(`there is no value of the kind ${marker}`, start);
        const head = input.u29();
        const rest = head >>> 1;
        if ((head & 1) === 0) return this.#known.at(rest, input);
        switch (marker) {
            case XML_DOCUMENT:
            case XML:
                return this.#known.add(input.text(rest));
            case DATE:
                return this.#known.add(new Date(input.f64()));
            case BYTE_ARRAY:
                return this.#known.add(input.raw(rest));
            case ARRAY:
                return this.#array(rest, depth);
            case OBJECT:
                return this.#object(rest, depth, start);
            case VECTOR_INT:
                return this.#vector(rest, 4, () => input.i32());
            case VECTOR_UINT:
                return this.#vector(rest, 4, () => input.u32());
            case VECTOR_DOUBLE:
                return this.#vector(rest, 8, () => input.f64());
            case VECTOR_OBJECT:
                return this.#objects(rest, depth);
            default:
                return this.#dictionary(rest, depth);
        }
    }

    #text(): string {
        const input = this.#input;
        const head = input.u29();
        const rest = head >>> 1;
        if ((head & 1) === 0) {
            const known = this.#texts[rest];
            if (known === undefined) throw input.error(`it refers to the text ${rest}, of which ${this.#texts.length} have come`);
            return known;
        }
        const text = input.text(rest);
        if (text !== "") this.#texts.push(text);
        return text;
    }

    #members(into: Record<string, unknown>, depth: number): void {
        this.#input.parts(Infinity, () => {
            const name = this.#text();
            return name === "" ? LAST : setMember(into, name, this.value(depth + 1));
        });
    }

    /** Names with values, then so many values by their places. */
    #array(length: number, depth: number): unknown {
        const input = this.#input;
        input.announce(length);
        // An empty name: there are none.
        if (input.peek() === 1) {
            input.u8();
            return this.#list(length, depth);
        }
        const named = this.#known.open<Record<string, unknown>>({});
        this.#members(named, depth);
        input.parts(length, (index) => setMember(named, String(index), this.value(depth + 1)));
        return this.#known.close(named);
    }

    #list(length: number, depth: number): unknown[] {
        const list = this.#known.open<unknown[]>([]);
        this.#input.parts(length, () => list.push(this.value(depth + 1)));
        return this.#known.close(list);
    }

    #object(rest: number, depth: number, start: number): unknown {
        const traits = (rest & 1) === 0 ? this.#traits[rest >>> 1] : this.#newTraits(rest);
        if (traits === undefined) {
            throw this.#input.error(`it refers to the traits ${rest >>> 1}, of which ${this.#traits.length} have come`, start);
        }
        if (traits.external !== undefined) return this.#external(traits.external, depth);
        const { members, dynamic } = traits;
        const object = this.#known.open<Record<string, unknown>>({});
        this.#input.parts(members.length, (index) => setMember(object, members[index], this.value(depth + 1)));
        if (dynamic) this.#members(object, depth);
        return this.#known.close(object);
    }

    #newTraits(rest: number): Traits {
        const name = this.#text();
        let traits: Traits;
        if ((rest & 2) !== 0) traits = { members: [], dynamic: false, external: name };
        else {
            const count = rest >>> 3;
            // A name of each, and a value.
            this.#input.announce(count, 2);
            traits = { members: Array.from({ length: count }, () => this.#text()), dynamic: (rest & 4) !== 0 };
        }
        this.#traits.push(traits);
        return traits;
    }

    #external(name: string, depth: number): unknown {
        if (WRAPPERS.includes(name)) return this.#known.around(() => this.value(depth + 1));
        const input = this.#input;
        return (input.unread = new Unread(name, input.left));
    }

    #vector(length: number, size: number, next: () => number): number[] {
        const input = this.#input;
        // Whether it keeps its length.
        input.u8();
        input.announce(length, size);
        return this.#known.add(Array.from({ length }, next));
    }

    #objects(length: number, depth: number): unknown[] {
        this.#input.u8();
        // The class of them all.
        this.#text();
        this.#input.announce(length);
        return this.#list(length, depth);
    }

    #dictionary(length: number, depth: number): unknown[] {
        // Whether it holds its keys weakly.
        this.#input.u8();
        this.#input.announce(length, 2);
        const pairs = this.#known.open<unknown[][]>([]);
        // A key, its value, the next key.
        this.#input.parts(2 * length, (index) => {
            const part = this.value(depth + 1);
            if (index % 2 === 0) pairs.push([part]);
            else pairs[pairs.length - 1].push(part);
        });
        return this.#known.close(pairs);
    }
}

/** The integers that AMF3 has; all other numbers are doubles. */
const [LEAST_INTEGER, MOST_INTEGER] = [-(2 ** 28), 2 ** 28 - 1];

/** The longest text, in bytes, and the longest list. */
const MOST_LENGTH = 2 ** 28 - 1;

/** Writes a value of JSON, without references: a few bytes more, and all readers agree on them. */
export function writeAmf3(value: unknown, out: Output): void {
    if (value === undefined) out.u8(UNDEFINED);
    else if (value === null) out.u8(NULL);
    else if (typeof value === "boolean") out.u8(value ? TRUE : FALSE);
    else if (typeof value === "number") {
        const isInteger = Number.isInteger(value) && value >= LEAST_INTEGER && value <= MOST_INTEGER && !Object.is(value, -0);
        if (isInteger) out.u8(INTEGER).u29(value);
        else out.u8(DOUBLE).f64(value);
    } else if (typeof value === "bigint") out.u8(DOUBLE).f64(asDouble(value, "AMF"));
    else if (typeof value === "string") {
        out.u8(STRING);
        text(value, out);
    } else if (Array.isArray(value)) {
        if (value.length > MOST_LENGTH) throw new Error("a list is longer than AMF3 has lists");
        // No names.
        out.u8(ARRAY).u29(value.length * 2 + 1).u8(1);
        for (const item of value) writeAmf3(item, out);
    } else {
        // Of no class, and with no members but those that follow with their names.
        out.u8(OBJECT).u29(0b1011).u8(1);
        for (const [name, member] of Object.entries(value)) {
            if (name === "") throw new Error("AMF3 has no members with an empty name");
            text(name, out);
            writeAmf3(member, out);
        }
        out.u8(1);
    }
}

function text(text: string, out: Output): void {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > MOST_LENGTH) throw new Error("a text is longer than AMF3 has texts");
    out.u29(bytes.length * 2 + 1).raw(bytes);
}
