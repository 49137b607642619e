import { join } from 'node:path'

/** Where the archives of exports are. Control planes of one cluster share it, as they share the logs of slice jobs. */
export const exportDirectory = (dataDir: string): string => join(dataDir, 'exports')

export const exportFileName = (id: string): string => `${id}.pmtiles`
