// A call in other languages, to copy.

import { reason } from "../src/reason.js";
import { places, request, type Given, type Way } from "./call.js";
import { base, codeView, inPython, memberInPython, quoted, withToken, type Code } from "./code.js";
import { asDouble, holds, stringify } from "./json.js";
import { getToken, type Method } from "./services.js";

type Write = (method: Method, way: Way, given: Given, base: string) => string;

const languages: readonly (readonly [id: string, name: string, write: Write])[] = [
    ["curl", "curl", curl],
    ["python", "Python", python],
    ["javascript", "JavaScript", javascript],
    ["actionscript", "ActionScript", actionscript],
];

/** The call that the form holds, as `current` gives it, in each language. */
export function snippets(method: Method, current: () => { way: Way; given: Given } | undefined): Code {
    return codeView("The call as code", languages, (write) => {
        const call = current();
        if (call === undefined) return "The arguments above are not complete yet.";
        try {
            return write(method, call.way, call.given, base());
        } catch (error) {
            // Not each protocol carries each value.
            return `The call cannot be written: ${reason(error)}.`;
        }
    });
}

export function curl(method: Method, way: Way, given: Given, base: string): string {
    const asked = request(method, way, given);
    const parts = [`curl ${quoted(base + asked.path)}`];
    for (const [name, value] of Object.entries(withToken(asked.headers))) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
    if (typeof asked.body === "string") parts.push(`--data-raw ${quoted(asked.body)}`);
    else if (asked.body !== undefined) {
        const figures = Array.from(asked.body, (byte) => byte.toString(16).padStart(2, "0")).join("");
        parts.push("--data-binary @- --output answer.amf");
        return `echo ${figures} | xxd -r -p |\n  ${parts.join(" \\\n  ")}`;
    }
    if (BINARY.has(way.id)) parts.push(`--output answer.${way.id}`);
    return parts.join(" \\\n  ");
}

/** Forms of which a terminal shows nothing. */
const BINARY: ReadonlySet<string> = new Set(["packed", "arrow", "parquet", "msgpack"]);

/** Python's library writes no integers of more than 32 bits, and reads them. */
const LONG_IN_XML_RPC = 'xmlrpc.client.Marshaller.dispatch[int] = lambda self, value, write: write(f"<value><i8>{value}</i8></value>")';

/** Whether a value is an integer of more than 32 bits. */
function isLong(value: unknown): boolean {
    return typeof value === "bigint" || (Number.isInteger(value) && Math.abs(value as number) >= 2 ** 31);
}

export function python(method: Method, way: Way, given: Given, base: string): string {
    if (way.protocol === "xml-rpc") {
        const args = places(method, given).map(inPython).join(", ");
        const token = getToken() === "" ? "" : ', headers=[("Authorization", "Bearer TOKEN")]';
        const long = holds(places(method, given), isLong) ? `${LONG_IN_XML_RPC}\n` : "";
        return `import xmlrpc.client\n\n${long}server = xmlrpc.client.ServerProxy(${inPython(`${base}xmlrpc`)}, allow_none=True${token})\nprint(${memberInPython("server", method.full)}(${args}))`;
    }
    if (way.protocol === "amf") {
        const args = places(method, given).map(inPython).join(", ");
        const address = inPython(base + request(method, way, given).path) + (way.version === 3 ? ", amf_version=3" : "");
        return `# pip install Py3AMF\nfrom pyamf.remoting.client import RemotingService\n\nclient = RemotingService(${address})\nservice = client.getService(${inPython(method.service)})\nprint(${memberInPython("service", method.name)}(${args}))`;
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

export function javascript(method: Method, way: Way, given: Given, base: string): string {
    const asked = request(method, way, given);
    const hasBigint = holds(given, (value) => typeof value === "bigint");
    const body =
        typeof asked.body === "string" && way.protocol !== "xml-rpc"
            ? hasBigint
                ? JSON.stringify(asked.body)
                : `JSON.stringify(${asked.body})`
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
    } else if (hasBigint && (way.id === "json" || way.id === "json-rpc")) {
        lines.push("// JSON.parse rounds integers beyond 2^53; the text has all their digits.", "console.log(await response.text());");
    } else if (way.id === "json") lines.push("console.log(await response.json());");
    else if (way.id === "json-rpc") lines.push("const { result, error } = await response.json();", "console.log(error ?? result);");
    else if (["jsonl", "csv", "xml-rpc"].includes(way.id)) lines.push("console.log(await response.text());");
    else lines.push("console.log(await response.arrayBuffer());");
    return lines.join("\n");
}

/** A value of which ActionScript has each digit. */
function asNumber(value: unknown): unknown {
    if (typeof value === "bigint") asDouble(value, "ActionScript");
    return value;
}

/** Flash and Flex speak AMF, whatever is chosen above. */
export function actionscript(method: Method, _way: Way, given: Given, base: string): string {
    const args = places(method, given).map((value) => `, ${stringify(value, undefined, asNumber)}`);
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
