/** Advice about a folder that cannot be used, by the code of the system's error. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'let this user write there',
  EPERM: 'let this user write there',
  EROFS: 'mount it writable',
  ENOSPC: 'the disk is full: make room',
  EDQUOT: 'the quota is used up: make room',
  ENOTDIR: 'remove the file that is in its place',
  EMFILE: 'raise the limit on open files (ulimit -n)',
}

/**
 * One clause that says why the system refused to use a path, and what to do, for errors that a person can fix; null for others.
 * @param setting that names another place
 */
export function pathTrouble(error: unknown, setting: string): string | null {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException
  const advice = code === undefined ? undefined : ADVICE[code]
  return advice === undefined ? null : `${message}; ${advice}, or set ${setting} to another folder`
}
