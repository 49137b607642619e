/** Other pages of basemaps, vectors and styles, in one file of the bundle. */
export { Page as BasemapsComparePage } from './basemaps/compare-page.js'
export { Page as VersionsPage } from './basemaps/versions-page.js'
export { Page as PreviewPage } from './preview/preview-page.js'
export { Page as StylesComparePage } from './styles/compare-page.js'
export { Page as StylePage } from './styles/style-page.js'
export { Page as StylesPage } from './styles/styles-page.js'
export { Page as VectorPage } from './vectors/vector-page.js'
export { Page as VectorsPage } from './vectors/vectors-page.js'
