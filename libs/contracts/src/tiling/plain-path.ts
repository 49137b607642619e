/** Limit: Linux's PATH_MAX. */
const MAX_PATH_LENGTH = 4096

/**
 * Whether `path` is the absolute path of a file and nothing that GDAL would take for something else: a virtual file
 * system (`/vsicurl/`, `/vsizip/`), a connection string or subdataset (`WMS:...`, `NETCDF:"a.nc":x`), an address
 * (`http://...`), or a document given inline (`<VRTDataset>`). Pure: says nothing about whether the file exists.
 */
export function isPlainPath(path: string): boolean {
  if (path.length > MAX_PATH_LENGTH) return false
  // Everything but a virtual file system starts with something else than a slash.
  if (!path.startsWith('/')) return false
  // Slashes are folded because `//vsicurl/` is one path to the kernel and may be another one to a library.
  const folded = path.replace(/\/+/g, '/')
  if (/^\/vsi/i.test(folded)) return false
  if (path.includes('://')) return false
  // Devices and process files are regular paths to files that are not: what they hold is another process's.
  if (/^\/(dev|proc|sys)(\/|$)/.test(folded)) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
  return !/[\u0000-\u001f\u007f<>"]/.test(path)
}
