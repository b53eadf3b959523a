// A call in other languages, to copy.

import { places, request, type Given, type Way } from "./call.js";
import { choice, element, say } from "./dom.js";
import { getToken, type Method } from "./services.js";

type Write = (method: Method, way: Way, given: Given, base: string) => string;

const languages: readonly (readonly [id: string, name: string, write: Write])[] = [
    ["curl", "curl", curl],
    ["python", "Python", python],
    ["javascript", "JavaScript", javascript],
    ["actionscript", "ActionScript", actionscript],
];

/** The call that the form holds, as `current` gives it, in each language. */
export function snippets(method: Method, current: () => { way: Way; given: Given } | undefined): { node: HTMLElement; update(): void } {
    let language = languages[0];
    const text = element("code");
    const update = (): void => {
        const call = current();
        const base = new URL(".", document.baseURI).href;
        text.textContent = call === undefined ? "The arguments above are not complete yet." : language[2](method, call.way, call.given, base);
    };
    const choose = (id: string): void => {
        language = languages.find(([known]) => known === id) ?? languages[0];
        update();
    };
    const copy = (): void => {
        navigator.clipboard.writeText(text.textContent ?? "").then(
            () => say("copied"),
            () => say("the browser did not let the page copy; select the text"),
        );
    };
    update();
    const names = languages.map(([id, name]) => [id, name] as const);
    const node = element(
        "section",
        { class: "snippets", "aria-label": "The call as code" },
        element("h3", {}, "The call as code"),
        choice("Language", names, language[0], choose),
        element("pre", { tabindex: 0, "aria-label": "Code" }, text),
        element("button", { type: "button", click: copy }, "Copy"),
    );
    return { node, update };
}

/** A word of a shell. */
function quoted(text: string): string {
    return `'${text.replace(/'/g, "'\\''")}'`;
}

function withToken(headers: Readonly<Record<string, string>>): Record<string, string> {
    return getToken() === "" ? { ...headers } : { ...headers, Authorization: "Bearer TOKEN" };
}

function curl(method: Method, way: Way, given: Given, base: string): string {
    const asked = request(method, way, given);
    const parts = [`curl ${quoted(base + asked.path)}`];
    for (const [name, value] of Object.entries(withToken(asked.headers))) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
    if (typeof asked.body === "string") parts.push(`--data-raw ${quoted(asked.body)}`);
    else if (asked.body !== undefined) {
        const figures = Array.from(asked.body, (byte) => byte.toString(16).padStart(2, "0")).join("");
        parts.push("--data-binary @- --output answer.amf");
        return `echo ${figures} | xxd -r -p |\n  ${parts.join(" \\\n  ")}`;
    }
    if (way.decode === undefined || way.id === "packed") parts.push(`--output answer.${way.id}`);
    return parts.join(" \\\n  ");
}

/** A value as Python writes it. */
function inPython(value: unknown): string {
    if (value === null || value === undefined) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (Array.isArray(value)) return `[${value.map(inPython).join(", ")}]`;
    if (typeof value === "object") {
        return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inPython(member)}`).join(", ")}}`;
    }
    return JSON.stringify(value);
}

function python(method: Method, way: Way, given: Given, base: string): string {
    if (way.protocol === "xml-rpc") {
        const args = places(method, given).map(inPython).join(", ");
        const token = getToken() === "" ? "" : ', headers=[("Authorization", "Bearer TOKEN")]';
        return `import xmlrpc.client\n\nserver = xmlrpc.client.ServerProxy(${inPython(`${base}xmlrpc`)}, allow_none=True${token})\nprint(server.${method.full}(${args}))`;
    }
    if (way.protocol === "amf") {
        const args = places(method, given).map(inPython).join(", ");
        return `# pip install Py3AMF\nfrom pyamf.remoting.client import RemotingService\n\nclient = RemotingService(${inPython(`${base}amf`)})\nservice = client.getService(${inPython(method.service)})\nprint(service.${method.name}(${args}))`;
    }
    const asked = request(method, way, given);
    const body = way.protocol === "rest" ? given : { jsonrpc: "2.0", method: method.full, params: given, id: 1 };
    const lines = [
        "import json",
        "import urllib.request",
        "",
        `body = json.dumps(${inPython(body)}).encode()`,
        `headers = ${inPython(withToken(asked.headers))}`,
        `call = urllib.request.Request(${inPython(base + asked.path)}, body, headers)`,
        "with urllib.request.urlopen(call) as answer:",
    ];
    if (way.id === "arrow") lines.splice(2, 0, "import pyarrow.ipc");
    const read: Record<string, string> = {
        json: "    print(json.load(answer))",
        "json-rpc": '    print(json.load(answer)["result"])',
        jsonl: "    print([json.loads(line) for line in answer])",
        csv: "    print(answer.read().decode())",
        arrow: "    print(pyarrow.ipc.open_stream(answer.read()).read_all())",
    };
    lines.push(read[way.id] ?? `    open(${inPython(`answer.${way.id}`)}, "wb").write(answer.read())`);
    return lines.join("\n");
}

function javascript(method: Method, way: Way, given: Given, base: string): string {
    const asked = request(method, way, given);
    const body =
        typeof asked.body === "string" && way.protocol !== "xml-rpc"
            ? `JSON.stringify(${JSON.stringify(JSON.parse(asked.body))})`
            : asked.body instanceof Uint8Array
              ? `new Uint8Array([${asked.body.join(", ")}])`
              : JSON.stringify(asked.body);
    const lines = [
        `const response = await fetch(${JSON.stringify(base + asked.path)}, {`,
        `    method: "${asked.method}",`,
        `    headers: ${JSON.stringify(withToken(asked.headers))},`,
        `    body: ${body},`,
        "});",
    ];
    if (way.id === "packed") {
        lines.unshift('import { decode } from "@tamtam/web";', "");
        lines.push("const rows = decode(await response.arrayBuffer());", "for (const row of rows) console.log(row);");
    } else if (way.id === "json") lines.push("console.log(await response.json());");
    else if (way.id === "json-rpc") lines.push("const { result, error } = await response.json();", "console.log(error ?? result);");
    else if (["jsonl", "csv", "xml-rpc"].includes(way.id)) lines.push("console.log(await response.text());");
    else lines.push("console.log(await response.arrayBuffer());");
    return lines.join("\n");
}

/** Flash and Flex speak AMF, whatever is chosen above. */
function actionscript(method: Method, _way: Way, given: Given, base: string): string {
    const args = places(method, given).map((value) => `, ${JSON.stringify(value)}`);
    const token = getToken() === "" ? "" : "\n// The token cannot be sent from here: use addHeader(\"Credentials\", false, {userid: .., password: ..}).";
    return `import flash.net.NetConnection;
import flash.net.Responder;

var connection:NetConnection = new NetConnection();
connection.connect(${JSON.stringify(`${base}amf`)});${token}
connection.call(${JSON.stringify(method.full)}, new Responder(
    function (result:Object):void { trace(result); },
    function (fault:Object):void { trace(fault.code, fault.description); }
)${args.join("")});`;
}
