// Takes packed rows apart into what the checksums cover, and puts them together again with checksums that fit: so that
// damage comes past them, as an enemy's does.

import { Input } from "../src/rows/input.js";
import { machine } from "../src/rows/kernels.js";

type Bytes = Uint8Array<ArrayBuffer>;

export interface Parts {
    schema: Bytes;
    chunks: { rows: number; body: Bytes }[];
    total: number;
}

export function apart(bytes: Bytes): Parts {
    const input = new Input(bytes, 0, 0);
    input.skip(4, "magic");
    const length = input.count(2 ** 32, "length");
    input.skip(4, "checksum");
    const schema = input.take(length, "schema");
    const chunks: Parts["chunks"] = [];
    for (;;) {
        const rows = input.count(2 ** 32, "rows");
        if (rows === 0) break;
        const head = input.take(8, "head");
        chunks.push({ rows, body: input.take(new DataView(head.buffer, head.byteOffset).getUint32(0, true), "body") });
    }
    return { schema, chunks, total: input.count(2 ** 53, "total") };
}

export function varint(value: number): number[] {
    const bytes: number[] = [];
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
    return [...bytes, value];
}

export function uint32(value: number): number[] {
    return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];
}

export function together({ schema, chunks, total }: Parts): Bytes {
    const parts: (Bytes | number[])[] = [[0xa7, 0x54, 0x54, 1], varint(schema.length), uint32(machine().checksum(schema)), schema];
    for (const { rows, body } of chunks) {
        parts.push(varint(rows), uint32(body.length), uint32(machine().checksum(body)), body);
    }
    parts.push([0], varint(total));
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}
