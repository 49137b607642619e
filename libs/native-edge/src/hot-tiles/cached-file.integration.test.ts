import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CachedFiles } from './cached-file.js'

const TMPFS = 0x01021994
const LIMIT = 1_000

let folder: string
let files: CachedFiles
beforeAll(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cached-file-')))
  const loaded = CachedFiles.load(LIMIT)
  if (typeof loaded === 'string') throw new Error(loaded)
  files = loaded
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

function write(name: string, content: string): string {
  const file = path.join(folder, name)
  fs.writeFileSync(file, content)
  return file
}

const openDescriptors = () => fs.readdirSync('/proc/self/fd').length

test('open reads and closes a small file and returns the facts of fstat', () => {
  const file = write('small', 'content')
  const before = openDescriptors()
  const found = files.open(file)
  const stat = fs.statSync(file, { bigint: true })
  const { size, ino, mtimeNs } = stat
  expect(found).toEqual({
    realPath: file,
    isFile: true,
    fd: null,
    content: Buffer.from('content'),
    size,
    ino,
    mtimeNs,
  })
  expect(files.open(write('empty', ''))).toMatchObject({ content: Buffer.alloc(0), size: 0n })
  expect(openDescriptors()).toBe(before)
})

test('each result has its own memory', () => {
  const [one, other] = [files.open(write('one', '1111')), files.open(write('other', '2222'))]
  expect([one, other]).toMatchObject([{ content: Buffer.from('1111') }, { content: Buffer.from('2222') }])
})

test('open leaves a larger file open, and its parts can be read', () => {
  const found = files.open(write('large', `${'a'.repeat(LIMIT)}b`))
  if (typeof found === 'string' || found.fd === null) throw new Error('not opened')
  expect([found.content, found.size]).toEqual([null, BigInt(LIMIT + 1)])
  expect(files.read(found.fd, LIMIT - 1, 2)).toEqual(Buffer.from('ab'))
  expect(files.read(found.fd, 0, LIMIT + 1)).toHaveLength(LIMIT + 1)
  expect(files.read(found.fd, 0, LIMIT + 2)).toBeNull()
  expect(files.read(found.fd, 5, 0)).toHaveLength(0)
  fs.closeSync(found.fd)
  expect(files.read(found.fd, 0, 1)).toBeNull()
})

test('open distinguishes a file from the file that replaced it', () => {
  const file = write('replaced', 'before')
  const before = files.open(file)
  fs.renameSync(write('new', 'after!'), file)
  const after = files.open(file)
  if (typeof before === 'string' || typeof after === 'string') throw new Error('not opened')
  expect(after.content).toEqual(Buffer.from('after!'))
  expect(after.ino).not.toBe(before.ino)
})

test('open follows a link and returns its target', () => {
  const link = path.join(folder, 'link')
  // The target is in the test's own folder, because a look-up of the root's file system may never be cached (overlayfs).
  const target = write('target', 'content')
  fs.symlinkSync(target, link)
  // The kernel updates the access time of a link that was last followed before its last change, or in the same tick. A cached look-up cannot
  // do that.
  const now = new Date()
  fs.lutimesSync(link, new Date(now.getTime() + 3_600_000), now)
  fs.readFileSync(link)
  expect(files.open(link)).toMatchObject({ realPath: target })
})

test('look returns the facts of open without content and descriptor', () => {
  const before = openDescriptors()
  const large = write('looked-at', 'a'.repeat(2 * LIMIT))
  expect(files.look(large)).toEqual({ realPath: large, isFile: true, size: BigInt(2 * LIMIT) })
  const empty = write('looked-at-empty', '')
  expect(files.look(empty)).toEqual({ realPath: empty, isFile: true, size: 0n })
  expect(files.look(folder)).toMatchObject({ realPath: folder, isFile: false })
  expect(['absent', 'not_now']).toContain(files.look(path.join(folder, 'nothing-to-look-at')))
  expect(openDescriptors()).toBe(before)
})

test('open returns neither a folder nor a FIFO as a file, and does not wait for a writer', () => {
  const before = openDescriptors()
  execFileSync('mkfifo', [path.join(folder, 'fifo')])
  for (const name of ['fifo', '.']) {
    const found = files.open(path.join(folder, name))
    expect(found, name).toMatchObject({ isFile: false, fd: null, content: null })
  }
  expect(openDescriptors()).toBe(before)
})

test('open returns absent for a cached negative entry, and not_now if the disk must be read', () => {
  const file = path.join(folder, 'nothing')
  expect(['absent', 'not_now']).toContain(files.open(file))
  expect(fs.existsSync(file)).toBe(false)
  // Not every file system caches negative entries.
  expect(['absent', 'not_now']).toContain(files.open(file))
  expect(['absent', 'not_now']).toContain(files.open(path.join(write('plain', 'x'), 'below')))
})

test('open returns not_now for paths that only a blocking open can judge', async () => {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'socket'), resolve))
  fs.symlinkSync('ring', path.join(folder, 'ring'))
  for (const name of ['socket', 'ring', 'x'.repeat(300), 'x'.repeat(5_000), 'small\0']) {
    expect(files.open(path.join(folder, name)), name).toBe('not_now')
  }
  await new Promise((resolve) => server.close(resolve))
})

test('open returns not_now for a file without read permission', () => {
  const file = write('secret', 'x')
  fs.chmodSync(file, 0)
  fs.chmodSync(folder, 0o755)
  const script = `
    import { CachedFiles } from ${JSON.stringify(new URL('../../dist/hot-tiles/cached-file.js', import.meta.url).href)}
    const files = CachedFiles.load(100)
    if (process.getuid() === 0) process.seteuid(65534)
    console.log(files.open(${JSON.stringify(file)}))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(printed).toBe('not_now\n')
})

test('open and read refuse content that is only on the disk', { timeout: 150_000 }, async ({ annotate }) => {
  const { type } = await fs.promises.statfs(folder)
  if (type === TMPFS) return void (await annotate('the temporary directory is in memory: no file is only on a disk'))
  // A call makes the kernel read ahead, and a fast disk may answer before the call returns, even for many files in a row: then the content is in memory.
  // An implementation that waits for the disk never refuses.
  const cold = () => {
    const path = write(`cold ${colds++}`, 'c'.repeat(LIMIT))
    // Writes the file to the disk and drops it from the page cache.
    execFileSync('dd', [`of=${path}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], { stdio: 'ignore' })
    return path
  }
  let colds = 0
  await expect.poll(() => files.open(cold()), { timeout: 60_000, interval: 1 }).toBe('not_now')
  let fd = -1
  const readCold = () => {
    if (fd >= 0) fs.closeSync(fd)
    fd = fs.openSync(cold(), 'r')
    return files.read(fd, 0, 10)
  }
  await expect.poll(readCold, { timeout: 60_000, interval: 1 }).toBeNull()
  fs.readSync(fd, Buffer.alloc(10))
  expect(files.read(fd, 0, 10)).toHaveLength(10)
  fs.closeSync(fd)
})
