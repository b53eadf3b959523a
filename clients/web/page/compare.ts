// What each form of an answer costs: as a table, and as a picture of its bytes.

import { call, ways, type Given, type Outcome } from "./call.js";
import { counted, drawn, element, framed, milliseconds } from "./dom.js";
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
        body: JSON.stringify(given),
        cache: "no-store",
    });
    if (!response.ok) throw new Refused(response.status, await response.text());
    const scale = (await response.json()) as Scale;
    const outcomes = new Map<string, Outcome>();
    if (method.safe) {
        for (const way of ways) {
            if (!scale.forms.some((weighed) => weighed.form === way.form)) continue;
            progress(`${way.name} …`);
            // The first call of a way is slower than all others.
            await call(method, way, given);
            outcomes.set(way.form, await call(method, way, given));
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
    );
}

/** Whether this page has no reader of a form. */
function isUnread(form: string): boolean {
    return ways.some((way) => way.form === form && way.decode === undefined);
}

/** Why some forms have no time to decode. */
function unread(scale: Scale): string {
    const forms = scale.forms.filter(({ form }) => isUnread(form)).map(({ form }) => names[form] ?? form);
    if (forms.length === 0) return "";
    return (
        ` Not read here: ${forms.join(" and ")}, whose libraries are as large as this page and larger; ` +
        "what they take is measured by tamtam lab run rows --browser --end-to-end."
    );
}

function note(method: Method, scale: Scale): string {
    const weighed =
        `Bytes and CPU to write and to compress (by ${scale.compression}) are of one answer that the server wrote in each form, without a pause before; ` +
        "the first writing of a form is slower than later ones.";
    return method.safe
        ? `${weighed} The rest is of a call in each form, the second of two: on the wire are the body's bytes as the browser asked for them, ` +
              `server CPU is what the answer's header Server-Timing says, decoding ends when values can be read, and “in all” with the last byte.${unread(scale)}`
        : `${weighed} The method may change something, so it was called once, and not in each form.`;
}

function table(scale: Scale, outcomes: ReadonlyMap<string, Outcome>): HTMLElement {
    const columns = [
        "Form", "Bytes", "Compressed", "Write, ms", "Compress, ms", "On the wire", "Server CPU, ms", "Decode, ms", "In all, ms",
    ];
    const smallest = Math.min(...scale.forms.map((weighed) => weighed.bytes));
    const lines = scale.forms.map((weighed) => {
        const outcome = outcomes.get(weighed.form);
        const cells = [
            counted(weighed.bytes),
            counted(weighed.compressed_bytes),
            milliseconds(weighed.encode_us / 1_000),
            milliseconds(weighed.compress_us / 1_000),
            onTheWire(outcome),
            milliseconds(outcome?.server.get("cpu")),
            outcome !== undefined && isUnread(weighed.form) ? "not read" : milliseconds(outcome?.decodeTime),
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

/** A bar: its name, its parts one behind the other, what is written behind them. */
interface Bar {
    readonly name: string;
    readonly parts: readonly (readonly [kind: string, size: number])[];
    readonly figure: string;
}

/** Bars whose names stand above them, so that they have room on a phone. */
function bars(label: string, lines: readonly Bar[], legend: readonly (readonly [kind: string, name: string])[]): SVGElement {
    const line = 40;
    const sum = (bar: Bar): number => bar.parts.reduce((sum, [, size]) => sum + size, 0);
    const most = Math.max(...lines.map(sum)) || 1;
    const height = lines.length * line + 24;
    const share = (size: number): string => `${((size / most) * 78).toFixed(2)}%`;
    const made = lines.flatMap((bar, index) => {
        const top = index * line;
        let begin = 0;
        const parts = bar.parts.map(([kind, size]) => {
            const part = drawn("rect", { x: share(begin), y: top + 18.5, width: share(size), height: 16, class: kind });
            begin += size;
            return part;
        });
        const figure = drawn("text", { x: share(begin), dx: 8, y: top + 31, class: "figure" }, bar.figure);
        return [drawn("text", { x: 0, y: top + 13 }, bar.name), ...parts, figure];
    });
    const foot = height - 6;
    let at = 0;
    const keys = legend.flatMap(([kind, name]) => {
        const key = [drawn("rect", { x: at + 0.5, y: foot - 9.5, width: 10, height: 10, class: kind }), drawn("text", { x: at + 16, y: foot, class: "figure" }, name)];
        at += 32 + name.length * 8;
        return key;
    });
    return drawn("svg", { class: "picture", role: "img", width: "100%", height, "aria-label": label }, ...made, ...keys);
}

/** Bytes of each form: what is left when they are compressed, and behind it what that saves. */
function sizes(scale: Scale): SVGElement {
    const lines = scale.forms.map((weighed) => {
        const left = Math.min(weighed.compressed_bytes, weighed.bytes);
        const parts = [["compressed", left], ["plain", weighed.bytes - left]] as const;
        return { name: names[weighed.form] ?? weighed.form, parts, figure: `${counted(weighed.bytes)} → ${counted(left)}` };
    });
    const bytes = scale.forms.map((weighed) => weighed.bytes);
    const label = `Bytes of the answer in each form, from ${counted(Math.min(...bytes))} to ${counted(Math.max(...bytes))}; the table before has the figures`;
    return bars(label, lines, [["compressed", `compressed by ${scale.compression}`], ["plain", "plain"]]);
}

/** Milliseconds that the two machines work on each form. */
function work(scale: Scale, outcomes: ReadonlyMap<string, Outcome>): SVGElement {
    const lines = scale.forms.map((weighed) => {
        const [write, compress] = [weighed.encode_us / 1_000, weighed.compress_us / 1_000];
        const decode = outcomes.get(weighed.form)?.decodeTime;
        const parts = [["compressed", write], ["plain", compress], ["decode", decode ?? 0]] as const;
        const figure = [write, compress, ...(decode === undefined ? [] : [decode])].map(milliseconds).join(" + ") + " ms";
        return { name: names[weighed.form] ?? weighed.form, parts, figure };
    });
    const label = "Milliseconds to write, compress and decode the answer in each form; the table before has the figures";
    return bars(label, lines, [["compressed", "write"], ["plain", "compress"], ["decode", "decode, here"]]);
}
