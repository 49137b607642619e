import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import { serve } from '@gateway/core/processes/serve.js'
import type { AssetAnswer, AssetTask } from './asset-pool.js'
import { buildRange, readFont } from './build-range.js'
import { fontFault } from './outlines.js'
import { buildSprite, measureDrawings } from './sprites.js'

const NOTHING = new Uint8Array(0)
const DONE = { ok: true, plain: NOTHING, packed: NOTHING, leftOut: [], boxes: [] } as const

serve<AssetTask, AssetAnswer>(async (task, step): Promise<AssetAnswer> => {
  switch (task.kind) {
    case 'range':
      return buildRange(task, step)
    case 'check font': {
      const fault = fontFault(await readFont(task.root, task.path))
      return fault === null ? DONE : { ok: false, reason: fault }
    }
    case 'check drawings': {
      const measured = await measureDrawings(task, step)
      return measured.ok ? { ...DONE, leftOut: measured.leftOut } : measured
    }
    case 'sprite': {
      const built = await buildSprite(task, step)
      if (!built.ok) return built
      // Not sent: an image of many megabytes would hold up the process that serves it.
      try {
        await writeFileAtomically(task.png, built.png)
        await writeFileAtomically(task.json, built.json)
      } catch (error) {
        throw isDiskFull(error) ? new CodedError(coded('disk_full')) : error
      }
      return { ...DONE, leftOut: built.leftOut }
    }
  }
})
