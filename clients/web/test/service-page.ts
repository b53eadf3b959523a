// The gateway's service browser in a real browser: `node build/test/service-page.js URL`, where `tamtam serve --demo --advice 1`
// serves. It calls by the form through each protocol, compares forms, reads the advice, subscribes to values,
// by keyboard too, and loads nothing else. What each test leaves on the screen has to be fit for a screen reader, too, and to be told from
// what is behind it, in both color schemes: axe looks at it. A picture of it comes into build/screens.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import axe from "axe-core";
import { chromium, type Page } from "playwright-core";
import { findChromium } from "../bench/chromium.js";
import { amfAnswer, amfCall } from "../page/amf.js";
import { connect, type Address, type Reply } from "../src/link.js";
import { golden, inAmf3 } from "./amf.js";

const url = process.argv[2] ?? assert.fail("say where the server is: service-page.js URL");
const executablePath = findChromium() ?? assert.fail("there is no Chromium");
const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args, headless: true });
let passed = 0;

/** Opens the page anew, and sees to it that it says nothing on the console and asks nobody else. */
async function test(name: string, options: { colorScheme: "light" | "dark"; width: number }, body: (page: Page) => Promise<void>): Promise<void> {
    const { colorScheme, width } = options;
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    const complaints: string[] = [];
    const page = await context.newPage();
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
        const asked = request.url();
        if (!asked.startsWith(`${url}/`) && !asked.startsWith("data:") && !asked.startsWith("blob:")) complaints.push(`it asked ${asked}`);
    });
    await page.goto(`${url}/`);
    await page.getByRole("heading", { level: 2, name: "Echo.echo" }).waitFor();
    await body(page);
    assert.deepEqual(complaints, [], name);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, `${name}: the page is wider than its window`);
    assert.deepEqual(await barriers(page), [], `${name}: not all can use this`);
    // For people: what each test leaves on the screen.
    await page.screenshot({ path: `build/screens/${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`, fullPage: true });
    await context.close();
    passed++;
}

