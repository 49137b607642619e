/** A process that accepts a connection and then says nothing is not ready. */
const ANSWER_WITHIN_MS = 2_000

/** Whether the readiness probe at this address answers 200 at this moment. Its certificate, where it has one, may be for another name. */
export async function isReady(url: string): Promise<boolean> {
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    const options = { timeout: ANSWER_WITHIN_MS, agent: false, rejectUnauthorized: false }
    const request = get(url, options, (answer) => {
      resolve(answer.statusCode === 200)
      request.destroy()
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('close', () => resolve(false))
  })
}
