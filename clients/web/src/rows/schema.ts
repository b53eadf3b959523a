import { RowsError } from "./error.js";
import { Input } from "./input.js";
import type { Limits } from "./limits.js";

/** What a time or a timestamp counts: seconds, or thousandths, millionths, thousand-millionths of one. */
export type Unit = "s" | "ms" | "us" | "ns";

/**
 * The type of a column.
 *
 * - `date`: days from 1970-01-01 in the Gregorian calendar.
 * - `time`: since midnight, in `unit`; may be negative or beyond a day.
 * - `timestamp`: from 1970-01-01 00:00:00, in `unit`. `zone` says what clock that is: `undefined` for one on some
 *   wall, of which no zone is known; `"UTC"`; or the zone in which a point in time that is counted in UTC is to be
 *   shown, `"Europe/Berlin"` or `"+02:00"`.
 * - `decimal`: `precision` digits in all, `scale` of them behind the point.
 */
export type Kind =
    | { readonly type: "bool" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "f32" | "f64" }
    | { readonly type: "decimal"; readonly precision: number; readonly scale: number }
    | { readonly type: "date" | "uuid" | "text" | "bytes" }
    | { readonly type: "time"; readonly unit: Unit }
    | { readonly type: "timestamp"; readonly unit: Unit; readonly zone: string | undefined };

/** The name and the type of a column, and whether it may hold nulls. */
export interface Field {
    readonly name: string;
    readonly kind: Kind;
    readonly nullable: boolean;
}

const simple = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"] as const;
const units: readonly Unit[] = ["s", "ms", "us", "ns"];

/** The schema's body, whose checksum was verified. */
export function readSchema(body: Uint8Array<ArrayBuffer>, origin: number, limits: Limits): Field[] {
    const input = new Input(body, origin, limits.bytes);
    const columns = input.count(Number.MAX_SAFE_INTEGER, "the number of columns");
    if (columns > limits.columns) {
        throw new RowsError("limit", `the packed rows have ${columns} columns, more than the limit of ${limits.columns}`);
    }
    const fields: Field[] = [];
    for (let column = 0; column < columns; column++) {
        const name = readText(input);
        const byte = input.byte("the type of a column");
        fields.push({ name, kind: readKind(input, byte & 127, name), nullable: byte > 127 });
    }
    if (input.left !== 0) throw input.malformed("more bytes behind the last column of the schema");
    return fields;
}

function readText(input: Input): string {
    const bytes = input.take(input.count(input.left, "the length of a name"), "a name");
    let text = "";
    for (const byte of bytes) {
        // Most names are of letters that are one byte each, for which a decoder is too much.
        if (byte > 127) {
            try {
                return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
            } catch {
                throw input.malformed("a name that is not UTF-8");
            }
        }
        text += String.fromCharCode(byte);
    }
    return text;
}

function readUnit(input: Input): Unit {
    const byte = input.byte("a unit of time");
    if (byte >= units.length) throw input.malformed(`no unit of time is numbered ${byte}`);
    return units[byte];
}

function readKind(input: Input, number: number, name: string): Kind {
    if (number < simple.length) return { type: simple[number] };
    switch (number) {
        case 11: {
            const precision = input.byte("a precision");
            const scale = input.byte("a scale");
            if (precision < 1 || precision > 38 || scale > precision) {
                throw input.malformed(`the column "${name}" cannot be decimal(${precision},${scale})`);
            }
            return { type: "decimal", precision, scale };
        }
        case 12:
            return { type: "date" };
        case 13:
            return { type: "time", unit: readUnit(input) };
        case 14: {
            const unit = readUnit(input);
            const rule = input.byte("a rule of zones");
            if (rule > 2) throw input.malformed(`no rule of zones is numbered ${rule}`);
            return { type: "timestamp", unit, zone: rule === 0 ? undefined : rule === 1 ? "UTC" : readText(input) };
        }
        case 15:
            return { type: "uuid" };
        case 16:
            return { type: "text" };
        case 17:
            return { type: "bytes" };
        default:
            throw input.malformed(`no type is numbered ${number}`);
    }
}
