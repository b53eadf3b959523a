"""The peers of Python in Tamtam's lab: a process of multiprocessing, called through a pipe or through shared memory for each client.

It answers `contender list` and `contender run calls CONTENDER VARIANT --limit-ms N`. What is measured, and how it is
verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/calls): requests and answers are JSON, each answer
is another one, and every field of it is looked at.
"""

import json
import multiprocessing
import os
import platform
import resource
import sys
import threading
import time
from multiprocessing.shared_memory import SharedMemory

EXPERIMENT = "calls"
VARIANTS = ["60/free/1client", "60/free/8clients", "60/2cores/1client", "60/1core/1client"]

FIRST_RECORD = 1_000_000
RECORDS_OF_A_SET = 8_000_000
FIRST = ["amber ", "brave ", "calm ", "distant ", "early ", "faint ", "gentle ", "hollow "]
LAST = ["anchor", "beacon", "canyon", "drum", "echo", "ferry", "garden", "harbour"]
WORD = (1 << 64) - 1


# The longest request or answer, and the time after which a process that does not answer is given up.
MOST_BYTES = 1 << 20
PATIENCE = 30


class Unverified(Exception):
    """An answer is not the one that is due."""


class SharedPipe:
    """One end of two places in shared memory, one for each way. A semaphore says that a place is filled; what came the other way says
    that it is free again."""

    def __init__(self, inward, outward):
        self.inward, self.outward = inward, outward

    def send_bytes(self, sent):
        memory, filled = self.outward
        if len(sent) > MOST_BYTES:
            raise OSError(f"{len(sent)} bytes are more than the {MOST_BYTES} of a place in shared memory")
        memory.buf[:4] = len(sent).to_bytes(4, "little")
        memory.buf[4 : 4 + len(sent)] = sent
        filled.release()

    def recv_bytes(self):
        memory, filled = self.inward
        if not filled.acquire(timeout=PATIENCE):
            raise EOFError(f"nothing came for {PATIENCE} s")
        return bytes(memory.buf[4 : 4 + int.from_bytes(memory.buf[:4], "little")])

    def close(self):
        """Nothing is to be done: the memory is this process's as long as it has the other end, too."""


class Pipes:
    """Pairs of ends: pipes of the system."""

    about = "Python's multiprocessing: a process, a pipe for each client, and json on both sides"

    def __init__(self, context):
        self.context = context

    def pair(self):
        return self.context.Pipe()

    def clear(self):
        """The system does it."""


class SharedMemories(Pipes):
    """Pairs of ends: two places in Python's shared memory."""

    about = "Python's shared_memory: two places and two semaphores for each client, and json on both sides"

    def __init__(self, context):
        super().__init__(context)
        self.memories = []

    def pair(self):
        places = []
        for _ in range(2):
            memory = SharedMemory(create=True, size=4 + MOST_BYTES)
            self.memories.append(memory)
            places.append((memory, self.context.Semaphore(0)))
        one, other = places
        return SharedPipe(one, other), SharedPipe(other, one)

    def clear(self):
        for memory in self.memories:
            memory.close()
            memory.unlink()


CONTENDERS = {"multiprocessing": Pipes, "python-shared-memory": SharedMemories}


def record(set_number, number):
    """A record, made of its set and its number alone."""
    mixed = ((((set_number << 32) | (set_number >> 32)) & WORD) ^ number) * 0x9E3779B97F4A7C15 & WORD
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & WORD
    mixed ^= mixed >> 31
    return {
        "id": number,
        "name": FIRST[mixed & 7] + LAST[mixed >> 3 & 7],
        "x": ((mixed >> 6 & 0x3FFF) - 8192) / 4,
        "y": ((mixed >> 20 & 0x3FFF) - 8192) / 4,
        "colour": mixed >> 34 & 0xFFFFFF,
    }


def page(request):
    """What is due to a request."""
    set_number, offset = request["set"], request["offset"]
    numbers = range(offset, offset + request["limit"])
    records = [record(set_number, number) for number in numbers]
    return {"set": set_number, "offset": offset, "records": records}


def encode(value):
    return json.dumps(value, separators=(",", ":")).encode()


def used():
    """What this process has used: CPU nanoseconds, voluntary and involuntary switches."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return [time.process_time_ns(), usage.ru_nvcsw, usage.ru_nivcsw]


def serve(control, clients):
    """The server's process: a thread for each client. It ends with the other side of `control`."""

    def answer(pipe):
        try:
            while True:
                pipe.send_bytes(encode(page(json.loads(pipe.recv_bytes()))))
        except (EOFError, OSError):
            pass

    for pipe in clients:
        threading.Thread(target=answer, args=(pipe,), daemon=True).start()
    try:
        while True:
            control.recv()
            control.send(used())
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)