/** What of the page's rules for all who read and use it otherwise, by axe, what is shown breaks, and where. */
async function barriers(page: Page): Promise<string[]> {
    await page.evaluate(axe.source);
    const results = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"] }));
    return results.violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html}`));
}

const wide = { colorScheme: "light", width: 1280 } as const;
const narrow = { colorScheme: "dark", width: 380 } as const;

await test("a table is called for by the form, through each protocol", wide, async (page) => {
    await page.getByRole("link", { name: "list", exact: true }).click();
    await page.getByLabel("set", { exact: true }).selectOption("palette");
    let first: string | undefined;
    const ways = ["URL, JSON", "URL, packed rows", "URL, JSON lines", "URL, CSV", "URL, Arrow", "URL, Parquet", "URL, MessagePack", "JSON-RPC", "XML-RPC", "AMF0", "AMF0, tables as objects", "AMF3"];
    for (const way of ways) {
        await page.getByLabel("Protocol and form").selectOption(way);
        await page.locator("#answer").evaluate((answer) => answer.replaceChildren());
        await page.getByRole("button", { name: "Call", exact: true }).click();
        const row = page.getByRole("region", { name: "The rows of the answer" }).locator("tbody tr").nth(41);
        await row.waitFor();
        const text = (await row.locator("td").allTextContents()).join(" ");
        first ??= text;
        assert.equal(text, first, way);
        assert.match((await page.locator(".status").textContent()) ?? "", /^Answered, status 200: [\d,]+ bytes on the wire.* in [\d.,]+ ms$/, way);
    }
    assert.match(first ?? "", /^42 \d+ \d+ [0-9a-f]{6} \d+$/);
    const cpu = page.getByRole("row", { name: /Server: CPU of all that/ }).locator("td");
    assert.match((await cpu.textContent()) ?? "", /^\d/, "the header Server-Timing is read");
    const cursor = page.getByRole("row", { name: /Of that: the database's cursor/ }).locator("td");
    assert.ok(Number(await cursor.textContent()) > 0, "what the method tells is shown");
    await page.getByRole("button", { name: "Show 100 more of 1,000 rows" }).click();
    assert.equal(await page.locator("table.rows tbody tr").count(), 200);
});

await test("the same values go out and come back in each protocol", narrow, async (page) => {
    // As a text, its members have the order of each protocol; XML-RPC has no null, and no integers beyond 64 bits.
    const value = { "": [], a: [1, -1, 300_000_000, 0.5, { b: true, "ü": "🥁 & <b>" }], again: ["a", "a"], nothing: null };
    for (const way of ["URL, JSON", "URL, MessagePack", "JSON-RPC", "AMF0", "AMF3"]) {
        const { "": _, ...named } = value;
        // AMF3 ends an object with the empty name.
        const sent = way === "AMF3" ? named : value;
        await page.getByLabel("value", { exact: true }).fill(JSON.stringify(sent));
        await page.getByLabel("Protocol and form").selectOption(way);
        await page.locator("#answer").evaluate((answer) => answer.replaceChildren());
        await page.getByRole("button", { name: "Call", exact: true }).click();
        const tree = page.locator(".tree");
        await tree.getByText(`answer ${Object.keys(sent).length} members`).waitFor();
        await tree.getByText("a list of 5").click();
        await tree.getByText("300000000").waitFor();
        await tree.getByText("4 2 members").click();
        await tree.getByText('ü: "🥁 & <b>"').waitFor();
        await tree.getByText("again list of 2").click();
        // The list opens after the click.
        await tree.getByText(': "a"').nth(1).waitFor();
        assert.equal(await tree.getByText(': "a"').count(), 2, way);
        await tree.getByText("nothing: null").waitFor();
    }
    await page.getByLabel("value", { exact: true }).fill('{"": 1}');
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".status.failed").getByText("AMF3 has no members with an empty name").waitFor();
    assert.equal(await page.locator("#answer").textContent(), "", "the answer before is of another call");
    await page.getByLabel("Code", { exact: true }).getByText("The call cannot be written: AMF3 has no members").waitFor();
});

await test("integers keep all their digits in each protocol that has them", wide, async (page) => {
    const digits = "9007199254740993";
    for (const way of ["URL, JSON", "URL, MessagePack", "JSON-RPC", "XML-RPC"]) {
        await page.getByLabel("value", { exact: true }).fill(`[{"n": ${digits}}]`);
        await page.getByLabel("Protocol and form").selectOption(way);
        await page.locator("#answer").evaluate((answer) => answer.replaceChildren());
        await page.getByRole("button", { name: "Call", exact: true }).click();
        const cell = page.getByRole("region", { name: "The rows of the answer" }).locator("tbody td").first();
        await cell.waitFor();
        assert.equal(await cell.textContent(), digits, way);
        await page.getByRole("radio", { name: "Tree" }).check();
        await page.locator(".tree").getByText("0 1 members").click();
        await page.locator(".tree").getByText(`n: ${digits}`).waitFor();
        assert.ok(((await page.getByLabel("Code", { exact: true }).textContent()) ?? "").includes(digits), way);
    }
    for (const way of ["AMF0", "AMF3"]) {
        await page.getByLabel("Protocol and form").selectOption(way);
        await page.getByRole("button", { name: "Call", exact: true }).click();
        await page.locator(".status.failed").getByText("AMF has doubles alone").waitFor();
    }
});

await test("values of any kind are typed as JSON, and shown as a tree", narrow, async (page) => {
    await page.getByLabel("value", { exact: true }).fill('{"a": [1, {"b": null}], "<b>": "<script>alert(1)</script>"}');
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".tree").getByText("list of 2").click();
    await page.locator(".tree").getByText("<script>alert(1)</script>").waitFor();
    await page.getByRole("radio", { name: "As it came" }).check();
    const raw = await page.getByLabel("The answer as it came").textContent();
    assert.deepEqual(JSON.parse(raw ?? ""), { a: [1, { b: null }], "<b>": "<script>alert(1)</script>" });
    await page.getByRole("radio", { name: "JSON", exact: true }).check();
    await page.getByLabel("Arguments as JSON").fill("[1");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("the arguments are no JSON").waitFor();
});

await test("a fault is told in each protocol", wide, async (page) => {
    await page.getByRole("link", { name: "raise" }).click();
    for (const way of ["JSON-RPC", "XML-RPC", "AMF0", "AMF3"]) {
        await page.getByLabel("Protocol and form").selectOption(way);
        await page.getByRole("button", { name: "Call", exact: true }).click();
        await page.locator(".status.failed").getByText("A fault, status 200").waitFor();
        await page.locator(".tree.fault").getByText("raised on purpose").first().waitFor();
    }
});

await test("the forms are compared, and the advice names a smaller one", narrow, async (page) => {
    await page.goto(`${url}/#Tiles.list`);
    await page.getByRole("button", { name: "Compare all forms" }).click();
    const table = page.getByRole("region", { name: "What each form costs, as a table" });
    await table.waitFor({ timeout: 60_000 });
    const bytes = async (form: string): Promise<number> => {
        const cells = table.getByRole("row", { name: form }).first().locator("td");
        return Number((await cells.first().textContent())?.replaceAll(",", ""));
    };
    assert.ok((await bytes("Packed rows")) < (await bytes("JSON lines")) / 4);
    assert.equal(await table.locator("tbody tr").count(), 12);
    const columns = await table.locator("thead th").allTextContents();
    for (const row of await table.locator("tbody tr").all()) {
        const [form, ...cells] = await row.locator("th, td").allTextContents();
        for (const column of ["Cursor, ms", "Rows, ms", "Write, ms", "Compress, ms", "On the wire", "Server CPU, ms", "Decode, ms", "In all, ms"]) {
            const cell = cells[columns.indexOf(column) - 1];
            assert.ok(cell !== undefined, `${form} has no ${column}`);
            assert.match(cell, /^\d/, `${form}: ${column}`);
        }
    }
    await page.getByRole("img", { name: /Bytes of the answer in each form/ }).waitFor();
    await page.getByRole("link", { name: "Advice on your traffic" }).click();
    const advice = page.getByRole("region", { name: "Advice, as a table" });
    for (let tries = 0; (await advice.getByText("packed rows (Accept").count()) === 0; tries++) {
        assert.ok(tries < 300, "the server has given no advice");
        await page.waitForTimeout(100);
        await page.getByRole("button", { name: "Ask again" }).click();
    }
});

