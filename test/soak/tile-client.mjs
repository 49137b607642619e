/**
 * Asks for tiles, one after the other, until the parent sends a message, and sends back the percentile 99 of their times in ms. It is a separate process, so
 * that the work of the parent's other clients is not in its times.
 */
const [url, token] = process.argv.slice(2)
const times = []
let failures = 0
let isOver = false
process.once('message', () => {
  isOver = true
})
for (let i = 0; !isOver; i++) {
  const startedAt = performance.now()
  const answer = await fetch(`${url}/tiles/world/v1/3/${i % 8}/${(i >> 3) % 8}.png`, {
    headers: { 'x-access-token': token },
  })
  await answer.arrayBuffer()
  times.push(performance.now() - startedAt)
  if (answer.status !== 200) failures++
}
times.sort((a, b) => a - b)
const at = (share) => times[Math.floor(times.length * share)] ?? 0
process.send({ p50: at(0.5), p99: at(0.99), failures, asked: times.length })
process.disconnect()
