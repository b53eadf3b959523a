// Values out of MessagePack.

import { decode } from "@msgpack/msgpack";
import { integer } from "./json.js";

/** The one value that the bytes of an answer hold. An integer that no number is, is a bigint. */
export function messagePack(bytes: Uint8Array<ArrayBuffer>): unknown {
    // No list and no map has more parts than the answer has bytes.
    return narrowed(decode(bytes, { maxArrayLength: bytes.length, maxMapLength: bytes.length, useBigInt64: true }));
}

/** The same with numbers in place of bigints, where one is the same; lists and objects are changed where they are. */
function narrowed(value: unknown): unknown {
    if (typeof value === "bigint") return integer(value);
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
    if (Array.isArray(value)) {
        value.forEach((item, place) => (value[place] = narrowed(item)));
        return value;
    }
    const members = value as Record<string, unknown>;
    for (const name of Object.keys(members)) members[name] = narrowed(members[name]);
    return value;
}
