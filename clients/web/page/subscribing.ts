// A topic or property: its subscription, the newest values, and how many came and were missed.

import { choice, counted, element, framed } from "./dom.js";
import { stringify } from "./json.js";
import { subscribe, type State, type Transport, type Wish } from "./live.js";
import { typeName, type Publication } from "./services.js";
import { subscriptionSnippets } from "./subscription-snippets.js";

/** Values that are shown. */
const MOST_VALUES = 50;
/** Characters that are shown of a value. */
const MOST_CHARACTERS = 1_000;
/** Members of a value that have columns of their own, at most. */
const MOST_COLUMNS = 8;
/** Milliseconds from one look at what came to the next. */
const REFRESH = 200;
/** So many looks back it is counted how many values come in a second. */
const RATE_LOOKS = 15;

const policies: readonly (readonly [id: string, name: string])[] = [
    ["all", "All values, one by one"],
    ["latest", "The latest, passing over those between"],
    ["latest_of_each_key", "The latest of each key"],
    ["batches", "All values, those of an interval together"],
];

/** A value that came. */
interface Came {
    /** The number of the message that it came in. */
    readonly number: number;
    readonly time: Date;
    readonly value: unknown;
}

/** What the reader has chosen. */
export interface Chosen {
    readonly transport: Transport;
    readonly wish: Wish;
}

/** The view, and what ends its subscription. */
export function publicationView(publication: Publication, about: string): { node: HTMLElement; end(): void } {
    const form = wishForm(publication, () => code.update());
    const code = subscriptionSnippets(publication, form.read);
    const button = element("button", { type: "submit", class: "first" }, "Subscribe");
    const status = element("p", { class: "status", role: "status" }, "Not subscribed.");
    const values = valuesView(publication);
    let end: (() => void) | undefined;
    const stands = (state: State, text: string): void => {
        status.className = state === "lost" ? "status failed" : "status";
        status.textContent = text;
        if (state !== "ended") return;
        end = undefined;
        form.node.disabled = false;
        button.textContent = "Subscribe";
        values.stop();
    };
    const submit = (event: Event): void => {
        event.preventDefault();
        if (end !== undefined) return end();
        const { transport, wish } = form.read();
        form.node.disabled = true;
        button.textContent = "Unsubscribe";
        values.begin();
        end = subscribe(transport, publication.full, wish, { stands, came: values.came, missed: values.missed });
    };
    const kind = publication.kind === "topic" ? "a topic: values from the subscription on" : "a property: its value, and each change";
    const node = element(
        "article",
        { "aria-labelledby": "title" },
        element("p", { class: "crumb" }, publication.service, about !== "" && ` – ${about}`),
        element("h2", { id: "title" }, publication.full),
        publication.about !== "" && element("p", { class: "lead" }, publication.about),
        element(
            "div",
            { class: "signature" },
            element(
                "dl",
                {},
                element("dt", {}, "Is"),
                element("dd", {}, kind),
                element("dt", {}, "Values"),
                element("dd", {}, typeName(publication.gives)),
                element("dt", {}, "Keys"),
                element("dd", {}, publication.keys ? "yes: the latest of each key can be asked for" : "none"),
            ),
            element(
                "details",
                {},
                element("summary", {}, "Its values in JSON Schema"),
                element("pre", { tabindex: 0 }, stringify(publication.gives, 2)),
            ),
        ),
        element("form", { class: "call", submit }, form.node, element("div", { class: "buttons" }, button)),
        status,
        values.node,
        code.node,
    );
    return {
        node,
        end: () => {
            end?.();
            values.stop();
        },
    };
}

/** What is wanted, over what. */
function wishForm(publication: Publication, changed: () => void): { node: HTMLFieldSetElement; read(): Chosen } {
    let transport: Transport = "socket";
    const choose = (id: string): void => {
        transport = id === "events" ? "events" : "socket";
        changed();
    };
    const policy = element("select", { id: "policy", change: () => show() });
    for (const [id, name] of policies) {
        if (id !== "latest_of_each_key" || publication.keys) policy.append(element("option", { value: id }, name));
    }
    const behind = element("select", { id: "behind", change: changed });
    behind.append(element("option", { value: "drop" }, "Drop the oldest values, and count them as missed"));
    behind.append(element("option", { value: "close" }, "Close the connection"));
    const interval = element("input", { id: "interval", type: "number", min: 0, max: 60_000, step: 1, placeholder: "none", input: changed });
    const behindField = element("div", { class: "field" }, element("label", { for: "behind" }, "When too far behind"), behind);
    const mayLag = (): boolean => policy.value === "all" || policy.value === "batches";
    const show = (): void => {
        behindField.hidden = !mayLag();
        interval.placeholder = policy.value === "batches" ? "100" : "none";
        changed();
    };
    const node = element(
        "fieldset",
        { "aria-label": "What is wanted" },
        choice("Over", [["socket", "WebSocket"], ["events", "Events of the server"]], transport, choose),
        element("div", { class: "field" }, element("label", { for: "policy" }, "Values"), policy),
        behindField,
        element("div", { class: "field" }, element("label", { for: "interval" }, "Milliseconds from one message to the next, at least"), interval),
    );
    const read = (): Chosen => ({
        transport,
        wish: {
            policy: policy.value,
            ...(mayLag() && behind.value !== "drop" && { when_behind: behind.value }),
            ...(interval.value !== "" && interval.validity.valid && { interval_ms: interval.valueAsNumber }),
        },
    });
    return { node, read };
}

