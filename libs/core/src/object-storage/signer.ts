import { createHash, createHmac } from 'node:crypto'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export interface ToSign {
  readonly method: string
  readonly host: string
  /** percent-encoded, exactly as sent */
  readonly path: string
  /** percent-encoded and sorted by name */
  readonly query: string
  /** hexadecimal SHA-256 of the body, or UNSIGNED-PAYLOAD */
  readonly payload: string
}

/** Signs requests by AWS Signature Version 4, in the header. The signing key of a day is cached. */
export class Signer {
  readonly #region: string
  #day = ''
  #secret = ''
  #key: Buffer = Buffer.alloc(0)

  constructor(region: string) {
    this.#region = region
  }

  /** Returns the headers to add. `host` is signed too; the client sends it anyway. */
  sign(request: ToSign, credentials: Credentials, now: Date): Record<string, string> {
    const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
    const day = time.slice(0, 8)
    const token = credentials.sessionToken
    const scope = `${day}/${this.#region}/s3/aws4_request`
    const names = `host;x-amz-content-sha256;x-amz-date${token === undefined ? '' : ';x-amz-security-token'}`
    const canonical =
      `${request.method}\n${request.path}\n${request.query}\nhost:${request.host}\nx-amz-content-sha256:${request.payload}\n` +
      `x-amz-date:${time}\n${token === undefined ? '' : `x-amz-security-token:${token}\n`}\n${names}\n${request.payload}`
    const hashed = createHash('sha256').update(canonical).digest('hex')
    const signature = createHmac('sha256', this.#dayKey(day, credentials.secretAccessKey))
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hashed}`)
      .digest('hex')
    return {
      'x-amz-content-sha256': request.payload,
      'x-amz-date': time,
      ...(token === undefined ? {} : { 'x-amz-security-token': token }),
      authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    }
  }

  #dayKey(day: string, secret: string): Buffer {
    if (day === this.#day && secret === this.#secret) return this.#key
    const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
    this.#key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), this.#region), 's3'), 'aws4_request')
    this.#day = day
    this.#secret = secret
    return this.#key
  }
}

/** Percent-encodes one name or value by the rules of Signature Version 4: all but the unreserved characters of RFC 3986. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Like `encodePart`, for a path, whose slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodePart).join('/')
}
