/** Numbers that look random and are the same each time (after Vigna's SplitMix, cut to 32 bits). */
export class Random {
    #state: number;

    constructor(seed: number) {
        this.#state = seed;
    }

    below(limit: number): number {
        this.#state = (this.#state + 0x9e3779b9) | 0;
        let mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
        mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
        return ((mixed ^ (mixed >>> 15)) >>> 0) % limit;
    }

    bytes(count: number): Uint8Array<ArrayBuffer> {
        return Uint8Array.from({ length: count }, () => this.below(256));
    }
}
