import type { TraceContext } from './trace-context.js'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  readonly kind: 'server' | 'client' | 'consumer' | 'internal'
  /** null: the span begins a trace */
  readonly parent: TraceContext | null
  readonly attributes?: Attributes
}

export interface Span {
  /** what goes on to others as their parent */
  readonly context: TraceContext
  /** @param error why it failed, in words; null: it did not */
  end(attributes?: Attributes, error?: string | null): void
}

export interface Tracer {
  /** whether anything is recorded; where not, a span is no more than its ids */
  readonly on: boolean
  start(name: string, options: SpanOptions): Span
  /** Sends what was recorded and has not been sent yet. */
  close(): Promise<void>
}

export interface TracerOptions {
  /** how spans are encoded; null: there are none, and nothing is loaded */
  readonly protocol: 'http/protobuf' | 'http/json' | null
  readonly service: string
  readonly version: string
  /** called where spans cannot be sent */
  readonly onTrouble: (error: unknown) => void
}
