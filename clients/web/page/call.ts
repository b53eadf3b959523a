// A call through one of the protocols: its request, its answer, what it took.

import { reason } from "../src/reason.js";
import { decode } from "../src/rows.js";
import { amfAnswer, amfCall, type Version } from "./amf.js";
import type { Unread } from "./amf/input.js";
import { Columns, type Library } from "./columns.js";
import { parse, stringify } from "./json.js";
import { messagePack } from "./message-pack.js";
import { headers, type Method } from "./services.js";
import { xmlAnswer, xmlCall } from "./xml.js";

export type Given = unknown[] | Record<string, unknown>;

/** A way to call, and the form in which the answer comes. */
export interface Way {
    readonly id: string;
    readonly name: string;
    /** Its name on the scale of the server. */
    readonly form: string;
    readonly accept?: string;
    readonly protocol: "rest" | "json-rpc" | "xml-rpc" | "amf";
    /** Of its packets. */
    readonly version?: Version;
    /** What stands behind the address of its packets. */
    readonly query?: string;
    /** What makes values of the bytes, of a method that gives so. */
    readonly decode: (bytes: ArrayBuffer, gives: Method["gives"]) => Decoded | Promise<Decoded>;
    /** Loads what reads the answer, where the page itself has nothing for it. */
    readonly load?: () => Promise<unknown>;
}

/** What an answer says; what of it could not be read, in a form that says so. */
export type Decoded = ({ readonly value: unknown } | { readonly fault: unknown }) & { readonly unread?: Unread };

function inText(bytes: ArrayBuffer): string {
    return new TextDecoder().decode(bytes);
}

function rest(id: string, name: string, accept: string, decoder: (bytes: ArrayBuffer, gives: Method["gives"]) => unknown): Way {
    return { id, name, form: id, accept, protocol: "rest", decode: (bytes, gives) => ({ value: decoder(bytes, gives) }) };
}

/** One whose answers a library reads that is loaded when it is first wanted. */
function withLibrary(id: string, name: string, accept: string, load: () => Promise<Library>): Way {
    let loaded: Promise<Library> | undefined;
    const library = async (): Promise<Library> => {
        try {
            return await (loaded ??= load());
        } catch (error) {
            // Another try may find the server, in browsers that ask again for a script which did not come.
            loaded = undefined;
            throw new Error(`what reads ${name} was not loaded, reload the page once the server is there: ${String(error)}`, { cause: error });
        }
    };
    const decode = async (bytes: ArrayBuffer): Promise<Decoded> => ({ value: new Columns(await (await library()).read(bytes)) });
    return { id, name, form: id, accept, protocol: "rest", decode, load: library };
}

export const ways: readonly Way[] = [
    rest("json", "URL, JSON", "application/json", (bytes) => parse(inText(bytes))),
    rest("packed", "URL, packed rows", "application/vnd.tamtam.rows", (bytes) => decode(bytes)),
    rest("jsonl", "URL, JSON lines", "application/jsonl", (bytes) => {
        return inText(bytes).split("\n").filter(Boolean).map(parse);
    }),
    rest("csv", "URL, CSV", "text/csv", (bytes) => ofCsv(inText(bytes))),
    withLibrary("arrow", "URL, Arrow", "application/vnd.apache.arrow.stream", () => import("./arrow.js")),
    withLibrary("parquet", "URL, Parquet", "application/vnd.apache.parquet", () => import("./parquet.js")),
    rest("msgpack", "URL, MessagePack", "application/vnd.msgpack", ofMessagePack),
    { id: "json-rpc", name: "JSON-RPC", form: "json-rpc", protocol: "json-rpc", decode: ofJsonRpc },
    { id: "xml-rpc", name: "XML-RPC", form: "xml-rpc", protocol: "xml-rpc", decode: (bytes) => xmlAnswer(inText(bytes)) },
    { id: "amf0", name: "AMF0", form: "amf0", protocol: "amf", version: 0, decode: amfAnswer },
    { id: "amf0-objects", name: "AMF0, tables as objects", form: "amf0-objects", protocol: "amf", version: 0, query: "?rows=objects", decode: amfAnswer },
    { id: "amf3", name: "AMF3", form: "amf3", protocol: "amf", version: 3, decode: amfAnswer },
];

function ofJsonRpc(bytes: ArrayBuffer): Decoded {
    const answer = parse(inText(bytes)) as { result?: unknown; error?: unknown };
    return answer.error === undefined ? { value: answer.result } : { fault: answer.error };
}

/** A value, or a table: a list of lists, of which the first one has the names. What gives lists of objects gives tables alone so. */
function ofMessagePack(bytes: ArrayBuffer, gives: Method["gives"]): unknown {
    const value = messagePack(new Uint8Array(bytes));
    const item = typeof gives === "boolean" ? undefined : gives.items;
    const isOfObjects = typeof item === "object" && item.type === "object";
    if (!isOfObjects || !Array.isArray(value) || !value.every(Array.isArray)) return value;
    const [names = [], ...rows] = value as unknown[][];
    return rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column]])));
}

