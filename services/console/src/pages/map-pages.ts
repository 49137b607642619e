/** Pages that begin with the map of a basemap: the first file of the bundle that a map needs, so it has only the part above the tabs. */
export { Page as BasemapPage } from './basemaps/basemap-page.js'
export { Page as VersionPage } from './basemaps/version-page.js'
