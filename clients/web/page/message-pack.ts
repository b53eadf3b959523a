// Values out of MessagePack.

import { decode } from "@msgpack/msgpack";

/** The one value that the bytes of an answer hold. */
export function messagePack(bytes: Uint8Array<ArrayBuffer>): unknown {
    // No list and no map has more parts than the answer has bytes.
    return decode(bytes, { maxArrayLength: bytes.length, maxMapLength: bytes.length });
}