await test("what a method does, takes and gives is told", narrow, async (page) => {
    await page.getByRole("link", { name: "grow", exact: true }).click();
    const told = page.getByRole("article", { name: "Shapes.grow" });
    await told.getByText("The shape, so many times as large.").waitFor();
    const said = async (term: string): Promise<string | null> => told.locator("dt", { hasText: term }).locator("+ dd").first().textContent();
    assert.equal(await said("Takes"), "shape, factor");
    assert.equal(await said("Effect"), "changes nothing; a GET may call it");
    for (const name of ["What it takes", "What it gives"]) {
        await told.getByText(`${name} in JSON Schema`).click();
        const schema = JSON.parse((await told.locator("details", { hasText: name }).locator("pre").textContent()) ?? "") as { $schema?: string; anyOf?: unknown; oneOf?: unknown };
        if (name === "What it takes") assert.deepEqual(Object.keys((schema as { properties: object }).properties).sort(), ["factor", "shape"]);
        else assert.ok(JSON.stringify(schema).includes('"radius"'), "a circle is one of the shapes");
    }
    await page.getByRole("link", { name: "set", exact: true }).click();
    await page.getByText("Sets the slider: 0 to 100.").waitFor();
    await page.getByText("may change something; called by POST alone").waitFor();
});

await test("the call is given as code", wide, async (page) => {
    await page.getByLabel("value", { exact: true }).fill("it's \"x\"");
    const code = page.getByLabel("Code", { exact: true });
    for (const [language, part] of [
        ["curl", "'{\"value\":\"it'\\''s \\\"x\\\"\"}'"],
        ["Python", "urllib.request"],
        ["JavaScript", "await fetch("],
        ["ActionScript", 'connection.call("Echo.echo"'],
    ]) {
        await page.getByRole("radio", { name: language }).check();
        assert.ok((await code.textContent())?.includes(part), language);
    }
});

