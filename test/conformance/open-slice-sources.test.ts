import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway({ env: { API_HOST: '0.0.0.0' } })

test('a control plane whose edges listen beyond loopback warns of open slice sources at startup and on the dashboard', async () => {
  const line = await gateway().controlPlane.process.line(({ json }) => json?.code === 'slice_sources_open')
  expect(line.json?.msg).toContain('SLICE_SOURCE_ROOTS is not set and API_HOST=0.0.0.0')
  const { warnings } = await gateway().admin.expect<{ warnings: { code: string; message: string }[] }>('/dashboard')
  expect(warnings).toEqual([{ code: 'slice_sources_open', message: expect.stringContaining('SLICE_SOURCE_ROOTS') }])
})
