import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The code that handles files of scan sources. */
const FOLDERS = [
  'libs/styles/src',
  'libs/tilesets/src',
  'libs/vectors/src',
  'services/control-plane/src',
  'services/edge/src',
]

/** Calls that open a file by its path. A file of a source may have been replaced by a link since its scan. */
const BY_PATH =
  /(?<![.#\w])(?:(?:fs|promises|fs\.promises)\.)?(?:readFile|readFileSync|createReadStream|openAsBlob|copyFile|copyFileSync|cp|cpSync|openSync)\(|(?:\bawait|fs\.promises\.|\bfs\.)\s*open\(/
/** Calls that have an open file, or whose path cannot be that of a source. */
const HARMLESS = /createReadStream\('', \{ fd|openSync\([^)]*'wx'|open\([^)]*'wx|'\/proc\/|`\/proc\/|new URL\(/

/** Files that open only files which the gateway itself has written or was installed with. */
const OWN_FILES: Readonly<Record<string, string>> = {
  'libs/styles/src/build-range.ts': 'its cache',
  'libs/styles/src/subset-fonts.ts': 'its package',
  'libs/styles/src/system-fonts.ts': 'fonts of the system',
  'libs/tilesets/src/folder/column.ts': 'checks the real path of its folder, and follows no link',
  'libs/tilesets/src/mbtiles/unfinished-writes.ts': 'reads only the first bytes of a journal, which are never sent',
  'libs/tilesets/src/kept/kept-files.ts': 'the cache of tiles',
  'libs/tilesets/src/remote/kept-facts.ts': 'the cache of remote tiles',
  'libs/tilesets/src/remote/pmtiles.ts': 'an object, not a file',
  'libs/vectors/src/formats/kml.ts': 'scratch files',
  'libs/vectors/src/formats/open-vector.ts': 'scratch files',
  'libs/vectors/src/forms/write-flatgeobuf.ts': 'scratch files',
  'libs/vectors/src/tiles/build-tiles.ts': 'scratch files',
  'libs/vectors/src/tiles/build-zoom.ts': 'scratch files',
  'libs/vectors/src/tiles/feature-file.ts': 'scratch files',
  'libs/vectors/src/tiles/tile-runs.ts': 'scratch files',
  'services/control-plane/src/catalog/scans/remote/fetch.ts': 'scratch files',
  'services/control-plane/src/catalog/scans/walk/remembered-probes.ts': 'a file of DATA_DIR',
  'services/control-plane/src/catalog/imports/uploads.ts': 'the received body',
  'services/control-plane/src/catalog/styles/check-process.ts': 'an import that was unpacked without links',
  'services/control-plane/src/catalog/styles/import-style.ts': 'the received body',
  'services/control-plane/src/deliveries/files/copy.ts': 'its own function of that name',
  'services/control-plane/src/exports/publish-export.ts': 'an archive of DATA_DIR',
  'services/control-plane/src/platform/files/stage.ts': 'syncs folders',
  'services/control-plane/src/slicing/log-stream.ts': 'the log of a tool',
  'services/control-plane/src/slicing/published-layers.ts': 'marks of the tiler in DATA_DIR',
  'services/control-plane/src/slicing/write-layer-archive.ts': 'output of the tiler',
  'services/control-plane/src/system/console/docs-site.ts': 'its package',
  'services/control-plane/src/system/console/kept-traffic.ts': 'a file of DATA_DIR',
  'services/control-plane/src/system/console/static-files.ts': 'its package',
  'services/control-plane/src/vectors/run-build.ts': 'the output of a build',
  'services/edge/src/features/vector-features.ts': 'the output of a build',
  'services/edge/src/offline/kept-file.ts': 'a file of DATA_DIR',
  'services/edge/src/own-version.ts': 'its package',
  'services/edge/src/styles/failed-assets.ts': 'its cache',
  'services/edge/src/styles/style-assets.ts': 'its cache',
}

function opensByPath(source: string): boolean {
  return source.split('\n').some((line) => BY_PATH.test(line) && !HARMLESS.test(line))
}

function filesThatOpenByPath(): string[] {
  const listed = execFileSync('git', ['ls-files', ...FOLDERS.map((folder) => `${folder}/*.ts`)], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const isProduct = (file: string) => file !== '' && !/\.test\.|\/testing\//.test(file)
  return listed.split('\n').filter((file) => isProduct(file) && opensByPath(readFileSync(ROOT + file, 'utf8')))
}

test('files of scan sources are opened below their root, not by their path', () => {
  // A file that is missing here must use `readBelow` or `openBelow` of libs/core, or open no file of a source.
  expect(filesThatOpenByPath().filter((file) => !(file in OWN_FILES))).toEqual([])
})

test('the list of exceptions names only files that need one', () => {
  const found = filesThatOpenByPath()
  expect(Object.keys(OWN_FILES).filter((file) => !found.includes(file))).toEqual([])
})

test.each([
  'const svg = await readFile(join(folder, name))',
  "const text = fs.readFileSync(path, 'utf8')",
  'return fs.promises.readFile(path)',
  'createReadStream(path).pipe(response)',
  "const handle = await open(path, 'r')",
  'fd = fs.openSync(path, OPEN_FLAGS)',
  'await copyFile(path, target)',
])('the check finds: %s', (line) => {
  expect(opensByPath(line)).toBe(true)
})

test.each([
  "createReadStream('', { fd, start: 0 })",
  'const read = await readBelow(root, path, MAX_BYTES)',
  "const output = await open(target, 'wx')",
  "readFileSync(new URL('../package.json', import.meta.url), 'utf8')",
])('the check accepts: %s', (line) => {
  expect(opensByPath(line)).toBe(false)
})
