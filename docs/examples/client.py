#!/usr/bin/env python3
"""A client of the map asset gateway. Python 3.9 or later, no packages.

    client.py GATEWAY TOKEN list
    client.py GATEWAY TOKEN tile CODE Z X Y FILE
    client.py GATEWAY TOKEN vector CODE FILE
    client.py GATEWAY TOKEN slice IMAGE LAYER ZOOM

GATEWAY is its address (http://127.0.0.1:8910). TOKEN needs the scope read, and slice for the last one; IMAGE is a path on the gateway's machine.
"""
import json
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_SECONDS = 30
BUSY = (429, 503)
ATTEMPTS = 5


class Refused(Exception):
    """The gateway answered with an error; its words are the message."""


class Gateway:
    def __init__(self, address, token):
        self.address = address.rstrip("/")
        self.token = token

    def open(self, path, body=None):
        """An answer of 2xx as a file. Waits as Retry-After says where the gateway asks for it."""
        headers = {"X-Access-Token": self.token}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(self.address + path, data=data, headers=headers)
            try:
                return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
            except urllib.error.HTTPError as error:
                with error:
                    words = json.load(error).get("error", "")
                if error.code not in BUSY or attempt == ATTEMPTS:
                    raise Refused(f"{error.code}: {words}") from None
                time.sleep(int(error.headers.get("Retry-After", "1")))

    def json(self, path, body=None):
        with self.open(path, body) as answer:
            return json.load(answer)

    def save(self, path, file):
        with self.open(path) as answer, open(file, "wb") as to:
            shutil.copyfileobj(answer, to)

    def basemaps(self):
        return self.json("/api/v1/catalog/basemaps")["items"]

    def vectors(self):
        return self.json("/api/v1/catalog/vectors")["items"]

    def tile_address(self, code, z, x, y):
        """TileJSON names the version that is current, and its format."""
        template = self.json(f"/tiles/{quote(code)}/tilejson.json")["tiles"][0]
        address = template.replace("{z}", z).replace("{x}", x).replace("{y}", y)
        return address[len(self.address):] if address.startswith(self.address) else urllib.parse.urlsplit(address).path

    def slice(self, image, layer, zoom):
        """Submits a job and waits for its end. The code makes it safe to submit again: a known one answers the same job."""
        job = {"code": f"{layer}:{image}:{zoom}", "name": layer, "target_code": layer, "source_path": image, "zoom_max": zoom}
        job = self.json("/api/v1/slice/jobs", job)
        while job["status"] in ("pending", "running"):
            time.sleep(0.5)
            job = self.json(f"/api/v1/slice/jobs/{job['id']}")
        if job["status"] == "failed":
            raise Refused(job["message"])
        return job


def quote(text):
    return urllib.parse.quote(text, safe="")


def main(address, token, command, *arguments):
    gateway = Gateway(address, token)
    if command == "list":
        for item in gateway.basemaps():
            print("basemap", item["code"], item["default_version"])
        for item in gateway.vectors():
            print("vector", item["code"], item["kind"])
    elif command == "tile":
        code, z, x, y, file = arguments
        gateway.save(gateway.tile_address(code, z, x, y), file)
    elif command == "vector":
        code, file = arguments
        gateway.save(f"/vectors/{quote(code)}/download", file)
    elif command == "slice":
        image, layer, zoom = arguments
        print(gateway.slice(image, layer, int(zoom))["status"])
    else:
        raise ValueError(command)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(str(refused))
    except (TypeError, ValueError):
        sys.exit(__doc__)
