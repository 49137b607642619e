#!/usr/bin/env node
// Lays a delta over an older PMTiles archive. Node 20 or later, no packages:
//
//   npx ./docs/examples/apply older.pmtiles delta.pmtiles newer.pmtiles
//   npx ./docs/examples/apply older.pmtiles https://example.com/delta.pmtiles newer.pmtiles --header "Authorization: Bearer ..."
//
// A download that was cut goes on where it ended. The newer archive appears under its name when every byte of it is proven: the older archive is the
// one that the delta was made for, and the tiles of the newer one have the digest that the delta names. newer.pmtiles may be older.pmtiles.
import { createHash } from 'node:crypto'
import { closeSync, openSync, realpathSync, writeSync } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

const HEADER_BYTES = 127
const DATA_OFFSET = 16_384
const MAX_ROOT_BYTES = DATA_OFFSET - HEADER_BYTES
const LEAF_ENTRIES = 4_096
const MAX_LEAVES = 1_500
const REMEMBERED_CONTENTS = 500_000
const WRITTEN_AT_ONCE = 1024 * 1024

/** An archive of PMTiles 3 whose directories are gzipped or plain. */
export async function openArchive(file) {
  const handle = await open(file)
  const read = async (offset, length) => {
    const data = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await handle.read(data, at, length - at, offset + at)
      if (bytesRead === 0) throw new Error(`${file} ends too early`)
      at += bytesRead
    }
    return data
  }
  const header = await read(0, HEADER_BYTES)
  if (header.toString('latin1', 0, 7) !== 'PMTiles' || header[7] !== 3)
    throw new Error(`${file} is no PMTiles 3 archive`)
  const number = (index) => Number(header.readBigUInt64LE(8 + 8 * index))
  const [rootOffset, rootLength, metadataOffset, metadataLength, leavesOffset, , tilesOffset] = [
    0, 1, 2, 3, 4, 5, 6,
  ].map(number)
  const unpack = (data) => (header[97] === 2 ? gunzipSync(data) : data)
  async function* entriesOf(directory) {
    for (const entry of directory) {
      if (entry.runLength > 0) yield entry
      else yield* entriesOf(decodeDirectory(unpack(await read(leavesOffset + entry.offset, entry.length))))
    }
  }
  return {
    header,
    metadata: JSON.parse(unpack(await read(metadataOffset, metadataLength)).toString()),
    close: () => handle.close(),
    /** Runs of tiles of one content, in the order of their numbers. */
    async *runs() {
      if (rootLength === 0) return
      for await (const entry of entriesOf(decodeDirectory(unpack(await read(rootOffset, rootLength)))))
        yield { ...entry, data: () => read(tilesOffset + entry.offset, entry.length) }
    },
  }
}

function decodeDirectory(data) {
  let at = 0
  const next = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = data[at++]
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  const entries = Array.from({ length: next() }, () => ({ tileId: 0, runLength: 0, length: 0, offset: 0 }))
  let tileId = 0
  for (const entry of entries) entry.tileId = tileId += next()
  for (const entry of entries) entry.runLength = next()
  for (const entry of entries) entry.length = next()
  entries.forEach((entry, i) => {
    const offset = next()
    entry.offset = offset === 0 ? entries[i - 1].offset + entries[i - 1].length : offset - 1
  })
  return entries
}

function encodeDirectory(entries) {
  const numbers = [entries.length]
  entries.forEach(({ tileId }, i) => {
    numbers.push(tileId - (entries[i - 1]?.tileId ?? 0))
  })
  for (const { runLength } of entries) numbers.push(runLength)
  for (const { length } of entries) numbers.push(length)
  entries.forEach(({ offset }, i) => {
    const before = entries[i - 1]
    numbers.push(before !== undefined && before.offset + before.length === offset ? 0 : offset + 1)
  })
  const bytes = []
  for (let number of numbers) {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) | 128)
    bytes.push(number)
  }
  return gzipSync(Buffer.from(bytes))
}

/** The number of a tile: its zoom's first number, and its place on the Hilbert curve of the zoom. */
function tileNumber([z, x, y]) {
  let number = 0
  for (let zoom = 0; zoom < z; zoom++) number += 4 ** zoom
  for (let side = 2 ** (z - 1); side >= 1; side /= 2) {
    const [right, lower] = [Math.floor(x / side) % 2, Math.floor(y / side) % 2]
    number += side * side * ((3 * right) ^ lower)
    if (lower === 0) {
      if (right === 1) [x, y] = [side - 1 - (x % side), side - 1 - (y % side)]
      ;[x, y] = [y % side, x % side]
    } else [x, y] = [x % side, y % side]
  }
  return number
}

