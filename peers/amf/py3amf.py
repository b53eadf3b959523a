"""Py3AMF reads a packet from its input as often as its argument says, and writes what it has read and how long each took, as JSON."""

import json
import sys
import time

import pyamf
from pyamf import remoting


class Tile:
    """The class of the objects, as Py3AMF wants it."""


pyamf.register_class(Tile, "demo.Tile")

packet = sys.stdin.buffer.read()
# The first time it also learns the class.
remoting.decode(packet)
seconds = []
for _ in range(int(sys.argv[1])):
    begun = time.thread_time()
    envelope = remoting.decode(packet)
    seconds.append(time.thread_time() - begun)
tiles = []
for _, message in envelope.bodies:
    for tile in message.body:
        assert type(tile) is Tile
        tiles.append(vars(tile))
json.dump({"tiles": tiles, "seconds": seconds}, sys.stdout)
