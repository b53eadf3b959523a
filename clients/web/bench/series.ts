// The figures of several runs, and the line that is written of them.

export class Series {
    readonly #values: number[] = [];

    add(value: number): void {
        this.#values.push(value);
    }

    line(fields: object, machine: string): string {
        const sorted = this.#values.sort((a, b) => a - b);
        const middle = sorted.length >> 1;
        const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return JSON.stringify({
            ...fields,
            median,
            min: sorted[0],
            max: sorted[sorted.length - 1],
            runs: sorted.length,
            verified: true,
            machine,
        });
    }
}
