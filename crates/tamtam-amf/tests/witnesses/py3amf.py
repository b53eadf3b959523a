"""Py3AMF as a witness: see the README beside this file."""

import datetime
import struct
import sys
import uuid
import xml.etree.ElementTree

import pyamf
from pyamf import remoting
from pyamf.amf3 import ByteArray
from pyamf.flex import ArrayCollection, ObjectProxy
from pyamf.flex import messaging


class Tile:
    """The class of the typed objects: what is of no class that it knows, Py3AMF writes without a class."""


pyamf.register_class(Tile, "demo.Tile")


def bits(number):
    if number != number:
        return "7ff8000000000000"
    return struct.pack(">d", number).hex()


def text(value):
    return value.encode("utf-8").hex()


def entries(pairs):
    return ",".join(sorted(name + "=" + value for name, value in pairs))


def named(kind, pairs):
    pairs = [(text(str(name)), what(value)) for name, value in pairs]
    return "{" + text(kind) + ";" + entries(pairs) + "}"


def message(value):
    alias = {"AcknowledgeMessage": "DSK", "AsyncMessage": "DSA", "CommandMessage": "DSC"}
    name = type(value).__name__.removesuffix("Ext")
    members = ["body", "clientId", "destination", "headers", "messageId", "timestamp"]
    members += ["timeToLive", "correlationId", "operation"]
    pairs = [(member, getattr(value, member, None)) for member in members]
    # These are milliseconds, which it takes for points in time.
    pairs = [(member, milliseconds(value) if member.startswith("time") else value) for member, value in pairs]
    return named(alias[name], [(member, value) for member, value in pairs if value not in (None, {})])


def milliseconds(value):
    if value is None:
        return None
    since = value - datetime.datetime(1970, 1, 1)
    return float(round(since / datetime.timedelta(milliseconds=1)))


# The values around the one that is told, from the outermost one on.
around = []


def what(value):
    for levels, other in enumerate(reversed(around)):
        if other is value:
            return "^%d" % levels
    around.append(value)
    try:
        return itself(value)
    finally:
        around.pop()


def itself(value):
    if value is None:
        return "n"
    if value is pyamf.Undefined:
        return "u"
    if value is True or value is False:
        return "t" if value else "f"
    if isinstance(value, (int, float)):
        return "d" + bits(float(value))
    if isinstance(value, str):
        return "s" + text(value)
    if isinstance(value, datetime.datetime):
        return "D" + bits(milliseconds(value))
    if isinstance(value, uuid.UUID):
        return "s" + text(str(value))
    if isinstance(value, ByteArray):
        return "b" + value.getvalue().hex()
    # Not by `iselement`, which takes an object with a member "tag" for one.
    if isinstance(value, xml.etree.ElementTree.Element):
        return "x" + xml.etree.ElementTree.tostring(value).hex()
    if isinstance(value, ObjectProxy):
        return itself(value._amf_object)
    if isinstance(value, messaging.AbstractMessage):
        return message(value)
    if isinstance(value, (ArrayCollection, list, tuple)):
        return "[" + ",".join(what(item) for item in value) + "]"
    if isinstance(value, Tile):
        return named("demo.Tile", vars(value).items())
    if isinstance(value, dict):
        return named("", value.items())
    raise TypeError("nothing is known of %r" % type(value))


def packet(data):
    envelope = remoting.decode(data)
    words = ["P%d" % envelope.amfVersion]
    for name, value in envelope.headers.items():
        required = "!" if envelope.headers.is_required(name) else "?"
        words.append("(" + text(name) + required + what(value) + ")")
    for response, body in envelope.bodies:
        if isinstance(body, remoting.Request):
            target = body.target
        else:
            target = response + remoting.STATUS_CODES[body.status]
            response = "null"
        words.append("(" + text(target) + ":" + text(response) + "=" + what(body.body) + ")")
    return "".join(words), remoting.encode(envelope).getvalue()


def value(form, data):
    decoder = pyamf.get_decoder(pyamf.AMF0 if form == "0" else pyamf.AMF3, data)
    read = decoder.readElement()
    if decoder.stream.remaining():
        raise ValueError("%d bytes are left" % decoder.stream.remaining())
    written = pyamf.encode(read, encoding=pyamf.AMF0 if form == "0" else pyamf.AMF3)
    return what(read), written.getvalue()


for line in sys.stdin:
    form, data = line.split()
    data = bytes.fromhex(data)
    try:
        read, written = packet(data) if form == "p" else value(form, data)
        answer = "ok %s %s" % (read, written.hex())
    except Exception as error:
        answer = "error " + " ".join(repr(error).split())
    print(answer, flush=True)
