import { Texts } from "./column.js";
import { decode } from "./decode.js";
import { fromBase64, machine } from "./kernels.js";
import { sample } from "./sample.js";

/**
 * Resolves when the decoder is as fast at its first call as it gets. It prepares itself as soon as the page that has
 * loaded it has nothing else to do, usually while that waits for the network; this takes a few milliseconds, and
 * need not be waited for: an earlier call is right, too, and spends them itself.
 *
 * What happens: 5 KB of WebAssembly are compiled, sixteen rows are decoded a few times, and some texts are made. Where
 * a page's content security policy forbids WebAssembly, or an engine knows none with vectors, JavaScript does the same, more slowly.
 */
export const ready: Promise<void> = new Promise((resolve) => {
    setTimeout(() => {
        try {
            prepare();
        } catch {
            // It was only for speed; a test says whether it works.
        }
        resolve();
    });
});

/** @internal What is done until then. */
export function prepare(): void {
    const bytes = fromBase64(sample);
    // More than once: an engine remembers what it has met, and after some ten times it has compiled the most of it.
    for (let times = 0; times < 2; times++) for (const row of decode(bytes).objects()) void row;
    for (let times = 0; times < 8; times++) {
        const rows = decode(bytes);
        // Not the rows as objects: an engine is fastest with those as long as it has met the rows of one table only.
        void [rows.numbers("n"), rows.numbers("x"), rows.texts("color").get(0)];
    }
    // A loop over a thousand rows is hot the first time it runs, and Chromium would compile it in the midst of that,
    // for as long as the whole decoding takes.
    const count = 1024;
    const text = "0123456789abcdef".repeat(count / 4);
    const offsets = Uint32Array.from({ length: count + 1 }, (_, index) => 4 * index);
    const even = new Texts({ text, count, width: 4, offsets }, undefined);
    const coded = new Texts({ text, count, width: undefined, offsets }, new Uint8Array(count));
    for (let times = 0; times < 12; times++) void [even.toArray(), coded.toArray()];
    // Memory costs time when it is written for the first time.
    const from = machine().allocate(2 ** 15);
    machine().bytes.fill(0, from, from + 2 ** 15);
    machine().reset();
}
