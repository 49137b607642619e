import net from 'node:net'
import { listenHost } from '@gateway/core/settings/address-hosts.js'
import { controlPlaneUrl, reachableHost, type Settings } from '@gateway/core/settings/load.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'

const ANSWER_WITHIN_MS = 2_000

/** Checks whether the listeners of this installation can listen, or already do. */
export async function checkPorts(settings: Settings, installation: Installation): Promise<readonly Finding[]> {
  const { apiHost, apiPort, controlHost, controlPort } = settings
  const scheme = settings.tlsCertFile === null ? 'http' : 'https'
  const checks: Promise<Finding>[] = []
  if (installation.edge) checks.push(check('API', apiHost, apiPort, scheme))
  // A single edge must reach the control plane of another machine.
  if (!installation.controlPlane) checks.push(checkControlPlane(controlPlaneUrl(settings)))
  else checks.push(check('CONTROL', controlHost, controlPort, 'http'))
  if (installation.controlPlane && installation.edge && apiPort === controlPort)
    return [fault('ports', `API_PORT and CONTROL_PORT are both ${apiPort}`, 'give one of them another number')]
  return Promise.all(checks)
}

async function check(name: string, host: string, port: number, scheme: string): Promise<Finding> {
  const error = await whyNotListen(listenHost(host), port)
  if (error === null) return ok('ports', `${name}_PORT ${port} on ${host} is free`)
  if (error.code !== 'EADDRINUSE')
    return fault(
      'ports',
      `${name}_HOST ${host} with ${name}_PORT ${port} cannot be listened on (${error.code})`,
      error.code === 'EACCES' ? 'choose a port above 1023' : `choose an address of this machine`,
    )
  return (await isGateway(`${scheme}://${reachableHost(host)}:${port}/health`))
    ? ok('ports', `${name}_PORT ${port} on ${host}: the gateway answers there`)
    : fault(
        'ports',
        `${name}_PORT ${port} on ${host} is taken by another program`,
        `end it (ss -ltnp 'sport = :${port}' names it), or choose another ${name}_PORT`,
      )
}

async function checkControlPlane(url: string): Promise<Finding> {
  return (await isGateway(`${url}/health`))
    ? ok('ports', `the control plane answers at ${url}`)
    : warn(
        'ports',
        `no control plane responds at ${url}`,
        'start one there, or correct CONTROL_HOST and CONTROL_PORT; without it the edge serves tiles, but nobody can administer the gateway',
      )
}

function whyNotListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = net.createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)))
  })
}

/** A certificate for another name is not a problem of the port. */
async function isGateway(url: string): Promise<boolean> {
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    const options = { timeout: ANSWER_WITHIN_MS, rejectUnauthorized: false }
    const request = get(url, options, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part) => {
        text += part
        if (text.length > 1_000) request.destroy()
      })
      answer.on('end', () => resolve(answer.statusCode === 200 && text.includes('"status"')))
    })
    request.on('timeout', () => request.destroy())
    request.on('close', () => resolve(false))
    request.on('error', () => resolve(false))
  })
}
