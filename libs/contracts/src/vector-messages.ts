/** Reasons why a vector has no tiles and features; see `messages.ts`. */
export const VECTOR_MESSAGES = {
  vector_no_layer: 'it has no layer with geometry',
  vector_many_layers: 'it has more than {limit} layers',
  vector_many_fields: 'it has more than {limit} attributes',
  vector_not_degrees: 'its coordinates are not in degrees, and it does not say in which coordinate system they are',
  vector_file_gone: 'the file is gone, or may not be read',
  vector_file_replaced: 'the file was replaced or written after its last scan; the next scan finds its new content',
  vector_no_gdal: 'vector tiles need GDAL (ogr2ogr), which this machine does not have',
  vector_unreadable: 'GDAL cannot read the file: it is damaged, or of another format',
  vector_conversion_stopped: 'ogr2ogr was stopped: it made no progress',
  vector_conversion_ended: 'ogr2ogr ended with exit code {exit_code}',
  vector_conversion_killed: 'ogr2ogr was killed; its memory may be limited too much',
  vector_conversion_said: 'GDAL says: {words}',
  vector_builder_ended:
    'the builder ended {count} times ({words}); this machine may be short of memory, of which VECTOR_BUILD_MEMORY is for a build; set tiles to true to try again',
  vector_disk_full: 'the disk of VECTOR_BUILD_ROOT is full: make room, then set tiles to true',
} as const