await test("an answer with an object that only its class can read is shown as far as it can be", wide, async (page) => {
    await page.getByRole("link", { name: "shift", exact: true }).click();
    await page.getByLabel("place", { exact: true }).fill('{"x": 5, "label": "here"}');
    await page.getByLabel("by", { exact: true }).fill("2");
    await page.getByLabel("Protocol and form").selectOption("AMF3");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const words = "an object of the class com.example.Place, which only the program that has this class knows how to read; 10 bytes follow";
    await page.locator("#answer .tree").getByText(words).waitFor();
    await page.getByText(`What is shown ends before ${words}. “As it came” has them.`).waitFor();
    assert.match((await page.locator(".status").textContent()) ?? "", /^Answered, status 200: /);
});

// What the page cannot send, it can get: a method may give whatever AMF3 has.
for (const [name, value] of Object.entries(inAmf3)) {
    const sent = golden(name);
    const call = amfCall("Echo.echo", [], 3);
    // In place of no arguments, one: the golden value.
    const body = Buffer.concat([call.subarray(0, -5), Uint8Array.of(10, 0, 0, 0, 1, 17), sent]);
    const response = await fetch(`${url}/amf`, { method: "POST", headers: { "Content-Type": "application/x-amf" }, body });
    assert.equal(response.status, 200, name);
    assert.deepEqual(amfAnswer(await response.arrayBuffer()), { value }, `${name}, as the server writes it`);
    passed++;
}

/** A figure of the subscription, as a number. */
async function figure(page: Page, name: string): Promise<number> {
    const text = await page.locator(".figures dt", { hasText: name }).locator("+ dd").textContent();
    return Number(text?.replaceAll(",", ""));
}

/** Waits until so many values have come. */
async function received(page: Page, count: number): Promise<void> {
    const wanted = (count: number): boolean => Number(document.querySelectorAll(".figures dd")[1]?.textContent?.replaceAll(",", "")) >= count;
    await page.waitForFunction(wanted, count);
}

for (const [transport, scheme] of [
    ["WebSocket", wide],
    ["Events of the server", narrow],
] as const) {
    await test(`values of a topic come by ${transport}, until they are wanted no more`, scheme, async (page) => {
        await page.getByRole("link", { name: "prices topic" }).click();
        await page.getByRole("heading", { level: 2, name: "Market.prices" }).waitFor();
        await page.getByRole("radio", { name: transport }).check();
        await page.getByRole("button", { name: "Subscribe", exact: true }).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("status").getByText("Subscribed, ").waitFor();
        await received(page, 12);
        const list = page.getByRole("region", { name: "The newest values" });
        assert.deepEqual(await list.locator("thead th").allTextContents(), ["Number", "Came", "cents", "metal"]);
        const numbers = (await list.locator("tbody th").allTextContents()).map((text) => Number(text.replaceAll(",", "")));
        assert.deepEqual(numbers, numbers.map((_, place) => numbers[0] - place), "one after the other, the newest first");
        const metals = new Set(await list.locator("tbody td:nth-of-type(3)").allTextContents());
        assert.deepEqual([...metals].sort(), ["copper", "lead", "nickel", "tin", "zinc"]);
        assert.ok((await figure(page, "Values a second")) > 1, "ten prices come in a second");
        assert.equal(await figure(page, "Missed"), 0);
        const newest = numbers[0];
        await page.waitForFunction((before) => Number(document.querySelector(".values tbody th")?.textContent?.replaceAll(",", "")) > before, newest);

        const button = page.getByRole("button", { name: "Unsubscribe" });
        assert.ok(await button.evaluate((button) => button === document.activeElement), "the focus stays on the button");
        assert.ok(await page.getByLabel("Values", { exact: true }).and(page.locator("select")).isDisabled());
        await page.keyboard.press("Enter");
        await page.getByRole("status").getByText("Unsubscribed.").waitFor();
        const count = await figure(page, "Received");
        // As long as five prices take.
        await page.waitForTimeout(500);
        assert.equal(await figure(page, "Received"), count, "nothing comes any more");
        assert.ok((await list.locator("tbody tr").count()) <= 50);
    });
}

