import { buffer } from 'node:stream/consumers'
import { type Entry, fromBuffer, type ZipFile } from 'yauzl'

/** Returns the content of a zip by name, as read by an independent reader. */
export async function unzip(zip: Buffer): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {}
  const file = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(zip, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened))),
  )
  await new Promise<void>((resolve, reject) => {
    file.on('error', reject).on('end', resolve)
    file.on('entry', (entry: Entry) =>
      file.openReadStream(entry, async (error, stream) => {
        if (error) return reject(error)
        found[entry.fileName] = await buffer(stream)
        file.readEntry()
      }),
    )
    file.readEntry()
  })
  return found
}

/** Returns the parts of a multipart/form-data body by name. */
export async function parseForm(body: Buffer, contentType: string): Promise<Record<string, Buffer>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  const parts: Record<string, Buffer> = {}
  for (const [name, value] of form) {
    parts[name] = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
  }
  return parts
}
