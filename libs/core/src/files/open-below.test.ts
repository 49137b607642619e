import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opening, openBelow, openBelowSync } from './open-below.js'

let base: string
let root: string

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'open-below-'))
  root = path.join(base, 'root')
  fs.mkdirSync(path.join(root, 'folder'), { recursive: true })
  fs.writeFileSync(path.join(root, 'folder', 'tile.png'), 'inside')
  fs.writeFileSync(path.join(base, 'secret'), 'outside')
  fs.mkdirSync(path.join(base, 'root-too'))
  fs.writeFileSync(path.join(base, 'root-too', 'secret'), 'a sibling whose name starts alike')
})
afterEach(() => fs.rmSync(base, { recursive: true }))

function read(opening: Opening): string {
  if (!opening.ok) return opening.reason
  const text = fs.readFileSync(opening.fd, 'utf8')
  fs.closeSync(opening.fd)
  return text
}

const variants: [string, (root: string, file: string) => Opening | Promise<Opening>][] = [
  ['synchronous', openBelowSync],
  ['asynchronous', openBelow],
]
describe.each(variants)('%s opening', (_name, open) => {
  it('opens a plain file by relative and by absolute path', async () => {
    expect(read(await open(root, 'folder/tile.png'))).toBe('inside')
    expect(read(await open(root, path.join(root, 'folder/tile.png')))).toBe('inside')
  })

  it('returns size, time and an identity that a rewrite changes', async () => {
    const before = await open(root, 'folder/tile.png')
    fs.writeFileSync(path.join(root, 'new'), 'longer than before')
    fs.renameSync(path.join(root, 'new'), path.join(root, 'folder/tile.png'))
    const after = await open(root, 'folder/tile.png')
    if (!before.ok || !after.ok) throw new Error('not opened')
    const stat = fs.statSync(path.join(root, 'folder/tile.png'))
    expect([before.size, after.size, after.mtimeMs]).toEqual([6, 18, Math.floor(stat.mtimeMs)])
    expect(after.identity).not.toBe(before.identity)
    expect(after.identity).toMatch(/^[0-9a-z-]+$/)
    read(before)
    read(after)
  })

  it('follows a link that stays inside', async () => {
    fs.symlinkSync('folder/tile.png', path.join(root, 'link'))
    expect(read(await open(root, 'link'))).toBe('inside')
  })

  it.each(['../secret', 'folder/../../secret', '../root-too/secret'])('refuses %s as outside', async (file) => {
    expect(read(await open(root, file))).toBe('outside')
  })

  it('refuses a link to a file or a folder outside', async () => {
    fs.symlinkSync('../secret', path.join(root, 'file'))
    fs.symlinkSync('..', path.join(root, 'up'))
    expect(read(await open(root, 'file'))).toBe('outside')
    expect(read(await open(root, 'up/secret'))).toBe('outside')
  })

  it('does not wait for a writer of a FIFO, and refuses folders and devices', async () => {
    execFileSync('mkfifo', [path.join(root, 'fifo')])
    expect(read(await open(root, 'fifo'))).toBe('not_a_file')
    expect(read(await open(root, 'folder'))).toBe('not_a_file')
    expect(read(await open('/dev', 'null'))).toBe('not_a_file')
  })

  it.each(['nothing', 'folder/tile.png/below-a-file', 'x'.repeat(300), 'a\0b'])('calls %j absent', async (file) => {
    expect(read(await open(root, file))).toBe('absent')
  })

  it('calls a ring of links absent', async () => {
    fs.symlinkSync('ring', path.join(root, 'ring'))
    expect(read(await open(root, 'ring'))).toBe('absent')
  })

  it('follows a root that is a link, even after the link has changed', async () => {
    const alias = path.join(base, 'alias')
    fs.symlinkSync(root, alias)
    expect(read(await open(alias, 'folder/tile.png'))).toBe('inside')
    fs.unlinkSync(alias)
    fs.symlinkSync(path.join(base, 'root-too'), alias)
    expect(read(await open(alias, 'secret'))).toMatch('sibling')
  })

  it('leaves no descriptor open after a refusal', async () => {
    const count = () => fs.readdirSync('/proc/self/fd').length
    const before = count()
    for (let i = 0; i < 50; i++) {
      await open(root, '../secret')
      await open(root, 'folder')
    }
    expect(count()).toBeLessThan(before + 10)
  })
})

it('throws errors that say nothing about the file, such as a full descriptor table', () => {
  const script = `
    import { openBelowSync } from ${JSON.stringify(new URL('../../dist/files/open-below.js', import.meta.url).href)}
    try { for (;;) openBelowSync(${JSON.stringify(root)}, 'folder/tile.png') } catch (error) { console.log(error.code) }`
  const command = `ulimit -n 64; exec "$0" --input-type=module -e "$1"`
  expect(execFileSync('sh', ['-c', command, process.execPath, script], { encoding: 'utf8' })).toBe('EMFILE\n')
})
