import { expect, test } from 'vitest'
import { tracingProtocol } from './tracing.js'

const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

test.each([
  [{}, null],
  [{ OTEL_SERVICE_NAME: 'x' }, null],
  [AT, 'http/protobuf'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, 'http/protobuf'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf'],
  [{ ...AT, OTEL_TRACES_EXPORTER: 'none' }, null],
  [{ ...AT, OTEL_SDK_DISABLED: 'true' }, null],
  [{ ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http/json'],
  [
    {
      ...AT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    },
    'http/json',
  ],
])('%j sends traces as %s', (env, protocol) => {
  expect(tracingProtocol(env)).toBe(protocol)
})

test('an unsupported value is refused by name', () => {
  expect(() => tracingProtocol({ ...AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(/OTEL_EXPORTER_OTLP_PROTOCOL/)
  expect(() => tracingProtocol({ ...AT, OTEL_TRACES_EXPORTER: 'jaeger' })).toThrow(/OTEL_TRACES_EXPORTER/)
})
