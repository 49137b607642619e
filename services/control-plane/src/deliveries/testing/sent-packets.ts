import { readFileSync } from 'node:fs'

/** The kernel's counts for the network of this process since its creation, over all protocols and addresses. */
export interface Sent {
  /** packets of IPv4 and IPv6 */
  readonly packets: number
  /** TCP connections that were started, answered or not */
  readonly connections: number
}

export function sent(): Sent {
  const v4 = readFileSync('/proc/net/snmp', 'utf8')
  const v6 = readFileSync('/proc/net/snmp6', 'utf8')
  return {
    packets: counter(v4, 'Ip', 'OutRequests') + Number(/^Ip6OutRequests\s+(\d+)/m.exec(v6)?.[1]),
    connections: counter(v4, 'Tcp', 'ActiveOpens'),
  }
}

/** Returns a counter from /proc, in which a line of names precedes each line of numbers. */
function counter(table: string, protocol: string, name: string): number {
  const [names, numbers] = table
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}:`))
    .map((line) => line.split(' '))
  const value = Number(numbers?.[names?.indexOf(name) ?? -1])
  if (!Number.isInteger(value)) throw new Error(`the kernel does not count ${protocol} ${name}`)
  return value
}
