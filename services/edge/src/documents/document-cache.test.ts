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

/** Returns the result of `get`; a document stays readable until it is left. */
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

/** A text that does not end until the test says so. */
function* endless(goes: () => boolean) {
  while (goes()) yield ''
  yield 'done'
}

test('the waiting documents of a token and of all tokens are limited, and small ones never wait', async () => {
  let goes = true
  const ask = (key: string, tokenId: string) => get(request(key, { tokenId, text: () => endless(() => goes) }))
  const found = (tokenId: string) => Array.from({ length: 30 }, (_, i) => ask(`${tokenId} ${i}`, tokenId))
  const answers = ['a', 'b', 'c', 'd', 'e'].map(found)
  expect(textOf(await get(request('small', { grows: false })))).toBe('small')
  goes = false
  const all = await Promise.all(answers.map((of) => Promise.all(of)))
  // Two are being made, and no longer wait when the others arrive.
  expect(all.map((of) => of.filter((one) => !isBusy(one)).length)).toEqual([18, 16, 16, 16, 0])
  expect(textOf(await ask('later', 'e'))).toBe('done')
})

test('all requests during the making of a document get it, or the reason of its failure', async () => {
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

test('an evicted document stays for its readers, and the total size is limited', async () => {
  const keptBytes = 1_000_000
  documents = new DocumentCache(new Turns(), disks, folder, keptBytes)
  const large = (key: string) => request(key, { text: () => `${key} ${'x'.repeat(400_000)}` })
  const reading: Found[] = []
  let next = await get(large('0'))
  for (let i = 1; !isBusy(next); i++) {
    reading.push(next)
    next = await get(large(String(i)))
  }
  // Five documents are twice the limit, of which two fit.
  expect(reading).toHaveLength(5)
  expect(textOf(reading[0] as Found).slice(0, 3)).toBe('0 x')
  for (const one of reading) (one as HeldDocument).leave()
  await nextTurn()
  expect(documents.heldBytes).toBeLessThan(keptBytes)
  expect(textOf(await get(large('again'))).slice(0, 7)).toBe('again x')
})

test('an inserted text is in the document, which is a separate one', async () => {
  const text = () => `before ${SECRET_PLACE} after ${SECRET_PLACE}`
  const of = async (inserted: string) => textOf(await get(request('secret', { text, inserted })))
  expect(await of('token=a')).toBe('before token=a after token=a')
  expect(await of('token=b')).toBe('before token=b after token=b')
})

test('a large document stays in memory if no file can be made', async () => {
  fs.writeFileSync(path.join(folder, 'file'), '')
  documents = new DocumentCache(new Turns(), disks, path.join(folder, 'file/below'))
  const text = 'x'.repeat(100_000)
  expect(textOf(await get(request('large', { text: () => text })))).toBe(text)
})
