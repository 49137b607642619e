import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Settings } from '@gateway/settings/load.js'
import { Redis } from 'ioredis'
import { type Finding, fault, ok } from '../finding.js'
import { checkClock } from './clock.js'

const ANSWER_WITHIN_MS = 3_000

/** Reach, rights and clock of Redis; without one the store is the bus. */
export async function checkBus({ redisUrl }: Settings): Promise<readonly Finding[]> {
  if (redisUrl === null) return [ok('bus', 'REDIS_URL is not set: Postgres notifications')]
  const at = new URL(redisUrl).host
  const client = () =>
    new Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: ANSWER_WITHIN_MS,
      commandTimeout: ANSWER_WITHIN_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    })
  const commands = client()
  const subscriber = client()
  let lastError: Error | null = null
  for (const redis of [commands, subscriber])
    redis.on('error', (error: Error) => {
      lastError ??= error
    })
  try {
    await Promise.all([commands.connect(), subscriber.connect()])
    const version = /redis_version:(\S+)/.exec(await commands.info('server'))?.[1] ?? 'of unknown version'
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
    return 'mend user, password and rights (SET, PUBLISH, SUBSCRIBE) of REDIS_URL'
  if (message.startsWith('READONLY')) return 'it is a replica: name the primary in REDIS_URL'
  return 'start Redis there, or mend REDIS_URL and what is between (network, firewall, DNS)'
}

/** A key and a message, as the bus has them. */
async function roundTrip(commands: Redis, subscriber: Redis): Promise<void> {
  const name = `gateway:doctor:${randomUUID()}`
  await commands.set(name, '', 'PX', ANSWER_WITHIN_MS)
  await commands.del(name)
  await subscriber.subscribe(name)
  const heard = once(subscriber, 'message', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  await commands.publish(name, '')
  await heard
}

async function timeOf(commands: Redis): Promise<number> {
  const [seconds, microseconds] = await commands.time()
  return Number(seconds) * 1000 + Number(microseconds) / 1000
}
