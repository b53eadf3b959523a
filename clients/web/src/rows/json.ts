// What the values of a column are in JSON. Dates, times, timestamps, UUIDs and bytes are the texts that the Rust library
// writes into its own JSON.

import type { Bigints, Column, Numbers } from "./column.js";
import type { Unit } from "./schema.js";

/** A value as JSON has it. */
export type JsonValue = number | boolean | string | null;

/** How the value in a row is read for JSON. */
export function jsonReader(column: Column): (row: number) => JsonValue {
    const some = valueReader(column);
    return (row) => (column.isNull(row) ? null : some(row));
}

function valueReader(column: Column): (row: number) => JsonValue {
    const { kind } = column.field;
    switch (kind.type) {
        case "f32":
            return (row) => finite(shortest(column.get(row) as number));
        case "f64":
            return (row) => finite(column.get(row) as number);
        case "decimal":
            if (areExact(column)) return (row) => Number(column.get(row));
            return (row) => column.get(row) as string;
        case "date":
            return (row) => dateText(column.get(row) as number);
        case "time": {
            const { unit } = kind;
            return (row) => timeText(counted(column, row), unit);
        }
        case "timestamp": {
            const { unit, zone } = kind;
            return (row) => timestampText(counted(column, row), unit) + (zone === undefined ? "" : "Z");
        }
        case "bytes":
            return (row) => base64(column.get(row) as Uint8Array);
        default: {
            // A column of bigints holds one that no number is: all of them become text, so that a column has one type.
            if (column.values instanceof BigInt64Array || column.values instanceof BigUint64Array) return (row) => String(column.get(row));
            return (row) => column.get(row) as JsonValue;
        }
    }
}

/** Decimals of as many digits become numbers from which the same digits come back (IEEE 754, binary64). */
const exactBelow = 1e15;

function areExact({ values }: Column): boolean {
    return values instanceof Float64Array && values.every((value) => Math.abs(value) < exactBelow);
}

/** JSON knows no infinity and no NaN. */
function finite(value: number): number | null {
    return Number.isFinite(value) ? value : null;
}

/** The number with the fewest digits that means the same float of 32 bits: 0.1, and not 0.10000000149011612. */
export function shortest(value: number): number {
    for (let digits = 6; digits < 9; digits++) {
        const short = Number(value.toPrecision(digits));
        if (Math.fround(short) === value) return short;
    }
    return Number(value.toPrecision(9));
}

function counted(column: Column, row: number): bigint {
    return BigInt((column.values as Numbers | Bigints)[row]);
}

const perSecond: { readonly [unit in Unit]: bigint } = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n };
const fractionDigits: { readonly [unit in Unit]: number } = { s: 0, ms: 3, us: 6, ns: 9 };

function two(number: number | bigint): string {
    return number.toString().padStart(2, "0");
}

/** Days since 1970-01-01 as a date, by Howard Hinnant's `civil_from_days`: `Date` ends at the year 275,760. */
export function dateText(days: number): string {
    const shifted = days + 719_468;
    const era = Math.floor(shifted / 146_097);
    const dayOfEra = shifted - era * 146_097;
    const yearOfEra = Math.floor((dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365);
    const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
    const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
    const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
    const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
    const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
    const sign = year < 0 ? "-" : year > 9_999 ? "+" : "";
    return `${sign}${Math.abs(year).toString().padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** Hours, minutes, seconds, and the fraction that the unit has. */
function clockText(count: bigint, unit: Unit): string {
    const seconds = count / perSecond[unit];
    const digits = fractionDigits[unit];
    const fraction = digits === 0 ? "" : `.${(count % perSecond[unit]).toString().padStart(digits, "0")}`;
    return `${two(seconds / 3_600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction}`;
}

export function timeText(count: bigint, unit: Unit): string {
    return count < 0n ? `-${clockText(-count, unit)}` : clockText(count, unit);
}

export function timestampText(count: bigint, unit: Unit): string {
    const day = 86_400n * perSecond[unit];
    const ofDay = ((count % day) + day) % day;
    return `${dateText(Number((count - ofDay) / day))}T${clockText(ofDay, unit)}`;
}

function base64(bytes: Uint8Array): string {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
}
