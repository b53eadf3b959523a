// The code that the service browser offers: what it writes in Python runs there.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { ways, type Way } from "../page/call.js";
import type { Method } from "../page/services.js";
import { python } from "../page/snippets.js";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

function method(service: string, name: string): Method {
    return { service, name, full: `${service}.${name}`, arguments: ["value"], takes: {}, gives: true, safe: false, about: "" } as unknown as Method;
}

function way(id: string): Way {
    const found = ways.find((known) => known.id === id);
    assert(found !== undefined, id);
    return found;
}

/** A server of Python's own, whose methods say by which name they were called. */
const server = `
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer
class Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ("/xmlrpc",)
server = SimpleXMLRPCServer(("127.0.0.1", 0), requestHandler=Handler, logRequests=False)
class Named:
    def _dispatch(self, method, params):
        return [method, *map(repr, params)]
server.register_instance(Named())
print(server.server_address[1], flush=True)
server.serve_forever()
`;

test("each name of a method is called from Python", { skip: hasPython ? false : "there is no python3" }, async () => {
    const program = spawn("python3", ["-c", server], { stdio: ["ignore", "pipe", "inherit"] });
    try {
        const [port] = (await createInterface({ input: program.stdout })[Symbol.asyncIterator]().next()).value.split("\n");
        for (const name of ["list", "raise", "a-b", "None", "x_1", "2nd", "class"]) {
            for (const service of ["Kit", "in", "Kit.v-2"]) {
                // The last two have more than the 32 bits that the library writes.
                const code = python(method(service, name), way("xml-rpc"), [1.5, 2 ** 31, [9_007_199_254_740_993n]], `http://127.0.0.1:${port}/`);
                const ran = spawnSync("python3", ["-c", code], { encoding: "utf8" });
                assert.equal(ran.stdout, `['${service}.${name}', '1.5', '2147483648', '[9007199254740993]']\n`, `${code}\n${ran.stderr}`);
            }
        }
    } finally {
        program.kill();
    }
});

test("the code of each way is Python", { skip: hasPython ? false : "there is no python3" }, () => {
    const given = { value: [null, true, "a \"text\"\n", { "a-b": -1e300 }] };
    for (const each of ways) {
        for (const name of ["list", "raise", "a-b"]) {
            const code = python(method("Fault", name), each, given, "http://localhost/");
            const parsed = spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: code, encoding: "utf8" });
            assert.equal(parsed.status, 0, `${each.id}\n${code}\n${parsed.stderr}`);
        }
    }
});