/** The tiles of the newer set, one by one; what the older one has goes into `before`. */
async function* merged(older, delta, removed, before) {
  /** @type {AsyncIterator<any>[]} */
  const [olds, news] = [tilesOf(older), tilesOf(delta)]
  let [old, fresh] = [await olds.next(), await news.next()]
  let at = 0
  while (!old.done || !fresh.done) {
    const [oldId, newId] = [
      old.value?.tileId ?? Number.POSITIVE_INFINITY,
      fresh.value?.tileId ?? Number.POSITIVE_INFINITY,
    ]
    if (oldId <= newId) {
      before.add(oldId, old.value.data)
      while (at < removed.length && removed[at] < oldId) at++
      if (oldId < newId && removed[at] !== oldId) yield old.value
      old = await olds.next()
    }
    if (newId <= oldId) {
      yield fresh.value
      fresh = await news.next()
    }
  }
}

async function* tilesOf(archive) {
  for await (const { tileId, runLength, data } of archive.runs()) {
    const content = await data()
    for (let id = tileId; id < tileId + runLength; id++) yield { tileId: id, data: content }
  }
}

/** For each tile its number in 8 bytes, big-endian, and the SHA-256 of its data. */
class SetDigest {
  #hash = createHash('sha256')
  #last = null
  tiles = 0

  add(tileId, data) {
    if (this.#last?.data !== data) this.#last = { data, digest: createHash('sha256').update(data).digest() }
    const number = Buffer.alloc(8)
    number.writeBigUInt64BE(BigInt(tileId))
    this.#hash.update(number).update(this.#last.digest)
    this.tiles++
    return this.#last.digest
  }

  digest() {
    return this.#hash.digest('hex')
  }
}

/** Writes as the gateway writes an export, so that the whole file is the same. */
class ArchiveWriter {
  #file
  #gathered = []
  #gatheredBytes = 0
  #offsets = new Map()
  #leafEntries
  #leaves = []
  #pointers = []
  #leafBytes = 0
  #open = []
  #counts = [0, 0, 0]
  #position = 0

  constructor(file, expected) {
    this.#file = file
    this.#leafEntries = Math.max(LEAF_ENTRIES, Math.ceil(expected / MAX_LEAVES))
  }

  async #write(data) {
    this.#gathered.push(data)
    this.#gatheredBytes += data.length
    this.#position += data.length
    if (this.#gatheredBytes >= WRITTEN_AT_ONCE) await this.#flush()
  }

  async #flush() {
    await this.#file.appendFile(Buffer.concat(this.#gathered))
    this.#gathered = []
    this.#gatheredBytes = 0
  }

  async begin() {
    await this.#write(Buffer.alloc(DATA_OFFSET))
  }

