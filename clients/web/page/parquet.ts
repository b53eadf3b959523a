// Tables out of files of Parquet: the page loads this when its reader first wants Parquet. The server compresses them by zstd.

import { decompress } from "fzstd";
import { parquetMetadata, parquetReadObjects, type SchemaElement } from "hyparquet";
import { inText, wideInteger, type Counted, type Read } from "./columns.js";
import type { Unit } from "../src/rows/schema.js";

const UNITS: Readonly<Record<string, Unit>> = { MILLIS: "ms", MICROS: "us", NANOS: "ns" };

export async function read(bytes: ArrayBuffer): Promise<Read> {
    const metadata = parquetMetadata(bytes);
    const [, ...elements] = metadata.schema;
    if (elements.some((element) => element.num_children !== undefined)) throw new Error("a column of it has columns itself");
    const names = elements.map((element) => element.name);
    const counted = elements.map(countedBy);
    elements.forEach((element, place) => {
        // The library finds columns by their names, of which two may be the same.
        element.name = String(place);
        if (counted[place] === undefined) return;
        // The library would make floats and dates of them, with fewer digits.
        delete element.converted_type;
        delete element.logical_type;
    });
    for (const { columns } of metadata.row_groups) {
        columns.forEach((column, place) => {
            if (column.meta_data !== undefined) column.meta_data.path_in_schema = [String(place)];
        });
    }
    const compressors = { ZSTD: (input: Uint8Array, length: number) => decompress(input, new Uint8Array(length)) };
    const rows = await parquetReadObjects({ file: bytes, metadata, compressors, utf8: false });
    const cell = (row: number, column: number): unknown => {
        const value: unknown = rows[row][String(column)];
        const by = counted[column];
        if (by === undefined || value === null || value === undefined) return value ?? null;
        return inText(value instanceof Uint8Array ? wideInteger(value) : (value as number | bigint), by);
    };
    return { names, length: rows.length, cell };
}

function countedBy(element: SchemaElement): Counted | undefined {
    const logical = element.logical_type;
    switch (logical?.type) {
        case "DATE":
            return { counts: "days" };
        case "TIME":
            return { counts: "time", unit: UNITS[logical.unit] };
        case "TIMESTAMP":
            return { counts: "timestamp", unit: UNITS[logical.unit], isInUtc: logical.isAdjustedToUTC };
        case "DECIMAL":
            return { counts: "decimal", scale: logical.scale };
        default:
            return element.type === "FLOAT" ? { counts: "f32" } : undefined;
    }
}
