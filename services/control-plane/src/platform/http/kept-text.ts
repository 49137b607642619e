import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The default, 11, takes 0.4 s of a processor for the OpenAPI document; a busy machine then refuses its first requests. This takes 0.01 s. */
const BROTLI_QUALITY = 7

const ENCODERS = {
  br: (text: string) =>
    promisify(brotliCompress)(text, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      },
    }),
  gzip: promisify(gzip) as (text: string) => Promise<Buffer>,
} as const

type Encoding = keyof typeof ENCODERS

/** A text that is constant while the process runs. It is serialised, tagged and compressed once for all requests. */
export class KeptText {
  readonly #text: string
  readonly #etag: string
  readonly #encoded = new Map<Encoding, Promise<Buffer>>()

  constructor(text: string) {
    this.#text = text
    this.#etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.header('ETag', this.#etag).header('Vary', 'Accept-Encoding')
    const known = request.headers['if-none-match']
    if (known?.split(',').some((tag) => tag.trim() === this.#etag)) return reply.code(304).send()
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', Object.keys(ENCODERS)) as Encoding | null
    if (encoding === null) return reply.send(this.#text)
    let encoded = this.#encoded.get(encoding)
    if (encoded === undefined) {
      encoded = ENCODERS[encoding](this.#text)
      this.#encoded.set(encoding, encoded)
    }
    const body = await encoded
    return reply.header('Content-Encoding', encoding).send(body)
  }
}
