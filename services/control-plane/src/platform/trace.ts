import { logContext } from '@gateway/core/logging/log.js'
import type { Span, SpanOptions } from '@gateway/core/tracing/span.js'
import { formatTraceparent, parseTraceparent, type TraceContext } from '@gateway/core/tracing/trace-context.js'
import type { KeptTrace } from '@gateway/store/kept-trace.js'
import type { ControlContext } from './context.js'

/** Returns the trace's fields for log lines, under OpenTelemetry's names for logs in other formats. */
export function traceFields({ traceId, spanId, sampled }: TraceContext): Record<string, string> {
  return { trace_id: traceId, span_id: spanId, trace_flags: sampled ? '01' : '00' }
}

/** Returns the current position in a trace, or null outside of a trace. */
export function currentTrace(): TraceContext | null {
  const { trace_id: traceId, span_id: spanId, trace_flags: flags } = logContext.getStore() ?? {}
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId, sampled: flags === '01', state: '' }
}

/** Returns the part of the trace that a new job or delivery stores; null outside of a trace. */
export function traceToKeep(): KeptTrace | null {
  const trace = currentTrace()
  if (trace === null) return null
  const { request_id } = logContext.getStore() ?? {}
  return { traceparent: formatTraceparent(trace), ...(request_id !== undefined && { request_id }) }
}

/** Returns the parent of a span in a kept trace, and its log fields. */
export function keptTrace(kept: KeptTrace | null): {
  readonly parent: TraceContext | null
  readonly fields: Readonly<Record<string, string>>
} {
  const { traceparent = '', ...fields } = kept ?? {}
  return { parent: parseTraceparent(traceparent), fields }
}

/** Runs work in a new span, whose ids are in every log line. `failure` returns the reason why a result is a failure; null: it is a success. */
export async function traced<T>(
  { tracer }: Pick<ControlContext, 'tracer'>,
  name: string,
  options: SpanOptions & { readonly fields?: Readonly<Record<string, string>> },
  work: (span: Span) => Promise<T>,
  failure: (result: T) => string | null = () => null,
): Promise<T> {
  const span = tracer.start(name, options)
  return logContext.run({ ...options.fields, ...traceFields(span.context) }, async () => {
    try {
      const result = await work(span)
      span.end({}, failure(result))
      return result
    } catch (error) {
      span.end({}, (error as Error).message)
      throw error
    }
  })
}
