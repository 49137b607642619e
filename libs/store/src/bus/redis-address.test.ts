import { expect, test } from 'vitest'
import { redisOptions } from './redis-address.js'

test.each(['redis://127.0.0.1:6379/1', 'rediss://user:pass@cache.example'])('%s is left to the client', (url) => {
  expect(redisOptions(url)).toEqual({ url, options: {}, nodes: null })
})

test('Sentinels are named with their master, and may have a password', () => {
  expect(redisOptions('redis+sentinel://a:1,b.example,[::1]:3/main').options).toEqual({
    sentinels: [
      { host: 'a', port: 1 },
      { host: 'b.example', port: 26_379 },
      { host: '::1', port: 3 },
    ],
    name: 'main',
  })
  expect(redisOptions('rediss+sentinel://user:p%40ss@a/main/2').options).toEqual({
    sentinels: [{ host: 'a', port: 26_379 }],
    name: 'main',
    db: 2,
    username: 'user',
    password: 'p@ss',
    sentinelUsername: 'user',
    sentinelPassword: 'p@ss',
    tls: {},
    sentinelTLS: {},
    enableTLSForSentinelMode: true,
  })
  expect(redisOptions('redis+sentinel://:secret@a/main').options).toMatchObject({ password: 'secret' })
})

test('the first server of a cluster is tried first, without a database', () => {
  expect(redisOptions('redis+cluster://a,[::1]:3')).toEqual({
    url: null,
    options: { host: 'a', port: 6379 },
    nodes: [
      { host: 'a', port: 6379 },
      { host: '::1', port: 3 },
    ],
  })
  expect(redisOptions('rediss+cluster://user:p%40ss@a:1/').options).toEqual({
    host: 'a',
    port: 1,
    username: 'user',
    password: 'p@ss',
    tls: {},
  })
})
