/** Linux's PATH_MAX. */
const MAX_PATH_LENGTH = 4096

/**
 * True if `path` is the absolute path of a file that GDAL does not read as something else: a virtual file
 * system (`/vsicurl/`, `/vsizip/`), a connection string or subdataset (`WMS:...`, `NETCDF:"a.nc":x`), a URL
 * (`http://...`), or an inline document (`<VRTDataset>`). GDAL never gets the path itself, so quotes and angle brackets are
 * characters like others. Pure; does not check whether the file exists.
 */
export function isPlainPath(path: string): boolean {
  if (path.length > MAX_PATH_LENGTH) return false
  // All of these except virtual file systems do not start with a slash.
  if (!path.startsWith('/')) return false
  // Slashes are folded because `//vsicurl/` is one path for the kernel and may be another one for a library.
  const folded = path.replace(/\/+/g, '/')
  if (/^\/vsi/i.test(folded)) return false
  if (path.includes('://')) return false
  // Devices and process files are excluded: their content belongs to other processes.
  if (/^\/(dev|proc|sys)(\/|$)/.test(folded)) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this excludes control characters
  return !/[\u0000-\u001f\u007f]/.test(path)
}
