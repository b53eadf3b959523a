// What the server tells of its own traffic.

import { reason } from "../src/reason.js";
import { counted, element, framed, milliseconds } from "./dom.js";
import { ask, Refused } from "./services.js";

interface Advice {
    readonly text: string;
}

interface Link {
    readonly link: string;
    readonly bytes_per_second: number | null;
    readonly samples: number;
    readonly sent: { readonly protocol: string; readonly form: string; readonly compressed: boolean; readonly bytes: number; readonly wire_bytes: number; readonly encode_us: number };
    readonly advice: readonly Advice[];
}

interface Report {
    readonly one_call_in: number;
    readonly left_out: number;
    readonly methods: readonly { readonly method: string; readonly links: readonly Link[] }[];
}

export async function adviceView(): Promise<HTMLElement> {
    const place = element("div", { "aria-live": "polite" });
    const show = async (): Promise<void> => {
        try {
            const report = (await ask("advice")) as Report;
            place.replaceChildren(...shown(report));
        } catch (error) {
            const off = error instanceof Refused && error.status === 404;
            const text = off ? "The server looks at no answers (tamtam serve --advice N looks at one in N)." : reason(error);
            place.replaceChildren(element("p", {}, text));
        }
    };
    await show();
    return element(
        "section",
        { "aria-labelledby": "advice-title" },
        element("h2", { id: "advice-title" }, "Advice on your traffic"),
        element("p", {}, "Of one call in many the server writes the answer in the other forms, too, after it was sent. What would have saved more than a tenth of the bytes, or of the time where the link's speed was seen, is told here."),
        element("button", { type: "button", click: () => void show() }, "Ask again"),
        place,
    );
}

function shown(report: Report): HTMLElement[] {
    const looked = (report.one_call_in === 1 ? "Each call is looked at" : `One call in ${counted(report.one_call_in)} is looked at`) + (report.left_out > 0 ? `; ${counted(report.left_out)} were left out, since another one was being looked at, or they were too large.` : ".");
    if (report.methods.length === 0) return [element("p", { class: "note" }, `${looked} None so far.`)];
    const lines = report.methods.flatMap(({ method, links }) =>
        links.map((link) =>
            element(
                "tr",
                {},
                element("th", { scope: "row" }, method),
                element("td", {}, link.link, link.bytes_per_second !== null && element("div", { class: "note" }, `${counted((link.bytes_per_second * 8) / 1_000)} kbit/s seen`)),
                element("td", {}, `${link.sent.form}${link.sent.compressed ? ", compressed" : ""}`),
                element("td", { class: "number" }, counted(link.samples)),
                element("td", { class: "number" }, counted(link.sent.wire_bytes)),
                element("td", { class: "number" }, milliseconds(link.sent.encode_us / 1_000)),
                element("td", { class: "words" }, ...wordsOf(link)),
            ),
        ),
    );
    const columns = ["Method", "Link", "Sent", "Looked at", "Bytes", "Write, ms", "What would be better"];
    const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col" }, column)));
    const table = element("table", { class: "advice" }, element("caption", {}, looked), element("thead", {}, head), element("tbody", {}, ...lines));
    return [framed("Advice, as a table", table)];
}

function wordsOf(link: Link): HTMLElement[] {
    if (link.advice.length === 0) return [element("p", {}, "Nothing: it is sent well.")];
    return [element("ol", {}, ...link.advice.map((advice) => element("li", {}, advice.text)))];
}
