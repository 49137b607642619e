/**
 * The addresses of the read interface by protocol, with `{}` around what varies. The edge routes and decides by this table, forward-auth compares
 * with it, the OpenAPI document describes each form, and docs/reference/addresses.md lists them. Forms with the same text in the documentation
 * follow each other; a form without a text belongs to the one before it.
 */
export const ADDRESSES = {
  xyz: [
    { form: '/tiles/{code}/{version}/{z}/{x}/{y}.{ext}', text: 'a tile; `current` is the default version' },
    { form: '/tiles/{code}/{z}/{x}/{y}.{ext}', text: 'a tile of the default version' },
    {
      form: '/tiles/{code}/tilejson.json',
      text: 'TileJSON 3.0; its tile addresses name the version and its revision (`?v=3`), and with a token in the query they carry it too',
    },
    { form: '/tiles/{code}/{version}/tilejson.json' },
  ],
  basemapStyle: [{ form: '/tiles/{code}/style.json', text: 'a plain style of the basemap (`theme=dark`)' }],
  vectorStyle: [
    {
      form: '/vectors/{code}/style.json',
      text: 'a plain style of the vector (`theme=dark`); without tiles it draws the GeoJSON of a file of up to 20 MB, and otherwise returns 404 with the reason',
    },
  ],
  vectorDownload: [
    {
      form: '/vectors/{code}/download',
      text:
        'the file, in ranges too; a shapefile as a zip with its sidecar files (`.qml`, `.sld`, indexes, metadata), with a `.cpg` if it has none and ' +
        'its `encoding` is known, or if the encoding was set',
    },
  ],
  vectorTileJson: [
    {
      form: '/vectors/{code}/tilejson.json',
      text: 'TileJSON 3.0 of the vector tiles, with the revision that is served',
    },
    { form: '/vectors/{code},{other}/tilejson.json', text: 'TileJSON of the tiles of several vectors' },
  ],
  vectorTiles: [
    {
      form: '/vectors/{code}/tiles/{z}/{x}/{y}.mvt',
      text: 'a vector tile, also as `.pbf`; 204 if it is empty, 404 outside the zoom range and the grid',
    },
    {
      form: '/vectors/{code},{other}/tiles/{z}/{x}/{y}.mvt',
      text:
        'the layers of several vectors in one tile, for tokens that may read all of them; at most 16 codes, separated by commas; 400 if two layers have the ' +
        'same name',
    },
  ],
  vectorFile: [
    {
      form: '/vectors/{code}.geojson',
      text:
        'the vector in this format (`.zip` is a shapefile); the stored format unchanged if it is complete and in UTF-8, others converted once and cached (`crs` names a ' +
        'coordinate system)',
    },
    { form: '/vectors/{code}.zip' },
    { form: '/vectors/{code}.gpkg' },
    { form: '/vectors/{code}.fgb' },
    { form: '/vectors/{code}.csv' },
    { form: '/vectors/{code}.geojsonl' },
    { form: '/vectors/{code}.kml' },
    { form: '/vectors/{code}.kmz' },
    { form: '/vectors/{code}.gml' },
    { form: '/vectors/{code}.gpx' },
    { form: '/vectors/{code}.dxf' },
  ],
  geojsonByPath: [{ form: '/geojson/{relative_path}', text: 'a GeoJSON file by its original path' }],
  shapefileByPath: [{ form: '/shp/{relative_path}', text: 'a shapefile by its original path, as a zip' }],
  archives: [
    { form: '/archives/{code}/{version}.pmtiles', text: 'a version that is an archive, whole or in ranges' },
    { form: '/archives/{code}/{version}.mbtiles' },
  ],
  styles: [
    { form: '/styles/{code}/style.json', text: 'a MapLibre style, with its sprites and data files' },
    { form: '/styles/{code}/sprite.json' },
    { form: '/styles/{code}/sprite.png' },
    { form: '/styles/{code}/sprite@2x.json' },
    { form: '/styles/{code}/sprite@2x.png' },
    { form: '/styles/{code}/{file}' },
    {
      form: '/styles/{code}/{z}/{x}/{y}.{ext}',
      text: 'a style, or the plain style of a vector, drawn as tiles and static maps ([pictures](../howto/pictures.md))',
    },
    { form: '/styles/{code}/static/{view}/{size}.{ext}' },
    { form: '/styles/{code}/tilejson.json' },
  ],
  fonts: [{ form: '/fonts/{fontstack}/{range}.pbf', text: 'a range of glyphs' }],
  wmts: [
    {
      form: '/wmts',
      text: 'WMTS 1.0.0 of the basemaps and the drawn styles that the token may read, KVP and RESTful; QGIS, ArcGIS, GDAL, OpenLayers',
    },
  ],
  wmtsResource: [{ form: '/wmts/1.0.0/WMTSCapabilities.xml', text: 'the capabilities of the WMTS' }],
  wms: [
    {
      form: '/wms',
      text: 'WMS 1.3.0 and 1.1.1: pictures of any size and place from the tiles of basemaps and drawn styles, and the features of vectors ([WMS](../howto/wms.md))',
    },
  ],
  tms: [
    { form: '/tms/1.0.0', text: 'TMS 1.0.0, rows counted from the south' },
    { form: '/tms/1.0.0/{code}' },
    { form: '/tms/1.0.0/{code}/{z}/{x}/{y}.{ext}' },
  ],
  ogcStyles: [
    { form: '/ogc/styles', text: 'OGC API – Styles' },
    { form: '/ogc/styles/{styleId}' },
    { form: '/ogc/styles/{styleId}/metadata' },
  ],
  ogc: [
    { form: '/ogc', text: 'OGC API – Tiles 1.0 and [OGC API – Features](../howto/features.md)' },
    { form: '/ogc/api' },
    { form: '/ogc/conformance' },
    { form: '/ogc/collections' },
    { form: '/ogc/collections/{code}' },
    { form: '/ogc/collections/{code}/items' },
    { form: '/ogc/collections/{code}/items/{id}' },
    { form: '/ogc/collections/{code}/queryables' },
    { form: '/ogc/collections/{code}/schema' },
    { form: '/ogc/collections/{code}/map/tiles' },
    { form: '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}' },
    { form: '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}' },
    { form: '/ogc/collections/{code}/tiles' },
    { form: '/ogc/collections/{code}/tiles/{tileMatrixSetId}' },
    { form: '/ogc/collections/{code}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}' },
    { form: '/ogc/tileMatrixSets' },
    { form: '/ogc/tileMatrixSets/{tileMatrixSetId}' },
  ],
  arcgis: [
    {
      form: '/arcgis/rest/services',
      text: 'ArcGIS REST for tiles; its errors have Esri’s form ([ArcGIS](../howto/arcgis.md))',
    },
    { form: '/arcgis/rest/info' },
    { form: '/arcgis/rest/services/{code}/MapServer' },
    { form: '/arcgis/rest/services/{code}/MapServer/tile/{level}/{row}/{column}' },
    { form: '/arcgis/rest/services/{code}/MapServer/tilemap/{level}/{row}/{column}/{width}/{height}' },
    { form: '/arcgis/rest/services/{code}/VectorTileServer' },
    { form: '/arcgis/rest/services/{code}/VectorTileServer/tile/{z}/{y}/{x}.pbf' },
    { form: '/arcgis/rest/services/{code}/VectorTileServer/resources/styles/root.json' },
  ],
  tianditu: [
    {
      form: '/tianditu/{code}_{set}/wmts',
      text: 'a raster basemap or a drawn style for Tianditu’s requests (`w` or `c`), with the token in `tk` ([Tianditu](../howto/tianditu.md))',
    },
    { form: '/tianditu/{code}_{set}/DataServer' },
  ],
  catalogBasemaps: [
    {
      form: '/api/v1/catalog/basemaps',
      text: 'the basemaps that the token may read, from the memory of the edge; with a weak `ETag`',
    },
    { form: '/api/v1/catalog/basemaps/{code}' },
  ],
  catalogVectors: [
    { form: '/api/v1/catalog/vectors', text: 'the vectors' },
    { form: '/api/v1/catalog/vectors/{code}' },
  ],
  catalogStyles: [{ form: '/api/v1/catalog/styles', text: 'the styles' }, { form: '/api/v1/catalog/styles/{code}' }],
  changes: [{ form: '/api/v1/catalog/basemaps/{code}/changes', text: 'the tiles that differ between two versions' }],
  exportedArchives: [
    {
      form: '/api/v1/catalog/basemaps/{code}/archives',
      text: 'the archives from which a device can keep a copy',
    },
    { form: '/api/v1/catalog/basemaps/{code}/archives/{id}' },
  ],
} as const satisfies Readonly<Record<string, readonly AddressForm[]>>

export interface AddressForm {
  readonly form: string
  /** Its line in the documentation. */
  readonly text?: string
}

export type AddressProtocol = keyof typeof ADDRESSES

/** Returns the table of docs/reference/addresses.md. */
export function addressesTable(): string {
  const rows: { forms: string[]; text: string }[] = []
  for (const { form, text } of Object.values<readonly AddressForm[]>(ADDRESSES).flat()) {
    if (text !== undefined) rows.push({ forms: [form], text })
    else rows.at(-1)?.forms.push(form)
  }
  const lines = rows.map(({ forms, text }) => `| ${forms.map((form) => `\`${form}\``).join(', ')} | ${text} |`)
  return ['| Address | What |', '|---|---|', ...lines].join('\n')
}
