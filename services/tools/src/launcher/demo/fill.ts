import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanSource, ScanSourceBody } from '@gateway/contracts/scan-source.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { AdminCallFailed, type AdminClient } from '../admin-client.js'
import { layOutDemoData } from './lay-out.js'
import { DEMO_BASEMAPS, DEMO_STYLES, DEMO_VECTORS } from './plan.js'

/** Time limit: a scan of the configured roots may be running at a start, and only one scan runs at a time. */
const SCAN_WITHIN_MS = 120_000
/** Time limit for the vector tiles of the demo, which take a second or two. After it, the gateway starts and continues to build them. */
const BUILD_WITHIN_MS = 60_000
const LOOK_AGAIN_MS = 100

/** Writes the demo data below the data directory and scans it, until its vector tiles are built. Existing parts are not made again. */
export async function fillWithDemo(admin: AdminClient, dataDir: string): Promise<void> {
  const { basemapRoot, vectorRoot, styleRoot } = await layOutDemoData(join(dataDir, 'demo'))
  await scan(admin, { code: DEMO_BASEMAPS, kind: 'basemap', path: basemapRoot, name: 'Demo basemaps' })
  await scan(admin, { code: DEMO_VECTORS, kind: 'vector', path: vectorRoot, name: 'Demo vectors' })
  await scan(admin, { code: DEMO_STYLES, kind: 'style', path: styleRoot, name: 'Demo styles' })
  await tilesBuilt(admin)
}

/** Waits for the vector tiles, since the commands of the documentation read them. */
async function tilesBuilt(admin: AdminClient): Promise<void> {
  const deadline = performance.now() + BUILD_WITHIN_MS
  while (performance.now() < deadline) {
    const { items } = await admin.get<{ items: readonly AdminVector[] }>('/vectors')
    if (!items.some(({ tiles }) => tiles.status === 'building')) return
    await sleep(LOOK_AGAIN_MS)
  }
}

async function scan(admin: AdminClient, source: ScanSourceBody): Promise<void> {
  await admin.post('/scan-sources', source)
  const deadline = performance.now() + SCAN_WITHIN_MS
  while (!(await startScan(admin, source.code))) await waitUntil(deadline, source.code)
  for (;;) {
    const { items } = await admin.get<{ items: readonly ScanSource[] }>('/scan-sources')
    const last = items.find(({ code }) => code === source.code)?.last_scan
    if (last?.status === 'succeeded') return
    if (last?.status === 'failed') throw new Error(`the scan of ${source.code} failed: ${last.message}`)
    await waitUntil(deadline, source.code)
  }
}

/** Returns false if another scan is running or the store is slow, and the response says to try again. */
async function startScan(admin: AdminClient, code: string): Promise<boolean> {
  try {
    await admin.post(`/scan-sources/${code}/run`)
    return true
  } catch (error) {
    if (error instanceof AdminCallFailed && (error.status === 409 || error.status === 503)) return false
    throw error
  }
}

async function waitUntil(deadline: number, code: string): Promise<void> {
  if (performance.now() > deadline) throw new Error(`the scan of ${code} did not finish in time`)
  await sleep(LOOK_AGAIN_MS)
}
