"""A single OpenStack Swift (Debian's packages) with its S3 API on loopback, all four servers in this one process.

Argument: a directory that is empty. Says `ready` and the port of its proxy once it serves.
What eventlet and Swift need of a process, and nothing else, is done here: no daemon, no memcached, no replication.
"""
import os
import sys
import time

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402
from swift.common import utils, storage_policy  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402

directory = sys.argv[1]
etc, devices = os.path.join(directory, 'etc'), os.path.join(directory, 'srv')
# Listens before any file that contains a port is written.
LISTENERS = {kind: eventlet.listen(('127.0.0.1', 0)) for kind in ('account', 'container', 'object', 'proxy')}
PORTS = {kind: listener.getsockname()[1] for kind, listener in LISTENERS.items()}


class Cache:
    """In the place of memcached: Swift's proxy keeps tokens and what it knows of containers in it."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        value, until = self.values.get(key, (None, 0))
        return value if until == 0 or until > time.time() else None

    def set(self, key, value, time=0, **_):
        self.values[key] = (value, globals()['time'].time() + time if time else 0)

    def incr(self, key, delta=1, time=0, **_):
        value = (self.get(key) or 0) + delta
        self.set(key, value, time=time)
        return value

    def decr(self, key, delta=1, time=0, **_):
        return self.incr(key, -delta, time)

    def delete(self, key, **_):
        self.values.pop(key, None)

    def set_multi(self, mapping, time=0, **_):
        for key, value in mapping.items():
            self.set(key, value, time=time)

    def get_multi(self, keys, **_):
        return [self.get(key) for key in keys]


def filter_factory(_, **__):
    cache = Cache()

    def with_cache(app):
        def call(environ, start_response):
            environ['swift.cache'] = cache
            return app(environ, start_response)
        return call
    return with_cache


COMMON = f'''[DEFAULT]
devices = {devices}
mount_check = false
bind_ip = 127.0.0.1
swift_dir = {etc}
log_udp_host = 127.0.0.1
log_udp_port = 9
log_level = WARNING
fallocate_reserve = 0
'''

PROXY = '''[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth bulk slo symlink versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
paste.filter_factory = swift_for_tests:filter_factory
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
dns_compliant_bucket_names = true
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:symlink]
use = egg:swift#symlink
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
'''


def write(name, text):
    with open(os.path.join(etc, name), 'w') as file:
        file.write(text)
    return os.path.join(etc, name)


def build_ring(kind):
    ring = RingBuilder(4, 1, 1)
    ring.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': PORTS[kind], 'device': 'd1', 'weight': 1.0})
    ring.rebalance()
    ring.get_ring().save(os.path.join(etc, f'{kind}.ring.gz'))


def serve(kind, config):
    text = f'{COMMON}bind_port = {PORTS[kind]}\n{config}'
    app = swift_wsgi.loadapp(write(f'{kind}-server.conf', text))
    eventlet.spawn_n(wsgi.server, LISTENERS[kind], app, log_output=False, protocol=SwiftHttpProtocol)


for made in (etc, os.path.join(devices, 'd1')):
    os.makedirs(made)
write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = s\nswift_hash_path_prefix = p\n'
                    '[storage-policy:0]\nname = p0\ndefault = yes\n')
utils.SWIFT_CONF_FILE = os.path.join(etc, 'swift.conf')
utils.validate_hash_conf()
storage_policy.reload_storage_policies()
sys.modules['swift_for_tests'] = sys.modules['__main__']

# Both modules read swift.conf when they are imported.
from swift.common import wsgi as swift_wsgi  # noqa: E402
from swift.common.http_protocol import SwiftHttpProtocol  # noqa: E402

for storage in ('account', 'container', 'object'):
    build_ring(storage)
    serve(storage, f'[pipeline:main]\npipeline = server\n[app:server]\nuse = egg:swift#{storage}\n')
serve('proxy', PROXY)
print(f'ready {PORTS["proxy"]}', flush=True)
while True:
    eventlet.sleep(3600)
