#!/usr/bin/env python3
"""Lays a delta over an older PMTiles archive. Python 3.9 or later, no packages:

    python3 apply.py older.pmtiles delta.pmtiles newer.pmtiles
    python3 apply.py older.pmtiles https://example.com/delta.pmtiles newer.pmtiles --header "Authorization: Bearer ..."

A download that was cut goes on where it ended. The newer archive appears under its name when its tiles are proven: they have the digest that the delta
names, as have those of the older one. Directories are packed by Python, so that the file has the same tiles as that of apply.mjs, in other bytes.
newer.pmtiles may be older.pmtiles.
"""
import gzip
import hashlib
import json
import os
import struct
import sys
import urllib.error
import urllib.request

HEADER_BYTES = 127
DATA_OFFSET = 16_384
LEAF_ENTRIES = 4_096
MAX_LEAVES = 1_500
REMEMBERED_CONTENTS = 500_000
READ_AT_ONCE = 1024 * 1024


class Archive:
    """An archive of PMTiles 3 whose directories are gzipped or plain."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.header = self.file.read(HEADER_BYTES)
        if self.header[:7] != b"PMTiles" or self.header[7] != 3:
            raise ValueError(f"{path} is no PMTiles 3 archive")
        numbers = struct.unpack_from("<8Q", self.header, 8)
        self.root, self.leaves, self.tiles_offset = numbers[0:2], numbers[4], numbers[6]
        self.metadata = json.loads(self.unpacked(*numbers[2:4]))

    def read(self, offset, length):
        self.file.seek(offset)
        data = self.file.read(length)
        if len(data) != length:
            raise ValueError(f"{self.file.name} ends too early")
        return data

    def unpacked(self, offset, length):
        data = self.read(offset, length)
        return gzip.decompress(data) if self.header[97] == 2 else data

    def entries(self, offset, length):
        for tile, run, size, place in decode_directory(self.unpacked(offset, length)):
            if run > 0:
                yield tile, run, size, place
            else:
                yield from self.entries(self.leaves + place, size)

    def tiles(self):
        """Numbers and contents of all tiles, in the order of their numbers."""
        if self.root[1] == 0:
            return
        for first, run, size, place in self.entries(*self.root):
            data = self.read(self.tiles_offset + place, size)
            for tile in range(first, first + run):
                yield tile, data


def decode_directory(data):
    at = 0

    def following():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    count, tile = following(), 0
    tiles = []
    for _ in range(count):
        tile += following()
        tiles.append(tile)
    runs = [following() for _ in range(count)]
    sizes = [following() for _ in range(count)]
    entries = []
    for i in range(count):
        place = following()
        place = entries[-1][3] + entries[-1][2] if place == 0 else place - 1
        entries.append((tiles[i], runs[i], sizes[i], place))
    return entries


def encode_directory(entries):
    numbers, before = [len(entries)], 0
    for tile, *_ in entries:
        numbers.append(tile - before)
        before = tile
    numbers += [run for _, run, _, _ in entries] + [size for _, _, size, _ in entries]
    for i, (_, _, _, place) in enumerate(entries):
        follows = i > 0 and entries[i - 1][3] + entries[i - 1][2] == place
        numbers.append(0 if follows else place + 1)
    packed = bytearray()
    for number in numbers:
        while number >= 128:
            packed.append(number & 127 | 128)
            number >>= 7
        packed.append(number)
    return gzip.compress(bytes(packed), mtime=0)


def tile_number(z, x, y):
    """The first number of the zoom, and the place on its Hilbert curve."""
    number, side = (4**z - 1) // 3, 2**z // 2
    while side > 0:
        right, lower = int(x & side > 0), int(y & side > 0)
        number += side * side * ((3 * right) ^ lower)
        if lower == 0:
            if right == 1:
                x, y = side - 1 - (x & (side - 1)), side - 1 - (y & (side - 1))
            x, y = y, x
        x, y, side = x & (side - 1), y & (side - 1), side // 2
    return number


class SetDigest:
    """For each tile its number in 8 bytes, big-endian, and the SHA-256 of its data."""

    def __init__(self):
        self.hash, self.tiles = hashlib.sha256(), 0

    def add(self, tile, data):
        digest = hashlib.sha256(data).digest()
        self.hash.update(struct.pack(">Q", tile) + digest)
        self.tiles += 1
        return digest


def merged(older, delta, removed, before):
    """The tiles of the newer set; what the older one has goes into `before`."""
    olds, news = older.tiles(), delta.tiles()
    old, new = next(olds, None), next(news, None)
    while old or new:
        if new is None or (old is not None and old[0] <= new[0]):
            before.add(*old)
            is_replaced = new is not None and new[0] == old[0]
            if not is_replaced and old[0] not in removed:
                yield old
            old = next(olds, None)
        else:
            yield new
            new = next(news, None)


def write(path, tiles, header, metadata, expected, after):
    per_leaf = max(LEAF_ENTRIES, -(-expected // MAX_LEAVES))
    entries, leaves, places = [], [], {}
    contents = 0
    with open(path, "wb") as file:
        file.write(bytes(DATA_OFFSET))
        for tile, data in tiles:
            digest = after.add(tile, data)
            place = places.pop(digest, None)
            if place is None:
                place, contents = file.tell() - DATA_OFFSET, contents + 1
                file.write(data)
            places[digest] = place
            if len(places) > REMEMBERED_CONTENTS:
                del places[next(iter(places))]
            if entries and entries[-1][3] == place and entries[-1][0] + entries[-1][1] == tile:
                entries[-1][1] += 1
            else:
                entries.append([tile, 1, len(data), place])
        data_end, root = file.tell(), encode_directory(entries)
        if len(root) > DATA_OFFSET - HEADER_BYTES:
            pointers, offset = [], 0
            for at in range(0, len(entries), per_leaf):
                leaf = encode_directory(entries[at : at + per_leaf])
                pointers.append((entries[at][0], 0, len(leaf), offset))
                leaves.append(leaf)
                offset += len(leaf)
            root = encode_directory(pointers)
        file.write(b"".join(leaves))
        packed, place = gzip.compress(json.dumps(metadata, ensure_ascii=False).encode(), mtime=0), file.tell()
        file.write(packed)
        leaf_bytes = sum(map(len, leaves))
        numbers = [HEADER_BYTES, len(root), place, len(packed), data_end, leaf_bytes, DATA_OFFSET, data_end - DATA_OFFSET]
        numbers += [after.tiles, len(entries), contents]
        file.seek(0)
        file.write(header[:8] + struct.pack("<11Q", *numbers) + header[96:] + root)
        file.flush()
        os.fsync(file.fileno())


def apply(older_path, delta_path, newer_path):
    """How many tiles the newer archive has."""
    older, delta = Archive(older_path), Archive(delta_path)
    metadata = dict(delta.metadata)
    about = metadata.pop("delta", None)
    if about is None:
        raise ValueError(f"{delta_path} is no delta: it has the whole of a version")
    removed = {tile_number(*place) for place in about["removed"]}
    before, after, temporary = SetDigest(), SetDigest(), f"{newer_path}.new"
    try:
        write(temporary, merged(older, delta, removed, before), delta.header, metadata, about["to_tiles"], after)
        if before.hash.hexdigest() != about["from_digest"]:
            raise ValueError(f"{older_path} is not the version {about['from_version']} that this delta is laid over")
        if after.hash.hexdigest() != about["to_digest"]:
            raise ValueError(f"the result is not the version {about['to_version']}")
        os.replace(temporary, newer_path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return after.tiles


def download(url, path, headers):
    """Fetches into a file, from where an earlier attempt ended, as long as the server still has the same content."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    tag = ""
    if os.path.exists(f"{path}.etag"):
        with open(f"{path}.etag") as kept:
            tag = kept.read()
    if tag and size:
        headers = {**headers, "Range": f"bytes={size}-", "If-Range": tag}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60)
    except urllib.error.HTTPError as error:
        if error.code == 416 and error.headers.get("Content-Range") == f"bytes */{size}":
            return
        raise
    with open(f"{path}.etag", "w") as kept:
        kept.write(answer.headers.get("ETag", ""))
    missing = int(answer.headers.get("Content-Length", 0))
    with answer, open(path, "ab" if answer.status == 206 else "wb") as file:
        while part := answer.read(READ_AT_ONCE):
            missing -= file.write(part)
    if missing > 0:
        raise ValueError("the download was cut; run this again to go on")


def main(arguments):
    if len(arguments) < 3:
        raise ValueError('apply OLDER DELTA NEWER [--header "Name: value"]; DELTA is a file or an address')
    older, delta, newer, *options = arguments
    headers = {}
    for name, value in zip(options[::2], options[1::2]):
        if name != "--header" or ":" not in value:
            raise ValueError(f"{name} is not known, or has no value")
        field, text = value.split(":", 1)
        headers[field] = text.strip()
    is_remote = delta.startswith(("http://", "https://"))
    path = f"{newer}.delta" if is_remote else delta
    if is_remote:
        download(delta, path, headers)
    tiles = apply(older, path, newer)
    if is_remote:
        os.remove(path)
        os.remove(f"{path}.etag")
    print(f"{newer}: {tiles} tiles")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(str(error))
