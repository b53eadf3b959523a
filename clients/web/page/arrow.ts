// Tables out of Arrow's stream, by the Arrow project's own library, which is as large as the page and more: the page loads this
// when its reader first wants Arrow.

import { DataType, tableFromIPC, TimeUnit, type Data, type Vector } from "apache-arrow";
import { hyphenated } from "../src/rows/column.js";
import { inText, wideInteger, type Counted, type Read } from "./columns.js";
import type { Unit } from "../src/rows/schema.js";

const UNITS: Readonly<Record<TimeUnit, Unit>> = { [TimeUnit.SECOND]: "s", [TimeUnit.MILLISECOND]: "ms", [TimeUnit.MICROSECOND]: "us", [TimeUnit.NANOSECOND]: "ns" };

export function read(bytes: ArrayBuffer): Read {
    const table = tableFromIPC(new Uint8Array(bytes));
    const columns = table.schema.fields.map((field, place) => {
        const column = table.getChildAt(place);
        if (column === null) throw new Error(`the column ${place} is missing`);
        return field.metadata.get("ARROW:extension:name") === "arrow.uuid" ? uuidReader(column) : reader(column);
    });
    return { names: table.schema.fields.map((field) => field.name), length: table.numRows, cell: (row, column) => columns[column](row) };
}

function reader(column: Vector): (row: number) => unknown {
    const counted = countedBy(column.type);
    if (counted === undefined) return (row) => column.get(row);
    return (row) => {
        const [part, at] = partOf(column, row);
        return part.getValid(at) ? inText(raw(part, at), counted) : null;
    };
}

function uuidReader(column: Vector): (row: number) => unknown {
    return (row) => {
        const bytes = column.get(row) as Uint8Array | null;
        return bytes === null ? null : hyphenated(bytes);
    };
}

function countedBy(type: DataType): Counted | undefined {
    if (DataType.isDate(type) && type.unit === 0) return { counts: "days" };
    if (DataType.isTime(type)) return { counts: "time", unit: UNITS[type.unit] };
    if (DataType.isTimestamp(type)) return { counts: "timestamp", unit: UNITS[type.unit], isInUtc: typeof type.timezone === "string" };
    if (DataType.isDecimal(type)) return { counts: "decimal", scale: type.scale };
    if (DataType.isFloat(type) && type.ArrayType === Float32Array) return { counts: "f32" };
    return undefined;
}

/** The part of a column that has a row, and the row's place in it. */
function partOf(column: Vector, row: number): [Data, number] {
    let at = row;
    for (const part of column.data) {
        if (at < part.length) return [part, at];
        at -= part.length;
    }
    throw new RangeError(`there is no row ${row}`);
}

/** The number beneath a value. */
function raw(part: Data, at: number): number | bigint {
    const { values, stride } = part as { values: Int32Array | BigInt64Array | Float32Array | Uint32Array; stride: number };
    if (!DataType.isDecimal(part.type)) return values[at];
    const words = values.slice(stride * at, stride * (at + 1));
    // The lowest byte is first.
    return wideInteger(new Uint8Array(words.buffer).reverse());
}
