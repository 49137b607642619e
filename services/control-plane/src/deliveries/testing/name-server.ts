import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'

const HEADER_BYTES = 12
const TYPE_A = 1
const TYPE_AAAA = 28

/** Returns the addresses of a name at its `n`th look-up, from 1; null: no response is sent. */
export type Zone = (name: string, n: number) => readonly string[] | null

export interface NameServer {
  /** number of questions; each was answered by one packet */
  readonly questions: number
  close(): void
}

/** Starts a name server (RFC 1035) for A and AAAA at 127.0.0.1:53. A look-up asks for both, and both count as one. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked = new Map<string, number>()
  let questions = 0
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = parseQuestion(question)
    const n = (asked.get(`${name} ${type}`) ?? 0) + 1
    asked.set(`${name} ${type}`, n)
    questions++
    const addresses = zone(name, n)
    if (addresses !== null) socket.send(answerTo(question.subarray(0, end), type, addresses), port, address)
  })
  socket.bind(53, '127.0.0.1')
  await once(socket, 'listening')
  return {
    get questions() {
      return questions
    },
    close: () => socket.close(),
  }
}

function parseQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = packet.readUInt8(at); length > 0; length = packet.readUInt8(at)) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(question: Buffer, type: number, addresses: readonly string[]): Buffer {
  const wanted = addresses
    .map((text) => Buffer.from(ipaddr.parse(text).toByteArray()))
    .filter(({ length }) => (type === TYPE_A && length === 4) || (type === TYPE_AAAA && length === 16))
  const head = Buffer.from(question)
  // A response with recursion desired and available; one question and its answers.
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(wanted.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...wanted.flatMap((address) => [recordHead(type, address.length), address])])
}

/** The name refers to the question; class IN, no time to live. */
function recordHead(type: number, length: number): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc000 + HEADER_BYTES, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(length, 10)
  return head
}
