/**
 * Warnings of scans; see `../messages.ts`. Each names the remedy. `file` and `folder` are quoted paths below the scan
 * source. A pair describes one file, or many of a kind in one folder (`count`, `folder`, and one file as `example`).
 */
export const SCAN_MESSAGES = {
  scan_image: {
    one: '{file} is left out: it is an image ({format}); if it has a place on the map, slice it (console: Slicing; POST /api/v1/slice/jobs)',
    many: '{count} files in {folder} are left out, such as {example}: they are images ({format}); those with a place on the map can be sliced (console: Slicing; POST /api/v1/slice/jobs)',
  },
  scan_image_to_convert: {
    one: '{file} is left out: it is an image in the format {format}; convert it and slice the result: gdal_translate -of COG INPUT OUTPUT.tif',
    many: '{count} files in {folder} are left out, such as {example}: they are images in the format {format}; convert each and slice the results: gdal_translate -of COG INPUT OUTPUT.tif',
  },
  scan_geotiff_not_served: {
    one: '{file} is left out: {reason}; if it has a place on the map, slice it (console: Slicing; POST /api/v1/slice/jobs)',
    many: '{count} files in {folder} are left out, such as {example}: {reason}; those with a place on the map can be sliced (console: Slicing; POST /api/v1/slice/jobs)',
  },
  scan_raster_geopackage: {
    one: '{file} is left out: this GeoPackage holds raster tiles; move it into a basemap source',
    many: '{count} files in {folder} are left out, such as {example}: these GeoPackages hold raster tiles; move them into a basemap source',
  },
  scan_vector_to_pack: {
    one: '{file} is left out: the format {format} is read only in a zip; pack all its files into one',
    many: '{count} files in {folder} are left out, such as {example}: the format {format} is read only in a zip; pack the files into one',
  },
  scan_vector_to_convert: {
    one: '{file} is left out: the format {format} is not served; convert it: ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
    many: '{count} files in {folder} are left out, such as {example}: the format {format} is not served; convert each: ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
  },
  scan_zip_of_tiles: {
    one: '{file} is left out: this zip holds tiles; unpack it into a basemap source',
    many: '{count} files in {folder} are left out, such as {example}: these zips hold tiles; unpack them into a basemap source',
  },
  scan_zip_of_vectors: {
    one: '{file} is left out: this zip holds vector data; unpack it into a vector source',
    many: '{count} files in {folder} are left out, such as {example}: these zips hold vector data; unpack them into a vector source',
  },
  scan_archive: {
    one: '{file} is left out: it is a packed file ({format}); unpack it',
    many: '{count} files in {folder} are left out, such as {example}: they are packed files ({format}); unpack them',
  },
  scan_broken_archive: {
    one: '{file} is left out: this zip cannot be read ({reason}); pack it again',
    many: '{count} files in {folder} are left out, such as {example}: these zips cannot be read ({reason}); pack them again',
  },
  scan_tiles_in_vector_source: {
    one: '{file} is left out: it holds tiles ({format}); move it into a basemap source',
    many: '{count} files in {folder} are left out, such as {example}: they are tiles or hold tiles ({format}); move them into a basemap source',
  },
  scan_vector_in_basemap_source: {
    one: '{file} is left out: it is vector data ({format}); move it into a vector source',
    many: '{count} files in {folder} are left out, such as {example}: they are vector data ({format}); move them into a vector source',
  },
  scan_geopackage_in_basemap_source: {
    one: '{file} is left out: this GeoPackage holds no tiles; move vector data into a vector source',
    many: '{count} files in {folder} are left out, such as {example}: these GeoPackages hold no tiles; move vector data into a vector source',
  },
  scan_package_not_served: {
    one: '{file} is left out: it is an {format}, which is not served; export it as MBTiles or PMTiles, or as {z}/{x}/{y} folders',
    many: '{count} files in {folder} are left out, such as {example}: they are of the format {format}, which is not served; export each as MBTiles or PMTiles, or as {z}/{x}/{y} folders',
  },
  scan_sqlite_in_basemap_source: {
    one: '{file} is left out: it is a database; if it is MBTiles, rename it to .mbtiles',
    many: '{count} files in {folder} are left out, such as {example}: they are databases; if they are MBTiles, rename them to .mbtiles',
  },
  scan_csv_without_coordinates: {
    one: '{file} is left out: this CSV has no columns of coordinates; name them in its first line, for example lon and lat',
    many: '{count} files in {folder} are left out, such as {example}: these CSVs have no columns of coordinates; name them in the first line, for example lon and lat',
  },
  scan_part_without_shapefile: {
    one: '{file} is left out: it is a part of a shapefile whose .shp is missing',
    many: '{count} files in {folder} are left out, such as {example}: they are parts of shapefiles whose .shp is missing',
  },
  scan_unknown_file: {
    one: '{file} is left out: no format is known by the extension {format}',
    many: '{count} files in {folder} are left out, such as {example}: no format is known by the extension {format}',
  },
  scan_unreadable_by_gdal: '{file} is left out: it cannot be read as {format}: {reason}',
  scan_late:
    '{file} is left out: GDAL could not read it within {seconds} s; convert it: ogr2ogr -f GPKG OUTPUT.gpkg INPUT',
  scan_no_features: '{file} is left out: it has no layer of features',
  scan_too_large: 'the properties of {file} are unknown: it has more than {limit} MB',
  scan_sequence_named_geojson:
    '{file} is a sequence of GeoJSON features, one in each line, and not a GeoJSON document; it is served as a sequence: rename it to .geojsonl, or convert it for clients that expect GeoJSON (ogr2ogr -f GeoJSON OUTPUT.geojson GeoJSONSeq:INPUT)',
  scan_geojson_encoding:
    '{file} is encoded in {encoding}, and GeoJSON has to be UTF-8: clients would show garbled text; convert it: iconv -f {encoding} -t UTF-8 INPUT > OUTPUT',
  scan_json_encoding_unknown:
    '{file} is not UTF-8, and its encoding is not known: it is read as Windows-1252, which may garble its texts; set the encoding of the vector, or save it as UTF-8',
  scan_shapefile_encoding:
    '{file} does not say how its texts are encoded; they look like {encoding}: set the encoding of the vector, or put a .cpg next to it',
  scan_shapefile_encoding_unknown:
    '{file} does not say how its texts are encoded, and they are not UTF-8: set the encoding of the vector, or put a .cpg next to it',
  scan_shapefile_cpg_unknown:
    '{file} has a .cpg that names no known encoding ({encoding}): set the encoding of the vector, or correct the .cpg',
  scan_layout_not_served:
    '{folder} holds tiles in the layout {layout}, which is not served; convert them to {z}/{x}/{y} folders, MBTiles or PMTiles',
  scan_no_tile_set: '{folder} holds no tile set',
  scan_no_tiles: '{file} holds no tiles',
  scan_warnings: '{count} warnings: {texts}',
  scan_stopped: 'the control plane stopped during this scan',
  scan_lease_lost: 'the store did not answer during this scan, or another control plane took over',
  scan_stopped_here: 'the control plane was stopped during this scan',
  scan_cancelled: 'cancelled by {actor}',
  scan_stalled: '{path} does not answer: no progress for {seconds} s',
  postgis_many:
    'only the first {limit} tables, views and functions are published; list those that you need in tables and functions',
  postgis_writes: 'the role {role} may write ({tables}); give the gateway a role that may only read',
  postgis_no_srid: '{table} is left out: its column {column} has no SRID; set srid in the options',
  postgis_unknown_srid: '{table} is left out: the database has no definition of its SRID {srid}',
  postgis_no_column: '{table} is left out: it has no column {column} that the role may read',
  postgis_not_found: 'the database has no {table} that the role may read',
  postgis_no_index: '{table} has no spatial index on its column {column}, so that every tile reads the whole table',
  postgis_unreachable: 'the database cannot be read: {words}',
  postgis_absent: 'PostGIS 3 is not on the search path of the role',
  source_path_missing: '{name} is missing',
  source_only_database: '{name} is only for sources of kind postgis',
  service_unreadable: 'the service cannot be read: {words}',
  service_no_layers: 'the service has no layer that can be served',
  service_layer_absent: 'the service has no layer {layer}',
  service_layer_grid: 'layer {layer} is left out: its tiles lie in no grid that the gateway serves',
  service_layer_format: 'layer {layer} is left out: it has no format that the gateway serves',
  service_layer_address: 'layer {layer} is left out: its description names no address of tiles',
  scan_root_missing: '{path} is missing: nothing was changed',
  scan_root_replaced: '{path} was replaced or unmounted during the scan',
  scan_root_no_directory: '{path} is not a directory',
  scan_root_empty: 'the directory is empty; if it is a mount point, is the disk mounted?',
  scan_root_unlisted: '{path} cannot be listed: an http source of vectors is one .geojson, .gpkg or .fgb file',
  scan_prefix_empty: 'there is nothing below this prefix',
  scan_permission: 'permission denied: {words}',
  scan_storage: '{path}: {words}',
  scan_no_credentials:
    '{path}: no credentials for object storage are set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in config/service.env or the ' +
    'environment of every control plane and edge, and restart them',
  scan_disk_error: '{file}: {words}',
  scan_same_version: '{file} is left out: {served} is the same version',
  scan_code_taken: '{file} is left out: the code belongs to scan source {source}',
  scan_alias: '{file} is left out: "{alias}" is an alias and cannot be a version\'s label',
  scan_no_code:
    '{file} is left out: a code or version is one path segment of at most 200 characters that begins with neither . nor *',
  scan_no_path: '{file} is left out: its path is too long or holds control characters or backslashes',
  scan_name_not_utf8: '{file} is left out: its name is not UTF-8',
  scan_link_outside: '{file} is left out: it is a link that leads out of the source',
  scan_link_loop: '{file} is left out: it is a link that leads back to itself',
  scan_link_nowhere: '{file} is left out: it is a link that leads nowhere',
  scan_cut_off: '{file} is left out: it is cut off, or still being written',
  scan_no_geojson: '{file} is left out: it is not GeoJSON',
  scan_left_out: '{file} is left out: {@reason}',
  scan_open_elsewhere: '{file} is open in another program: data that the program has not written yet is not served',
  scan_tells_nothing: 'the properties of {file} are unknown: {@reason}',
  scan_part_missing: '{file} lacks its {part}',
  scan_parts_missing: '{file} lacks its .shx and .dbf',
  scan_doubt: '{file}: {@reason}',
  scan_not_servable: '{file} cannot be served: {@reason}',
  scan_table_left_out: '{file}: table {table} is left out, because its name cannot be part of a code',
  scan_stays: '{file} stays as it was: {@reason}',
  style_invalid_line: '{file}, line {line}: {reason}; the style is left out, and the last valid document of it stays',
  style_invalid: '{file}: {reason}; the style is left out, and the last valid document of it stays',
  style_doubtful_line: '{file}, line {line}: {reason}; the style is used',
  style_doubtful: '{file}: {reason}; the style is used',
  style_code_taken: '{file} is left out: there is another style of the code {code}',
  style_code_unusable: '{file} is left out: its name cannot be a code; rename it',
  style_file_missing: 'the style {style} names the file {path}, which is not in its folder or may not be served',
  style_source_missing: 'the style {style} needs the {kind} {code}, which is missing: its source {source} stays empty',
  style_font_missing: 'the style {style} needs the font {font}, which is missing: labels are drawn in {instead}',
  style_icon_missing: 'the style {style} needs the icon {icon}, which its sprites do not have: it is not drawn',
  style_sprite_missing:
    'the style {style} needs a sprite of the style {code}, which is missing: its icons are not drawn',
  style_sprite_broken: '{file} cannot be used as a sprite: {reason}',
  style_drawing_broken: '{file} is left out of its sprite: {reason}',
  style_font_broken: '{file} cannot be used as a font: {reason}',
  style_font_empty:
    '{folder} is not a font: it has neither glyph ranges (0-255.pbf) nor a font file (.ttf, .otf, .ttc)',
} as const
