/** GDAL's programs and modules of Python, as Debian installs them. */
const GDAL = '/usr/bin/ogr* /usr/bin/gdal* /usr/local/bin/ogr* /usr/local/bin/gdal*'

/** The words before a command for which this machine has no GDAL: in a mount namespace, an empty device is in the place of each program. */
export const WITHOUT_GDAL = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
  '--mount',
  'sh',
  '-c',
  `for path in ${GDAL}; do if [ -f "$path" ]; then mount --bind /dev/null "$path"; fi; done; ` +
    'if [ -d /usr/lib/python3/dist-packages/osgeo ]; then mount -t tmpfs none /usr/lib/python3/dist-packages/osgeo; fi; exec "$@"',
  'sh',
]
