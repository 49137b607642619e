import { statfs } from 'node:fs/promises'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { PlanLine } from '@gateway/contracts/tiling/protocol.js'

/** Space that stays free on the disk beyond the expected need of a job, for other writers: a twentieth of the need, or at most this. */
const MAX_RESERVE_BYTES = 256 * 1024 * 1024
const RESERVED_SHARE = 0.05

/** Returns the reason why the disk of `directory` cannot hold the planned tiles, or null. */
export async function lackOfRoom(plan: PlanLine, directory: string): Promise<CodedMessage | null> {
  const { bavail, blocks, bsize } = await statfs(directory)
  const available = bavail * bsize
  const needed = Math.max(0, plan.bytes_estimate - (plan.bytes_kept ?? 0)) + plan.temp_bytes_estimate
  const reserve = Math.min(MAX_RESERVE_BYTES, blocks * bsize * RESERVED_SHARE)
  if (needed + reserve <= available) return null
  return coded('slice_disk_room', {
    needed: megabytes(needed),
    tiles: plan.tiles,
    free: megabytes(available),
    kept: megabytes(reserve),
  })
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}
