import { createHash, randomBytes } from 'node:crypto'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { LRUCache } from 'lru-cache'
import type { DiskGate } from '../files/disk-gate.js'
import { buildDocument, type DocumentText } from './build-document.js'
import { HeldDocument } from './held-document.js'
import type { Turns } from './turns.js'

/** Limit: bytes of documents that are kept to be sent again, in each process: dozens of those of 3,000 layers, and hundreds of compressed ones. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024
/** Limit: bytes of all documents, with those that slow readers still take after they were made anew, as so many times those that are kept. */
const HELD_OF_KEPT = 2
/** Limit: documents that are made at once. They share one event loop, so more of them would only take more memory. */
const MAX_BUILDS = 2
/** Limit: documents that wait to be made; at some tens of milliseconds each, the last one waits for seconds. */
const MAX_WAITING = 64
/** Limit: of these, how many one token may let wait, so that it does not take the place of all others. */
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

/** What a document is, and how it is made where it is not kept. */
export interface DocumentRequest {
  /** the immutable state that it describes: a document of another state is another document */
  readonly of: object
  /** all else that the text depends on, but for `inserted` */
  readonly key: string
  /** whether it grows with the catalog: it is made piece by piece then, and few of that kind at a time */
  readonly grows: boolean
  readonly text: () => DocumentText
  /** what takes the place of `SECRET_PLACE` in the text: a token that came in the query; '' where there is none */
  readonly inserted: string
  readonly gzip: boolean
  /** the id of the token that asks */
  readonly tokenId: string
}

/** Stands in texts for what `inserted` says. Nobody outside can know it, to write it into a title, and it is the same in every encoding. */
export const SECRET_PLACE = `place${randomBytes(16).toString('hex')}`

/**
 * The finished documents of this process. Those who ask for the same one while it is made share its making; those who ask for what would be one
 * too many are refused.
 */
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
  /** documents made since the start */
  built = 0

  /** @param folder for the files that large documents are held in */
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

  /** Bytes of the documents that are kept, or that somebody still reads. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Calls back with the document, which is the callee's until it returns; with the refusal; or with what the making threw. `then` does not throw. */
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

  /** It may wait for its turn, and be evicted meanwhile. */
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
        // One that is larger than all that is kept.
        if (!this.#kept.has(key)) made.leave()
        // Those who waited for it have it by then.
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

  /** Resolves when it is this document's turn. */
  async #turnOf({ tokenId }: DocumentRequest): Promise<void> {
    if (this.#building < MAX_BUILDS) this.#building++
    else await new Promise<void>((start) => this.#waiting.push({ tokenId, start }))
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#building--
    else next.start()
  }

  /** What is inserted is a secret, and is in no key as it is. */
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
