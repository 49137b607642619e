import { createHash, randomBytes } from 'node:crypto'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { LRUCache } from 'lru-cache'
import type { DiskGate } from '../files/disk-gate.js'
import { buildDocument, type DocumentText } from './build-document.js'
import { HeldDocument } from './held-document.js'
import type { Turns } from './turns.js'

/** Limit: bytes of the cached documents of each process: dozens of documents of 3,000 layers, and hundreds of compressed ones. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024
/** Limit: bytes of all documents, including replaced ones that slow readers still read, as a multiple of the limit of cached documents. */
const HELD_OF_KEPT = 2
/** Limit: documents that are made concurrently. They share one event loop, so more would only use more memory. */
const MAX_BUILDS = 2
/** Limit: documents that wait to be made; at some tens of milliseconds each, the last one waits for seconds. */
const MAX_WAITING = 64
/** Limit: documents of one token among these, so that it cannot occupy all places. */
const MAX_WAITING_OF_TOKEN = 16
const RETRY_SECONDS = 2

const BUSY: Refusal = {
  ...refuse('too_many_requests', coded('documents_full')),
  retryAfterSeconds: RETRY_SECONDS,
}
const BUSY_WITH_TOKEN: Refusal = {
  ...refuse('too_many_requests', coded('documents_full_for_token')),
  retryAfterSeconds: RETRY_SECONDS,
}

/** Identity of a document, and the way to make it if it is not cached. */
export interface DocumentRequest {
  /** The immutable state that the document describes; each state has its own documents. */
  readonly of: object
  /** Everything else that the text depends on, except `inserted`. */
  readonly key: string
  /** True if the size grows with the catalog; such a document is made in pieces, and few at a time. */
  readonly grows: boolean
  readonly text: () => DocumentText
  /** Text that replaces `SECRET_PLACE`: a token from the query; '' if the query has no token. */
  readonly inserted: string
  readonly gzip: boolean
  /** Id of the requesting token. */
  readonly tokenId: string
}

/** Placeholder in texts for `inserted`. It cannot be guessed, for example to put it into a title, and it is the same in every encoding. */
export const SECRET_PLACE = `place${randomBytes(16).toString('hex')}`

/** The finished documents of this process. Requests for a document that is being made share its making; requests beyond the limits are refused. */
export class DocumentCache {
  readonly #turns: Turns
  readonly #disks: DiskGate
  readonly #folder: string
  readonly #maxHeldBytes: number
  readonly #kept: LRUCache<string, HeldDocument>
  readonly #making = new Map<string, Promise<HeldDocument>>()
  readonly #states = new WeakMap<object, number>()
  readonly #waiting: {
    readonly tokenId: string
    readonly start: () => void
  }[] = []
  #lastState = 0
  #building = 0
  #heldBytes = 0
  /** Number of documents made since the start. */
  built = 0

  /** @param folder for the files in which large documents are kept */
  constructor(turns: Turns, disks: DiskGate, folder: string, maxKeptBytes = MAX_KEPT_BYTES) {
    this.#turns = turns
    this.#disks = disks
    this.#folder = folder
    this.#maxHeldBytes = HELD_OF_KEPT * maxKeptBytes
    this.#kept = new LRUCache({
      maxSize: maxKeptBytes,
      sizeCalculation: ({ bytes }, key) => bytes + key.length,
      dispose: (document) => document.leave(),
    })
  }

  /** Bytes of the documents that are cached or still being read. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Calls back with the document, which the callback may use until it returns; with the refusal; or with the error of the making. `then` must not
   * throw.
   */
  get(request: DocumentRequest, then: (found: HeldDocument | Refusal | Error) => void): void {
    const key = this.#keyOf(request)
    const found = this.#kept.get(key) ?? this.#making.get(key) ?? this.#make(key, request)
    if (found instanceof HeldDocument) this.#handOut(found, then)
    else if ('ok' in found) then(found)
    else
      found.then(
        (made) => this.#handOut(made, then),
        (error) => then(error as Error),
      )
  }

  /** The document may wait for its turn, and be evicted meanwhile. */
  #handOut(document: HeldDocument, then: (found: HeldDocument) => void): void {
    document.use()
    this.#turns.run(() => {
      then(document)
      document.leave()
    })
  }

  #make(key: string, request: DocumentRequest): Promise<HeldDocument> | Refusal {
    if (this.#heldBytes >= this.#maxHeldBytes) return BUSY
    if (request.grows) {
      if (this.#waiting.length >= MAX_WAITING) return BUSY
      if (this.#waiting.filter(({ tokenId }) => tokenId === request.tokenId).length >= MAX_WAITING_OF_TOKEN)
        return BUSY_WITH_TOKEN
    }
    const making = this.#build(request)
    this.#making.set(key, making)
    making.then(
      (made) => {
        this.#making.delete(key)
        this.#kept.set(key, made.use())
        // The cache refuses a document that is larger than the whole cache.
        if (!this.#kept.has(key)) made.leave()
        // The waiting requests have the document by then.
        setImmediate(() => made.leave())
      },
      () => this.#making.delete(key),
    )
    return making
  }

  async #build(request: DocumentRequest): Promise<HeldDocument> {
    const { text, inserted, gzip, grows } = request
    if (grows) await this.#turnOf(request)
    try {
      const finish = (part: string) => (inserted === '' ? part : part.replaceAll(SECRET_PLACE, inserted))
      const made = await buildDocument(this.#turns, text(), gzip, finish)
      this.built++
      const bytes = made.body.length
      this.#heldBytes += bytes
      return await HeldDocument.hold(made, this.#disks, this.#folder, () => {
        this.#heldBytes -= bytes
      })
    } finally {
      if (grows) this.#next()
    }
  }

  /** Resolves when this document may be made. */
  async #turnOf({ tokenId }: DocumentRequest): Promise<void> {
    if (this.#building < MAX_BUILDS) this.#building++
    else await new Promise<void>((start) => this.#waiting.push({ tokenId, start }))
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#building--
    else next.start()
  }

  /** The inserted text is a secret, and never stored in a key unchanged. */
  #keyOf({ of, key, inserted, gzip }: DocumentRequest): string {
    let state = this.#states.get(of)
    if (state === undefined) {
      state = ++this.#lastState
      this.#states.set(of, state)
    }
    const digest = inserted === '' ? '' : createHash('sha256').update(inserted).digest('base64url')
    return `${state} ${gzip ? 'gzip' : 'plain'} ${digest} ${key}`
  }
}
