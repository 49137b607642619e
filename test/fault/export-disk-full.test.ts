import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Export } from '@gateway/contracts/export.js'
import { afterAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { SmallDisk } from '../harness/small-disk.js'
import { startGateway } from '../harness/start-gateway.js'

/** Size above the free space that an export leaves for others, 256 MiB. */
const disk = await SmallDisk.mount(320)
afterAll(() => disk?.remove())

test('an export on a nearly or entirely full disk fails with the reason, leaves nothing behind, and runs once there is room', async ({
  annotate,
}) => {
  if (disk === null) {
    await annotate('no file system can be mounted here: not tested')
    return
  }
  const gateway = await startGateway({ env: { DATA_DIR: disk.path } })
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 1 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  const { token } = await gateway.issueToken({ basemap_codes: ['world'] })
  const exported = async (): Promise<Export> => {
    const { id } = await gateway.admin.expect<Export>('/exports', { body: { basemap_code: 'world', version: 'v1' } })
    const read = () => gateway.admin.expect<Export>(`/exports/${id}`)
    await expect.poll(async () => (await read()).finished_at).not.toBeNull()
    return read()
  }
  const kept = () =>
    existsSync(join(disk.path, 'exports')) ? readdirSync(join(disk.path, 'exports')).map((name) => name) : []
  const served = async () => (await fetch(`${gateway.url}/tiles/world/0/0/0.png?token=${token}`)).status

  // Nearly full: the reserve for others is kept.
  execFileSync('dd', ['if=/dev/zero', `of=${join(disk.path, 'others')}`, 'bs=1M', 'count=100'], { stdio: 'ignore' })
  const nearly = await exported()
  expect([nearly.status, nearly.message]).toEqual(['failed', expect.stringMatching(/disk.*free space/)])
  expect(kept()).toEqual([])

  await disk.fill()
  const full = await exported()
  expect([full.status, full.message]).toEqual(['failed', expect.stringMatching(/disk|space|ENOSPC/i)])
  expect(kept()).toEqual([])
  // Requests that do not write to the disk still work.
  expect(await served()).toBe(200)
  expect((await gateway.admin.call('/tokens')).status).toBe(200)

  await disk.free()
  execFileSync('rm', [join(disk.path, 'others')])
  const one = await exported()
  expect([one.status, one.message]).toEqual(['succeeded', ''])
  expect(kept()).toEqual([`${one.id}.pmtiles`])
  expect(await served()).toBe(200)
  await gateway.stop()
})
