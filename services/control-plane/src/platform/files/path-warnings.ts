import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { coded, type MessageCode } from '@gateway/contracts/messages.js'
import { type Warning, warningOf } from '@gateway/contracts/warning.js'

/** Time limit of the check: a network file system that is down never responds. */
const ANSWERS_WITHIN_MS = 2_000
/** Maximum number of abandoned checks. Each holds a thread until its file system responds. */
const MAX_UNANSWERED = 2
let unanswered = 0

/**
 * Returns warnings about a directory that was just configured. It is accepted nonetheless, since a disk may be mounted later.
 * @param field its name in the body
 * @param mode R_OK: files in it are read; W_OK: files are written into it
 */
export async function directoryWarnings(field: string, path: string, mode: 'read' | 'write'): Promise<Warning[]> {
  const warning = await problemOf(path, mode)
  return warning === null ? [] : [warningOf(coded(warning, { field, path: JSON.stringify(path) }))]
}

type Problem = Extract<MessageCode, `path_${string}`>

const NO_ANSWER: Problem = 'path_no_answer'

async function problemOf(path: string, mode: 'read' | 'write'): Promise<Problem | null> {
  if (unanswered >= MAX_UNANSWERED) return NO_ANSWER
  let isLate = false
  let timer: NodeJS.Timeout | undefined
  const looked = look(path, mode).finally(() => {
    clearTimeout(timer)
    if (isLate) unanswered--
  })
  const late = new Promise<Problem>((resolve) => {
    timer = setTimeout(() => {
      isLate = true
      unanswered++
      resolve(NO_ANSWER)
    }, ANSWERS_WITHIN_MS)
  })
  return Promise.race([looked, late])
}

async function look(path: string, mode: 'read' | 'write'): Promise<Problem | null> {
  try {
    const found = await stat(path)
    if (!found.isDirectory()) return 'path_no_directory'
    await access(path, mode === 'write' ? constants.W_OK | constants.X_OK : constants.R_OK | constants.X_OK)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return 'path_missing'
    if (code === 'ENOTDIR') return 'path_missing'
    if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
      return mode === 'write' ? 'path_not_writable' : 'path_not_readable'
    }
    return 'path_no_answer'
  }
}
