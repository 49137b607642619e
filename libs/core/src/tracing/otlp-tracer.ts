import {
  type Context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { TraceState } from '@opentelemetry/core'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Span, SpanOptions, Tracer, TracerOptions } from './span.js'
import type { TraceContext } from './trace-context.js'

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<SpanOptions['kind'], SpanKind>

/** Opens a tracer with the SDK of OpenTelemetry. Spans that cannot be sent are dropped: an absent collector never delays a request. */
export function openOtlpTracer({ service, version, protocol, onTrouble }: TracerOptions): Tracer {
  const note = (...args: unknown[]) => onTrouble(args.map(String).join(' '))
  const quiet = () => {}
  diag.setLogger({ error: note, warn: note, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
  const own = resourceFromAttributes({ 'service.name': service, 'service.version': version })
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter()
  const provider = new BasicTracerProvider({
    // Attributes that the operator configured come last, so they win.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('map-asset-gateway', version)
  return {
    on: true,
    start(name, { kind, parent, attributes }) {
      const options = { kind: KINDS[kind], ...(attributes === undefined ? {} : { attributes }) }
      return new RecordedSpan(tracer.startSpan(name, options, contextOf(parent)))
    },
    close: () => provider.shutdown().catch(onTrouble),
  }
}

class RecordedSpan implements Span {
  readonly #span: OtelSpan
  readonly context: TraceContext

  constructor(span: OtelSpan) {
    this.#span = span
    const { traceId, spanId, traceFlags, traceState } = span.spanContext()
    const sampled = (traceFlags & TraceFlags.SAMPLED) === TraceFlags.SAMPLED
    this.context = { traceId, spanId, sampled, state: traceState?.serialize() ?? '' }
  }

  end(attributes: Readonly<Record<string, string | number | boolean>> = {}, error: string | null = null): void {
    this.#span.setAttributes(attributes)
    if (error !== null) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    this.#span.end()
  }
}

function contextOf(parent: TraceContext | null): Context {
  if (parent === null) return ROOT_CONTEXT
  const { traceId, spanId, sampled, state } = parent
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    traceState: new TraceState(state),
    isRemote: true,
  })
}
