// Actors of a page, and what the page itself tells and asks them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnAddress } from "../src/link/own.js";
import { bytesOf, end, hello } from "./link-by-hand.js";

test("a window that cannot be written is refused, and one without an end is none", () => {
    for (const window of [-1, 1.5, NaN, 2 ** 53, -Infinity, "8" as unknown as number]) {
        assert.throws(() => new OwnAddress(() => {}, window), (error) => error instanceof RangeError && error.message.includes(`a window of ${window}: `));
    }
    for (const [window, written] of [[Infinity, 0], [0, 0], [1, 1], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]] as const) {
        const page = new OwnAddress(() => {}, window);
        assert.equal(page.window, written);
        const { core, sent, roots } = end();
        core.receive(bytesOf(hello()));
        roots[0]?.tell({ at: page });
        core.flush();
        assert.deepEqual(sent.flatMap((frame) => (frame.kind === "tell" ? frame.body.exports : [])), [{ actor: 1, window: written }]);
    }
});