/** A table in CSV, whose first line has the names. */
function ofCsv(text: string): Record<string, string>[] {
    const lines: string[][] = [[]];
    const cell = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/gy;
    while (cell.lastIndex < text.length) {
        const [, value, end] = cell.exec(text) ?? [];
        if (value === undefined || end === undefined) break;
        lines.at(-1)?.push(value.startsWith('"') ? value.slice(1, -1).replace(/""/g, '"') : value);
        if (end !== ",") lines.push([]);
    }
    const [names = [], ...rows] = lines.filter((line) => line.length > 0);
    return rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column] ?? ""])));
}

/** A request, as it is sent and as it is shown. */
export interface Request {
    readonly path: string;
    readonly method: "GET" | "POST";
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** The arguments by their places; without those behind the last that is given. */
export function places(method: Method, given: Given): unknown[] {
    if (Array.isArray(given)) return given;
    const names = method.arguments.length > 0 ? method.arguments : Object.keys(given);
    const listed = names.map((name) => given[name]);
    while (listed.length > 0 && listed.at(-1) === undefined) listed.pop();
    return listed.map((value) => value ?? null);
}

export function request(method: Method, way: Way, given: Given): Request {
    switch (way.protocol) {
        case "rest":
            return {
                path: `rest/${method.service}/${method.name}`,
                method: "POST",
                headers: { "Content-Type": "application/json", Accept: way.accept ?? "*/*" },
                body: stringify(given),
            };
        case "json-rpc": {
            const call = { jsonrpc: "2.0", method: method.full, params: given, id: 1 };
            return { path: "jsonrpc", method: "POST", headers: { "Content-Type": "application/json" }, body: stringify(call) };
        }
        case "xml-rpc":
            return { path: "xmlrpc", method: "POST", headers: { "Content-Type": "text/xml" }, body: xmlCall(method.full, places(method, given)) };
        case "amf":
            return { path: `amf${way.query ?? ""}`, method: "POST", headers: { "Content-Type": "application/x-amf" }, body: amfCall(method.full, places(method, given), way.version ?? 0) };
    }
}

/** What a call gave, and what it took. Times are in milliseconds. */
export interface Outcome {
    readonly way: Way;
    readonly status: number;
    readonly contentType: string;
    /** By what it was compressed on its way. */
    readonly encoding: string;
    readonly bytes: ArrayBuffer;
    readonly wireBytes: number | undefined;
    readonly decoded: Decoded | undefined;
    /** Why it is not, where it should be. */
    readonly undecoded: string | undefined;
    readonly decodeTime: number | undefined;
    /** From the request to the last byte. */
    readonly total: number;
    /** The server's own times, by their names. */
    readonly server: ReadonlyMap<string, number>;
}

export async function call(method: Method, way: Way, given: Given): Promise<Outcome> {
    const asked = request(method, way, given);
    await way.load?.();
    performance.clearResourceTimings();
    const begun = performance.now();
    const response = await fetch(asked.path, {
        method: asked.method,
        headers: headers(asked.headers),
        body: asked.body ?? null,
        cache: "no-store",
    });
    const bytes = await response.arrayBuffer();
    const total = performance.now() - begun;
    const contentType = response.headers.get("content-type") ?? "";
    let decoded: Decoded | undefined;
    let undecoded: string | undefined;
    let decodeTime: number | undefined;
    if (!response.ok) {
        decoded = { fault: contentType.includes("json") ? parse(inText(bytes)) : inText(bytes) };
    } else {
        const before = performance.now();
        try {
            decoded = await way.decode(bytes, method.gives);
            decodeTime = performance.now() - before;
        } catch (error) {
            // There are the bytes, and what they cost, nevertheless.
            undecoded = reason(error);
        }
    }
    return {
        way,
        status: response.status,
        contentType,
        encoding: response.headers.get("content-encoding") ?? "",
        bytes,
        wireBytes: await wireBytes(asked.path),
        decoded,
        undecoded,
        decodeTime,
        total,
        server: serverTimes(response.headers.get("server-timing") ?? ""),
    };
}

/** The bytes of the answer's body as they came, which the browser tells a moment later. */
async function wireBytes(path: string): Promise<number | undefined> {
    const url = new URL(path, document.baseURI).href;
    for (let tries = 0; tries < 20; tries++) {
        const entry = performance.getEntriesByName(url, "resource").at(-1);
        if (entry instanceof PerformanceResourceTiming) return entry.encodedBodySize;
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return undefined;
}

function serverTimes(header: string): Map<string, number> {
    const times = new Map<string, number>();
    for (const part of header.split(",")) {
        const [name, ...parameters] = part.trim().split(";");
        const duration = parameters.find((parameter) => parameter.trim().startsWith("dur="));
        if (name && duration) times.set(name, Number(duration.trim().slice(4)));
    }
    return times;
}