interface Values {
    readonly node: HTMLElement;
    /** Begins anew. */
    begin(): void;
    /** Shows the last of it, and looks no more. */
    stop(): void;
    came(values: readonly unknown[], number: number, missed: number): void;
    missed(count: number): void;
}

/** The newest values, and the figures of a subscription. They are shown a few times a second, however many come. */
function valuesView(publication: Publication): Values {
    const columns = columnsOf(publication);
    const body = element("tbody");
    const heads = ["Number", "Came", ...(columns ?? ["Value"])].map((name) => element("th", { scope: "col" }, name));
    const table = element("table", { class: "rows values" }, element("thead", {}, element("tr", {}, ...heads)), body);
    const names = ["Values a second", "Received", "Missed"] as const;
    const figures = names.map(() => element("dd", { class: "number" }, "0"));
    const hold = element("button", { type: "button", "aria-pressed": "false", click: () => toggle() }, "Hold the list");
    let isHeld = false;
    let newest: Came[] = [];
    let received = 0;
    let missed = 0;
    let looks: { time: number; received: number }[] = [];
    let timer: ReturnType<typeof setInterval> | undefined;
    let isNew = false;
    const list = (): void => {
        if (isHeld || !isNew) return;
        isNew = false;
        body.replaceChildren(...newest.map((came) => row(came, columns)));
    };
    const look = (): void => {
        const now = { time: performance.now(), received };
        looks = [...looks.slice(-RATE_LOOKS), now];
        const seconds = (now.time - looks[0].time) / 1_000;
        const rate = seconds === 0 ? 0 : (received - looks[0].received) / seconds;
        const texts = [rate.toFixed(rate < 100 ? 1 : 0), counted(received), counted(missed)];
        figures.forEach((figure, place) => (figure.textContent = texts[place]));
        list();
    };
    const toggle = (): void => {
        isHeld = !isHeld;
        hold.setAttribute("aria-pressed", String(isHeld));
        list();
    };
    const stop = (): void => {
        if (timer === undefined) return;
        clearInterval(timer);
        timer = undefined;
        look();
        figures[0].textContent = "0";
    };
    const node = element(
        "section",
        { "aria-label": "Values" },
        element("h3", {}, "Values"),
        element("dl", { class: "figures" }, ...names.flatMap((name, place) => [element("dt", {}, name), figures[place]])),
        element("p", { class: "note" }, `The newest ${MOST_VALUES}, the last one first.`),
        framed("The newest values", table),
        element("div", { class: "buttons" }, hold),
    );
    return {
        node,
        begin: () => {
            [newest, received, missed, looks, isNew] = [[], 0, 0, [], true];
            timer = setInterval(look, REFRESH);
            look();
        },
        stop,
        came: (values, number, missedBefore) => {
            const time = new Date();
            received += values.length;
            missed += missedBefore;
            const shown = values.slice(-MOST_VALUES).map((value) => ({ number, time, value }));
            newest = [...shown.reverse(), ...newest].slice(0, MOST_VALUES);
            isNew = true;
        },
        missed: (count) => {
            missed += count;
        },
    };
}

/** The names of the members, if the values are objects that have few. */
function columnsOf({ gives }: Publication): readonly string[] | undefined {
    const names = typeof gives === "object" && gives.properties !== undefined ? Object.keys(gives.properties) : [];
    return names.length > 0 && names.length <= MOST_COLUMNS ? names : undefined;
}

function row({ number, time, value }: Came, columns: readonly string[] | undefined): HTMLTableRowElement {
    const member = (name: string): unknown => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined);
    const cells = columns === undefined ? [value] : columns.map(member);
    return element(
        "tr",
        {},
        element("th", { scope: "row" }, counted(number)),
        element("td", { class: "number" }, time.toISOString().slice(11, 23)),
        ...cells.map((cell) => element("td", { class: typeof cell === "number" || typeof cell === "bigint" ? "number" : undefined }, inCell(cell))),
    );
}

function inCell(value: unknown): string {
    const text = typeof value === "string" ? value : value === undefined ? "" : stringify(value);
    return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text;
}
