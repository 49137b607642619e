import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { addressHosts } from '@gateway/core/settings/address-hosts.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { redisOptions } from '@gateway/store/bus/redis-address.js'
import { Redis } from 'ioredis'
import { type Finding, fault, ok } from '../finding.js'
import { checkClock } from './clock.js'

const ANSWER_WITHIN_MS = 3_000

/** Checks reachability, permissions and clock of Redis. Without Redis the store is the bus. */
export async function checkBus({ redisUrl }: Settings): Promise<readonly Finding[]> {
  if (redisUrl === null) return [ok('bus', 'REDIS_URL is not set: Postgres notifications')]
  const at = (addressHosts(redisUrl) ?? []).map(({ host }) => host).join(', ')
  const { url, options, nodes } = redisOptions(redisUrl)
  const own = {
    ...options,
    lazyConnect: true,
    connectTimeout: ANSWER_WITHIN_MS,
    commandTimeout: ANSWER_WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  }
  const client = () => (url === null ? new Redis(own) : new Redis(url, own))
  const commands = client()
  const subscriber = client()
  let lastError: Error | null = null
  for (const redis of [commands, subscriber])
    redis.on('error', (error: Error) => {
      lastError ??= error
    })
  try {
    await Promise.all([commands.connect(), subscriber.connect()])
    const info = await commands.info('server')
    if (nodes === null && info.includes('redis_mode:cluster')) throw new Error('it is a Redis Cluster')
    const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'of unknown version'
    await roundTrip(commands, subscriber)
    const clock = await checkClock('clock', 'Redis', () => timeOf(commands))
    return [ok('bus', `Redis ${version} at ${at} delivers messages`), clock]
  } catch (error) {
    const { message } = lastError ?? (error as Error)
    return [fault('bus', `Redis at ${at} cannot be used (${message})`, adviceFor(message))]
  } finally {
    commands.disconnect()
    subscriber.disconnect()
  }
}

function adviceFor(message: string): string {
  if (/^(NOAUTH|WRONGPASS|NOPERM)/.test(message))
    return 'correct user, password and rights (SET, PUBLISH, SUBSCRIBE) of REDIS_URL'
  if (message.includes('Redis Cluster')) return 'write REDIS_URL as redis+cluster://host:port,host:port'
  if (message.startsWith('READONLY')) return 'it is a replica: name the primary in REDIS_URL'
  if (message.startsWith('OOM'))
    return 'raise maxmemory of Redis, or find what fills it: the gateway keeps some KB for each edge process there'
  return 'start Redis there, or correct REDIS_URL and check the path to it (network, firewall, DNS)'
}

/** Writes a key and sends a message, like the bus. */
async function roundTrip(commands: Redis, subscriber: Redis): Promise<void> {
  const name = `gateway:doctor:${randomUUID()}`
  try {
    await commands.set(name, '', 'PX', ANSWER_WITHIN_MS)
    await commands.del(name)
  } catch (error) {
    // Redis checks permissions before it looks for the key's server, so any server of a cluster will do.
    if (!(error as Error).message.startsWith('MOVED')) throw error
  }
  await subscriber.subscribe(name)
  const heard = once(subscriber, 'message', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  await commands.publish(name, '')
  await heard
}

async function timeOf(commands: Redis): Promise<number> {
  const [seconds, microseconds] = await commands.time()
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}
