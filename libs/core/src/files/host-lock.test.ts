import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import promises from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { takeHostLock, tryHostLock } from './host-lock.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'host-lock-'))
afterAll(() => fs.rmSync(home, { recursive: true }))

const folderOf = (name: string) => fs.mkdtempSync(path.join(home, name))

test('one of many takes a lock at a time, which names its process', async () => {
  const lock = path.join(folderOf('one'), 'a.lock')
  const taken = await Promise.all(Array.from({ length: 20 }, () => tryHostLock(lock)))
  const [release, ...others] = taken.filter((one) => one !== null)
  expect([others, fs.readFileSync(lock, 'utf8')]).toEqual([[], String(process.pid)])
  await release?.()
  expect(await tryHostLock(lock)).not.toBeNull()
})

test('many locks of a folder take one file, and leave it', async () => {
  const folder = folderOf('links')
  const locks = Array.from({ length: 50 }, (_, i) => path.join(folder, `${i}.lock`))
  const releases = await Promise.all(locks.map((lock) => tryHostLock(lock)))
  await Promise.all(releases.map((release) => release?.()))
  expect(fs.readdirSync(folder)).toEqual([`.${process.pid}.holder`])
  const again = await Promise.all(locks.map((lock) => tryHostLock(lock)))
  expect(new Set(locks.map((lock) => fs.statSync(lock).ino)).size).toBe(1)
  expect(again).not.toContain(null)
})

test('a lock is taken again after its file of the process was evicted', async () => {
  const folder = folderOf('evicted')
  const lock = path.join(folder, 'a.lock')
  await (await tryHostLock(lock))?.()
  fs.rmSync(path.join(folder, `.${process.pid}.holder`))
  expect(await tryHostLock(lock)).not.toBeNull()
})

test('a lock names its process although an earlier one with its number has left an empty file', async () => {
  const folder = folderOf('power')
  const lock = path.join(folder, 'a.lock')
  fs.writeFileSync(path.join(folder, `.${process.pid}.holder`), '')
  expect(await tryHostLock(lock)).not.toBeNull()
  expect(fs.readFileSync(lock, 'utf8')).toBe(String(process.pid))
})

test('many take their locks at once while the file of the process is evicted again and again', async () => {
  const folder = folderOf('often')
  const own = path.join(folder, `.${process.pid}.holder`)
  for (let round = 0; round < 20; round++) {
    const locks = Array.from({ length: 20 }, (_, i) => path.join(folder, `${i}.lock`))
    const taking = locks.map((lock) => tryHostLock(lock))
    fs.rmSync(own, { force: true })
    // A file that is evicted between its writing and the link is an absent folder for the caller, who tries again.
    const releases = await Promise.all(taking.map((one) => one.catch(({ code }) => code)))
    expect(releases.filter((one) => typeof one !== 'function' && one !== 'ENOENT')).toEqual([])
    for (const one of releases) if (typeof one === 'function') await one()
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.lock'))).toEqual([])
  }
})

test.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES'])(
  'a lock is a file if its link is refused with %s',
  async (code) => {
    const lock = path.join(folderOf('unlinked'), 'a.lock')
    const link = vi.spyOn(promises, 'link').mockRejectedValue(Object.assign(new Error(code), { code }))
    try {
      const [release, other] = [await tryHostLock(lock), await tryHostLock(lock)]
      expect([other, fs.readFileSync(lock, 'utf8')]).toEqual([null, String(process.pid)])
      await release?.()
      expect(fs.existsSync(lock)).toBe(false)
    } finally {
      link.mockRestore()
    }
  },
)

test.each(['ENOSPC', 'EDQUOT'])('a disk that refuses with %s is told of, and keeps no lock', async (code) => {
  const folder = folderOf('full')
  const error = Object.assign(new Error(code), { code })
  const link = vi.spyOn(promises, 'link').mockRejectedValue(error)
  const open = vi.spyOn(promises, 'open').mockImplementation(async (file) => {
    fs.writeFileSync(file as string, '', { flag: 'wx' })
    return { writeFile: () => Promise.reject(error), close: async () => {} } as never
  })
  await expect(tryHostLock(path.join(folder, 'a.lock'))).rejects.toMatchObject({ code })
  open.mockRestore()
  link.mockRestore()
  expect(fs.readdirSync(folder)).toEqual([`.${process.pid}.holder`])
  expect(await tryHostLock(path.join(folder, 'a.lock'))).not.toBeNull()
})

test('a lock of a process that was killed is free, and that of another one is not', async () => {
  const lock = path.join(folderOf('killed'), 'a.lock')
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  fs.writeFileSync(lock, String(other.pid))
  expect(await tryHostLock(lock)).toBeNull()
  other.kill('SIGKILL')
  await once(other, 'exit')
  expect(await takeHostLock(lock, async () => false, 1)).not.toBeNull()
})

test('a lock in a folder that does not exist rejects with ENOENT', async () => {
  await expect(tryHostLock(path.join(home, 'none/a.lock'))).rejects.toMatchObject({ code: 'ENOENT' })
})
