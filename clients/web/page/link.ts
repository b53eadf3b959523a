// A link: an actor of the server, what it says of itself, and how a page and Node reach it.

import { base, codeView, withToken } from "./code.js";
import { element } from "./dom.js";
import type { Link } from "./services.js";

type Write = (link: Link) => string;

const languages: readonly (readonly [id: string, name: string, write: Write])[] = [
    ["page", "A page", inPage],
    ["node", "Node", inNode],
];

/** Where it is. */
function address({ name }: Link): string {
    return `${base()}link/${name}`;
}

function options(): string {
    return Object.keys(withToken({})).length > 0 ? ', { token: "TOKEN" }' : "";
}

function inPage(link: Link): string {
    return `import { connect } from "@tamtam/web/link";

const link = await connect(${JSON.stringify(address(link))}${options()});
link.ended.then((end) => console.log("the link has ended:", end.text));

// link.root.tell(message) sends a message and returns at once,
// await link.root.ask((reply) => message) waits for the answer to one that the reply stands in;
// link.export((message) => ..) is an actor of the page: its address may stand in a message.`;
}

function inNode(link: Link): string {
    return `// npm install @tamtam/web; before version 22: node --experimental-websocket
${inPage(link)}`;
}

/** What is shown of a link. */
export function linkView(link: Link): HTMLElement {
    return element(
        "article",
        { "aria-labelledby": "title" },
        element("p", { class: "crumb" }, "Links"),
        element("h2", { id: "title" }, link.name),
        link.about !== "" && element("p", { class: "lead" }, link.about),
        element(
            "div",
            { class: "signature" },
            element(
                "dl",
                {},
                element("dt", {}, "Is"),
                element("dd", {}, "an actor, reached over a link: it is told and asked, and tells and asks actors of the page"),
                element("dt", {}, "At"),
                element("dd", {}, element("code", {}, address(link))),
            ),
        ),
        codeView("The link as code", languages, (write) => write(link)).node,
    );
}
