import { beforeEach, expect, test } from 'vitest'
import { Attempts } from './attempts.js'

let now = 1_000_000
let attempts: Attempts
beforeEach(() => {
  attempts = new Attempts(() => now)
})

let guesses = 0
const newGuess = () => `Bearer guess ${guesses++}`

function fail(address: string, times: number, loopback = false): void {
  for (let i = 0; i < times; i++) attempts.noteWrong(address, loopback, newGuess())
}

test('nine wrong credentials cost nothing, the tenth a second, each further one twice as much, up to a minute', () => {
  fail('192.0.2.1', 9)
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
  const pauses = Array.from({ length: 8 }, () => {
    fail('192.0.2.1', 1)
    return attempts.pauseMs('192.0.2.1')
  })
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  now += 60_000
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
})

test('another address is not slowed down', () => {
  fail('192.0.2.1', 30)
  expect(attempts.pauseMs('192.0.2.2')).toBe(0)
})

test('the right credential ends the pause and clears the failures', () => {
  fail('192.0.2.1', 30)
  attempts.noteRight('192.0.2.1')
  fail('192.0.2.1', 9)
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
})

test('on this machine the pause starts later and stays short', () => {
  fail('127.0.0.1', 49, true)
  expect(attempts.pauseMs('127.0.0.1')).toBe(0)
  fail('127.0.0.1', 100, true)
  expect(attempts.pauseMs('127.0.0.1')).toBe(2000)
})

test('the addresses of one IPv6 /64 count as one client, mapped IPv4 as the IPv4 address', () => {
  for (let i = 0; i < 10; i++) attempts.noteWrong(`2001:db8:1:2::${i}`, false, newGuess())
  expect(attempts.pauseMs('2001:db8:1:2:ffff::1')).toBe(1000)
  expect(attempts.pauseMs('2001:db8:1:3::1')).toBe(0)
  fail('::ffff:192.0.2.9', 10)
  expect(attempts.pauseMs('192.0.2.9')).toBe(1000)
})

test('failures expire after a quarter of an hour', () => {
  fail('192.0.2.1', 9)
  now += 15 * 60_000 + 1
  fail('192.0.2.1', 1)
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
})

test('the same wrong credential counts once, however often a script repeats it', () => {
  for (let i = 0; i < 100; i++) attempts.noteWrong('192.0.2.1', false, `Bearer outdated ${i % 3}`)
  fail('192.0.2.1', 6)
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
  fail('192.0.2.1', 1)
  expect(attempts.pauseMs('192.0.2.1')).toBe(1000)
})

test('a repeated old guess counts again', () => {
  fail('192.0.2.1', 8)
  attempts.noteWrong('192.0.2.1', false, 'Bearer old')
  fail('192.0.2.1', 20)
  now += 60_000
  expect(attempts.pauseMs('192.0.2.1')).toBe(0)
  attempts.noteWrong('192.0.2.1', false, 'Bearer old')
  expect(attempts.pauseMs('192.0.2.1')).toBe(60_000)
})
