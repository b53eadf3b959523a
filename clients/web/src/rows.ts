/**
 * Tables that Rust programs have packed, read in the browser and in Node.
 *
 *     import { decode } from "@tamtam/web";
 *
 *     const response = await fetch("/tiles");
 *     const rows = decode(await response.arrayBuffer());
 *     const x = rows.numbers("x");
 *     const color = rows.texts("color").toArray();
 *     for (let row = 0; row < rows.length; row++) createTile(x[row], color[row]);
 *
 * @module
 */

export { ByteSlices, Column, Texts, type Bigints, type Numbers, type Value, type Values } from "./rows/column.js";
export { decode, type DecodeOptions } from "./rows/decode.js";
export { RowsError, type RowsErrorCode } from "./rows/error.js";
export type { JsonValue } from "./rows/json.js";
export { defaultLimits, type Limits } from "./rows/limits.js";
export { Nulls } from "./rows/nulls.js";
export { ready } from "./rows/ready.js";
export type { Field, Kind, Unit } from "./rows/schema.js";
export { decodeStream } from "./rows/stream.js";
export { Rows, type AnyRow, type JsonRow } from "./rows/table.js";
export type { WideIntegers } from "./rows/values.js";
