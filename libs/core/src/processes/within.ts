/** Returns the outcome of `work`, or rejects with `late` if it takes longer than `limitMs`. The work continues. */
export function within<T>(work: Promise<T>, limitMs: number, late: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(late)), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
