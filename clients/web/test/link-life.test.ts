// How actors of both sides of a link end, and who hears of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../src/link/address.js";
import type { End, Frame } from "../src/link/frame.js";
import { OwnAddress } from "../src/link/own.js";
import { bytesOf, end, hello, payloadOf } from "./link-by-hand.js";

const panicked: End = { why: "panicked", text: "no more ink" };
const link: Frame = { kind: "link", link: 300n, number: 1, linker: 7, name: "" };

/** An end of a link whose server is linked with an actor of the page; it has given up the address. What is told there of ends. */
function linked(): ReturnType<typeof end> & { page: OwnAddress<unknown>; told: () => Frame[] } {
    const all = end();
    all.core.receive(bytesOf(hello()));
    const page = new OwnAddress<unknown>(() => {}, 8);
    all.roots[0]?.tell({ at: page });
    all.core.receive(bytesOf(link, { kind: "release", number: 1, count: 1 }));
    const told = (): Frame[] => {
        all.core.flush();
        return all.sent.filter(({ kind }) => kind === "ended");
    };
    return { ...all, page, told };
}

test("an actor of the page whose last address was given up ends with the one that is linked with it", () => {
    const { core, page, told } = linked();
    core.receive(bytesOf({ kind: "ended", number: 7, end: panicked }));
    const chain = { why: "linked", names: [""], end: panicked };
    assert.deepEqual(page.hasEnded, chain);
    assert.deepEqual(told(), [{ kind: "ended", number: 1, end: chain }]);
    assert.deepEqual([core.kept.exports, core.kept.links], [0, 0]);
});

test("the end of an actor of the page whose last address was given up is told to the one that is linked with it", () => {
    const { core, page, told } = linked();
    page.release();
    assert.deepEqual(told(), [{ kind: "ended", number: 1, end: { why: "stopped" } }]);
    assert.deepEqual([core.kept.exports, core.kept.links], [0, 0]);
    // What crosses that says nothing new.
    core.receive(bytesOf({ kind: "ended", number: 7, end: panicked }, { kind: "unlink", byReader: false, link: 300n }));
    assert.equal(told().length, 1);
});

test("an actor of the page is kept for links as long as there is one", () => {
    const over: readonly Frame[][] = [
        [{ kind: "unlink", byReader: false, link: 300n }, { kind: "unlink", byReader: false, link: 301n }],
        [{ kind: "ended", number: 7, end: { why: "stopped" } }],
    ];
    for (const frames of over) {
        const { core, page, ended, told } = linked();
        core.receive(bytesOf({ ...link, link: 301n }));
        const [last] = frames.slice(-1);
        core.receive(bytesOf(...frames.slice(0, -1)));
        assert.equal(core.kept.exports, 1);
        assert.ok(last !== undefined);
        core.receive(bytesOf(last));
        assert.deepEqual([core.kept.exports, core.kept.links], [0, 0]);
        page.release();
        assert.deepEqual([told(), ended], [[], []]);
    }
});

test("a link with an actor of the page is no address of it", () => {
    const { core, ended } = linked();
    core.receive(bytesOf({ kind: "tell", number: 1, body: { replies: [], exports: [], payload: new Uint8Array(0) } }));
    assert.deepEqual(ended, [{ how: "protocol", text: "it names actor 1, of which it has no address" }]);
});

test("an actor of the page ends with the way to the one that is linked with it", () => {
    const { core, page } = linked();
    core.finish({ how: "lost", text: "the cable" });
    assert.deepEqual(page.hasEnded, { why: "linked", names: [""], end: { why: "link lost", text: "the other side is gone: the cable" } });
});

test("an actor of the page that has ended is linked with none", () => {
    const { core, roots, told } = linked();
    const page = new OwnAddress<unknown>(() => {}, 8);
    roots[0]?.tell({ at: page });
    core.receive(bytesOf({ ...link, link: 301n, number: 2 }));
    page.release();
    // Two that the other side has said before it heard of that.
    core.receive(bytesOf({ ...link, link: 302n, number: 2 }, { kind: "release", number: 2, count: 1 }, { ...link, link: 303n, number: 2 }));
    assert.equal(core.kept.links, 1);
    assert.deepEqual(
        told().map((frame) => frame.kind === "ended" && [frame.number, frame.end.why]),
        [
            [2, "stopped"],
            [2, "link lost"],
        ],
    );
});

test("a link is made once", () => {
    const { core, ended } = linked();
    core.receive(bytesOf({ ...link, linker: 8 }));
    assert.deepEqual(ended, [{ how: "protocol", text: "it has made a link 300 before" }]);
});

test("the end of an actor of the page is told over each link that has its address", () => {
    const ends = [end(), end(), end()];
    const page = new OwnAddress<unknown>(() => {}, 8);
    for (const { core, roots } of ends) {
        core.receive(bytesOf(hello()));
        roots[0]?.tell({ at: page });
    }
    // The last one has none any more.
    ends[2]?.core.receive(bytesOf({ kind: "release", number: 1, count: 1 }));
    page.release();
    const told = ends.map(({ core, sent }) => {
        core.flush();
        return sent.filter(({ kind }) => kind === "ended");
    });
    const once: Frame[] = [{ kind: "ended", number: 1, end: { why: "stopped" } }];
    assert.deepEqual(told, [once, once, []]);
});

test("the end of an actor of the server may be asked for behind its last address", async () => {
    const { core, sent, roots } = end();
    core.receive(bytesOf(hello()));
    const [root] = roots;
    assert.ok(root !== undefined);
    root.release();
    assert.equal(core.kept.far, 0);
    const { ended } = root;
    assert.equal(root.ended, ended);
    core.flush();
    assert.deepEqual(sent.slice(1), [{ kind: "release", number: 0, count: 1 }, { kind: "watch", number: 0 }]);
    core.receive(bytesOf({ kind: "ended", number: 0, end: panicked }));
    assert.deepEqual(await ended, panicked);
    assert.deepEqual(await root.ended, panicked);
    assert.equal(core.kept.far, 0);
});

test("the end of an actor may be asked for behind its last address when the link has ended, or ends", async () => {
    for (const isAskedBefore of [false, true]) {
        const { core, roots } = end();
        core.receive(bytesOf(hello()));
        const [root] = roots;
        assert.ok(root !== undefined);
        root.release();
        if (isAskedBefore) void root.ended;
        core.finish({ how: "lost", text: "the cable" });
        assert.deepEqual(await root.ended, { why: "link lost", text: "the other side is gone: the cable" });
        assert.equal(core.kept.far, 0);
    }
});

test("the end of an actor whose last address was given up, and which came again, is that of all its addresses", async () => {
    const { core, roots } = end();
    core.receive(bytesOf(hello()));
    const received: Address<unknown>[] = [];
    const page = new OwnAddress<Address<unknown>>((address) => void received.push(address), 8);
    roots[0]?.tell({ at: page });
    const sends: Frame = { kind: "tell", number: 1, body: { replies: [], exports: [{ actor: 5, window: 0 }], payload: payloadOf({ $address: [0, 5] }) } };
    core.receive(bytesOf(sends));
    received[0]?.release();
    core.receive(bytesOf(sends));
    const ends = received.map((address) => address.ended);
    assert.equal(ends.length, 2);
    core.receive(bytesOf({ kind: "ended", number: 5, end: panicked }));
    assert.deepEqual(await Promise.all(ends), [panicked, panicked]);
});
