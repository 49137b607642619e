import { crc32, deflateSync } from 'node:zlib'

const svg = (width: number, height: number, inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height}">${inner}</svg>`

const RECTANGLE = '<rect width="9" height="9" fill="red"/>'

/** Each group draws the one before it ten times. */
function references(): string {
  const groups = Array.from({ length: 12 }, (_, i) => {
    const inner = i === 0 ? RECTANGLE : `<use xlink:href="#g${i - 1}"/>`.repeat(10)
    return `<g id="g${i}">${inner}</g>`
  })
  return `<defs>${groups.join('')}</defs><use xlink:href="#g11"/>`
}

/** A picture of 30,000 x 30,000 black pixels, in a few kilobytes. */
function hugePng(): Buffer {
  const side = 30_000
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side)
  head.writeUInt32BE(side, 4)
  // Bits per pixel.
  head.set([1, 0, 0, 0, 0], 8)
  const pixels = deflateSync(Buffer.alloc(side * (side / 8 + 1)))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const entities = `<!DOCTYPE svg [<!ENTITY a0 "aaaaaaaaaa">${Array.from({ length: 10 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')}]>`

const filters = Array.from(
  { length: 200 },
  (_, i) => `<feMorphology operator="dilate" radius="200" in="SourceGraphic" result="r${i}"/>`,
).join('')

/** Drawings that no program should trust, by what is wrong with them. */
export const HOSTILE_DRAWINGS: Readonly<Record<string, () => string | Buffer>> = {
  'wide filters': () =>
    svg(
      512,
      512,
      `<filter id="f" x="0" y="0" width="1" height="1">${filters}</filter><rect width="512" height="512" fill="red" filter="url(#f)"/>`,
    ),
  'references that multiply': () => svg(64, 64, references()),
  'a reference to itself': () => svg(64, 64, '<g id="a"><use xlink:href="#a"/></g>'),
  'a huge size': () => svg(1_000_000, 1_000_000, RECTANGLE),
  'no size': () => svg(0, 0, RECTANGLE),
  'a file from outside': () => svg(64, 64, '<image width="64" height="64" xlink:href="file:///etc/hostname"/>'),
  'entities that multiply': () => `${entities}${svg(64, 64, '<text y="20">&a10;</text>')}`,
  'elements within elements': () => svg(64, 64, `${'<g>'.repeat(50_000)}${RECTANGLE}${'</g>'.repeat(50_000)}`),
  'a huge picture inside': () =>
    svg(64, 64, `<image width="64" height="64" xlink:href="data:image/png;base64,${hugePng().toString('base64')}"/>`),
  'a huge picture instead of a drawing': hugePng,
  'a pattern of tiny parts': () =>
    svg(
      512,
      512,
      `<pattern id="p" width="0.001" height="0.001" patternUnits="userSpaceOnUse">${RECTANGLE}</pattern><rect width="512" height="512" fill="url(#p)"/>`,
    ),
  'a wide blur of much turbulence': () =>
    svg(
      512,
      512,
      `<filter id="f" x="-9" y="-9" width="99" height="99"><feTurbulence baseFrequency="0.5" numOctaves="200000"/><feGaussianBlur stdDeviation="200"/></filter><rect width="512" height="512" filter="url(#f)"/>`,
    ),
}
