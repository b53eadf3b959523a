// The service browser: what there is to call and to subscribe to, a method, its call and its answer.

import { reason } from "../src/reason.js";
import { adviceView } from "./advice.js";
import { call, ways, type Given, type Outcome, type Way } from "./call.js";
import { compared } from "./compare.js";
import { byId, counted, element, milliseconds, say } from "./dom.js";
import { argumentsOf } from "./form.js";
import { stringify } from "./json.js";
import { linkView } from "./link.js";
import { described, Refused, setToken, typeName, type Link, type Method, type Service } from "./services.js";
import { shown } from "./show.js";
import { snippets } from "./snippets.js";
import { publicationView } from "./subscribing.js";

/** What stands in an address before the name of a topic or property; a method may have the same name. */
const VALUES = "values/";

/** What stands in an address before the name of a link. */
const LINK = "link/";

const main = byId("main", HTMLElement);
const list = byId("methods", HTMLElement);
const filter = byId("filter", HTMLInputElement);
const token = byId("token", HTMLInputElement);
let known: readonly Service[] = [];
let links: readonly Link[] = [];
/** Ends the subscription of what is shown. */
let leave = (): void => {};

async function load(): Promise<void> {
    try {
        ({ services: known, links } = await described());
    } catch (error) {
        known = [];
        links = [];
        const isClosed = error instanceof Refused && (error.status === 401 || error.status === 403);
        if (isClosed) byId("access", HTMLDetailsElement).open = true;
        const text = isClosed ? `The server asks for a token: ${reason(error)}` : `The server does not tell what there is to call: ${reason(error)}`;
        main.replaceChildren(element("p", { class: "failed", role: "alert" }, text));
        list.replaceChildren();
        return;
    }
    listed();
    await routed(false);
}

/** The methods, topics, properties and links whose names or words have what is looked for. */
function listed(): void {
    const wanted = filter.value.trim().toLowerCase();
    const isFound = ({ full, about }: { full: string; about: string }): boolean => `${full} ${about}`.toLowerCase().includes(wanted);
    const link = (target: string, ...words: (string | HTMLElement)[]): HTMLElement => {
        return element("li", {}, element("a", { href: `#${target}`, "data-target": target }, ...words));
    };
    let count = 0;
    const parts = known.flatMap((service) => {
        const links = [
            ...service.methods.filter(isFound).map((method) => link(method.full, method.name)),
            ...service.publications.filter(isFound).map(({ full, name, kind }) => {
                return link(`${VALUES}${full}`, name, " ", element("small", { class: "kind" }, kind));
            }),
        ];
        count += links.length;
        return links.length === 0 ? [] : [element("h2", {}, service.name), element("ul", {}, ...links)];
    });
    const found = links.filter(({ name, about }) => isFound({ full: name, about }));
    if (found.length > 0) {
        count += found.length;
        const named = found.map(({ name }) => link(`${LINK}${name}`, name, " ", element("small", { class: "kind" }, "link")));
        parts.push(element("h2", {}, "Links"), element("ul", {}, ...named));
    }
    list.replaceChildren(...parts);
    if (wanted !== "") say(`${count} found`);
    if (count === 0) list.append(element("p", { class: "note" }, "There is nothing of that name."));
    marked();
}

/** What the address names. */
function named(): string {
    const name = location.hash.slice(1);
    try {
        return decodeURIComponent(name);
    } catch {
        // As in `#100%`: no name that is written so.
        return name;
    }
}

