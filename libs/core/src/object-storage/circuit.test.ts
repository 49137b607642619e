import { expect, test } from 'vitest'
import { Circuit } from './circuit.js'

function failing(times: number) {
  let now = 0
  const circuit = new Circuit(
    () => now,
    () => 0.5,
  )
  for (let i = 0; i < times; i++) circuit.failed()
  return { circuit, pass: (ms: number) => (now += ms) }
}

test('five failures in a row open it, and a success between them prevents that', () => {
  expect(failing(4).circuit.state).toBe('closed')
  const { circuit } = failing(4)
  circuit.succeeded()
  circuit.failed()
  expect(circuit.admit()).toBeNull()
  expect(failing(5).circuit.admit()).toBe(2000)
})

test('after its time one request passes, and its success closes it', () => {
  const { circuit, pass } = failing(5)
  pass(2000)
  expect(circuit.state).toBe('half open')
  expect(circuit.admit()).toBeNull()
  expect(circuit.admit()).toBeGreaterThan(0)
  circuit.succeeded()
  expect([circuit.state, circuit.admit()]).toEqual(['closed', null])
})

test('each failed attempt to close it doubles the time, up to a minute', () => {
  const { circuit, pass } = failing(5)
  const waits = Array.from({ length: 7 }, () => {
    const left = circuit.admit() as number
    pass(left)
    circuit.admit()
    circuit.failed()
    return left
  })
  expect(waits).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
})

test('an attempt that its caller aborted leaves room for the next', () => {
  const { circuit, pass } = failing(5)
  pass(2000)
  circuit.admit()
  circuit.abandoned()
  expect(circuit.admit()).toBeNull()
})
