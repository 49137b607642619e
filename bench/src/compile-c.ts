import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Compiles a program of one file in C, once for each of its versions. Returns its path; null: there is no compiler, or a library is missing. */
export function compileC(source: string, libraries: readonly string[] = []): string | null {
  const mark = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)
  const program = join(tmpdir(), `gateway-bench-${basename(source, '.c')}-${mark}`)
  if (existsSync(program)) return program
  const unfinished = `${program}-${process.pid}`
  const options = ['-O2', '-o', unfinished, source, ...libraries.map((name) => `-l${name}`)]
  const { status } = spawnSync('cc', options, { stdio: 'ignore' })
  if (status !== 0) return null
  renameSync(unfinished, program)
  return program
}
