/** HEALTHCHECK of both images: exits with 0 if the process responds to /health. The load balancer checks readiness. */
// biome-ignore lint/style/noProcessEnv: this script loads no code of the gateway
const tls = process.env.TLS_CERT_FILE && process.argv[3] === 'edge'
const { get } = tls ? await import('node:https') : await import('node:http')

const port = Number(process.argv[2])
// The certificate is for another name.
get({ host: '127.0.0.1', port, path: '/health', timeout: 3_000, rejectUnauthorized: false }, (answer) => {
  process.exit(answer.statusCode === 200 ? 0 : 1)
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
