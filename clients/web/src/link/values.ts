// Messages as JSON, with the addresses and replies that are in them.

import { reason } from "../reason.js";
import { Address, Reply } from "./address.js";
import { LinkError } from "./error.js";

/** An address as it goes: 0 and the number of the actor at the side that writes it, or 1 and that at the side that reads it. */
export type Place = readonly [side: 0 | 1, number: number];

/** What of a message is written beside its text. */
export interface Written {
    /** The number under which the other side knows the actor. */
    address(address: Address<unknown>): Place;
    /** The number under which the answer comes back. */
    reply(reply: Reply<unknown>): number;
}

/** What of a message has come beside its text; `undefined` of what has not. */
export interface Taken {
    address(place: Place): Address<unknown> | undefined;
    reply(number: number): Reply<unknown> | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text of a message. Throws a `LinkError` with the code `not-encodable`. */
export function writeValue(value: unknown, written: Written): Uint8Array {
    let text: string | undefined;
    try {
        text = JSON.stringify(value, function (this: unknown, key: string, part: unknown) {
            if (part instanceof Address) return { $address: written.address(part) };
            if (part instanceof Reply) return { $reply: written.reply(part) };
            return listed.call(this, key, part);
        });
    } catch (error) {
        if (error instanceof LinkError) throw error;
        throw new LinkError("not-encodable", `it cannot be written as JSON: ${reason(error)}`);
    }
    if (text === undefined) throw new LinkError("not-encodable", "it cannot be written as JSON: it is undefined, or a function");
    return encoder.encode(text);
}

/**
 * What stands for a part in JSON, for `JSON.stringify`: for bytes and for numbers side by side a list, as serde writes them. Those of 64 bits are
 * none that JSON has, and fail there.
 */
export function listed(this: unknown, key: string, part: unknown): unknown {
    // JSON would leave it out, and the actor would get a message without it.
    if (typeof part === "function") throw new TypeError(`what stands at ${JSON.stringify(key)} is a function: an actor of the page is made by link.export(handler)`);
    if (typeof part !== "object" || part === null) return part;
    // Node's buffers have written themselves as something else by now.
    const given = (this as { readonly [key: string]: unknown })[key];
    if (given instanceof ArrayBuffer) return Array.from(new Uint8Array(given));
    if (!ArrayBuffer.isView(given)) return part;
    if (given instanceof DataView) return Array.from(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
    return Array.from(given as unknown as ArrayLike<number | bigint>);
}

/** The message of a text. Throws a `LinkError` with the code `not-decodable`. */
export function readValue(payload: Uint8Array, taken: Taken): unknown {
    try {
        const text = decoder.decode(payload);
        // Most have neither.
        if (!text.includes('{"$')) return JSON.parse(text) as unknown;
        return JSON.parse(text, (_, part: unknown) => revived(part, taken)) as unknown;
    } catch (error) {
        throw new LinkError("not-decodable", `it is no JSON: ${reason(error)}`);
    }
}

function revived(part: unknown, taken: Taken): unknown {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part);
    const [entry] = entries;
    if (entry === undefined || entries.length !== 1) return part;
    const [name, value] = entry as [string, unknown];
    if (name === "$reply" && typeof value === "number") return taken.reply(value) ?? part;
    if (name === "$address" && isPlace(value)) return taken.address(value) ?? part;
    return part;
}

function isPlace(value: unknown): value is Place {
    return Array.isArray(value) && value.length === 2 && (value[0] === 0 || value[0] === 1) && typeof value[1] === "number";
}
