// Figures as bars: a picture beside the table that has them.

import { drawn, element } from "./dom.js";

/** What a part of a bar is, which says how it is drawn. */
export type Kind = "cursor" | "rows" | "main" | "more" | "client";

/** A bar: its name, its parts one behind the other, what is written above it. */
export interface Bar {
    readonly name: string;
    readonly parts: readonly (readonly [kind: Kind, size: number])[];
    readonly figure: string;
}

/** A bar that is more than so many times as long as the next one is drawn cut off, at so many times the next one. */
const MOST_TIMES = 3;

/** Bars whose names and figures stand above them, so that they have room on a phone. */
export function bars(label: string, lines: readonly Bar[], legend: readonly (readonly [kind: Kind, name: string])[]): HTMLElement {
    const line = 40;
    const sizes = lines.map((bar) => bar.parts.reduce((sum, [, size]) => sum + size, 0));
    const [longest = 0, next = 0] = [...sizes].sort((a, b) => b - a);
    const most = (next > 0 && longest > MOST_TIMES * next ? MOST_TIMES * next : longest) || 1;
    const share = (size: number): string => `${((size / most) * 100).toFixed(2)}%`;
    const made = lines.flatMap((bar, index) => {
        const top = index * line;
        const isCut = sizes[index] > most;
        let begin = 0;
        const parts = bar.parts.map(([kind, size]) => {
            const end = Math.min(begin + size, most);
            const part = drawn("rect", { x: share(begin), y: top + 18.5, width: share(end - begin), height: 16, class: kind });
            begin = end;
            return part;
        });
        const figure = drawn("text", { x: "100%", y: top + 13, class: "figure" }, isCut ? `${bar.figure}, cut off` : bar.figure);
        // Where it goes on.
        const gap = isCut && drawn("rect", { x: "96%", y: top + 16, width: 5, height: 21, class: "gap" });
        return [drawn("text", { x: 0, y: top + 13 }, bar.name), figure, ...parts, ...(gap === false ? [] : [gap])];
    });
    const picture = drawn("svg", { class: "picture", role: "img", width: "100%", height: lines.length * line, "aria-label": label }, ...made);
    const keys = legend.map(([kind, name]) => {
        const key = drawn("svg", { class: "picture", width: 12, height: 12, "aria-hidden": "true" }, drawn("rect", { x: 0.5, y: 0.5, width: 11, height: 11, class: kind }));
        const item = element("li", {}, name);
        item.prepend(key);
        return item;
    });
    const node = element("div", { class: "bars" }, element("ul", { class: "legend" }, ...keys));
    node.prepend(picture);
    return node;
}
