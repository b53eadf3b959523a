import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, decodeStream, RowsError, type Rows } from "../src/rows.js";
import { fromBase64, use } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { Input } from "../src/rows/input.js";
import { golden } from "./golden.js";
import { Random } from "./random.js";
import { apart, together, varint } from "./sealed.js";

const limits = { bytes: 2 ** 25, rows: 200_000, columns: 1000 };
const tables = [{ name: "sample", bytes: fromBase64(sample) }, ...golden()];

/** What damaged bytes come to: a table all of whose values can be read, or an error of ours. */
function outcome(bytes: Uint8Array<ArrayBuffer>): Rows | RowsError {
    try {
        const rows = decode(bytes, { limits });
        for (const column of rows.columns) for (let row = 0; row < rows.length; row++) column.get(row);
        return rows;
    } catch (error) {
        assert.ok(error instanceof RowsError, error instanceof Error ? error.stack : String(error));
        return error;
    }
}

test("cut off anywhere, packed rows are said to be cut off", () => {
    for (const { name, bytes } of tables) {
        const step = Math.ceil(bytes.length / 200);
        for (let length = 0; length < bytes.length; length += step) {
            const error = outcome(bytes.slice(0, length));
            assert.ok(error instanceof RowsError && error.code === "truncated", `${name}, ${length} bytes`);
        }
    }
});

test("a bit that changes on the way is noticed, wherever it is", () => {
    for (const { name, bytes } of tables) {
        const step = Math.max(1, Math.floor((bytes.length * 8) / 1000));
        for (let bit = 0; bit < bytes.length * 8; bit += step) {
            const bad = bytes.slice();
            bad[bit >> 3] ^= 1 << (bit & 7);
            assert.ok(outcome(bad) instanceof RowsError, `${name}, bit ${bit}`);
        }
    }
});

test("one flipped bit anywhere never yields a row of a stream that was not written before the error", async () => {
    const { bytes } = tables.find(({ name }) => name === "chunks-packed") ?? assert.fail("there is such a table");
    const parts: string[] = [];
    const read = async (bytes: Uint8Array<ArrayBuffer>, take: (part: string) => void): Promise<void> => {
        for await (const rows of decodeStream(new Blob([bytes]).stream(), { limits })) {
            take(JSON.stringify(rows.objects(), (_, value) => (typeof value === "bigint" ? `${value}n` : value)));
        }
    };
    await read(bytes, (part) => parts.push(part));
    assert.equal(parts.length, 3);
    // Every bit outside of the columns, where the rows are counted, and some of the others.
    const heads = headsOf(bytes);
    for (let bit = 0; bit < bytes.length * 8; bit += heads.has(bit >> 3) ? 1 : 97) {
        const bad = bytes.slice();
        bad[bit >> 3] ^= 1 << (bit & 7);
        let given = 0;
        await assert.rejects(read(bad, (part) => assert.equal(part, parts[given++], `bit ${bit}`)), RowsError, `bit ${bit}`);
    }
});

for (const form of ["WebAssembly", "JavaScript"] as const) {
    test(`damage whose checksums fit is an error or a table, by ${form}`, () => {
        assert.ok(use(form));
        const random = new Random(7);
        let errors = 0;
        let rounds = 0;
        for (const { bytes } of tables) {
            const parts = apart(bytes);
            if (parts.chunks.length === 0) continue;
            // Larger tables take longer, and hold the same codecs many times.
            const most = Math.max(30, Math.min(1000, Math.floor(600_000 / bytes.length)));
            for (let round = 0; round < most; round++) {
                const which = random.below(parts.chunks.length);
                const isSchema = random.below(10) === 0;
                const bad = changed(isSchema ? parts.schema : parts.chunks[which].body, random);
                const chunks = parts.chunks.map((chunk, index) => (!isSchema && index === which ? { ...chunk, body: bad } : chunk));
                if (outcome(together({ ...parts, schema: isSchema ? bad : parts.schema, chunks })) instanceof RowsError) errors++;
                rounds++;
            }
        }
        // Most damage is noticed without checksums, too.
        assert.ok(errors > rounds / 4, `${errors} of ${rounds}`);
    });
}

