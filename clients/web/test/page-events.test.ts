// The service browser's subscription by events of the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { subscribe } from "../page/live.js";

test("an event of several lines of data is one value, and one that cannot be read is asked for again", async () => {
    const { fetch } = globalThis;
    const asked: string[] = [];
    const answers = [
        'id: run.1\ndata: {"a": 1,\ndata:  "b": [2]}\n\nid: run.2\ndata: {\n\n',
        "id: run.4\nevent: missed\ndata: 3\n\nid: run.5\ndata: 3\n\nevent: closed\ndata: 0\n\n",
    ];
    globalThis.fetch = (path): Promise<Response> => {
        asked.push(String(path));
        return Promise.resolve(new Response(answers[asked.length - 1]));
    };
    try {
        const came: [unknown, number, number][] = [];
        const states: string[] = [];
        await new Promise<void>((ended) => {
            subscribe("events", "Market.prices", { policy: "each" }, {
                stands: (state) => {
                    states.push(state);
                    if (state === "ended") ended();
                },
                came: (values, number, missed) => came.push([values[0], number, missed]),
                missed: () => {},
            });
        });
        assert.deepEqual(came, [[{ a: 1, b: [2] }, 1, 0], [3, 5, 3]]);
        assert.deepEqual(asked.map((path) => path.replace("events/Market.prices?", "")), ["policy=each", "policy=each&run=run&after=1"]);
        assert.deepEqual(states, ["connecting", "subscribed", "lost", "connecting", "subscribed", "ended"]);
    } finally {
        globalThis.fetch = fetch;
    }
});