function marked(): void {
    const current = named();
    for (const link of document.querySelectorAll("nav a")) {
        const isCurrent = link.getAttribute("data-target") === current || link.getAttribute("href") === location.hash;
        if (isCurrent && current !== "") link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
}

/** Shows what the address names; the focus goes there if the reader has chosen it. */
async function routed(isChosen: boolean): Promise<void> {
    const wanted = named();
    leave();
    leave = () => {};
    const view = wanted === "advice" ? await adviceView() : viewOf(wanted);
    // Another one was chosen while the server gave its advice.
    if (named() !== wanted) return;
    main.replaceChildren(view);
    document.title = `${main.querySelector("h2")?.textContent ?? "Services"} – ${location.host}`;
    marked();
    if (isChosen) main.focus();
}

/** The method, topic, property or link that an address names, or the first one. */
function viewOf(wanted: string): HTMLElement {
    const linked = links.find(({ name }) => `${LINK}${name}` === wanted);
    if (linked !== undefined) return linkView(linked);
    const methods = known.flatMap((service) => service.methods);
    const publications = known.flatMap((service) => service.publications);
    const method = methods.find((method) => method.full === wanted);
    const publication = publications.find((publication) => `${VALUES}${publication.full}` === wanted);
    if (method === undefined && (publication !== undefined || methods.length === 0)) {
        const shown = publication ?? publications[0];
        if (shown === undefined) return links[0] === undefined ? element("p", {}, "The server has nothing to call.") : linkView(links[0]);
        const service = known.find((service) => service.name === shown.service);
        const view = publicationView(shown, service?.about ?? "");
        leave = view.end;
        return view.node;
    }
    return methodView(method ?? methods[0]);
}

function methodView(method: Method): HTMLElement {
    const service = known.find((service) => service.name === method.service);
    const select = element("select", { id: "way", change: () => code.update() });
    for (const way of ways) select.append(element("option", { value: way.id }, way.name));
    const chosen = (): Way => ways.find((way) => way.id === select.value) ?? ways[0];
    const args = argumentsOf(method, () => code.update());
    const read = (): { way: Way; given: Given } | undefined => {
        try {
            return { way: chosen(), given: args.read() };
        } catch {
            return undefined;
        }
    };
    const code = snippets(method, read);
    const status = element("p", { class: "status", role: "status" });
    const answer = element("div", { id: "answer" });
    const comparison = element("div");
    const buttons = [
        element("button", { type: "submit", class: "first" }, "Call"),
        element("button", { type: "button", click: () => void run(compare) }, method.safe ? "Compare all forms" : "Call once, and compare forms"),
    ];
    let isRunning = false;
    const run = async (work: (given: Given) => Promise<void>): Promise<void> => {
        if (isRunning) return;
        isRunning = true;
        status.className = "status";
        // A button that is disabled loses the focus.
        for (const button of buttons) button.setAttribute("aria-disabled", "true");
        try {
            await work(args.read());
        } catch (error) {
            status.className = "status failed";
            status.textContent = reason(error);
        } finally {
            for (const button of buttons) button.removeAttribute("aria-disabled");
            isRunning = false;
        }
    };
    const one = async (given: Given): Promise<void> => {
        status.textContent = "calling …";
        const outcome = await call(method, chosen(), given).catch((error: unknown) => {
            // The answer of another call would stand below this error.
            answer.replaceChildren();
            throw error;
        });
        const isFault = outcome.decoded !== undefined && "fault" in outcome.decoded;
        status.className = isFault ? "status failed" : "status";
        status.textContent = inWords(outcome);
        answer.replaceChildren(shown(outcome), times(outcome));
    };
    const compare = async (given: Given): Promise<void> => {
        comparison.replaceChildren(await compared(method, given, (text) => (status.textContent = text)));
        status.textContent = "The forms are compared below.";
        comparison.scrollIntoView({ block: "nearest" });
    };
    const submit = (event: Event): void => {
        event.preventDefault();
        void run(one);
    };
    return element(
        "article",
        { "aria-labelledby": "title" },
        element("p", { class: "crumb" }, method.service, service?.about ? ` – ${service.about}` : ""),
        element("h2", { id: "title" }, method.full),
        method.about !== "" && element("p", { class: "lead" }, method.about),
        signature(method),
        element(
            "form",
            { class: "call", submit },
            args.node,
            element("div", { class: "field" }, element("label", { for: "way" }, "Protocol and form"), select),
            element("div", { class: "buttons" }, ...buttons),
        ),
        status,
        answer,
        comparison,
        code.node,
    );
}

/** What it takes, what it gives, whether it changes something. */
function signature(method: Method): HTMLElement {
    const schema = (name: string, value: unknown): HTMLElement =>
        element("details", {}, element("summary", {}, `${name} in JSON Schema`), element("pre", { tabindex: 0 }, stringify(value, 2)));
    const changes = method.safe ? "changes nothing; a GET may call it" : "may change something; called by POST alone";
    return element(
        "div",
        { class: "signature" },
        element(
            "dl",
            {},
            element("dt", {}, "Takes"),
            element("dd", {}, method.arguments.length > 0 ? method.arguments.join(", ") : typeName(method.takes)),
            element("dt", {}, "Gives"),
            element("dd", {}, typeName(method.gives)),
            element("dt", {}, "Effect"),
            element("dd", {}, changes),
        ),
        schema("What it takes", method.takes),
        schema("What it gives", method.gives),
    );
}

function inWords(outcome: Outcome): string {
    const size = outcome.wireBytes ?? outcome.bytes.byteLength;
    const packed = outcome.encoding === "" ? "" : `, by ${outcome.encoding}: ${counted(outcome.bytes.byteLength)} bytes plain`;
    const isFault = outcome.decoded !== undefined && "fault" in outcome.decoded;
    return `${isFault ? "A fault" : "Answered"}, status ${outcome.status}: ${counted(size)} bytes on the wire${packed}, in ${milliseconds(outcome.total)} ms`;
}

/** What the call took, on the server and here. */
function times(outcome: Outcome): HTMLElement {
    const of = (name: string): string => milliseconds(outcome.server.get(name));
    // The method tells these two, if it knows.
    const parts = ([["cursor", "the database's cursor"], ["rows", "rows of what that gave"]] as const).filter(([name]) => outcome.server.has(name));
    const rows: [string, string][] = [
        ["Server: method", of("call")],
        ...parts.map(([name, words]): [string, string] => [`Of that: ${words}`, of(name)]),
        ["Server: reads the call, writes the answer", of("encode")],
        ["Server: compresses", of("compress")],
        ["Server: CPU of all that", of("cpu")],
        ["Here: from request to last byte", milliseconds(outcome.total)],
        ["Here: decodes", milliseconds(outcome.decodeTime)],
    ];
    const lines = rows.map(([name, time]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, time)));
    return element("table", { class: "times" }, element("caption", {}, "Milliseconds of this call"), element("tbody", {}, ...lines));
}

byId("where", HTMLElement).textContent = new URL(".", document.baseURI).href;
filter.addEventListener("input", listed);
byId("token-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(token.value);
    void load();
});
byId("skip", HTMLAnchorElement).addEventListener("click", (event) => {
    // Its address would be taken for the name of what to show.
    event.preventDefault();
    main.focus();
});
addEventListener("hashchange", () => void routed(true));
void load();
