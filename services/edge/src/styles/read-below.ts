import fs from 'node:fs'
import { promisify } from 'node:util'
import { openBelow } from '@gateway/core/files/open-below.js'
import type { DiskGate } from '../files/disk-gate.js'

const read = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

/**
 * Reads a whole file below a root; null if it does not exist. Rejects if it is larger than `most` bytes, or if its disk does not
 * answer.
 */
export async function readBelow(disks: DiskGate, root: string, file: string, most: number): Promise<Buffer | null> {
  const answer = await disks.run(root, {
    read: async () => {
      const opened = await openBelow(root, file)
      if (!opened.ok) return null
      try {
        if (opened.size > most) throw new Error(`it has more than ${most} bytes`)
        return await read(opened.fd)
      } finally {
        fs.close(opened.fd, () => {})
      }
    },
  })
  if (!answer.ok) throw new Error('the disk does not answer')
  return answer.value
}
