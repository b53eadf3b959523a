// Elements of the page, made without a template: each text is a text, whatever a server says.

type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void) | undefined>>;
type Child = Node | string | undefined | false;

function fill(node: Element, attributes: Attributes, children: readonly Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") node.addEventListener(name, value);
        else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== undefined && child !== false) node.append(child);
}

/** An element: attributes by their names, listeners by the names of their events. */
export function element<Name extends keyof HTMLElementTagNameMap>(
    name: Name,
    attributes: Attributes = {},
    ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
    const node = document.createElement(name);
    fill(node, attributes, children);
    return node;
}

/** An element of a picture. */
export function drawn(name: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    fill(node, attributes, children);
    return node;
}

/** The element that the page has by this id. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
    const found = document.getElementById(id);
    if (found instanceof kind) return found;
    throw new Error(`the page has no ${id}`);
}

/** Says it to those who do not see the page. */
export function say(text: string): void {
    byId("said", HTMLElement).textContent = text;
}

const integers = new Intl.NumberFormat("en");

/** 12,345 */
export function counted(count: number): string {
    return integers.format(Math.round(count));
}

/** Milliseconds, with three figures. */
export function milliseconds(time: number | undefined): string {
    if (time === undefined || Number.isNaN(time)) return "–";
    if (time === 0) return "0";
    return time >= 100 ? counted(time) : time.toPrecision(time >= 0.1 ? 3 : 2).replace(/e.*$/, "");
}

/** A table within a frame that scrolls by keyboard, too. */
export function framed(name: string, table: HTMLTableElement): HTMLElement {
    return element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name }, table);
}

/** Buttons of which one is chosen, as a list of radio buttons is. */
export function choice(
    legend: string,
    names: readonly (readonly [value: string, label: string])[],
    chosen: string,
    choose: (value: string) => void,
): HTMLFieldSetElement {
    const group = `choice-${(counter += 1)}`;
    const options = names.map(([value, label]) => {
        const input = element("input", { type: "radio", name: group, value, checked: value === chosen, change: () => choose(value) });
        return element("label", {}, input, label);
    });
    return element("fieldset", { class: "choice" }, element("legend", {}, legend), ...options);
}

let counter = 0;
