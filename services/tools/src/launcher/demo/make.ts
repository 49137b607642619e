import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeBasemaps } from './basemaps.js'
import { IMAGERY, STYLES, VECTORS } from './sources.js'

// A separate process, because it computes for several seconds and needs a few hundred megabytes, which the launcher cannot spare.
const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: make.js <folder>')
await mkdir(join(folder, 'basemaps'), { recursive: true })
await cp(IMAGERY, join(folder, 'imagery'), { recursive: true })
await cp(VECTORS, join(folder, 'vectors'), { recursive: true })
await cp(STYLES, join(folder, 'styles'), { recursive: true })
await writeBasemaps(join(folder, 'basemaps'))
