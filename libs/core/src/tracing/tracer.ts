import type { Tracer, TracerOptions } from './span.js'
import { newTrace } from './trace-context.js'

/** Records nothing: a trace that comes in goes on unchanged (W3C Trace Context, 3.3), and one that begins here is an id for log lines. */
export const NO_TRACER: Tracer = {
  on: false,
  start: (_, { parent }) => ({ context: parent ?? newTrace(), end: () => {} }),
  close: async () => {},
}

/**
 * The tracer of this process. It sends spans by OTLP over HTTP to where the standard variables of OpenTelemetry say (`OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_TRACES_SAMPLER`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`, `OTEL_BSP_*`), which its SDK reads.
 */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  if (options.protocol === null) return NO_TRACER
  const { openOtlpTracer } = await import('./otlp-tracer.js')
  return openOtlpTracer(options)
}
