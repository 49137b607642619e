import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HostCircuit } from './host-circuit.js'

const FAILURE = { kind: 'silent', reason: 'no answer', words: '' }

let home: string
let here: HostCircuit
let there: HostCircuit
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-circuit-'))
  const directory = join(home, 'service')
  here = new HostCircuit(directory)
  there = new HostCircuit(directory)
})
afterEach(() => rm(home, { recursive: true }))

/** Lets the time pass after which one request is let through. */
async function pass(): Promise<void> {
  const file = join(home, 'service/circuit.json')
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), openUntilMs: 1 }))
}

test('failures of two processes open the circuit for both, with the last failure', async () => {
  for (const one of [here, there, here, there]) await one.failed(FAILURE)
  expect([await here.admit(), await there.admit(), there.failures, there.isOpen]).toEqual([null, null, 4, false])
  await here.failed(FAILURE)
  expect(await there.admit()).toBeGreaterThan(0)
  expect([there.failures, there.isOpen, there.last]).toEqual([5, true, FAILURE])
})

test('one process of several may ask an open service after the time, and its failure begins the time again', async () => {
  for (let i = 0; i < 5; i++) await here.failed(FAILURE)
  await pass()
  const answers = await Promise.all([here.admit(), there.admit(), here.admit(), there.admit()])
  expect(answers.filter((wait) => wait === null)).toHaveLength(1)
  await pass()
  await there.failed(FAILURE)
  expect(await here.admit()).toBeGreaterThan(0)
})

test('a success closes the circuit for both, and failures before it do not count any more', async () => {
  for (let i = 0; i < 5; i++) await here.failed(FAILURE)
  await pass()
  await Promise.all([here.admit(), there.admit()])
  await there.succeeded()
  expect([await here.admit(), here.failures, here.last]).toEqual([null, 0, null])
})

test('a clock that jumps back keeps the circuit open for its usual time at most', async () => {
  for (let i = 0; i < 5; i++) await here.failed(FAILURE)
  const file = join(home, 'service/circuit.json')
  await writeFile(file, JSON.stringify({ failures: 5, openUntilMs: 8e15, notBeforeMs: 0, last: FAILURE }))
  expect(await here.admit()).toBe(10_000)
})

test('a pause that the service asks one process for holds for the other one', async () => {
  await here.failed(FAILURE, 30_000)
  expect([(await there.admit()) ?? 0, there.isOpen]).toEqual([expect.closeTo(30_000, -4), false])
})

test('a process that found the service well learns soon that another one has opened the circuit', async () => {
  expect(await there.admit()).toBeNull()
  for (let i = 0; i < 5; i++) await here.failed(FAILURE)
  await expect.poll(() => there.admit()).toBeGreaterThan(0)
})