await test("the latest comes seldom, with how many were missed, and batches come together", wide, async (page) => {
    await page.goto(`${url}/#values/Market.prices`);
    await page.locator("#policy").selectOption("latest");
    assert.ok(await page.locator("#behind").isHidden(), "who wants the latest is never behind");
    await page.locator("#interval").fill("450");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await received(page, 3);
    assert.ok((await figure(page, "Missed")) >= 3, "of five prices one comes");
    await page.getByRole("button", { name: "Unsubscribe" }).click();
    await page.getByRole("status").getByText("Unsubscribed.").waitFor();
    await page.locator("#policy").selectOption("batches");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await received(page, 8);
    const numbers = await page.locator(".values tbody th").allTextContents();
    assert.ok(new Set(numbers).size < numbers.length, "several came in one message");
    assert.equal(await figure(page, "Missed"), 0);
    await page.getByRole("link", { name: "echo", exact: true }).click();
    await page.getByRole("heading", { level: 2, name: "Echo.echo" }).waitFor();
});

await test("a property says what it is, and each change", wide, async (page) => {
    const set = async (value: number): Promise<void> => {
        const body = JSON.stringify([value]);
        const status = await page.evaluate(async (body) => (await fetch("rest/Panel/set", { method: "POST", headers: { "Content-Type": "application/json" }, body })).status, body);
        assert.equal(status, 200);
    };
    const newest = (value: number): Promise<void> => page.locator(".values tbody tr:first-child td:last-child").getByText(String(value), { exact: true }).waitFor();
    await set(7);
    await page.getByRole("link", { name: "slider property" }).click();
    assert.equal(await page.locator("#policy option[value=latest_of_each_key]").count(), 0, "it has no keys");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await newest(7);
    await page.getByRole("button", { name: "Hold the list" }).click();
    await set(8);
    await received(page, 2);
    await newest(7);
    await page.getByRole("button", { name: "Hold the list" }).click();
    await newest(8);
});

