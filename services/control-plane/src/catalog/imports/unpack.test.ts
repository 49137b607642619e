import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ZipArchive } from 'archiver'
import { expect, test } from 'vitest'
import { examineArchive } from './unpack.js'

test.each([
  ['of which each byte unpacks to a thousand is refused before it is unpacked', 65 * 1024 * 1024, false],
  ['of the same kind that stays small is taken', 1024 * 1024, true],
])('an archive %s', async (_, bytes, isTaken) => {
  const folder = mkdtempSync(join(tmpdir(), 'unpack-'))
  const archive = new ZipArchive({ zlib: { level: 9 } })
  archive.append(Buffer.alloc(bytes), { name: 'icons/a.svg' })
  void archive.finalize()
  writeFileSync(join(folder, 'a.zip'), await buffer(archive))
  const slot = { kind: 'files', place: 'a', name: 'a' } as const
  const examined = await examineArchive(join(folder, 'a.zip'), () => slot, 16 * 1024 ** 3)
  rmSync(folder, { recursive: true })
  expect(examined.ok).toBe(isTaken)
  if (!examined.ok) expect(examined.message).toMatch(/larger than 67108864 bytes when unpacked/)
})
