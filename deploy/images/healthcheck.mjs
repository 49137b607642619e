/** HEALTHCHECK of both images: 0 where the process answers /health. Readiness is the load balancer's to ask. */
const { env } = process
const isEdge = process.argv[2] === 'edge'
const { get } = isEdge && env.TLS_CERT_FILE ? await import('node:https') : await import('node:http')

const [host, port] = isEdge ? [env.API_HOST, env.API_PORT] : [env.CONTROL_HOST, env.CONTROL_PORT]
// By name: Node tries 127.0.0.1 and ::1, whichever the container has.
const hostname = ['*', '0.0.0.0', '::', '[::]'].includes(host) ? 'localhost' : host.replace(/^\[|\]$/g, '')
// Its certificate is for another name.
get({ hostname, port, path: '/health', timeout: 3_000, rejectUnauthorized: false }, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1)
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