await test("the subscription is given as code", wide, async (page) => {
    await page.goto(`${url}/#values/Market.prices`);
    await page.locator("#policy").selectOption("latest_of_each_key");
    const code = page.getByLabel("Code", { exact: true });
    const text = (await code.textContent()) ?? "";
    assert.equal(text, `curl -N '${url}/events/Market.prices?policy=latest_of_each_key'`);
    const curl = spawn("sh", ["-c", `exec ${text} -s`], { stdio: ["ignore", "pipe", "inherit"] });
    const [first] = (await once(curl.stdout, "data")) as [Buffer];
    curl.kill();
    assert.match(first.toString(), /^id: .*\ndata: \{"metal":"/);
    for (const [language, part] of [
        ["Python", `with connect("${url.replace("http", "ws")}/socket")`],
        ["JavaScript", 'call("subscribe", {"name":"Market.prices","policy":"latest_of_each_key"})'],
    ]) {
        await page.getByRole("radio", { name: language }).check();
        assert.ok((await code.textContent())?.includes(part), language);
    }
    // The debugger runs a text as code, which the policy of the page forbids all others.
    const debug = await page.context().newCDPSession(page);
    const expression = `globalThis.heard = []; { ${(await code.textContent())?.replace("console.log(", "heard.push(")} }`;
    await debug.send("Runtime.evaluate", { expression });
    await page.waitForFunction(() => (globalThis as unknown as { heard: { metal: string }[] }).heard[0]?.metal !== undefined);
});

await test("a link is shown with its code, and the package reaches its actor", wide, async (page) => {
    await page.getByRole("link", { name: "counter link" }).click();
    await page.getByRole("heading", { level: 2, name: "counter" }).waitFor();
    await page.getByText("A counter for each page").waitFor();
    const code = (await page.getByLabel("Code", { exact: true }).textContent()) ?? "";
    const address = /await connect\("(.*)"\)/.exec(code)?.[1];
    assert.equal(address, `${url}/link/counter`);
    type Count = { Add: number } | "Reset" | { Total: Reply<number> } | { Watch: Address<number> };
    const link = await connect<Count>(address);
    const sums: number[] = [];
    link.root.tell({ Watch: link.export<number>((sum) => void sums.push(sum)) });
    for (const number of [1, 2, 3]) link.root.tell({ Add: number });
    assert.equal(await link.root.ask<number>((reply) => ({ Total: reply })), 6);
    link.root.tell("Reset");
    assert.equal(await link.root.ask<number>((reply) => ({ Total: reply })), 0);
    assert.deepEqual(sums, [1, 3, 6, 0]);
    link.close();
});

const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.slice(0, 40) || document.activeElement?.ariaLabel || "");

await test("the focus stays where it is of use", wide, async (page) => {
    const typed = page.getByLabel("value", { exact: true });
    await typed.fill(`[${"[1, 2, 3],".repeat(250)} 0]`);
    await page.locator(".skip").focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    assert.match(await typed.inputValue(), /^\[\[1/, "what was typed is still there");
    const call = page.getByRole("button", { name: "Call", exact: true });
    await call.focus();
    for (const _ of [1, 2]) {
        await page.locator("#answer").evaluate((answer) => answer.replaceChildren());
        await page.keyboard.press("Enter");
        await page.locator(".tree").getByText("answer list of 251").waitFor();
        assert.equal(await focused(page), "Call");
    }
    const more = page.locator(".tree").getByRole("button", { name: "More" });
    await more.focus();
    while ((await more.count()) > 0) {
        assert.equal(await focused(page), "More");
        await page.keyboard.press("Enter");
    }
    await page.locator(".tree").getByText("250: 0").waitFor();
    assert.match(await focused(page), /^answer list of 251/);
    await page.getByRole("link", { name: "list", exact: true }).click();
    await page.getByLabel("set", { exact: true }).selectOption("palette");
    await call.click();
    const rows = page.getByRole("button", { name: /more of 1,000 rows/ });
    await rows.focus();
    for (let shown = 100; shown < 1000; shown += 100) await page.keyboard.press("Enter");
    assert.equal(await page.locator("table.rows tbody tr").count(), 1000);
    assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), "The rows of the answer");
    // What is no name of anything, and no escape.
    await page.goto(`${url}/#100%`);
    await page.getByRole("heading", { level: 2, name: "Echo.echo" }).waitFor();
});

await test("forms are compared also where one cannot carry the call", narrow, async (page) => {
    await page.goto(`${url}/#Shapes.grow`);
    await page.getByRole("heading", { level: 2, name: "Shapes.grow" }).waitFor();
    await page.getByRole("radio", { name: "JSON", exact: true }).check();
    await page.getByLabel("Arguments as JSON").fill('{"shape": {"Circle": {"radius": 1}}, "factor": 9007199254740993}');
    await page.getByRole("button", { name: "Compare all forms" }).click();
    const table = page.getByRole("region", { name: "What each form costs, as a table" });
    await table.waitFor({ timeout: 60_000 });
    const decoded = async (form: string): Promise<string> => (await table.getByRole("row", { name: form, exact: false }).first().locator("td").last().textContent()) ?? "";
    assert.match(await decoded("MessagePack"), /^\d/);
    assert.equal(await decoded("AMF3"), "–");
    await page.getByText(/Not called in each form. AMF0: AMF has doubles alone/).waitFor();
});

await test("all of it is reached by keyboard", wide, async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.className), "skip");
    await page.getByLabel("Find a method").focus();
    await page.keyboard.type("fault");
    assert.equal(await page.locator("#methods a").count(), 1);
    await page.getByText("1 found").waitFor({ state: "attached" });
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "Fault.raise" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main", "the focus goes to what was chosen");
    const unnamed = await page.evaluate(() => {
        const controls = document.querySelectorAll<HTMLInputElement>("input, select, textarea, button");
        return Array.from(controls, (control) => control.labels?.length || control.textContent || control.ariaLabel ? "" : control.outerHTML).filter(Boolean);
    });
    assert.deepEqual(unnamed, [], "each control has a name");
});

await browser.close();
console.log(`${passed} passed, 0 failed`);
