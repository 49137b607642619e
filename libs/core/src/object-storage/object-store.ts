import type { Readable } from 'node:stream'

/** Facts of an object that are known without reading it. */
export interface ObjectFacts {
  /** bytes */
  readonly size: number
  /** entity tag of the content, exactly as the server writes it, quotes included */
  readonly etag: string
  readonly modifiedAt: Date | null
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
}

export interface PinnedOptions extends ReadOptions {
  /** required `etag`; `ObjectReplaced` is thrown if the object has another */
  readonly ifMatch?: string | undefined
}

export interface StreamOptions extends PinnedOptions {
  /**
   * required size in bytes; `ObjectReplaced` is thrown if the server announces another size, before any byte is read. The caller reserved
   * space for this size, and a server may report one length for HEAD and another with the content
   */
  readonly size?: number | undefined
}

export type ListEntry = { readonly key: string; readonly facts: ObjectFacts } | { readonly prefix: string }

/**
 * One location of objects: a bucket with a prefix, or an http(s) directory or file. Keys are relative to it, without a leading slash. The
 * empty key is the location itself, if that is one object. All calls reject with `ObjectRefused` and `ObjectStoreTrouble`, and with the
 * reason of the signal.
 */
export interface ObjectStore {
  /** as configured, without credentials */
  readonly url: string
  /** Returns undefined if the object does not exist. */
  head(key: string, options?: ReadOptions): Promise<ObjectFacts | undefined>
  /** Reads bytes [offset, offset + length), fewer at the end. Also rejects with `ObjectMissing` and `ObjectReplaced`. */
  read(
    key: string,
    range: { readonly offset: number; readonly length: number },
    options?: PinnedOptions,
  ): Promise<{ bytes: Buffer; facts: ObjectFacts }>
  /** Reads the whole object. A broken connection ends the body with `ObjectStoreTrouble`. Also rejects with `ObjectMissing` and `ObjectReplaced`. */
  stream(key: string, options?: StreamOptions): Promise<{ body: Readable; facts: ObjectFacts }>
  /** Lists objects, sorted by key. With a delimiter, each "folder" is one entry. Only for s3. */
  list(prefix: string, options?: { readonly delimiter?: '/' } & ReadOptions): AsyncIterable<ListEntry>
  /** Writes an object completely or not at all, in parts above 64 MiB. Only for s3. @param file a path */
  write(
    key: string,
    file: string,
    options?: { readonly contentType?: string | undefined } & ReadOptions,
  ): Promise<ObjectFacts>
  /**
   * Removes the parts that interrupted writes of an object left, and rejects if the object may not be written. Nothing else may write it
   * meanwhile. Only for s3.
   */
  prepareWrite(key: string, options?: ReadOptions): Promise<void>
  /** Removes an object. An absent object is not an error. Only for s3. */
  remove(key: string): Promise<void>
  /** current state of the circuit breaker */
  readonly circuit: CircuitState
  /** Closes its connections. Requests in progress fail. */
  close(): Promise<void>
}

export type CircuitState = 'closed' | 'open' | 'half open'

/** One request, for metrics. */
export interface ObservedRequest {
  readonly method: string
  /** null: no response */
  readonly status: number | null
  readonly seconds: number
}
