// Values of AMF0, as this server writes them, and of what JSON has.

import { Amf3Reader } from "./amf3.js";
import { asDouble } from "../json.js";
import { Input, Known, LAST, setMember } from "./input.js";
import type { Output } from "./output.js";

/** The marker behind which a value of AMF3 follows. */
export const AVMPLUS = 0x11;

/** Reads one value, which has a table of its own; values of AMF3 may be in it. */
export class Amf0Reader {
    readonly #input: Input;
    readonly #known = new Known();
    #amf3: Amf3Reader | undefined;

    constructor(input: Input) {
        this.#input = input;
    }

    #members(into: Record<string, unknown>, depth: number): void {
        const input = this.#input;
        input.parts(Infinity, () => {
            const name = input.text(input.u16());
            if (name === "" && input.peek() === 9) {
                input.u8();
                return LAST;
            }
            return setMember(into, name, this.value(depth + 1));
        });
    }

    #object(depth: number): unknown {
        const object = this.#known.open<Record<string, unknown>>({});
        this.#members(object, depth);
        return this.#known.close(object);
    }

    value(depth: number): unknown {
        const input = this.#input;
        input.checkDepth(depth);
        const start = input.at;
        const marker = input.u8();
        switch (marker) {
            case 0:
                return input.f64();
            case 1:
                return input.u8() !== 0;
            case 2:
                return input.text(input.u16());
            case 3:
                return this.#object(depth);
            case 5:
                return null;
            case 6:
                return undefined;
            case 7:
                return this.#known.at(input.u16(), input);
            case 8:
                // How many members there are, to reserve room.
                input.u32();
                return this.#object(depth);
            case 10: {
                const length = input.u32();
                input.announce(length);
                const list = this.#known.open<unknown[]>([]);
                input.parts(length, () => list.push(this.value(depth + 1)));
                return this.#known.close(list);
            }
            case 11: {
                const time = input.f64();
                // A time zone, which is to be ignored.
                input.u16();
                return new Date(time);
            }
            case 12:
            case 15:
                return input.text(input.u32());
            case 16:
                // The class.
                input.text(input.u16());
                return this.#object(depth);
            case AVMPLUS:
                this.#amf3 ??= new Amf3Reader(input);
                return this.#amf3.value(depth + 1);
            default:
                throw input.error(`there is no value of the kind ${marker}`, start);
        }
    }
}

/** Writes a value of JSON. */
export function writeAmf0(value: unknown, out: Output): void {
    if (value === null || value === undefined) out.u8(5);
    else if (typeof value === "boolean") out.u8(1).u8(value ? 1 : 0);
    else if (typeof value === "number") out.u8(0).f64(value);
    else if (typeof value === "bigint") out.u8(0).f64(asDouble(value, "AMF"));
    else if (typeof value === "string") {
        const bytes = new TextEncoder().encode(value);
        if (bytes.length > 0xffff) out.u8(12).u32(bytes.length).raw(bytes);
        else out.u8(2).u16(bytes.length).raw(bytes);
    } else if (Array.isArray(value)) {
        out.u8(10).u32(value.length);
        for (const item of value) writeAmf0(item, out);
    } else {
        out.u8(3);
        for (const [name, member] of Object.entries(value)) {
            writeName(name, out);
            writeAmf0(member, out);
        }
        out.u16(0).u8(9);
    }
}

/** Writes a text whose length has two bytes. */
export function writeName(name: string, out: Output): void {
    const bytes = new TextEncoder().encode(name);
    if (bytes.length > 0xffff) throw new Error("a name is longer than AMF has names");
    out.u16(bytes.length).raw(bytes);
}
