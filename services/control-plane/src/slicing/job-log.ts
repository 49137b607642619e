import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Writable } from 'node:stream'
import { finished } from 'node:stream/promises'

export const logDirectory = (dataDir: string): string => join(dataDir, 'slice-logs')

/** Maximum bytes of a job's log. After ten thousand warnings about tiles, more of them add nothing. */
const MAX_LOG_BYTES = 16 * 1024 * 1024
const CUT = '\nthe log is cut here: it has reached its limit\n'

export interface JobLog {
  readonly path: string
  readonly stream: Writable
  /** Resolves when everything is written. Never rejects. */
  close(): Promise<void>
}

/** Opens the log of a job's run. A log that cannot be written must not end the job. */
export async function openJobLog(directory: string, jobId: string, maxBytes = MAX_LOG_BYTES): Promise<JobLog> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, `${jobId}.log`)
  const file = createWriteStream(path, { flags: 'w', mode: 0o640 })
  const stream = capped(maxBytes)
  const written = finished(file).catch(() => {})
  // Unwritable output is dropped, so that the tool is not blocked.
  file.on('error', () => stream.resume())
  stream.pipe(file)
  return {
    path,
    stream,
    close: async () => {
      stream.end()
      await written
    },
  }
}

function capped(maxBytes: number): Transform {
  let left = maxBytes
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (left <= 0) return done()
      const part = chunk.subarray(0, left)
      left -= chunk.length
      done(null, left > 0 ? part : Buffer.concat([part, Buffer.from(CUT)]))
    },
  })
}
