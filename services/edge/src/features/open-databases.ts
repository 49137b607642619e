import type { DatabaseConnection } from '@gateway/contracts/postgis.js'
import { readDatabaseSource } from '@gateway/store/scan-sources.js'
import { Databases } from '@gateway/vectors/postgis/databases.js'
import { type Catalog, relationOf } from '../sync/catalog.js'
import type { StoreLink } from '../sync/store-link.js'
import type { OpenDatabaseTiles } from '../tiles/tile-loader.js'
import { DatabaseTiles, nameIn } from './database-tiles.js'

/** Time in ms after which the address and password of a database are read again: passwords change without a scan. */
const READ_AGAIN_MS = 10_000
const USAGE = 'vector:'

interface Known {
  readonly connection: DatabaseConnection | null
  readonly readAtMs: number
}

/**
 * Opens the databases of scan sources, whose addresses are read from the store. Nothing is connected before the first request.
 * @param dropTiles called for the tiles of a vector whose table has changed
 */
export function openDatabases(
  store: Pick<StoreLink, 'query'>,
  catalog: () => Catalog,
  dropTiles: (code: string) => void,
) {
  const known = new Map<string, Known>()
  const connection = async (source: string) => {
    const last = known.get(source)
    const nowMs = performance.now()
    if (last !== undefined && nowMs - last.readAtMs < READ_AGAIN_MS) return last.connection
    try {
      const read = await store.query((sql) => readDatabaseSource(sql, source))
      known.set(source, { connection: read?.connection ?? null, readAtMs: nowMs })
      return read?.connection ?? null
    } catch {
      // A database serves on while the store is away.
      return last?.connection ?? null
    }
  }
  const databases: Databases = new Databases({
    connection,
    notified: (source, table, box) => {
      tiles.changed(source, table, box)
      for (const vector of catalog().vectors.values()) {
        const relation = relationOf(vector)
        const isIts = relation !== null && relation.source === source && nameIn(relation) === table
        if (isIts && vector.tiles !== null) dropTiles(vector.tiles.stored.code)
      }
    },
    ended: () => tiles.deafened(),
  })
  const tiles = new DatabaseTiles(databases)
  const open: OpenDatabaseTiles = ({ usage, stored }, readers) => {
    const vector = catalog().vectors.get(usage.slice(USAGE.length))
    const relation = vector === undefined ? null : relationOf(vector)
    if (vector === undefined || relation === null) return null
    const { code, fingerprint, path, tiles: ofVector } = vector.stored
    const content = JSON.stringify([path, code, fingerprint, stored.revision, ofVector.fields])
    return tiles.open({ relation, code, content, fields: ofVector.fields }, readers)
  }
  return { databases, open }
}
