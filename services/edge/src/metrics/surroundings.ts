import { diskSpace } from '@gateway/core/files/disk-space.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { readTlsPair } from '@gateway/core/settings/tls-pair.js'
import { Gauge, type Registry } from 'prom-client'

/**
 * Registers metrics of resources that an edge's operator has to provide in time: disk space and a valid certificate. All workers report the same
 * values.
 */
export function surroundings(registry: Registry, settings: Settings): void {
  const disk = (name: string, help: string, value: (space: { free: number; total: number }) => number) =>
    new Gauge({
      name,
      help,
      aggregator: 'min',
      registers: [registry],
      async collect() {
        const space = await diskSpace(settings.dataDir)
        if (space === null) this.remove()
        else this.set(value(space))
      },
    })
  disk('gateway_disk_free_bytes', 'Free space on the disk of DATA_DIR', ({ free }) => free)
  disk('gateway_disk_bytes', 'Size of the disk of DATA_DIR', ({ total }) => total)
  new Gauge({
    name: 'gateway_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate in TLS_CERT_FILE ends, in seconds since 1970',
    aggregator: 'min',
    registers: [registry],
    collect() {
      const endsAt = certificateEnd(settings)
      if (endsAt === null) this.remove()
      else this.set(endsAt)
    },
  })
}

/**
 * Returns the time in seconds since 1970, or null if the edge does not end TLS. Null also if the files are not a valid pair: the previous
 * pair is then in force, and the log says why.
 */
function certificateEnd(settings: Settings): number | null {
  try {
    const pair = readTlsPair(settings)
    return pair === null ? null : Date.parse(pair.certificate.validTo) / 1000
  } catch {
    return null
  }
}
