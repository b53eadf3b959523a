"""Py3AMF's client of remoting against the gateway at the URL that is given, in both versions."""

import datetime
import sys

import pyamf
from pyamf import amf3, flex
from pyamf.remoting import RemotingError
from pyamf.remoting.client import RemotingService

url = sys.argv[1]


class Tile:
    def __init__(self, **members):
        self.__dict__.update(members)


pyamf.register_class(Tile, "com.example.Tile")


class Circle:
    def __init__(self, radius=None):
        self.radius = radius


class Square:
    def __init__(self, side=None):
        self.side = side


class Place:
    """A class that writes itself."""

    class __amf__:
        external = True

    def __init__(self, x=None, label=None):
        self.x, self.label = x, label

    def __readamf__(self, stream):
        self.x, self.label = stream.readInt(), stream.readObject()

    def __writeamf__(self, stream):
        stream.writeInt(self.x)
        stream.writeObject(self.label)


for own in (Circle, Square, Place):
    pyamf.register_class(own, "com.example." + own.__name__)

common = [
    None, True, False, 0.5, -1.0, 1e300, "", "é", "x" * 70_000, [], [1.5, ["a", None]], {"a": {"b": [0.5]}},
    datetime.datetime(2007, 1, 2, 3, 4, 5), pyamf.Undefined,
]
counted = 0
for version in (pyamf.AMF0, pyamf.AMF3):
    client = RemotingService(url + "/amf", amf_version=version)
    echo = client.getService("Echo").echo
    values = list(common)
    if version == pyamf.AMF3:
        values += [7, -7, 2**28 - 1, amf3.ByteArray(b"\x00\xff")]
    for value in values:
        back = echo(value)
        if isinstance(value, amf3.ByteArray):
            assert isinstance(back, amf3.ByteArray) and back.getvalue() == value.getvalue(), back
        else:
            # This client takes doubles without a fraction for integers, and dicts for objects.
            is_alike = type(back) is type(value) or isinstance(value, (float, dict))
            assert back == value and is_alike, (version, value, back)
        counted += 1

    tile = echo(Tile(x=1.5, color="ff8800"))
    assert isinstance(tile, Tile) and (tile.x, tile.color) == (1.5, "ff8800"), tile
    for mixed in (pyamf.MixedArray(a=1.5, b="x"), pyamf.MixedArray({0: "x", 1: 0.5, "a": {"b": None}})):
        back = echo(mixed)
        assert isinstance(back, pyamf.MixedArray) and back == mixed, back
    if version == pyamf.AMF3:
        collection = flex.ArrayCollection([1, "a", flex.ArrayCollection([None])])
        back = echo(flex.ObjectProxy({"a": 0.5, "inner": flex.ObjectProxy({"list": collection})}))
        inner = back._amf_object["inner"]
        assert isinstance(back, flex.ObjectProxy) and back._amf_object["a"] == 0.5, back
        assert isinstance(inner, flex.ObjectProxy), inner
        back = inner._amf_object["list"]
        assert isinstance(back, flex.ArrayCollection) and isinstance(back[2], flex.ArrayCollection), back
        assert back == collection, back

    # Types of the server that are classes.
    shapes = client.getService("Shapes")
    circle, square = shapes.grow(Circle(1.5), 3.0), shapes.grow(Square(0.5), 3.0)
    assert isinstance(circle, Circle) and circle.radius == 4.5, circle
    assert isinstance(square, Square) and square.side == 1.5, square
    try:
        shapes.grow(Tile(x=1.5), 2.0)
        raise AssertionError("no fault")
    except RemotingError as fault:
        assert "no variant" in str(fault), fault
    if version == pyamf.AMF3:
        for x in (5, -5, 2**31 - 10):
            place = shapes.shift(Place(x, "hé"), 3)
            assert isinstance(place, Place) and (place.x, place.label) == (x + 3, "hé"), place
        place = echo([Place(7, None)])[0]
        assert isinstance(place, Place) and (place.x, place.label) == (7, None), place

    tiles = client.getService("Tiles").list("palette")
    rows = list(tiles) if version == pyamf.AMF3 else tiles.items
    assert len(rows) == 1000, len(rows)
    if version == pyamf.AMF0:
        assert list(tiles.columns) == ["slot_number", "x", "y", "color", "rotation"], tiles.columns
        first = dict(zip(tiles.columns, rows[0]))
    else:
        first = rows[0]
    assert first["slot_number"] == 1 and len(first["color"]) == 6, first

    try:
        getattr(client.getService("Fault"), "raise")()
        raise AssertionError("no fault")
    except RemotingError as fault:
        assert "raised on purpose" in str(fault), fault

    # The header of remoting by which a client says who it is.
    client = RemotingService(url + "/amf", amf_version=version)
    vault = client.getService("Vault")
    for name, password, refusal in [
        (None, None, "send a name and a password"),
        ("ada", "wrong", "the name or the password is wrong"),
        ("eve", "secret", "the name or the password is wrong"),
        ("ada", "secret", None),
    ]:
        if name:
            client.setCredentials(name, password)
        try:
            assert vault.open() == "gold" and not refusal, name
        except RemotingError as fault:
            assert refusal and refusal in str(fault), fault
    first = client.addRequest("Vault.open")
    second = client.addRequest("Echo.echo", "two")
    answers = client.execute()
    assert (answers[first.id].body, answers[second.id].body) == ("gold", "two")

    # Several calls in one packet.
    client = RemotingService(url + "/amf", amf_version=version)
    first = client.addRequest("Echo.echo", "one")
    second = client.addRequest("Echo.echo", "two")
    answers = client.execute()
    assert (answers[first.id].body, answers[second.id].body) == ("one", "two")
print(
    "Py3AMF:", counted, "values, typed objects, those of the server's classes, tables, faults, credentials, packets of two calls,",
    "in both versions",
)
