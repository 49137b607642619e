import { closeSync, readSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { openWithin } from '@gateway/core/files/open-within.js'
import { JPEG_2000_DRIVER } from './engines/engine.js'
import { quoted } from './failure.js'

/** The signature of a format: its bytes at an offset. */
interface Signature {
  readonly format: string
  readonly bytes: string | RegExp
  readonly kind?: 'subdatasets' | 'archive' | 'jpeg 2000'
}

const VRT = 'VRT (GDAL virtual raster)'

/** Signatures as text in ISO 8859-1. The longest one is the header of an ESRI grid. */
const SIGNATURES: readonly Signature[] = [
  { format: 'JPEG 2000', bytes: '\0\0\0\x0cjP  ', kind: 'jpeg 2000' },
  { format: 'JPEG 2000', bytes: '\xff\x4f\xff\x51', kind: 'jpeg 2000' },
  { format: 'Erdas Imagine (HFA, .img)', bytes: 'EHFA_HEADER_TAG' },
  { format: VRT, bytes: /^(?:\xef\xbb\xbf)?\s*<VRTDataset/ },
  { format: 'NetCDF', bytes: 'CDF\x01', kind: 'subdatasets' },
  { format: 'NetCDF', bytes: 'CDF\x02', kind: 'subdatasets' },
  { format: 'NetCDF', bytes: 'CDF\x05', kind: 'subdatasets' },
  { format: 'HDF5 or NetCDF-4', bytes: '\x89HDF\r\n\x1a\n', kind: 'subdatasets' },
  { format: 'HDF4', bytes: '\x0e\x03\x13\x01', kind: 'subdatasets' },
  { format: 'GRIB', bytes: 'GRIB' },
  { format: 'MRF', bytes: /^\s*<MRF_META/ },
  { format: 'MrSID', bytes: 'msid' },
  { format: 'ECW', bytes: 'e\x02\0' },
  { format: 'NITF', bytes: /^N(?:ITF|SIF)0/ },
  { format: 'PCIDSK', bytes: 'PCIDSK' },
  { format: 'GIF', bytes: 'GIF8' },
  { format: 'BMP', bytes: /^BM[\s\S]{4}\0\0\0\0/ },
  { format: 'WebP', bytes: /^RIFF[\s\S]{4}WEBP/ },
  { format: 'PDF', bytes: '%PDF-' },
  { format: 'GeoPackage, MBTiles or SQLite', bytes: 'SQLite format 3\0' },
  { format: 'ESRI ASCII grid', bytes: /^\s*ncols\s+\d/i },
  { format: 'DTED', bytes: /^(?:UHL1|VOL1|HDR1)/ },
  { format: 'zip', bytes: 'PK\x03\x04', kind: 'archive' },
  { format: 'gzip', bytes: '\x1f\x8b', kind: 'archive' },
  { format: '7z', bytes: "7z\xbc\xaf'\x1c", kind: 'archive' },
  { format: 'RAR', bytes: 'Rar!\x1a\x07', kind: 'archive' },
]

/** Number of bytes that are read. */
const HEAD_BYTES = 512

/**
 * Explains a file that GDAL's allowed drivers do not open: the format of its first bytes, and the command that converts
 * it. Returns null for a supported or unknown format.
 */
export async function foreignFormat(
  path: string,
  fd: number,
  roots: readonly string[],
  drivers: readonly string[],
): Promise<CodedMessage | null> {
  const head = Buffer.alloc(HEAD_BYTES)
  const text = head.toString('latin1', 0, readSync(fd, head, 0, HEAD_BYTES, 0))
  const source = quoted(path)
  const known = SIGNATURES.find(({ bytes }) => (typeof bytes === 'string' ? text.startsWith(bytes) : bytes.test(text)))
  // A virtual raster named like an image is more often an attack than a mistake, so no conversion is suggested.
  if (known?.format === VRT && extname(path).toLowerCase() !== '.vrt') return null
  if (known?.kind === 'jpeg 2000' && drivers.includes(JPEG_2000_DRIVER)) {
    return coded('slice_source_damaged', { source, format: known.format })
  }
  if (known?.kind === 'archive') return coded('slice_source_archive', { source, format: known.format })
  if (known?.kind === 'subdatasets') {
    const dataset = known.format === 'NetCDF' ? `NETCDF:"${path}":VARIABLE` : 'SUBDATASET'
    return coded('slice_source_subdatasets', { source, format: known.format, command: toGeotiff(dataset, path) })
  }
  const format = known?.format ?? (await enviBeside(path, roots))
  return format === null ? null : coded('slice_source_format', { source, format, command: toGeotiff(path, path) })
}

/** ENVI's pixels have no signature: a text file of the same name, or with an additional `.hdr`, describes them. */
async function enviBeside(path: string, roots: readonly string[]): Promise<string | null> {
  const stem = path.slice(0, path.length - extname(path).length)
  for (const header of [`${stem}.hdr`, `${path}.hdr`, `${stem}.HDR`]) {
    const opening = await openWithin(roots, header)
    if (!opening.ok) continue
    const start = Buffer.alloc(4)
    readSync(opening.fd, start, 0, 4, 0)
    closeSync(opening.fd)
    if (start.toString('latin1') === 'ENVI') return 'ENVI'
  }
  return null
}

/** Returns the shell command that makes a GeoTIFF. The user names a subdataset, after `gdalinfo`. */
function toGeotiff(input: string, path: string): string {
  const stem = path.slice(path.lastIndexOf('/') + 1, path.length - extname(path).length)
  return `gdal_translate -of COG ${shellQuoted(input)} ${shellQuoted(join(dirname(path), `${stem}-converted.tif`))}`
}

/** Quotes a word for a POSIX shell. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
