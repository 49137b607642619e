import type { TraceContext } from './trace-context.js'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  readonly kind: 'server' | 'client' | 'consumer' | 'internal'
  /** null: the span starts a trace */
  readonly parent: TraceContext | null
  readonly attributes?: Attributes
}

export interface Span {
  /** the parent for spans of others */
  readonly context: TraceContext
  /** @param error reason of the failure; null: it succeeded */
  end(attributes?: Attributes, error?: string | null): void
}

export interface Tracer {
  /** true if spans are recorded; otherwise a span is only its ids */
  readonly on: boolean
  start(name: string, options: SpanOptions): Span
  /** Sends recorded spans that have not been sent yet. */
  close(): Promise<void>
}

export interface TracerOptions {
  /** encoding of spans; null: spans are off, and the SDK is not loaded */
  readonly protocol: 'http/protobuf' | 'http/json' | null
  readonly service: string
  readonly version: string
  /** called if spans cannot be sent */
  readonly onTrouble: (error: unknown) => void
}
