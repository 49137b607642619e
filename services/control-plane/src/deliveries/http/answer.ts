import type { Readable } from 'node:stream'

/** Read at most: an endless answer costs no more than this. */
const MAX_READ_BYTES = 16 * 1024
/** Kept for the operator: enough for an error page's first words. */
const MAX_KEPT_CHARACTERS = 1000

/**
 * The first part of an answer's body as text that can be stored and shown. What breaks off or takes too long is kept as far as it came:
 * the status has already said how the attempt ended. `secrets` are cut out, since some receivers answer with what they were sent.
 */
export async function readAnswer(body: Readable, secrets: readonly string[]): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= MAX_READ_BYTES) break
    }
  } catch {
    // Whatever ended it ended the reading.
  }
  let text = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString('utf8')
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]')
  return shown(text).slice(0, MAX_KEPT_CHARACTERS)
}

/** Without what Postgres cannot store or a terminal would obey. */
export function shown(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
}
