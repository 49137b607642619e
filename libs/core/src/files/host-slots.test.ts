import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HostSlots } from './host-slots.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'host-slots-'))
afterAll(() => fs.rmSync(home, { recursive: true }))

/** Returns the slots that are taken and the marks of those who wait, without the file to which slots are links. */
const entriesOf = (directory: string) => fs.readdirSync(directory).filter((name) => !name.startsWith('.'))

test('at most so many pieces of work have a slot, and all of them get one', async () => {
  const directory = path.join(home, 'shared')
  const processes = [new HostSlots(directory, 3), new HostSlots(directory, 3)]
  let [now, most, done] = [0, 0, 0]
  let isFull = () => {}
  const full = new Promise<void>((resolve) => {
    isFull = resolve
  })
  const work = async (slots: HostSlots) => {
    const release = await slots.enter(() => true)
    most = Math.max(most, ++now)
    if (now === 3) isFull()
    await full
    now--
    await release?.()
    done++
  }
  await Promise.all(Array.from({ length: 40 }, (_, i) => work(processes[i % 2] as HostSlots)))
  expect([most, done]).toEqual([3, 40])
  // A slot is kept for a moment, since the next request usually needs it.
  await expect.poll(() => entriesOf(directory)).toEqual([])
})

test('work that nobody wants any more gets no slot, and leaves no mark', async () => {
  const directory = path.join(home, 'unwanted')
  const slots = new HostSlots(directory, 1)
  const release = await slots.enter(() => true)
  let looks = 0
  expect(await slots.enter(() => ++looks < 3)).toBeNull()
  await release?.()
  await expect.poll(() => entriesOf(directory)).toEqual([])
})

test('work that follows at once uses the slot of the work before', async () => {
  const directory = path.join(home, 'kept')
  const slots = new HostSlots(directory, 2)
  const files = () => entriesOf(directory).map((name) => [name, fs.statSync(path.join(directory, name)).ctimeMs])
  const first = await slots.enter(() => true)
  const before = files()
  await first?.()
  const second = await slots.enter(() => true)
  expect(files()).toEqual(before)
  // A process that begins to wait gets it when it is released.
  fs.writeFileSync(path.join(directory, `${process.ppid}.waits`), '')
  await second?.()
  await expect.poll(() => entriesOf(directory)).toEqual([`${process.ppid}.waits`])
})

test('a process leaves a slot that it has released to another one that waits, but not to one that has ended', async () => {
  const directory = path.join(home, 'fair')
  const slots = new HostSlots(directory, 1)
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const mark = path.join(directory, `${other.pid}.waits`)
  const first = await slots.enter(() => true)
  fs.writeFileSync(mark, '')
  await first?.()
  let looks = 0
  const second = await slots.enter(() => ++looks > 0)
  expect(looks).toBeGreaterThan(1)
  other.kill()
  await once(other, 'exit')
  await second?.()
  expect(fs.existsSync(mark)).toBe(false)
})
