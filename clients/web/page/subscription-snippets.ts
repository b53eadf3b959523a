// A subscription in other languages, to copy.

import { base, codeView, inPython, quoted, withToken, type Code } from "./code.js";
import { eventsPath, socketUrl } from "./live.js";
import type { Publication } from "./services.js";
import type { Chosen } from "./subscribing.js";

type Write = (name: string, chosen: Chosen) => string;

const languages: readonly (readonly [id: string, name: string, write: Write])[] = [
    ["curl", "curl", curl],
    ["python", "Python", python],
    ["javascript", "JavaScript", javascript],
];

/** The subscription that the form holds, as `current` gives it, in each language. */
export function subscriptionSnippets(publication: Publication, current: () => Chosen): Code {
    return codeView("The subscription as code", languages, (write) => write(publication.full, current()));
}

function eventsUrl(name: string, { wish }: Chosen): string {
    return base() + eventsPath(name, { ...wish });
}

function request(name: string, { wish }: Chosen): Readonly<Record<string, unknown>> {
    return { jsonrpc: "2.0", id: 1, method: "subscribe", params: { name, ...wish } };
}

/** curl reads events, whatever is chosen above. */
function curl(name: string, chosen: Chosen): string {
    const sent = Object.entries(withToken({})).map(([header, value]) => ` \\\n  -H ${quoted(`${header}: ${value}`)}`);
    return `curl -N ${quoted(eventsUrl(name, chosen))}${sent.join("")}`;
}

/** Python has a WebSocket, whatever is chosen above. */
function python(name: string, chosen: Chosen): string {
    const sent = Object.keys(withToken({})).length > 0 ? `, additional_headers=${inPython(withToken({}))}` : "";
    return `# pip install websockets
import json
from websockets.sync.client import connect

with connect(${inPython(socketUrl())}${sent}) as socket:
    socket.send(json.dumps(${inPython(request(name, chosen))}))
    for frame in socket:
        message = json.loads(frame)
        print(message.get("params", message))`;
}

function javascript(name: string, chosen: Chosen): string {
    const hasToken = Object.keys(withToken({})).length > 0;
    if (chosen.transport === "events") {
        const note = hasToken ? "// EventSource sends no token: with one, take a WebSocket.\n" : "";
        return `${note}const events = new EventSource(${JSON.stringify(eventsUrl(name, chosen))});
events.onmessage = (event) => console.log(JSON.parse(event.data));
events.addEventListener("missed", (event) => console.log("missed", event.data));
events.addEventListener("closed", () => events.close());`;
    }
    const authenticate = hasToken ? '\n    call("authenticate", { bearer: "TOKEN" });' : "";
    return `const socket = new WebSocket(${JSON.stringify(socketUrl())});
const call = (method, params) => socket.send(JSON.stringify({ jsonrpc: "2.0", id: method, method, params }));
socket.onopen = () => {${authenticate}
    call("subscribe", ${JSON.stringify(request(name, chosen)["params"])});
};
socket.onmessage = (event) => {
    const { method, params, error } = JSON.parse(event.data);
    if (method === "value") console.log(params.value ?? params.values, "missed", params.missed);
    else if (error) console.error(error.message);
};`;
}