class Caller:
    """A client with its work."""

    def __init__(self, pipe, number, records):
        self.pipe = pipe
        self.request = {"set": 1 + number, "offset": FIRST_RECORD, "limit": records}
        self.calls = self.bytes = 0
        self.failure = None

    def call(self):
        request = self.request
        asked = encode(request)
        self.pipe.send_bytes(asked)
        answer = self.pipe.recv_bytes()
        found = json.loads(answer)
        if found != page(request):
            raise Unverified(f"{found} came, which does not answer {request}")
        self.calls += 1
        self.bytes += len(asked) + len(answer)
        request["offset"] += request["limit"]
        if request["offset"] >= FIRST_RECORD + RECORDS_OF_A_SET:
            request["set"] += 100
            request["offset"] = FIRST_RECORD

    def call_for(self, seconds):
        try:
            end = time.perf_counter() + seconds
            self.call()
            while time.perf_counter() < end:
                self.call()
        except (Unverified, EOFError, OSError, ValueError) as failure:
            self.failure = failure
        self.ended = time.perf_counter()


def all_call(callers, seconds):
    """Lets all call at once; the time that it took."""
    begin = time.perf_counter()
    if len(callers) == 1:
        callers[0].call_for(seconds)
    else:
        threads = [threading.Thread(target=caller.call_for, args=(seconds,)) for caller in callers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for caller in callers:
        if caller.failure:
            raise Unverified(caller.failure)
    return max(caller.ended for caller in callers) - begin


def run(contender, variant, seconds):
    # A process that is forked would hold the ends of this one open.
    wall = CONTENDERS[contender](multiprocessing.get_context("spawn"))
    try:
        return run_through(wall, contender, variant, seconds)
    finally:
        wall.clear()


def run_through(wall, contender, variant, seconds):
    records, clients = int(variant.split("/")[0]), 8 if variant.endswith("8clients") else 1
    begin = time.perf_counter()
    control, its_control = wall.context.Pipe()
    pipes = [wall.pair() for _ in range(clients)]
    server = wall.context.Process(target=serve, args=(its_control, [its for _, its in pipes]), daemon=True)
    server.start()
    for its in [its_control, *(its for _, its in pipes)]:
        its.close()
    callers = [Caller(pipe, number, records) for number, (pipe, _) in enumerate(pipes)]
    callers[0].call()
    first_call = time.perf_counter() - begin

    def used_by_both():
        control.send(None)
        return [here + there for here, there in zip(used(), control.recv())]

    all_call(callers, seconds / 10)
    calls, count = sum(caller.calls for caller in callers), sum(caller.bytes for caller in callers)
    before = used_by_both()
    elapsed = all_call(callers, seconds)
    cpu, voluntary, involuntary = (after - earlier for after, earlier in zip(used_by_both(), before))
    calls = sum(caller.calls for caller in callers) - calls
    count = sum(caller.bytes for caller in callers) - count
    control.close()
    server.join(5)

    figures = [
        ("ops_per_s", "1/s", calls / elapsed),
        ("first_call_us", "µs", first_call * 1e6),
        ("mb_per_s", "MB/s", count / 1e6 / elapsed),
        ("cpu_ns_per_op", "ns", cpu / calls),
        ("switches_per_op", "switches", (voluntary + involuntary) / calls),
        ("voluntary_switches_per_op", "switches", voluntary / calls),
        ("involuntary_switches_per_op", "switches", involuntary / calls),
    ]
    return {
        "experiment": EXPERIMENT,
        "variant": variant,
        "contender": contender,
        "version": platform.python_version(),
        "ours": False,
        "verified": True,
        "operations": calls,
        "elapsed_ns": int(elapsed * 1e9),
        "metrics": [{"metric": name, "unit": unit, "value": value} for name, unit, value in figures],
        "note": None,
    }


def main(words):
    if words == ["contender", "list"]:
        for name, wall in CONTENDERS.items():
            listing = {
                "contender": name,
                "version": platform.python_version(),
                "ours": False,
                "experiment": EXPERIMENT,
                "variants": VARIANTS,
                "about": wall.about,
            }
            print(json.dumps(listing, ensure_ascii=False))
        return 0
    if len(words) == 7 and words[:3] == ["contender", "run", EXPERIMENT] and words[5] == "--limit-ms":
        contender, variant, limit = words[3], words[4], words[6]
        if contender in CONTENDERS and variant in VARIANTS and limit.isdigit():
            try:
                print(json.dumps(run(contender, variant, int(limit) / 1000), ensure_ascii=False))
                return 0
            except (Unverified, EOFError, OSError) as failure:
                print(f"{EXPERIMENT} {contender} {variant}: delivery not verified: {failure}", file=sys.stderr)
                return 1
    print("usage: calls.py contender list", file=sys.stderr)
    print(f"       calls.py contender run {EXPERIMENT} CONTENDER VARIANT --limit-ms N", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
