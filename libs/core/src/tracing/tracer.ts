import type { Tracer, TracerOptions } from './span.js'
import { newTrace } from './trace-context.js'

/** A tracer that records nothing. An incoming trace is passed on unchanged (W3C Trace Context, 3.3); a new trace is only an id for log lines. */
export const NO_TRACER: Tracer = {
  on: false,
  start: (_, { parent }) => ({ context: parent ?? newTrace(), end: () => {} }),
  close: async () => {},
}

/**
 * Opens the tracer of this process. It exports spans by OTLP over HTTP. The SDK reads its destination and sampling from the standard variables of
 * OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`, `OTEL_BSP_*`).
 */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  if (options.protocol === null) return NO_TRACER
  const { openOtlpTracer } = await import('./otlp-tracer.js')
  return openOtlpTracer(options)
}
