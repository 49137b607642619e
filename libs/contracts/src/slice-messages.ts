/** What is said of slice jobs; see `messages.ts`. `source` is a quoted path, `command` a line for a shell. */
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
    "zoom_min {zoom_min} is above the zoom of the images' own resolution, which is {native}: every tile is an enlargement; give zoom_min {native} or less",
  slice_zoom_max_above_native:
    'zoom_max {zoom_max} is above the zoom of the images\' own resolution, which is {native}: the tiles of deeper zooms show nothing more; "native" ends there',
  slice_source_format:
    'the source {source} is in the format {format}, which slicing does not read; convert it and submit the result: {command}',
  slice_source_subdatasets:
    'the source {source} is in the format {format}, which may hold several images; list them with gdalinfo, convert one and submit the result: {command}',
  slice_source_archive: 'the source {source} is a packed file ({format}); unpack it and submit what is in it',
  slice_source_damaged:
    'the source {source} is a {format} image that cannot be read: it is damaged, or made in an unusual way',
  slice_gcps_unusable:
    'the source {source} is placed by {count} ground control points, which do not tell where it lies; give it more or better ones, or warp it first: {command}',
} as const
