// What each form of an answer costs: as a table, and as a picture of its bytes.

import { reason } from "../src/reason.js";
import { bars, type Kind } from "./bars.js";
import { call, ways, type Given, type Outcome } from "./call.js";
import { counted, element, framed, milliseconds } from "./dom.js";
import { stringify } from "./json.js";
import { headers, Refused, type Method } from "./services.js";

/** An answer in one form, as the server has weighed it. Times are in microseconds of CPU. */
interface Weighed {
    readonly form: string;
    readonly bytes: number;
    readonly encode_us: number;
    readonly compressed_bytes: number;
    readonly compress_us: number;
}

interface Scale {
    readonly compression: string;
    readonly rows: number | null;
    readonly forms: readonly Weighed[];
}

const names: Readonly<Record<string, string>> = {
    json: "JSON",
    packed: "Packed rows",
    arrow: "Arrow",
    parquet: "Parquet",
    jsonl: "JSON lines",
    msgpack: "MessagePack",
    csv: "CSV",
    "json-rpc": "JSON-RPC",
    "xml-rpc": "XML-RPC",
    amf0: "AMF0",
    "amf0-objects": "AMF0, objects",
    amf3: "AMF3",
};

/** Weighs the answer in all forms, and calls in each that this page reads, if that changes nothing. */
export async function compared(method: Method, given: Given, progress: (text: string) => void): Promise<HTMLElement> {
    progress("the server writes the answer in each form …");
    const response = await fetch(`page/weigh/${method.service}/${method.name}`, {
        method: "POST",
        headers: headers({ "Content-Type": "application/json" }),
        body: stringify(given),
        cache: "no-store",
    });
    if (!response.ok) throw new Refused(response.status, await response.text());
    const scale = (await response.json()) as Scale;
    const outcomes = new Map<string, Outcome>();
    const failed: string[] = [];
    if (method.safe) {
        for (const way of ways) {
            if (!scale.forms.some((weighed) => weighed.form === way.form)) continue;
            progress(`${way.name} …`);
            try {
                // The first call of a way is slower than all others.
                await call(method, way, given);
                outcomes.set(way.form, await call(method, way, given));
            } catch (error) {
                failed.push(`${way.name}: ${reason(error)}`);
            }
        }
    }
    return element(
        "section",
        { class: "compared", "aria-label": "What each form costs" },
        element("h3", {}, "What each form costs"),
        table(scale, outcomes),
        element("h4", {}, "Bytes"),
        sizes(scale),
        element("h4", {}, "Work, in milliseconds"),
        work(scale, outcomes),
        element("p", { class: "note" }, note(method, scale)),
        failed.length > 0 && element("p", { class: "note" }, `Not called in each form. ${failed.join("; ")}.`),
    );
}

function note(method: Method, scale: Scale): string {
    const weighed =
        `Bytes and CPU to write and to compress (by ${scale.compression}) are of one answer that the server wrote in each form, without a pause before; ` +
        "the first writing of a form is slower than later ones.";
    return method.safe
        ? `${weighed} The rest is of a call in each form, the second of two: cursor and rows are what the method tells that its database took, and the rows ` +
              "that it made of that; on the wire are the body's bytes as the browser asked for them; server CPU is what the answer's header Server-Timing says; " +
              `decoding ends when values can be read, and “in all” with the last byte. Libraries for Arrow and Parquet were loaded before.`
        : `${weighed} The method may change something, so it was called once, and not in each form.`;
}

function table(scale: Scale, outcomes: ReadonlyMap<string, Outcome>): HTMLElement {
    const told = toldBy(outcomes);
    const columns = [
        ...["Form", "Bytes", "Compressed"],
        ...told.map(([, name]) => `${name[0].toUpperCase()}${name.slice(1)}, ms`),
        ...["Write, ms", "Compress, ms", "On the wire", "Server CPU, ms", "Decode, ms", "In all, ms"],
    ];
    const smallest = Math.min(...scale.forms.map((weighed) => weighed.bytes));
    const lines = scale.forms.map((weighed) => {
        const outcome = outcomes.get(weighed.form);
        const cells = [
            counted(weighed.bytes),
            counted(weighed.compressed_bytes),
            ...told.map(([step]) => milliseconds(outcome?.server.get(step))),
            milliseconds(weighed.encode_us / 1_000),
            milliseconds(weighed.compress_us / 1_000),
            onTheWire(outcome),
            milliseconds(outcome?.server.get("cpu")),
            milliseconds(outcome?.decodeTime),
            milliseconds(outcome?.total),
        ];
        return element(
            "tr",
            { class: weighed.bytes === smallest ? "best" : undefined },
            element("th", { scope: "row" }, names[weighed.form] ?? weighed.form),
            ...cells.map((cell) => element("td", { class: "number" }, cell)),
        );
    });
    const rows = scale.rows === null ? "" : ` of ${counted(scale.rows)} rows`;
    const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col" }, column)));
    const made = element("table", {}, element("caption", {}, `The answer${rows} in ${scale.forms.length} forms`), element("thead", {}, head), element("tbody", {}, ...lines));
    return framed("What each form costs, as a table", made);
}

function onTheWire(outcome: Outcome | undefined): string {
    if (outcome?.wireBytes === undefined) return "–";
    return outcome.encoding === "" ? counted(outcome.wireBytes) : `${counted(outcome.wireBytes)} ${outcome.encoding}`;
}

/** Bytes of each form: what is left when they are compressed, and behind it what that saves. */
function sizes(scale: Scale): HTMLElement {
    const lines = scale.forms.map((weighed) => {
        const left = Math.min(weighed.compressed_bytes, weighed.bytes);
        const parts = [["main", left], ["more", weighed.bytes - left]] as const;
        return { name: names[weighed.form] ?? weighed.form, parts, figure: `${counted(weighed.bytes)} → ${counted(left)}` };
    });
    const bytes = scale.forms.map((weighed) => weighed.bytes);
    const label = `Bytes of the answer in each form, from ${counted(Math.min(...bytes))} to ${counted(Math.max(...bytes))}; the table before has the figures`;
    return bars(label, lines, [["main", `compressed by ${scale.compression}`], ["more", "plain"]]);
}

/** Milliseconds that the two machines work on each form. */
function work(scale: Scale, outcomes: ReadonlyMap<string, Outcome>): HTMLElement {
    const told = toldBy(outcomes);
    const lines = scale.forms.map((weighed) => {
        const outcome = outcomes.get(weighed.form);
        const parts: [Kind, number][] = told.map(([step]) => [step, outcome?.server.get(step) ?? 0]);
        parts.push(["main", weighed.encode_us / 1_000], ["more", weighed.compress_us / 1_000], ["client", outcome?.decodeTime ?? 0]);
        const sum = parts.reduce((sum, [, took]) => sum + took, 0);
        return { name: names[weighed.form] ?? weighed.form, parts, figure: `${milliseconds(sum)} ms` };
    });
    const label = "Milliseconds to make, write, compress and decode the answer in each form; the table before has the figures";
    return bars(label, lines, [...told, ["main", "write"], ["more", "compress"], ["client", "decode, here"]]);
}

/** What the method tells of its own time, in words. */
function toldBy(outcomes: ReadonlyMap<string, Outcome>): (readonly ["cursor" | "rows", string])[] {
    const steps = [["cursor", "cursor"], ["rows", "rows"]] as const;
    return steps.filter(([step]) => [...outcomes.values()].some((outcome) => outcome.server.has(step)));
}
