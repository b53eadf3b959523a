// The service browser keeps all digits of integers: in JSON, in each protocol, in a table, in the code to copy.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { amfAnswer, amfCall } from "../page/amf.js";
import { request, ways, type Way } from "../page/call.js";
import { parse, stringify } from "../page/json.js";
import type { Method } from "../page/services.js";
import { ofRows } from "../page/show.js";
import { actionscript, curl, javascript, python } from "../page/snippets.js";
import { decode } from "../src/rows.js";
import { columnsOf, golden } from "./golden.js";

const LONG = 9_007_199_254_740_993n;
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const method = { service: "Echo", name: "echo", full: "Echo.echo", arguments: ["value"], takes: {}, gives: true, safe: true, about: "" } as unknown as Method;

function way(id: string): Way {
    const found = ways.find((known) => known.id === id);
    assert(found !== undefined, id);
    return found;
}

/** What a way makes of an answer. */
function decoded(id: string, bytes: Uint8Array<ArrayBuffer>): unknown {
    return way(id).decode?.(bytes.slice().buffer, true);
}

test("integers that no number is are bigints, and go back as they came", () => {
    const texts = [
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551615",
        "123456789012345678901234567890",
        '{"a":[9007199254740993,1,{"b":-9223372036854775808}],"9007199254740993":"9007199254740993"}',
        '["\\"9007199254740993","\\\\",9007199254740993,"\\\\\\"",[9007199254740993]]',
        '{"__proto__":9007199254740993}',
    ];
    for (const text of texts) assert.equal(stringify(parse(text)), text);
    assert.deepEqual(parse("[9007199254740993, 9007199254740991, 1e20, 9007199254740993.5, 0.1234567890123456789]"), [
        LONG,
        9_007_199_254_740_991,
        1e20,
        9_007_199_254_740_993.5,
        0.123_456_789_012_345_68,
    ]);
    assert.equal(stringify({ a: LONG }, 1), '{\n "a": 9007199254740993\n}');
    for (const broken of ["[9007199254740993", '"9007199254740993', "09007199254740993", "[9007199254740993,]", '{"a":"9007199254740993\\"}']) {
        const told = (read: (text: string) => unknown): string => {
            try {
                return `read: ${String(read(broken))}`;
            } catch (error) {
                return String(error);
            }
        };
        assert.match(told(parse), /^SyntaxError/, broken);
        assert.equal(told(parse), told(JSON.parse), broken);
    }
    // A server cannot know the mark, and texts that look like one stay texts.
    assert.deepEqual(parse('["a:9007199254740993", 9007199254740993]'), ["a:9007199254740993", LONG]);
    const long = `"${"x".repeat(1 << 20)}${"\\\\".repeat(1 << 20)}"`;
    assert.deepEqual(parse(`[${long}, 9007199254740993]`), [JSON.parse(long), LONG]);
});

test("each form that has such integers reads them", () => {
    const text = new TextEncoder();
    assert.deepEqual(decoded("json", text.encode('{"a":9007199254740993}')), { value: { a: LONG } });
    assert.deepEqual(decoded("jsonl", text.encode('{"a":9007199254740993}\n{"a":1}\n')), { value: [{ a: LONG }, { a: 1 }] });
    assert.deepEqual(decoded("json-rpc", text.encode('{"jsonrpc":"2.0","result":[9007199254740993],"id":1}')), { value: [LONG] });
    assert.deepEqual(decoded("json-rpc", text.encode('{"jsonrpc":"2.0","error":{"data":9007199254740993},"id":1}')), { fault: { data: LONG } });
    const packed = Uint8Array.of(0x93, 0xcf, 0, 0x20, 0, 0, 0, 0, 0, 1, 0xd3, 0xff, 0xdf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xcf, 0, 0, 1, 0, 0, 0, 0, 0);
    assert.deepEqual(decoded("msgpack", packed), { value: [LONG, -LONG, 2 ** 40] });
});

test("each form writes them, or says that it has none", () => {
    const given = { value: [LONG, { a: -LONG }] };
    assert.equal(request(method, way("json"), given).body, '{"value":[9007199254740993,{"a":-9007199254740993}]}');
    assert.match(String(request(method, way("json-rpc"), given).body), /"params":\{"value":\[9007199254740993,\{"a":-9007199254740993\}\]\}/);
    assert.match(String(request(method, way("xml-rpc"), given).body), /<i8>9007199254740993<\/i8>.*<i8>-9007199254740993<\/i8>/);
    assert.throws(() => request(method, way("xml-rpc"), { value: 1n << 64n }), /XML-RPC has integers of 64 bits/);
    // What is a float is no integer of theirs.
    assert.match(String(request(method, way("xml-rpc"), { value: 1e300 })["body"]), /<double>1e\+300<\/double>/);
    for (const id of ["amf0", "amf3"]) {
        assert.throws(() => request(method, way(id), given), /AMF has doubles alone, and none is 9007199254740993: give it as a text/);
    }
    // What a double is goes as one.
    for (const version of [0, 3] as const) {
        const call = amfCall("/1/onResult", [1n << 60n], version);
        assert.deepEqual(amfAnswer(call.buffer), { value: [2 ** 60] });
    }
});

test("a table has all digits of its integers", () => {
    let seen = 0;
    for (const { name, bytes } of golden()) {
        const rows = decode(bytes);
        const objects = ofRows(rows);
        for (const { name: column, kind, values } of columnsOf(name)) {
            if (kind !== "i64" && kind !== "u64") continue;
            const isFirst = columnsOf(name).filter((other) => other.name === column).length === 1;
            if (!isFirst) continue;
            const isBigint = values.some((value) => typeof value === "string" && !Number.isSafeInteger(Number(value)));
            objects.forEach((object, row) => {
                const value = values[row];
                const expected = typeof value !== "string" ? value : isBigint ? BigInt(value) : Number(value);
                assert.equal(object[column], expected, `${name}, ${column}, row ${row}`);
            });
            seen += isBigint ? 1 : 0;
        }
    }
    assert.ok(seen > 0, "no golden table has such a column");
});

test("the code to copy sends all digits", { skip: hasPython ? false : "there is no python3" }, () => {
    const given = { value: [LONG, 1] };
    const base = "http://localhost/";
    assert.match(curl(method, way("json"), given, base), /--data-raw '\{"value":\[9007199254740993,1\]\}'/);
    // The code runs as it stands, up to where it calls.
    const sent = (id: string): string => {
        const code = javascript(method, way(id), given, base).replace("await fetch", "fetch").split("\n});")[0];
        const run = new Function("fetch", `${code}\n}); return response;`) as (fetch: (_: string, options: { body: string }) => string) => string;
        return run((_, { body }) => body);
    };
    assert.equal(sent("json"), '{"value":[9007199254740993,1]}');
    assert.match(sent("json-rpc"), /"value":\[9007199254740993,1\]/);
    assert.match(sent("xml-rpc"), /<i8>9007199254740993<\/i8>/);
    assert.match(javascript(method, way("json"), given, base), /await response\.text\(\)/);
    assert.doesNotMatch(javascript(method, way("json"), { value: 1 }, base), /response\.text/);
    const code = python(method, way("json"), given, base).replace(/^with urllib[^]*/m, "print(call.data.decode())");
    assert.equal(spawnSync("python3", ["-c", code], { encoding: "utf8" }).stdout, '{"value": [9007199254740993, 1]}\n');
    assert.throws(() => actionscript(method, way("amf3"), given, base), /ActionScript has doubles alone/);
    assert.match(actionscript(method, way("amf3"), { value: 1n << 60n }, base), /, 1152921504606846976\);/);
});
