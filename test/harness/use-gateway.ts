import { afterAll, beforeAll } from 'vitest'
import type { Gateway } from './gateway.js'
import { type GatewayOptions, startGateway } from './start-gateway.js'

/**
 * Provides one gateway for all tests of a file or a describe block: started before them, ended after them, with the checks of `Gateway.stop()`.
 * @param prepare runs once the gateway is ready: sources to scan, tokens to issue
 * @returns the gateway; to be called inside tests
 */
export function useGateway(
  options: GatewayOptions = {},
  prepare: (gateway: Gateway) => Promise<void> = async () => {},
): () => Gateway {
  let gateway: Gateway | undefined
  beforeAll(async () => {
    gateway = await startGateway(options)
    await prepare(gateway)
  })
  afterAll(() => gateway?.stop())
  return () => {
    if (gateway === undefined) throw new Error('the gateway runs during tests only')
    return gateway
  }
}
