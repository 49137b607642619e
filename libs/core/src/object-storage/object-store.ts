import type { Readable } from 'node:stream'

/** What is known of an object without reading it. */
export interface ObjectFacts {
  /** bytes */
  readonly size: number
  /** names the content; as the server writes it, quotes included */
  readonly etag: string
  readonly modifiedAt: Date | null
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
}

export interface PinnedOptions extends ReadOptions {
  /** the `etag` that the object must have: `ObjectReplaced` where it has another */
  readonly ifMatch?: string | undefined
}

export interface StreamOptions extends PinnedOptions {
  /**
   * bytes that the object must have: `ObjectReplaced` where the server announces others, before any is taken in. Room was made for so many, and a
   * server may say one thing when it is asked how long an object is, and another when it sends it
   */
  readonly size?: number | undefined
}

export type ListEntry = { readonly key: string; readonly facts: ObjectFacts } | { readonly prefix: string }

/**
 * One place of objects: a bucket with a prefix, or an http(s) directory or file. Keys are relative to it, without a slash before them; the
 * empty key is the place itself, where that is one object. All calls reject with `ObjectRefused` and `ObjectStoreTrouble`, and with the
 * signal's reason.
 */
export interface ObjectStore {
  /** as configured; never with credentials */
  readonly url: string
  /** undefined: not there */
  head(key: string, options?: ReadOptions): Promise<ObjectFacts | undefined>
  /** Bytes [offset, offset + length), fewer at the end. Rejects with `ObjectMissing` and `ObjectReplaced` too. */
  read(
    key: string,
    range: { readonly offset: number; readonly length: number },
    options?: PinnedOptions,
  ): Promise<{ bytes: Buffer; facts: ObjectFacts }>
  /** The whole object. A connection that is cut ends the body with `ObjectStoreTrouble`. Rejects with `ObjectMissing` and `ObjectReplaced` too. */
  stream(key: string, options?: StreamOptions): Promise<{ body: Readable; facts: ObjectFacts }>
  /** Sorted by key; with a delimiter what lies below a "folder" is one entry. s3 alone. */
  list(prefix: string, options?: { readonly delimiter?: '/' } & ReadOptions): AsyncIterable<ListEntry>
  /** Whole or not at all; in parts above 64 MiB. s3 alone. @param file a path */
  write(
    key: string,
    file: string,
    options?: { readonly contentType?: string | undefined } & ReadOptions,
  ): Promise<ObjectFacts>
  /** No error where it is not there. s3 alone. */
  remove(key: string): Promise<void>
  /** whether requests are sent at this moment */
  readonly circuit: CircuitState
  /** Lets go of its connections; what is under way fails. */
  close(): Promise<void>
}

export type CircuitState = 'closed' | 'open' | 'half open'

/** One request, for metrics. */
export interface ObservedRequest {
  readonly method: string
  /** null: no answer */
  readonly status: number | null
  readonly seconds: number
}
