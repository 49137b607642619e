/** HEALTHCHECK of both images: 0 where the process answers /health. Readiness is the load balancer's to ask. */
import { get } from 'node:http'

const port = Number(process.argv[2])
get({ host: '127.0.0.1', port, path: '/health', timeout: 3_000 }, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1)
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
