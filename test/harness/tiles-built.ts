import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminVector } from '@gateway/contracts/vector.js'
import type { Gateway } from './gateway.js'

const LOOK_AGAIN_MS = 100

/** Waits until the tiles of a vector are built, or have failed; every edge process then serves them. */
export async function tilesBuilt(gateway: Gateway, code: string): Promise<AdminVector> {
  for (;;) {
    const vector = await gateway.admin.expect<AdminVector>(`/vectors/${code}`)
    if (vector.tiles.status !== 'building') {
      await gateway.caughtUp()
      return vector
    }
    await sleep(LOOK_AGAIN_MS)
  }
}
