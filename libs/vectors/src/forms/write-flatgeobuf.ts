import fs from 'node:fs'
import { blobIn } from '../index-file/geometry-blob.js'
import type { FormTask } from '../query/conversion.js'
import { toCrs } from '../query/crs.js'
import { FlatGeobufEncoder, inGisOrder } from '../query/flatgeobuf-encoder.js'
import type { SqlRow } from '../query/items-query.js'
import { fieldsOf } from '../query/parameters.js'
import { NODE_SIZE, PackedTree } from './packed-tree.js'
import { IndexRows } from './rows.js'

const BUFFER_BYTES = 1024 * 1024

/**
 * Writes FlatGeobuf with its index for features that all have a place. They are written to a second file first, since the index in front of them has
 * their positions. Holds 56 bytes of each feature in memory.
 */
export function writeFlatGeobuf(task: FormTask): void {
  const { index, description, crs, output } = task
  const fields = fieldsOf(description)
  const { geometry_type: geometryType, has_z: hasZ = false, feature_count: count } = description
  const none = { filter: null, id: null, sort: [], limit: 0, offset: 0, after: null, texts: null, maxBytes: 0 } as const
  const query = { index, fields, selected: fields, geometryType, hasZ, crs, format: 'fgb', ...none } as const
  const convert = toCrs(crs)
  const encoder = new FlatGeobufEncoder(query, convert, true)
  const gis = inGisOrder(convert, crs)
  const forward = gis === null ? null : ([x, y]: [number, number]) => gis(x, y)
  const unordered = `${output}.features`
  const tree = new PackedTree(count)
  const rows = new IndexRows(index)
  const features = fs.openSync(unordered, 'wx+')
  const out = new Output(fs.openSync(output, 'wx'))
  try {
    const before = new Output(features)
    for (const [fid, ownId, geometry, layer, ...values] of rows.shown(fields)) {
      const blob = blobIn(geometry as Uint8Array, forward, 0)
      const bytes = encoder.feature(
        { fid, ownId, geometry, layer } as Parameters<typeof encoder.feature>[0],
        values as SqlRow,
      )
      // A place outside of the system is at the origin of its tree.
      tree.add(typeof blob === 'string' || blob.box === null ? [0, 0, 0, 0] : blob.box, bytes.length)
      before.write(bytes)
    }
    before.flush()
    tree.finish()
    out.write(encoder.head({ name: task.code, envelope: tree.box, count, nodeSize: NODE_SIZE }))
    tree.write((bytes) => out.write(bytes))
    for (const { position, length } of tree.leaves()) {
      const bytes = Buffer.allocUnsafe(length)
      fs.readSync(features, bytes, 0, length, position)
      out.write(bytes)
    }
    out.flush()
  } finally {
    rows.close()
    fs.closeSync(features)
    fs.closeSync(out.fd)
    fs.rmSync(unordered, { force: true })
  }
}

/** Writes many small parts by few calls. */
class Output {
  readonly fd: number
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(fd: number) {
    this.fd = fd
  }

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= BUFFER_BYTES) this.flush()
  }

  flush(): void {
    const whole = Buffer.concat(this.#parts)
    for (let done = 0; done < whole.length; ) done += fs.writeSync(this.fd, whole, done)
    this.#parts = []
    this.#bytes = 0
  }
}
