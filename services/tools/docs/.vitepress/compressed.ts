import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Minimum bytes: compressing a smaller file would not save a packet. */
const MIN_COMPRESSED_BYTES = 1024

/** Writes a .br and a .gz next to each compressible file, which the control plane sends unchanged. */
export function compressIn(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.(html|js|css|svg|json|txt)$/.test(entry.name)) continue
    const bytes = readFileSync(file)
    if (bytes.length < MIN_COMPRESSED_BYTES) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
}
