import { expect, test } from 'vitest'
import { callerFinder } from './caller.js'

const KEY = 'k'.repeat(64)
const find = callerFinder(KEY, ['10.0.0.0/8'])

test('the peer that an edge states counts only with the key', () => {
  const headers = { 'x-edge-peer': '192.0.2.7' }
  expect(find({ peer: '127.0.0.1', headers: { ...headers, 'x-edge-key': KEY } })).toEqual({
    address: '192.0.2.7',
    loopback: false,
  })
  for (const key of ['', 'guess', `${KEY}k`, `x${KEY.slice(1)}`]) {
    expect(find({ peer: '127.0.0.1', headers: { ...headers, 'x-edge-key': key } }).address).toBe('127.0.0.1')
  }
})

test('a remote caller cannot become local by stating a peer', () => {
  const headers = { 'x-edge-peer': '127.0.0.1', 'x-edge-key': 'guess' }
  expect(find({ peer: '192.0.2.7', headers })).toEqual({ address: '192.0.2.7', loopback: false })
})

test('behind an edge, a forwarding header counts if the peer of the edge is a trusted proxy', () => {
  const edge = { 'x-edge-key': KEY, 'x-forwarded-for': '192.0.2.7' }
  const trusted = find({ peer: '127.0.0.1', headers: { ...edge, 'x-edge-peer': '10.1.1.1' } })
  expect(trusted).toEqual({ address: '192.0.2.7', loopback: false })
  const other = find({ peer: '127.0.0.1', headers: { ...edge, 'x-edge-peer': '127.0.0.1' } })
  expect(other).toEqual({ address: '127.0.0.1', loopback: false })
})
