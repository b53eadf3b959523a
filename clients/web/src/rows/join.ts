// Several chunks as one table.

import { ByteSlices, Column, Texts, type Bigints, type Numbers, type Values } from "./column.js";
import { Nulls } from "./nulls.js";

/** The columns of all chunks, one behind the other. There are two chunks at least, of the same schema. */
export function joined(chunks: readonly (readonly Column[])[], length: number): Column[] {
    return chunks[0].map((first, index) => {
        const parts = chunks.map((columns) => columns[index]);
        return new Column(first.field, joinedValues(parts, length), joinedNulls(parts, length));
    });
}

function joinedNulls(parts: readonly Column[], length: number): Nulls | undefined {
    if (parts.every((part) => part.nulls === undefined)) return undefined;
    const bits = new Uint8Array(Math.ceil(length / 8));
    let before = 0;
    for (const part of parts) {
        if (part.nulls !== undefined) {
            for (let row = 0; row < part.length; row++) {
                if (part.nulls.has(row)) bits[(before + row) >> 3] |= 1 << ((before + row) & 7);
            }
        }
        before += part.length;
    }
    return new Nulls(bits, length);
}

function joinedValues(parts: readonly Column[], length: number): Values {
    const all = parts.map((part) => part.values);
    const [first] = all;
    if (first instanceof Texts) return Texts.joined(all as Texts[]);
    if (first instanceof ByteSlices) return ByteSlices.joined(all as ByteSlices[]);
    // Where one chunk needs bigints, all get them.
    if (all.some((values) => Array.isArray(values))) return parts.flatMap((part) => [...part.bigints()]);
    const wide = parts.find((part) => part.values instanceof BigInt64Array || part.values instanceof BigUint64Array);
    if (wide !== undefined) {
        const values = new (wide.values.constructor as new (length: number) => Bigints)(length);
        copy(parts.map((part) => part.bigints() as Bigints), values);
        return values;
    }
    const values = new (first.constructor as new (length: number) => Numbers)(length);
    copy(all as Numbers[], values);
    return values;
}

function copy<Kept extends { readonly length: number; set(from: never, at: number): void }>(parts: readonly Kept[], to: Kept): void {
    let at = 0;
    for (const part of parts) {
        to.set(part as never, at);
        at += part.length;
    }
}