  async add(tileId, data, digest) {
    const key = digest.toString('latin1', 0, 16)
    let offset = this.#offsets.get(key)
    this.#offsets.delete(key)
    if (offset === undefined) {
      offset = this.#position - DATA_OFFSET
      this.#counts[2]++
      await this.#write(data)
    }
    this.#offsets.set(key, offset)
    if (this.#offsets.size > REMEMBERED_CONTENTS) this.#offsets.delete(this.#offsets.keys().next().value)
    this.#counts[0]++
    const last = this.#open.at(-1)
    if (last !== undefined && last.tileId + last.runLength === tileId && last.offset === offset)
      return void last.runLength++
    if (this.#open.length === this.#leafEntries) this.#closeLeaf()
    this.#open.push({ tileId, runLength: 1, offset, length: data.length })
    this.#counts[1]++
  }

  #closeLeaf() {
    const leaf = encodeDirectory(this.#open)
    this.#pointers.push({ tileId: this.#open[0].tileId, runLength: 0, offset: this.#leafBytes, length: leaf.length })
    this.#leaves.push(leaf)
    this.#leafBytes += leaf.length
    this.#open = []
  }

  #root() {
    if (this.#leaves.length === 0) {
      const whole = encodeDirectory(this.#open)
      if (whole.length <= MAX_ROOT_BYTES) return whole
    }
    this.#closeLeaf()
    return encodeDirectory(this.#pointers)
  }

  /** `description`: the header of the delta, which tells the zooms, bounds and format of the newer set. */
  async finish(description, metadata) {
    const root = this.#root()
    const data = [DATA_OFFSET, this.#position - DATA_OFFSET]
    const leaves = [this.#position, this.#leafBytes]
    for (const leaf of this.#leaves) await this.#write(leaf)
    const packed = gzipSync(JSON.stringify(metadata))
    const place = [this.#position, packed.length]
    await this.#write(packed)
    await this.#flush()
    const header = Buffer.from(description)
    const numbers = [HEADER_BYTES, root.length, ...place, ...leaves, ...data, ...this.#counts]
    for (const [i, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
    await this.#file.write(Buffer.concat([header, root]), 0, HEADER_BYTES + root.length, 0)
    await this.#file.sync()
  }
}

/** Fetches into a file, from where an earlier attempt ended, as long as the server still has the same content. */
export async function download(url, file, headers) {
  const [known, size] = await Promise.all([
    readFile(`${file}.etag`, 'utf8').catch(() => ''),
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  ])
  const goesOn = known !== '' && size > 0
  const answer = await fetch(url, {
    headers: { ...headers, ...(goesOn && { Range: `bytes=${size}-`, 'If-Range': known }) },
  })
  const isDone = answer.status === 416 && answer.headers.get('content-range') === `bytes */${size}`
  if (isDone) return
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}`)
  await writeFile(`${file}.etag`, answer.headers.get('etag') ?? '')
  const fd = openSync(file, answer.status === 206 ? 'a' : 'w')
  try {
    const body = /** @type {import('node:stream/web').ReadableStream<Uint8Array>} */ (answer.body)
    // Written at once, so that a cut loses nothing that has arrived.
    for await (const part of body) writeSync(fd, part)
  } finally {
    closeSync(fd)
  }
}

/** @returns how many tiles the newer archive has */
export async function apply(olderFile, deltaFile, newerFile) {
  const [older, delta] = [await openArchive(olderFile), await openArchive(deltaFile)]
  const temporary = `${newerFile}.new`
  await rm(temporary, { force: true })
  const output = await open(temporary, 'wx')
  try {
    const { delta: about, ...metadata } = delta.metadata
    if (about === undefined) throw new Error(`${deltaFile} is no delta: it has the whole of a version`)
    const removed = about.removed.map(tileNumber).sort((a, b) => a - b)
    const [before, after] = [new SetDigest(), new SetDigest()]
    const writer = new ArchiveWriter(output, about.to_tiles)
    await writer.begin()
    for await (const { tileId, data } of merged(older, delta, removed, before)) {
      await writer.add(tileId, data, after.add(tileId, data))
    }
    if (before.digest() !== about.from_digest)
      throw new Error(`${olderFile} is not the version ${about.from_version} that this delta is laid over`)
    if (after.digest() !== about.to_digest) throw new Error(`the result is not the version ${about.to_version}`)
    await writer.finish(delta.header, metadata)
    await rename(temporary, newerFile)
    return after.tiles
  } finally {
    await Promise.all([older.close(), delta.close(), output.close()])
    await rm(temporary, { force: true })
  }
}

async function main(olderFile, deltaPlace, newerFile, ...options) {
  if (newerFile === undefined)
    throw new Error('apply OLDER DELTA NEWER [--header "Name: value"]; DELTA is a file or an address')
  const headers = {}
  for (let i = 0; i < options.length; i += 2) {
    const colon = options[i + 1]?.indexOf(':') ?? -1
    if (options[i] !== '--header' || colon < 1) throw new Error(`${options[i]} is not known, or has no value`)
    headers[options[i + 1].slice(0, colon)] = options[i + 1].slice(colon + 1).trim()
  }
  const isRemote = /^https?:/.test(deltaPlace)
  const deltaFile = isRemote ? `${newerFile}.delta` : deltaPlace
  if (isRemote) await download(deltaPlace, deltaFile, headers)
  const tiles = await apply(olderFile, deltaFile, newerFile)
  if (isRemote) for (const file of [deltaFile, `${deltaFile}.etag`]) await rm(file, { force: true })
  console.log(`${newerFile}: ${tiles} tiles`)
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(...process.argv.slice(2)).catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
