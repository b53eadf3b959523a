// Rows out of Arrow and Parquet, by the libraries that pages use for them.

import { tableFromIPC, type Table } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

/** The table that a stream of Arrow holds. */
export function arrow(bytes: Uint8Array<ArrayBuffer>): Table {
    return tableFromIPC(bytes);
}

/** The rows that a file of Parquet holds, as objects. */
export function parquet(bytes: Uint8Array<ArrayBuffer>): Promise<Record<string, unknown>[]> {
    return parquetReadObjects({ file: bytes.buffer, compressors });
}
