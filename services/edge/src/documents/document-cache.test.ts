import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Refusal } from '@gateway/contracts/errors.js'
import { createLog } from '@gateway/core/logging/log.js'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { DiskGate } from '../files/disk-gate.js'
import { DocumentCache, type DocumentRequest, SECRET_PLACE } from './document-cache.js'
import { HeldDocument } from './held-document.js'
import { Turns } from './turns.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'documents-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const disks = new DiskGate({ log: createLog('edge', 'silent'), threads: 4 })
const STATE = {}
let documents: DocumentCache
beforeEach(() => {
  documents = new DocumentCache(new Turns(), disks, folder)
})

const request = (key: string, more: Partial<DocumentRequest> = {}): DocumentRequest => ({
  of: STATE,
  key,
  grows: true,
  text: () => key,
  inserted: '',
  gzip: false,
  tokenId: 'one',
  ...more,
})

type Found = HeldDocument | Refusal | Error

/** What came back; a document that was found is read as long as nobody leaves it. */
const get = (wanted: DocumentRequest) =>
  new Promise<Found>((resolve) =>
    documents.get(wanted, (found) => resolve(found instanceof HeldDocument ? found.use() : found)),
  )

function textOf(found: Found): string {
  if (!(found instanceof HeldDocument)) throw new Error(`no document: ${JSON.stringify(found)}`)
  const body = found.forAnswer()
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  const bytes = Buffer.alloc(body.length)
  fs.readSync(body.fd, bytes, 0, body.length, 0)
  body.release()
  return bytes.toString()
}

const isBusy = (found: Found) =>
  'ok' in found && found.code === 'too_many_requests' && found.retryAfterSeconds !== undefined

/** A text that does not go on until it is told to. */
function* endless(goes: () => boolean) {
  while (goes()) yield ''
  yield 'done'
}

test('a token may let so many documents wait, all tokens together so many, and small ones never wait', async () => {
  let goes = true
  const ask = (key: string, tokenId: string) => get(request(key, { tokenId, text: () => endless(() => goes) }))
  const found = (tokenId: string) => Array.from({ length: 30 }, (_, i) => ask(`${tokenId} ${i}`, tokenId))
  const answers = ['a', 'b', 'c', 'd', 'e'].map(found)
  expect(textOf(await get(request('small', { grows: false })))).toBe('small')
  goes = false
  const all = await Promise.all(answers.map((of) => Promise.all(of)))
  // Two are made, and wait no more when the others come.
  expect(all.map((of) => of.filter((one) => !isBusy(one)).length)).toEqual([18, 16, 16, 16, 0])
  expect(textOf(await ask('later', 'e'))).toBe('done')
})

test('all who ask while a document is made get the one that is made, or why it cannot be', async () => {
  let made = 0
  const text = () => {
    made++
    if (made === 1) throw new Error('no text')
    return 'text'
  }
  const ask = () => Array.from({ length: 5 }, () => get(request('same', { text })))
  for (const found of await Promise.all(ask())) expect(found).toMatchObject({ message: 'no text' })
  expect(new Set(await Promise.all(ask())).size).toBe(1)
  expect(made).toBe(2)
})

test('a document that was pushed out is there for those who still read it, and what is held is bounded', async () => {
  const keptBytes = 1_000_000
  documents = new DocumentCache(new Turns(), disks, folder, keptBytes)
  const large = (key: string) => request(key, { text: () => `${key} ${'x'.repeat(400_000)}` })
  const reading: Found[] = []
  let next = await get(large('0'))
  for (let i = 1; !isBusy(next); i++) {
    reading.push(next)
    next = await get(large(String(i)))
  }
  // Five of them are twice of what is kept, and two fit into it.
  expect(reading).toHaveLength(5)
  expect(textOf(reading[0] as Found).slice(0, 3)).toBe('0 x')
  for (const one of reading) (one as HeldDocument).leave()
  await nextTurn()
  expect(documents.heldBytes).toBeLessThan(keptBytes)
  expect(textOf(await get(large('again'))).slice(0, 7)).toBe('again x')
})

test('what is inserted is in the text, and a document of its own', async () => {
  const text = () => `before ${SECRET_PLACE} after ${SECRET_PLACE}`
  const of = async (inserted: string) => textOf(await get(request('secret', { text, inserted })))
  expect(await of('token=a')).toBe('before token=a after token=a')
  expect(await of('token=b')).toBe('before token=b after token=b')
})

test('where no file can be made, a large document stays in memory', async () => {
  fs.writeFileSync(path.join(folder, 'file'), '')
  documents = new DocumentCache(new Turns(), disks, path.join(folder, 'file/below'))
  const text = 'x'.repeat(100_000)
  expect(textOf(await get(request('large', { text: () => text })))).toBe(text)
})
