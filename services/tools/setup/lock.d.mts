export type LockAttempt =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly pid: number }

export function tryLock(path: string): LockAttempt
export function waitForLock(path: string, onWait: (pid: number) => void, toldAfterMs?: number): Promise<() => void>
