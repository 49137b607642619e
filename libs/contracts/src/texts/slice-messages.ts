/** Texts about slice jobs; see `../messages.ts`. `source` is a quoted path, `command` a line for a shell. */
export const SLICE_MESSAGES = {
  slice_zoom_max_missing:
    'zoom_max is not given, so only zoom {zoom} is made; give zoom_max, or "native" for the zoom of the images\' own resolution',
  slice_tile_format_replaced: 'tile_format {asked} is kept as metadata only: new tiles are written as {format}',
  slice_target_code_changed: 'target_code {asked} is reduced to {code}: characters beyond ASCII are removed',
  slice_source_repeated: {
    one: 'source_paths names one image more than once: {example}',
    many: 'source_paths names {count} images more than once, such as {example}',
  },
  slice_code_known:
    'the job with the code {code} exists already and is returned; this submission differs from it ({fields}) and queues nothing: use another code for a new job',
  slice_zoom_min_above_native:
    "zoom_min {zoom_min} is above {native}, the zoom of the images' own resolution: every tile is enlarged; set zoom_min to {native} or less",
  slice_zoom_max_above_native:
    'zoom_max {zoom_max} is above {native}, the zoom of the images\' own resolution: deeper tiles show no more detail; "native" stops at that zoom',
  slice_source_format:
    'the source {source} is in the format {format}, which slicing does not read; convert it and submit the result: {command}',
  slice_source_subdatasets:
    'the source {source} is in the format {format}, which may hold several images; list them with gdalinfo, convert one and submit the result: {command}',
  slice_source_archive: 'the source {source} is a packed file ({format}); unpack it and submit what is in it',
  slice_source_damaged:
    'the source {source} is a {format} image that cannot be read: it is damaged, or has an unsupported encoding',
  slice_gcps_unusable:
    'the source {source} is placed by {count} ground control points, which do not determine its place; give it more or better ones, or warp it first: {command}',
  slice_source_rpc:
    'the source {source} is placed only by RPCs (a camera model that needs heights), which slicing does not apply; warp it first and submit the result: {command}',
  slice_source_names_file:
    'the source {source} names another file for its overviews, which slicing does not follow; remove the metadata item OVERVIEW_FILE',

  slice_cancelled: 'cancelled by an administrator',
  slice_cancelled_by: 'cancelled by {actor} at {at}',
  slice_disk_room:
    'the disk would not hold the layer: about {needed} MB are needed for {tiles} tiles and work space, {free} MB are free, of which {kept} MB are kept',
  slice_image_outside: 'an image in object storage lies outside of what SLICE_SOURCE_ROOTS names',
  slice_fetch_limit: 'the images in object storage have {bytes} bytes; SLICE_FETCH_MAX_BYTES allows {limit}',
  slice_fetch_room: 'the disk of DATA_DIR would not hold the {bytes} bytes of the images in object storage',
  slice_fetch_failed: '{path} cannot be fetched: {reason}',
  slice_gdal_missing:
    'the tiling tool was asked to use GDAL, but this machine has no usable GDAL (3.4 or later, Linux)',
  slice_source_picture: 'the source {source} is a picture; an elevation model has one band of heights',
  slice_source_alpha:
    'the source {source} has an alpha band that is not a mask; declare a nodata value for its heights instead',
  slice_layer_of_other_tiles:
    'the layer consists of {format} tiles, which new images cannot be merged into; rebuild it from all its sources',
  slice_source_off_map: 'the source {source} lies nowhere on the map, which ends at {degrees} degrees north and south',
  slice_crs_unusable: 'a coordinate reference system of the sources is not usable',
  slice_too_many_tiles:
    'zooms {zoom_min} to {zoom_max} of these images are up to {tiles} tiles; at most {limit} are allowed',
  slice_layer_tile_size: 'the layer consists of tiles of {has} pixels; images cannot be merged into it with {asked}',
  slice_layer_grid: 'the tiles of the layer lie in {has}; images cannot be merged into it in {asked}',
  slice_layer_encoding: 'the encoding of the layer is {has}; images cannot be merged into it as {asked}',
  slice_too_many_pixels: 'the sources have more than {limit} pixels, which is the limit for one job',
  slice_no_disk_space: 'there is not enough disk space: about {wanted} would be needed, {free} are free',
  slice_source_without_crs:
    'the source {source} has no coordinate reference system, neither inside nor in a .prj or .aux.xml next to it',
  slice_crs_not_on_earth: 'the coordinate reference system of {source} cannot be placed on the earth',
  slice_source_without_place: 'the source {source} has no georeferencing: where its pixels lie is not known',
  slice_place_damaged: 'the georeferencing of {source} is damaged: its pixels have no size',
  slice_source_not_suitable: 'the source {source} {@reason}',
  slice_header_late: 'the header of {source} could not be read in time or in reasonable space',
  slice_source_codec: 'the source {source} is compressed by {codec}, which {engine} cannot read',
  slice_source_unreadable: 'the source {source} is not a readable GeoTIFF, JPEG or PNG image, or is damaged',
  slice_header_nonsense: 'the header of {source} makes no sense',
  slice_nothing_visible: 'the sources hold no visible pixels: the result has no tile',
  slice_source_changed: 'the source {source} was changed while it was being read',
  slice_pixels_unreadable: 'the pixels of {source} cannot be read: the file is damaged or cut short',
  slice_disk_full: 'the disk is full: there is not enough free space for the tiles or the scratch files',
  slice_tool_late: 'the job took longer than the {seconds} seconds it may take',
  slice_code_of_source: 'the basemap {basemap} belongs to scan source {source}; choose another target_code',
  slice_tool_failed: 'internal error of the tiling tool: {words}',
  slice_standstill: 'reading the sources came to a standstill: no progress for too long',
  slice_memory: 'the sources need more memory to be read than a tiling job may use',
  slice_pixels_damaged: 'the pixels of {sources} cannot be read: damaged, cut short or not projectable',
  slice_layer_unreadable: 'the layer that the images are to be merged into cannot be read',
  slice_request_too_long: 'the request is too long',
  slice_request_not_json: 'the request is not JSON',
  slice_request_not_valid: 'the request is not valid: {words}',
  slice_archive_grid:
    'SLICE_OUTPUT_ROOT is in object storage, where layers are PMTiles; PMTiles holds only tiles in Web Mercator',
  slice_place_refused: 'layers cannot be written to {place}: {words}',
  slice_not_finished: 'the layer could not be finished: {words}',
} as const
