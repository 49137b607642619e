import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { readSliceJob, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../platform/context.js'

const CHUNK_BYTES = 64 * 1024
/** Interval of reading a followed log; a person reads no faster. */
const FOLLOW_MS = 500

/** Returns the log of a job as a stream. With `follow`, it continues until the job has ended or this process stops. */
export function followLog(ctx: ControlContext, job: StoredSliceJob, follow: boolean): Readable {
  return Readable.from(chunks(ctx, job, follow), { objectMode: false })
}

async function* chunks(ctx: ControlContext, job: StoredSliceJob, follow: boolean): AsyncGenerator<Buffer> {
  const file = await open(job.logPath, 'r').catch(() => null)
  if (file === null) return
  try {
    let position = 0
    for (;;) {
      // Queried before reading, so that this round reads everything that was written before the job's end.
      const goesOn = follow && !ctx.shutdown.aborted && (await readSliceJob(ctx.sql, job.id))?.status === 'running'
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position)
        if (bytesRead === 0) break
        position += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
      if (!goesOn) return
      await sleep(FOLLOW_MS, undefined, { signal: ctx.shutdown }).catch(() => {})
    }
  } finally {
    await file.close()
  }
}
