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
    const part = (): Bytes => {
        const length = input.count(2 ** 32, "length");
        input.skip(4, "checksum");
        return input.take(length, "part");
    };
    const schema = part();
    const chunks: Parts["chunks"] = [];
    for (;;) {
        const body = new Input(part(), 0, 0);
        const rows = body.count(2 ** 32, "rows");
        if (rows === 0) return { schema, chunks, total: body.count(2 ** 53, "total") };
        chunks.push({ rows, body: body.take(body.left, "columns") });
    }
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
    const parts: (Bytes | number[])[] = [[0xa7, 0x54, 0x54, 1]];
    const add = (part: Bytes): void => {
        parts.push(varint(part.length), uint32(machine().checksum(part)), part);
    };
    add(schema);
    for (const { rows, body } of chunks) add(Uint8Array.from([...varint(rows), ...body]));
    add(Uint8Array.from([0, ...varint(total)]));
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}
