import { randomBytes } from 'node:crypto'

/** A multipart/form-data body (RFC 7578) with the event as JSON and an archive, produced anew, byte for byte the same, at each call. */
export interface MultipartBody {
  readonly contentType: string
  parts(): AsyncIterable<Buffer>
}

export function multipartBody(event: string, archiveName: string, archive: () => AsyncIterable<Buffer>): MultipartBody {
  const boundary = `gateway-${randomBytes(18).toString('hex')}`
  const head = (disposition: string, type: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n`
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    parts: async function* () {
      yield Buffer.from(
        `${head('name="event"', 'application/json')}${event}\r\n` +
          head(`name="archive"; filename="${asciiName(archiveName)}"`, 'application/zip'),
      )
      yield* archive()
      yield Buffer.from(`\r\n--${boundary}--\r\n`)
    },
  }
}

/** A file name that needs no quoting in any receiver. */
function asciiName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-')
}
