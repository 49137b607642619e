/** Configuration of GDAL and PROJ for all untrusted files: no network, no sidecar files, no code in VRTs, little memory. */
export const GDAL_CONFIGURATION: Readonly<Record<string, string>> = {
  GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR',
  GDAL_PAM_ENABLED: 'NO',
  GDAL_DRIVER_PATH: 'disable',
  GDAL_CONFIG_FILE: '/nonexistent',
  GDAL_HTTP_PROXY: '127.0.0.1:9',
  GDAL_HTTP_TIMEOUT: '1',
  CPL_VSIL_CURL_ALLOWED_EXTENSIONS: '.none',
  CPL_CURL_ENABLE_VSIMEM: 'NO',
  PROJ_NETWORK: 'OFF',
  GDAL_VRT_ENABLE_PYTHON: 'NO',
  GDAL_VRT_ENABLE_RAWRASTERBAND: 'NO',
  GDAL_ERROR_ON_LIBJPEG_WARNING: 'TRUE',
  GDAL_TIFF_INTERNAL_MASK_TO_8BIT: 'YES',
  GDAL_CACHEMAX: '64',
  CPL_LOG_ERRORS: 'ON',
  // A library of GDAL, which takes 32 MB for each thread when it is loaded, and waits for ever for memory that a limit denies.
  OPENBLAS_NUM_THREADS: '1',
}
