import fs from 'node:fs'
import path from 'node:path'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { runEdge } from './running-edge.js'

/**
 * `edge-process.js PORT ADDRESS DATA_DIR`: runs an edge over one archive in object storage, which writes its token to DATA_DIR and serves until it is
 * killed.
 */
const [port, address = '', dataDir = ''] = process.argv.slice(2)
const world = storedVersion('v1', { path: address, storage: 'pmtiles' })
const rows = [storedBasemap('world', [world], { sourcePath: path.posix.dirname(address) })]
const { token } = await runEdge({
  port: Number(port),
  catalog: nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] }),
  dataDir,
  controlPlane: 'http://[::1]:1',
  tileMemoryBytes: 1_024,
})
fs.writeFileSync(path.join(dataDir, 'token.tmp'), token)
fs.renameSync(path.join(dataDir, 'token.tmp'), path.join(dataDir, 'token'))
