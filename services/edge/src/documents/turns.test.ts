import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Turns } from './turns.js'

/** Takes longer than one turn allows for such work. */
function workLong(): void {
  const until = performance.now() + 10
  while (performance.now() < until);
}

test('a task runs at once, and waits for the next turn after a long one', async () => {
  const turns = new Turns()
  const ran: string[] = []
  turns.run(() => ran.push('first'))
  expect(ran).toEqual(['first'])
  turns.run(workLong)
  turns.run(() => ran.push('second'))
  turns.run(() => ran.push('third'))
  expect(ran).toEqual(['first'])
  await nextTurn()
  expect(ran).toEqual(['first', 'second', 'third'])
})

test('each long task has its own turn, and others run in between', async () => {
  const turns = new Turns()
  let done = 0
  for (let i = 0; i < 5; i++)
    turns.run(() => {
      workLong()
      done++
    })
  for (let turn = 1; turn <= 5; turn++) {
    expect(done).toBe(turn)
    await nextTurn()
  }
})

test('a task that continues itself runs in a later turn', async () => {
  const turns = new Turns()
  let steps = 0
  const step = () => {
    steps++
    if (steps < 3) turns.later(step)
  }
  turns.run(step)
  for (let turn = 1; turn <= 3; turn++) {
    expect(steps).toBe(turn)
    await nextTurn()
  }
})
