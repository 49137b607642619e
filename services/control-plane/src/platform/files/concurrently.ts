/** Works on items, at most `limit` at a time. After the first error no further item starts, and the error is thrown when all work has ended. */
export async function concurrently<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let failed: { readonly error: unknown } | null = null
  try {
    for await (const item of items) {
      const one: Promise<void> = work(item)
        .catch((error) => {
          failed ??= { error }
        })
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= limit) await Promise.race(running)
      if (failed !== null) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failed !== null) throw (failed as { readonly error: unknown }).error
}
