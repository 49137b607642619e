#!/usr/bin/env python3
"""Keeps a PMTiles archive on disk as new as a basemap of the gateway. Python 3.9 or later, no packages; apply.py stands beside it:

    python3 keep.py http://127.0.0.1:8910 world world.pmtiles --header "Authorization: Bearer ..."

It reads which version the file has, and finds the archives that lead from there to the default version (or to --version) by the fewest bytes: a
series of deltas, or a whole archive. It can be ended at any time: the next run goes on with what is there. The token needs the scope `read`.
"""
import heapq
import json
import os
import sys
import urllib.parse
import urllib.request

import apply


def way_between(archives, start, wanted):
    """The archives that lead from one version to another by the fewest bytes, in their order; None: none do."""
    open_, seen, number = [(0, 0, start, [])], set(), 0
    while open_:
        size, _, at, way = heapq.heappop(open_)
        if at == wanted:
            return way
        if at in seen:
            continue
        seen.add(at)
        for archive in archives:
            # A whole archive may replace whatever is there.
            if archive["from_version"] in (at, None):
                number += 1
                heapq.heappush(open_, (size + archive["bytes"], number, archive["version"], way + [archive]))
    return None


def keep(gateway, code, file, version, headers):
    base = f"{gateway.rstrip('/')}/api/v1/catalog/basemaps/{urllib.parse.quote(code, safe='')}"

    def read(url):
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return json.load(answer)

    wanted = version or read(base)["default_version"]
    had = apply.Archive(file).metadata.get("version") if os.path.exists(file) else None
    if had == wanted:
        print(f"{file} has the version {wanted} already")
        return
    way = way_between(read(f"{base}/archives")["items"], had, wanted)
    if way is None:
        raise ValueError(f"no archives lead from the version {had or '(none)'} to {wanted}")
    for archive in way:
        fetched = f"{file}.delta"
        apply.download(f"{base}/archives/{archive['id']}", fetched, headers)
        if os.path.getsize(fetched) != archive["bytes"]:
            raise ValueError("the download was cut; run this again to go on")
        if archive["from_version"] is None:
            os.replace(fetched, file)
        else:
            apply.apply(file, fetched, file)
        for one in (fetched, f"{fetched}.etag"):
            if os.path.exists(one):
                os.remove(one)
        print(f"{file} has the version {archive['version']} now, by {archive['bytes']} bytes")


def main(arguments):
    if len(arguments) < 3:
        raise ValueError('keep GATEWAY CODE FILE [--version LABEL] [--header "Name: value"]')
    gateway, code, file, *options = arguments
    version, headers = None, {}
    for name, value in zip(options[::2], options[1::2]):
        if name == "--version":
            version = value
        elif name == "--header" and ":" in value:
            field, text = value.split(":", 1)
            headers[field] = text.strip()
        else:
            raise ValueError(f"{name} is not known, or has no value")
    keep(gateway, code, file, version, headers)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(str(error))
