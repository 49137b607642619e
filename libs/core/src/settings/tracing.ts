import { SettingsRefusal } from './refusal.js'

const PROTOCOLS = ['http/protobuf', 'http/json'] as const
export type TracingProtocol = (typeof PROTOCOLS)[number]

/** The more special name counts. */
const PROTOCOL_NAMES = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const

/**
 * How traces are sent, by the standard variables (OpenTelemetry, "Environment Variable Specification"): where an endpoint is named, or the exporter
 * `otlp`, and nothing switches them off; null: they are not. Throws SettingsRefusal for what is not supported.
 */
export function tracingProtocol(env: NodeJS.ProcessEnv): TracingProtocol | null {
  const exporter = env.OTEL_TRACES_EXPORTER || ''
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none') return null
  const isNamed = Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
  if (!isNamed && exporter === '') return null
  if (exporter !== '' && exporter !== 'otlp') {
    throw new SettingsRefusal('OTEL_TRACES_EXPORTER must be otlp or none: traces are sent by OTLP alone')
  }
  const name = PROTOCOL_NAMES.find((one) => env[one])
  if (name === undefined) return PROTOCOLS[0]
  const protocol = PROTOCOLS.find((one) => one === env[name])
  if (protocol === undefined) {
    throw new SettingsRefusal(`${name} must be ${PROTOCOLS.join(' or ')}: traces are sent by HTTP alone`)
  }
  return protocol
}
