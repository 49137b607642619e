import { logContext } from '@gateway/core/logging/log-context.js'
import type { Span, SpanOptions } from '@gateway/core/tracing/span.js'
import { formatTraceparent, parseTraceparent, type TraceContext } from '@gateway/core/tracing/trace-context.js'
import type { KeptTrace } from '@gateway/store/kept-trace.js'
import type { ControlContext } from './context.js'

/** What log lines say of a trace, by the names that OpenTelemetry gives the fields of logs that are not its own. */
export function traceFields({ traceId, spanId, sampled }: TraceContext): Record<string, string> {
  return { trace_id: traceId, span_id: spanId, trace_flags: sampled ? '01' : '00' }
}

/** Where what runs now stands in a trace; null: nowhere. */
export function currentTrace(): TraceContext | null {
  const { trace_id: traceId, span_id: spanId, trace_flags: flags } = logContext.getStore() ?? {}
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId, sampled: flags === '01', state: '' }
}

/** What a job or a delivery that is caused now keeps of the trace; null: there is none. */
export function traceToKeep(): KeptTrace | null {
  const trace = currentTrace()
  if (trace === null) return null
  const { request_id } = logContext.getStore() ?? {}
  return { traceparent: formatTraceparent(trace), ...(request_id !== undefined && { request_id }) }
}

/** For the span of what goes on in a kept trace, and the log lines in it. */
export function keptTrace(kept: KeptTrace | null): {
  readonly parent: TraceContext | null
  readonly fields: Readonly<Record<string, string>>
} {
  const { traceparent = '', ...fields } = kept ?? {}
  return { parent: parseTraceparent(traceparent), fields }
}

/** Runs work in a span of its own, which every line of its log names. `failure`: why what it resolved with is none; null: it is a success. */
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