/** A few bytes changed, taken out or put in. */
function changed(bytes: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
    const odd = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x7f, 0x80, 0xff];
    let bad = Array.from(bytes);
    for (let times = 1 + random.below(3); times > 0; times--) {
        // Heads decide more than values.
        const at = random.below(random.below(2) === 0 ? bad.length : Math.min(bad.length, 40));
        switch (random.below(5)) {
            case 0:
                bad[at] ^= 1 << random.below(8);
                break;
            case 1:
                bad[at] = odd[random.below(odd.length)];
                break;
            case 2:
                bad.splice(at, 1 + random.below(8));
                break;
            case 3:
                bad.splice(at, 0, ...random.bytes(1 + random.below(12)));
                break;
            default:
                bad = [...bad.slice(0, at), ...Array.from({ length: 1 + random.below(10) }, () => 255), ...bad.slice(at)];
        }
    }
    return Uint8Array.from(bad);
}

test("bytes of any kind are an error", () => {
    const random = new Random(11);
    for (let round = 0; round < 2000; round++) {
        const bytes = random.bytes(random.below(200));
        if (round % 2 === 0) bytes.set([0xa7, 0x54, 0x54, 1].slice(0, bytes.length));
        assert.ok(outcome(bytes) instanceof RowsError);
    }
});

test("a later version is told from damage", () => {
    const later = fromBase64(sample);
    later[3] = 2;
    const error = outcome(later);
    assert.ok(error instanceof RowsError && error.code === "version");
});

test("what a few bytes stand for is stopped by the limits", () => {
    // A column of 64 bits that is constant takes three bytes, however many rows it has.
    const names = Array.from({ length: 100 }, (_, index) => [1, 97 + (index % 26), 4]);
    const schema = Uint8Array.from([100, ...names.flat()]);
    const body = Uint8Array.from(names.flatMap(() => [2, 0, 0]));
    const bomb = (chunks: number): Uint8Array<ArrayBuffer> =>
        together({ schema, chunks: Array.from({ length: chunks }, () => ({ rows: 65536, body })), total: 65536 * chunks });
    assert.throws(() => decode(bomb(1), { limits: { bytes: 2 ** 20 } }), (error) => error instanceof RowsError && error.code === "limit");
    assert.throws(() => decode(bomb(100)), (error) => error instanceof RowsError && error.code === "limit");
    // Text whose letters are all the same takes no bytes either.
    const text = Uint8Array.from([1, 1, 97, 16]);
    const letters = [6, 0, 97, 0, ...varint(2 * 2 ** 31), 0, 0];
    const long = together({ schema: text, chunks: [{ rows: 1, body: Uint8Array.from([letters.length, ...letters]) }], total: 1 });
    assert.throws(() => decode(long), (error) => error instanceof RowsError && error.code === "limit");
    // What is declared and not there takes no memory.
    const declared = Uint8Array.from([0xa7, 0x54, 0x54, 1, ...varint(2 ** 40)]);
    assert.throws(() => decode(declared), (error) => error instanceof RowsError && error.code === "limit");
    // The end takes seven bytes.
    const cut = Uint8Array.from([...together({ schema: text, chunks: [], total: 0 }).slice(0, -7), ...varint(2 ** 28), 0, 0, 0, 0]);
    assert.throws(() => decode(cut), (error) => error instanceof RowsError && error.code === "truncated");
});

test("a stream that is damaged or breaks off fails as bytes do", async () => {
    for (const { bytes } of tables) {
        for (const bad of [bytes.slice(0, bytes.length - 1), bytes.slice(0, Math.floor(bytes.length / 2)), Uint8Array.from([...bytes, 0])]) {
            await assert.rejects(async () => {
                for await (const rows of decodeStream(new Blob([bad]).stream(), { limits })) void rows;
            }, RowsError);
        }
    }
    const broken = new ReadableStream<Uint8Array>({
        pull(controller) {
            controller.error(new TypeError("the network is gone"));
        },
    });
    await assert.rejects(async () => {
        for await (const rows of decodeStream(broken)) void rows;
    }, TypeError);
});

/** The places of the lengths and checksums of all parts, of the numbers of rows, and of the end. */
function headsOf(bytes: Uint8Array<ArrayBuffer>): Set<number> {
    const input = new Input(bytes, 0, 0);
    const heads = new Set([0, 1, 2, 3]);
    input.skip(4, "magic");
    while (input.left > 0) {
        const from = input.at;
        const length = input.count(2 ** 32, "length");
        input.skip(4, "checksum");
        for (let at = from; at < Math.min(bytes.length, input.at + 4); at++) heads.add(at);
        input.skip(length, "part");
    }
    return heads;
}
