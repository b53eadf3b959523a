// Packets of AMF remoting, in version 0 or 3: a call out of JSON, and values out of an answer.

import { Amf0Reader, AVMPLUS, writeAmf0, writeName } from "./amf/amf0.js";
import { writeAmf3 } from "./amf/amf3.js";
import { Input, setMember, type Unread } from "./amf/input.js";
import { Output } from "./amf/output.js";

/** The version of a packet: 3 has values of AMF3, within those of AMF0. */
export type Version = 0 | 3;

/** A packet with one call. AMF has arguments by their places alone. */
export function amfCall(method: string, args: readonly unknown[], version: Version): Uint8Array<ArrayBuffer> {
    const out = new Output();
    // No headers, and one message.
    out.u16(version).u16(0).u16(1);
    writeName(method, out);
    writeName("/1", out);
    // The packet does not say its length.
    out.u32(0xffff_ffff);
    out.u8(10).u32(args.length);
    for (const value of args) {
        if (version === 0) writeAmf0(value, out);
        else writeAmf3(value, out.u8(AVMPLUS));
    }
    return out.bytes();
}

/** The value of an answer, or the fault that it is, as far as it can be read; what ends it, if that is before its end. */
export function amfAnswer(bytes: ArrayBuffer): ({ value: unknown } | { fault: unknown }) & { unread?: Unread } {
    const input = new Input(bytes);
    input.u16();
    for (let headers = input.u16(); headers > 0; headers--) {
        input.text(input.u16());
        input.u8();
        input.u32();
        new Amf0Reader(input).value(0);
    }
    if (input.u16() === 0) throw new Error("the packet has no answer");
    const target = input.text(input.u16());
    input.text(input.u16());
    input.u32();
    const value = new Amf0Reader(input).value(0);
    const answer = target.endsWith("/onStatus") ? { fault: value } : { value: recordSet(value) ?? value };
    return input.unread === undefined ? answer : { ...answer, unread: input.unread };
}

/** The rows of a RecordSet: its columns have names, its rows have places. */
function recordSet(value: unknown): unknown[] | undefined {
    const info = (value as { serverInfo?: { columnNames?: unknown; initialData?: unknown } } | null)?.serverInfo;
    const { columnNames: names, initialData: rows } = info ?? {};
    if (!Array.isArray(names) || !Array.isArray(rows)) return undefined;
    return rows.map((row: unknown[]) => {
        const object: Record<string, unknown> = {};
        names.forEach((name: string, column) => setMember(object, name, row[column]));
        return object;
    });
}
