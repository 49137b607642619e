import { statfs } from 'node:fs/promises'
import type { PlanLine } from '@gateway/tiling/protocol.js'

/** Left free on the disk beyond what a job is expected to need: others write there, too. */
const DISK_RESERVE_BYTES = 256 * 1024 * 1024

/** Why the disk of `directory` would not hold what is planned; null: it would. */
export async function lackOfRoom(plan: PlanLine, directory: string): Promise<string | null> {
  const { bavail, bsize } = await statfs(directory)
  const available = bavail * bsize
  const needed = plan.bytes_estimate + plan.temp_bytes_estimate
  if (needed + DISK_RESERVE_BYTES <= available) return null
  return (
    `the disk would not hold the layer: about ${megabytes(needed)} MB are needed for ${plan.tiles} tiles and work space, ` +
    `${megabytes(available)} MB are free`
  )
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}
