import { afterAll, beforeAll } from 'vitest'

/**
 * Provides something for all tests of a file or a describe block: made before them, and ended after them if it was made. Resources end in the
 * reverse order of their calls, and a failure to make one neither keeps the others from ending nor hides behind an error of its own end.
 * @returns the resource; to be called inside hooks and tests
 */
export function useResource<T>(make: () => T | Promise<T>, end: (resource: T) => unknown): () => T {
  let made: { readonly resource: T } | undefined
  beforeAll(async () => {
    made = { resource: await make() }
  })
  afterAll(async () => {
    if (made !== undefined) await end(made.resource)
  })
  return () => {
    if (made === undefined) throw new Error('the resource is there during hooks and tests only')
    return made.resource
  }
}
