/** The outcome of `work`; rejects with `late` if there is none within so many milliseconds. The work goes on. */
export function within<T>(work: Promise<T>, limitMs: number, late: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(late)), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
