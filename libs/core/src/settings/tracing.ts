import { SettingsRefusal } from './refusal.js'

const PROTOCOLS = ['http/protobuf', 'http/json'] as const
export type TracingProtocol = (typeof PROTOCOLS)[number]

/** The more specific name takes precedence. */
const PROTOCOL_NAMES = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const

/**
 * Returns the protocol of trace exports, from the standard variables (OpenTelemetry, "Environment Variable Specification"). Traces are exported if
 * an endpoint or the exporter `otlp` is named and nothing disables them; otherwise returns null. Throws SettingsRefusal for unsupported values.
 */
export function tracingProtocol(env: NodeJS.ProcessEnv): TracingProtocol | null {
  const exporter = env.OTEL_TRACES_EXPORTER || ''
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none') return null
  const isNamed = Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
  if (!isNamed && exporter === '') return null
  if (exporter !== '' && exporter !== 'otlp') {
    throw new SettingsRefusal('OTEL_TRACES_EXPORTER must be otlp or none: traces are sent only by OTLP')
  }
  const name = PROTOCOL_NAMES.find((one) => env[one])
  if (name === undefined) return PROTOCOLS[0]
  const protocol = PROTOCOLS.find((one) => one === env[name])
  if (protocol === undefined) {
    throw new SettingsRefusal(`${name} must be ${PROTOCOLS.join(' or ')}: traces are sent only by HTTP`)
  }
  return protocol
}
